//! From a configuration to agents: a provider starts agents somewhere and hands out their two pipes.
//!
//! Today there is one provider, [`local`], which starts both agents as child processes of this machine.

mod agent;
pub mod local;

pub use agent::{Agent, AgentError, Incoming, Role};
