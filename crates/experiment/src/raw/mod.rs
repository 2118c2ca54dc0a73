//! The experiment file as it is typed. Nothing is checked here but names and kinds of values;
//! `docs/experiment.schema.json` is generated from these types, so their comments are the reference of the file.

mod answer;
mod aws;
mod hosts;
mod settings;
mod sweep;
mod volume;
mod workload;

pub(crate) use answer::{Bounds, Decision, Objective};
pub(crate) use aws::{Aws, AwsBackend, AwsSite};
pub(crate) use hosts::{ClientHost, DatabaseHost, Hosts, WatchedNode};
pub(crate) use settings::{Keys, Settings, Variant};
pub(crate) use sweep::Sweep;
pub(crate) use volume::{BurstForms, EmulationForms, Volume, VolumeForms};
pub(crate) use workload::{Distribution, Workload};

use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::{Spanned, Value};

/// An iopslab experiment: a matrix of configurations x workloads x load levels.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "iopslab experiment")]
pub(crate) struct Experiment {
    /// Short name; the run directory is called after it. Letters, digits, `-`, `_` and `.`.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// The question that the experiment answers.
    pub question: Option<String>,
    /// Name of the configuration that ratios refer to. Default: the first one.
    #[schemars(with = "Option<String>")]
    pub baseline: Option<Spanned<String>>,
    /// The database under test.
    #[schemars(with = "Option<Target>")]
    pub target: Option<Spanned<Target>>,
    /// Records that are loaded once and restored before every trial.
    #[schemars(with = "Dataset")]
    pub dataset: Spanned<Dataset>,
    /// What money buys; at least one.
    #[serde(default)]
    #[schemars(with = "Vec<Configuration>")]
    pub configuration: Vec<Spanned<Configuration>>,
    /// Settings for several configurations.
    #[serde(default)]
    #[schemars(with = "Vec<Variant>")]
    pub variant: Vec<Spanned<Variant>>,
    /// What is asked of the database; at least one.
    #[serde(default)]
    #[schemars(with = "Vec<Workload>")]
    pub workload: Vec<Spanned<Workload>>,
    /// How hard, how long, how often.
    #[schemars(with = "Load")]
    pub load: Spanned<Load>,
    /// What is varied beside configurations, workloads and load levels.
    #[schemars(with = "Option<Sweep>")]
    pub sweep: Option<Spanned<Sweep>>,
    /// Nodes that are taken away, disks that fail and compactions, in every trial, one after the other.
    #[serde(default)]
    #[schemars(with = "Vec<Fault>")]
    pub fault: Vec<Spanned<Fault>>,
    /// What good enough means. Without it the fastest for its money is asked for.
    #[schemars(with = "Option<Objective>")]
    pub objective: Option<Spanned<Objective>>,
    /// How the answer is made, where that is a matter of taste.
    #[schemars(with = "Option<Decision>")]
    pub decision: Option<Spanned<Decision>>,
    /// How money is counted.
    #[schemars(with = "Option<Basis>")]
    pub basis: Option<Spanned<Basis>>,
    /// Settings of providers.
    #[serde(default)]
    pub provider: Providers,
}

impl Experiment {
    /// Whether its target is a cluster that exists already.
    pub fn has_existing_cluster(&self) -> bool {
        let target = self.target.as_ref();
        target.is_some_and(|target| target.get_ref().hosts.is_some())
    }

    /// Whether machines by SSH are held to limits, on volumes that iopslab makes.
    pub fn holds_hosts_to_limits(&self) -> bool {
        let hosts = self.provider.hosts.as_ref();
        hosts.is_some_and(|hosts| hosts.get_ref().limits.unwrap_or(false))
    }
}

/// A node that is taken away, and perhaps brought back, or a disk of it that fails for a time, or a compaction beside the
/// load, while a trial is measured. Acknowledged writes are read back at the end of the trial.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    /// `node-stop` (drained and stopped in order), `node-kill` (SIGKILL), `node-pause` (SIGSTOP, later SIGCONT) or
    /// `host-cut` (its network drops everything; on hosts of their own). Of served volumes: `disk-stall` (nothing is
    /// answered), `disk-slow`, `disk-error` (EIO) or `disk-full` (ENOSPC on writes). And `compaction`: the node compacts
    /// the data set's table into one SSTable beside its load.
    #[schemars(with = "String")]
    pub kind: Spanned<String>,
    /// Which node, counted from 1. Default 1.
    #[schemars(with = "Option<u32>")]
    pub node: Option<Spanned<i64>>,
    /// When, seconds from the start of measurement; at least 5, so that there is a before.
    #[schemars(with = "f64")]
    pub at_s: Spanned<f64>,
    /// Seconds until it is undone. Default for nodes: it stays away to the end of the trial. Must be stated for disks, and
    /// not for a compaction, which ends when it is done.
    #[schemars(with = "Option<f64>")]
    pub for_s: Option<Spanned<f64>>,
    /// For disks, which volume of the node: `data` (default), `data-2` and so on where it has several for its data, or
    /// `commitlog`.
    #[schemars(with = "Option<crate::VolumeRole>")]
    pub volume: Option<Spanned<String>>,
    /// For `disk-slow`: the volume's limits are divided, and its service times multiplied, by this; 1.01 to
    /// 10000.
    #[schemars(with = "Option<f64>")]
    pub times: Option<Spanned<f64>>,
    /// For `disk-error`: `all` (default), `reads` or `writes`.
    #[schemars(with = "Option<crate::FailingRequests>")]
    pub requests: Option<Spanned<String>>,
    /// For `disk-error`: the share of these requests that fails, above 0, up to 1. Default 1.
    #[schemars(with = "Option<f64>")]
    pub share: Option<Spanned<f64>>,
    /// For `disk-error`: which part of the volume's bytes, first and last as shares of its size: `[0.0, 0.5]` is the
    /// first half. Default: all of it.
    #[schemars(with = "Option<(f64, f64)>")]
    pub range: Option<Spanned<(f64, f64)>>,
}

/// How money is counted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Basis {
    /// Hours in a month: 730 (default), 720, 732 or 744.
    pub hours_per_month: Option<f64>,
    /// `on-demand` (default), `1yr-no-upfront`, `3yr-all-upfront`, ...
    pub purchase: Option<String>,
    /// The day whose prices count, such as `2017-11-12`. Default: the latest known.
    pub price_date: Option<String>,
    /// Added to everything, per cent, such as a support plan's.
    pub uplift_percent: Option<f64>,
    /// Region. The catalog has prices of us-east-1.
    pub region: Option<String>,
}

/// The database under test: one that iopslab starts, or an existing cluster.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Target {
    /// `cassandra`.
    #[schemars(with = "Option<String>")]
    pub database: Option<Spanned<String>>,
    /// For example `5.0.9`.
    #[schemars(with = "Option<String>")]
    pub version: Option<Spanned<String>>,
    /// Contact points `host:port` of an existing CQL cluster, instead of `database`.
    #[schemars(with = "Option<Vec<String>>")]
    pub hosts: Option<Spanned<Vec<String>>>,
    /// With `hosts`: the keyspace for the data set, which is created where it does not exist and never dropped.
    #[schemars(with = "Option<String>")]
    pub keyspace: Option<Spanned<String>>,
    /// With `hosts`: the data centre whose nodes are asked.
    #[schemars(with = "Option<String>")]
    pub data_centre: Option<Spanned<String>>,
    /// With `hosts`: the user. The password is in the environment (`IOPSLAB_PASSWORD`) or in `password_file`.
    #[schemars(with = "Option<String>")]
    pub user: Option<Spanned<String>>,
    /// With `user`: the file that holds the password, and nothing else; relative to the experiment file.
    #[schemars(with = "Option<String>")]
    pub password_file: Option<Spanned<String>>,
    /// With `hosts`: `true` for TLS with the authorities of the operating system, or where its certificates are.
    #[schemars(with = "Option<TlsForms>")]
    pub tls: Option<Spanned<Value>>,
    /// Consistency level of every request, such as `one` (the default) or `local_quorum`; or one for each kind:
    /// `{ read = "one", update = "quorum" }`.
    #[schemars(with = "Option<ConsistencyForms>")]
    pub consistency: Option<Spanned<Value>>,
    /// With `hosts`: its nodes, each of them, where they are to be watched by SSH.
    #[serde(default)]
    #[schemars(with = "Vec<WatchedNode>")]
    pub node: Vec<Spanned<WatchedNode>>,
    /// With `hosts`: machines that send the load, by SSH, as many as `[load] clients`. Default: this machine.
    #[schemars(with = "Option<Vec<String>>")]
    pub client: Option<Spanned<Vec<Spanned<String>>>>,
    /// With `[[target.node]]` or `client`: configuration file of `ssh` (`ssh -F`), relative to this file. Default: the
    /// user's own.
    #[schemars(with = "Option<String>")]
    pub ssh_config: Option<Spanned<String>>,
    /// With `[[target.node]]` or `client`: iopslab for x86-64 machines where this program is not one, relative to this
    /// file.
    #[schemars(with = "Option<String>")]
    pub binary_x86_64: Option<Spanned<String>>,
    /// With `[[target.node]]` or `client`: iopslab for aarch64 machines where this program is not one, relative to
    /// this file.
    #[schemars(with = "Option<String>")]
    pub binary_aarch64: Option<Spanned<String>>,
}

/// Records x fields x field length.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dataset {
    /// Number of records at full scale.
    #[schemars(with = "u64")]
    pub records: Spanned<i64>,
    /// Fields of a record. Default 10.
    #[schemars(with = "Option<u32>")]
    pub fields: Option<Spanned<i64>>,
    /// Bytes of a field. Default 100.
    #[schemars(with = "Option<u32>")]
    pub field_length: Option<Spanned<i64>>,
    /// Share of each value that is constant text, 0 to 1. Default 0: LZ4 cannot shrink it.
    #[schemars(with = "Option<f64>")]
    pub compressibility: Option<Spanned<f64>>,
    /// Seed of keys and values. Default 1.
    #[schemars(with = "Option<u64>")]
    pub seed: Option<Spanned<i64>>,
    /// Where data sets are kept, so that a host without one restores it instead of loading it.
    #[schemars(with = "Option<DataSetStore>")]
    pub store: Option<Spanned<DataSetStore>>,
}

/// Where data sets are kept.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataSetStore {
    /// `s3://BUCKET/PREFIX`, or an absolute directory of the database hosts, such as one that they share.
    #[schemars(with = "String")]
    pub at: Spanned<String>,
    /// Whether a data set that the store does not have is kept there once it is loaded. Default false.
    pub keep: Option<bool>,
    /// With `s3://`, which needs it: region of the bucket.
    #[schemars(with = "Option<String>")]
    pub region: Option<Spanned<String>>,
    /// With `s3://`: profile of the AWS configuration files. Default: the usual search for credentials.
    #[schemars(with = "Option<String>")]
    pub profile: Option<Spanned<String>>,
}

/// What money buys.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Configuration {
    /// Unique name. Letters, digits, `-` and `_`.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// A catalog name such as `r4.4xlarge`, or `{ vcpus = 4, memory_gib = 16 }`.
    #[schemars(with = "InstanceForms")]
    pub instance: Spanned<Value>,
    /// `{ type = "gp2", size_gib = 320 }`, `{ iops = 960, mib_per_s = 160, size_gib = 100 }`, or `local` (instance
    /// store).
    #[schemars(with = "VolumeForms")]
    pub data_volume: Spanned<Value>,
    /// Like `data_volume`. Default: the commit log lies on the data volume.
    #[schemars(with = "Option<VolumeForms>")]
    pub commitlog_volume: Option<Spanned<Value>>,
    /// Memory that the database and its page cache may use, GiB. Default: all of the instance's.
    #[schemars(with = "Option<f64>")]
    pub memory_limit_gib: Option<Spanned<f64>>,
    /// Database nodes, 1 to 12, each with the instance and volumes above. Default 1.
    #[schemars(with = "Option<u32>")]
    pub nodes: Option<Spanned<i64>>,
    /// Nodes that keep each record. Default 3, or as many as there are nodes.
    #[schemars(with = "Option<u32>")]
    pub replication_factor: Option<Spanned<i64>>,
    /// Racks (availability zones) over which the nodes are spread evenly. Default: one for each replica where that is
    /// possible, else one.
    #[schemars(with = "Option<u32>")]
    pub racks: Option<Spanned<i64>>,
    /// Contact points of the existing cluster that this is the name of, where several are compared; else `hosts` of
    /// `[target]`.
    #[schemars(with = "Option<Vec<String>>")]
    pub hosts: Option<Spanned<Vec<String>>>,
    /// With `hosts`: its nodes, each of them, where they are to be watched by SSH.
    #[serde(default)]
    #[schemars(with = "Vec<WatchedNode>")]
    pub node: Vec<Spanned<WatchedNode>>,
    /// Consistency levels of this configuration, instead of those of `[target]`.
    #[schemars(with = "Option<ConsistencyForms>")]
    pub consistency: Option<Spanned<Value>>,
    /// What of it is otherwise than iopslab has it. Costs nothing.
    #[schemars(with = "Option<Settings>")]
    pub settings: Option<Spanned<Settings>>,
    /// SSTables of overwritten records beside the data set at rest, which the database compacts once measurement begins.
    /// Default: none.
    #[schemars(with = "Option<Backlog>")]
    pub backlog: Option<Spanned<Backlog>>,
    /// Speed of one of its vCPUs beside a vCPU of m5.2xlarge, 0.1 to 10. Default: what the catalog knows of the instance type.
    #[schemars(with = "Option<f64>")]
    pub cpu_speed: Option<Spanned<f64>>,
    /// What all of it costs a month at full scale, USD, where the catalog has no price for it or you pay another.
    #[schemars(with = "Option<f64>")]
    pub price_usd_per_month: Option<Spanned<f64>>,
}

/// What is written again after the data set has come to rest, each SSTable by one flush.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Backlog {
    /// Writes of whole records for each record of the data set: 0.5 writes every second one again. At most `sstables`.
    #[schemars(with = "f64")]
    pub overwrites: Spanned<f64>,
    /// SSTables in which they are, each as many, in each data directory; 1 to 1,000.
    #[schemars(with = "u32")]
    pub sstables: Spanned<i64>,
}

/// One level, or one for each kind of request.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(
    dead_code,
    reason = "describes the file for the schema; values are read by hand to keep their places"
)]
pub(crate) enum ConsistencyForms {
    /// Of every request.
    Same(String),
    /// By kind.
    ByKind(ConsistencyByKind),
}

/// Consistency levels by kind; `one` where none is stated.
/// A read-modify-write reads at the one and updates at the other.
#[derive(Debug, Deserialize, JsonSchema)]
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

/// Yes, or with which certificates.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(
    dead_code,
    reason = "describes the file for the schema; values are read by hand to keep their places"
)]
pub(crate) enum TlsForms {
    /// With the authorities of the operating system, or not at all.
    Plainly(bool),
    /// With these certificates.
    With(Tls),
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

/// A catalog name or a size.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(
    dead_code,
    reason = "describes the file for the schema; values are read by hand to keep their places"
)]
pub(crate) enum InstanceForms {
    /// Catalog name.
    Name(String),
    /// Explicit size.
    Size(InstanceSize),
}

/// A machine by its size.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InstanceSize {
    /// Virtual CPUs.
    pub vcpus: f64,
    /// Memory, GiB.
    pub memory_gib: f64,
}

/// Load levels and the shape of a trial.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Load {
    /// Closed loop: requests in flight, one load level each (YCSB's "threads").
    #[serde(default)]
    #[schemars(with = "Vec<u32>")]
    pub concurrency: Vec<Spanned<i64>>,
    /// Open loop: operations per second at full scale, one load level each (divided by `scale`); or `"find"`: for each
    /// configuration and workload the highest rate that meets `[objective]` is searched for and then measured.
    #[schemars(with = "Option<RateForms>")]
    pub rate: Option<Spanned<Value>>,
    /// Arrivals of the open loop: `poisson` (default) or `constant`.
    #[schemars(with = "Option<String>")]
    pub arrival: Option<Spanned<String>>,
    /// Client processes that share each level, each on a host of its own where there are several; or `"auto"`, with
    /// rates alone: as many as the highest of them takes (on AWS by the CPUs of the clients' type), or as many machines
    /// as are named for clients. Default 1.
    #[schemars(with = "Option<NumberOrAuto>")]
    pub clients: Option<Spanned<Value>>,
    /// Seconds before measurement, under the same load. Default 20: a freshly started server compiles its code first.
    #[schemars(with = "Option<f64>")]
    pub warmup_s: Option<Spanned<f64>>,
    /// `"auto"`: warm up until throughput has come to rest (the report's own rule), instead of `warmup_s`.
    #[schemars(with = "Option<String>")]
    pub warmup: Option<Spanned<String>>,
    /// With `warmup = "auto"`: most seconds of warm-up. Default 300.
    #[schemars(with = "Option<f64>")]
    pub max_warmup_s: Option<Spanned<f64>>,
    /// Most seconds in which a new process of the database compiles its code before a trial, by the workload's own operations and
    /// while no limit holds, until its compilers are quiet; and most seconds in which the page cache settles. Default 120; 0: neither
    /// is waited for.
    #[schemars(with = "Option<f64>")]
    pub rest_max_s: Option<Spanned<f64>>,
    /// Processes of the database that share out the trials of a block, each brought to rest once. Default 1: what one process has
    /// compiled well or badly then cancels in the block's ratios. As many as a block has trials, or more: one for each trial.
    #[schemars(with = "Option<u32>")]
    pub forks: Option<Spanned<i64>>,
    /// How the page cache stands before the warm-up: `warm` (the default: it holds what the workload's own keys leave in it), `cold`
    /// (nothing of the data set is in it), or both, `["cold", "warm"]`, which measures each workload in both states.
    #[schemars(with = "Option<CacheForms>")]
    pub cache: Option<Spanned<Value>>,
    /// Measured seconds. Default 60; a bound on the time when `operations` is given.
    #[schemars(with = "Option<f64>")]
    pub duration_s: Option<Spanned<f64>>,
    /// Measured operations at full scale; the trial ends at whichever comes first.
    #[schemars(with = "Option<u64>")]
    pub operations: Option<Spanned<i64>>,
    /// Trials of each cell; or `"auto"`: repeat until every ratio to the baseline is known to `precision`, or a budget
    /// is spent (at least 3). Default 3.
    #[schemars(with = "Option<NumberOrAuto>")]
    pub repetitions: Option<Spanned<Value>>,
    /// With `repetitions = "auto"`: half-width of the 95 % interval of each ratio, as a share. Default 0.05.
    #[schemars(with = "Option<f64>")]
    pub precision: Option<Spanned<f64>>,
    /// With `repetitions = "auto"`: most trials of a cell. Default 20.
    #[schemars(with = "Option<u32>")]
    pub max_repetitions: Option<Spanned<i64>>,
    /// With `repetitions = "auto"`: no new block is begun after this many minutes. Default: no bound.
    #[schemars(with = "Option<f64>")]
    pub budget_minutes: Option<Spanned<f64>>,
    /// With `repetitions = "auto"`: no new block is begun once the trials would have cost this much, USD, each
    /// configuration by the hour for its own trials. Needs a price for every configuration. Default: no bound.
    #[schemars(with = "Option<f64>")]
    pub budget_usd: Option<Spanned<f64>>,
    /// Seed of the order of trials and of the key choosers. Default 1.
    #[schemars(with = "Option<u64>")]
    pub seed: Option<Spanned<i64>>,
    /// Client-side timeout of a request, seconds. Default 30.
    #[schemars(with = "Option<f64>")]
    pub request_timeout_s: Option<Spanned<f64>>,
}

impl Load {
    /// The number of clients with its place, where it is stated as one.
    pub fn stated_clients(&self) -> Option<(Range<usize>, i64)> {
        let given = self.clients.as_ref()?;
        Some((given.span(), given.get_ref().as_integer()?))
    }
}

/// A state of the page cache, or several.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(
    dead_code,
    reason = "describes the file for the schema; values are read by hand to keep their places"
)]
pub(crate) enum CacheForms {
    /// Before all trials.
    One(CacheWord),
    /// Each workload in each of them.
    Several(Vec<CacheWord>),
}

/// How the page cache stands before a trial's warm-up.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(
    dead_code,
    reason = "describes the file for the schema; the word is read by hand to keep its place"
)]
pub(crate) enum CacheWord {
    /// Mounted anew.
    Cold,
    /// Read into memory.
    Warm,
}

/// A number, or `"auto"`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(
    dead_code,
    reason = "describes the file for the schema; values are read by hand to keep their places"
)]
pub(crate) enum NumberOrAuto {
    /// A whole number.
    Number(u32),
    /// `auto`.
    Auto(String),
}

/// Rates, or `"find"`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(
    dead_code,
    reason = "describes the file for the schema; values are read by hand to keep their places"
)]
pub(crate) enum RateForms {
    /// Operations per second.
    Rates(Vec<f64>),
    /// `find`.
    Find(String),
}

/// Settings of providers.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Providers {
    /// This machine with emulated volumes.
    #[serde(default)]
    pub local: Local,
    /// A simulated database with known truth (`iopslab run --provider simulated`).
    #[schemars(with = "Option<crate::Truth>")]
    pub simulated: Option<Spanned<crate::Truth>>,
    /// The user's own machines, by SSH (`iopslab run --provider hosts`).
    #[schemars(with = "Option<Hosts>")]
    pub hosts: Option<Spanned<Hosts>>,
    /// Machines that Terraform makes on AWS for the run (`iopslab run --provider aws`).
    #[schemars(with = "Option<Aws>")]
    pub aws: Option<Spanned<Aws>>,
}

/// Settings of the local provider.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Local {
    /// Where volumes, snapshots and the ledger live. Default: `$IOPSLAB_WORK`, or `/var/lib/iopslab`.
    #[schemars(with = "Option<String>")]
    pub work_directory: Option<Spanned<String>>,
    /// 1:N model: IOPS, MiB/s, CPUs, page cache, data set, operations and rates divided by N. Default 1.
    #[schemars(with = "Option<f64>")]
    pub scale: Option<Spanned<f64>>,
    /// Page-cache budget on this machine, MiB, instead of the scaled one.
    #[schemars(with = "Option<f64>")]
    pub page_cache_mib: Option<Spanned<f64>>,
    /// Java heap on this machine, MiB, instead of the scaled rule.
    #[schemars(with = "Option<f64>")]
    pub heap_mib: Option<Spanned<f64>>,
    /// How volumes are emulated: `served` (a process answers for them as such volumes do; needs /dev/fuse and CPU) or
    /// `throttled` (the kernel's throttle; no latency of their own). Unless stated: served on this machine where it has
    /// what that takes, else throttled.
    #[schemars(with = "Option<EmulationForms>")]
    pub volumes: Option<Spanned<String>>,
    /// How burst buckets start each trial: `baseline` (the default: empty, so that what volumes sustain is measured) or
    /// `full` (as new volumes). A volume's own `burst` comes first.
    #[schemars(with = "Option<BurstForms>")]
    pub burst: Option<Spanned<String>>,
    /// Share of its credits with which a burst bucket starts each trial, 0 to 1, instead of `burst`.
    #[schemars(with = "Option<f64>")]
    pub burst_credits_start: Option<Spanned<f64>>,
    /// Seconds that Cassandra may take from its launch until it answers CQL, 1 to 7200. Default 180; more for a very
    /// slow machine.
    #[schemars(with = "Option<f64>")]
    pub start_timeout_s: Option<Spanned<f64>>,
    /// Seconds that Cassandra may then take until no compaction, flush or hint is pending, 1 to 7200. Default 600.
    #[schemars(with = "Option<f64>")]
    pub settle_timeout_s: Option<Spanned<f64>>,
}
