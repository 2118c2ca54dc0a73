//! What a controller asks. Every message is a plain value; units are in the names.

use evidence::KeptDataSet;
use experiment::{CacheState, DataSetFiles, Dataset, FaultAction, KeyFormat, PlannedTrial, Setup};
use serde::{Deserialize, Serialize};

use crate::{Endpoint, ExistingDataset, Needs, OwnRows, Transfer, TrialTask, UnderTest, WatchTask};

/// Version of these messages; controller and agent must agree.
pub const PROTOCOL: u32 = 30;

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
    /// Work for the agent on a database host, or on the host of a cache.
    Database(DatabaseRequest),
    /// Work for the agent on a client host.
    Client(ClientRequest),
    /// End the request under way as soon as possible.
    Cancel,
    /// The controller is there: an agent with a watchdog ends itself when nothing has reached it for too long.
    Alive,
}

/// Work for the agent on a database host. The agent of a cache with a machine of its own takes those that a cache has
/// to do with: `Check`, `Open`, `StartTrial` (an empty node), `Empty` (another one in its place), `Hold`, `StartFault`
/// and `EndFault` of its own loss, `StopTrial`, `Close`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum DatabaseRequest {
    /// Say what stands in the way of a run on this machine; changes nothing.
    Check(Needs),
    /// Take the work directory, clean what an earlier run left, fetch the database, find Java.
    Open(Box<UnderTest>),
    /// Find the node of an existing cluster that is on this machine. From here on this agent only looks: its trials
    /// start and stop nothing.
    Watch(WatchTask),
    /// Sample the node that is watched from now on, outside of any trial.
    Observe,
    /// No more samples; say what it cost.
    EndObservation,
    /// The data volume was made from a snapshot of EBS: see that it holds this node's data set, and read each of its
    /// blocks once, unless that was done. From here on it is this node's snapshot of the data set.
    Initialise { files: DataSetFiles },
    /// Look for this node's snapshot of the data set.
    FindSnapshot { files: DataSetFiles },
    /// Start an unlimited node for loading, wait until it knows the others, and see to the schema.
    StartLoading {
        files: DataSetFiles,
        /// Names this loading: snapshots of several nodes belong together only if they come from the same one.
        loading: String,
    },
    /// Instead of rows that clients write, take in the snapshot of the user's own: all of its files, on every node.
    ImportSnapshot { directory: String },
    /// It is taken in, and at rest: count the rows of its tables, and try so many requests of each statement. Of none
    /// the statements are prepared, and nothing is counted.
    SampleSnapshot { requests: u32 },
    /// Everything is inserted: flush, and compact to rest. Where there is to be a backlog, nothing is compacted after
    /// that.
    FinishLoading,
    /// A part of the backlog is written: flush it, so that it is an SSTable of its own in each data directory.
    FlushBacklog,
    /// All nodes are at rest: stop, and keep the files as this node's snapshot.
    KeepSnapshot,
    /// Look for this node's data set in a directory of its host.
    FindKept { files: DataSetFiles, directory: String },
    /// Make this node's snapshot of what a store has.
    Restore { files: DataSetFiles, kept: Box<KeptDataSet>, from: Transfer },
    /// Say how long an archive of this node's snapshot would be.
    MeasureArchive { files: DataSetFiles },
    /// Bring this node's snapshot to a store. In a directory it is a data set then; elsewhere the controller writes
    /// down what is answered.
    KeepInStore { files: DataSetFiles, to: Transfer, run: String },
    /// Create the configuration's volumes, copy the snapshot onto them, and measure what they deliver.
    Prepare {
        setup: Box<Setup>,
        /// Further ones that can be served by the same process: they share its volumes.
        others: Vec<Setup>,
    },
    /// A settled database: the one that was kept from the trial before, or a new one on cold volumes with restored
    /// data. Where it says so, it is brought to rest before its limits come into force.
    StartTrial {
        trial: PlannedTrial,
        setup: Box<Setup>,
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
        workload: String,
    },
    /// The page cache is as this workload leaves it: note which pages are in it, for the next trials. Asked twice, with
    /// load between: what is in it both times lasts.
    NoteCache {
        workload: String,
        again: bool,
        /// Device reads for each operation with this page cache; `None`: it has not settled yet, and the next trial
        /// goes on from there.
        reads_per_operation: Option<f64>,
    },
    /// Look these keys up, which must exist. Any node may answer for one, so that all have to have the data set by
    /// then.
    LookUp { sample_keys: Vec<String> },
    /// The database is at rest: all limits come into force, and it is watched.
    Hold,
    /// Measurement has begun: compact the backlog, as a database in service does.
    CompactBacklog,
    /// Take the node away whose trial is under way, or spoil a disk of it, or have it compact, or take a cache in front
    /// of it away, now.
    StartFault(FaultAction),
    /// Bring it back, with the data that it has; of a disk: lift its fault; of a compaction: wait until it is done;
    /// of a cache: start it again, empty.
    EndFault,
    /// The trial is over: stop the database and detach its volumes, unless it is kept, to serve the next trial as well.
    StopTrial { keeps: bool },
    /// Read a piece of a log of the trial that was stopped last: by the name that `StopTrial` gave it, from this byte
    /// on.
    ReadLog { name: String, offset: u64 },
    /// Undo everything except the snapshot.
    Close,
}

/// Work for the agent on a client host.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum ClientRequest {
    /// Look for the data set in an existing cluster, and make room for it where it is missing.
    Take(Box<ExistingDataset>),
    /// The whole data set is in that cluster now.
    Loaded(Box<ExistingDataset>),
    /// Bring its table there to a state that is alike before each trial.
    Maintain(Box<ExistingDataset>),
    /// Insert a part of the data set, or write one again.
    Load {
        endpoint: Box<Endpoint>,
        dataset: Dataset,
        keys: KeyFormat,
        /// First record to insert; of overwrites the first place in their order.
        first_record: u64,
        records: u64,
        concurrency: u32,
        /// Whether the records exist and get new values, in an order that spreads each part evenly over all of them.
        overwrites: bool,
        /// Instead of records: rows of the user's own.
        own: Option<Box<OwnRows>>,
    },
    /// Ask for what a trial asks for, in a closed loop, so that the database comes to rest.
    Warm {
        task: Box<TrialTask>,
        seconds: f64,
        in_flight: u32,
        /// Reads alone, so that nothing of the data set changes.
        reads_alone: bool,
    },
    /// Run one trial.
    Trial(Box<TrialTask>),
    /// Exit.
    Close,
}

impl ClientRequest {
    /// The database that is to be asked.
    pub fn endpoint(&self) -> Option<&Endpoint> {
        match self {
            Self::Take(existing) | Self::Loaded(existing) | Self::Maintain(existing) => Some(&existing.endpoint),
            Self::Load { endpoint, .. } => Some(endpoint),
            Self::Warm { task, .. } | Self::Trial(task) => Some(&task.endpoint),
            Self::Close => None,
        }
    }
}
