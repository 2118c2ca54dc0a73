//! All products, looked through by who knows none of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use crate::statement::{Chart, Meaning, Reports, Series};
use crate::{cassandra, memcached, postgresql};

/// All products, and the caches in front of them. Each key, and each title of a chart, is one series, figure or chart
/// of all of them.
pub const ALL: &[&Reports] = &[&cassandra::REPORTS, &postgresql::REPORTS, &memcached::REPORTS];

/// The series of all products, by key.
static BY_KEY: LazyLock<HashMap<&'static str, &'static Series>> = LazyLock::new(|| {
    let all = ALL.iter().flat_map(|product| product.all_series());
    all.map(|series| (series.key, series)).collect()
});

impl Series {
    /// The series of this key; `None`: no product has it.
    pub fn of_key(key: &str) -> Option<&'static Self> {
        BY_KEY.get(key).copied()
    }
}

/// The series of all products that have a meaning, by it.
static MEANT: LazyLock<BTreeMap<Meaning, Vec<&'static Series>>> = LazyLock::new(|| {
    let mut meant = BTreeMap::<Meaning, Vec<&'static Series>>::new();
    for series in ALL.iter().flat_map(|product| product.all_series()) {
        if let Some(meaning) = series.meaning {
            meant.entry(meaning).or_default().push(series);
        }
    }
    meant
});

impl Meaning {
    /// The series that have it, of all products. A database reports those of its own product, so at most one of them.
    pub fn series(self) -> &'static [&'static Series] {
        MEANT.get(&self).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The charts of all products, each once.
pub fn charts() -> Vec<&'static Chart> {
    let mut charts: Vec<&Chart> = Vec::new();
    for chart in ALL.iter().flat_map(|product| product.charts) {
        if charts.iter().all(|known| known.title != chart.title) {
            charts.push(chart);
        }
    }
    charts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::statement::Of;

    #[test]
    fn a_meaning_finds_the_series_that_have_it_and_no_other() {
        use Meaning::{BackgroundWork, CompilerCpuS, LongestPauseS, PausedS};
        for meaning in [CompilerCpuS, PausedS, LongestPauseS, BackgroundWork] {
            let all = ALL.iter().flat_map(|product| product.all_series());
            let have = all.filter(|series| series.meaning == Some(meaning)).map(|series| series.key);
            let found = meaning.series().iter().map(|series| series.key);
            assert!(found.clone().next().is_some(), "{meaning:?}");
            assert_eq!(found.collect::<Vec<_>>(), have.collect::<Vec<_>>());
        }
    }

    /// Products may share a series or a figure, and then it is the same one.
    #[test]
    fn a_key_is_one_series_and_one_figure() {
        let mut series = BTreeMap::new();
        for of in ALL.iter().flat_map(|product| product.all_series()) {
            let known = *series.entry(of.key).or_insert(of);
            assert!(std::ptr::eq(known, of), "{}", of.key);
        }
        let mut figures = BTreeMap::new();
        for of in ALL.iter().flat_map(|product| product.figures) {
            let known = *figures.entry(of.key).or_insert(*of);
            assert!(std::ptr::eq(known, *of), "{}", of.key);
        }
    }

    /// What a table or a chart shows, the product reports.
    #[test]
    fn what_is_shown_is_reported() {
        for product in ALL {
            let reports = |series: &Series| product.all_series().any(|known| known.key == series.key);
            for figure in product.figures {
                match figure.of {
                    Of::Trial(series) | Of::Operation(series) => assert!(reports(series), "{}", figure.key),
                    Of::Each(part, whole) => assert!(reports(part) && reports(whole), "{}", figure.key),
                    Of::Rule => {}
                }
            }
            let charted = product.charts.iter().flat_map(|chart| chart.lines).map(|(_, series, _)| *series);
            let background = product.background.iter().map(|(series, ..)| *series);
            for series in charted.chain(background) {
                assert!(reports(series), "{}", series.key);
            }
        }
    }
}
