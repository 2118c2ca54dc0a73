//! What databases are fetched, configured and spoken to with, but for stories of whole servers (`products`, `one_node`,
//! `three_nodes`, `cql_driver`). One program: seven would be linked one by one.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(clippy::print_stdout, reason = "a test run with --nocapture prints what was predicted")]

mod distribution;
mod frames;
mod full_query_log;
mod java;
mod memcached;
mod settings;
#[path = "../shared/mod.rs"]
mod shared;
#[cfg(feature = "tls")]
mod tls;
