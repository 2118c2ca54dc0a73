//! The checked experiment: what the file says, once every rule has been applied.
//!
//! These types cannot be deserialized from an experiment file directly: [`crate::parse()`] is the only way in, so that
//! a value of type [`Experiment`] is always sound.

use catalog::{Basis, Burst, ByteBurst, IoLimits, Latency, VolumeRequest};
use serde::{Deserialize, Serialize};
use workload::{Arrivals, Definition};

use crate::words::words;
use crate::{
    AwsSettings, ClientCost, ConsistencyLevels, DataLayout, HostsSettings, Placement, Provider, SshFiles, Truth,
    VolumeKind, WatchedNode,
};

/// A checked experiment, at full scale (before `provider.local.scale`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Short name, used for the run directory.
    pub name: String,
    /// The question that the experiment answers.
    pub question: Option<String>,
    /// Configuration that ratios refer to.
    pub baseline: Option<String>,
    /// The database under test.
    pub target: Target,
    /// Records loaded before trials.
    pub dataset: Dataset,
    /// Where data sets are kept; `None`: nowhere but on their hosts.
    pub data_set_store: Option<crate::DataSetStore>,
    /// What money buys; at least one, unique names.
    pub configurations: Vec<Configuration>,
    /// Workloads; at least one, unique names.
    pub workloads: Vec<Definition>,
    /// How the page cache stands before trials of each workload.
    pub caches: crate::Caches,
    /// Load levels and the shape of a trial.
    pub load: Load,
    /// What is done to nodes in every trial, in order of time.
    pub faults: Vec<crate::NodeFault>,
    /// What good enough means; `None`: the file does not say.
    pub objective: Option<crate::Objective>,
    /// How the answer is made.
    pub decision: crate::DecisionRules,
    /// How money is counted.
    pub basis: Basis,
    /// What the configurations cost on that basis.
    pub money: crate::Money,
    /// Settings of the local provider.
    pub local: LocalSettings,
    /// Truth of the simulated provider; `None` where the file states none.
    pub simulated: Option<Truth>,
    /// Machines of the hosts provider; `None` where it does not carry the experiment out.
    pub hosts: Option<HostsSettings>,
    /// Machines that the AWS provider makes; `None` where it does not carry the experiment out.
    pub aws: Option<AwsSettings>,
    /// What was noticed while the file was read; [`crate::static_notes`] shows it with the rest.
    #[serde(skip)]
    pub notes: Vec<crate::Note>,
}

impl Experiment {
    /// The experiment as this provider carries it out. A simulation needs a truth (the default where none is stated)
    /// and warms up for the whole of `max_warmup_s`, since its seconds cost nothing; a run on a machine has no truth.
    /// Only a run on hosts has hosts, and only one on AWS has its machines, which are what they are: nothing is scaled.
    /// Neither AWS nor a simulation serves volumes.
    #[must_use]
    pub fn carried_out_by(mut self, provider: Provider) -> Self {
        if provider != Provider::Hosts {
            self.hosts = None;
        }
        if provider != Provider::Aws {
            self.aws = None;
        }
        match provider {
            Provider::Local | Provider::Hosts => self.simulated = None,
            Provider::Aws => {
                self.simulated = None;
                (self.local.scale, self.local.page_cache_bytes) = (1.0, None);
                self.local.volumes = Emulation::Throttled;
                for configuration in &mut self.configurations {
                    configuration.memory_limit_bytes = configuration.instance.memory_bytes;
                }
            }
            Provider::Simulated => {
                self.simulated.get_or_insert_with(Truth::default);
                self.load.rest_max_s = 0.0;
                self.load.forks = 1;
                self.data_set_store = None;
                self.local.volumes = Emulation::Throttled;
                if let Some(most) = self.load.warmup_max_s.take() {
                    self.load.warmup_s = most;
                }
            }
        }
        self
    }
}

/// The database under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// A database that iopslab starts, or a cluster that exists already.
    pub database: Database,
    /// Consistency level of every kind of request, where a configuration does not state its own.
    pub consistency: ConsistencyLevels,
}

/// Where the database comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "one value in the life of a process")]
pub enum Database {
    /// Apache Cassandra of this version, started by iopslab.
    Cassandra {
        /// For example `5.0.9`.
        version: String,
    },
    /// An existing CQL cluster, as `host:port` contact points; iopslab owns nothing there but a keyspace.
    Hosts {
        /// Contact points, where a configuration does not state its own.
        hosts: Vec<String>,
        /// Where the data set goes.
        keyspace: String,
        /// Data centre whose nodes are asked; `None`: any.
        data_centre: Option<String>,
        /// User; its password is in no file of a run.
        user: Option<String>,
        /// File with the password; `None`: the environment has it.
        password_file: Option<String>,
        /// How connections are encrypted; `None`: they are not.
        tls: Option<TlsFiles>,
        /// Machines that send the load, as `ssh` takes them; none: this one.
        clients: Vec<String>,
        /// How machines of clients and of watched nodes are reached.
        ssh: SshFiles,
    },
}

impl Database {
    /// The files that it names, so that they can be looked for beside the experiment.
    pub fn files_mut(&mut self) -> Vec<&mut String> {
        let Self::Hosts { password_file, tls, ssh, .. } = self else {
            return Vec::new();
        };
        let mut files: Vec<_> = password_file.iter_mut().chain(ssh.files_mut()).collect();
        if let Some(tls) = tls {
            files.extend(&mut tls.ca_file);
            if let Some(IdentityFiles { certificate, key }) = &mut tls.identity {
                files.extend([certificate, key]);
            }
        }
        files
    }

    /// Those of them that nobody else should be able to read.
    pub fn secret_files(&self) -> Vec<&String> {
        let Self::Hosts { password_file, tls, .. } = self else {
            return Vec::new();
        };
        let identity = tls.as_ref().and_then(|tls| tls.identity.as_ref());
        password_file.iter().chain(identity.map(|identity| &identity.key)).collect()
    }
}

/// Where the certificates of encrypted connections are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsFiles {
    /// Authorities that may have signed a server's certificate; `None`: those of the client's operating system.
    pub ca_file: Option<String>,
    /// What the client shows of itself.
    pub identity: Option<IdentityFiles>,
    /// Whether a server's certificate must name the address, or the host name, that was connected to.
    pub verify_host_name: bool,
}

/// A client's certificate with its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityFiles {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// The records that are loaded once and restored before every trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// Number of records.
    pub records: u64,
    /// Fields of a record.
    pub fields: u32,
    /// Bytes of a field.
    pub field_length: u32,
    /// Share of each value that is constant text, 0..=1; 0 means incompressible for LZ4.
    pub compressibility: f64,
    /// Seed of keys and values.
    pub seed: u64,
}

/// Bytes on disk for each byte of payload that does not compress.
const ON_DISK: f64 = 1.15;

impl Dataset {
    /// Payload bytes: records x fields x field length, without keys or overhead.
    pub fn payload_bytes(&self) -> u64 {
        self.records * u64::from(self.fields) * u64::from(self.field_length)
    }

    /// Bytes of one replica on disk, as expected: 1.15 for each byte of payload that does not compress, with keys,
    /// timestamps, index and Bloom filter (measured on Cassandra 5.0.9 with 10 fields of 100 bytes).
    pub fn bytes_on_disk(&self) -> f64 {
        self.payload_bytes() as f64 * (1.0 - self.compressibility) * ON_DISK
    }

    /// The same if nothing of it is compressed: what room is made for.
    pub fn most_bytes_on_disk(&self) -> f64 {
        self.payload_bytes() as f64 * ON_DISK
    }

    /// Payload bytes of a record.
    pub fn record_bytes(&self) -> f64 {
        f64::from(self.fields * self.field_length)
    }

    /// Bytes of payload that clients write for each operation of a workload.
    pub fn payload_written(&self, workload: &Definition) -> f64 {
        let update = match workload.write_all_fields {
            true => self.record_bytes(),
            false => f64::from(self.field_length),
        };
        let mix = &workload.mix;
        (mix.update + mix.read_modify_write) * update + mix.insert * self.record_bytes()
    }
}

/// What money buys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// Unique name.
    pub name: String,
    /// The machine.
    pub instance: Instance,
    /// Holds the data directory.
    pub data_volume: ConfiguredVolume,
    /// Holds the commit log; `None` puts it on the data volume.
    pub commitlog_volume: Option<ConfiguredVolume>,
    /// Memory that the database process (and its page cache) may use, bytes.
    pub memory_limit_bytes: u64,
    /// Its nodes, and where replicas are.
    pub placement: Placement,
    /// Its consistency levels, where they are not those of the target.
    pub consistency: Option<ConsistencyLevels>,
    /// Contact points of the cluster that it is the name of, where that is not the target's.
    pub hosts: Option<Vec<String>>,
    /// The nodes of that cluster, where they are watched.
    pub watched: Vec<WatchedNode>,
    /// What of its database is otherwise than iopslab starts it.
    pub settings: crate::Settings,
    /// The backlog of compaction with which its trials begin; `None`: its data set is at rest.
    pub backlog: Option<crate::Backlog>,
    /// Its price as the file states it, instead of the catalog's.
    pub price_usd_per_month: Option<f64>,
}

impl Configuration {
    /// Its volumes: data, then commit log.
    pub(crate) fn volumes(&self) -> impl Iterator<Item = &ConfiguredVolume> {
        std::iter::once(&self.data_volume).chain(&self.commitlog_volume)
    }
}

/// A machine, by catalog name or by explicit size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// Catalog name, or a description such as `4 vCPU, 16 GiB`.
    pub label: String,
    /// Whether `label` is a catalog name.
    pub from_catalog: bool,
    /// Virtual CPUs.
    pub vcpus: f64,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// What the instance's EBS path allows over all its volumes.
    pub ebs_limits: IoLimits,
    /// Its EBS cards, where it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ebs_cards: Option<crate::EbsCards>,
    /// How its bandwidth is weighted, which is in the limits above; `None`: as the type has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_weighting: Option<crate::BandwidthWeighting>,
    /// How fast one of its vCPUs is: as the experiment states it, or as the catalog knows it; `None`: not known.
    pub cpu_speed: Option<catalog::CpuSpeed>,
}

/// A volume with its limits already resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfiguredVolume {
    /// For people: `gp2 320 GiB`, `local NVMe`, `960 IOPS, 160 MiB/s`.
    pub label: String,
    /// What it is.
    pub kind: VolumeKind,
    /// Size, bytes.
    pub size_bytes: u64,
    /// What the volume alone allows (burst ceiling where it bursts).
    pub volume_limits: IoLimits,
    /// min(volume, instance).
    pub effective_limits: IoLimits,
    /// gp2-like bucket, if the volume has one.
    pub burst: Option<Burst>,
    /// Bucket of st1 or sc1, which is followed where the volume is served; elsewhere it has the throughput that lasts,
    /// as the limits say.
    pub byte_burst: Option<ByteBurst>,
    /// Volumes of this kind that a node has, 1 to 8, above 1 only for data. All else that is said here is of one of
    /// them.
    pub count: u32,
    /// How the data lies on several; `None` of one.
    pub layout: Option<DataLayout>,
    /// What would be ordered for one; `None` for instance store and for volumes given by their limits.
    pub order: Option<VolumeRequest>,
    /// Time of a request that is stated of a volume given by its limits.
    pub latency: Option<Latency>,
    /// Whether reads and writes of a volume given by its limits have each of them for themselves.
    pub limits_apart: bool,
}

impl ConfiguredVolume {
    /// One that bursts nowhere, and of which nothing else is stated.
    pub(crate) fn plain(label: String, kind: VolumeKind, size_bytes: f64, limits: IoLimits) -> Self {
        Self {
            label,
            kind,
            size_bytes: size_bytes as u64,
            volume_limits: limits,
            effective_limits: limits,
            burst: None,
            byte_burst: None,
            count: 1,
            layout: None,
            order: None,
            latency: None,
            limits_apart: false,
        }
    }
}

/// Load levels and the shape of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Levels; at least one, or none where `find` is.
    pub levels: Vec<LoadLevel>,
    /// The highest rates that meet the objective are to be found.
    pub find: Option<Find>,
    /// Seconds before measurement, under the same load.
    pub warmup_s: f64,
    /// Before these, the load runs until throughput has stabilised, at most this many seconds; `None`: not at all.
    pub warmup_max_s: Option<f64>,
    /// Seconds at most in which the database is brought to rest before all that; 0: its code may be cold.
    pub rest_max_s: f64,
    /// Processes of the database that share out the trials of a block.
    pub forks: u32,
    /// Clients that share each level's load.
    pub clients: u32,
    /// Load threads that each of them has at the least.
    pub client_threads: u32,
    /// What each of them costs, where that was measured on the machine that will send.
    pub client_cost: Option<ClientCost>,
    /// Measured seconds; a bound on the time when `operations` is given too.
    pub duration_s: f64,
    /// Measured operations at full scale; the trial ends at whichever comes first.
    pub operations: Option<u64>,
    /// Trials of each cell; the most of them where `adaptive` decides.
    pub repetitions: u32,
    /// When to stop before that; `None`: never.
    pub adaptive: Option<Adaptive>,
    /// Seed of the order of trials and of the key choosers.
    pub seed: u64,
    /// Client-side timeout of one request, seconds.
    pub request_timeout_s: f64,
}

/// `rate = "find"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Find {
    /// How requests arrive.
    #[serde(rename = "poisson")]
    pub arrivals: Arrivals,
}

/// `repetitions = "auto"`: whole blocks are added until the ratios are known well enough.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adaptive {
    /// Half-width of the 95 % interval of each ratio to the baseline, as a share: 0.05 is +-5 %.
    pub precision: f64,
    /// Fewest blocks.
    pub blocks_min: u32,
    /// Most blocks.
    pub blocks_max: u32,
    /// No new block is begun after this many seconds of the run; `None`: no bound.
    pub budget_s: Option<f64>,
    /// No new block is begun once the trials would have cost this much; `None`: no bound.
    pub budget_usd: Option<f64>,
    /// Why no more blocks were run, once that is so.
    pub stopped: Option<String>,
}

/// How requests are offered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadLevel {
    /// Closed loop: exactly this many requests in flight (YCSB's "threads").
    Concurrency(u32),
    /// Open loop: arrivals per second on a schedule fixed before the trial.
    Rate {
        /// Operations per second.
        operations_per_s: f64,
        /// How requests arrive.
        #[serde(rename = "poisson")]
        arrivals: Arrivals,
    },
}

/// The part of `total` that number `number` of `of` gets, so that all parts add up to it.
pub fn part_of(total: u64, number: u32, of: u32) -> u64 {
    let of = u64::from(of.max(1));
    total / of + u64::from(u64::from(number) < total % of)
}

impl LoadLevel {
    /// What client `number` of `of` offers, so that all of them together offer this. Poisson processes add up to one.
    #[must_use]
    pub fn part(self, number: u32, of: u32) -> Self {
        match self {
            Self::Concurrency(n) => Self::Concurrency(part_of(u64::from(n), number, of) as u32),
            Self::Rate { .. } => self.map_rate(|rate| rate / f64::from(of.max(1))),
        }
    }

    /// The same with another rate; requests in flight stay.
    #[must_use]
    pub fn map_rate(self, to: impl FnOnce(f64) -> f64) -> Self {
        match self {
            Self::Concurrency(_) => self,
            Self::Rate { operations_per_s, arrivals } => {
                Self::Rate { operations_per_s: to(operations_per_s), arrivals }
            }
        }
    }

    /// Short form for tables and file names: `c100`, `r5000`, `p5000` (Poisson).
    pub fn slug(&self) -> String {
        match self {
            Self::Concurrency(n) => format!("c{n}"),
            Self::Rate { operations_per_s, arrivals: Arrivals::Poisson } => format!("p{operations_per_s}"),
            Self::Rate { operations_per_s, arrivals: Arrivals::Constant } => format!("r{operations_per_s}"),
        }
    }
}

/// Settings of the local provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocalSettings {
    /// Where volumes, snapshots and the ledger live; `None`: the default of the machine.
    pub work_directory: Option<String>,
    /// 1:N model; 1 is the real thing.
    pub scale: f64,
    /// Page-cache budget in bytes on this machine, instead of the scaled one.
    pub page_cache_bytes: Option<u64>,
    /// Java heap in bytes on this machine, instead of the scaled rule.
    pub heap_bytes: Option<u64>,
    /// Start every gp2-like bucket that states nothing itself with this share of its credits, 0..=1; 0 unless stated.
    pub burst_credits_start: f64,
    /// How long Cassandra may take.
    pub patience: Patience,
    /// How volumes are emulated.
    pub volumes: Emulation,
}

words! {
    /// How volumes are emulated.
    #[derive(Default)]
    pub enum Emulation {
        /// The kernel's throttle holds the database to their limits.
        #[default]
        Throttled = "throttled",
        /// A process answers for them as such volumes do.
        Served = "served",
    }
}

/// How long Cassandra may take before it counts as not started.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Patience {
    /// Seconds from its launch until it answers CQL.
    pub start_s: f64,
    /// Seconds from then until no compaction, flush or hint is pending.
    pub settle_s: f64,
}

impl Default for Patience {
    /// A start takes 4 to 8 s on two cores, and three minutes on an emulated machine (measured); a large data set
    /// compacts for minutes.
    fn default() -> Self {
        Self { start_s: 180.0, settle_s: 600.0 }
    }
}
