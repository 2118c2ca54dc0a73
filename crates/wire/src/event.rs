//! What an agent says: its answers, and what happens meanwhile.

use evidence::HostSample;
use serde::{Deserialize, Serialize};

use crate::{Reply, RequestError, TrialPiece};

/// While an agent works on a request it says so every so many seconds.
pub const AT_WORK_S: u64 = 5;

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
