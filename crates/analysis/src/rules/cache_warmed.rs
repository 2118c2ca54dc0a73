//! The page cache was warm by plan: what memory answers is what was asked for.

use super::scope::scope;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::remark::storage::CacheWarmed;

/// Whether the experiment asks for a warm page cache.
pub fn is_warmed(trial: &TrialMeasurement) -> bool {
    asked(trial).next().is_some()
}

fn asked(trial: &TrialMeasurement) -> impl Iterator<Item = evidence::Warmed> {
    let warmed = trial.record.nodes.iter().filter_map(|node| node.warmed);
    warmed.filter(|warmed| warmed.is_asked_for)
}

/// How much of the data set was read into it, and how much of the volume's work was left.
pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    let of_nodes = || asked(trial);
    let sum = |figure: fn(evidence::Warmed) -> u64| of_nodes().map(figure).sum::<u64>();
    let slowest_s = of_nodes().map(|warmed| warmed.seconds).max_by(f64::total_cmp)?;
    let device = trial.sum_of_data(|v| v.reads);
    let figures = CacheWarmed {
        read_bytes: sum(|warmed| warmed.bytes),
        data_bytes_on_disk: sum(|warmed| warmed.of_bytes),
        seconds: slowest_s,
        by_keys_bytes: Some(sum(|warmed| warmed.by_keys_bytes)).filter(|bytes| *bytes > 0),
        device_reads_per_read: device.and_then(|device| stats::ratio(device, trial.completed_reads() as f64)),
    };
    Some(Finding::new(scope(trial), figures))
}

#[cfg(test)]
mod tests {
    use evidence::Warmed;

    use super::*;
    use crate::rule::Rule;
    use crate::rules::cases::{found, recorded, seen};

    /// All data fits, and is in memory: of a cold trial that is a doubt, of a warm one what was asked for.
    #[test]
    fn memory_that_answers_is_a_doubt_only_where_nobody_asked_for_it() {
        let with = |warmed: Option<Warmed>| {
            recorded(|r| {
                r.nodes[0].data_bytes_on_disk = 1 << 20;
                r.nodes[0].warmed = warmed;
            })
        };
        let cold = with(None);
        assert!(found(&cold, Rule::DataFitsPageCache).is_some() && found(&cold, Rule::CacheWarmed).is_none());
        let warm = with(Some(Warmed {
            is_asked_for: true,
            bytes: 1 << 20,
            of_bytes: 1 << 20,
            by_keys_bytes: 0,
            seconds: 2.5,
            cached_bytes: None,
        }));
        assert!(found(&warm, Rule::DataFitsPageCache).is_none());
        let reported = seen::<CacheWarmed>(&warm).unwrap();
        assert_eq!((reported.seconds, reported.read_bytes), (2.5, 1_048_576));
    }
}
