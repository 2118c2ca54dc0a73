//! Requests of a script's statements, for load threads.

mod bind;
mod draw;
mod names;
mod plan;
mod request;
mod shared;
mod unused;

pub use draw::{Misfit, Requests};
pub use request::Request;
pub use shared::Shared;
