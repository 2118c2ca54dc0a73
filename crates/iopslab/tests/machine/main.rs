//! Stories with a real Cassandra on real volumes. One program, because two of them go on beside each other, each in a
//! lane of its own. They begin in the order of their names: `apart` is the longest; `whole`, which needs both lanes, is
//! the last, after short ones, since one lane is empty while it waits for the other. What waits for Terraform more than
//! it computes takes no lane: its databases (`bought`, `bought_snapshot`) have networks of their own.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod agent;
mod aws;
mod aws_faults;
mod bought;
mod bought_snapshot;
mod cloud;
mod cql;
mod network;
mod sites;
mod states;
#[path = "../support/mod.rs"]
mod support;
mod weighted;

/// The stories; `scripts/test.sh` knows them by this name, to run them beside all other tests.
#[path = "."]
mod real {
    mod apart;
    mod backlog;
    mod beside;
    mod cache;
    mod cache_host;
    mod cache_tier;
    mod cluster;
    mod compaction;
    mod counts;
    mod disks;
    mod existing;
    mod existing_postgresql;
    mod existing_watched;
    mod members;
    mod own_statements;
    mod postgresql;
    mod probe;
    mod profile;
    mod replay;
    mod run;
    mod scales;
    #[cfg(feature = "tls")]
    mod secured;
    mod settings;
    pub mod small_node;
    mod store;
    mod whole;
}
