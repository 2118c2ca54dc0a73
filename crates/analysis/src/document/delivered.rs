//! How much of what its volumes deliver a database used.

use serde::{Deserialize, Serialize};

use super::limit::Unit;

/// What a database asked of its data volumes beside what fio found them to deliver: requests, or bytes where those run
/// out first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Delivered {
    /// What is compared: requests a second (`iops`) or `bytes_per_s`.
    pub unit: Unit,
    /// Of the database a second, all nodes: reads, and writes where they share the volume's limits.
    pub used: f64,
    /// Of fio a second, that of the slowest node for each node: random reads of 4 KiB, or bytes written in a row in
    /// requests of 64 KiB.
    pub delivered: f64,
    /// Whether writes are counted.
    pub with_writes: bool,
    /// Mean size of the database's requests that are counted, bytes.
    pub request_bytes: f64,
    /// Size of fio's requests, bytes.
    pub probe_request_bytes: f64,
}

impl Delivered {
    /// Used / delivered.
    pub fn share(&self) -> f64 {
        self.used / self.delivered
    }
}
