//! Did the operations succeed? What failed fast or timed out did not do the work whose speed is compared.

use std::collections::BTreeMap;

use evidence::ErrorKind;
use experiment::ERROR_SHARE_MAX;
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Failed operations above the allowed share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct ErrorsAbove {
    pub errors: u64,
    pub operations: u64,
    pub error_share: f64,
    pub threshold: f64,
    pub kinds: BTreeMap<ErrorKind, u64>,
    /// What the server said of the first error of each kind, where that is known.
    pub first_errors: BTreeMap<ErrorKind, String>,
}

impl ErrorsAbove {
    /// Kinds in words: `200 read_timeout, 3 other (first: division by zero)`.
    pub fn by_kind(&self) -> String {
        let each = self.kinds.iter().map(|(kind, n)| match self.first_errors.get(kind) {
            Some(said) => format!("{n} {} (first: {said})", kind.name()),
            None => format!("{n} {}", kind.name()),
        });
        each.collect::<Vec<_>>().join(", ")
    }
}

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<ErrorsAbove>> {
    let client = trial.record.client.as_ref()?;
    // Rows that were not found are a finding of their own.
    let kinds: BTreeMap<ErrorKind, u64> = client
        .errors
        .iter()
        .filter(|(kind, n)| **kind != ErrorKind::NotFound && **n > 0)
        .map(|(kind, n)| (*kind, *n))
        .collect();
    let failed: u64 = kinds.values().sum();
    let all = trial.counted() + trial.failed_operations();
    let share = stats::ratio(failed as f64, all as f64).filter(|share| *share > ERROR_SHARE_MAX)?;
    let first_errors = client.first_errors.clone();
    let (errors, operations, threshold) = (failed, all, ERROR_SHARE_MAX);
    Some(ErrorsAbove { errors, operations, error_share: share, threshold, kinds, first_errors }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Rule;
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
        assert_eq!(trial.invalid_reason().as_deref(), Some("errors_above: 200 read_timeout"));
    }

    #[test]
    fn what_the_server_said_of_the_first_one_stands_beside_its_kind() {
        let trial = counted(|c| {
            c.errors = BTreeMap::from([(ErrorKind::Other, 200), (ErrorKind::Overloaded, 3)]);
            let seen = [(ErrorKind::Other, "division by zero"), (ErrorKind::Connection, "in the warm-up")];
            c.first_errors = seen.map(|(kind, said)| (kind, said.to_owned())).into();
        });
        let reason = trial.invalid_reason().unwrap();
        assert!(reason.contains("200 other (first: division by zero)"), "{reason}");
        assert!(reason.contains("3 overloaded") && !reason.contains("warm-up"), "{reason}");
    }
}
