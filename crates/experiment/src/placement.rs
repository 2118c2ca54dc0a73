//! Where the replicas of a cluster are.

use serde::{Deserialize, Serialize};

/// The shape of a cluster: what decides which node holds which data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Placement {
    /// Nodes.
    pub nodes: u32,
    /// Racks (availability zones); node i (from 0) stands in rack i modulo `racks`, so that neighbours on the ring are
    /// in different ones.
    pub racks: u32,
    /// Nodes that hold each record.
    pub replication_factor: u32,
}

impl Default for Placement {
    fn default() -> Self {
        Self::ONE_NODE
    }
}

impl Placement {
    /// One node that holds everything.
    pub const ONE_NODE: Self = Self { nodes: 1, racks: 1, replication_factor: 1 };

    /// Whether there are several nodes.
    pub fn is_cluster(self) -> bool {
        self.nodes > 1
    }

    /// Share of the records that each node holds: nodes own equal parts of the ring.
    pub fn share_per_node(self) -> f64 {
        f64::from(self.replication_factor) / f64::from(self.nodes)
    }

    /// For people: `3 nodes, 3 racks, 3 replicas`.
    pub fn label(self) -> String {
        let counted = |n: u32, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
        [
            counted(self.nodes, "node", "nodes"),
            counted(self.racks, "rack", "racks"),
            counted(self.replication_factor, "replica", "replicas"),
        ]
        .join(", ")
    }
}

/// Number of each configuration's first host where every one has machines of its own for so many nodes, or those of an
/// earlier one, which is named by its number.
pub(crate) fn first_hosts(configurations: impl Iterator<Item = (u32, Option<usize>)>) -> Vec<u32> {
    let mut firsts: Vec<u32> = Vec::new();
    let mut next = 0;
    for (nodes, shared) in configurations {
        let first = match shared.and_then(|earlier| firsts.get(earlier)) {
            Some(same) => *same,
            None => {
                let own = next;
                next += nodes;
                own
            }
        };
        firsts.push(first);
    }
    firsts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_have_hosts_of_their_own_or_those_of_an_earlier_one() {
        let configurations = [(3, None), (1, None), (3, Some(0)), (1, None)];
        assert_eq!(first_hosts(configurations.into_iter()), [0, 3, 0, 4]);
        // Some have no caches.
        assert_eq!(first_hosts([(0, None), (2, None), (0, None), (1, None)].into_iter()), [0, 0, 2, 2]);
    }
}
