//! Did the volume do the work, or did memory?

use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Memory answered, not the volume.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServedFromPageCache {
    /// Read requests of the data volumes.
    pub device_reads: f64,
    /// Operations that read.
    pub operations_that_read: u64,
    /// Their ratio.
    pub device_reads_per_read: f64,
    /// The least that is a test of the volume.
    pub threshold: f64,
    /// Page cache of all nodes; `None`: not known, as of nodes that are only watched.
    pub page_cache_budget_bytes: Option<u64>,
    /// Data of all nodes; `None`: not known.
    pub data_bytes_on_disk: Option<f64>,
}

/// Fewer device reads than this for each operation that reads: not a test of the volume (practice: < 0.05).
const READS_PER_READ_MIN: f64 = 0.05;

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<ServedFromPageCache>> {
    of_reads(trial, trial.completed_reads())
}

/// The same where so many of its operations read.
pub(crate) fn of_reads(trial: &TrialMeasurement, reads: u64) -> Option<Seen<ServedFromPageCache>> {
    let device = trial.sum_of_data(|v| v.reads)?;
    let per_read = stats::ratio(device, reads as f64).filter(|per_read| *per_read < READS_PER_READ_MIN)?;
    let budget: u64 = trial.nodes().map(|n| n.facts.page_cache_budget_bytes).sum();
    let figures = ServedFromPageCache {
        device_reads: device,
        operations_that_read: reads,
        device_reads_per_read: per_read,
        threshold: READS_PER_READ_MIN,
        // What nobody knows of nodes that are only watched is not 0.
        page_cache_budget_bytes: Some(budget).filter(|bytes| *bytes > 0),
        data_bytes_on_disk: Some(trial.data_bytes_on_disk()).filter(|bytes| *bytes > 0.0),
    };
    Some(figures.into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::rule::Rule;
    use crate::rules::cases::{fires, seen, sound_record};
    use crate::story::measured;

    /// 96,000 operations read.
    #[test]
    fn one_device_read_for_twenty_reads_is_the_bound() {
        fires(
            Rule::ServedFromPageCache,
            &[(100.0, true), (4_700.0, true), (4_900.0, false), (96_000.0, false)],
            |device_reads| measured(&sound_record(), device_reads),
        );
    }

    #[test]
    fn a_node_that_is_only_watched_has_no_budget_of_nothing() {
        let mut watched = sound_record();
        (watched.nodes[0].page_cache_budget_bytes, watched.nodes[0].data_bytes_on_disk) = (0, 0);
        let trial = measured(&watched, 0.0);
        let reported = seen::<ServedFromPageCache>(&trial).unwrap();
        assert_eq!(reported.device_reads, 0.0);
        assert_eq!((reported.page_cache_budget_bytes, reported.data_bytes_on_disk), (None, None));
    }

    #[test]
    fn a_workload_that_does_not_read_has_nothing_to_serve() {
        let mut writes = sound_record();
        let client = writes.client.as_mut().unwrap();
        client.completed = BTreeMap::from([(experiment::OperationKind::Update, 120_000)]);
        assert_eq!(seen::<ServedFromPageCache>(&measured(&writes, 0.0)), None);
    }
}
