//! Where the hosts of a run come from.
//!
//! A provider starts an agent on each host that is asked for; requests go to the agent, what it says comes out of one
//! channel. [`local`]: processes of this machine, with emulated volumes. [`simulated`]: no machine; its agents answer
//! the same requests with the evidence of a stated truth, which the crate `simulator` makes. [`hosts`]: machines of the
//! user's own, by SSH. [`watched`]: clients of this machine, and agents by SSH that watch a cluster of somebody else's.
//! Whoever drives the agents need not know which they are.

mod agent;
pub mod aws;
pub mod hosts;
pub mod local;
mod room;
pub mod simulated;
mod stderr;
pub mod watched;

use std::net::Ipv4Addr;
use std::sync::mpsc::Sender;

use evidence::HostId;
use wire::MachineUse;

pub(crate) use agent::LastWords;
pub use agent::{Agent, AgentError, Ending, Incoming, ProcessAgent};
pub use room::Held;

/// Where a host is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAddress {
    /// Names its machine: hosts with the same name share CPUs, memory and disks.
    pub machine: String,
    /// Where its database listens, for clients and for the other nodes.
    pub address: Ipv4Addr,
}

/// The EBS volumes that hold a database host's data, and where AWS is asked about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EbsVolumes {
    /// Profile of the AWS configuration files; `None`: the default search for credentials.
    pub profile: Option<String>,
    /// Region.
    pub region: String,
    /// Their ids.
    pub ids: Vec<String>,
}

/// Where the hosts of a run come from.
pub trait Provider {
    /// Starts the agent of a host, or another one where the first was lost. What it says goes to `inbox`.
    fn start(&mut self, host: HostId, inbox: Sender<Incoming>) -> Result<Box<dyn Agent>, AgentError>;

    /// Has the machines made where they have to be made; `say` gets what it does. May be repeated: what is there stays.
    /// It ends early, with an error, once `is_called_off` says so.
    fn provide(&mut self, _say: &mut dyn FnMut(&str), _is_called_off: &dyn Fn() -> bool) -> Result<(), AgentError> {
        Ok(())
    }

    /// Takes away what [`Self::provide`] had made; may be repeated.
    fn release(&mut self, _say: &mut dyn FnMut(&str)) -> Result<(), AgentError> {
        Ok(())
    }

    /// Makes ready what agents of these hosts need, all hosts at the same time; [`Self::start`] follows for each.
    fn prepare(&mut self, _hosts: &[HostId]) -> Result<(), AgentError> {
        Ok(())
    }

    /// Where a host is.
    fn place(&self, host: HostId) -> HostAddress;

    /// What a database host's machine is used for; `None`: emulated volumes, all limits in force, the directories of
    /// this machine.
    fn machine_use(&self, _host: HostId) -> Option<MachineUse> {
        None
    }

    /// The volumes of a database host's data; `None`: nothing was bought for it.
    fn data_volumes(&self, _host: HostId) -> Option<EbsVolumes> {
        None
    }

    /// Whether a host that was lost may be there again in a moment, because only the way to it was cut.
    fn may_come_back(&self) -> bool {
        false
    }
}
