#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod clusters;
mod intervened;
pub mod made;
mod random;
mod stories;
