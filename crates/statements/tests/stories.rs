//! What a user's own statements are read as, what they ask for, and what is refused. One program: seven would be linked
//! one by one.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod agreement;
mod requests;
mod rows;
mod script;
mod sql;
mod stated;
mod stress;
mod support;
