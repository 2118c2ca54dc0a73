//! From a configuration to agents: a provider starts agents somewhere and hands out their two pipes.
//!
//! [`local`] starts both agents as child processes of this machine; [`simulated`] needs no agents: it makes the evidence of a trial from
//! a stated truth. `aws` (a feature) reads what AWS offers and charges.

mod agent;
#[cfg(feature = "aws")]
pub mod aws;
pub mod local;
pub mod simulated;

pub use agent::{Agent, AgentError, Incoming, Role};
