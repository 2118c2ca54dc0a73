//! What a trial leaves whose load another tool sent: what its output states, and nothing besides.

use std::collections::BTreeMap;

use experiment::OperationKind;
use serde::{Deserialize, Serialize};

experiment::word_enum! {
    /// A tool whose results are read, as it calls itself.
    pub enum Tool by name {
        /// Yahoo! Cloud Serving Benchmark.
        Ycsb = "YCSB",
        /// `cassandra-stress` of Apache Cassandra or ScyllaDB.
        CassandraStress = "cassandra-stress",
        /// `fio`, which loads a volume and no database.
        Fio = "fio",
        /// `latte`, whose workloads are functions of the user's.
        Latte = "latte",
        /// NoSQLBench, by the CSV of one of its timers.
        NoSqlBench = "NoSQLBench",
    }
}

experiment::word_enum! {
    /// From which moment on a latency counts.
    pub enum CountedFrom by name {
        /// When the request was sent. At a given rate that hides how long it waited for its turn.
        Sent = "sent",
        /// When it was due by the tool's schedule.
        Due = "due",
    }
}

/// Response times of one kind of operation as a tool states them. What it does not state is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct StatedLatency {
    pub samples: u64,
    pub mean_us: f64,
    pub p50_us: Option<f64>,
    pub p95_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub p999_us: Option<f64>,
    pub max_us: f64,
}

/// One line of a tool's progress.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Seconds from its start to the beginning of what the line is of.
    pub from_s: f64,
    /// To its end.
    pub to_s: f64,
    /// Operations in it; below 0 where a tool contradicts itself.
    pub operations: f64,
}

impl Progress {
    /// Its length, seconds.
    pub fn seconds(&self) -> f64 {
        self.to_s - self.from_s
    }

    /// Operations per second.
    pub fn rate(&self) -> f64 {
        self.operations / self.seconds()
    }
}

/// The same time by two clocks of one file.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TwoClocks {
    /// Seconds by what the tool counts from its start.
    pub elapsed_s: f64,
    /// Seconds by the time of day that it prints.
    pub of_day_s: f64,
}

/// What another tool states of a trial besides what it counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct Imported {
    pub tool: Tool,
    pub version: Option<String>,
    pub file: String,
    /// Names of the HdrHistogram logs that its latencies are from; none: it states them itself.
    pub histograms: Vec<String>,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// Operations per second as it states them itself.
    pub stated_ops_per_s: f64,
    /// From when its latencies count.
    pub counted_from: CountedFrom,
    pub latencies: BTreeMap<OperationKind, StatedLatency>,
    /// Its progress, in the order of the file; empty where it has none.
    pub progress: Vec<Progress>,
    /// Its two clocks, where it has two.
    pub clocks: Option<TwoClocks>,
    /// What of the file was understood and not taken, and why: whole sentences.
    pub left_out: Vec<String>,
}
