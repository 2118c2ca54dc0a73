//! From a configuration to agents: a provider starts agents somewhere and hands out their two pipes.
//!
//! [`local`] starts both agents as child processes of this machine; [`simulated`] needs no agents: it makes the
//! evidence of a trial from a stated truth.

mod agent;
pub mod local;
pub mod simulated;

pub use agent::{Agent, AgentError, Incoming, Role};
