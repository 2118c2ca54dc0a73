//! The local provider: every agent is a child process on this machine, started from the same binary.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::Sender;

use evidence::HostId;

use crate::{Agent, AgentError, Incoming, Place, ProcessAgent, Provider};

/// Starts agents here.
#[derive(Debug, Clone)]
pub struct Local {
    /// The program itself.
    binary: PathBuf,
}

impl Local {
    /// Agents are `binary agent --role ROLE`.
    pub fn new(binary: PathBuf) -> Self {
        Self { binary }
    }
}

impl Provider for Local {
    /// Its log lines go to our stderr.
    fn start(&mut self, host: HostId, inbox: Sender<Incoming>) -> Result<Box<dyn Agent>, AgentError> {
        let mut command = Command::new(&self.binary);
        command.args(["agent", "--role", host.role.name()]);
        Ok(Box::new(ProcessAgent::start(host, command, inbox)?))
    }

    /// All on this machine, each at an address of its own: 127.0.0.1 and the next ones.
    fn place(&self, host: HostId) -> Place {
        Place {
            machine: "this machine".to_owned(),
            address: Ipv4Addr::from_bits(Ipv4Addr::LOCALHOST.to_bits() + host.index),
        }
    }

    fn is_simulated(&self) -> bool {
        false
    }
}
