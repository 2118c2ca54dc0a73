//! Did the database shed load to survive?

use super::nodes::worst;
use super::scope::scope;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::rule::Rule;

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    worst(trial, |node| {
        let dropped = node.host.dropped_messages.filter(|n| *n > 0.0)?;
        let numbers = [("dropped_messages", dropped)];
        Some((dropped, Finding::new(Rule::DroppedMessages, scope(trial), numbers)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::cases::{changed_host, fires};

    #[test]
    fn one_is_enough() {
        fires(
            Rule::DroppedMessages,
            &[(None, false), (Some(0.0), false), (Some(1.0), true)],
            |dropped| changed_host(|h| h.dropped_messages = dropped),
        );
    }
}
