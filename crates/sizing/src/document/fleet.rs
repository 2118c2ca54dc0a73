//! What a fleet has and costs.

use serde::{Deserialize, Serialize};

/// A fleet: one or several kinds of machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fleet {
    /// Its kinds, in the command line's form.
    pub configurations: Vec<String>,
    /// What it has.
    pub total: FleetTotals,
    /// USD an hour; `None` where a price is not known.
    pub usd_per_hour: Option<f64>,
    /// USD a month.
    pub usd_per_month: Option<f64>,
    /// Why there is no price.
    pub price_missing: Option<String>,
    /// The days on which the prices of its instances were seen.
    pub price_days: Vec<String>,
    /// What its price leaves out.
    pub notes: Vec<String>,
}

/// What machines have together. A figure is `None` where that of any machine is not known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FleetTotals {
    /// Machines.
    pub nodes: u32,
    /// Virtual CPUs.
    pub vcpus: u64,
    /// Memory, GiB.
    pub memory_gib: f64,
    /// Disks for data, TB (10^12 bytes).
    pub disk_tb: f64,
    /// Payload on disk that fits after replication and with the share of the disks that data may fill, TB.
    pub usable_tb: f64,
    /// Requests of 16 KiB per second that last; local disks: reads of 4 KiB.
    pub iops: Option<f64>,
    /// MB (10^6 bytes) per second that last.
    pub mb_per_s: Option<f64>,
    /// Network bandwidth that lasts, Gbit/s.
    pub network_gbps: Option<f64>,
}
