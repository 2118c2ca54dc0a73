//! The histograms of one second of one thread, and their small form for keeping.

use evidence::{ErrorKind, HIGHEST_US, Interval, OperationKind, Series, empty_histogram};
use hdrhistogram::Histogram;

const KINDS: usize = OperationKind::ALL.len();
const ERRORS: usize = ErrorKind::ALL.len();
const SERIES: usize = 2 * KINDS + ERRORS;

/// Nanoseconds to the nearest microsecond.
#[inline]
pub(crate) fn micros(ns: u64) -> u64 {
    (ns + 500) / 1000
}

/// One histogram per series, made when a series is first used. 140 KiB each, of which only the touched pages exist.
#[derive(Default)]
pub(crate) struct Histograms {
    by_series: [Option<Histogram<u64>>; SERIES],
}

fn position(series: Series) -> usize {
    match series {
        Series::Response(kind) => kind as usize,
        Series::Service(kind) => KINDS + kind as usize,
        Series::Failed(kind) => 2 * KINDS + kind as usize,
    }
}

fn series_at(position: usize) -> Series {
    match position {
        p if p < KINDS => Series::Response(OperationKind::ALL[p]),
        p if p < 2 * KINDS => Series::Service(OperationKind::ALL[p - KINDS]),
        p => Series::Failed(ErrorKind::ALL[p - 2 * KINDS]),
    }
}

impl Histograms {
    /// Counts one latency. Above [`HIGHEST_US`] it is counted there.
    #[inline]
    pub(crate) fn record(&mut self, series: Series, latency_ns: u64) {
        self.by_series[position(series)].get_or_insert_with(empty_histogram).saturating_record(micros(latency_ns));
    }

    /// Adds every count of another set: exact, because bounds are equal.
    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.by_series.iter_mut().zip(&other.by_series) {
            if let Some(theirs) = theirs.as_ref().filter(|h| !h.is_empty()) {
                mine.get_or_insert_with(empty_histogram).add(theirs).expect("histograms of equal bounds always add");
            }
        }
    }

    /// Empties all, keeps the memory.
    pub(crate) fn reset(&mut self) {
        for histogram in self.by_series.iter_mut().flatten().filter(|h| !h.is_empty()) {
            histogram.reset();
        }
    }

    /// Each series that has counts.
    pub(crate) fn used(&self) -> impl Iterator<Item = (Series, &Histogram<u64>)> {
        self.by_series.iter().enumerate().filter_map(|(p, h)| {
            let h = h.as_ref().filter(|h| !h.is_empty())?;
            Some((series_at(p), h))
        })
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
    use super::*;

    #[test]
    fn positions_and_series_are_inverse() {
        for p in 0..SERIES {
            assert_eq!(position(series_at(p)), p);
        }
    }

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
