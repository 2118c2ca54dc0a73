//! Has the table of a database that exists grown from trial to trial?
//!
//! PostgreSQL writes a new version of each row that is updated, and a vacuum gives the room of old ones to later rows,
//! not back to the file system (PostgreSQL: "Routine Vacuuming", Recovering Disk Space). Nothing is restored in a
//! database that is somebody else's: where the table has grown, later trials read more pages for as many rows, and a
//! page cache holds a smaller part of it.

use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// A table grew while it was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableBloat {
    /// Bytes of the table with its indexes before the first of the trials.
    pub first_bytes: u64,
    /// The most before a later one.
    pub most_bytes: u64,
    /// Trials that were looked at.
    pub trials: u64,
    /// The most versions of rows that a vacuum before one of them was to take away.
    pub most_dead_rows: u64,
}

/// A table that is larger by this share is another one (practice).
const GROWTH_MAX: f64 = 0.1;

/// Of the valid trials of a configuration in the order of time.
pub(crate) fn of_configuration(name: &str, trials: &[&TrialMeasurement]) -> Option<Seen<TableBloat>> {
    let of_configuration = trials.iter().filter(|trial| trial.is_valid() && trial.record.configuration == name);
    let seen = of_configuration.filter_map(|trial| Some((&trial.record.started_at, trial.record.table.as_ref()?)));
    let mut seen: Vec<_> = seen.collect();
    seen.sort_by_key(|(started_at, _)| *started_at);
    let (_, first) = seen.first()?;
    let most_bytes = seen.iter().map(|(_, table)| table.bytes).max()?;
    let most_dead_rows = seen.iter().map(|(_, table)| table.dead_rows).max()?;
    let has_grown = most_bytes as f64 > first.bytes as f64 * (1.0 + GROWTH_MAX);
    let (first_bytes, trials) = (first.bytes, seen.len() as u64);
    has_grown.then(|| TableBloat { first_bytes, most_bytes, trials, most_dead_rows }.into())
}

#[cfg(test)]
mod tests {
    use experiment::TableBefore;

    use super::*;
    use crate::rules::cases::recorded;

    /// A trial that began at this minute, with so many bytes before it.
    fn trial(minute: u32, bytes: Option<u64>) -> TrialMeasurement {
        recorded(|record| {
            record.started_at = format!("2026-11-27T08:{minute:02}:00Z");
            let not_counted = Vec::new();
            let before = |bytes| TableBefore { bytes, dead_rows: bytes / 10, no_checkpoint: None, not_counted };
            record.table = bytes.map(before);
        })
    }

    fn found(trials: &[TrialMeasurement]) -> Option<TableBloat> {
        let trials: Vec<&TrialMeasurement> = trials.iter().collect();
        of_configuration("io1-10000", &trials).map(|seen| seen.figures)
    }

    #[test]
    fn a_table_that_grew_beyond_the_bound_is_found_in_the_order_of_time() {
        let expected = TableBloat { first_bytes: 1_000, most_bytes: 1_101, trials: 3, most_dead_rows: 110 };
        assert_eq!(found(&[trial(9, Some(1_101)), trial(1, Some(1_000)), trial(5, Some(1_050))]), Some(expected));
    }

    #[test]
    fn one_that_kept_its_size_or_was_not_looked_at_is_none() {
        assert_eq!(found(&[trial(1, Some(1_000)), trial(2, Some(1_100))]), None);
        assert_eq!(found(&[trial(1, Some(1_000)), trial(2, None)]), None);
        assert_eq!(found(&[trial(1, None)]), None);
        // It became smaller.
        assert_eq!(found(&[trial(1, Some(2_000)), trial(2, Some(1_000))]), None);
        let mut invalid = trial(2, Some(3_000));
        invalid.forbidden = Some("the trial is invalid".to_owned());
        assert_eq!(found(&[trial(1, Some(1_000)), invalid]), None);
    }
}
