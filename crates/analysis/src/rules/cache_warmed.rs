//! The page cache was warm by plan: what memory answers is what was asked for.

use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// The page cache was warm by plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheWarmed {
    /// Bytes of the data set that were read into it.
    pub read_bytes: u64,
    /// Of so many.
    pub data_bytes_on_disk: u64,
    /// Seconds that it took on the slowest node.
    pub seconds: f64,
    /// Bytes that were then read by the workload's own keys; `None`: none were.
    pub by_keys_bytes: Option<u64>,
    /// What was left to the data volumes for each operation that reads.
    pub device_reads_per_read: Option<f64>,
}

/// Whether the experiment asks for a warm page cache.
pub(crate) fn is_warmed(trial: &TrialMeasurement) -> bool {
    asked(trial).next().is_some()
}

fn asked(trial: &TrialMeasurement) -> impl Iterator<Item = evidence::Warmed> {
    let warmed = trial.record.nodes.iter().filter_map(|node| node.warmed);
    warmed.filter(|warmed| warmed.is_asked_for)
}

/// How much of the data set was read into it, and how much of the volume's work was left.
pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<CacheWarmed>> {
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
    Some(figures.into())
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
            settled_reads_per_operation: None,
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
