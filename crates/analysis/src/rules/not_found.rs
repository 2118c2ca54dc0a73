//! Was every row there that was asked for? Loaded rows are never deleted, so that one that is missing was lost or never
//! loaded.

use evidence::{ErrorKind, OperationKind};

use super::scope::scope;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::remark::trial::NotFound;

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    let client = trial.record.client.as_ref()?;
    let missing = client.errors.get(&ErrorKind::NotFound).copied().filter(|n| *n > 0)?;
    let found: u64 = [OperationKind::Read, OperationKind::Scan, OperationKind::ReadModifyWrite]
        .iter()
        .filter_map(|kind| client.completed.get(kind))
        .sum();
    let figures = NotFound {
        not_found: missing,
        reads: missing + found,
    };
    Some(Finding::new(scope(trial), figures))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::rule::Rule;
    use crate::rules::cases::{counted, fires, seen};

    #[test]
    fn one_missing_row_is_reported_and_is_no_timeout() {
        let with = |n| counted(|c| c.errors = BTreeMap::from([(ErrorKind::NotFound, n)]));
        fires(Rule::NotFound, &[(0, false), (1, true), (1000, true)], with);
        let trial = with(1);
        assert_eq!(trial.findings.len(), 1, "and nothing else");
        assert_eq!(seen::<NotFound>(&trial).unwrap().reads, 96_001);
    }
}
