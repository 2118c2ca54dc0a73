//! Did requests go another way than iopslab's own frames?

use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Requests went through the CQL driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThroughDriver {
    /// What the client says of how it sent.
    pub notes: Vec<String>,
    /// The client's CPU time for each operation, microseconds.
    pub cpu_us_per_operation: f64,
}

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<ThroughDriver>> {
    let client = trial.record.client.as_ref()?;
    let completed: u64 = client.completed.values().sum();
    let cpu_us = client.client_cpu_s * 1e6 / completed.max(1) as f64;
    let figures = ThroughDriver { notes: client.notes.clone(), cpu_us_per_operation: cpu_us };
    (!client.notes.is_empty()).then_some(figures.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::cases::{counted, seen, sound};

    #[test]
    fn what_the_client_says_of_how_it_sent_is_reported_with_what_it_cost() {
        assert_eq!(finding(&sound()), None);
        let trial = counted(|c| {
            c.client_cpu_s = 1.2;
            c.notes = vec!["a node was left out".to_owned(), "and another".to_owned()];
        });
        let reported = seen::<ThroughDriver>(&trial).unwrap();
        assert_eq!(reported.notes, ["a node was left out", "and another"]);
        assert_eq!(reported.cpu_us_per_operation, 10.0);
    }
}
