//! The experiment file as it is typed. Nothing is checked here but names and kinds of values;
//! `docs/experiment.schema.json` is generated from these types, so their comments are the reference of the file.

mod answer;
mod aws;
mod cache_tier;
mod hosts;
mod instance;
mod load;
mod own;
mod settings;
mod volume;
mod workload;

pub(crate) use answer::{Bounds, Decision, LatencyBounds, Objective};
pub(crate) use aws::{Aws, AwsBackend, AwsSite};
pub(crate) use cache_tier::CacheTier;
pub(crate) use hosts::{CacheHost, ClientHost, DatabaseHost, Hosts, WatchedNode};
pub(crate) use instance::{CardWord, WeightingWord};
pub(crate) use load::{Load, RepetitionsWord};
pub(crate) use own::{Column, Distribution, HotSet, Size, StatementData, TableData};
pub(crate) use settings::{DatabaseVersion, Keys, Section, Settings, Variant};
pub(crate) use volume::{BurstWord, LayoutWord, LocalWord, Volume};
pub(crate) use workload::{Language, Workload};

use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::spanned::{Form, Spanned};
use crate::{Emulation, FailingRequests, PageCacheKeeps, VolumeRole};

/// An iopslab experiment: a matrix of configurations x workloads x load levels.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "iopslab experiment")]
pub(crate) struct Experiment {
    /// Short name; the run directory is called after it. Letters, digits, `-`, `_` and `.`.
    pub name: Spanned<String>,
    /// The question that the experiment answers.
    pub question: Option<String>,
    /// Name of the configuration that ratios refer to. Default: the first one.
    pub baseline: Option<Spanned<String>>,
    /// The database under test.
    pub target: Option<Spanned<Target>>,
    /// Records that are loaded once and restored before every trial.
    #[serde(default = "no_dataset")]
    pub dataset: Spanned<Dataset>,
    /// What money buys; at least one.
    #[serde(default)]
    pub configuration: Vec<Spanned<Configuration>>,
    /// Settings for several configurations.
    #[serde(default)]
    pub variant: Vec<Spanned<Variant>>,
    /// What is asked of the database; at least one.
    #[serde(default)]
    pub workload: Vec<Spanned<Workload>>,
    /// How hard, how long, how often.
    pub load: Spanned<Load>,
    /// What is varied beside configurations, workloads and load levels.
    pub sweep: Option<Spanned<Sweep>>,
    /// Nodes that are taken away, disks that fail and compactions, in every trial, one after the other.
    #[serde(default)]
    pub fault: Vec<Spanned<Fault>>,
    /// What good enough means. Without it the fastest for its money is asked for.
    pub objective: Option<Spanned<Objective>>,
    /// How the answer is made, where that is a matter of taste.
    pub decision: Option<Spanned<Decision>>,
    /// How money is counted.
    pub basis: Option<Spanned<Basis>>,
    /// Settings of providers.
    #[serde(default)]
    pub provider: Providers,
}

impl Experiment {
    /// Contact points of its target, where that is a cluster that exists already.
    pub fn existing(&self) -> Option<&Spanned<Vec<String>>> {
        self.target.as_ref()?.hosts.as_ref()
    }

    /// Whether its target is a cluster that exists already.
    pub fn has_existing_cluster(&self) -> bool {
        self.existing().is_some()
    }

    /// Whether machines by SSH are held to limits, on volumes that iopslab makes.
    pub fn holds_hosts_to_limits(&self) -> bool {
        let hosts = self.provider.hosts.as_ref();
        hosts.is_some_and(|hosts| hosts.limits.unwrap_or(false))
    }
}

/// A node that is taken away, and perhaps brought back, or a disk of it that fails for a time, or a compaction beside
/// the load, or a cache that is lost, while a trial is measured. Acknowledged writes of YCSB's operations are read back
/// at the end of the trial.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    /// `node-stop` (drained and stopped in order), `node-kill` (SIGKILL), `node-pause` (SIGSTOP, later SIGCONT) or
    /// `host-cut` (its network drops everything; on hosts of their own). Of served volumes: `disk-stall` (nothing is
    /// answered), `disk-slow`, `disk-error` (EIO) or `disk-full` (ENOSPC on writes). And `compaction`: the node
    /// compacts each table of the data set into one SSTable beside its load. Where every configuration has a
    /// `cache_tier`: `cache-kill` (SIGKILL to one of its nodes, which comes back empty).
    pub kind: Spanned<String>,
    /// Which node, counted from 1; for `cache-kill`, which node of the cache tier. Default 1.
    pub node: Option<Spanned<i64, u32>>,
    /// When, seconds from the start of measurement; at least 5, so that there is a before.
    pub at_s: Spanned<f64>,
    /// Seconds until it is undone. Default for nodes and caches: they stay away to the end of the trial. Must be
    /// stated for disks, and not for a compaction, which ends when it is done.
    pub for_s: Option<Spanned<f64>>,
    /// For disks, which volume of the node: `data` (default), `data-2` and so on where it has several for its data, or
    /// `commitlog`.
    pub volume: Option<Spanned<String, VolumeRole>>,
    /// For `disk-slow`: the volume's limits are divided, and its service times multiplied, by this; 1.01 to
    /// 10000.
    pub times: Option<Spanned<f64>>,
    /// For `disk-error`: `all` (default), `reads` or `writes`.
    pub requests: Option<Spanned<String, FailingRequests>>,
    /// For `disk-error`: the share of these requests that fails, above 0, up to 1. Default 1.
    pub share: Option<Spanned<f64>>,
    /// For `disk-error`: which part of the volume's bytes, first and last as shares of its size: `[0.0, 0.5]` is the
    /// first half. Default: all of it.
    pub range: Option<Spanned<(f64, f64)>>,
}

/// How money is counted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Basis {
    /// Hours in a month: 730 (default), 720, 732 or 744.
    pub hours_per_month: Option<Spanned<f64>>,
    /// `on-demand` (default), `1yr-no-upfront`, `3yr-all-upfront`, ...
    pub purchase: Option<Spanned<String>>,
    /// The day whose prices count, such as `2017-11-12`. Default: the latest known.
    pub price_date: Option<Spanned<String>>,
    /// Added to everything, per cent, such as a support plan's.
    pub uplift_percent: Option<Spanned<f64>>,
    /// Region. The catalog has prices of us-east-1.
    pub region: Option<Spanned<String>>,
}

/// The database under test: one that iopslab starts, or an existing cluster.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Target {
    /// `cassandra` (the default) or `postgresql`.
    pub database: Option<Spanned<String>>,
    /// For example `5.0.9` of Cassandra, `18.3` of PostgreSQL.
    pub version: Option<Spanned<String>>,
    /// Contact points `host:port` of an existing CQL cluster; with `database = "postgresql"` the `host:port` of an
    /// existing PostgreSQL.
    pub hosts: Option<Spanned<Vec<String>>>,
    /// With `hosts`: the keyspace for the data set, which is created where it does not exist and never dropped.
    pub keyspace: Option<Spanned<String>>,
    /// With `hosts` of PostgreSQL: the database that is connected to, which must exist.
    pub dbname: Option<Spanned<String>>,
    /// With `hosts` of PostgreSQL: the schema for the data set, which is created where it does not exist and never
    /// dropped.
    pub schema: Option<Spanned<String>>,
    /// With `hosts`: the data centre whose nodes are asked.
    pub data_centre: Option<Spanned<String>>,
    /// With `hosts`: the user. The password is in the environment (`IOPSLAB_PASSWORD`, or what `password_env` names) or
    /// in `password_file`.
    pub user: Option<Spanned<String>>,
    /// With `user`: the file that holds the password, and nothing else; relative to the experiment file.
    pub password_file: Option<Spanned<String>>,
    /// With `user`: the environment variable that holds the password. Default `IOPSLAB_PASSWORD`.
    pub password_env: Option<Spanned<String>>,
    /// With `hosts`: `true` for TLS with the authorities of the operating system, or where its certificates are.
    pub tls: Option<Form<bool, Tls>>,
    /// Consistency level of every request, such as `one` (the default) or `local_quorum`; or one for each kind:
    /// `{ read = "one", update = "quorum" }`.
    pub consistency: Option<Form<String, ConsistencyByKind>>,
    /// With `hosts`: its nodes, each of them, where they are to be watched by SSH.
    #[serde(default)]
    pub node: Vec<Spanned<WatchedNode>>,
    /// With `hosts`: machines that send the load, by SSH, as many as `[load] clients`. Default: this machine.
    pub client: Option<Spanned<Vec<Spanned<String>>>>,
    /// With `[[target.node]]` or `client`: configuration file of `ssh` (`ssh -F`), relative to this file. Default: the
    /// user's own.
    pub ssh_config: Option<Spanned<String>>,
    /// With `[[target.node]]` or `client`: iopslab for x86-64 machines where this program is not one, relative to this
    /// file.
    pub binary_x86_64: Option<Spanned<String>>,
    /// With `[[target.node]]` or `client`: iopslab for aarch64 machines where this program is not one, relative to
    /// this file.
    pub binary_aarch64: Option<Spanned<String>>,
}

/// None is stated.
fn no_dataset() -> Spanned<Dataset> {
    Spanned::new(0..0, Dataset::default())
}

/// Records x fields x field length. Workloads of your own statements (`cql`, `sql`) state their data themselves; here
/// only `seed`, `snapshot`, `region`, `profile`, `least_found` and `store` are for them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dataset {
    /// Number of records at full scale. Must be stated, but for `cql` and `sql`.
    pub records: Option<Spanned<i64, u64>>,
    /// Number of records that these stand for, where the real data set has more than are measured here with the same
    /// share of it in memory. Default: `records`.
    pub stands_for_records: Option<Spanned<i64, u64>>,
    /// Fields of a record. Default 10.
    pub fields: Option<Spanned<i64, u32>>,
    /// Bytes of a field. Default 100.
    pub field_length: Option<Spanned<i64, u32>>,
    /// Share of each value that is constant text, 0 to 1. Default 0: LZ4 cannot shrink it.
    pub compressibility: Option<Spanned<f64>>,
    /// Seed of keys and values. Default 1.
    pub seed: Option<Spanned<i64, u64>>,
    /// For `cql`: a directory with a snapshot of your own tables, as `nodetool snapshot` leaves it, with its
    /// `schema.cql`: restored instead of rows being loaded. Relative to this file; every database host has it there. Or
    /// `s3://BUCKET/PREFIX`, fetched by a run on this machine.
    pub snapshot: Option<Spanned<String>>,
    /// With a `snapshot` in a bucket, which needs it: region of the bucket.
    pub region: Option<Spanned<String>>,
    /// With a `snapshot` in a bucket: profile of the AWS configuration files. Default: the usual search for
    /// credentials.
    pub profile: Option<Spanned<String>>,
    /// With `snapshot`: of a statement's requests that are to find something, the share that has to, 0 to 1. Default
    /// 0.9.
    pub least_found: Option<Spanned<f64>>,
    /// Where data sets are kept, so that a host without one restores it instead of loading it.
    pub store: Option<Spanned<DataSetStore>>,
}

/// Where data sets are kept.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataSetStore {
    /// `s3://BUCKET/PREFIX`, or an absolute directory of the database hosts, such as one that they share.
    pub at: Spanned<String>,
    /// Whether a data set that the store does not have is kept there once it is loaded. Default false.
    pub keep: Option<bool>,
    /// With `s3://`, which needs it: region of the bucket.
    pub region: Option<Spanned<String>>,
    /// With `s3://`: profile of the AWS configuration files. Default: the usual search for credentials.
    pub profile: Option<Spanned<String>>,
}

/// What money buys.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Configuration {
    /// Unique name. Letters, digits, `-` and `_`.
    pub name: Spanned<String>,
    /// A catalog name such as `r4.4xlarge`, or `{ vcpus = 4, memory_gib = 16 }`.
    pub instance: Form<String, InstanceSize>,
    /// `{ type = "gp2", size_gib = 320 }`, `{ iops = 960, mib_per_s = 160, size_gib = 100 }`, or `local` (instance
    /// store).
    pub data_volume: Form<LocalWord, Volume>,
    /// Like `data_volume`. Default: the commit log lies on the data volume.
    pub commitlog_volume: Option<Form<LocalWord, Volume>>,
    /// Of an instance type with several EBS cards: on which of them its volumes are. `spread` (default): over all of
    /// them, by what each volume can do. `first`: all on card 0, as AWS attaches what states no card.
    pub ebs_cards: Option<Spanned<String, CardWord>>,
    /// How the instance shares its bandwidth: `ebs-1` gives its volumes a quarter more MB/s that last, and its network
    /// less by as much. Costs nothing. Default: `default`, as the type has it.
    pub bandwidth_weighting: Option<Spanned<String, WeightingWord>>,
    /// Memory that the database and its page cache may use, GiB. Default: all of the instance's.
    pub memory_limit_gib: Option<Spanned<f64>>,
    /// Database nodes, 1 to 12, each with the instance and volumes above. Default 1.
    pub nodes: Option<Spanned<i64, u32>>,
    /// Nodes that keep each record. Default 3, or as many as there are nodes.
    pub replication_factor: Option<Spanned<i64, u32>>,
    /// Racks (availability zones) over which the nodes are spread evenly. Default: one for each replica where that is
    /// possible, else one.
    pub racks: Option<Spanned<i64, u32>>,
    /// Contact points of the existing cluster that this is the name of, where several are compared; else `hosts` of
    /// `[target]`.
    pub hosts: Option<Spanned<Vec<String>>>,
    /// With `hosts`: its nodes, each of them, where they are to be watched by SSH.
    #[serde(default)]
    pub node: Vec<Spanned<WatchedNode>>,
    /// Its database, where that is another version than `[target]` says: `{ name = "cassandra", version = "5.0.9" }`.
    /// Costs nothing. The data set is loaded by that version and kept apart: no file is taken over from another one.
    pub database: Option<Spanned<DatabaseVersion>>,
    /// Consistency levels of this configuration, instead of those of `[target]`.
    pub consistency: Option<Form<String, ConsistencyByKind>>,
    /// What of it is otherwise than iopslab has it. Costs nothing.
    pub settings: Option<Spanned<Settings>>,
    /// SSTables of overwritten records beside the data set at rest, which the database compacts once measurement
    /// begins. Default: none.
    pub backlog: Option<Spanned<Backlog>>,
    /// Nodes of memcached in front of its database. Default: none.
    pub cache_tier: Option<Spanned<CacheTier>>,
    /// Speed of one of its vCPUs beside a vCPU of m5.2xlarge, 0.1 to 10. Default: what the catalog knows of the
    /// instance type.
    pub cpu_speed: Option<Spanned<f64>>,
    /// What all of it costs a month at full scale, USD, where the catalog has no price for it or you pay another.
    pub price_usd_per_month: Option<Spanned<f64>>,
}

/// What is written again after the data set is at rest, each SSTable by one flush.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Backlog {
    /// Writes of whole records for each record of the data set: 0.5 writes every second one again. At most `sstables`.
    pub overwrites: Spanned<f64>,
    /// SSTables in which they are, each as many, in each data directory; 1 to 1,000.
    pub sstables: Spanned<i64, u32>,
}

/// Consistency levels by kind; `one` where none is stated.
/// A read-modify-write reads at the one and updates at the other.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConsistencyByKind {
    /// Of reads.
    pub read: Option<String>,
    /// Of scans.
    pub scan: Option<String>,
    /// Of updates.
    pub update: Option<String>,
    /// Of inserts.
    pub insert: Option<String>,
}

/// Certificates of encrypted connections: files in PEM, relative to the experiment file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tls {
    /// Authorities that may have signed a node's certificate. Default: those that the client's operating system trusts.
    pub ca_file: Option<String>,
    /// Certificate that the client shows, for a cluster that asks for one (`require_client_auth`).
    pub client_cert: Option<String>,
    /// Its private key, without a passphrase.
    pub client_key: Option<String>,
    /// Whether a node's certificate must name its address, or the host name that stands in `hosts`. Default true.
    pub verify_host_name: Option<bool>,
}

/// A machine by its size.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InstanceSize {
    /// Virtual CPUs.
    pub vcpus: f64,
    /// Memory, GiB.
    pub memory_gib: f64,
}

/// What is varied beside configurations, workloads and load levels.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sweep {
    /// Data set over page cache, such as `[0.5, 1, 2, 5, 10]`: each workload is measured with page caches of these
    /// sizes, the data set being the same. 0.05 to 1000. Trials begin warm unless `cache` in `[load]` says otherwise.
    pub cache_ratio: Spanned<Vec<Spanned<f64>>>,
    /// What makes the ratios: `"memory"`, the page cache, beside the one data set. `"records"` is refused: each ratio
    /// would need a data set of its own, and an experiment has one. Default: `"memory"`.
    pub cache_ratio_by: Option<Spanned<String>>,
}

/// Settings of providers.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Providers {
    /// This machine with emulated volumes.
    #[serde(default)]
    pub local: Local,
    /// A simulated database with known truth (`iopslab run --provider simulated`).
    pub simulated: Option<Spanned<crate::Truth>>,
    /// The user's own machines, by SSH (`iopslab run --provider hosts`).
    pub hosts: Option<Spanned<Hosts>>,
    /// Machines that Terraform makes on AWS for the run (`iopslab run --provider aws`).
    pub aws: Option<Spanned<Aws>>,
}

/// Settings of the local provider.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Local {
    /// Where volumes, snapshots and the ledger live. Default: `$IOPSLAB_WORK`, or `/var/lib/iopslab`.
    pub work_directory: Option<Spanned<String>>,
    /// 1:N model: IOPS, MiB/s, CPUs, page cache, data set, operations and rates divided by N. Default 1.
    pub scale: Option<Spanned<f64>>,
    /// Page-cache budget on this machine, MiB, instead of the scaled one.
    pub page_cache_mib: Option<Spanned<f64>>,
    /// What of full scale the page caches of a model keep: `same-share` (the default: memory is divided by N, as the
    /// data are), `same-misses` (of fewer zipfian keys the same share misses more often: each page cache has the size
    /// that misses as often as at full scale) or `calibrated` (`page_cache_mib` was chosen so that device reads for
    /// each operation are those of production).
    pub page_cache: Option<Spanned<String, PageCacheKeeps>>,
    /// Java heap on this machine, MiB, instead of the scaled rule.
    pub heap_mib: Option<Spanned<f64>>,
    /// How volumes are emulated: `served` (a process answers for them as such volumes do; needs /dev/fuse and CPU) or
    /// `throttled` (the kernel's throttle; no latency of their own). Unless stated: served on this machine where it has
    /// what that takes, else throttled.
    pub volumes: Option<Spanned<String, Emulation>>,
    /// How burst buckets start each trial: `baseline` (the default: empty, so that what volumes sustain is measured) or
    /// `full` (as new volumes). A volume's own `burst` comes first.
    pub burst: Option<Spanned<String, BurstWord>>,
    /// Share of its credits with which a burst bucket starts each trial, 0 to 1, instead of `burst`.
    pub burst_credits_start: Option<Spanned<f64>>,
    /// Seconds that Cassandra may take from its launch until it answers CQL, 1 to 7200. Default 180; more for a very
    /// slow machine.
    pub start_timeout_s: Option<Spanned<f64>>,
    /// Seconds that Cassandra may then take until no compaction, flush or hint is pending, 1 to 7200. Default 600.
    pub settle_timeout_s: Option<Spanned<f64>>,
}

impl Local {
    /// Where it asks for page caches that miss as often as at full scale.
    pub fn asks_for_same_misses(&self) -> Option<Range<usize>> {
        let asked = self.page_cache.as_ref().filter(|word| word.as_str() == PageCacheKeeps::SameMisses.name());
        asked.map(Spanned::span)
    }
}
