//! A database process from its start to its end: it serves one trial, or several that need no other process one after
//! the other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use database::{MetricsReader, RunningNode};
use experiment::{SettingsInForce, Setup};
use monitor::CompilerMeter;
use wire::{RequestError, Result, ToRest, Usage};

use super::compilers;
use super::limits::Limits;
use super::logs::KeptLog;
use super::server::KEYSPACE;
use super::shared::with;
use super::volumes::Volumes;

/// A node that several threads ask.
pub(super) type Node = Arc<Mutex<Box<dyn RunningNode>>>;

/// The process, with what holds it to its limits.
pub(super) struct Fork {
    pub limits: Limits,
    /// Tables and views of the data set, which it is asked about.
    pub tables: Vec<String>,
    /// `None`: it was not started yet.
    pub node: Option<Node>,
    /// Which settings were found in force in it.
    pub settings: SettingsInForce,
    /// Bytes of the data set that it was started with, and how many keys of the sample it had: each renewal gives it
    /// the same again.
    pub data_set: (u64, u32),
    started_unix_ms: i64,
    /// Trials that it has served, the one under way included.
    place: u32,
    /// Workloads whose operations it has compiled.
    warm_for: BTreeSet<String>,
    compilers: CompilerMeter,
    /// What it says of itself, read while its code is compiled (see [`Self::usage`]).
    metrics: Option<Box<dyn MetricsReader>>,
    /// Where the trial under way begins in each of its logs, bytes.
    log_starts: BTreeMap<String, u64>,
}

impl Fork {
    /// One that is to be started inside of these limits, with these tables.
    pub fn new(limits: Limits, tables: Vec<String>) -> Self {
        Self {
            limits,
            tables,
            node: None,
            settings: SettingsInForce::default(),
            data_set: (0, 0),
            started_unix_ms: jiff::Timestamp::now().as_millisecond(),
            place: 1,
            warm_for: BTreeSet::new(),
            compilers: CompilerMeter::default(),
            metrics: None,
            log_starts: BTreeMap::new(),
        }
    }

    /// It serves another trial, of this configuration.
    pub fn goes_on(mut self, setup: &Setup, on_machine: u32, promised: f64) -> Self {
        self.place += 1;
        self.limits.turn_into(setup, on_machine, promised);
        self
    }

    /// Which process it is, and the place of the trial in it.
    pub const fn facts(&self) -> evidence::Fork {
        evidence::Fork { started_unix_ms: self.started_unix_ms, place: self.place }
    }

    pub fn node(&self) -> Result<&Node> {
        self.node.as_ref().ok_or_else(|| RequestError::new("no node is running"))
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<String> {
        self.node.as_ref().and_then(|node| with(node, |n| n.ended()))
    }

    /// What is to be done before a trial of a workload. From now on it counts as warm for that; one that compiles
    /// nothing itself is so from the beginning.
    pub fn brought_to_rest(&mut self, workload: &str, budget_bytes: u64, compiles_itself: bool) -> ToRest {
        let is_first = self.warm_for.insert(workload.to_owned());
        ToRest {
            code_is_warm: !is_first || !compiles_itself,
            compilers_first: self.put_compilers_first(),
            page_cache_bytes: self.limits.page_cache_bytes().map(|_| budget_bytes),
        }
    }

    /// What it and its volumes have used until now. Compilers that have come since the last look come first, too.
    ///
    /// It is also asked for all that a trial samples, and the answer thrown away: classes that are loaded for the first
    /// answer make the JVM throw away compiled code, two to four CPU-seconds of it, which would be compiled again in
    /// the first trial's window.
    pub fn usage(&mut self, volumes: &Volumes) -> Result<Usage> {
        self.put_compilers_first();
        if self.metrics.is_none() {
            let metrics = with(self.node()?, |n| n.metrics(KEYSPACE, &self.tables))?;
            self.metrics = Some(metrics);
        }
        let _ = self.metrics.as_mut().map(|metrics| metrics.read());
        let pid = with(self.node()?, |n| n.pid());
        let root = Path::new("/");
        Ok(Usage {
            database_cpu_s: monitor::family_cpu_s(root, pid).unwrap_or_default(),
            compiler_cpu_s: self.compilers.read(root, pid),
            device_reads: volumes.data_reads(),
            read_bytes: volumes.read_bytes() as f64,
            cached_bytes: self.limits.page_cache_bytes(),
        })
    }

    /// Whether its compilers come before its other threads now; not where the system refuses.
    pub fn put_compilers_first(&self) -> bool {
        self.node.as_ref().is_some_and(|node| compilers::put_first(with(node, |n| n.pid())))
    }

    /// Its logs, from where the trial under way begins in them.
    pub fn logs(&self) -> Vec<KeptLog> {
        let logs = self.node.as_ref().map(|node| with(node, |n| n.logs()));
        let kept = logs.into_iter().flatten().map(|log| KeptLog {
            from: self.log_starts.get(log.name).copied().unwrap_or(0),
            name: log.name.to_owned(),
            path: log.path,
        });
        kept.collect()
    }

    /// What its logs say from now on is the next trial's.
    pub fn begin_logs(&mut self) {
        let logs = self.logs().into_iter();
        self.log_starts = logs.filter_map(|log| Some((log.name, log.path.metadata().ok()?.len()))).collect();
    }

    /// Ends its process alone, at once: another one is to start inside of the same limits, which nobody asks for what
    /// it holds meanwhile.
    pub fn end_process(&mut self) {
        self.metrics = None;
        self.compilers = CompilerMeter::default();
        if let Some(node) = self.node.take() {
            with(&node, |node| node.kill());
        }
    }

    /// Ends it, and removes its cgroup. Killed rather than drained: its data is thrown away, and draining a large
    /// memtable through a small volume could take minutes.
    pub fn end(mut self) -> Result<()> {
        self.limits.rest();
        if let Some(node) = self.node.take() {
            with(&node, |node| node.kill());
        }
        self.limits.release()
    }
}
