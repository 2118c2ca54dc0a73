//! Stories with a real Cassandra on real volumes. One program, because two of them go on beside each other, each in a
//! lane of its own. They begin in the order of their names: the longest is `apart`, and `whole` needs both lanes.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod apart;
mod cql;
mod existing;
mod network;
mod run;
#[cfg(feature = "tls")]
mod secured;
#[path = "../support/mod.rs"]
mod support;
mod watched;
mod whole;
