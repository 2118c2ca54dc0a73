//! A bucket in virtual time: no ticks, so that nothing leaves it in steps. Every ceiling of a volume is one (requests,
//! bytes, credits); at which rate each refills is decided in `gate`.

/// Hands out `rate` units a second; what was not asked for is saved, up to `depth` units.
///
/// A request begins as soon as the bucket owes nothing, and may leave it owing: a large request is not split, the next
/// one waits for it. In virtual time this is one number, the moment at which all that was handed out is earned (the
/// generic cell rate algorithm, ITU-T I.371).
#[derive(Debug, Clone, PartialEq)]
pub struct Bucket {
    rate: f64,
    /// Seconds in which an empty bucket becomes full.
    depth_s: f64,
    /// When what was handed out so far is earned.
    earned_at: f64,
}

impl Bucket {
    /// A bucket that holds `level` units at the moment `now`.
    pub fn new(rate: f64, depth: f64, level: f64, now: f64) -> Self {
        let depth_s = depth / rate;
        Self { rate, depth_s, earned_at: now + depth_s - level.clamp(0.0, depth) / rate }
    }

    /// When a request that comes at `now` may begin.
    pub fn begins_at(&self, now: f64) -> f64 {
        now.max(self.earned_at - self.depth_s)
    }

    /// A request of so many units begins at `begin`, which is not before [`Self::begins_at`].
    pub fn take(&mut self, begin: f64, units: f64) {
        self.earned_at = self.earned_at.max(begin) + units / self.rate;
    }

    /// Units that it holds at `now`; negative: units that it still owes.
    pub fn level(&self, now: f64) -> f64 {
        (self.depth_s - (self.earned_at - now).max(0.0)) * self.rate
    }
}
