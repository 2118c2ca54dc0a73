//! How an agent answers a request.

use std::fmt;

use evidence::{Environment, Initialised, KeptDataSet, Runtime, SnapshotFacts, Warmed};
use experiment::{CountedRows, StatementSample, TableBefore};
use serde::{Deserialize, Serialize};

use crate::{
    GivenByMachine, LoadedDataset, LogPiece, Moments, Observed, Problem, StartedTrial, StoppedTrial, TrialResult,
    Usage, WarmRound, WatchedFacts,
};

/// A version of a database on a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Software {
    /// Name of the database, for people.
    pub product: String,
    /// Its version.
    pub version: String,
    /// What runs it.
    pub runtime: Runtime,
}

impl fmt::Display for Software {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} on {}", self.product, self.version, self.runtime)
    }
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

/// What comes of a request.
pub type Result<T, E = RequestError> = std::result::Result<T, E>;

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
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum Reply {
    /// To `Hello`.
    Hello { version: String, environment: Box<Environment> },
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
        /// What the database is and what runs it, each version; none where it is only simulated.
        software: Vec<Software>,
    },
    /// To `Watch`.
    Watched(WatchedFacts),
    /// To `Observe`.
    Observing(GivenByMachine),
    /// To `EndObservation`.
    Observed(Observed),
    /// To `Initialise`.
    Initialised {
        how: Initialised,
        /// Whether an earlier run on this machine had done it.
        before: bool,
    },
    /// To `FindSnapshot`.
    Found { key: String, snapshot: Option<SnapshotFacts> },
    /// To `FindKept`, if it is there; to `KeepInStore`.
    Kept(Option<Box<KeptDataSet>>),
    /// To `FindKept` and `Restore`: what the store has is not what was kept there. To `KeepInStore`: it could not be
    /// kept. The run goes on without the store.
    StoreProblem(String),
    /// To `MeasureArchive`.
    Archive { parts: Vec<String>, bytes: u64 },
    /// To `StartLoading`.
    Loading { contact_points: Vec<String> },
    /// To `ImportSnapshot`.
    Imported,
    /// To `SampleSnapshot`.
    Sampled { rows: Vec<CountedRows>, statements: Vec<StatementSample> },
    /// To `FinishLoading`.
    AtRest,
    /// To `FlushBacklog`.
    Flushed,
    /// To `KeepSnapshot` and `Restore`.
    Snapshot(SnapshotFacts),
    /// To `Prepare`.
    Prepared {
        /// What its volumes lack on this machine, for people; `None`: nothing.
        note: Option<String>,
    },
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
        moments: Moments,
        /// How it went otherwise than was asked for.
        problem: Option<String>,
    },
    /// To `EndFault`: it answers clients again, or its disk has no fault any more.
    FaultEnded {
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
    /// To `Maintain`; `None`: its product has nothing to do there.
    Maintained(Option<TableBefore>),
    /// To `Load`.
    Loaded(LoadedDataset),
    /// To `Warm`.
    Warm(WarmRound),
    /// To `Trial`.
    Trial(Box<TrialResult>),
    /// To `Close`.
    Closed,
}
