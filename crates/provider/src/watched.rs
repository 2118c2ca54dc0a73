//! An existing cluster whose nodes are watched from here: clients are processes of this machine, agents on the nodes'
//! machines are those of [`Hosts`]. Where clients have machines of their own [`Hosts`] is the provider of both.

use std::sync::mpsc::Sender;

use evidence::{HostId, Role};

use crate::hosts::Hosts;
use crate::local::Local;
use crate::{Agent, AgentError, HostAddress, Incoming, Provider};

/// Starts clients here and the agents that watch on the nodes' machines.
#[derive(Debug)]
pub struct Watched {
    clients: Local,
    nodes: Hosts,
}

impl Watched {
    /// `nodes` are the machines of [`Hosts::of_existing`].
    pub fn new(clients: Local, nodes: Hosts) -> Self {
        Self { clients, nodes }
    }
}

impl Provider for Watched {
    fn prepare(&mut self, hosts: &[HostId]) -> Result<(), AgentError> {
        let of_nodes: Vec<HostId> = hosts.iter().copied().filter(|host| host.role == Role::Database).collect();
        self.nodes.prepare(&of_nodes)
    }

    fn start(&mut self, host: HostId, inbox: Sender<Incoming>) -> Result<Box<dyn Agent>, AgentError> {
        match host.role {
            Role::Database | Role::Cache => self.nodes.start(host, inbox),
            Role::Client => self.clients.start(host, inbox),
        }
    }

    fn place(&self, host: HostId) -> HostAddress {
        match host.role {
            Role::Database | Role::Cache => self.nodes.place(host),
            Role::Client => self.clients.place(host),
        }
    }

    /// The way to a node may be cut for a while, as with any machine that is reached by SSH.
    fn may_come_back(&self) -> bool {
        true
    }
}
