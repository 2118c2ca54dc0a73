//! Was it the same database process from end to end? A trial across a restart measures a start.

use super::nodes::worst;
use super::scope::scope;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::remark::trial::DatabaseRestarted;

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    worst(trial, |node| {
        let restarts = node.host.restarts.filter(|n| *n > 0)?;
        let found = Finding::new(scope(trial), DatabaseRestarted { restarts });
        Some((restarts as f64, found))
    })
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{changed_host, fires};

    #[test]
    fn one_restart_is_enough_and_not_having_looked_is_none() {
        fires(
            Rule::DatabaseRestarted,
            &[(None, false), (Some(0), false), (Some(1), true)],
            |restarts| changed_host(|h| h.restarts = restarts),
        );
    }
}
