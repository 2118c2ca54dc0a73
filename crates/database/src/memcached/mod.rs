//! memcached in front of a database: how a client uses it, and what its nodes report.
//!
//! | module | idea |
//! |---|---|
//! | `nodes` | which node a key belongs to; connections to each, time-outs, lost nodes |
//! | `protocol` | a connection to one node: what is sent and answered |
//! | `record` | a record as one item |
//! | `written` | which writes are acknowledged, so that a copy without one of them is stale |
//! | `driver` | the driver that asks the caches, then the database's driver |
//! | `stats` | what nodes report once a second |
//! | `process` | a node: started, awaited, ended |
//!
//! memcached's text protocol is spoken here, not by a crate. The client of it in `memcache` (0.20) blocks, a thread for
//! each request in flight, and the one of the meta protocol is an experiment by its own words; `async-memcached` (0.6)
//! has a test's HTTP client, and with it OpenSSL, among its dependencies; `memcache-async` (0.10) waits for no answer
//! to a write. `memcache` is the reference: `conformance` holds this client to it, by both protocols, on a real node.

#[cfg(test)]
mod conformance;
mod driver;
mod nodes;
mod process;
mod protocol;
mod record;
mod stats;
mod written;

pub use driver::{Cached, CachedDriver, CachesAt};
pub use process::{CacheError, NodeOfCache, PROGRAM, Process, can_listen};
pub use stats::StatsReader;

/// An address that no other test of this machine has, of another run of all tests neither.
#[cfg(test)]
fn own_address(network: u8, host: u8) -> std::net::Ipv4Addr {
    std::net::Ipv4Addr::new(127, 1 + (std::process::id() % 250) as u8, network, host)
}
