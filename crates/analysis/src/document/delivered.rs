//! How much of what a volume delivers a database used.

use serde::{Deserialize, Serialize};

/// Requests of the data volume beside what fio found it to deliver.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Delivered {
    /// Requests a second of the database, all nodes: reads, and writes where they share the volume's limits.
    pub used_iops: f64,
    /// Random reads of 4 KiB a second that fio measured, the slowest node's for each node.
    pub delivered_iops: f64,
    /// Whether writes are counted.
    pub with_writes: bool,
}

impl Delivered {
    /// Used / delivered.
    pub fn share(&self) -> f64 {
        self.used_iops / self.delivered_iops
    }
}
