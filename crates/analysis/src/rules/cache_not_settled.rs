//! Did the page cache, or caches in front of the database, go on changing while it was measured?
//!
//! Device reads for each operation are what the page cache's content makes of the workload, and misses are what that of
//! caches in front makes. What was to be cold changes by plan: the answer says that it is one from a cold start, and
//! nothing is asked here.

use experiment::Plan;
use serde::{Deserialize, Serialize};

use super::trajectory::is_cold_by_plan;
use crate::measurement::TrialMeasurement;
use crate::seen::Seen;
use crate::waking::in_second;

/// A cache was not at rest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CacheNotSettled {
    /// How device reads changed; `None`: no change was shown.
    pub drift: Option<ReadsDrift>,
    /// How it filled; `None`: it did not, or was full.
    pub filling: Option<CacheFilling>,
    /// How the misses of caches in front of the database changed; `None`: no change was shown, or there are none.
    pub tier: Option<MissesDrift>,
    /// Whether the preparation ended by its time bound before it had settled.
    pub preparation_ended_early: bool,
    /// Allowed change of device reads, and of misses, as a share.
    pub threshold: f64,
}

impl CacheNotSettled {
    /// Whether it is known of the caches in front of the database, and of nothing else.
    pub(crate) fn is_of_tier_alone(&self) -> bool {
        self.tier.is_some() && self.drift.is_none() && self.filling.is_none()
    }
}

/// Device reads for each operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadsDrift {
    /// In the first third of the window.
    pub device_reads_per_operation_first_third: f64,
    /// In the last.
    pub device_reads_per_operation_last_third: f64,
}

/// Records that caches in front of the database did not have, as a share of those that they were asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissesDrift {
    /// In the first third of the window.
    pub misses_share_first_third: f64,
    /// In the last.
    pub misses_share_last_third: f64,
}

/// A page cache that fills, as shares of what it may hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheFilling {
    /// By how much it grew in the window.
    pub page_cache_grew_share: f64,
    /// How much it held at the end.
    pub page_cache_filled_share: f64,
}

/// Least change of device reads for each operation, as a share: as of throughput, which it is inverse to where the
/// volume is the limit.
const CHANGE_MIN: f64 = 0.05;
/// Growth of the page cache in the window, as a share of what it may hold, that is no breathing (practice) ...
const GROWTH_MIN: f64 = 0.02;
/// ... while it holds less than this share of that: one that is full changes what it holds, not how much.
const FULL: f64 = 0.9;
/// ... and in device reads, so that a few reads of a cache that answers nearly everything are no change (practice).
const READS_MIN: f64 = 0.02;
/// ... and of the misses of caches in front of the database: a point, to which hit ratios are predicted (practice).
const MISSES_MIN: f64 = 0.01;

pub(crate) fn finding(trial: &TrialMeasurement, plan: &Plan) -> Option<Seen<CacheNotSettled>> {
    if is_cold_by_plan(trial, plan) || trial.backlog.is_some() {
        return None;
    }
    let mut rests = trial.record.nodes.iter().filter_map(|node| node.rest.as_ref());
    let ended_early = rests.any(|rest| rest.cache_is_settled == Some(false));
    let seen = reads_per_operation(trial);
    let moved = stats::monotone_change(&seen);
    let drifts = moved.filter(|moved| {
        let change = moved.last - moved.first;
        let least = CHANGE_MIN * moved.first.max(moved.last);
        moved.is_shown && change.abs() > least.max(READS_MIN)
    });
    let filled = filling(trial);
    let tier = trial.nodes().find_map(|node| misses_drift(&node.host.cache_misses));
    // What was not settled at the end of the preparation has the warm-up to settle, and a long window to show that it
    // did.
    let is_shown_steady = seen.len() >= stats::JUDGED_FROM;
    if drifts.is_none() && filled.is_none() && tier.is_none() && (!ended_early || is_shown_steady) {
        return None;
    }
    let figures = CacheNotSettled {
        drift: drifts.map(|moved| ReadsDrift {
            device_reads_per_operation_first_third: moved.first,
            device_reads_per_operation_last_third: moved.last,
        }),
        filling: filled,
        tier,
        preparation_ended_early: ended_early,
        threshold: CHANGE_MIN,
    };
    Some(figures.into())
}

/// How the misses of caches in front of the database went one way, by their share from each sample to the next.
fn misses_drift(misses: &[f64]) -> Option<MissesDrift> {
    let moved = stats::monotone_change(misses).filter(|moved| moved.is_shown)?;
    let least = CHANGE_MIN * moved.first.max(moved.last);
    let drift = MissesDrift { misses_share_first_third: moved.first, misses_share_last_third: moved.last };
    ((moved.last - moved.first).abs() > least.max(MISSES_MIN)).then_some(drift)
}

/// The page cache of all nodes, where it was filling: by how much it grew, and how much it then held of what it may
/// hold.
fn filling(trial: &TrialMeasurement) -> Option<CacheFilling> {
    let room = |node: crate::Node<'_>| {
        let facts = node.facts;
        let room = facts.page_cache_budget_bytes.min(facts.data_bytes_on_disk);
        (room > 0).then_some(room as f64)
    };
    let room = trial.sum(room)?;
    let grew = stats::ratio(trial.sum(|node| node.host.page_cache_grew_bytes)?, room)?;
    let holds = stats::ratio(trial.sum(|node| node.page_cache_bytes())?, room)?;
    (grew > GROWTH_MIN && holds < FULL)
        .then_some(CacheFilling { page_cache_grew_share: grew, page_cache_filled_share: holds })
}

/// Device reads of all data volumes for each operation, in each whole second of the window in which both were counted.
fn reads_per_operation(trial: &TrialMeasurement) -> Vec<f64> {
    let (from, to) = (trial.window.from_s as usize, trial.window.to_s as usize);
    let each = |second: usize| {
        let reads = trial.sum(|node| in_second(&node.host.data_reads, second as f64))?;
        let completed = trial.seconds.get(second)?.completed;
        stats::ratio(reads, completed as f64)
    };
    (from..to).filter_map(each).collect()
}

#[cfg(test)]
mod tests {
    use evidence::Rest;
    use experiment::{CacheCondition, CacheState};

    use super::*;
    use crate::rules::cases::{changed, first_host};
    use crate::story::job;

    fn plan(state: CacheState) -> Plan {
        let mut plan = job().plan;
        let name = plan.workloads[0].name.clone();
        let condition = CacheCondition { state, ratio: None, of: name.clone() };
        plan.caches.conditions.insert(name, condition);
        plan
    }

    /// 2,000 operations a second for a minute; device reads go from `first` a second to `last`.
    fn with(first: f64, last: f64, seconds: u32, rest: Option<bool>) -> TrialMeasurement {
        changed(|t| {
            t.window.to_s = f64::from(seconds);
            let mut sum = 0.0;
            let readings = (0..=seconds).map(|second| {
                let reading = (f64::from(second), sum);
                sum +=
                    first + (last - first) * f64::from(second) / f64::from(seconds) + f64::from(second * 37 % 11) / 4.0;
                reading
            });
            first_host(t).data_reads = readings.collect();
            t.record.nodes[0].rest =
                rest.map(|settled| Rest { code_is_warm: true, cache_is_settled: Some(settled), ..Rest::default() });
        })
    }

    #[test]
    fn a_page_cache_that_goes_on_changing_is_reported_and_a_cold_one_is_not() {
        let warm = plan(CacheState::Warm);
        for (first, last, seconds, fires) in [
            (2000.0, 1000.0, 60, true),
            (2000.0, 1000.0, 10, true),
            (1000.0, 2000.0, 10, true),
            (2000.0, 2000.0, 60, false),
            (2000.0, 1920.0, 60, false),
            (60.0, 30.0, 60, false),
        ] {
            let trial = with(first, last, seconds, None);
            let found = finding(&trial, &warm);
            assert_eq!(found.is_some(), fires, "{first} to {last} in {seconds} s: {found:?}");
        }
        assert_eq!(finding(&with(2000.0, 1000.0, 60, None), &plan(CacheState::Cold)), None);
    }

    /// The budget is 256 MiB. A page cache that fills slowly changes what an operation needs by less than noise in ten
    /// seconds.
    #[test]
    fn a_page_cache_that_grows_is_not_settled_and_a_full_one_is() {
        let warm = plan(CacheState::Warm);
        let budget = 268_435_456.0;
        for (grew, holds, fires) in [(0.03, 0.5, true), (0.01, 0.5, false), (0.03, 0.95, false), (-0.03, 0.5, false)] {
            let mut trial = with(2000.0, 2000.0, 10, Some(true));
            let host = first_host(&mut trial);
            (host.page_cache_grew_bytes, host.page_cache_bytes) = (Some(grew * budget), Some(holds * budget));
            assert_eq!(finding(&trial, &warm).is_some(), fires, "{grew} {holds}");
        }
    }

    #[test]
    fn caches_in_front_that_go_on_filling_are_not_settled() {
        let warm = plan(CacheState::Warm);
        for (first, last, fires) in
            [(0.5, 0.4, true), (0.05, 0.1, true), (0.4, 0.4, false), (0.4, 0.39, false), (0.01, 0.02, false)]
        {
            let mut trial = with(2000.0, 2000.0, 15, Some(true));
            let second = |t: u32| first + (last - first) * f64::from(t) / 14.0 + f64::from(t * 37 % 11) / 1e4;
            first_host(&mut trial).cache_misses = (0..15).map(second).collect();
            let found = finding(&trial, &warm);
            assert_eq!(found.is_some_and(|found| found.figures.tier.is_some()), fires, "{first} to {last}");
            assert_eq!(finding(&trial, &plan(CacheState::Cold)), None);
        }
    }

    /// A preparation that ran out of time leaves a doubt that only a long window removes.
    #[test]
    fn a_preparation_that_ended_early_counts_unless_the_window_shows_better() {
        let warm = plan(CacheState::Warm);
        let reported = |seconds, settled| finding(&with(2000.0, 2000.0, seconds, Some(settled)), &warm);
        assert_eq!(reported(10, true), None);
        let early = reported(10, false).unwrap();
        assert!(early.figures.preparation_ended_early);
        assert_eq!(reported(60, false), None);
    }
}
