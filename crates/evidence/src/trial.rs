//! `trial.json`: the record of one measured execution of a cell.

use std::collections::BTreeMap;

use experiment::{
    Cell, FORMAT_VERSION, IoLimits, LoadLevel, OperationKind, SettingsInForce, TableBefore, VolumeLevel, VolumeRole,
};
use serde::{Deserialize, Serialize};

use crate::{BacklogFound, Clock, FaultRecord, Fork, HostId, Imported, Rest, Warmed, WriteCheck};

experiment::word_enum! {
    /// Why an operation failed. Errors are counted by kind and never end a trial.
    #[derive(Hash, PartialOrd, Ord)]
    pub enum ErrorKind by name {
        /// The coordinator waited too long for replicas to read.
        ReadTimeout = "read_timeout",
        /// The coordinator waited too long for replicas to write.
        WriteTimeout = "write_timeout",
        /// Not enough live replicas.
        Unavailable = "unavailable",
        /// The coordinator shed load.
        Overloaded = "overloaded",
        /// No response within the client's own timeout.
        ClientTimeout = "client_timeout",
        /// The connection failed.
        Connection = "connection",
        /// A read returned no row where one must exist.
        NotFound = "not_found",
        /// Any other error the database returned.
        Other = "other",
    }
}

/// What made a trial invalid while it was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The database did not start or did not settle, so that nothing was asked of it.
    DidNotStart,
    /// The database ended during the trial.
    DatabaseEnded,
    /// The process that answers for the database's volumes ended, so that they gave errors.
    VolumesLost,
    /// The client reported an error.
    ClientFailed,
    /// The client's process was lost.
    ClientLost,
    /// A machine of the run could not be reached any more.
    HostLost,
    /// A planned fault could not be carried out, so that the trial is not what was planned.
    FaultFailed,
    /// A node was not left to compact its backlog when measurement had begun, or had done so before.
    BacklogNotAsPlanned,
    /// The page cache of a node was not held at its budget.
    PageCacheNotHeld,
    /// A cache in front of the database ended by itself.
    CacheLost,
    /// The stored evidence cannot be read, or belongs to another trial.
    Unreadable,
}

impl Cause {
    /// Whether nothing was asked of the database, so that `--resume` tries again.
    pub fn is_before_load(self) -> bool {
        self == Self::DidNotStart
    }

    /// Whether what the trial asks for was done, whatever the database made of it. Of trials that were not carried out
    /// a few in a row end the run.
    pub fn is_carried_out(self) -> bool {
        !matches!(self, Self::DidNotStart | Self::ClientLost)
    }
}

/// Whether a trial may enter comparisons.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum Validity {
    /// It ran to its end.
    #[default]
    Valid,
    /// Kept as evidence, never compared: what kind of thing happened, what it was in one sentence, and the last
    /// lines of the log that explains it.
    Invalid { cause: Cause, reason: String, log_tail: Vec<String> },
}

/// One measured execution of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct TrialRecord {
    /// Version of this file's shape.
    pub format_version: u32,
    pub cell: String,
    /// Block (repetition), from 1.
    pub block: u32,
    pub configuration: String,
    pub workload: String,
    pub load: LoadLevel,
    #[serde(flatten)]
    pub validity: Validity,
    /// UTC start of the warm-up, RFC 3339.
    pub started_at: String,
    /// Modifications of its volumes that were seen to come into force before it, in their order: by the last one a
    /// volume has the level of its configuration.
    pub modified: Vec<ModifiedVolume>,
    /// Ids of the volumes of EBS that hold the data of each database host; empty where none were bought.
    pub data_volumes: BTreeMap<HostId, Vec<String>>,
    /// What the client measured; `None` when it never got to measure.
    pub client: Option<ClientResult>,
    /// What each client measured, where several shared the load; `client` is then their sum.
    pub clients: BTreeMap<HostId, ClientPart>,
    /// What each database host says about this trial, by its index.
    pub nodes: Vec<NodeFacts>,
    /// What was found out about each host's clock; empty where nothing was started.
    pub clocks: BTreeMap<HostId, Clock>,
    /// What was planned to be done to nodes, and was, in order of time.
    pub faults: Vec<FaultRecord>,
    /// Whether acknowledged writes were still there at the end; looked at where faults are planned.
    pub writes: Option<WriteCheck>,
    /// Where the time around warm-up and measurement went; `None` where nothing was started.
    pub overhead: Option<Overhead>,
    /// The database process that it was measured on; `None`: nobody started one for the run.
    pub fork: Option<Fork>,
    /// Its table before it, where that is in a database that exists and was seen to; `None`: it was not.
    pub table: Option<TableBefore>,
}

/// A volume of EBS that was modified, or of which that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModifiedVolume {
    /// Whose data it holds.
    pub host: HostId,
    /// Its id.
    pub volume: String,
    /// What it had before; `None`: EC2 did not say.
    pub from: Option<VolumeLevel>,
    /// What it has since.
    pub to: VolumeLevel,
    /// When that was asked for, RFC 3339, by the clock of AWS.
    pub asked_at: String,
    /// When it was in force, RFC 3339: EC2 called the modification completed, by the same clock; where EC2 states no
    /// moment, when the controller saw it. `None`: nobody has seen that so far; a trial has none of these.
    pub in_force_at: Option<String>,
}

/// Seconds of a trial in which nothing is measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// The data is restored and its volumes are mounted anew.
    pub restore_s: f64,
    /// The database is launched, until it answers CQL.
    pub start_s: f64,
    /// Until it has settled and the restored keys are looked up.
    pub settle_s: f64,
    /// It is brought to rest: its code compiled, its data taken in again, its page cache filled.
    pub rest_s: f64,
    /// The database is ended, logs are collected, volumes are detached.
    pub stop_s: f64,
}

impl Overhead {
    /// All of it.
    pub fn seconds(&self) -> f64 {
        self.restore_s + self.start_s + self.settle_s + self.rest_s + self.stop_s
    }
}

/// What the load generator measured, warm-up excluded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct ClientResult {
    /// Seconds from the start of the trial (warm-up included) to the start of measurement.
    pub warmup_s: f64,
    pub measured_s: f64,
    pub operations_sent: u64,
    /// Operations completed without error, by kind.
    pub completed: BTreeMap<OperationKind, u64>,
    pub errors: BTreeMap<ErrorKind, u64>,
    /// CPU seconds of the client process in the measured window (user + system).
    pub client_cpu_s: f64,
    /// Largest resident set of the client process, bytes.
    pub client_peak_rss_bytes: u64,
    /// Open loop: how late requests were sent, microseconds; closed loop: `None`.
    pub send_lag_us: Option<SendLag>,
    pub threads: u32,
    /// What the client says of how it sent requests, in whole sentences.
    pub notes: Vec<String>,
    /// What the server said of the first error of each kind, warm-up included, where the client keeps it.
    pub first_errors: BTreeMap<ErrorKind, String>,
    /// What another tool states, where the load was its own: the trial is an imported one, and has no histograms.
    pub imported: Option<Box<Imported>>,
}

/// What one of several clients measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientPart {
    /// Its own figures.
    #[serde(flatten)]
    pub result: ClientResult,
    /// How much later than the first client it began to measure, milliseconds.
    pub started_after_ms: f64,
}

/// How late an open-loop generator sent its requests against its own schedule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SendLag {
    /// Median, microseconds.
    pub p50: u64,
    /// 99th percentile, microseconds.
    pub p99: u64,
    /// Worst, microseconds.
    pub max: u64,
}

/// A program that is no part of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherProgram {
    /// As the kernel has it: at most 15 characters; all processes of this name together.
    pub name: String,
    /// CPUs that it used.
    pub cpus: f64,
}

/// What a database host says about a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct NodeFacts {
    pub host: HostId,
    pub cpus: f64,
    pub heap_bytes: u64,
    pub memory_limit_bytes: u64,
    pub page_cache_budget_bytes: u64,
    /// Bytes of its cgroup's page cache that are the program itself (libraries, jars and class archives that are
    /// mapped): they take nothing of the budget. `None`: nobody looked.
    pub program_cache_bytes: Option<u64>,
    /// Live bytes of the data set on disk after restore.
    pub data_bytes_on_disk: u64,
    /// What the restore check found.
    pub restored_keys_checked: u32,
    /// Volumes with what was asked of them and what they delivered.
    pub volumes: Vec<VolumeFacts>,
    /// Which of its configuration's settings were found in force once it ran; a node with one that was not is no trial.
    pub settings: SettingsInForce,
    /// What warming its page cache came to; `None`: the trial began cold.
    pub warmed: Option<Warmed>,
    /// How it was brought to rest before the warm-up; `None`: it was not.
    pub rest: Option<Rest>,
    /// Programs outside of the run that used its CPUs while it was watched, those that used most first.
    pub others: Vec<OtherProgram>,
    /// Its backlog of compaction; `None`: its data set was at rest.
    pub backlog: Option<BacklogFound>,
}

impl NodeFacts {
    /// The first database host, of which nothing is known.
    pub const UNKNOWN: Self = Self {
        host: HostId::DATABASE,
        cpus: 0.0,
        heap_bytes: 0,
        memory_limit_bytes: 0,
        page_cache_budget_bytes: 0,
        program_cache_bytes: None,
        data_bytes_on_disk: 0,
        restored_keys_checked: 0,
        volumes: Vec::new(),
        settings: SettingsInForce::NONE,
        warmed: None,
        rest: None,
        others: Vec::new(),
        backlog: None,
    };
}

impl TrialRecord {
    /// A valid one of which nothing else is known yet.
    pub fn of(cell: &Cell, block: u32) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            cell: cell.id.clone(),
            block,
            configuration: cell.configuration.clone(),
            workload: cell.workload.clone(),
            load: cell.load,
            validity: Validity::Valid,
            started_at: String::new(),
            modified: Vec::new(),
            data_volumes: BTreeMap::new(),
            client: None,
            clients: BTreeMap::new(),
            nodes: Vec::new(),
            clocks: BTreeMap::new(),
            faults: Vec::new(),
            writes: None,
            overhead: None,
            fork: None,
            table: None,
        }
    }

    /// The first database host: the whole database where there is one node.
    pub fn node(&self) -> &NodeFacts {
        static UNKNOWN: NodeFacts = NodeFacts::UNKNOWN;
        self.nodes.first().unwrap_or(&UNKNOWN)
    }
}

/// A volume: limits asked for, and what the probe measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VolumeFacts {
    /// Role in the configuration.
    pub role: VolumeRole,
    /// Full-scale label.
    pub label: String,
    /// Kernel device name, such as `loop3`.
    pub device: String,
    /// Kernel name of the array of which it was a member, such as `md900`.
    pub array: Option<String>,
    /// Limits in force on this machine at the start of the trial (scaled).
    pub limits: IoLimits,
    /// fio's measurement of this configuration.
    pub probe: Option<ProbeResult>,
    /// Burst credits (I/O operations, scaled) when measurement began and ended.
    pub burst_credits: Option<(f64, f64)>,
    /// The same of a bucket of bytes (served st1 and sc1).
    pub byte_credits: Option<(f64, f64)>,
    /// Whether a process answered for it, rather than the kernel's throttle held the database to its limits.
    pub is_served: bool,
    /// Whether reads and writes shared its limits; `None`: nobody held it to any.
    pub combined: Option<bool>,
    /// How it was initialised; `None`: it was made empty.
    pub initialised: Option<Initialised>,
}

impl VolumeFacts {
    /// Whether it is known that reads and writes shared its limits.
    pub fn is_combined(&self) -> bool {
        self.combined == Some(true)
    }
}

/// A volume that was made from a snapshot of EBS: every block was read once before anything was measured on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Initialised {
    /// The snapshot, as EBS calls it.
    pub snapshot: String,
    /// When the data set on it was loaded, as its manifest says.
    pub loaded_at: String,
    /// Serial number of the disk, where it has one.
    pub serial: Option<String>,
    /// Bytes that were read: its size.
    pub bytes: u64,
    /// Seconds that took.
    pub seconds: f64,
    /// When it was done, UTC, RFC 3339.
    pub done_at: String,
}

impl Initialised {
    /// How fast it was read, bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 / self.seconds.max(0.001)
    }
}

/// What fio measured on a volume: 4 KiB random reads and 64 KiB sequential writes, direct I/O.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProbeResult {
    /// 4 KiB random reads per second.
    pub read_iops: f64,
    /// Mean latency of those reads, microseconds.
    pub read_latency_us: f64,
    /// 64 KiB sequential writes, bytes per second.
    pub write_bytes_per_s: f64,
    /// 64 KiB sequential writes per second.
    pub write_iops: f64,
    /// Seconds each part ran.
    pub seconds: f64,
}

impl ProbeResult {
    /// Bytes of one of its reads.
    pub const READ_BYTES: f64 = 4096.0;
    /// Bytes of one of its writes.
    pub const WRITE_BYTES: f64 = 65_536.0;
}
