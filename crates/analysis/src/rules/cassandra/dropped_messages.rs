//! Did the database shed load to survive?

use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::remark::cassandra::DroppedMessages;
use crate::rules::nodes::worst;
use crate::rules::scope::scope;

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    worst(trial, |node| {
        let dropped = node.host.dropped_messages.filter(|n| *n > 0.0)?;
        let figures = DroppedMessages {
            dropped_messages: dropped,
        };
        Some((dropped, Finding::new(scope(trial), figures)))
    })
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
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
