//! How long burst credits last.
//!
//! Source: EC2 User Guide, "General Purpose SSD (gp2) volumes": burst duration = credits / (burst IOPS - baseline
//! IOPS); reads and writes both spend credits.

use experiment::{Burst, ByteBurst};

/// A bucket in its own unit, I/O operations or bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    /// A second, for ever.
    pub baseline: f64,
    /// A second while credits last.
    pub burst: f64,
    /// Credits of a full one.
    pub full: f64,
    /// Credits at the start.
    pub start: f64,
}

impl From<Burst> for Bucket {
    fn from(of: Burst) -> Self {
        Self { baseline: of.baseline_iops, burst: of.burst_iops, full: of.credits_max, start: of.credits_start }
    }
}

impl From<ByteBurst> for Bucket {
    fn from(of: ByteBurst) -> Self {
        Self {
            baseline: of.baseline_bytes_per_s,
            burst: of.burst_bytes_per_s,
            full: of.credits_max,
            start: of.credits_start,
        }
    }
}

/// A bucket under a demand, in the units of the bucket (on a 1:N model rates and credits are divided by N, times are
/// not).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BurstDuration {
    /// A second while credits last: the demand, at most the burst rate.
    pub burst: f64,
    /// A second afterwards, for good.
    pub baseline: f64,
    /// Seconds until a full bucket is empty; `None`: never, the demand is not above the baseline.
    pub from_full_s: Option<f64>,
    /// Seconds until the credits with which the bucket starts are spent; `None`: never.
    pub from_start_s: Option<f64>,
}

/// How long `bucket` carries a demand (reads and writes per second together).
pub fn lasts(bucket: &Bucket, demand: f64) -> BurstDuration {
    let burst = demand.min(bucket.burst);
    let spent_per_s = burst - bucket.baseline;
    let until_empty = |credits: f64| (spent_per_s > 0.0).then(|| credits / spent_per_s);
    BurstDuration {
        burst,
        baseline: bucket.baseline,
        from_full_s: until_empty(bucket.full),
        from_start_s: until_empty(bucket.start),
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
            assert_eq!(lasts(&gp2(baseline).into(), demand).from_full_s, seconds, "{baseline} {demand}");
        }
        assert_eq!(lasts(&gp2(300.0).into(), 3000.0).from_start_s, Some(0.0), "it starts empty");
        // A 1:16 model empties after the same time.
        assert_eq!(lasts(&gp2(300.0).scaled(16.0).into(), 3000.0 / 16.0).from_full_s, Some(2000.0));
    }
}
