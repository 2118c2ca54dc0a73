//! The local provider: both agents are child processes on this machine, started from the same binary.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::Sender;

use crate::{Agent, AgentError, Incoming, Role};

/// Starts `binary agent --role ROLE` here; its log lines go to our stderr.
pub fn start(role: Role, binary: &Path, inbox: Sender<Incoming>) -> Result<Agent, AgentError> {
    let mut command = Command::new(binary);
    command.args(["agent", "--role", role.name()]);
    Agent::start(role, command, inbox)
}
