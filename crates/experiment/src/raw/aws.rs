//! `[provider.aws]` as it is typed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::spanned::Spanned;

/// Settings of the AWS provider: machines are made by Terraform for the run, and taken away after it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Aws {
    /// Region. Default `us-east-1`, for which the catalog has its prices.
    pub region: Option<Spanned<String>>,
    /// Profile of your AWS configuration files. Default: the usual search for credentials.
    pub profile: Option<String>,
    /// Instance type of the clients. Default `c7i.2xlarge`.
    pub client: Option<Spanned<String>>,
    /// Where clients stand: `same` (default, the zone of the first nodes) or `other`, a zone without nodes.
    pub client_zone: Option<Spanned<String>>,
    /// A VPC that exists, with `subnets`. Default: one is made for the run.
    pub vpc: Option<Spanned<String>>,
    /// Its subnets, one for each zone: racks are zones, and clients in another zone need one more.
    pub subnets: Option<Spanned<Vec<String>>>,
    /// The addresses from which machines take SSH, such as `203.0.113.7/32`: where you run iopslab.
    pub controller_cidr: Option<Spanned<String>>,
    /// Whether machines get public addresses. Default `false`: they are reached by their private ones.
    pub public_address: Option<bool>,
    /// `cluster`, `spread` or `partition`. Default: no placement group.
    pub placement_group: Option<Spanned<String>>,
    /// Whether machines are asked for on the spot market. Default `false`.
    pub spot: Option<bool>,
    /// Image of x86-64 machines: an AMI, or an SSM parameter that names one. Default: Debian 12.
    pub image_x86_64: Option<Spanned<String>>,
    /// Image of arm64 machines. Default: Debian 12.
    pub image_arm64: Option<Spanned<String>>,
    /// A snapshot of EBS, `snap-...`, from which every data volume is made; it holds the data set. Each block is read
    /// once before anything is measured. Default: volumes are made empty, and the data set is loaded.
    pub snapshot: Option<Spanned<String>>,
    /// `modify`: configurations that differ in nothing but type, IOPS and MiB/s of their data volume are measured on
    /// the same machines, whose volume is modified between their trials (gp3, io1, io2). Default: each has machines of
    /// its own.
    pub pair_volumes: Option<Spanned<String>>,
    /// Who logs in on the image. Default `admin`, as on Debian's.
    pub ssh_user: Option<Spanned<String>>,
    /// Size of each root volume, GiB; it holds the data set's snapshot. Default 64.
    pub root_gib: Option<Spanned<i64>>,
    /// Tags of everything that is made.
    pub tags: Option<Spanned<BTreeMap<String, String>>>,
    /// Machines end themselves when they have heard nothing of iopslab for so many minutes, 10 to 1440. Default 30.
    pub lifetime_min: Option<Spanned<f64>>,
    /// Seconds that a new machine may take until it answers by SSH and is ready, 60 to 7200. Default 900.
    pub ready_timeout_s: Option<Spanned<f64>>,
    /// Minutes for which machines that no site has room for are waited for, with growing pauses, 0 to 1440. Default 15.
    pub capacity_wait_min: Option<Spanned<f64>>,
    /// iopslab for x86-64 machines where this program is not one: a file of `make dist`, relative to this file.
    pub binary_x86_64: Option<String>,
    /// iopslab for arm64 (Graviton) machines where this program is not one: a file of `make dist`, relative to this
    /// file.
    pub binary_aarch64: Option<String>,
    /// A run whose estimate is above this starts nothing, USD.
    pub max_cost_usd: Option<Spanned<f64>>,
    /// Where Terraform keeps its state, each batch under a key of its own. Default: in the run directory.
    pub backend: Option<Spanned<AwsBackend>>,
    /// Accounts and regions that work side by side, each within its limits. Default: one, of the keys above, without
    /// limits. With sites, `region`, `profile`, `vpc`, `subnets`, `snapshot` and images are stated there.
    #[serde(default)]
    pub site: Vec<Spanned<AwsSite>>,
}

/// A backend of Terraform: `s3` or `local`; others were not tried.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AwsBackend {
    /// `s3` or `local`.
    #[serde(rename = "type")]
    pub kind: Spanned<String>,
    /// `s3`: the bucket, which must exist.
    pub bucket: Option<Spanned<String>>,
    /// `s3`: its region.
    pub region: Option<Spanned<String>>,
    /// `s3`: what keys begin with. Default: nothing.
    pub prefix: Option<Spanned<String>>,
    /// `s3`: profile of your AWS configuration files for the bucket. Default: the credentials of the site.
    pub profile: Option<Spanned<String>>,
    /// `s3`: a file beside the state locks it; needs Terraform or OpenTofu 1.10. Default: no lock.
    pub use_lockfile: Option<Spanned<bool>>,
    /// `s3`: for servers that are not AWS's: the bucket is part of the path; needs Terraform 1.6. Default `false`.
    pub use_path_style: Option<Spanned<bool>>,
    /// `local`: a directory, absolute.
    pub path: Option<Spanned<String>>,
}

/// An account in a region, and what may stand there at the same time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AwsSite {
    /// For people. Default: the region.
    pub name: Option<Spanned<String>>,
    /// Region.
    pub region: Spanned<String>,
    /// Profile of your AWS configuration files. Default: the usual search for credentials.
    pub profile: Option<String>,
    /// A VPC that exists, with `subnets`. Default: one is made for the run.
    pub vpc: Option<Spanned<String>>,
    /// Its subnets, one for each zone.
    pub subnets: Option<Spanned<Vec<String>>>,
    /// Image of x86-64 machines: an AMI, or an SSM parameter that names one. Default: Debian 12.
    pub image_x86_64: Option<Spanned<String>>,
    /// Image of arm64 machines. Default: Debian 12.
    pub image_arm64: Option<Spanned<String>>,
    /// A snapshot of EBS in this region, from which every data volume is made; all sites have one, or none.
    pub snapshot: Option<Spanned<String>>,
    /// `quotas`: what Service Quotas grants the account there, less what it uses already, holds beside the limits
    /// below: vCPUs of its instance types, GiB of its volume types. Default: AWS is not asked.
    pub limits: Option<Spanned<String>>,
    /// vCPUs of all machines at the same time. Default: no limit.
    pub vcpus: Option<Spanned<i64>>,
    /// Machines of an instance type at the same time: `{ "i3.xlarge" = 2 }`. Default: no limit.
    #[serde(default)]
    pub machines: BTreeMap<Spanned<String>, Spanned<i64>>,
    /// EBS volumes at the same time, roots among them. Default: no limit.
    pub volumes: Option<Spanned<i64>>,
    /// GiB of these volumes. Default: no limit.
    pub volume_gib: Option<Spanned<i64>>,
}
