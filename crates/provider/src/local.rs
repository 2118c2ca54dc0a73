//! The local provider: every agent is a child process on this machine, started from the same binary.

use std::io::IsTerminal as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;

use evidence::HostId;

use crate::stderr::forward;
use crate::{Agent, AgentError, HostAddress, Incoming, LastWords, ProcessAgent, Provider};

/// Networks that are looked at for a run beside another.
const MOST_BESIDE: u8 = 16;

/// Starts agents here.
#[derive(Debug, Clone)]
pub struct Local {
    /// The program itself.
    binary: PathBuf,
    /// Address of the first host.
    first: Ipv4Addr,
}

impl Local {
    /// Agents are `binary agent --role ROLE`.
    pub fn new(binary: PathBuf) -> Self {
        Self { binary, first: Ipv4Addr::LOCALHOST }
    }

    /// The same at other addresses of this machine, for a run beside another: the first of 127.0.0.1, 127.0.1.1 and so
    /// on at which nobody listens on this port.
    #[must_use]
    pub fn beside(mut self, port: u16) -> Self {
        let is_free = |first: &Ipv4Addr| TcpListener::bind((*first, port)).is_ok();
        let mut all = (0..MOST_BESIDE).map(|number| Ipv4Addr::new(127, 0, number, 1));
        if let Some(free) = all.find(is_free) {
            self.first = free;
        }
        self
    }
}

impl Provider for Local {
    /// Its log lines go to our stderr; on a terminal by us, who know what stays in its place there.
    fn start(&mut self, host: HostId, inbox: Sender<Incoming>) -> Result<Box<dyn Agent>, AgentError> {
        let mut command = Command::new(&self.binary);
        command.args(["agent", "--role", host.role.name()]);
        if std::io::stderr().is_terminal() {
            command.stderr(Stdio::piped());
        }
        let mut agent = ProcessAgent::start(host, command, inbox)?;
        if let Some(stderr) = agent.take_stderr() {
            forward(String::new(), stderr, LastWords::default());
        }
        Ok(Box::new(agent))
    }

    /// All on this machine, each at an address of its own: 127.0.0.1 and the next ones, unless others are there.
    fn place(&self, host: HostId) -> HostAddress {
        HostAddress {
            machine: "this machine".to_owned(),
            address: Ipv4Addr::from_bits(self.first.to_bits() + host.index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_beside_another_has_addresses_of_its_own() {
        let local = Local::new(PathBuf::from("iopslab"));
        let address = |local: &Local| local.place(HostId::database(1)).address;
        assert_eq!(address(&local), Ipv4Addr::new(127, 0, 0, 2));
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        assert_eq!(address(&local.clone().beside(port)), Ipv4Addr::new(127, 0, 1, 2));
        drop(taken);
        assert_eq!(address(&local.beside(port)), Ipv4Addr::new(127, 0, 0, 2));
    }
}
