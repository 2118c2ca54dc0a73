//! Was every row there that was asked for? Loaded rows are never deleted, so that one that is missing was lost or never
//! loaded.

use evidence::{ErrorKind, OperationKind};
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Reads found no row where one must exist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotFound {
    /// Reads that found none.
    pub not_found: u64,
    /// All reads.
    pub reads: u64,
}

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<NotFound>> {
    let client = trial.record.client.as_ref()?;
    let missing = client.errors.get(&ErrorKind::NotFound).copied().filter(|n| *n > 0)?;
    let found: u64 = [OperationKind::Read, OperationKind::Scan, OperationKind::ReadModifyWrite]
        .iter()
        .filter_map(|kind| client.completed.get(kind))
        .sum();
    let figures = NotFound { not_found: missing, reads: missing + found };
    Some(figures.into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::rule::Rule;
    use crate::rules::cases::{counted, fires, seen};
    use crate::rules::of_trial;

    #[test]
    fn one_missing_row_is_reported_and_is_no_timeout() {
        let with = |n| counted(|c| c.errors = BTreeMap::from([(ErrorKind::NotFound, n)]));
        fires(Rule::NotFound, &[(0, false), (1, true), (1000, true)], with);
        let trial = with(1);
        assert_eq!(of_trial(&trial).len(), 1, "and nothing else");
        assert_eq!(seen::<NotFound>(&trial).unwrap().reads, 96_001);
    }
}
