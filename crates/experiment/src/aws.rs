//! Machines that a run has made on AWS, used, and taken away: where, and which of them at the same time.

use std::collections::{BTreeMap, BTreeSet};

use catalog::{BandwidthWeighting, VcpuPool, VolumeLevel, VolumeType};
use serde::{Deserialize, Serialize};

use crate::{AwsPair, Role};

/// `[provider.aws]`, checked, with the machines that the experiment needs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AwsSettings {
    /// Where machines may be made: accounts and regions, at least one.
    pub sites: Vec<AwsSite>,
    /// The only addresses from which machines take SSH; `None`: not stated.
    pub controller_cidr: Option<String>,
    /// Whether machines get public addresses, by which they are reached then.
    pub public_address: bool,
    /// Placement group's strategy; `None`: no group.
    pub placement_group: Option<String>,
    /// Who logs in there.
    pub ssh_user: String,
    /// Tags of everything that is made, besides those of iopslab.
    pub tags: BTreeMap<String, String>,
    /// Machines that have heard nothing of their controller for so many seconds end themselves.
    pub lifetime_s: u64,
    /// How long new machines may take until they are ready, seconds.
    pub ready_timeout_s: u64,
    /// How long machines that no site has room for are waited for, seconds.
    pub capacity_wait_s: u64,
    /// iopslab for x86-64, where this program's own file is not one.
    pub binary_x86_64: Option<String>,
    /// iopslab for aarch64, where this program's own file is not one.
    pub binary_aarch64: Option<String>,
    /// The most that a run may cost, USD.
    pub max_cost_usd: Option<f64>,
    /// Where Terraform keeps its state; `None`: in the run directory.
    pub backend: Option<AwsBackend>,
    /// Machines that stand at the same time at one site, in the order in which each site makes them.
    pub batches: Vec<AwsBatch>,
    /// What reading every block of the data volumes takes, where they are made from a snapshot.
    pub initialisations: Vec<AwsInitialisation>,
    /// Configurations that share machines; all others have their own.
    pub pairs: Vec<AwsPair>,
}

/// A data volume that is made from a snapshot, of which every block is read before anything is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AwsInitialisation {
    /// Whose it is.
    pub configuration: String,
    /// Its size, GiB.
    pub size_gib: u32,
    /// What volume and instance keep up, MiB/s; `None`: AWS states nothing.
    pub mib_per_s: Option<f64>,
}

impl AwsInitialisation {
    /// Seconds that it takes by what volume and instance keep up; what loading blocks from S3 adds is not known before.
    pub fn estimated_s(&self) -> Option<f64> {
        self.mib_per_s.map(|rate| f64::from(self.size_gib) * 1_024.0 / rate)
    }
}

/// Where Terraform keeps its state, each batch under a key of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AwsBackend {
    /// A bucket.
    S3 {
        /// Its name.
        bucket: String,
        /// Its region.
        region: String,
        /// What keys begin with.
        prefix: Option<String>,
        /// With whose credentials; `None`: those of the machines.
        profile: Option<String>,
        /// Whether a file beside the state locks it; `None`: as Terraform has it.
        use_lockfile: Option<bool>,
        /// Whether the bucket's name is part of the path rather than of the host; `None`: as Terraform has it.
        use_path_style: Option<bool>,
    },
    /// A directory of this machine.
    Local {
        /// Absolute.
        path: String,
    },
}

/// An account in a region.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AwsSite {
    /// For people: what the experiment calls it, else its region.
    pub name: String,
    /// Region, such as `eu-central-1`.
    pub region: String,
    /// Profile of the AWS configuration files; `None`: the default search for credentials.
    pub profile: Option<String>,
    /// A network that exists; `None`: one is made.
    pub network: Option<AwsNetwork>,
    /// The image of x86-64 machines: an AMI, or an SSM parameter that names one; `None`: the module's default.
    pub image_x86_64: Option<String>,
    /// The image of arm64 machines.
    pub image_arm64: Option<String>,
    /// The snapshot of EBS, there, from which every data volume is made; `None`: they are made empty.
    pub snapshot: Option<String>,
    /// What may stand there at the same time.
    pub limits: AwsLimits,
}

/// Type of every machine's root volume.
pub(crate) const ROOT: VolumeType = VolumeType::Gp3;

/// What may stand at a site at the same time: what the experiment states, and what AWS grants where it was asked; what
/// neither says is not limited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwsLimits {
    /// vCPUs of all machines.
    pub vcpus: Option<u64>,
    /// Machines, by instance type.
    pub machines: BTreeMap<String, u64>,
    /// EBS volumes, roots among them.
    pub volumes: Option<u64>,
    /// Their size together, GiB.
    pub volume_gib: Option<u64>,
    /// What AWS grants the account there; `None`: not asked.
    pub quotas: Option<AwsQuotas>,
}

/// What Service Quotas grants an account in a region, as it was when the run was planned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwsQuotas {
    /// Whether its vCPUs are those of the spot market.
    pub spot: bool,
    /// vCPUs of running machines.
    pub vcpus: BTreeMap<VcpuPool, AwsQuota>,
    /// GiB of volumes, by their type.
    pub volume_gib: BTreeMap<VolumeType, AwsQuota>,
}

/// One quota, with what the account uses of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwsQuota {
    /// AWS's code, such as `L-1216C47A`.
    pub code: String,
    /// What the account may have.
    pub granted: u64,
    /// What it has, whoever made it.
    pub in_use: u64,
    /// Whether the value is what AWS gives every account: there is none of the account's own.
    pub is_default: bool,
}

/// The quotas that an experiment asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotaNeeds {
    /// Whether machines are asked for on the spot market.
    pub spot: bool,
    /// vCPUs of these.
    pub pools: BTreeSet<VcpuPool>,
    /// GiB of volumes of these types.
    pub volume_types: BTreeSet<VolumeType>,
}

/// Machines that stand at the same time at one site: those of some configurations, and clients for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AwsBatch {
    /// Number of its site, from 0.
    pub site: usize,
    /// The configurations that are measured on it.
    pub configurations: Vec<String>,
    /// All machines, those of each role by the numbers of their hosts; clients come last.
    pub machines: Vec<AwsMachine>,
    /// What they cost at each site, in the order of the sites.
    pub prices: Vec<AwsPrice>,
}

/// What the machines of a batch cost at a site, at the latest on-demand prices of the catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AwsPrice {
    /// USD an hour, volumes and roots included.
    UsdPerHour(f64),
    /// A price is missing: which one, in words.
    Missing(String),
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
    /// What it is for.
    pub role: Role,
    /// Whose node or cache it carries; `None`: a client.
    pub configuration: Option<String>,
    /// Number of its host among those of its role, from 0.
    pub host: u32,
    /// AWS's name of the type.
    pub instance_type: String,
    /// Its vCPUs.
    pub vcpus: u64,
    /// `x86_64` or `arm64`.
    pub architecture: String,
    /// Number of its availability zone, from 0.
    pub zone: u32,
    /// Size of its root volume, GiB.
    pub root_gib: u32,
    /// Whether it is asked for on the spot market.
    pub spot: bool,
    /// Whether its own path to EBS is asked for; `None`: as the type has it.
    pub ebs_optimized: Option<bool>,
    /// How its bandwidth is weighted; `None`: as the type has it.
    pub bandwidth_weighting: Option<BandwidthWeighting>,
    /// Whether the data lies on the instance's own disks.
    pub instance_store: bool,
    /// EBS volumes besides the root, by what they hold: `data`, `commitlog`.
    pub volumes: BTreeMap<String, AwsVolume>,
}

/// An EBS volume to be made, as it stands in Terraform's variables.
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

impl AwsVolume {
    pub(crate) fn at(level: VolumeLevel, size_gib: u32) -> Self {
        Self { kind: level.kind.name().to_owned(), size_gib, iops: Some(level.iops), mib_per_s: level.mib_per_s }
    }
}

impl AwsMachine {
    /// Its EBS volumes, the root among them: how many, and GiB of all.
    pub fn ebs(&self) -> (u64, u64) {
        let gib: u64 = self.volumes.values().map(|volume| u64::from(volume.size_gib)).sum();
        (self.volumes.len() as u64 + 1, gib + u64::from(self.root_gib))
    }

    /// Whether it carries a node of this configuration's database.
    pub(crate) fn is_node_of(&self, configuration: &str) -> bool {
        self.role == Role::Database && self.configuration.as_deref() == Some(configuration)
    }

    /// GiB of its volumes of a type, the root among them.
    fn gib_of(&self, kind: VolumeType) -> u64 {
        let volumes = self.volumes.values().filter(|volume| volume.kind == kind.name());
        let gib: u64 = volumes.map(|volume| u64::from(volume.size_gib)).sum();
        gib + if kind == ROOT { u64::from(self.root_gib) } else { 0 }
    }
}

impl AwsBatch {
    /// How many zones the machines stand in.
    pub fn zones(&self) -> u32 {
        self.machines.iter().map(|machine| machine.zone + 1).max().unwrap_or(1)
    }

    /// The machines of a role.
    pub fn machines_of(&self, role: Role) -> impl Iterator<Item = &AwsMachine> {
        self.machines.iter().filter(move |machine| machine.role == role)
    }
}

impl AwsSettings {
    /// Seconds that reading every block of the data volumes of some configurations is estimated to take: all machines
    /// do it at the same time.
    pub fn initialisation_s(&self, configurations: &[String]) -> f64 {
        let of_these = self.initialisations.iter().filter(|one| configurations.contains(&one.configuration));
        of_these.filter_map(AwsInitialisation::estimated_s).fold(0.0, f64::max)
    }

    /// The configurations that share machines with this one, itself among them; `None`: it has its own.
    pub fn pair_of(&self, configuration: &str) -> Option<&AwsPair> {
        self.pairs.iter().find(|pair| pair.level_of(configuration).is_some())
    }

    /// For each of these configurations the number of the earlier one whose machines it is measured on, if so.
    pub(crate) fn shared<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<Option<usize>> {
        let names: Vec<&str> = names.collect();
        let owner = |name: &&str| self.pair_of(name).map(AwsPair::owner).filter(|owner| owner != name);
        names.iter().map(|name| names.iter().position(|other| Some(*other) == owner(name))).collect()
    }

    /// Seconds that modifications of volumes between trials of some configurations take, by what AWS calls typical.
    pub fn modification_s(&self, configurations: &[String]) -> f64 {
        let are_of = |pair: &&AwsPair| configurations.iter().any(|name| name == pair.owner());
        self.pairs.iter().filter(are_of).map(AwsPair::estimated_s).sum()
    }

    /// Shared volumes are made at the level of the configuration that is measured first: so the configurations of all
    /// trials follow one another.
    pub(crate) fn begin_with(&mut self, in_order: &[&str]) {
        for pair in &self.pairs {
            let Some(level) = in_order.iter().find_map(|name| pair.level_of(name)) else { continue };
            let machines = self.batches.iter_mut().flat_map(|batch| &mut batch.machines);
            for machine in machines.filter(|machine| machine.is_node_of(pair.owner())) {
                machine.volumes.insert("data".to_owned(), AwsVolume::at(level, pair.size_gib));
            }
        }
    }

    /// The batch that a configuration is measured in, from 0.
    pub fn batch_of(&self, configuration: &str) -> Option<u32> {
        let has = |batch: &AwsBatch| batch.configurations.iter().any(|name| name == configuration);
        self.batches.iter().position(has).map(|number| number as u32)
    }
}

impl AwsLimits {
    /// What is too much about these machines at the same time, in words; `None`: they may stand there.
    pub fn exceeded_by<'m>(&self, machines: impl Iterator<Item = &'m AwsMachine>) -> Option<String> {
        let machines: Vec<&AwsMachine> = machines.collect();
        let (mut vcpus, mut volumes, mut gib) = (0, 0, 0);
        let mut of_type: BTreeMap<&str, u64> = BTreeMap::new();
        for machine in &machines {
            vcpus += machine.vcpus;
            let (its_volumes, its_gib) = machine.ebs();
            (volumes, gib) = (volumes + its_volumes, gib + its_gib);
            *of_type.entry(&machine.instance_type).or_default() += 1;
        }
        let above = |needed: u64, limit: Option<u64>, unit: &str| {
            limit.filter(|limit| needed > *limit).map(|limit| format!("{needed} {unit} of {limit}"))
        };
        let of_types = of_type.iter().find_map(|(kind, count)| above(*count, self.machines.get(*kind).copied(), kind));
        of_types
            .or_else(|| above(vcpus, self.vcpus, "vCPUs"))
            .or_else(|| above(volumes, self.volumes, "EBS volumes"))
            .or_else(|| above(gib, self.volume_gib, "GiB on EBS"))
            .or_else(|| self.quotas.as_ref()?.exceeded_by(&machines))
    }
}

impl AwsQuota {
    /// What is left of it.
    pub fn left(&self) -> u64 {
        self.granted.saturating_sub(self.in_use)
    }

    fn exceeded_by(&self, needed: u64, unit: &str) -> Option<String> {
        (needed > self.left()).then(|| {
            let Self { code, granted, in_use, .. } = self;
            format!("{needed} {unit} of {} that are left: {code} grants {granted}, {in_use} are in use", self.left())
        })
    }
}

impl AwsQuotas {
    /// What is too much about these machines, in words.
    fn exceeded_by(&self, machines: &[&AwsMachine]) -> Option<String> {
        let of_vcpus = self.vcpus.iter().find_map(|(pool, quota)| {
            let of_pool = machines.iter().filter(|m| VcpuPool::of(&m.instance_type) == Some(*pool));
            quota.exceeded_by(of_pool.map(|machine| machine.vcpus).sum(), "vCPUs")
        });
        of_vcpus.or_else(|| {
            self.volume_gib.iter().find_map(|(kind, quota)| {
                let gib = machines.iter().map(|machine| machine.gib_of(*kind)).sum();
                quota.exceeded_by(gib, &format!("GiB of {kind}"))
            })
        })
    }
}

impl QuotaNeeds {
    /// Those of machines; the error is an instance type that counts against no quota that is known.
    pub(crate) fn of<'m>(machines: impl Iterator<Item = &'m AwsMachine>) -> Result<Self, String> {
        let mut needs = Self { spot: false, pools: BTreeSet::new(), volume_types: BTreeSet::from([ROOT]) };
        for machine in machines {
            needs.spot |= machine.spot;
            let pool = VcpuPool::of(&machine.instance_type);
            needs.pools.insert(pool.ok_or_else(|| machine.instance_type.clone())?);
            let kinds = machine.volumes.values().filter_map(|volume| volume.kind.parse::<VolumeType>().ok());
            needs.volume_types.extend(kinds);
        }
        Ok(needs)
    }
}
