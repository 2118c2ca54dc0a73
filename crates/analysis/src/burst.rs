//! How long burst credits last.
//!
//! Source: EC2 User Guide, "General Purpose SSD (gp2) volumes": burst duration = credits / (burst IOPS - baseline
//! IOPS); reads and writes both spend credits.

use experiment::{Burst, ByteBurst};

/// A bucket in its own unit, I/O operations or bytes. Of a 1:N model rates and credits are divided by N, times are not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    /// A second, for ever.
    pub baseline: f64,
    /// A second while credits last.
    pub burst: f64,
    /// Credits of a full one.
    pub full: f64,
}

impl From<Burst> for Bucket {
    fn from(of: Burst) -> Self {
        Self { baseline: of.baseline_iops, burst: of.burst_iops, full: of.credits_max }
    }
}

impl From<ByteBurst> for Bucket {
    fn from(of: ByteBurst) -> Self {
        Self { baseline: of.baseline_bytes_per_s, burst: of.burst_bytes_per_s, full: of.credits_max }
    }
}

impl Bucket {
    /// Seconds until a full one is empty under a demand, reads and writes together; `None`: never, the demand is not
    /// above the baseline.
    pub fn full_lasts_s(&self, demand: f64) -> Option<f64> {
        let spent_per_s = demand.min(self.burst) - self.baseline;
        (spent_per_s > 0.0).then(|| self.full / spent_per_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// EC2 User Guide's table of gp2: 100 GiB has a baseline of 300 IOPS and bursts at 3,000 for 2,000 s; 250 GiB 750
    /// and 2,400 s.
    #[test]
    fn a_full_gp2_bucket_lasts_as_long_as_the_guide_says() {
        let gp2 = |baseline_iops| Burst { baseline_iops, burst_iops: 3000.0, credits_max: 5.4e6, credits_start: 0.0 };
        for (baseline, demand, seconds) in [
            (300.0, 3000.0, Some(2000.0)),
            (750.0, 3000.0, Some(2400.0)),
            // No more than the burst rate is given, whatever is asked for.
            (300.0, 9000.0, Some(2000.0)),
            (300.0, 600.0, Some(18_000.0)),
            (300.0, 300.0, None),
            (300.0, 100.0, None),
        ] {
            assert_eq!(Bucket::from(gp2(baseline)).full_lasts_s(demand), seconds, "{baseline} {demand}");
        }
        // A 1:16 model empties after the same time.
        assert_eq!(Bucket::from(gp2(300.0).scaled(16.0)).full_lasts_s(3000.0 / 16.0), Some(2000.0));
    }
}
