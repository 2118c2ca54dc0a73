//! Exponentially decreasing popularity, newest first.

/// YCSB's `ExponentialGenerator`: how far behind the newest record the chosen one lies.
#[derive(Debug, Clone, Copy)]
pub struct Exponential {
    gamma: f64,
}

impl Exponential {
    /// `percentile` percent of the operations go to the newest `fraction` of the `records`.
    pub fn new(records: u64, percentile: f64, fraction: f64) -> Self {
        Self { gamma: -(1.0 - percentile / 100.0).ln() / (records as f64 * fraction) }
    }

    /// The share of the draws that lie less than this far behind the newest record; those that reach past the oldest
    /// are among the draws, too.
    pub fn share_below(&self, distance: u64) -> f64 {
        -(-self.gamma * distance as f64).exp_m1()
    }

    /// The distance from the newest record for a uniform `u` in `[0, 1)`; unbounded, so the caller draws again when it
    /// reaches past the oldest record.
    #[inline]
    pub fn distance(&self, u: f64) -> u64 {
        (-u.ln() / self.gamma) as u64
    }
}
