//! Messages between the controller and its agents: one JSON document per line on the agent's stdin and stdout.
//!
//! The controller sends one [`Request`] at a time to an agent and waits for its [`Event::Reply`]; meanwhile the agent
//! may send other events (progress, seconds, samples). [`Request::Cancel`] may be sent at any time: the request under
//! way ends early with an error reply. [`Request::Alive`] may be sent at any time too and is not answered. An agent
//! whose stdin closes undoes everything it did and exits.

mod check;
mod event;
mod framing;
mod histogram;
mod log;
mod machine_use;
mod needs;
mod piece;
mod reply;
mod request;
mod results;
mod task;
mod transfer;
mod watch;

pub use event::{AT_WORK_S, Event, Progress, Second};
pub use framing::{Message, WireError, line, read, read_sized, write};
pub use histogram::{WireInterval, from_wire, to_wire};
pub use log::{LOG_MOST_BYTES, LOG_PIECE_BYTES, LogFile, LogPiece};
pub use machine_use::MachineUse;
pub use needs::{Demand, Needs, Problem, UnderTest};
pub use piece::{TrialPiece, in_pieces};
pub use reply::{Reply, RequestError, Result, Software};
pub use request::{ClientRequest, DatabaseRequest, PROTOCOL, Request};
pub use results::{
    CacheReads, LoadedDataset, Moments, StartedTrial, StoppedTrial, ToRest, TrialResult, Usage, WarmRound,
};
pub use task::{CacheEndpoint, Endpoint, ExistingDataset, OwnRows, TrialTask};
pub use transfer::{SignedUrl, Transfer};
pub use watch::{GivenByMachine, Observed, WatchTask, WatchedFacts};
