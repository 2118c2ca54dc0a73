//! What was seen of a database before anything was measured: while it was brought to rest, while its page cache was
//! warmed, and the backlog that it was left.

use serde::{Deserialize, Serialize};

/// A few seconds of the workload's own operations, while no limit of volumes or CPUs was in force, as one node saw
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct RestRound {
    pub seconds: f64,
    pub operations: u64,
    pub database_cpu_s: f64,
    /// CPU seconds of its compiler threads; `None`: it has none, or they could not be seen.
    pub compiler_cpu_s: Option<f64>,
    /// Read requests of its data volumes.
    pub device_reads: f64,
    /// Bytes that all of its volumes read.
    pub read_bytes: f64,
    /// Page cache charged to its cgroup afterwards, bytes; `None` where it has none of its own.
    pub cached_bytes: Option<u64>,
    /// Share of the reads that caches in front of the database answered; `None`: there are none, or nothing was read.
    pub cache_hit_ratio: Option<f64>,
}

impl RestRound {
    /// Operations per second.
    pub fn rate(&self) -> f64 {
        self.operations as f64 / self.seconds.max(1e-9)
    }

    /// Device reads for each operation.
    pub fn reads_per_operation(&self) -> f64 {
        self.device_reads / (self.operations as f64).max(1.0)
    }
}

/// How a node was brought to rest before a trial: by the workload's own operations, until its code was compiled and its
/// page cache had settled, or until the time for that was over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Rest {
    /// What each round of compiling code showed, in order; empty: the process had served the workload before.
    pub code: Vec<RestRound>,
    /// What each round of filling the page cache showed, in order.
    pub cache: Vec<RestRound>,
    /// Whether the compilers were quiet and throughput level at the end.
    pub code_is_warm: bool,
    /// Whether device reads for each operation were steady at the end; `None`: a cold page cache was asked for.
    pub cache_is_settled: Option<bool>,
}

/// The database process that a trial was measured on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// When it was started, by its host's clock, Unix milliseconds: trials with the same moment shared the process.
    pub started_unix_ms: i64,
    /// Place of the trial among those that it served, from 1.
    pub place: u32,
}

/// The data set's files were read into the page cache before the warm-up, by a process in the database's cgroup: a page
/// is charged to the cgroup of whoever brings it in, so that the budget holds these pages as it holds the database's
/// own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Warmed {
    /// Whether the experiment asks for it: then it is no surprise that memory answers.
    pub is_asked_for: bool,
    /// Device reads for each operation of the workload when its page cache was seen to settle, before this trial or an
    /// earlier one of the run: the pages that it had left there were read. `None`: that was not seen, and as much of
    /// each file as fits was read.
    pub settled_reads_per_operation: Option<f64>,
    /// Bytes that were read.
    pub bytes: u64,
    /// Bytes of the data set's files.
    pub of_bytes: u64,
    /// Bytes that reads of the workload's own keys have brought from the volumes while the page cache was brought to
    /// rest, where not all of the data set fits: what stays in memory is then what that workload asks for. In the trial
    /// in which it settled, before its pages were noted, too. 0: no such reads.
    pub by_keys_bytes: u64,
    /// Seconds of reading, and of these rounds.
    pub seconds: f64,
    /// Page cache charged to the database's cgroup afterwards, bytes; `None` where it has none of its own.
    pub cached_bytes: Option<u64>,
}

/// The backlog of a node when measurement had begun, and when the node was left to compact it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BacklogFound {
    /// SSTables of the data set's table just before automatic compaction was turned on.
    pub sstables: u64,
    /// When it was on, seconds from the start of measurement.
    pub compacts_from_s: f64,
}
