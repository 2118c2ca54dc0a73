//! gp2-like burst credits: a bucket of I/O operations, and the limit that follows from it.
//!
//! The rule (EBS user guide, "General Purpose SSD volumes", gp2: "I/O credits and burst performance"): a volume earns
//! credits at its baseline rate (3 IOPS per GiB, at least 100), spends one per operation, holds at most 5.4 million
//! (enough for 3,000 IOPS during 30 minutes at no refill), and may run at 3,000 IOPS while it holds any. So a full
//! bucket of a 100 GiB volume lasts 5,400,000 / (3,000 - 300) = 2,000 s at full burst. Dividing rates and credits by
//! the same scale keeps that time.

use experiment::Burst;

/// Seconds of full burst that must be saved up before an empty bucket allows bursting again. The real service hands
/// out credits one by one; without this pause the limit would flap at every tick while a saturated volume earns and
/// spends the same trickle. The operations allowed are the same.
const RESUME_SECONDS: f64 = 1.0;

/// The bucket's arithmetic, without a clock: fed with operations and elapsed time.
#[derive(Debug, Clone, PartialEq)]
pub struct BurstBucket {
    burst: Burst,
    credits: f64,
    bursting: bool,
}

impl BurstBucket {
    /// A bucket with its starting credits.
    pub fn new(burst: Burst) -> Self {
        let credits = burst.credits_start.clamp(0.0, burst.credits_max.max(0.0));
        Self {
            burst,
            credits,
            bursting: credits > 0.0,
        }
    }

    /// Accounts for `operations` done during the last `seconds`; returns the IOPS limit to apply from now on.
    pub fn advance(&mut self, operations: u64, seconds: f64) -> f64 {
        let Burst {
            baseline_iops,
            burst_iops,
            credits_max,
            ..
        } = self.burst;
        self.credits = (self.credits + baseline_iops * seconds - operations as f64).clamp(0.0, credits_max.max(0.0));
        let resume_at = ((burst_iops - baseline_iops) * RESUME_SECONDS).min(credits_max);
        self.bursting = if self.bursting {
            self.credits > 0.0
        } else {
            self.credits > 0.0 && self.credits >= resume_at
        };
        self.limit_iops()
    }

    /// The IOPS limit that applies now.
    pub fn limit_iops(&self) -> f64 {
        // A volume whose baseline exceeds the burst rate (gp2 above 1,000 GiB) is never slowed down by its bucket.
        if self.bursting {
            self.burst.burst_iops.max(self.burst.baseline_iops)
        } else {
            self.burst.baseline_iops
        }
    }

    /// Operations left in the bucket.
    pub fn credits(&self) -> f64 {
        self.credits
    }
}

#[cfg(test)]
mod tests;
