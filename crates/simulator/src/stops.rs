//! Times in which the database does nothing: stalls of the whole server, and pauses of the garbage collector.

use experiment::{FaultKind, Truth};

use crate::faults::Faults;
use crate::noise::Noise;

/// A stretch of time in which no request is answered, seconds from the start of measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Its first moment.
    pub start: f64,
    /// The first moment after it.
    pub end: f64,
    /// A stall: the device stands still too. Otherwise a pause of the collector, in which the device works on.
    pub is_stall: bool,
}

/// All stops of a trial, in order, apart from one another.
#[derive(Debug, Default)]
pub struct Stops {
    all: Vec<Stop>,
    stalls: Vec<Stop>,
    /// Start and end of each pause of the collector.
    pauses: Vec<(f64, f64)>,
}

impl Stops {
    /// The stops of a trial that measures `duration_s` after `warmup_s`.
    pub fn of(truth: &Truth, faults: &Faults<'_>, warmup_s: f64, duration_s: f64, mut noise: Noise) -> Self {
        let mut stalls = Vec::new();
        if let Some(length) = faults.amount(FaultKind::Stall).filter(|l| *l > 0.0) {
            let start = (duration_s / 2.0).floor();
            stalls.push((start, start + length));
        }
        if truth.stall_every_s > 0.0 && truth.stall_s > 0.0 {
            let mut start = -warmup_s + truth.stall_every_s * noise.exponential();
            while start < duration_s {
                stalls.push((start, start + truth.stall_s));
                start += truth.stall_every_s * noise.exponential();
            }
        }
        let share = faults.amount(FaultKind::GarbageCollection);
        let pause_s = share.map_or(truth.gc_pause_ms / 1e3, |share| share * truth.gc_every_s);
        let mut pauses = Vec::new();
        let mut start = -warmup_s + truth.gc_every_s * noise.unit();
        while start < duration_s && pause_s > 0.0 {
            pauses.push((start, start + pause_s.min(truth.gc_every_s)));
            start += truth.gc_every_s;
        }
        Self::from(stalls, pauses)
    }

    /// Stalls may overlap each other and pauses.
    fn from(mut stalls: Vec<(f64, f64)>, pauses: Vec<(f64, f64)>) -> Self {
        stalls.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut apart: Vec<Stop> = Vec::new();
        for (start, end) in stalls {
            match apart.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => apart.push(Stop { start, end, is_stall: true }),
            }
        }
        let mut all = apart.clone();
        for (mut start, end) in pauses.iter().copied() {
            // What is left of a pause between stalls.
            for stall in &apart {
                if stall.end <= start || stall.start >= end {
                    continue;
                }
                all.push(Stop { start, end: stall.start, is_stall: false });
                start = stall.end;
            }
            all.push(Stop { start, end, is_stall: false });
        }
        all.retain(|s| s.end > s.start);
        all.sort_by(|a, b| a.start.total_cmp(&b.start));
        Self { all, stalls: apart, pauses }
    }

    /// The stops that touch the time from `from` to `to`, cut to it.
    pub fn within(&self, from: f64, to: f64) -> impl Iterator<Item = Stop> {
        let first = self.all.partition_point(|s| s.end <= from);
        self.all[first..].iter().take_while(move |s| s.start < to).map(move |s| Stop {
            start: s.start.max(from),
            end: s.end.min(to),
            is_stall: s.is_stall,
        })
    }

    /// The first moment from `t` on in which requests are worked on.
    #[inline]
    pub fn leave(&self, t: f64) -> f64 {
        leave(&self.all, t)
    }

    /// The first moment from `t` on in which the device works.
    #[inline]
    pub fn leave_stalls(&self, t: f64) -> f64 {
        leave(&self.stalls, t)
    }

    /// When work of `seconds` that begins at `start` is done.
    #[inline]
    pub fn done(&self, start: f64, seconds: f64) -> f64 {
        let mut end = start + seconds;
        let first = self.all.partition_point(|s| s.end <= start);
        for stop in &self.all[first..] {
            if stop.start >= end {
                break;
            }
            end += stop.end - stop.start.max(start);
        }
        end
    }

    /// Pauses of the collector that ended by `t`: their number, their seconds, the longest.
    pub fn pauses_until(&self, t: f64) -> (f64, f64, Option<f64>) {
        let ended = &self.pauses[..self.pauses.partition_point(|p| p.1 <= t)];
        let lengths = ended.iter().map(|(start, end)| end - start);
        let longest = lengths.clone().reduce(f64::max);
        (ended.len() as f64, lengths.sum(), longest)
    }
}

fn leave(stops: &[Stop], t: f64) -> f64 {
    let first = stops.partition_point(|s| s.end <= t);
    let mut left = t;
    for stop in &stops[first..] {
        if stop.start > left {
            break;
        }
        left = stop.end;
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_inside_a_pause_is_counted_once() {
        let stops = Stops::from(vec![(2.0, 3.0), (2.5, 4.0)], vec![(1.0, 2.2), (3.5, 4.5), (9.0, 9.1)]);
        let spans: Vec<(f64, f64, bool)> = stops.all.iter().map(|s| (s.start, s.end, s.is_stall)).collect();
        assert_eq!(spans, [(1.0, 2.0, false), (2.0, 4.0, true), (4.0, 4.5, false), (9.0, 9.1, false)]);
        assert_eq!(stops.leave(1.5), 4.5);
        assert_eq!(stops.leave_stalls(1.5), 1.5);
        // Half a second before the first stop, the rest after the last.
        assert!((stops.done(0.5, 1.0) - 5.0).abs() < 1e-12);
        assert_eq!(stops.within(3.0, 4.2).map(|s| s.end - s.start).sum::<f64>(), 1.2000000000000002);
        assert_eq!(stops.pauses_until(4.5).0, 2.0);
    }
}
