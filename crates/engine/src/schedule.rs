//! When each request of an open loop is due. A pure function of rate (or recording), times, thread and seed: known
//! before the trial.

use std::rc::Rc;

use workload::{Arrivals, SplitMix};

use crate::claims::Claims;
use crate::plan::Load;
use crate::recorded::{Due, Order, Recorded};
use crate::recorder::Times;

/// One thread's part of the schedule.
///
/// Constant gaps: request `i` is due at `start + i / rate` (negative `i` in warm-up), and thread `t` of `T` sends those
/// with `i mod T = t`. Poisson: the sum of `T` independent Poisson processes of rate `r / T` is a Poisson process of
/// rate `r`, so each thread draws its own exponential gaps.
pub(crate) struct Schedule {
    gaps: Gaps,
    times: Times,
    claims: Rc<Claims>,
    next: Option<Due>,
    /// Who waits for whom, of recorded requests.
    order: Order,
}

enum Gaps {
    Constant { index: i64, step: i64, gap_ns: f64 },
    Poisson { offset_ns: f64, mean_gap_ns: f64, random: SplitMix },
    Recorded { requests: Vec<Recorded>, next: usize, speed: f64, again: bool },
}

impl Schedule {
    /// The part of thread `thread` of `threads`. Each measured request takes one of `claims`.
    pub(crate) fn new(
        operations_per_s: f64,
        arrivals: Arrivals,
        times: Times,
        (thread, threads): (u32, u32),
        seed: u64,
        claims: Rc<Claims>,
    ) -> Self {
        let gap_ns = 1e9 / operations_per_s;
        let gaps = match arrivals {
            Arrivals::Poisson => {
                let random = SplitMix(thread_seed(seed, thread) ^ 0x9012_5CED_7A1E_0001);
                let mut gaps = Gaps::Poisson { offset_ns: 0.0, mean_gap_ns: gap_ns * f64::from(threads), random };
                // The process has no arrival at its very beginning.
                gaps.advance();
                gaps
            }
            // Without a recording the rate is all that is known of one.
            Arrivals::Constant | Arrivals::Recorded => {
                let in_warmup = ((times.start_ns - times.warmup_ns) as f64 / gap_ns) as i64;
                let (first, step) = (-in_warmup, i64::from(threads));
                // The first index of this thread that is not before `first`.
                let index = first + (i64::from(thread) - first).rem_euclid(step);
                Gaps::Constant { index, step, gap_ns }
            }
        };
        Self::of(gaps, times, claims)
    }

    /// Recorded requests of one thread, so much faster than they were (infinitely: all are due at once), from the
    /// beginning of the warm-up. `again`: from the beginning whenever they have ended, and then no request waits for
    /// another.
    pub(crate) fn recorded(
        mut requests: Vec<Recorded>,
        (speed, again): (f64, bool),
        times: Times,
        claims: Rc<Claims>,
    ) -> Self {
        if again {
            requests.iter_mut().for_each(|request| request.partition = None);
        }
        Self::of(Gaps::Recorded { requests, next: 0, speed, again }, times, claims)
    }

    fn of(gaps: Gaps, times: Times, claims: Rc<Claims>) -> Self {
        let mut schedule = Self { gaps, times, claims, next: None, order: Order::default() };
        schedule.find_next();
        schedule
    }

    /// When the next request is due; `None` at the end of the schedule.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u64> {
        self.next.map(|due| due.at_ns)
    }

    /// Takes the next request that is due by `now_ns` and need not wait for another one.
    #[inline]
    pub(crate) fn take_due(&mut self, now_ns: u64) -> Option<Due> {
        if let Some(due) = self.order.freed() {
            return Some(due);
        }
        loop {
            let due = self.next.filter(|due| due.at_ns <= now_ns)?;
            self.gaps.advance();
            self.find_next();
            if self.order.admits(due) {
                return Some(due);
            }
        }
    }

    /// A request that was taken has ended: who waits for it may be taken next.
    #[inline]
    pub(crate) fn ended(&mut self, due: Due, now_ns: u64) {
        self.order.ended(due, now_ns);
    }

    fn find_next(&mut self) {
        let due = match &self.gaps {
            Gaps::Constant { index, gap_ns, .. } => {
                Some(Due::at(self.times.start_ns.saturating_add_signed((*index as f64 * gap_ns).round() as i64)))
            }
            Gaps::Poisson { offset_ns, .. } => Some(Due::at(self.times.warmup_ns + *offset_ns as u64)),
            Gaps::Recorded { requests, next, speed, .. } => requests.get(*next).map(|request| {
                let at_ns = self.times.warmup_ns.saturating_add((request.at_ns as f64 / speed) as u64);
                Due { number: Some(request.number), partition: request.partition, ..Due::at(at_ns) }
            }),
        };
        let Times { start_ns, end_ns, .. } = self.times;
        self.next = due.filter(|due| due.at_ns < end_ns && (due.at_ns < start_ns || self.claims.claim()));
    }
}

impl Gaps {
    fn advance(&mut self) {
        match self {
            Self::Constant { index, step, .. } => *index += *step,
            Self::Poisson { offset_ns, mean_gap_ns, random } => *offset_ns -= unit(random).ln() * *mean_gap_ns,
            Self::Recorded { requests, next, again, .. } => {
                *next += 1;
                if *again && *next == requests.len() {
                    *next = 0;
                }
            }
        }
    }
}

/// How many operations an open loop will send in its measurement, as far as that is known.
pub(crate) fn expected_operations(load: Load, duration: std::time::Duration, operations: Option<u64>) -> Option<u64> {
    match load {
        Load::Closed { .. } => operations,
        Load::Open { operations_per_s, .. } => {
            let by_time = (operations_per_s * duration.as_secs_f64()).round() as u64;
            Some(operations.map_or(by_time, |bound| bound.min(by_time)))
        }
    }
}

/// A seed for each thread, unrelated to the others'.
pub(crate) fn thread_seed(seed: u64, thread: u32) -> u64 {
    SplitMix(seed ^ u64::from(thread).wrapping_mul(0xD134_2543_DE82_EF95)).next_u64()
}

/// Uniform in (0, 1]: its logarithm is finite.
fn unit(random: &mut SplitMix) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const TIMES: Times = Times { warmup_ns: 7 * SECOND, start_ns: 9 * SECOND, end_ns: 39 * SECOND };

    fn all(rate: f64, arrivals: Arrivals, threads: u32, bound: Option<u64>) -> Vec<u64> {
        let claims = Rc::new(Claims::new(bound));
        let mut due = Vec::new();
        let parts = (0..threads).map(|t| Schedule::new(rate, arrivals, TIMES, (t, threads), 1, Rc::clone(&claims)));
        for mut part in parts {
            while let Some(next) = part.take_due(u64::MAX) {
                due.push(next.at_ns);
            }
        }
        due.sort_unstable();
        due
    }

    #[test]
    fn constant_gaps_are_exact_over_any_number_of_threads() {
        for threads in [1, 2, 3, 7] {
            let due = all(5000.0, Arrivals::Constant, threads, None);
            assert_eq!(due.iter().filter(|&&d| d >= TIMES.start_ns).count(), 150_000);
            assert_eq!(due.len(), 160_000);
            assert!(due.windows(2).all(|w| w[1] - w[0] == 200_000));
            assert_eq!(due[10_000], TIMES.start_ns);
        }
    }

    #[test]
    fn a_bound_holds_exactly_and_spares_the_warmup() {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let due = all(5000.0, arrivals, 3, Some(1234));
            assert_eq!(due.iter().filter(|&&d| d >= TIMES.start_ns).count(), 1234);
            assert!(due.iter().filter(|&&d| d < TIMES.start_ns).count() > 9000);
        }
    }

    #[test]
    fn recorded_requests_are_due_as_they_were_at_their_speed() {
        let request = |number: u32, partition| Recorded { at_ns: u64::from(number) * SECOND, number, partition };
        let requests: Vec<Recorded> = (0..200).map(|number| request(number, Some(u64::from(number % 2)))).collect();
        let schedule =
            |speed, again| Schedule::recorded(requests.clone(), (speed, again), TIMES, Rc::new(Claims::new(None)));
        let mut four_times = schedule(4.0, false);
        assert_eq!(four_times.peek(), Some(TIMES.warmup_ns));
        let (first, second) = (four_times.take_due(8 * SECOND).unwrap(), four_times.take_due(8 * SECOND).unwrap());
        assert_eq!((first.at_ns, second.at_ns), (TIMES.warmup_ns, TIMES.warmup_ns + SECOND / 4));
        // Both partitions are asked: what comes next waits.
        assert_eq!(four_times.take_due(8 * SECOND), None);
        four_times.ended(second, 8 * SECOND);
        let third = four_times.take_due(8 * SECOND).unwrap();
        assert_eq!((third.number, third.at_ns), (Some(3), TIMES.warmup_ns + 3 * SECOND / 4));
        assert_eq!(third.ready_ns, 8 * SECOND, "the client is not to blame");
        // The trial ends after 32 s, which are 128 s of the recording.
        let mut all = schedule(4.0, true);
        assert_eq!(std::iter::from_fn(|| all.take_due(u64::MAX)).count(), 128);
        let mut at_once = schedule(f64::INFINITY, true);
        let numbers: Vec<Option<u32>> = (0..201).map(|_| at_once.take_due(TIMES.warmup_ns).unwrap().number).collect();
        assert_eq!((numbers[199], numbers[200]), (Some(199), Some(0)));
    }

    #[test]
    fn poisson_has_the_rate_and_the_variance_of_a_poisson_process() {
        for threads in [1, 4] {
            let due = all(2000.0, Arrivals::Poisson, threads, None);
            let (n, expected) = (due.len() as f64, 64_000.0);
            // Four standard deviations of a Poisson count.
            assert!((n - expected).abs() < 4.0 * expected.sqrt(), "{n}");
            let gaps: Vec<f64> = due.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            let variation = variance.sqrt() / mean;
            assert!((variation - 1.0).abs() < 0.02, "{variation}");
        }
        let due = || all(100.0, Arrivals::Poisson, 2, None);
        assert_eq!(due(), due(), "fixed before the trial");
    }
}
