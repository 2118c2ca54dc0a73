//! What a node's database reported in the measured window, by series.
//!
//! A node that nobody asks (one of a cluster that exists, a simulated one) has no series, which is not zero.

use std::collections::BTreeMap;

use evidence::HostSample;
use reported::{Kind, Meaning, Series};

use crate::stretch::Step;

/// Every series of which a sample of the window has a value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DatabaseWork(BTreeMap<&'static str, Course>);

/// A series in a window.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Course {
    /// In the first sample; `None`: that one does not have it.
    pub first: Option<f64>,
    /// In the last sample.
    pub last: Option<f64>,
    /// Between the first and the last sample that have it, as it would be over the whole window: by how much a counter
    /// grew; of one that also falls the steps upwards. Of a level the last value.
    pub total: Option<f64>,
    /// Means of the first and of the last tenth of the samples that have it.
    pub ends: Option<(f64, f64)>,
}

/// A series must have been seen for so much of a window: of less, nothing is said of the whole.
const SEEN_SHARE: f64 = 0.8;

impl DatabaseWork {
    /// Of the samples of a window of so many seconds.
    pub(crate) fn of(window: &[HostSample], length: f64) -> Self {
        let (Some(first), Some(last)) = (window.first(), window.last()) else { return Self::default() };
        let of_series =
            |(series, known): Values| Some((series.key, Course::of((first, last), &known, length, series)?));
        Self(by_series(window).into_iter().filter_map(of_series).collect())
    }

    /// What became of a series; of one that was not seen, nothing.
    pub fn course(&self, series: &Series) -> Course {
        self.0.get(series.key).copied().unwrap_or_default()
    }

    /// Its total.
    pub fn total(&self, series: &Series) -> Option<f64> {
        self.course(series).total
    }

    /// The series with this meaning, whatever the product.
    pub fn meaning(&self, meaning: Meaning) -> Course {
        meaning.series().iter().find_map(|series| self.0.get(series.key)).copied().unwrap_or_default()
    }

    /// Sets what became of a series.
    pub fn set(&mut self, series: &'static Series, course: Course) {
        self.0.insert(series.key, course);
    }
}

impl Course {
    /// Of a counter that began at zero.
    pub fn from_zero(total: Option<f64>) -> Self {
        Self { first: Some(0.0), last: total, total, ends: None }
    }

    /// By how much it grew from the first to the last sample.
    pub fn grown(&self) -> Option<f64> {
        Some(self.last? - self.first?)
    }

    /// Of the samples at both ends of a window, and all that are known in it (seconds, value); `None`: none is.
    fn of((first, last): Step<'_>, known: &[(f64, f64)], length: f64, series: &Series) -> Option<Self> {
        let (begin, end) = (known.first()?, known.last()?);
        let steps = || known.windows(2).map(|pair| (pair[1].1 - pair[0].1).max(0.0)).sum();
        let whole = |grown: f64| over_all(grown, end.0 - begin.0, last.t_s - first.t_s, length);
        Some(Self {
            first: first.database.get(series),
            last: last.database.get(series),
            total: match series.kind {
                Kind::Counter => whole(end.1 - begin.1),
                Kind::Steps => whole(steps()),
                Kind::Level => Some(end.1),
            },
            ends: ends(known),
        })
    }
}

/// A series with (seconds, value) of the samples that have it.
type Values = (&'static Series, Vec<(f64, f64)>);

/// Each series of which a sample has a value.
fn by_series(window: &[HostSample]) -> Vec<Values> {
    let mut all: Vec<Values> = Vec::new();
    for sample in window {
        for (usual, (series, value)) in sample.database.known().enumerate() {
            let is_it = |(known, _): &Values| std::ptr::eq(*known, series);
            // Samples of a host have the same series, but where one is missing for a while.
            let place = Some(usual).filter(|at| all.get(*at).is_some_and(is_it));
            let at = place.or_else(|| all.iter().position(is_it)).unwrap_or(all.len());
            if at == all.len() {
                all.push((series, Vec::with_capacity(window.len())));
            }
            all[at].1.push((sample.t_s, value));
        }
    }
    all
}

/// From each sample to the next: which share of what two counters grew by one of them has. Nothing where one is not
/// known or has begun anew, or neither grew.
pub fn shares(window: &[HostSample], of: &Series, beside: &Series) -> Vec<f64> {
    let share = |pair: &[HostSample]| {
        let [before, after] = pair else { return None };
        let grown = |series: &Series| Some(after.database.get(series)? - before.database.get(series)?);
        let (of, beside) = (grown(of)?, grown(beside)?);
        stats::ratio(of, of + beside).filter(|_| of >= 0.0 && beside >= 0.0)
    };
    window.windows(2).filter_map(share).collect()
}

/// What grew in `seen` of `seconds`, for a window of this length. A counter that went backwards is another process's:
/// nothing is known of the window.
fn over_all(grown: f64, seen: f64, seconds: f64, length: f64) -> Option<f64> {
    let is_enough = seen > 0.0 && seen >= SEEN_SHARE * seconds;
    (is_enough && grown >= 0.0).then(|| grown / seen * length)
}

fn ends(known: &[(f64, f64)]) -> Option<(f64, f64)> {
    let part = known.len().div_ceil(10);
    let mean = |values: &[(f64, f64)]| stats::ratio(values.iter().map(|(_, v)| v).sum(), values.len() as f64);
    mean(known.get(..part)?).zip(mean(known.get(known.len() - part..)?))
}

#[cfg(test)]
mod tests {
    use reported::Reported;
    use reported::cassandra::{BLOOM_FALSE_POSITIVES, COMPRESSION_RATIO, FLUSHES, TABLE_READS};

    use super::*;

    fn sample(t_s: f64, reads: Option<f64>, false_positives: f64) -> HostSample {
        let mut database =
            Reported::from([(&BLOOM_FALSE_POSITIVES, false_positives), (&COMPRESSION_RATIO, 0.5 + t_s / 100.0)]);
        database.set(&TABLE_READS, reads);
        HostSample { t_s, database, ..HostSample::default() }
    }

    #[test]
    fn counts_are_those_of_the_whole_window_though_a_second_of_it_was_not_reported() {
        let reported = |t: u32| (1..=10).contains(&t).then(|| 700.0 + 50.0 * f64::from(t));
        let samples: Vec<HostSample> = (0..=10).map(|t| sample(f64::from(t), reported(t), 3.0)).collect();
        let work = DatabaseWork::of(&samples, 10.0);
        assert_eq!(work.total(&TABLE_READS), Some(500.0), "450 were counted in 9 of 10 s");
        assert_eq!(work.total(&COMPRESSION_RATIO), Some(0.6), "at the end");
        assert_eq!(
            (work.total(&BLOOM_FALSE_POSITIVES), work.total(&FLUSHES)),
            (Some(0.0), None),
            "missing is not zero"
        );
        // Known for half of it, or begun anew: nothing is said.
        assert_eq!(DatabaseWork::of(&samples[..6], 5.0).total(&TABLE_READS), Some(250.0));
        let late: Vec<HostSample> =
            (0..=10).map(|t| sample(f64::from(t), reported(t).filter(|_| t > 4), 3.0)).collect();
        assert_eq!(DatabaseWork::of(&late, 10.0).total(&TABLE_READS), None);
        let anew = [sample(0.0, Some(900.0), 0.0), sample(10.0, Some(4.0), 0.0)];
        assert_eq!(DatabaseWork::of(&anew, 10.0).total(&TABLE_READS), None);
        assert_eq!(DatabaseWork::of(&[], 10.0), DatabaseWork::default());
    }

    #[test]
    fn shares_are_of_what_both_counters_grew_by_and_of_none_that_began_anew() {
        let counted = [(0.0, 0.0), (30.0, 10.0), (30.0, 10.0), (40.0, 40.0), (5.0, 50.0), (6.0, 50.0)];
        let mut samples: Vec<HostSample> = counted.map(|(reads, _)| sample(0.0, Some(reads), 0.0)).into();
        for (sample, (_, flushes)) in samples.iter_mut().zip(counted) {
            sample.database.set(&FLUSHES, Some(flushes));
        }
        assert_eq!(shares(&samples, &TABLE_READS, &FLUSHES), [0.75, 0.25, 1.0]);
        samples[1].database.set(&FLUSHES, None);
        assert_eq!(shares(&samples, &TABLE_READS, &FLUSHES), [0.25, 1.0], "one that is not known is left out");
    }

    /// A compaction takes the count of the files that it replaces.
    #[test]
    fn false_positives_are_the_steps_upwards() {
        let counts = [10.0, 14.0, 14.0, 2.0, 5.0];
        let samples: Vec<HostSample> = counts.iter().zip(0..).map(|(n, t)| sample(f64::from(t), None, *n)).collect();
        assert_eq!(DatabaseWork::of(&samples, 4.0).total(&BLOOM_FALSE_POSITIVES), Some(7.0));
    }
}
