//! The checked experiment: what the file says, once every rule has been applied.
//!
//! These types cannot be deserialized from an experiment file directly: [`crate::parse()`] is the only way in, so that
//! a value of type [`Experiment`] is always sound.

use catalog::{Basis, Burst, ByteBurst, CardPlacement, IoLimits, Latency, VolumeRequest};
use serde::{Deserialize, Serialize};
use workload::{Arrivals, Definition};

use crate::{
    Adaptive, ClientCost, ConsistencyLevels, DataLayout, Own, Place, Placement, Started, VolumeKind, WatchedNode,
};
use product::Product;

/// A checked experiment, at full scale (before that of its [`Place`]).
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
    /// Records of the real data set, where that has more.
    pub stands_for_records: Option<u64>,
    /// Schema, data and statements of the user's own, instead of YCSB's.
    pub own: Option<Own>,
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
    /// What of the file is left out; `None`: nothing.
    pub left_out: Option<crate::LeftOut>,
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
    /// Where configurations run.
    pub place: Place,
    /// Java heap in bytes, instead of what a rule makes of memory.
    pub heap_bytes: Option<u64>,
    /// How long the database may take.
    pub patience: Patience,
    /// What was noticed while the file was read; [`crate::static_notes`] shows it with the rest.
    #[serde(skip)]
    pub notes: Vec<crate::Note>,
}

/// The database under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// What it is.
    pub database: Database,
    /// Consistency level of every kind of request, where a configuration does not state its own.
    pub consistency: ConsistencyLevels,
}

/// What a database is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Database {
    /// That of a cluster that exists: whatever speaks the protocol of this product.
    Existing(#[serde(with = "crate::product_name")] &'static Product),
    /// One that iopslab starts.
    #[serde(untagged)]
    Started(Started),
}

impl Database {
    /// Its product; that of a cluster that exists is the one whose protocol it speaks.
    pub fn product(&self) -> &'static Product {
        match self {
            Self::Started(started) => started.product,
            Self::Existing(product) => product,
        }
    }

    /// The version that iopslab starts where a configuration states none; `None`: it starts none.
    pub fn version(&self) -> Option<&str> {
        match self {
            Self::Started(started) => Some(&started.version),
            Self::Existing(_) => None,
        }
    }
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
    /// Tables of the user's own as the rest of a plan reckons with them: rows are records of one field, whose length is
    /// the mean over all tables.
    pub(crate) fn of_own(own: &Own) -> Self {
        let (rows, bytes) = own.size();
        Self {
            records: rows.round().max(1.0) as u64,
            fields: 1,
            field_length: (bytes / f64::max(rows, 1.0)).round().max(1.0) as u32,
            compressibility: 0.0,
            seed: own.data.seed,
        }
    }

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

    /// Bytes of payload that clients write for each operation of a workload of YCSB.
    pub fn payload_written(&self, workload: &Definition) -> f64 {
        let update = if workload.write_all_fields { self.record_bytes() } else { f64::from(self.field_length) };
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
    /// The version of its database, where that is not the target's.
    pub version: Option<String>,
    /// Its consistency levels, where they are not those of the target.
    pub consistency: Option<ConsistencyLevels>,
    /// Contact points of the cluster that it is the name of, where that is not the target's.
    pub hosts: Option<Vec<String>>,
    /// The nodes of that cluster, where they are watched.
    pub watched: Vec<WatchedNode>,
    /// What of its database is otherwise than iopslab starts it.
    pub settings: product::Settings,
    /// The backlog of compaction with which its trials begin; `None`: its data set is at rest.
    pub backlog: Option<crate::Backlog>,
    /// Caches in front of its database.
    pub cache_tier: Option<crate::CacheTier>,
    /// Its price as the file states it, instead of the catalog's.
    pub price_usd_per_month: Option<f64>,
}

impl Configuration {
    /// Its volumes: data, then commit log.
    pub(crate) fn volumes(&self) -> impl Iterator<Item = &ConfiguredVolume> {
        std::iter::once(&self.data_volume).chain(&self.commitlog_volume)
    }

    /// Nodes of the caches in front of its database.
    pub(crate) fn cache_nodes(&self) -> u32 {
        self.cache_tier.as_ref().map_or(0, |tier| tier.nodes)
    }
}

/// A machine, by catalog name or by explicit size.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
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
    pub ebs_cards: Option<EbsCards>,
    /// How its bandwidth is weighted, which is in the limits above; `None`: as the type has it.
    pub bandwidth_weighting: Option<catalog::BandwidthWeighting>,
    /// How fast one of its vCPUs is: as the experiment states it, or as the catalog knows it; `None`: not known.
    pub cpu_speed: Option<catalog::CpuSpeed>,
}

/// EBS cards of an instance type that has several: each lets an equal part of the path through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EbsCards {
    /// How many, 2 or more.
    pub count: u32,
    /// On which of them volumes are.
    pub placement: CardPlacement,
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

    /// What all of its kind that a node has hold together, bytes.
    pub fn room_bytes(&self) -> f64 {
        self.size_bytes as f64 * f64::from(self.count)
    }
}

/// Load levels and the shape of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Levels; at least one, or none where `find` is.
    pub levels: Vec<LoadLevel>,
    /// The highest rates that meet the objective are to be found.
    pub find: Option<Find>,
    /// The shape of each trial at full scale.
    pub shape: TrialShape,
    /// Processes of the database that share out the trials of a block.
    pub forks: u32,
    /// Clients that share each level's load.
    pub clients: u32,
    /// Load threads that each of them has at the least.
    pub client_threads: u32,
    /// What each of them costs, where that was measured on the machine that will send.
    pub client_cost: Option<ClientCost>,
    /// Trials of each cell; the most of them where `adaptive` decides.
    pub repetitions: u32,
    /// When to stop before that; `None`: never.
    pub adaptive: Option<Adaptive>,
    /// Seed of the order of trials and of the key choosers.
    pub seed: u64,
}

/// The shape of each trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrialShape {
    /// Seconds of warm-up.
    pub warmup_s: f64,
    /// Before these, the load runs until throughput has stabilised, at most this many seconds; `None`: not at all.
    pub warmup_max_s: Option<f64>,
    /// Seconds at most of JIT warm-up of a new process, and as many in which a page cache settles, before all
    /// that; 0: neither is waited for.
    pub rest_max_s: f64,
    /// Measured seconds at most.
    pub duration_s: f64,
    /// Measured operations at most; of a plan on this machine (scaled); the trial ends at whichever comes first.
    pub operations: Option<u64>,
    /// Client-side request timeout, seconds.
    pub request_timeout_s: f64,
}

/// `rate = "find"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Find {
    /// How requests arrive.
    pub arrivals: Arrivals,
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

    /// Short form for tables and file names: `c100`, `r5000`, `p5000` (Poisson), `log5000` (recorded).
    pub fn slug(&self) -> String {
        match self {
            Self::Concurrency(n) => format!("c{n}"),
            Self::Rate { operations_per_s, arrivals: Arrivals::Poisson } => format!("p{operations_per_s}"),
            Self::Rate { operations_per_s, arrivals: Arrivals::Constant } => format!("r{operations_per_s}"),
            Self::Rate { operations_per_s, arrivals: Arrivals::Recorded } => format!("log{operations_per_s}"),
        }
    }
}

/// How long the database may take before it counts as not started.
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
