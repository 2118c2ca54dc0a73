//! Was it the same database process from end to end? A trial across a restart measures a start.

use super::scope::scope;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::rule::Rule;

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    let restarts = trial.host.restarts.filter(|n| *n > 0)?;
    Some(Finding::new(
        Rule::DatabaseRestarted,
        scope(trial),
        [("restarts", restarts as f64)],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::cases::{changed, fires};

    #[test]
    fn one_restart_is_enough_and_not_having_looked_is_none() {
        fires(
            Rule::DatabaseRestarted,
            &[(None, false), (Some(0), false), (Some(1), true)],
            |restarts| changed(|t| t.host.restarts = restarts),
        );
    }
}
