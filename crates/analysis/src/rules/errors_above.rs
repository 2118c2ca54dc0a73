//! Did the operations succeed? What failed fast or timed out did not do the work whose speed is compared.

use evidence::ErrorKind;
use spec::ERROR_SHARE_MAX;

use super::scope::scope;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::rule::Rule;

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    let client = trial.record.client.as_ref()?;
    // Rows that were not found are a finding of their own.
    let kinds: Vec<(ErrorKind, u64)> = client
        .errors
        .iter()
        .filter(|(kind, n)| **kind != ErrorKind::NotFound && **n > 0)
        .map(|(kind, n)| (*kind, *n))
        .collect();
    let failed: u64 = kinds.iter().map(|(_, n)| n).sum();
    let all = trial.counted() + trial.failed_operations();
    let share = stats::ratio(failed as f64, all as f64).filter(|share| *share > ERROR_SHARE_MAX)?;
    let kinds: Vec<String> = kinds.iter().map(|(kind, n)| format!("{n} {}", kind.name())).collect();
    let numbers = [
        ("errors", failed as f64),
        ("operations", all as f64),
        ("error_share", share),
        ("threshold", ERROR_SHARE_MAX),
    ];
    Some(Finding::new(Rule::ErrorsAbove, scope(trial), numbers).with("kinds", kinds.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::rules::cases::{counted, fires};

    #[test]
    fn more_than_one_in_a_thousand_makes_a_trial_invalid() {
        let with = |(kind, n)| counted(|c| c.errors = BTreeMap::from([(kind, n)]));
        fires(
            Rule::ErrorsAbove,
            &[
                ((ErrorKind::ReadTimeout, 100), false),
                // 120 of 120,120 are 0.0999 %, 121 are 0.1007 %.
                ((ErrorKind::ReadTimeout, 120), false),
                ((ErrorKind::ReadTimeout, 121), true),
                ((ErrorKind::Overloaded, 200), true),
                ((ErrorKind::NotFound, 5000), false),
            ],
            with,
        );
        let trial = with((ErrorKind::ReadTimeout, 200));
        assert!(!trial.is_valid());
        assert_eq!(
            trial.invalid_reason().as_deref(),
            Some("errors_above: 200 read_timeout")
        );
    }
}
