//! One trial, reduced to figures: what is left when its histograms and samples have been looked at once.
//!
//! A run's histograms do not fit in memory, a trial's do. Callers read trials one by one, [`crate::measure()`] each,
//! and hand the measurements to [`crate::analyse`].

use std::collections::BTreeMap;
use std::sync::Arc;

use evidence::{CacheAnswer, ErrorKind, HostId, HostSample, Imported, Interval, OperationKind, TrialRecord, Validity};
use experiment::{Definition, Plan, VolumeRole};
use reported::{Figure, Nodes, Of, Series};

use crate::activity::VolumeActivity;
use crate::backlog::CompactedBacklog;
use crate::host::DatabaseHost;
use crate::latency::SeriesLatency;
use crate::node::{self, Node};
use crate::panels::Panel;
use crate::phases::{Aftermath, PhaseMeasurement};
use crate::progress::Second;
use crate::steady::Window;

/// The evidence of one trial.
#[derive(Debug, Clone, Copy)]
pub struct TrialEvidence<'a> {
    /// `trial.json`.
    pub record: &'a TrialRecord,
    /// `latency.hlog`, warm-up included.
    pub intervals: &'a [Interval],
    /// `host-<host>.parquet` by host.
    pub samples: &'a BTreeMap<HostId, Vec<HostSample>>,
}

/// Work of a database in the background.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct Background {
    pub times: f64,
    pub one: &'static str,
    pub several: &'static str,
}

/// The figures of one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialMeasurement {
    /// `trial.json`.
    pub record: TrialRecord,
    /// The seconds that the figures below come from.
    pub window: Window,
    /// The whole seconds of measurement, from its start.
    pub seconds: Vec<Second>,
    /// Successful operations that ended after the measured seconds.
    pub late: f64,
    /// Latencies recorded in all measured seconds, to check the counters by.
    pub recorded: u64,
    /// Response times by kind.
    pub response: BTreeMap<OperationKind, SeriesLatency>,
    /// Open loop: service times by kind.
    pub service: BTreeMap<OperationKind, SeriesLatency>,
    /// Response times of failed operations.
    pub failed: BTreeMap<ErrorKind, SeriesLatency>,
    /// Reads by how caches in front of the database answered them, from sent to done; empty where there are none.
    pub cache: BTreeMap<CacheAnswer, SeriesLatency>,
    /// Response times of operations whose condition was not met, which are among `response`, by kind.
    pub unmet: BTreeMap<OperationKind, SeriesLatency>,
    /// (quantile, microseconds) of the response times by kind.
    pub curves: BTreeMap<OperationKind, Vec<(f64, f64)>>,
    /// What each database host showed in the window; at least one. Where faults were planned, in the part of it before
    /// the first: counters of a process that was restarted begin at zero again.
    pub hosts: BTreeMap<HostId, DatabaseHost>,
    /// What the database did in the background, all nodes together, in all measured seconds; empty where one of them
    /// does not say.
    pub background: Vec<Background>,
    /// The backlog of compaction that it began with; `None`: its data set was at rest. With one the figures are those
    /// of the whole measurement, and nobody asks whether they were steady.
    pub backlog: Option<CompactedBacklog>,
    /// Share of the window in which some task of the client's host waited for a CPU (pressure stall information).
    pub client_cpu_pressure: Option<f64>,
    /// The trial over time.
    pub panels: Arc<[Panel]>,
    /// Where faults were planned: the trial before the first, and during and after each.
    pub phases: Vec<PhaseMeasurement>,
    /// What followed each planned fault, in the order of the record.
    pub aftermaths: Vec<Aftermath>,
    /// Where faults were planned: this trial as if it had ended just before the first.
    pub before: Option<Box<TrialMeasurement>>,
    /// Which rule keeps it out of comparisons, and what that saw; `None`: none does.
    pub forbidden: Option<String>,
}

impl TrialMeasurement {
    /// One of which nothing but this is known yet.
    pub(crate) fn of(
        record: TrialRecord,
        window: Window,
        seconds: Vec<Second>,
        hosts: BTreeMap<HostId, DatabaseHost>,
    ) -> Self {
        Self {
            record,
            window,
            seconds,
            late: 0.0,
            recorded: 0,
            response: BTreeMap::new(),
            service: BTreeMap::new(),
            failed: BTreeMap::new(),
            cache: BTreeMap::new(),
            unmet: BTreeMap::new(),
            curves: BTreeMap::new(),
            hosts,
            background: Vec::new(),
            backlog: None,
            client_cpu_pressure: None,
            panels: Arc::default(),
            phases: Vec::new(),
            aftermaths: Vec::new(),
            before: None,
            forbidden: None,
        }
    }

    /// Whether it may enter comparisons: it ran to its end, measured something, and no rule forbids it.
    pub fn is_valid(&self) -> bool {
        self.record.validity == Validity::Valid && self.record.client.is_some() && self.forbidden.is_none()
    }

    /// Why not, if it is not: what the record says, or the rule that forbids it with what it saw.
    pub fn invalid_reason(&self) -> Option<String> {
        match &self.record.validity {
            Validity::Invalid { reason, .. } => Some(reason.clone()),
            Validity::Valid => self.forbidden.clone(),
        }
    }

    /// What machines, limits and steadiness are judged by: the trial before its first planned fault; the whole trial
    /// where none was planned.
    pub fn undisturbed(&self) -> &Self {
        self.before.as_deref().unwrap_or(self)
    }

    /// Seconds that count.
    pub fn window_s(&self) -> f64 {
        self.window.to_s - self.window.from_s
    }

    /// What another tool states, where the load was its own.
    pub fn imported(&self) -> Option<&Imported> {
        self.record.client.as_ref()?.imported.as_deref()
    }

    /// Operations completed without error in the seconds that count.
    pub fn completed(&self) -> u64 {
        if self.imported().is_some() { self.counted() } else { self.response.values().map(|f| f.samples).sum() }
    }

    /// Operations completed without error in all measured seconds, as the client counted them.
    pub fn counted(&self) -> u64 {
        self.record.client.as_ref().map_or(0, |c| c.completed.values().sum())
    }

    /// Operations that failed in the measured seconds.
    pub fn failed_operations(&self) -> u64 {
        self.record.client.as_ref().map_or(0, |c| c.errors.values().sum())
    }

    /// Statements of the user's own that read and completed in the seconds that count: which of them read, only the
    /// workload knows.
    pub fn completed_reads_of(&self, workload: &Definition) -> u64 {
        let reading = workload.statements.iter().filter(|statement| statement.reads);
        reading.filter_map(|statement| self.response.get(&statement.kind)).map(|f| f.samples).sum()
    }

    /// Operations of YCSB that read from the database and completed in the seconds that count: not those that caches in
    /// front of it answered.
    pub fn completed_reads(&self) -> u64 {
        use OperationKind::{Read, ReadModifyWrite, Scan};
        let all: u64 =
            [Read, Scan, ReadModifyWrite].iter().filter_map(|k| self.response.get(k)).map(|f| f.samples).sum();
        let hits = self.cache.iter().filter(|(answer, _)| answer.is_hit());
        all.saturating_sub(hits.map(|(_, of)| of.samples).sum())
    }

    /// Completed operations per second in the seconds that count; answers that came after them are left out.
    pub fn throughput(&self) -> Option<f64> {
        self.record.client.as_ref()?;
        stats::ratio((self.completed() as f64 - self.late).max(0.0), self.window_s())
    }

    /// Seconds for the planned number of operations at this trial's throughput; measured seconds where no number is
    /// planned.
    pub fn runtime_s(&self, plan: &Plan) -> Option<f64> {
        match plan.shape.operations {
            Some(operations) => stats::ratio(operations as f64, self.throughput()?),
            None => self.record.client.as_ref().map(|c| c.measured_s),
        }
    }

    /// CPU time of the client for each operation it sent and finished, microseconds.
    pub fn client_cpu_us_per_operation(&self) -> Option<f64> {
        let client = self.record.client.as_ref().filter(|client| client.imported.is_none())?;
        stats::ratio(client.client_cpu_s * 1e6, (self.counted() + self.failed_operations()) as f64)
    }

    /// The nodes of the database, in the order of their hosts; at least one.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> + Clone {
        node::of(&self.record, &self.hosts)
    }

    /// A figure summed over all nodes; `None` where one of them does not have it: missing is not zero.
    pub fn sum(&self, figure: impl Fn(Node<'_>) -> Option<f64>) -> Option<f64> {
        self.nodes().map(figure).sum()
    }

    /// A figure of one of the volumes, summed over all nodes.
    pub fn sum_of_volumes(&self, role: VolumeRole, figure: impl Fn(&VolumeActivity) -> f64) -> Option<f64> {
        self.sum(|node| node.activity(role).map(&figure))
    }

    /// A figure of the data volumes, summed over all of them and over all nodes.
    pub fn sum_of_data(&self, figure: impl Fn(&VolumeActivity) -> f64) -> Option<f64> {
        self.sum(|node| node.host.sum_of_data(&figure))
    }

    /// Bytes of the data set on the disks of all nodes, every replica counted.
    pub fn data_bytes_on_disk(&self) -> f64 {
        self.nodes().map(|node| node.facts.data_bytes_on_disk as f64).sum()
    }

    /// `figure` of the database for each operation completed in the seconds in which its hosts were looked at.
    pub fn per_operation(&self, figure: Option<f64>) -> Option<f64> {
        stats::ratio(figure?, self.undisturbed().completed() as f64)
    }

    /// A figure of what its databases reported; `None` where one of them did not.
    pub fn reported(&self, figure: &Figure) -> Option<f64> {
        let all = |series: &Series| {
            let sum = self.sum(|node| node.host.work.total(series))?;
            match series.nodes {
                Nodes::Sum => Some(sum),
                Nodes::Mean => stats::ratio(sum, self.nodes().count() as f64),
            }
        };
        match figure.of {
            Of::Trial(series) => all(series),
            Of::Each(part, whole) => stats::ratio(all(part)?, all(whole)?),
            Of::Operation(series) => self.per_operation(all(series)),
            Of::Rule => None,
        }
    }

    /// Page cache at the end / bytes of the data set on disk, of all nodes.
    pub fn page_cache_share(&self) -> Option<f64> {
        stats::ratio(self.sum(|node| node.page_cache_bytes())?, self.data_bytes_on_disk())
    }
}
