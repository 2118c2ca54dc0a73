//! Where the hosts of a run come from.
//!
//! A provider starts an agent on each host that is asked for; requests go to the agent, what it says comes out of one
//! channel. [`local`]: processes of this machine, with emulated volumes. [`simulated`]: no machine; its agents answer the
//! same requests with the evidence of a stated truth. Whoever drives the agents need not know which they are.

mod agent;
pub mod local;
pub mod simulated;

use std::net::Ipv4Addr;
use std::sync::mpsc::Sender;

use evidence::HostId;

pub use agent::{Agent, AgentError, Incoming, ProcessAgent};

/// Where a host is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Names its machine: hosts with the same name share CPUs, memory and disks.
    pub machine: String,
    /// Where its database listens, for clients and for the other nodes.
    pub address: Ipv4Addr,
}

/// Where the hosts of a run come from.
pub trait Provider {
    /// Starts the agent of a host, or another one where the first was lost. What it says goes to `inbox`.
    fn start(&mut self, host: HostId, inbox: Sender<Incoming>) -> Result<Box<dyn Agent>, AgentError>;

    /// Where a host is.
    fn place(&self, host: HostId) -> Place;

    /// Whether time passes: a simulation's trials take none, so that its own seconds are what a budget of time counts.
    fn is_simulated(&self) -> bool;
}
