//! What a rule saw, before it is a finding: the rule's own figures, so that its file needs no list of all rules.

use evidence::HostId;
use serde::{Deserialize, Serialize};

/// The figures of a rule, and where they were seen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen<F> {
    pub figures: F,
    /// `None` where the database has one node, or nodes have nothing to do with it.
    pub nodes: Option<SeenOn>,
}

impl<F> From<F> for Seen<F> {
    fn from(figures: F) -> Self {
        Self { figures, nodes: None }
    }
}

/// The nodes that a finding was seen on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenOn {
    /// Which, the worst one first: figures are those of this one.
    pub names: Vec<HostId>,
    /// Of so many.
    pub of: u64,
}

impl SeenOn {
    /// These of `all` nodes.
    pub(crate) fn some(names: Vec<HostId>, all: usize) -> Self {
        Self { names, of: all as u64 }
    }

    /// Between commas: `database-3, database`.
    pub fn listed(&self) -> String {
        let names = self.names.iter().map(HostId::to_string);
        names.collect::<Vec<_>>().join(", ")
    }
}
