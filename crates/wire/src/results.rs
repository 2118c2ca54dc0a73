//! What came of a request: facts that an answer carries.

use evidence::{ClientResult, OtherProgram, VolumeFacts, Warmed, WriteCheck};
use experiment::SettingsInForce;
use serde::{Deserialize, Serialize};

use crate::{GivenByMachine, LogFile};

/// When something was begun and done, by the host's clock, Unix milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// The first act.
    pub began_unix_ms: f64,
    /// It had taken effect.
    pub done_unix_ms: f64,
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
    /// `host:port` of the caches that were started in front of the database, on this host; none where it has none.
    pub caches: Vec<String>,
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
    /// Which of the caches in front of the database had ended by themselves, and how, in words.
    pub caches_lost: Option<String>,
    /// Programs outside of the run that used this host's CPUs while it was watched.
    pub others: Vec<OtherProgram>,
}

/// What came of a round of load before a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmRound {
    /// Operations completed.
    pub operations: u64,
    /// Where caches are in front of the database: what these answered of the reads.
    pub cache: Option<CacheReads>,
}

/// Reads that were looked up in a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheReads {
    /// All of them.
    pub reads: u64,
    /// Those that it answered.
    pub hits: u64,
}

/// The data set has been inserted.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct LoadedDataset {
    /// Records inserted.
    pub records: u64,
    /// Seconds it took.
    pub seconds: f64,
}

/// What the client measured, but for what has come in pieces ([`crate::Event::Piece`]).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrialResult {
    /// Totals.
    pub result: ClientResult,
    /// Client's wall clock at the start of measurement, Unix milliseconds.
    pub measurement_started_unix_ms: i64,
    /// What reading back acknowledged writes found, where that was asked for.
    pub writes: Option<WriteCheck>,
}
