//! What is read of other tools' results, and what is refused. One program, linked once.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod beside;
mod printed;
mod refused;
