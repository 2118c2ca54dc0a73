//! What a lost node costs.

use experiment::Consistency;
use serde::{Deserialize, Serialize};

use super::configuration::ConfigurationFacts;

/// Replicas that a cluster is taken to keep where only its contact points are known: as many as production keeps
/// (Cassandra documentation, "Production recommendations").
const USUAL_REPLICAS: u32 = 3;

/// What is kept when a node is lost. Configurations in which it differs answer different questions: no speed makes up
/// for data that is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durability {
    /// Whether one node is all there is.
    pub is_one_node: bool,
    /// Nodes that hold each record.
    pub replicas: u32,
    /// Replicas that a read waits for, the fewest of reads and scans.
    pub read_waits_for: u32,
    /// Replicas that an acknowledged write waited for, the fewest of updates and inserts; 0: none (a hint is enough).
    pub write_waits_for: u32,
    /// The most that any request waits for: if all, requests fail while a node is away.
    pub most_waited_for: u32,
}

impl Durability {
    /// Of a configuration.
    pub fn of(facts: &ConfigurationFacts) -> Self {
        let is_stated = facts.exists_at.is_empty() || facts.placement.is_cluster();
        let is_one_node = is_stated && !facts.placement.is_cluster();
        let replicas = if is_stated { facts.placement.replication_factor } else { USUAL_REPLICAS };
        let waits = |level: Consistency| match level {
            Consistency::Any => 0,
            level => level.replicas(replicas).min(replicas),
        };
        let fewest = |one: Consistency, other: Consistency| waits(one).min(waits(other));
        // One replica is waited for, whatever is asked.
        let levels = facts.consistency.filter(|_| !is_one_node);
        Self {
            is_one_node,
            replicas,
            read_waits_for: levels.map_or(1, |l| fewest(l.read, l.scan)),
            write_waits_for: levels.map_or(1, |l| fewest(l.update, l.insert)),
            most_waited_for: levels
                .map_or(1, |l| [l.read, l.scan, l.update, l.insert].map(waits).into_iter().max().unwrap_or(1)),
        }
    }

    /// Whether requests are answered, and nothing is lost, when a node is.
    pub fn survives_a_node(&self) -> bool {
        self.replicas > self.most_waited_for.max(1)
    }

    /// Whether two keep alike. With one replica it is all one how many nodes there are: each is lost as often as any,
    /// and with it its part of the data.
    pub fn keeps_like(&self, other: &Self) -> bool {
        self.keeps_what(other) && other.keeps_what(self)
    }

    /// Whether it keeps at least what another does, in every respect.
    pub fn keeps_what(&self, other: &Self) -> bool {
        self.replicas >= other.replicas
            && self.read_waits_for >= other.read_waits_for
            && self.write_waits_for >= other.write_waits_for
            && (self.survives_a_node() || !other.survives_a_node())
    }
}

/// The best of the configurations that keep alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestOfAlike {
    /// What they keep.
    pub durability: Durability,
    /// Which of them would be run, or between which the choice would be.
    pub configurations: Vec<String>,
}
