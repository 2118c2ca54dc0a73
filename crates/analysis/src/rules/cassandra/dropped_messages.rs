//! Did the database shed load to survive?

use reported::cassandra::DROPPED_MESSAGES;
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::rules::nodes::worst;
use crate::seen::Seen;

/// The database shed load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DroppedMessages {
    /// Messages.
    pub dropped_messages: f64,
}

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<DroppedMessages>> {
    worst(trial, |node| {
        let dropped = node.host.work.course(&DROPPED_MESSAGES).grown().filter(|n| *n > 0.0)?;
        let figures = DroppedMessages { dropped_messages: dropped };
        Some((dropped, figures))
    })
}

#[cfg(test)]
mod tests {
    use super::DROPPED_MESSAGES;
    use crate::rule::Rule;
    use crate::rules::cases::{changed_host, fires};
    use crate::work::Course;

    #[test]
    fn one_is_enough() {
        fires(Rule::DroppedMessages, &[(None, false), (Some(0.0), false), (Some(1.0), true)], |dropped| {
            changed_host(|h| h.work.set(&DROPPED_MESSAGES, Course::from_zero(dropped)))
        });
    }
}
