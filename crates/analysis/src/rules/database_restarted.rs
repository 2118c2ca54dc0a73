//! Was it the same database process from end to end? A trial across a restart measures a start.

use serde::{Deserialize, Serialize};

use super::nodes::worst;
use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// The database process changed in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatabaseRestarted {
    /// Times.
    pub restarts: u64,
}

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<DatabaseRestarted>> {
    worst(trial, |node| {
        let restarts = node.host.restarts.filter(|n| *n > 0)?;
        Some((restarts as f64, DatabaseRestarted { restarts }))
    })
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{changed_host, fires};

    #[test]
    fn one_restart_is_enough_and_not_having_looked_is_none() {
        fires(Rule::DatabaseRestarted, &[(None, false), (Some(0), false), (Some(1), true)], |restarts| {
            changed_host(|h| h.restarts = restarts)
        });
    }
}
