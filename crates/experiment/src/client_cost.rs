//! What the client costs by itself.

use serde::{Deserialize, Serialize};

/// The rate at which [`ClientCost::sparse_us`] is measured, operations/s.
pub const SPARSE_PER_S: f64 = 5_000.0;
/// Most wake-ups of a load thread that an open loop costs, per second: requests that are due within 50 us share one
/// (`engine`).
const WAKE_UPS_PER_S: f64 = 20_000.0;

/// CPU that the client of a machine needs for reads, measured with a server that answers at once without a database.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClientCost {
    /// Load threads of a client on this machine.
    pub threads: u32,
    /// Microseconds for each operation of a closed loop, where requests share wake-ups: the least.
    pub closed_us: f64,
    /// Microseconds for each operation of an open loop of [`SPARSE_PER_S`], where each has its own.
    pub sparse_us: f64,
}

impl ClientCost {
    /// Operations per second that a client cannot exceed.
    pub fn ceiling_per_s(&self) -> f64 {
        f64::from(self.threads) * 1e6 / self.closed_us
    }

    /// CPUs that an open loop of this rate takes at the most.
    pub fn cpus_at(&self, operations_per_s: f64) -> f64 {
        let own_wake_up_us = (self.sparse_us - self.closed_us).max(0.0);
        (self.closed_us * operations_per_s + own_wake_up_us * operations_per_s.min(WAKE_UPS_PER_S)) / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wake_ups_cost_until_requests_share_them() {
        let cost = ClientCost { threads: 2, closed_us: 4.0, sparse_us: 40.0 };
        assert_eq!(cost.ceiling_per_s(), 500_000.0);
        assert!((cost.cpus_at(SPARSE_PER_S) - 0.2).abs() < 1e-9);
        assert!((cost.cpus_at(20_000.0) - 0.8).abs() < 1e-9);
        assert!((cost.cpus_at(100_000.0) - (0.4 + 0.72)).abs() < 1e-9);
    }
}
