//! Three nodes, and what was done to them: a trial of 60 s given by its throughput second by second.

use std::collections::BTreeMap;

use analysis::{ErrorKind, TrialEvidence, TrialMeasurement, measure};
use evidence::{
    FaultRecord, HostFigures, HostId, HostSample, Interval, OperationKind, Series, TrialRecord, WriteCheck,
    empty_histogram,
};
use experiment::{Consistency, FaultAction, Job, NodeFault, NodeFaultKind, VolumeRole};
use reported::cassandra::{DROPPED_MESSAGES, PENDING_HINT_FILES};
use reported::jvm::GC_PAUSE_S;

use super::{Reported, job, record};

/// A trial under 100 requests in flight.
#[derive(Clone)]
pub struct Trial {
    pub configuration: &'static str,
    pub block: u32,
    pub faults: Vec<FaultRecord>,
    pub writes: Option<WriteCheck>,
    /// Operations that succeed, and that fail, in each second.
    pub seconds: Vec<(u64, Vec<(ErrorKind, u64)>)>,
    /// Hint files by node and second.
    pub hints: Vec<Vec<Option<f64>>>,
    /// From when to when this machine's disk is slower than every data volume that it serves, for half of each second.
    pub late_s: Option<(f64, f64)>,
}

/// Node 2 killed, by the record's times.
pub fn kill(began_s: f64, return_began_s: Option<f64>, back_s: Option<f64>) -> FaultRecord {
    FaultRecord {
        kind: NodeFaultKind::NodeKill,
        host: HostId::database(1),
        volume: None,
        began_s,
        gone_s: began_s + 0.1,
        return_began_s,
        back_s,
        problem: None,
        failed_requests: None,
        ended: None,
    }
}

/// The plan of it: node 2 at 20 s for 20 s.
pub fn planned() -> NodeFault {
    NodeFault { action: FaultAction::NodeKill, node: 2, at_s: 20.0, for_s: Some(20.0) }
}

/// The story with planned faults, and as many blocks.
pub fn plan_with(faults: Vec<NodeFault>, blocks: u32) -> Job {
    let mut job = job();
    job.plan.faults = faults;
    job.plan.trials = job
        .plan
        .cells
        .iter()
        .flat_map(|cell| (1..=blocks).map(|block| experiment::PlannedTrial { block, cell: cell.id.clone() }))
        .collect();
    job
}

/// All values that were written are there.
pub fn kept() -> WriteCheck {
    WriteCheck {
        consistency: Consistency::Quorum,
        acknowledged: 12_000,
        unacknowledged: 3,
        values: 10_000,
        intact: 10_000,
        older: 0,
        missing: 0,
        foreign: 0,
        unreadable: 0,
        seconds: 1.5,
        examples: Vec::new(),
    }
}

impl Trial {
    /// 1000 operations a second before, 600 with 20 that fail while the node is away, 950 afterwards.
    pub fn new(configuration: &'static str, block: u32, faults: Vec<FaultRecord>) -> Self {
        let is_away = |second: f64| {
            let overlaps = |f: &FaultRecord| second + 1.0 > f.began_s && second < f.back_s.unwrap_or(f64::INFINITY);
            faults.iter().any(overlaps)
        };
        let first = faults.first().map_or(f64::INFINITY, |f| f.began_s);
        let seconds = (0..60).map(|s| match f64::from(s) {
            t if is_away(t) => (600, vec![(ErrorKind::Unavailable, 15), (ErrorKind::WriteTimeout, 5)]),
            t if t + 1.0 > first => (950, Vec::new()),
            _ => (1000, Vec::new()),
        });
        Self {
            configuration,
            block,
            seconds: seconds.collect(),
            faults,
            writes: Some(kept()),
            hints: Vec::new(),
            late_s: None,
        }
    }

    pub fn with_writes(self, writes: WriteCheck) -> Self {
        Self { writes: Some(writes), ..self }
    }

    /// The record: three nodes, totals as the client would count them.
    pub fn record(&self) -> TrialRecord {
        let operations: u64 = self.seconds.iter().map(|(n, _)| n).sum();
        let mut record = record(Reported {
            configuration: self.configuration,
            block: self.block,
            operations,
            device_reads: 9_600.0,
            probe_read_iops: 625.0,
        });
        let facts = record.nodes[0].clone();
        record.nodes =
            (0..3).map(|index| evidence::NodeFacts { host: HostId::database(index), ..facts.clone() }).collect();
        record.faults = self.faults.clone();
        record.writes = self.writes.clone();
        let client = record.client.as_mut().unwrap();
        client.completed = BTreeMap::from([
            (OperationKind::Read, operations - operations / 5),
            (OperationKind::Update, operations / 5),
        ]);
        client.errors = BTreeMap::new();
        for (kind, n) in self.seconds.iter().flat_map(|(_, errors)| errors) {
            *client.errors.entry(*kind).or_default() += n;
        }
        record
    }

    /// Each second's latencies by Little's law: 100 in flight. One operation in five updates.
    fn intervals(&self) -> Vec<Interval> {
        let mut intervals = Vec::new();
        let mut add = |series, start_s: usize, us: u64, n: u64| {
            let mut histogram = empty_histogram();
            histogram.record_n(us, n).unwrap();
            intervals.push(Interval { series, start_s: start_s as f64, length_s: 1.0, histogram });
        };
        for (second, (n, errors)) in self.seconds.iter().enumerate() {
            let us = 100_000_000 / (n + errors.iter().map(|(_, n)| n).sum::<u64>()).max(1);
            let updates = n / 5;
            if *n > 0 {
                add(Series::Response(OperationKind::Read), second, us, n - updates);
                add(Series::Response(OperationKind::Update), second, us, updates);
            }
            for (kind, n) in errors {
                add(Series::Failed(*kind), second, us, *n);
            }
        }
        intervals
    }

    /// Counters of every node: 20 reads of its volume a second and half a CPU. The process that is killed begins a new
    /// life with counters of zero.
    pub fn samples(&self) -> BTreeMap<HostId, Vec<HostSample>> {
        let of_node = |index: u32| {
            let host = HostId::database(index);
            // A node whose disk fails, or that compacts, is there.
            let faults = || self.faults.iter().filter(move |f| f.host == host && f.kind.takes_node_away());
            let is_away = |t: f64| faults().any(|f| t > f.gone_s && t < f.back_s.unwrap_or(f64::INFINITY));
            let ends = |f: &&FaultRecord| matches!(f.kind, NodeFaultKind::NodeStop | NodeFaultKind::NodeKill);
            let sample = |second: i32| {
                let t = f64::from(second);
                let lives = faults().filter(ends).filter(|f| f.back_s.is_some_and(|b| b <= t)).count();
                let since = match faults().filter(ends).filter_map(|f| f.back_s).find(|b| *b <= t) {
                    Some(back) => t - back,
                    None => t + 20.0,
                };
                let hints = self.hints.get(index as usize).and_then(|h| h.get(usize::try_from(second).ok()?));
                let mut sample = HostSample {
                    t_s: t,
                    unix_ms: i64::from(second) * 1000,
                    host: HostFigures {
                        cgroup_cpu_s: Some(0.5 * since),
                        database_pid: (!is_away(t)).then_some(4711.0 + lives as f64),
                        ..HostFigures::default()
                    },
                    ..HostSample::default()
                };
                sample.database = reported::Reported::from([
                    (&GC_PAUSE_S, 0.004 * since),
                    (&DROPPED_MESSAGES, if is_away(t) { 7.0 } else { 0.0 }),
                ]);
                sample.database.set(&PENDING_HINT_FILES, hints.copied().flatten());
                let volume = sample.volumes.entry(VolumeRole::Data).or_default();
                let counter = |rate: f64| Some(rate * (t + 20.0));
                (volume.reads, volume.writes) = (counter(60.0), counter(2.0));
                (volume.read_bytes, volume.write_bytes) = (counter(60.0 * 16_384.0), counter(2.0 * 65_536.0));
                if let Some((from_s, to_s)) = self.late_s {
                    volume.disk_floor_s = Some(0.5 * (t.clamp(from_s, to_s) - from_s));
                    volume.cpu_floor_s = Some(0.0);
                }
                sample
            };
            (host, (-20..=60).map(sample).collect())
        };
        (0..3).map(of_node).collect()
    }

    pub fn measured(&self) -> TrialMeasurement {
        self.measured_with(self.samples())
    }

    pub fn measured_with(&self, samples: BTreeMap<HostId, Vec<HostSample>>) -> TrialMeasurement {
        let record = self.record();
        measure(&TrialEvidence { record: &record, intervals: &self.intervals(), samples: &samples })
    }

    /// The same, of a node whose process ended once more, unplanned, near the end.
    pub fn measured_with_a_death_of(&self, node: u32) -> TrialMeasurement {
        let mut samples = self.samples();
        for sample in samples.get_mut(&HostId::database(node)).unwrap() {
            if sample.t_s >= 55.0 {
                sample.host.database_pid = Some(9999.0);
            }
        }
        self.measured_with(samples)
    }
}
