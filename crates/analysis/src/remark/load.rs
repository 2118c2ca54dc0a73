//! Was the load what it was meant to be?

use serde::{Deserialize, Serialize};

/// The load generator was out of CPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientSaturated {
    /// CPU time of the busiest client, seconds.
    pub client_cpu_s: f64,
    /// Seconds of measurement.
    pub measured_s: f64,
    /// Its load threads.
    pub threads: u32,
    /// Share of their CPU in use.
    pub cpu_share: f64,
    /// Allowed share.
    pub threshold: f64,
}

/// Open loop: requests were sent late.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SendLag {
    /// 99th percentile of the lateness, microseconds.
    pub send_lag_p99_us: u64,
    /// The largest, microseconds.
    pub send_lag_max_us: u64,
    /// 99th percentile of response time, of the slowest operation, microseconds.
    pub response_p99_us: f64,
    /// Allowed lateness, microseconds.
    pub threshold_us: f64,
}

/// Requests went through the CQL driver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThroughDriver {
    /// What the client says of how it sent.
    pub notes: Vec<String>,
    /// The client's CPU time for each operation, microseconds.
    pub cpu_us_per_operation: f64,
}

/// An offered rate, and what was achieved of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferedRate {
    /// Operations per second that were offered.
    pub offered_ops_per_s: f64,
    /// Operations per second that were achieved.
    pub achieved_ops_per_s: f64,
    /// Achieved of offered.
    pub share: f64,
    /// Allowed difference, as a share.
    pub allowed_off: f64,
    /// Requests of the window more than were offered; fewer where negative.
    pub requests_off: f64,
}

/// Open loop: less than the offered rate was achieved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferedNotAchieved(pub OfferedRate);

/// Open loop: more than the offered rate was achieved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BacklogDrained(pub OfferedRate);

/// Little's law does not hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LittlesLaw {
    /// Requests in flight that were asked for.
    pub concurrency: u32,
    /// Throughput x mean response time.
    pub mean_in_flight: f64,
    /// Difference as a share of what was asked for.
    pub off_by: f64,
    /// Allowed share.
    pub threshold: f64,
}
