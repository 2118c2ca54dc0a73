//! Rules that look at each node of a trial: one finding on all of them.

use evidence::HostId;

use crate::measurement::TrialMeasurement;
use crate::node::Node;
use crate::seen::{Seen, SeenOn};

/// What a rule sees on the node where it is worst; `judge` says how bad it is on one (the larger, the worse).
///
/// Of several nodes those on which it fires are named, the worst, whose figures are printed, first.
pub fn worst<F>(trial: &TrialMeasurement, judge: impl Fn(&Node<'_>) -> Option<(f64, F)>) -> Option<Seen<F>> {
    let mut seen: Vec<(HostId, f64, F)> =
        trial.nodes().filter_map(|node| judge(&node).map(|(how_bad, figures)| (node.id, how_bad, figures))).collect();
    // Stable: of two that are equally bad the first node's.
    seen.sort_by(|a, b| b.1.total_cmp(&a.1));
    let all = trial.nodes().count();
    let names: Vec<HostId> = seen.iter().map(|(node, ..)| *node).collect();
    let (_, _, figures) = seen.into_iter().next()?;
    Some(Seen { figures, nodes: (all > 1).then(|| SeenOn::some(names, all)) })
}

/// The node whose figures are printed.
pub fn first_named<'t>(trial: &'t TrialMeasurement, nodes: Option<&SeenOn>) -> Option<Node<'t>> {
    match nodes.and_then(|nodes| nodes.names.first()) {
        Some(host) => trial.nodes().find(|node| node.id == *host),
        None => trial.nodes().next(),
    }
}

#[cfg(test)]
mod tests {
    use reported::cassandra::DROPPED_MESSAGES;

    use super::*;
    use crate::finding::Finding;
    use crate::rule::Rule;
    use crate::rules::cases::{found, sound};
    use crate::rules::cassandra::dropped_messages::DroppedMessages;
    use crate::work::Course;

    /// Three nodes; messages that each dropped.
    fn dropped(by_node: [f64; 3]) -> Option<Finding> {
        let mut trial = sound();
        let (facts, host) = (trial.record.nodes[0].clone(), trial.hosts[&HostId::DATABASE].clone());
        for (i, messages) in (0..).zip(by_node) {
            let id = HostId::database(i);
            let mut facts = facts.clone();
            facts.host = id;
            trial.record.nodes.retain(|n| n.host != id);
            trial.record.nodes.push(facts);
            let mut host = host.clone();
            host.work.set(&DROPPED_MESSAGES, Course::from_zero(Some(messages)));
            trial.hosts.insert(id, host);
        }
        found(&trial, Rule::DroppedMessages)
    }

    #[test]
    fn one_finding_names_the_nodes_it_was_seen_on_and_carries_the_numbers_of_the_worst() {
        assert_eq!(dropped([0.0; 3]), None);
        let reported = dropped([0.0, 3.0, 7.0]).unwrap();
        let nodes = reported.nodes.as_ref().unwrap();
        assert_eq!((nodes.listed().as_str(), nodes.of), ("database-3, database-2", 3));
        assert_eq!(reported.figures::<DroppedMessages>().unwrap().dropped_messages, 7.0);
        assert_eq!(dropped([1.0, 0.0, 0.0]).unwrap().nodes.unwrap().listed(), "database");
    }

    #[test]
    fn of_one_node_nothing_is_said() {
        let trial = crate::rules::cases::changed_host(|h| h.work.set(&DROPPED_MESSAGES, Course::from_zero(Some(1.0))));
        let reported = found(&trial, Rule::DroppedMessages).unwrap();
        assert_eq!(reported.nodes, None);
    }
}
