//! Latencies as counts of buckets, without those that are empty: a second of a trial has hundreds among 18,000, and a
//! report looks at a million seconds.
//!
//! Buckets are those of [`empty_histogram`]: 2,048 of a microsecond each, then 1,024 for each doubling.

use hdrhistogram::Histogram;

use crate::interval::{Interval, empty_histogram};

/// Buckets for each doubling, as a power of two.
const HALF_BITS: u32 = 10;
/// Most counts that a sum keeps as they came: 32 KiB, as much memory as all buckets up to 8 ms.
const MOST_LOOSE: usize = 2_048;

/// The bucket of a latency in microseconds.
pub(crate) fn bucket(us: u64) -> usize {
    let shift = (us | 1 << HALF_BITS).ilog2() - HALF_BITS;
    ((shift as usize) << HALF_BITS) + (us >> shift) as usize
}

/// The longest latency of a bucket, microseconds.
fn longest_us(bucket: usize) -> u64 {
    let shift = (bucket >> HALF_BITS).saturating_sub(1);
    let first = (bucket - (shift << HALF_BITS)) as u64;
    ((first + 1) << shift) - 1
}

/// How many buckets a histogram has that records up to here, microseconds: it ends with a doubling.
pub(crate) fn buckets(highest_us: u64) -> usize {
    let mut end = 2 << HALF_BITS;
    while end <= highest_us {
        end <<= 1;
    }
    bucket(end - 1) + 1
}

/// How often which latencies occurred in an interval.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LatencyCounts {
    /// Buckets and their counts, ascending.
    buckets: Vec<(usize, u64)>,
    len: u64,
}

impl LatencyCounts {
    /// None yet, with room for so many buckets.
    pub(crate) fn with_room(buckets: usize) -> Self {
        Self { buckets: Vec::with_capacity(buckets), len: 0 }
    }

    /// Those of a histogram of microseconds.
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let mut counts = Self::default();
        for step in histogram.iter_recorded() {
            counts.push(bucket(step.value_iterated_to()), step.count_at_value());
        }
        counts
    }

    /// One that lies above all before.
    pub(crate) fn push(&mut self, bucket: usize, count: u64) {
        self.buckets.push((bucket, count));
        self.len = self.len.saturating_add(count);
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The longest, microseconds; 0 where there is none.
    pub fn longest_us(&self) -> u64 {
        self.buckets.last().map_or(0, |(bucket, _)| longest_us(*bucket))
    }

    /// The latency in microseconds that a share of all do not exceed; 0 where there is none.
    pub fn quantile_us(&self, share: f64) -> u64 {
        let wanted = (share.clamp(0.0, 1.0) * self.len as f64).ceil().max(1.0) as u64;
        let mut so_far = 0_u64;
        let reaches = |(_, count): &&(usize, u64)| {
            so_far = so_far.saturating_add(*count);
            so_far >= wanted
        };
        self.buckets.iter().find(reaches).map_or(0, |(bucket, _)| longest_us(*bucket))
    }

    /// How many took at least so long, microseconds.
    pub fn at_least(&self, us: u64) -> u64 {
        let from = bucket(us);
        self.buckets.iter().rev().take_while(|(bucket, _)| *bucket >= from).map(|(_, count)| count).sum()
    }
}

impl From<&Interval> for Interval<LatencyCounts> {
    fn from(interval: &Interval) -> Self {
        let Interval { series, start_s, length_s, histogram } = interval;
        Self { series: *series, start_s: *start_s, length_s: *length_s, histogram: LatencyCounts::of(histogram) }
    }
}

/// The counts of many intervals.
#[derive(Debug, Clone, Default)]
pub struct LatencySum {
    /// By bucket, up to the highest that has any; empty as long as all are in `loose`.
    counts: Vec<u64>,
    /// None below it has any in `counts`.
    first: usize,
    /// Buckets and counts of few intervals, as these have them: most buckets between them are empty.
    loose: Vec<(usize, u64)>,
}

impl LatencySum {
    fn reach(&mut self, first: usize, end: usize) {
        self.first = if self.counts.is_empty() { first } else { self.first.min(first) };
        if self.counts.len() < end {
            self.counts.resize(end, 0);
        }
    }

    /// Adds those of an interval.
    pub fn add(&mut self, more: &LatencyCounts) {
        if self.counts.is_empty() && self.loose.len() + more.buckets.len() <= MOST_LOOSE {
            self.loose.extend_from_slice(&more.buckets);
            return;
        }
        self.place_loose();
        self.place(&more.buckets);
    }

    /// Adds those of another sum.
    pub fn add_sum(&mut self, more: &Self) {
        self.place_loose();
        if !more.counts.is_empty() {
            self.reach(more.first, more.counts.len());
            for (to, count) in self.counts[more.first..].iter_mut().zip(&more.counts[more.first..]) {
                *to = to.saturating_add(*count);
            }
        }
        self.place(&more.loose);
    }

    fn place_loose(&mut self) {
        let loose = std::mem::take(&mut self.loose);
        self.place(&loose);
    }

    fn place(&mut self, buckets: &[(usize, u64)]) {
        let ends = buckets.iter().fold(None, |ends: Option<(usize, usize)>, (bucket, _)| {
            Some(ends.map_or((*bucket, *bucket), |(first, last)| (first.min(*bucket), last.max(*bucket))))
        });
        let Some((first, last)) = ends else { return };
        self.reach(first, last + 1);
        for (bucket, count) in buckets {
            self.counts[*bucket] = self.counts[*bucket].saturating_add(*count);
        }
    }

    /// Each bucket that has any, with a count of it; those of `loose` may name a bucket more than once.
    fn parts(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let placed = self.counts.iter().copied().enumerate().skip(self.first).filter(|(_, count)| *count > 0);
        placed.chain(self.loose.iter().copied())
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.parts().fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.loose.is_empty()
    }

    /// The same as a histogram.
    pub fn histogram(&self) -> Histogram<u64> {
        let mut histogram = empty_histogram();
        for (bucket, count) in self.parts() {
            histogram.saturating_record_n(longest_us(bucket), count);
        }
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(seed: u64) -> Histogram<u64> {
        let mut histogram = empty_histogram();
        let mut state = seed;
        for n in 1..400 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Of every size: 1 us to a minute.
            let us = 1 + (state >> 20) % (1 << (1 + state % 26));
            histogram.record_n(us.min(crate::HIGHEST_US), n % 7 + 1).unwrap();
        }
        histogram
    }

    #[test]
    fn buckets_are_those_of_a_histogram() {
        let histogram = empty_histogram();
        for us in (1..5_000).chain((5_000..crate::HIGHEST_US).step_by(9_973)).chain([crate::HIGHEST_US]) {
            assert_eq!(longest_us(bucket(us)), histogram.highest_equivalent(us), "{us}");
            assert_eq!(bucket(histogram.lowest_equivalent(us)), bucket(us), "{us}");
        }
    }

    #[test]
    fn counts_say_what_their_histogram_says() {
        assert_eq!(LatencyCounts::of(&empty_histogram()).quantile_us(0.5), 0);
        for seed in 0..20 {
            let whole = histogram(seed);
            let counts = LatencyCounts::of(&whole);
            assert_eq!((counts.len(), counts.longest_us()), (whole.len(), whole.max()));
            for share in [0.0, 1e-9, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0] {
                assert_eq!(counts.quantile_us(share), whole.highest_equivalent(whole.value_at_quantile(share)));
            }
            for us in [1, 2_047, 2_048, 70_000, 1_000_000, crate::HIGHEST_US] {
                assert_eq!(counts.at_least(us), whole.count_between(us, u64::MAX >> 1), "{us}");
            }
        }
    }

    #[test]
    fn sums_are_those_of_histograms_in_any_order() {
        let (a, b, c) = (histogram(1), histogram(2), histogram(3));
        let mut expected = a.clone();
        expected.add(&b).unwrap();
        expected.add(&c).unwrap();
        let mut two = LatencySum::default();
        two.add(&LatencyCounts::of(&c));
        two.add(&LatencyCounts::default());
        two.add(&LatencyCounts::of(&a));
        let mut sum = LatencySum::default();
        sum.add(&LatencyCounts::of(&b));
        sum.add_sum(&two);
        sum.add_sum(&LatencySum::default());
        assert_eq!(sum.histogram(), expected);
        assert_eq!((sum.len(), sum.is_empty()), (expected.len(), false));
        assert!(LatencySum::default().is_empty() && LatencySum::default().histogram().is_empty());
    }

    /// Few are kept as they come, many by bucket: what a sum says is the same at every step from one to the other.
    #[test]
    fn a_sum_of_few_and_of_many_intervals_says_the_same() {
        let (mut expected, mut sum) = (empty_histogram(), LatencySum::default());
        for seed in 0..12 {
            expected.add(histogram(seed)).unwrap();
            sum.add(&LatencyCounts::of(&histogram(seed)));
            assert_eq!((sum.histogram(), sum.len()), (expected.clone(), expected.len()), "{seed}");
            let mut twice = sum.clone();
            twice.add_sum(&sum);
            let mut both = expected.clone();
            both.add(&expected).unwrap();
            assert_eq!(twice.histogram(), both, "{seed}");
        }
        assert!(sum.loose.is_empty() && !sum.counts.is_empty(), "so many are no longer kept as they came");
    }
}
