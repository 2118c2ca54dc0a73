//! Whether keys that are made are all different, and how many there are.

use super::maker::Maker;

/// How many numbers, from 0, have a key of their own; `None`: keys may repeat.
///
/// Enough is one column that never repeats, or sequences of which each takes a step where the one before it begins
/// again.
pub(super) fn distinct(columns: &[&Maker]) -> Option<u64> {
    if let Some(most) = columns.iter().filter_map(|maker| maker.distinct()).max() {
        return Some(most);
    }
    let mut sequences: Vec<_> = columns.iter().filter_map(|maker| maker.sequence()).collect();
    sequences.sort_by_key(|sequence| sequence.each);
    let mut reached = 1_u64;
    for sequence in sequences {
        if sequence.each == reached {
            match sequence.cycle {
                Some(cycle) => reached = reached.saturating_mul(cycle),
                None => return Some(reached.saturating_mul(sequence.room)),
            }
        }
    }
    (reached > 1).then_some(reached)
}

/// What to do where keys repeat.
const HELP: &str =
    "leave one column of it unstated, or state sequences, of which one has `each` where another has `cycle`";

pub(super) fn mistake_of_partitions(room: Option<u64>, partitions: u64) -> Option<String> {
    match room {
        None if partitions != 1 => Some(format!("partitions would have the same key: {HELP}")),
        Some(room) if room < partitions => {
            Some(format!("its partition key has {room} values, fewer than {partitions} partitions"))
        }
        _ => None,
    }
}

pub(super) fn mistake_of_rows(clustering: &[&Maker], rows: u64) -> Option<String> {
    if rows <= 1 {
        return None;
    }
    if clustering.is_empty() {
        return Some("rows: it has no clustering column, so that a partition has one row".to_owned());
    }
    match distinct(clustering) {
        None => Some(format!("rows of a partition would have the same key: {HELP}")),
        Some(room) if room < rows => {
            Some(format!("rows: its clustering columns have {room} values, fewer than {rows} rows of a partition"))
        }
        Some(_) => None,
    }
}
