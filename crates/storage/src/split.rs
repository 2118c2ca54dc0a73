//! One limit for reads and writes together, out of the kernel's two.
//!
//! cgroups limit reads and writes apart, EBS counts them together. So the limit is divided anew every 100 ms, in the
//! proportion in which both were done: whoever needs less leaves the rest to the other. What is asked for and not let
//! through is not seen; where both stay at their parts, these drift towards halves, until one of them has enough.

use experiment::IoLimits;

/// Part of the limit that a direction has at the least, so that it is seen when it wants more.
const LEAST: f64 = 0.05;
/// Below this part of the limit a direction is not in use, and the other one has all of it.
const IDLE: f64 = 0.01;
/// A direction is held back that does this share of its part.
const FULL: f64 = 0.95;
/// How much nearer to halves both come in a step in which both are held back.
const DRIFT: f64 = 0.03;
/// The kernel lets requests through in slices of about 100 ms, which a step may see twice or not at all: its rates
/// count for this share, the ones before for the rest ...
const NEWEST: f64 = 0.3;
/// ... and for less where a step sees fewer requests than this.
const REQUESTS: f64 = 40.0;
/// Where one is held back while less than this share of the limit is done in two steps, the parts are wrong: what these
/// two saw counts alone. Two, because of the slices.
const WASTED: f64 = 0.5;
/// Parts that move by less than this share of the limit stay: each change begins a slice of the kernel's anew.
const STILL: f64 = 0.02;

/// How one limit is divided. No clock: fed with what was done and elapsed time.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    total: f64,
    /// Of reads and of writes.
    parts: [f64; 2],
    /// Rates of both, smoothed.
    seen: Option<[f64; 2]>,
    /// Those of the last step.
    last: [f64; 2],
}

impl Split {
    /// Halves.
    pub fn new(total: f64) -> Self {
        Self {
            total,
            parts: [total / 2.0; 2],
            seen: None,
            last: [0.0; 2],
        }
    }

    /// So much was done of reads and of writes in the last `seconds`, and `total` is the limit from now on; `newest` is
    /// the weight of that beside what was seen before.
    pub fn advance(&mut self, done: [f64; 2], seconds: f64, total: f64, newest: f64) {
        let rates = done.map(|n| n / seconds);
        let before = self.seen.unwrap_or(rates);
        let smoothed: [f64; 2] = std::array::from_fn(|i| before[i] + newest * (rates[i] - before[i]));
        let two: [f64; 2] = std::array::from_fn(|i| f64::midpoint(rates[i], self.last[i]));
        let is_wasted = two[0] + two[1] < WASTED * self.total && (0..2).any(|i| two[i] >= FULL * self.parts[i]);
        let seen = if is_wasted { two } else { smoothed };
        (self.seen, self.last) = (Some(seen), rates);
        let is_another = total != self.total;
        if is_another {
            self.parts = self.parts.map(|part| part * total / self.total);
            self.total = total;
        }
        let parts = self.wanted(seen);
        let moved = (0..2).any(|i| (parts[i] - self.parts[i]).abs() > STILL * total);
        if moved {
            self.parts = parts;
        }
    }

    fn wanted(&self, seen: [f64; 2]) -> [f64; 2] {
        let (total, least) = (self.total, LEAST * self.total);
        match seen.map(|rate| rate < IDLE * total) {
            [true, true] => self.parts,
            [false, true] => [total, least],
            [true, false] => [least, total],
            [false, false] => {
                let held = (0..2).all(|i| seen[i] >= FULL * self.parts[i]);
                let reads = if held {
                    let now = total * self.parts[0] / (self.parts[0] + self.parts[1]);
                    now + DRIFT * (total / 2.0 - now)
                } else {
                    total * seen[0] / (seen[0] + seen[1])
                };
                let reads = reads.clamp(least, total - least);
                [reads, total - reads]
            }
        }
    }

    /// Those of reads and of writes.
    pub fn parts(&self) -> [f64; 2] {
        self.parts
    }
}

/// The limits of a volume whose reads and writes share them, of requests and of bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitLimits {
    requests: Option<Split>,
    bytes: Option<Split>,
}

/// What a device did.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Done {
    /// Requests: reads and writes.
    pub requests: [f64; 2],
    /// Bytes: read and written.
    pub bytes: [f64; 2],
}

impl SplitLimits {
    /// Halves of `limits`, whose figures are meant for both together.
    pub fn new(limits: &IoLimits) -> Self {
        Self {
            requests: limits.read_iops.map(Split::new),
            bytes: limits.read_bytes_per_s.map(Split::new),
        }
    }

    /// So much was done in the last `seconds`, and `limits` are in force from now on; returns what reads and writes may
    /// do apart.
    pub fn advance(&mut self, done: &Done, seconds: f64, limits: &IoLimits) -> IoLimits {
        let per_step = limits.read_iops.map_or(f64::INFINITY, |iops| iops * seconds);
        let newest = NEWEST * (per_step / REQUESTS).min(1.0);
        if let (Some(split), Some(total)) = (&mut self.requests, limits.read_iops) {
            split.advance(done.requests, seconds, total, newest);
        }
        if let (Some(split), Some(total)) = (&mut self.bytes, limits.read_bytes_per_s) {
            split.advance(done.bytes, seconds, total, newest);
        }
        self.parts()
    }

    /// What reads and writes may do apart.
    pub fn parts(&self) -> IoLimits {
        let of = |split: &Option<Split>, which: usize| split.as_ref().map(|split| split.parts()[which]);
        IoLimits {
            read_iops: of(&self.requests, 0),
            write_iops: of(&self.requests, 1),
            read_bytes_per_s: of(&self.bytes, 0),
            write_bytes_per_s: of(&self.bytes, 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP_S: f64 = 0.1;
    const TOTAL: f64 = 3000.0;

    /// What is done of reads and of writes each second, under the parts of a split.
    type Load = fn([f64; 2]) -> [f64; 2];

    /// A load of five seconds, then one of two whose rates are returned, with the parts that both had.
    fn settled(load: Load) -> ([f64; 2], [f64; 2]) {
        let mut split = Split::new(TOTAL);
        let mut sums = [0.0; 2];
        for step in 0..70 {
            let rates = load(split.parts());
            split.advance(rates.map(|rate| rate * STEP_S), STEP_S, TOTAL, NEWEST);
            if step >= 50 {
                (sums[0], sums[1]) = (sums[0] + rates[0] * STEP_S, sums[1] + rates[1] * STEP_S);
            }
        }
        (sums.map(|sum| sum / 2.0), split.parts())
    }

    /// A closed loop of this share of reads: the one that is held back holds up the other.
    fn mix(parts: [f64; 2], reads: f64) -> [f64; 2] {
        let all = (parts[0] / reads).min(parts[1] / (1.0 - reads)).min(50_000.0);
        [all * reads, all * (1.0 - reads)]
    }

    #[test]
    fn reads_and_writes_get_what_one_limit_would_give_them() {
        let cases: [(&str, Load, [f64; 2]); 8] = [
            ("reads", |parts| [parts[0], 0.0], [3000.0, 0.0]),
            ("writes", |parts| [0.0, parts[1]], [0.0, 3000.0]),
            ("half and half", |parts| mix(parts, 0.5), [1500.0, 1500.0]),
            ("80/20", |parts| mix(parts, 0.8), [2400.0, 600.0]),
            ("10/90", |parts| mix(parts, 0.1), [300.0, 2700.0]),
            (
                "reads, beside 300 writes",
                |parts| [parts[0], parts[1].min(300.0)],
                [2700.0, 300.0],
            ),
            ("both want all", |parts| parts, [1500.0, 1500.0]),
            (
                "less than there is",
                |parts| [parts[0].min(900.0), parts[1].min(600.0)],
                [900.0, 600.0],
            ),
        ];
        for (case, load, expected) in cases {
            let (rates, parts) = settled(load);
            for i in 0..2 {
                let off = (rates[i] - expected[i]).abs() / TOTAL;
                assert!(off < 0.04, "{case}: {rates:?}, parts {parts:?}");
            }
            assert!(rates[0] + rates[1] <= TOTAL * 1.001, "{case}: {rates:?}");
        }
    }

    /// Reads have all; then writes come, and half a second later both are in their parts.
    #[test]
    fn one_that_wakes_up_is_seen() {
        let mut split = Split::new(TOTAL);
        let mut step = |load: Load| {
            let rates = load(split.parts());
            split.advance(rates.map(|rate| rate * STEP_S), STEP_S, TOTAL, NEWEST);
            rates
        };
        for _ in 0..30 {
            step(|parts| [parts[0], 0.0]);
        }
        let rates: Vec<[f64; 2]> = (0..20).map(|_| step(|parts| mix(parts, 0.5))).collect();
        assert!(rates.iter().all(|r| r[0] + r[1] <= TOTAL * 1.06), "{rates:?}");
        let late = &rates[5..];
        assert!(late.iter().all(|r| r[0] + r[1] > 0.9 * TOTAL), "{rates:?}");
    }

    #[test]
    fn a_bucket_that_moves_the_limit_moves_both_parts() {
        let mut split = Split::new(TOTAL);
        (0..50).for_each(|_| split.advance([240.0, 60.0], STEP_S, TOTAL, NEWEST));
        split.advance([240.0, 60.0], STEP_S, 300.0, NEWEST);
        let [reads, writes] = split.parts();
        assert!((reads + writes - 300.0).abs() < 1e-9, "{reads} and {writes}");
        assert!((reads / writes - 4.0).abs() < 0.5, "{reads} and {writes}");
    }

    /// Slices of the kernel: every second step sees nothing.
    #[test]
    fn steps_that_see_slices_do_not_shake_the_parts() {
        let mut split = Split::new(TOTAL);
        for step in 0..200 {
            let slice = f64::from(2 * (step % 2));
            let done = split.parts().map(|part| part * STEP_S * slice);
            split.advance(done, STEP_S, TOTAL, NEWEST);
        }
        let [reads, writes] = split.parts();
        assert!((reads - 1500.0).abs() < 100.0 && (reads + writes - TOTAL).abs() < 1e-9);
    }

    #[test]
    fn a_volume_without_a_limit_of_bytes_gets_none() {
        let limits = IoLimits::symmetric(Some(100.0), None);
        let mut split = SplitLimits::new(&limits);
        let done = Done {
            requests: [10.0, 0.0],
            bytes: [4096.0, 0.0],
        };
        let parts = split.advance(&done, STEP_S, &limits);
        assert_eq!((parts.read_bytes_per_s, parts.write_bytes_per_s), (None, None));
        assert_eq!((parts.read_iops, parts.write_iops), (Some(100.0), Some(5.0)));
    }
}
