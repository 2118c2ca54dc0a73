//! The vocabulary. Every message is a plain value; units are in the names.

use std::net::Ipv4Addr;

use evidence::{
    ClientResult, Environment, HostSample, Initialised, KeptDataSet, OtherProgram, VolumeFacts, Warmed, WriteCheck,
};
use experiment::{
    Access, CacheState, ConsistencyLevels, DataSetFiles, Dataset, Definition, FaultAction, KeyFormat, LoadLevel,
    Patience, PlannedTrial, SettingsInForce, Setup, TrialShape,
};
use serde::{Deserialize, Serialize};

use crate::{GivenByMachine, LogFile, LogPiece, MachineUse, Transfer, TrialPiece, WatchTask, WatchedFacts};

/// Version of these messages; controller and agent must agree.
pub const PROTOCOL: u32 = 23;

/// While an agent works on a request it says so every so many seconds.
pub const AT_WORK_S: u64 = 5;

/// Controller to agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Say who you are; refused when the protocols differ.
    Hello {
        /// The controller's [`PROTOCOL`].
        protocol: u32,
    },
    /// Say what your clock shows; answered at once.
    Clock,
    /// Work for the agent on a database host.
    Database(DatabaseRequest),
    /// Work for the agent on a client host.
    Client(ClientRequest),
    /// End the request under way as soon as possible.
    Cancel,
    /// The controller is there: an agent with a watchdog ends itself when nothing has reached it for too long.
    Alive,
}

/// Work for the agent on a database host.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatabaseRequest {
    /// Say what stands in the way of a run on this machine; changes nothing.
    Check(Needs),
    /// Take the work directory, clean what an earlier run left, fetch the database, find Java.
    Open(UnderTest),
    /// Find the node of an existing cluster that is on this machine. From here on this agent only looks: its trials
    /// start and stop nothing.
    Watch(WatchTask),
    /// The data volume was made from a snapshot of EBS: see that it holds this node's data set, and read each of its
    /// blocks once, unless that was done. From here on it is this node's snapshot of the data set.
    Initialise {
        /// Which files of which cluster.
        files: DataSetFiles,
    },
    /// Look for this node's snapshot of the data set.
    FindSnapshot {
        /// Which files of which cluster.
        files: DataSetFiles,
    },
    /// Start an unlimited node for loading, wait until it knows the others, and see to the schema.
    StartLoading {
        /// Which files of which cluster.
        files: DataSetFiles,
        /// Names this loading: snapshots of several nodes belong together only if they come from the same one.
        loading: String,
    },
    /// Everything is inserted: flush, and compact to rest. Where there is to be a backlog, nothing is compacted after
    /// that.
    FinishLoading,
    /// A part of the backlog is written: flush it, so that it is an SSTable of its own in each data directory.
    FlushBacklog,
    /// All nodes are at rest: stop, and keep the files as this node's snapshot.
    KeepSnapshot,
    /// Look for this node's data set in a directory of its host.
    FindKept {
        /// Which files of which cluster.
        files: DataSetFiles,
        /// Where data sets are kept.
        directory: String,
    },
    /// Make this node's snapshot of what a store has.
    Restore {
        /// Which files of which cluster.
        files: DataSetFiles,
        /// What the store says of it.
        kept: Box<KeptDataSet>,
        /// Where its parts are.
        from: Transfer,
    },
    /// Say how long an archive of this node's snapshot would be.
    MeasureArchive {
        /// Which files of which cluster.
        files: DataSetFiles,
    },
    /// Bring this node's snapshot to a store. In a directory it is a data set then; elsewhere the controller writes
    /// down what is answered.
    KeepInStore {
        /// Which files of which cluster.
        files: DataSetFiles,
        /// Where its parts go.
        to: Transfer,
        /// Name of this run.
        run: String,
    },
    /// Create the configuration's volumes, copy the snapshot onto them, and measure what they deliver.
    Prepare {
        /// Which configuration.
        setup: Box<Setup>,
        /// Further ones that can be served by the same process: they share its volumes.
        others: Vec<Setup>,
    },
    /// A settled database: the one that was kept from the trial before, or a new one on cold volumes with restored
    /// data. Where it says so, it is brought to rest before its limits come into force.
    StartTrial {
        /// Which trial.
        trial: PlannedTrial,
        /// Which configuration.
        setup: Box<Setup>,
        /// The workload's name.
        workload: String,
        /// Keys that must exist in the restored data.
        sample_keys: Vec<String>,
        /// CPUs of this host's machine that databases of the trial were promised.
        database_cpus: f64,
    },
    /// Say what the database and its volumes have used; limits are not in force yet.
    Usage,
    /// Take all rows of the data set away, on all nodes of the cluster.
    Empty,
    /// Take the data set into the database again, as it was loaded, with nothing of it in the page cache.
    Renew {
        /// How the page cache is to stand: where it is to be warm, the pages that the workload has left in it at rest
        /// are read, or what fits of the data set's files where that was not seen yet.
        cache: CacheState,
        /// The workload's name.
        workload: String,
    },
    /// The page cache is as this workload leaves it: note which pages are in it, for the next trials. Asked twice, with
    /// load between: what is in it both times lasts.
    NoteCache {
        /// The workload's name.
        workload: String,
        /// Whether this is the second time.
        again: bool,
        /// Device reads for each operation with this page cache; `None`: it has not settled yet, and the next trial goes on
        /// from there.
        reads_per_operation: Option<f64>,
    },
    /// Look these keys up, which must exist. Any node may answer for one, so that all have to have the data set by
    /// then.
    LookUp {
        /// The keys.
        sample_keys: Vec<String>,
    },
    /// The database is at rest: all limits come into force, and it is watched.
    Hold,
    /// Measurement has begun: compact the backlog, as a database in service does.
    CompactBacklog,
    /// Take the node away whose trial is under way, or spoil a disk of it, or have it compact, now.
    StartFault(FaultAction),
    /// Bring it back, with the data that it has; of a disk: lift its fault; of a compaction: wait until it is done.
    EndFault,
    /// The trial is over: stop the database and detach its volumes, unless it is kept.
    StopTrial {
        /// Whether the next trial can be served by the same process.
        keeps: bool,
    },
    /// Read a piece of a log of the trial that was stopped last.
    ReadLog {
        /// Which log, by the name that `StopTrial` gave it.
        name: String,
        /// Where the piece begins, bytes.
        offset: u64,
    },
    /// Undo everything except the snapshot.
    Close,
}

/// What a run needs of a database host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Needs {
    /// Where volumes, snapshots and the ledger would live; empty: the default of that machine.
    pub work_directory: String,
    /// What the machine is used for; `None`: emulated volumes, all limits in force.
    pub machine_use: Option<MachineUse>,
    /// Bytes there.
    pub bytes: u64,
    /// Whether its network is to be cut.
    pub network_cut: bool,
    /// Whether a process is to answer for its volumes.
    pub served_volumes: bool,
    /// Whether volumes are to be striped by its kernel.
    pub arrays: bool,
    /// The configuration that needs most CPUs.
    pub cpus: Option<Demand>,
    /// The configuration that needs most memory, bytes.
    pub memory: Option<Demand>,
    /// A directory of data sets that must be there, and whether it is written to.
    pub data_sets: Option<(String, bool)>,
}

/// What a configuration's nodes on one machine need of something.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Demand {
    /// The configuration's name.
    pub configuration: String,
    /// Its nodes on this machine.
    pub nodes: u32,
    /// What each of them needs.
    pub each: f64,
}

impl Demand {
    /// What all of them need.
    pub fn total(&self) -> f64 {
        f64::from(self.nodes) * self.each
    }
}

/// Something that stands in the way of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What is missing or wrong.
    pub what: String,
    /// What to do about it.
    pub fix: String,
    /// The experiment asks for what this machine cannot be; else the machine can be mended.
    pub is_in_the_experiment: bool,
}

/// What the database host needs to know about the whole run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UnderTest {
    /// Name of the run; part of cgroup names.
    pub run: String,
    /// Where this node's volumes, snapshots and ledger live; empty: the default of that machine.
    pub work_directory: String,
    /// What the machine is used for; `None`: emulated volumes, all limits in force.
    pub machine_use: Option<MachineUse>,
    /// Addresses of the nodes of all database hosts, by index.
    pub addresses: Vec<Ipv4Addr>,
    /// Number of this host among them, from 0.
    pub index: u32,
    /// Number of this host among those of its machine, from 0: it decides which CPUs it gets, and its management port.
    pub on_machine: u32,
    /// Where downloads are kept; empty: the default of that machine.
    pub cache_directory: String,
    /// Cassandra version.
    pub version: String,
    /// The data set on this machine.
    pub dataset: Dataset,
    /// Bytes that this node needs in the work directory.
    pub needed_bytes: u64,
    /// How long the database may take.
    pub patience: Patience,
    /// Whether others may measure on this machine meanwhile.
    pub beside: bool,
}

/// Work for the agent on a client host.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a handful of values in the life of a process")]
pub enum ClientRequest {
    /// Look for the data set in an existing cluster, and make room for it where it is missing.
    Take(Box<ExistingDataset>),
    /// The whole data set is in that cluster now.
    Loaded(Box<ExistingDataset>),
    /// Insert a part of the data set, or write one again.
    Load {
        /// Where the database listens.
        endpoint: Endpoint,
        /// What to insert.
        dataset: Dataset,
        /// How keys are written.
        keys: KeyFormat,
        /// First record to insert; of overwrites the first place in their order.
        first_record: u64,
        /// How many.
        records: u64,
        /// Requests in flight.
        concurrency: u32,
        /// Whether the records exist and get new values, in an order that spreads each part evenly over all of them.
        overwrites: bool,
    },
    /// Ask for what a trial asks for, in a closed loop, so that the database comes to rest.
    Warm {
        /// Which keys of what.
        task: Box<TrialTask>,
        /// For how long.
        seconds: f64,
        /// Requests in flight.
        in_flight: u32,
        /// Reads alone, so that nothing of the data set changes.
        reads_alone: bool,
    },
    /// Run one trial.
    Trial(Box<TrialTask>),
    /// Exit.
    Close,
}

/// A data set in a cluster that iopslab does not own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExistingDataset {
    /// Where.
    pub endpoint: Endpoint,
    /// What.
    pub dataset: Dataset,
    /// How keys are written.
    pub keys: KeyFormat,
    /// Nodes that keep each record, in a keyspace that is created.
    pub replication_factor: u32,
}

/// One trial, as the client sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrialTask {
    /// Which trial.
    pub trial: PlannedTrial,
    /// Where the database listens.
    pub endpoint: Endpoint,
    /// What is there.
    pub dataset: Dataset,
    /// What to do with it.
    pub workload: Definition,
    /// How hard.
    pub load: LoadLevel,
    /// For how long.
    pub shape: TrialShape,
    /// Seed of this trial's choosers.
    pub seed: u64,
    /// Number of this client among those that share the load, from 0; `load` and `shape` are its part already.
    pub number: u32,
    /// How many clients there are.
    pub clients: u32,
    /// Whether every acknowledged write is read back at the end.
    pub check_writes: bool,
    /// When to send the first request, by this host's clock, Unix milliseconds; `None`: as soon as it is connected.
    pub begin_unix_ms: Option<f64>,
    /// CPUs of this host's machine that databases of the trial were promised; 0: none is there.
    pub database_cpus: f64,
}

/// Where a database listens and how to talk to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Endpoint {
    /// `host:port` contact points.
    pub contact_points: Vec<String>,
    /// Keyspace of the data set.
    pub keyspace: String,
    /// Table of the data set.
    pub table: String,
    /// Consistency level of each kind of request.
    pub consistency: ConsistencyLevels,
    /// Client-side timeout of one request, seconds.
    pub request_timeout_s: f64,
    /// Who asks.
    pub access: Access,
    /// Every request goes through the CQL driver, for comparison.
    pub driver_only: bool,
}

/// Agent to controller.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The request under way is finished.
    Reply(Result<Reply, RequestError>),
    /// The request under way goes on; said every [`AT_WORK_S`] seconds, so that silence means that nobody works.
    AtWork,
    /// What the agent is doing, for people.
    Progress(Progress),
    /// The client's last second.
    Second(Second),
    /// A host sample, taken about once a second.
    Sample(Box<HostSample>),
    /// A piece of what the client measured in a trial: all of them come before the answer.
    Piece(Box<TrialPiece>),
    /// The database ended on its own.
    DatabaseDied {
        /// How: exit status or signal.
        how: String,
        /// Last lines of its log.
        log_tail: Vec<String>,
    },
}

/// When something was begun and done, by the host's clock, Unix milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// The first act.
    pub began_unix_ms: f64,
    /// It had taken effect.
    pub done_unix_ms: f64,
}

/// What the agent is doing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Progress {
    /// In a few words: `fetching Cassandra 5.0.9`.
    pub doing: String,
    /// Done and total, when there is a total.
    pub share: Option<(u64, u64)>,
}

/// One second of load.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Second {
    /// Seconds from the start of measurement; negative in warm-up.
    pub t_s: f64,
    /// Operations completed in this second.
    pub operations: u64,
    /// Operations failed in this second.
    pub errors: u64,
    /// Median latency of this second, microseconds.
    pub p50_us: u64,
    /// 99th percentile of this second, microseconds.
    pub p99_us: u64,
}

/// Why a request failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RequestError {
    /// What failed and where.
    pub message: String,
    /// What to do now.
    pub help: Option<String>,
    /// The request was cancelled, nothing is wrong.
    pub cancelled: bool,
}

impl RequestError {
    /// What failed and where.
    pub fn new(message: impl ToString) -> Self {
        Self { message: message.to_string(), help: None, cancelled: false }
    }

    /// The same with what to do now.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        let help = Some(help.into());
        Self { help, ..self }
    }

    /// A request that ended because the controller asked for it.
    pub fn cancelled() -> Self {
        let cancelled = true;
        Self { cancelled, ..Self::new("cancelled") }
    }
}

/// In the words of the error. No error itself, so that `?` takes it as it is.
impl<E: std::error::Error> From<E> for RequestError {
    fn from(error: E) -> Self {
        Self::new(error)
    }
}

/// Answers, one for each kind of request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// To `Hello`.
    Hello {
        /// The agent's version.
        version: String,
        /// Facts about its host.
        environment: Box<Environment>,
    },
    /// To `Clock`.
    Clock {
        /// The host's wall clock, Unix milliseconds with their fraction; `None` where time is only simulated.
        unix_ms: Option<f64>,
    },
    /// To `Check`: everything that stands in the way.
    Checked(Vec<Problem>),
    /// To `Open`.
    Opened {
        /// What an earlier run had left and is gone now, for people.
        cleaned: Vec<String>,
        /// What the database is and what runs it, for people; `None` where it is only simulated.
        software: Option<String>,
    },
    /// To `Watch`.
    Watched(WatchedFacts),
    /// To `Initialise`.
    Initialised {
        /// How.
        how: Initialised,
        /// Whether an earlier run on this machine had done it.
        before: bool,
    },
    /// To `FindSnapshot`.
    Found {
        /// What the snapshot is, or would be, called.
        key: String,
        /// If it is there.
        snapshot: Option<SnapshotFacts>,
    },
    /// To `FindKept`, if it is there; to `KeepInStore`.
    Kept(Option<Box<KeptDataSet>>),
    /// To `FindKept` and `Restore`: what the store has is not what was kept there. To `KeepInStore`: it could not be
    /// kept. The run goes on without the store.
    StoreProblem(String),
    /// To `MeasureArchive`.
    Archive {
        /// Its parts.
        parts: Vec<String>,
        /// Bytes of all.
        bytes: u64,
    },
    /// To `StartLoading`.
    Loading {
        /// `host:port` contact points.
        contact_points: Vec<String>,
    },
    /// To `FinishLoading`.
    AtRest,
    /// To `FlushBacklog`.
    Flushed,
    /// To `KeepSnapshot` and `Restore`.
    Snapshot(SnapshotFacts),
    /// To `Prepare`.
    Prepared,
    /// To `StartTrial`.
    Started(Box<StartedTrial>),
    /// To `Usage`; `None`: the database has ended, which an event says.
    Usage(Option<Usage>),
    /// To `Empty`.
    Emptied,
    /// To `Renew`; `None`: the page cache was to be cold.
    Renewed(Option<Warmed>),
    /// To `NoteCache`.
    CacheNoted,
    /// To `LookUp`: all of them exist.
    LookedUp,
    /// To `Hold`.
    Held,
    /// To `CompactBacklog`: the database compacts by itself.
    Compacting {
        /// SSTables of the data set's table just before.
        sstables: u64,
        /// When that was, by the host's clock, Unix milliseconds.
        done_unix_ms: f64,
    },
    /// To `StartFault`: the node is gone, or its disk has the fault.
    FaultStarted {
        /// When.
        moments: Moments,
        /// How it went otherwise than was asked for.
        problem: Option<String>,
    },
    /// To `EndFault`: it answers clients again, or its disk has no fault any more.
    FaultEnded {
        /// When.
        moments: Moments,
        /// Requests to the disk that ended with an error meanwhile; `None`: it was no fault that makes some fail.
        failed_requests: Option<u64>,
    },
    /// To `StopTrial`.
    Stopped(Box<StoppedTrial>),
    /// To `ReadLog`: at most [`crate::LOG_PIECE_BYTES`].
    LogPiece(LogPiece),
    /// To `Take`.
    Taken {
        /// The whole data set is there already.
        whole: bool,
        /// Nodes of the cluster to which there is no connection.
        left_out: Vec<String>,
    },
    /// To `Loaded`.
    Marked,
    /// To `Load`.
    Loaded(LoadedDataset),
    /// To `Warm`: operations completed.
    Warm(u64),
    /// To `Trial`.
    Trial(Box<TrialResult>),
    /// To `Close`.
    Closed,
}

/// The data set, or a node's part of it, as it lies in the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotFacts {
    /// Content key of (data set, database version, schema).
    pub key: String,
    /// Records loaded, over all nodes.
    pub records: u64,
    /// Which loading made it.
    pub loading: String,
    /// Bytes of the table's files.
    pub table_bytes: u64,
    /// Bytes of the whole snapshot.
    pub bytes: u64,
}

/// A database is settled and waits for load.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct StartedTrial {
    /// `host:port` contact points.
    pub contact_points: Vec<String>,
    /// Its volumes.
    pub volumes: Vec<VolumeFacts>,
    /// Bytes of the table on disk after restore.
    pub data_bytes_on_disk: u64,
    /// Keys of the sample that exist (all of them, or the request fails).
    pub keys_checked: u32,
    /// When this host began to prepare the trial by its own clock, Unix milliseconds.
    pub began_unix_ms: i64,
    /// Seconds until here; `stop_s` is not known yet. `None` where nothing is restored or started.
    pub overhead: Option<evidence::Overhead>,
    /// What a node has that is only watched; `None`: what its configuration says.
    pub given: Option<GivenByMachine>,
    /// Which of the configuration's settings were found in force.
    pub settings: SettingsInForce,
    /// What warming the page cache came to, where that is known already.
    pub warmed: Option<Warmed>,
    /// What is left to be done before its limits come into force; `None`: nothing, they are in force.
    pub to_rest: Option<ToRest>,
    /// The process; `None`: nobody started one for the run.
    pub fork: Option<evidence::Fork>,
}

/// A database that is to be brought to rest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ToRest {
    /// Whether this process has served the same workload before: its code is compiled.
    pub code_is_warm: bool,
    /// Whether its compilers come before its other threads: else few requests leave them more CPU.
    pub compilers_first: bool,
    /// Bytes that its page cache may take; `None`: what the machine leaves.
    pub page_cache_bytes: Option<u64>,
}

/// What a database and its volumes have used since some moment before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// CPU seconds of the process.
    pub database_cpu_s: f64,
    /// CPU seconds of its compilers; `None`: they could not be seen.
    pub compiler_cpu_s: Option<f64>,
    /// Read requests of its data volumes.
    pub device_reads: f64,
    /// Bytes that they read.
    pub read_bytes: f64,
    /// Page cache charged to its cgroup, now; `None`: it has none of its own.
    pub cached_bytes: Option<u64>,
}

/// A database has been stopped.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct StoppedTrial {
    /// Its logs, which can be read until the next trial starts.
    pub logs: Vec<LogFile>,
    /// Bytes of the table on disk at the end.
    pub data_bytes_on_disk: u64,
    /// Seconds that stopping took.
    pub stop_s: f64,
    /// The process that answers for its volumes was lost, in words: they have answered with errors since.
    pub volumes_lost: Option<String>,
    /// Bytes of its page cache that were the program itself: they took nothing of the budget. `None`: nothing was held.
    pub program_cache_bytes: Option<u64>,
    /// What kept its page cache from being held at its budget, in words.
    pub page_cache_off: Option<String>,
    /// Programs outside of the run that used this host's CPUs while it was watched.
    pub others: Vec<OtherProgram>,
}

/// The data set has been inserted.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct LoadedDataset {
    /// Records inserted.
    pub records: u64,
    /// Seconds it took.
    pub seconds: f64,
}

/// What the client measured, but for what has come in pieces ([`Event::Piece`]).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrialResult {
    /// Totals.
    pub result: ClientResult,
    /// Client's wall clock at the start of measurement, Unix milliseconds.
    pub measurement_started_unix_ms: i64,
    /// What reading back acknowledged writes found, where that was asked for.
    pub writes: Option<WriteCheck>,
}
