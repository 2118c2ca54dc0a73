//! Machines that a run has made on AWS, used, and taken away.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `[provider.aws]`, checked, with the machines that the experiment needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AwsSettings {
    /// Region, such as `eu-central-1`.
    pub region: String,
    /// Profile of the AWS configuration files; `None`: the default search for credentials.
    pub profile: Option<String>,
    /// A network that exists; `None`: one is made.
    pub network: Option<AwsNetwork>,
    /// The only addresses from which machines take SSH; `None`: not stated.
    pub controller_cidr: Option<String>,
    /// Whether machines get public addresses, by which they are reached then.
    pub public_address: bool,
    /// Placement group's strategy; `None`: no group.
    pub placement_group: Option<String>,
    /// The image of x86-64 machines: an AMI, or an SSM parameter that names one; `None`: the module's default.
    pub image_x86_64: Option<String>,
    /// The image of arm64 machines.
    pub image_arm64: Option<String>,
    /// Who logs in there.
    pub ssh_user: String,
    /// Tags of everything that is made, besides those of iopslab.
    pub tags: BTreeMap<String, String>,
    /// Machines that have heard nothing of their controller for so many seconds end themselves.
    pub lifetime_s: u64,
    /// iopslab for x86-64, where this program's own file is not one.
    pub binary_x86_64: Option<String>,
    /// iopslab for aarch64, where this program's own file is not one.
    pub binary_aarch64: Option<String>,
    /// The most that a run may cost, USD.
    pub max_cost_usd: Option<f64>,
    /// All machines: those of databases by the numbers of their hosts, then clients by theirs.
    pub machines: Vec<AwsMachine>,
}

/// A network of the user's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwsNetwork {
    /// Its VPC.
    pub vpc_id: String,
    /// Subnets by zone: machines of the nth zone stand in the nth.
    pub subnet_ids: Vec<String>,
}

/// A machine to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AwsMachine {
    /// Unique name, which becomes its `Name` tag and its name for `ssh`.
    pub name: String,
    /// Whose node it carries; `None`: a client.
    pub configuration: Option<String>,
    /// Number of its host among those of its role, from 0.
    pub host: u32,
    /// AWS's name of the type.
    pub instance_type: String,
    /// `x86_64` or `arm64`.
    pub architecture: String,
    /// Number of its availability zone, from 0.
    pub zone: u32,
    /// Size of its root volume, GiB.
    pub root_gib: u32,
    /// Whether it is asked for on the spot market.
    pub spot: bool,
    /// Whether its own path to EBS is asked for; `None`: as the type has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ebs_optimized: Option<bool>,
    /// Whether the data lies on the instance's own disks.
    pub instance_store: bool,
    /// EBS volumes besides the root, by what they hold: `data`, `commitlog`.
    pub volumes: BTreeMap<String, AwsVolume>,
    /// USD an hour with its volumes, at the latest on-demand prices of the catalog; `None` where one is not known.
    pub usd_per_hour: Option<f64>,
    /// What has no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_missing: Option<String>,
}

/// An EBS volume to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AwsVolume {
    /// EBS type, such as `gp3`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Size, GiB.
    pub size_gib: u32,
    /// Provisioned IOPS; `None`: the type's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<u32>,
    /// Provisioned MiB/s; `None`: the type's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mib_per_s: Option<u32>,
}

impl AwsSettings {
    /// How many zones the machines stand in.
    pub fn zones(&self) -> u32 {
        self.machines.iter().map(|machine| machine.zone + 1).max().unwrap_or(1)
    }

    /// The machines of databases, or those of clients.
    pub fn machines_of(&self, databases: bool) -> impl Iterator<Item = &AwsMachine> {
        self.machines
            .iter()
            .filter(move |machine| machine.configuration.is_some() == databases)
    }
}
