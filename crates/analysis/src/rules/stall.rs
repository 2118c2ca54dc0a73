//! Did the server stop answering for a while?
//!
//! A stop leaves one of two traces, by its length. Longer ones leave seconds in which hardly anything completes.
//! Shorter ones fall between two seconds that both look half busy, and in an open loop the backlog is made up for, so
//! that nothing is missing from the count; but everything that was waiting answers at once and late. That burst is
//! unlike a slow request (it is many) and unlike saturation (the wait comes with a jump, is longest at once and then
//! declines).

use experiment::LoadLevel;
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::progress::Second;
use crate::seen::Seen;

/// The server stopped answering for a while. Moments are seconds from the start of measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct Stall {
    pub stops: u64,
    pub longest_s: f64,
    pub longest_at_s: f64,
    pub first_at_s: f64,
    pub stopped_s: f64,
    pub window_share: f64,
    pub median_ops_per_s: f64,
    /// A second with less than this share of the median is a stop.
    pub threshold_share: f64,
    /// The shortest stop that is reported.
    pub threshold_s: f64,
}

/// A second with less than this share of the median throughput is a stop ...
const EMPTY_SHARE: f64 = 0.1;
/// ... if independent requests of that rate would leave such a gap in fewer than this share of trials: at five
/// operations a second an empty second is chance (Poisson).
const CHANCE: f64 = 0.001;
/// The shortest stop that is reported, seconds: that of a garbage collection pause worth a word.
const STOP_MIN_S: f64 = 0.5;
/// The longest response of a second after a stop is this many times as long as that of all but a fifth of the seconds.
/// In closed loop everything in flight waits alike, which distinguishes a stop from a queue ...
const LONGER_CLOSED: f64 = 3.0;
/// ... in open loop a second that is merely slow leaves a queue as well.
const LONGER_OPEN: f64 = 5.0;
/// That fifth: the backlog of a stop of a second or two is gone by then, longer stops leave empty seconds.
const USUAL: f64 = 0.8;
/// Late responses after a stop: at least so many, whatever the rate; one slow request is not a stop.
const LATE_MIN: f64 = 5.0;
/// Open loop: of the requests that were due in a stop, half wait for more than half of it. This share of what was due
/// must be late.
const LATE_OPEN: f64 = 0.25;
/// Closed loop: this share of what was in flight must be late.
const LATE_CLOSED: f64 = 0.5;
/// After a stop waits decline; a wait that grows by more than this factor over the first one is saturation.
const GROWS: f64 = 1.2;

/// One stop, seconds from the start of measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stop {
    from_s: f64,
    length_s: f64,
}

impl Stop {
    fn end_s(&self) -> f64 {
        self.from_s + self.length_s
    }
}

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<Stall>> {
    let from = trial.window.from_s.round() as usize;
    let stops = stops(&trial.seconds, from, &slowed(trial), trial.record.load);
    let longest = stops.iter().max_by(|a, b| a.length_s.total_cmp(&b.length_s))?;
    let stopped_s: f64 = stops.iter().map(|s| s.length_s).sum();
    let figures = Stall {
        stops: stops.len() as u64,
        longest_s: longest.length_s,
        longest_at_s: longest.from_s,
        first_at_s: stops[0].from_s,
        stopped_s,
        window_share: stats::ratio(stopped_s, trial.window_s()).unwrap_or(0.0),
        median_ops_per_s: median_rate(&trial.seconds[from..]),
        threshold_share: EMPTY_SHARE,
        threshold_s: STOP_MIN_S,
    };
    Some(figures.into())
}

/// The seconds in which burst credits ended, ascending: from there on the database has another speed.
fn slowed(trial: &TrialMeasurement) -> Vec<usize> {
    let volumes = trial.nodes().flat_map(|node| node.host.volumes.values());
    let mut seconds: Vec<usize> = volumes.filter_map(|v| Some(v.slowed_at_s?.floor() as usize)).collect();
    seconds.sort_unstable();
    seconds.dedup();
    seconds
}

/// The stops of the seconds from `from` on, in order. Each speed is judged by itself: when credits end, everything that
/// is under way waits longer, and nothing stands still.
fn stops(seconds: &[Second], from: usize, slowed: &[usize], load: LoadLevel) -> Vec<Stop> {
    let inside = slowed.iter().copied().filter(|at| (from + 1..seconds.len()).contains(at));
    let mut edges: Vec<usize> = inside.collect();
    edges.insert(0, from);
    edges.push(seconds.len());
    let speeds = edges.windows(2).enumerate();
    let each = speeds.flat_map(|(nth, edge)| {
        // What was under way at the start of measurement, or when the speed changed.
        let began_s = if nth == 0 { 0.0 } else { edge[0] as f64 };
        of_speed(seconds.get(..edge[1]).unwrap_or_default(), edge[0], began_s, load)
    });
    each.collect()
}

/// The stops of the seconds from `from` on, at one speed that began at `began_s`.
fn of_speed(seconds: &[Second], from: usize, began_s: f64, load: LoadLevel) -> Vec<Stop> {
    let Some(window) = seconds.get(from..).filter(|w| !w.is_empty()) else { return Vec::new() };
    let rate = median_rate(window);
    if rate <= 0.0 {
        return Vec::new();
    }
    let mut all = empty(window, rate);
    // In a closed loop operations count where they were sent: while those are answered that were under way at the
    // start, there is little to count. By Little's law that takes in flight / rate.
    if let LoadLevel::Concurrency(in_flight) = load {
        let filling_s = (f64::from(in_flight) / rate).ceil() + 1.0;
        all.retain(|stop| from as f64 - began_s + stop.end_s() > filling_s);
    }
    for late in late(window, rate, load) {
        match all.iter_mut().find(|s| overlap(s, &late)) {
            // The wait of the first request gives the length more exactly than whole seconds do; a time-out may have
            // cut it short.
            Some(known) if late.length_s + 1.0 >= known.length_s => *known = late,
            Some(_) => {}
            None => all.push(late),
        }
    }
    all.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
    for stop in &mut all {
        stop.from_s += from as f64;
    }
    all
}

fn median_rate(seconds: &[Second]) -> f64 {
    stats::median(seconds.iter().map(|s| s.completed as f64)).unwrap_or(0.0)
}

fn overlap(a: &Stop, b: &Stop) -> bool {
    // The second in which a stop ended is known, not where in it.
    a.from_s <= b.end_s() + 1.0 && b.from_s <= a.end_s() + 1.0
}

/// Runs of seconds in which hardly anything completed.
fn empty(window: &[Second], rate: f64) -> Vec<Stop> {
    let is_empty = |s: &Second| (s.completed as f64) < EMPTY_SHARE * rate;
    let mut stops = Vec::new();
    let mut at = 0;
    for run in window.chunk_by(|a, b| is_empty(a) == is_empty(b)) {
        // Its chance takes as long as what completed: it is asked of few, not of a whole window's operations.
        let is_no_chance = || {
            let completed = run.iter().map(|s| s.completed).sum();
            poisson_at_most(completed, rate * run.len() as f64) * (window.len() as f64) < CHANCE
        };
        if is_empty(&run[0]) && is_no_chance() {
            stops.push(Stop { from_s: f64::from(at), length_s: run.len() as f64 });
        }
        at += u32::try_from(run.len()).unwrap_or(u32::MAX);
    }
    stops
}

/// Seconds in which everything that was waiting answers at once and late.
fn late(window: &[Second], rate: f64, load: LoadLevel) -> Vec<Stop> {
    let busy: Vec<f64> = window.iter().filter(|s| s.completed > 0).map(|s| s.longest_us as f64).collect();
    let longer = match load {
        LoadLevel::Rate { .. } => LONGER_OPEN,
        LoadLevel::Concurrency(_) => LONGER_CLOSED,
    };
    let least_us = (1e6 * STOP_MIN_S).max(longer * stats::quantile(&busy, USUAL).unwrap_or(0.0));
    let mut stops = Vec::new();
    // What came before the window looks like a stop in its first second.
    let mut last = window.iter().position(|s| s.completed > 0).unwrap_or(window.len());
    let mut at = last + 1;
    while let Some(second) = window.get(at) {
        let wait_us = second.longest_us as f64;
        let is_jump = window[last].longest_us as f64 <= wait_us / 2.0;
        let mut next = at + 1;
        if wait_us >= least_us && is_jump {
            // Until waits are as short as before, this is one stop with its backlog.
            let after = window[at..].iter().take_while(|s| s.longest_us as f64 >= least_us);
            let (length, longest_us) = after.fold((0, 0_u64), |(n, most), s| (n + 1, most.max(s.longest_us)));
            next = at + length;
            let second_too = window.get(at + 1).filter(|s| s.longest_us as f64 >= wait_us / 2.0);
            let many = (second.late + second_too.map_or(0, |s| s.late)) as f64;
            let first_us = wait_us.max(second_too.map_or(0.0, |s| s.longest_us as f64));
            let length_s = first_us / 1e6;
            let enough = match load {
                LoadLevel::Rate { .. } => LATE_OPEN * rate * length_s,
                LoadLevel::Concurrency(in_flight) => LATE_CLOSED * f64::from(in_flight),
            };
            if many >= enough.max(LATE_MIN) && (longest_us as f64) <= GROWS * first_us {
                stops.push(Stop { from_s: ((at + 1) as f64 - length_s).max(0.0), length_s });
            }
        }
        last = (at..next.min(window.len())).rfind(|i| window[*i].completed > 0).unwrap_or(last);
        at = next;
    }
    stops
}

/// Probability of at most `count` events where `expected` are.
fn poisson_at_most(count: u64, expected: f64) -> f64 {
    let (mut term, mut sum) = ((-expected).exp(), 0.0);
    for k in 0..=count {
        sum += term;
        term *= expected / (k + 1) as f64;
    }
    sum
}

#[cfg(test)]
mod tests;
