//! The latencies of one trial, taken in interval by interval, so that they need not be in memory together: a trial of
//! five minutes has hundreds of histograms of 128 KiB each.
//!
//! What is kept: counts by second, two percentiles by second for the charts, and merged histograms of groups of
//! seconds, fine enough to leave out the start of the trial once its steady window is known.

use std::collections::BTreeMap;

use evidence::{Interval, LatencyCounts, LatencySum, OperationKind, Series, TrialRecord};
use experiment::LoadLevel;
use hdrhistogram::Histogram;

use crate::latency::START_SLACK_S;
use crate::phases::{self, Tallies};
use crate::progress::{Progress, Second};
use crate::steady::Window;

/// Seconds of a group: MSER-5 cuts in steps of five seconds ...
const GROUP_S: f64 = 5.0;
/// ... of trials up to ten minutes; longer ones have this many groups.
const GROUPS_MAX: f64 = 120.0;

/// (seconds from the start of measurement, value)
pub(crate) type Seconds = Vec<(f64, Option<f64>)>;

/// All that later steps need of a trial's latencies.
#[derive(Debug, Clone)]
pub struct Latencies {
    group_s: f64,
    /// Merged histograms of the measured seconds, by group.
    groups: BTreeMap<usize, BTreeMap<Series, LatencySum>>,
    /// Until when a trial with planned faults is undisturbed, and the merged histograms of what came later.
    undisturbed_s: f64,
    later: BTreeMap<Series, LatencySum>,
    /// The phases of a trial with planned faults.
    pub(crate) phases: Tallies,
    /// Successful operations in each second of measurement.
    completed: BTreeMap<i64, u64>,
    /// Seconds of measurement, and successful operations that ended after them.
    measured_s: f64,
    late: f64,
    /// A closed loop has none that are late: operations count where they were sent, so that those which were under way
    /// at the start stand for those at the end.
    is_open: bool,
    /// Longest responses in each second of measurement.
    progress: Progress,
    /// Successful and failed operations per second, warm-up included.
    pub(crate) completed_per_second: BTreeMap<i64, f64>,
    pub(crate) failed_per_second: BTreeMap<i64, f64>,
    /// p50 and p99 in milliseconds by second, warm-up included.
    pub(crate) percentiles: BTreeMap<(OperationKind, &'static str), Seconds>,
}

impl Latencies {
    /// Nothing yet, of this trial.
    pub fn of(record: &TrialRecord) -> Self {
        let measured_s = record.client.as_ref().map_or(0.0, |c| c.measured_s);
        let steps = (measured_s / GROUP_S / GROUPS_MAX).ceil().max(1.0);
        Self {
            group_s: GROUP_S * steps,
            groups: BTreeMap::new(),
            undisturbed_s: phases::undisturbed_s(record).unwrap_or(f64::INFINITY),
            later: BTreeMap::new(),
            phases: Tallies::of(record),
            completed: BTreeMap::new(),
            measured_s,
            late: 0.0,
            is_open: matches!(record.load, LoadLevel::Rate { .. }),
            progress: Progress::default(),
            completed_per_second: progress(record),
            failed_per_second: BTreeMap::new(),
            percentiles: BTreeMap::new(),
        }
    }

    /// Takes in one interval; their order does not matter.
    pub fn add(&mut self, interval: &Interval<LatencyCounts>) {
        self.phases.add(interval);
        let second = interval.start_s.round() as i64;
        let per_second = interval.histogram.len() as f64 / interval.length_s.max(1e-3);
        match interval.series {
            Series::Response(kind) => {
                *self.completed_per_second.entry(second).or_default() += per_second;
                *self.completed.entry(second).or_default() += interval.histogram.len();
                if self.is_open {
                    // The last interval of a real trial lasts until the last request has been answered.
                    let after_s = interval.start_s + interval.length_s - self.measured_s;
                    self.late += per_second * after_s.clamp(0.0, interval.length_s);
                }
                self.progress.add(second, kind, &interval.histogram);
                for (name, q) in [("p50", 0.5), ("p99", 0.99)] {
                    let value = interval.histogram.quantile_us(q) as f64 / 1e3;
                    let shown = (!interval.histogram.is_empty()).then_some(value);
                    self.percentiles.entry((kind, name)).or_default().push((second as f64, shown));
                }
            }
            Series::Failed(_) => *self.failed_per_second.entry(second).or_default() += per_second,
            Series::Service(_) | Series::Cache(_) | Series::Unmet(_) => {}
        }
        let from_start = interval.start_s + START_SLACK_S;
        if from_start < 0.0 || interval.histogram.is_empty() {
            return;
        }
        let end_s = interval.start_s + interval.length_s;
        let group = match end_s <= self.undisturbed_s + START_SLACK_S {
            true => self.groups.entry((from_start / self.group_s) as usize).or_default(),
            false => &mut self.later,
        };
        group.entry(interval.series).or_default().add(&interval.histogram);
    }

    /// Successful operations of a second.
    pub(crate) fn completed_in(&self, second: i64) -> u64 {
        self.completed.get(&second).copied().unwrap_or(0)
    }

    /// Each whole second of measurement; seconds in which nothing completed are empty.
    pub(crate) fn seconds(&self, measured_s: f64) -> Vec<Second> {
        self.progress.seconds(measured_s)
    }

    /// Successful operations that ended after the measured seconds, spread evenly over the interval that holds them:
    /// what had queued up by the end of an open loop beyond its capacity. Their latencies count, their number is no
    /// throughput.
    pub(crate) fn late(&self) -> f64 {
        self.late
    }

    /// Successful operations with a latency in the measured seconds.
    pub(crate) fn recorded(&self) -> u64 {
        self.completed.range(0..).map(|(_, n)| n).sum()
    }

    /// The window with its start moved to the next edge between groups.
    pub(crate) fn aligned(&self, window: Window) -> Window {
        Window { from_s: (window.from_s / self.group_s).ceil() * self.group_s, ..window }
    }

    /// The series merged from `from_s` (an edge between groups) to the end; empty series are left out.
    pub(crate) fn merged(&self, from_s: f64) -> BTreeMap<Series, Histogram<u64>> {
        self.merged_with(from_s, Some(&self.later))
    }

    /// The same, to just before the first planned fault.
    pub(crate) fn undisturbed(&self, from_s: f64) -> BTreeMap<Series, Histogram<u64>> {
        self.merged_with(from_s, None)
    }

    fn merged_with(
        &self,
        from_s: f64,
        later: Option<&BTreeMap<Series, LatencySum>>,
    ) -> BTreeMap<Series, Histogram<u64>> {
        let from = (from_s / self.group_s).round() as usize;
        let mut merged: BTreeMap<Series, LatencySum> = BTreeMap::new();
        for (series, sum) in self.groups.range(from..).map(|(_, group)| group).chain(later).flatten() {
            merged.entry(*series).or_default().add_sum(sum);
        }
        merged.into_iter().map(|(series, sum)| (series, sum.histogram())).collect()
    }
}

/// Operations per second of each line of progress, where another tool sent the load.
fn progress(record: &TrialRecord) -> BTreeMap<i64, f64> {
    let imported = record.client.as_ref().and_then(|client| client.imported.as_deref());
    let lines = imported.map_or(&[][..], |imported| imported.progress.as_slice());
    lines.iter().map(|line| (line.from_s.round() as i64, line.rate().max(0.0))).collect()
}
