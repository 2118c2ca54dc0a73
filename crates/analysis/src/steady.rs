//! Which part of a trial counts: the seconds after the load has reached its steady state.
//!
//! The engine's own warm-up ends at a fixed time; whether the database had reached a steady state by then only its throughput
//! can tell. The judgement is [`stats::steady_state`] on the completed operations of each second; what it cuts from the start
//! enters no figure. An insert workload has a trajectory and never a steady state (METHODS, finding 1); it is judged the same
//! way and its finding says so.

use std::collections::BTreeMap;

use evidence::{Interval, Series};
use stats::SteadyState;

/// The seconds of a trial that its figures come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Start, seconds from the start of measurement.
    pub from_s: f64,
    /// End.
    pub to_s: f64,
    /// What was judged; `None` when too few seconds were recorded to judge anything.
    pub judged: Option<SteadyState>,
}

/// Operations completed in each second of measurement, by the start of that second. Seconds in which nothing completed are 0.
pub fn completed_by_second(intervals: &[Interval], measured_s: f64) -> Vec<(f64, f64)> {
    let whole = measured_s.floor().max(0.0) as usize;
    let mut counts: BTreeMap<i64, f64> = BTreeMap::new();
    for interval in intervals {
        if let Series::Response(_) = interval.series {
            *counts.entry(interval.start_s.round() as i64).or_default() += interval.histogram.len() as f64;
        }
    }
    // The last, partial second is left out: its count is not that of a second.
    (0..whole)
        .map(|second| (second as f64, counts.get(&(second as i64)).copied().unwrap_or(0.0)))
        .collect()
}

/// Judges a trial. What is too short to judge counts whole; what has not come to rest counts from where MSER-5 cuts it.
pub fn window(intervals: &[Interval], measured_s: f64) -> Window {
    let seconds = completed_by_second(intervals, measured_s);
    let series: Vec<f64> = seconds.iter().map(|(_, n)| *n).collect();
    let whole = Window {
        from_s: 0.0,
        to_s: measured_s,
        judged: None,
    };
    // Fewer than two batches of five seconds hold no information about their own start.
    if series.len() < 10 {
        return whole;
    }
    let judged = stats::steady_state(&series, 0);
    let from_s = match judged.verdict {
        stats::SteadyVerdict::TooShort => 0.0,
        _ => seconds.get(judged.from).map_or(0.0, |(start, _)| *start),
    };
    Window {
        from_s,
        judged: Some(judged),
        ..whole
    }
}
