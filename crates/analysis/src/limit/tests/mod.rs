#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod intervened;
mod made;
mod random;
mod stories;
