//! Did the trial run to its end?

use evidence::Validity;
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// The trial did not run to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialInvalid {
    /// Why, for people.
    pub reason: String,
}

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<TrialInvalid>> {
    let reason = match &trial.record.validity {
        Validity::Invalid { reason, .. } => reason.clone(),
        Validity::Valid if trial.record.client.is_none() => "the client measured nothing".to_owned(),
        Validity::Valid => return None,
    };
    Some(TrialInvalid { reason }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::cases::{recorded, seen};

    #[test]
    fn a_trial_that_ended_early_and_one_without_a_client_are_invalid_with_their_reason() {
        let died = recorded(|r| {
            r.validity = Validity::Invalid {
                cause: evidence::Cause::DatabaseEnded,
                reason: "the database died".into(),
                log_tail: Vec::new(),
            };
        });
        assert_eq!(seen::<TrialInvalid>(&died).unwrap().reason, "the database died");
        assert_eq!(died.invalid_reason().as_deref(), Some("the database died"));
        let silent = crate::rules::cases::changed(|t| t.record.client = None);
        assert!(!silent.is_valid());
        assert!(silent.invalid_reason().unwrap().contains("measured nothing"));
    }
}
