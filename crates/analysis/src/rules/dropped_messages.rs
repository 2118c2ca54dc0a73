//! Did the database shed load to survive?

use super::scope::scope;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::rule::Rule;

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    let dropped = trial.host.dropped_messages.filter(|n| *n > 0.0)?;
    Some(Finding::new(
        Rule::DroppedMessages,
        scope(trial),
        [("dropped_messages", dropped)],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::cases::{changed, fires};

    #[test]
    fn one_is_enough() {
        fires(
            Rule::DroppedMessages,
            &[(None, false), (Some(0.0), false), (Some(1.0), true)],
            |dropped| changed(|t| t.host.dropped_messages = dropped),
        );
    }
}
