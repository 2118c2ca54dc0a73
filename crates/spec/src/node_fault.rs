//! Faults that an experiment plans for the nodes of its trials.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is done to a node, in every trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NodeFault {
    /// What.
    pub kind: NodeFaultKind,
    /// To which node, counted from 1.
    pub node: u32,
    /// When, seconds from the start of measurement.
    pub at_s: f64,
    /// How long until the node is brought back, seconds; `None`: it stays away for the rest of the trial.
    pub for_s: Option<f64>,
}

impl NodeFault {
    /// When it is brought back, seconds from the start of measurement.
    pub fn until_s(&self) -> Option<f64> {
        self.for_s.map(|for_s| self.at_s + for_s)
    }

    /// For people: `node-kill of node 2 at 20 s for 30 s`.
    pub fn label(&self) -> String {
        let NodeFault { kind, node, at_s, .. } = self;
        let until = match self.for_s {
            Some(for_s) => format!("for {for_s} s"),
            None => "to the end".to_owned(),
        };
        format!("{} of node {node} at {at_s} s {until}", kind.name())
    }
}

/// Ways to take a node away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NodeFaultKind {
    /// The database is drained and stopped in order, as for maintenance.
    NodeStop,
    /// The database's process is killed (SIGKILL), as by the kernel when memory runs out.
    NodeKill,
    /// The database's process is stopped where it is and goes on later (SIGSTOP, SIGCONT), as in a long pause.
    NodePause,
    /// The network drops what the node sends and receives, to and from clients and other nodes.
    HostCut,
}

impl NodeFaultKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::NodeStop, Self::NodeKill, Self::NodePause, Self::HostCut];

    /// The name in files and messages, the same as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NodeStop => "node-stop",
            Self::NodeKill => "node-kill",
            Self::NodePause => "node-pause",
            Self::HostCut => "host-cut",
        }
    }
}
