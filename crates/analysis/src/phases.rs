//! The phases of a trial with planned faults: before the first, and during and after each, by the times at which it
//! really happened.
//!
//! A second belongs to a phase when it lies whole within it: the second in which a node went away is neither before nor
//! during. An operation belongs to the second in which its answer came.

use std::collections::{BTreeMap, BTreeSet};

use evidence::{ErrorKind, HostId, HostSample, Interval, LatencyCounts, LatencySum, Role, Series, TrialRecord};
use experiment::VolumeRole;
use reported::cassandra::{COMPACTED_BYTES, PENDING_HINT_FILES};

use crate::document::PhaseKind;
use crate::latency::{START_SLACK_S, SeriesLatency};

/// Machines, limits and steadiness are judged by the seconds up to so long before the first fault: samples are taken
/// once a second, so that the last one before it may already show the order to stop.
const GUARD_S: f64 = 1.0;
/// Throughput is back when it is at least this share of that before the first fault ("within 10 %") ...
pub const RECOVERED_SHARE: f64 = 0.9;
/// ... on average over so many consecutive seconds: one good second among bad ones is a queue that empties.
pub const RECOVERED_SECONDS: usize = 5;

/// A part of a trial, seconds from the start of measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct Phase {
    pub kind: PhaseKind,
    /// Of which fault of the record, counted from 0; 0 before the first.
    pub fault: usize,
    pub from_s: f64,
    pub to_s: f64,
}

/// A phase as it was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseMeasurement {
    /// Which, and when.
    pub phase: Phase,
    /// Whole seconds that lie in it.
    pub seconds: u64,
    /// Operations that succeeded in these seconds.
    pub completed: u64,
    /// Operations that failed in these seconds.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// Response times of those that succeeded, of all kinds together; `None` where none did.
    pub latency: Option<SeriesLatency>,
    /// Reads that asked caches in front of the database first, and those that these answered.
    pub cached: Cached,
    /// Reads a second of the data volumes, all nodes together; `None` where one of them does not say.
    pub device_reads_per_s: Option<f64>,
}

/// Reads that asked caches in front of a database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cached {
    /// All of them; 0 where there are no caches.
    pub reads: u64,
    /// Those that the caches answered.
    pub hits: u64,
}

impl PhaseMeasurement {
    /// Operations completed without error per second; `None` where no whole second lies in the phase.
    pub fn throughput(&self) -> Option<f64> {
        stats::ratio(self.completed as f64, self.seconds as f64)
    }

    /// Operations that failed.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Share of the reads that caches in front of the database answered; `None` where there are none.
    pub fn hit_ratio(&self) -> Option<f64> {
        stats::ratio(self.cached.hits as f64, self.cached.reads as f64)
    }
}

/// What followed a planned fault in one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aftermath {
    /// Whether throughput came back; `None` where the node did not.
    pub recovery: Option<Recovery>,
    /// Files of hints, all nodes together: the most until the node was back, and what was left before the next fault or
    /// the end; `None` where no node says.
    pub hint_files: Option<(f64, f64)>,
    /// Of a compaction: bytes that it wrote; `None` where its node does not say, or it was not done.
    pub compacted_bytes: Option<f64>,
}

/// Whether throughput came back after the node had.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Recovery {
    /// So many seconds after the node was back.
    After(f64),
    /// Not before the next fault or the end.
    Never,
    /// Fewer than [`RECOVERED_SECONDS`] seconds were left.
    TooShort,
}

/// The phases of a trial; none where nothing was done to its nodes.
pub fn of(record: &TrialRecord) -> Vec<Phase> {
    let Some(measured_s) = record.client.as_ref().map(|c| c.measured_s) else { return Vec::new() };
    let Some(first) = record.faults.first() else { return Vec::new() };
    let clip = |s: f64| s.clamp(0.0, measured_s);
    let part = |kind, fault, from_s: f64, to_s: f64| Phase { kind, fault, from_s, to_s: to_s.max(from_s) };
    let mut phases = vec![part(PhaseKind::Before, 0, 0.0, clip(first.began_s))];
    for (i, fault) in record.faults.iter().enumerate() {
        let next = record.faults.get(i + 1).map_or(measured_s, |f| clip(f.began_s));
        let back = fault.back_s.map_or(next, clip).min(next);
        phases.push(part(PhaseKind::During, i, clip(fault.began_s), back));
        phases.push(part(PhaseKind::After, i, back, next));
    }
    phases
}

/// Until when machines, limits and steadiness are judged, whole seconds from the start of measurement, because
/// operations are counted by whole seconds; `None`: to its end, because nothing was done to a node.
pub fn undisturbed_s(record: &TrialRecord) -> Option<f64> {
    let measured_s = record.client.as_ref().map_or(0.0, |c| c.measured_s);
    let first = record.faults.first()?;
    Some((first.began_s - GUARD_S).clamp(0.0, measured_s).floor())
}

/// Latencies and errors by phase, taken in interval by interval.
#[derive(Debug, Clone, Default)]
pub struct Tallies {
    phases: Vec<(Phase, Tally)>,
    /// Seconds whose interval is longer than they are: the last one of a trial lasts until the last answer.
    longer: BTreeSet<i64>,
}

#[derive(Debug, Clone, Default)]
struct Tally {
    responses: LatencySum,
    errors: BTreeMap<ErrorKind, u64>,
    cached: Cached,
}

impl Phase {
    /// The whole seconds that lie in it: the first, and the one behind the last.
    fn whole(&self) -> (i64, i64) {
        let first = (self.from_s - START_SLACK_S).ceil() as i64;
        let end = (self.to_s + START_SLACK_S).floor() as i64;
        (first, end.max(first))
    }
}

impl Tallies {
    /// Nothing yet, of this trial.
    pub fn of(record: &TrialRecord) -> Self {
        let phases = of(record).into_iter().map(|phase| (phase, Tally::default()));
        Self { phases: phases.collect(), longer: BTreeSet::new() }
    }

    /// Takes in one interval.
    pub fn add(&mut self, interval: &Interval<LatencyCounts>) {
        if self.phases.is_empty() || interval.start_s < -START_SLACK_S {
            return;
        }
        let second = interval.start_s.round() as i64;
        if interval.start_s + interval.length_s > (second + 1) as f64 + START_SLACK_S {
            self.longer.insert(second);
            return;
        }
        let holds = |phase: &Phase| {
            let (first, end) = phase.whole();
            (first..end).contains(&second)
        };
        let Some((_, tally)) = self.phases.iter_mut().find(|(phase, _)| holds(phase)) else { return };
        match interval.series {
            Series::Response(_) => tally.responses.add(&interval.histogram),
            Series::Failed(kind) => *tally.errors.entry(kind).or_default() += interval.histogram.len(),
            Series::Cache(answer) => {
                let reads = interval.histogram.len();
                tally.cached.reads += reads;
                tally.cached.hits += if answer.is_hit() { reads } else { 0 };
            }
            Series::Service(_) | Series::Unmet(_) => {}
        }
    }

    /// The phases as measured, with what hosts showed in them.
    pub fn measured_with(&self, by_host: &BTreeMap<HostId, Vec<HostSample>>) -> Vec<PhaseMeasurement> {
        let with_devices = |of: PhaseMeasurement| {
            let device_reads_per_s = device_reads_per_s(by_host, &of.phase);
            PhaseMeasurement { device_reads_per_s, ..of }
        };
        self.measured().into_iter().map(with_devices).collect()
    }

    /// The phases as clients saw them.
    fn measured(&self) -> Vec<PhaseMeasurement> {
        let of_phase = |(phase, tally): &(Phase, Tally)| PhaseMeasurement {
            phase: *phase,
            seconds: self.seconds(phase).count() as u64,
            completed: tally.responses.len(),
            errors: tally.errors.iter().filter(|(_, n)| **n > 0).map(|(k, n)| (*k, *n)).collect(),
            latency: (!tally.responses.is_empty()).then(|| SeriesLatency::of(&tally.responses.histogram())),
            cached: tally.cached,
            device_reads_per_s: None,
        };
        self.phases.iter().map(of_phase).collect()
    }

    fn seconds(&self, phase: &Phase) -> impl Iterator<Item = i64> + '_ {
        let (first, end) = phase.whole();
        (first..end).filter(|second| !self.longer.contains(second))
    }

    /// Whether throughput came back after each fault, in the order of the record; `completed` are the successful
    /// operations of a second.
    pub fn recoveries(&self, record: &TrialRecord, completed: impl Fn(i64) -> u64) -> Vec<Option<Recovery>> {
        let before = self.measured().first().and_then(PhaseMeasurement::throughput);
        let of_fault = |i: usize| {
            let back_s = record.faults[i].back_s?;
            let is_its = |(phase, _): &&(Phase, Tally)| phase.kind == PhaseKind::After && phase.fault == i;
            let (after, _) = self.phases.iter().find(is_its)?;
            // It came back after this trial's measurement, or during the next fault.
            if back_s > after.from_s + START_SLACK_S {
                return None;
            }
            // The second in which the node came back is the first that may do.
            let seconds: Vec<i64> =
                (back_s.floor() as i64..after.whole().1).filter(|second| !self.longer.contains(second)).collect();
            let enough = RECOVERED_SHARE * before.filter(|b| *b > 0.0)? * RECOVERED_SECONDS as f64;
            if self.seconds(after).count() < RECOVERED_SECONDS {
                return Some(Recovery::TooShort);
            }
            let sum = |window: &[i64]| window.iter().map(|s| completed(*s)).sum::<u64>() as f64;
            let first = seconds.windows(RECOVERED_SECONDS).find(|w| sum(w) >= enough);
            Some(first.map_or(Recovery::Never, |w| Recovery::After((w[0] as f64 - back_s).max(0.0))))
        };
        (0..record.faults.len()).map(of_fault).collect()
    }
}

/// Files of hints after the fault with this number: the most in `during`, what is left at the end of `after`. Each node
/// counts with what it said last.
pub fn hint_files(by_host: &BTreeMap<HostId, Vec<HostSample>>, during: &Phase, after: &Phase) -> Option<(f64, f64)> {
    let mut said: Vec<(f64, HostId, f64)> = by_host
        .iter()
        .flat_map(|(host, samples)| samples.iter().map(move |s| (s.t_s, *host, s.database.get(&PENDING_HINT_FILES))))
        .filter(|(t, _, _)| *t >= during.from_s && *t <= after.to_s)
        .filter_map(|(t, host, files)| Some((t, host, files?)))
        .collect();
    said.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut last: BTreeMap<HostId, f64> = BTreeMap::new();
    let (mut most, mut left) = (None, None);
    for (t, host, files) in said {
        last.insert(host, files);
        let all: f64 = last.values().sum();
        left = Some(all);
        if t <= during.to_s {
            most = Some(most.map_or(all, |m: f64| m.max(all)));
        }
    }
    most.or(left).zip(left)
}

/// Reads a second of all data volumes in a phase, from its first sample to its last.
fn device_reads_per_s(by_host: &BTreeMap<HostId, Vec<HostSample>>, phase: &Phase) -> Option<f64> {
    let databases = by_host.iter().filter(|(host, _)| host.role == Role::Database);
    let of_host = |(_, samples): (&HostId, &Vec<HostSample>)| {
        let is_within = |sample: &&HostSample| (phase.from_s..=phase.to_s).contains(&sample.t_s);
        let mut within = samples.iter().filter(is_within);
        let (first, last) = (within.next()?, within.next_back()?);
        stats::ratio(data_reads(last)? - data_reads(first)?, last.t_s - first.t_s)
    };
    let each: Option<Vec<f64>> = databases.map(of_host).collect();
    each.filter(|each| !each.is_empty()).map(|each| each.iter().sum())
}

/// Reads of a node's data volumes so far.
fn data_reads(sample: &HostSample) -> Option<f64> {
    let of_data = sample.volumes.iter().filter(|(role, _)| **role != VolumeRole::Commitlog);
    let reads: Option<Vec<f64>> = of_data.map(|(_, volume)| volume.reads).collect();
    reads.filter(|reads| !reads.is_empty()).map(|reads| reads.iter().sum())
}

/// Bytes that compactions on a host have written in a phase: between the last sample before it and the first after it.
pub fn compacted_bytes(samples: &[HostSample], during: &Phase) -> Option<f64> {
    let known = || samples.iter().filter_map(|s| Some((s.t_s, s.database.get(&COMPACTED_BYTES)?)));
    let (_, before) = known().take_while(|(t, _)| *t <= during.from_s).last()?;
    let (_, after) = known().find(|(t, _)| *t >= during.to_s)?;
    Some(after - before)
}

#[cfg(test)]
mod tests {
    use evidence::{CacheAnswer, FaultRecord};
    use experiment::NodeFaultKind;

    use super::*;
    use crate::story::trials;

    /// A cache is away from 20 to 30 s of 60: what it answered is read from the volume then.
    #[test]
    fn phases_show_what_caches_answered_and_what_was_left_to_the_volume() {
        let mut record = trials().swap_remove(0).record;
        record.faults = vec![FaultRecord {
            kind: NodeFaultKind::CacheKill,
            host: HostId::DATABASE,
            volume: None,
            began_s: 20.0,
            gone_s: 20.0,
            return_began_s: Some(30.0),
            back_s: Some(30.0),
            problem: None,
            failed_requests: None,
            ended: None,
        }];
        let mut tallies = Tallies::of(&record);
        let answered = [
            (5.0, CacheAnswer::Hit, 70),
            (5.0, CacheAnswer::Stale, 10),
            (5.0, CacheAnswer::Miss, 20),
            (25.0, CacheAnswer::Unanswered, 100),
            (35.0, CacheAnswer::Hit, 50),
            (35.0, CacheAnswer::Miss, 50),
        ];
        for (start_s, answer, reads) in answered {
            let mut histogram = evidence::empty_histogram();
            histogram.record_n(500, reads).unwrap();
            tallies.add(&(&Interval { series: Series::Cache(answer), start_s, length_s: 1.0, histogram }).into());
        }
        let sample = |second: i32| {
            let t_s = f64::from(second);
            let mut sample = HostSample { t_s, ..HostSample::default() };
            let reads = 10.0 * t_s.min(20.0) + 50.0 * (t_s - 20.0).clamp(0.0, 10.0) + 20.0 * (t_s - 30.0).max(0.0);
            sample.volumes.entry(VolumeRole::Data).or_default().reads = Some(reads);
            sample.volumes.entry(VolumeRole::Commitlog).or_default().reads = Some(1_000.0 * t_s);
            sample
        };
        let samples: Vec<HostSample> = (0..=60).map(sample).collect();
        let by_host = BTreeMap::from([(HostId::DATABASE, samples), (HostId::CLIENT, vec![HostSample::default()])]);
        let measured = tallies.measured_with(&by_host);
        let figures: Vec<_> = measured.iter().map(|p| (p.hit_ratio(), p.device_reads_per_s)).collect();
        let expected = [(Some(0.8), Some(10.0)), (Some(0.0), Some(50.0)), (Some(0.5), Some(20.0))];
        assert_eq!(figures, expected);
        let unwatched = tallies.measured_with(&BTreeMap::new());
        assert!(unwatched.iter().all(|p| p.device_reads_per_s.is_none()), "missing is not zero");
    }
}
