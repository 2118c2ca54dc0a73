//! Did the volume do the work, or did memory?

use spec::VolumeRole;

use super::scope::scope;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::rule::Rule;

/// Fewer device reads than this for each operation that reads: not a test of the volume (practice: < 0.05).
const READS_PER_READ_MIN: f64 = 0.05;

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    let reads = trial.completed_reads() as f64;
    let device = trial.sum_of_volumes(VolumeRole::Data, |v| v.reads)?;
    let per_read = stats::ratio(device, reads).filter(|per_read| *per_read < READS_PER_READ_MIN)?;
    let budget: u64 = trial.nodes().map(|n| n.facts.page_cache_budget_bytes).sum();
    let numbers = [
        ("device_reads", device),
        ("operations_that_read", reads),
        ("device_reads_per_read", per_read),
        ("page_cache_budget_bytes", budget as f64),
        ("data_bytes_on_disk", trial.data_bytes_on_disk()),
        ("threshold", READS_PER_READ_MIN),
    ];
    Some(Finding::new(Rule::ServedFromPageCache, scope(trial), numbers))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::rules::cases::{fires, found, sound_record};
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
    fn a_workload_that_does_not_read_has_nothing_to_serve() {
        let mut writes = sound_record();
        let client = writes.client.as_mut().unwrap();
        client.completed = BTreeMap::from([(spec::OperationKind::Update, 120_000)]);
        assert_eq!(found(&measured(&writes, 0.0), Rule::ServedFromPageCache), None);
    }
}
