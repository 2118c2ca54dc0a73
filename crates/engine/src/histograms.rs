//! The histograms of one second of one thread, and their small form for keeping.

use evidence::{HIGHEST_US, Interval, Series, empty_histogram};
use hdrhistogram::Histogram;

/// Nanoseconds to the nearest microsecond.
#[inline]
pub(crate) fn micros(ns: u64) -> u64 {
    (ns + 500) / 1000
}

/// One histogram per series, made when a series is first used. 140 KiB each, of which only the touched pages exist.
/// There are few series, so that looking through them is quicker than a hash.
#[derive(Default)]
pub(crate) struct Histograms {
    by_series: Vec<(Series, Histogram<u64>)>,
}

impl Histograms {
    fn of(&mut self, series: Series) -> &mut Histogram<u64> {
        let at = match self.by_series.iter().position(|(of, _)| *of == series) {
            Some(at) => at,
            None => {
                self.by_series.push((series, empty_histogram()));
                self.by_series.len() - 1
            }
        };
        &mut self.by_series[at].1
    }

    /// Counts one latency. Above [`HIGHEST_US`] it is counted there.
    #[inline]
    pub(crate) fn record(&mut self, series: Series, latency_ns: u64) {
        self.of(series).saturating_record(micros(latency_ns));
    }

    /// Adds every count of another set: exact, because bounds are equal.
    pub(crate) fn add(&mut self, other: &Self) {
        for (series, theirs) in other.used() {
            self.of(series).add(theirs).expect("histograms of equal bounds always add");
        }
    }

    /// Empties all, keeps the memory.
    pub(crate) fn reset(&mut self) {
        for (_, histogram) in self.by_series.iter_mut().filter(|(_, histogram)| !histogram.is_empty()) {
            histogram.reset();
        }
    }

    /// Each series that has counts.
    pub(crate) fn used(&self) -> impl Iterator<Item = (Series, &Histogram<u64>)> {
        self.by_series.iter().filter(|(_, histogram)| !histogram.is_empty()).map(|(series, of)| (*series, of))
    }
}

/// A histogram as (value, count) pairs: some kilobytes instead of 140, so that an hour of seconds is cheap to keep.
pub(crate) struct Compact {
    series: Series,
    counts: Box<[(u32, u32)]>,
}

impl Compact {
    pub(crate) fn new(series: Series, histogram: &Histogram<u64>) -> Self {
        let counts = histogram
            .iter_recorded()
            .map(|step| {
                let value = step.value_iterated_to().min(HIGHEST_US);
                (u32::try_from(value), u32::try_from(step.count_at_value()))
            })
            .map(|(value, count)| {
                (value.expect("60 s in microseconds fit 32 bits"), count.expect("fewer than 2^32 responses a second"))
            })
            .collect();
        Self { series, counts }
    }

    pub(crate) fn empty(series: Series) -> Self {
        Self { series, counts: Box::default() }
    }

    /// The same counts as a full histogram: every value is recorded in the bucket that it came from.
    pub(crate) fn expand(&self, start_s: f64, length_s: f64) -> Interval {
        let mut histogram = empty_histogram();
        for &(value, count) in &self.counts {
            histogram.saturating_record_n(u64::from(value), u64::from(count));
        }
        Interval { series: self.series, start_s, length_s, histogram }
    }

    pub(crate) fn series(&self) -> Series {
        self.series
    }

    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().map(|&(_, count)| u64::from(count)).sum()
    }
}

#[cfg(test)]
mod tests {
    use evidence::OperationKind;

    use super::*;

    #[test]
    fn the_small_form_keeps_every_count() {
        let mut all = Histograms::default();
        let series = Series::Response(OperationKind::Read);
        for value in (0..4_000_000u64).step_by(977) {
            all.record(series, value * 1000);
        }
        all.record(series, u64::MAX / 2);
        let (_, histogram) = all.used().next().unwrap();
        let interval = Compact::new(series, histogram).expand(0.0, 1.0);
        assert_eq!(&interval.histogram, histogram);
        assert_eq!(interval.histogram.max(), histogram.max());
        assert_eq!(Compact::new(series, histogram).total(), histogram.len());
    }
}
