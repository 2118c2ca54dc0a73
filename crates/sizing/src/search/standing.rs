//! Whether a cluster meets the target: the one rule for all that is said of it, by how far off an estimate may be.

use super::cluster::Found;
use crate::document::{Doubt, P99Unchecked};

/// What an estimate says of a target, its error considered: alike on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The target is met by more than the error.
    Meets,
    /// The estimate lies within its error of the target: a measurement would decide.
    WithinError,
    /// The target is missed by more than the error.
    Misses,
}

impl Standing {
    /// Of a use, the most that may be used, and the error: the half-width of what the capacity may really be, as a
    /// share of it. So the target is met at a capacity that is less by the error where `used < allowed x (1 - error)`,
    /// and missed at one that is more by it where `used > allowed x (1 + error)`.
    pub fn of(used: f64, allowed: f64, error: f64) -> Self {
        if used < allowed * (1.0 - error) {
            Self::Meets
        } else if used > allowed * (1.0 + error) {
            Self::Misses
        } else {
            Self::WithinError
        }
    }
}

impl Found<'_> {
    /// Whether it misses the target for sure; what disks hold is arithmetic, and has no error.
    pub fn misses_the_target(&self) -> bool {
        let is_missed = |error| Standing::of(self.used, self.refused.0, error) == Standing::Misses;
        self.disk_fill > self.disk_fill_allowed || self.half_width.is_some_and(is_missed)
    }

    /// The error, per cent, where how full it would be lies within it.
    pub fn within_error_percent(&self) -> Option<f64> {
        let is_within = |error: &f64| Standing::of(self.used, self.allowed, *error) == Standing::WithinError;
        self.half_width.filter(is_within).map(|error| error * 100.0)
    }

    /// Why it is not known whether it meets the target, though the error of its estimate is one that evidence carries.
    /// `None`: it meets the target by more than the error.
    pub fn open(&self, asked_ms: Option<f64>) -> Option<Doubt> {
        let Some(error) = self.half_width else { return Some(Doubt::ErrorNotKnown) };
        // Of a p99 that nothing checks no bound is known, and that it is not checked is a doubt of its own.
        let allowed = if self.p99_by.is_some() { self.allowed } else { self.refused.0 };
        let (limit, used) = (self.busiest, self.used);
        match (Standing::of(used, allowed, error), asked_ms) {
            (Standing::Meets, _) => None,
            // More than what a p99 was kept at is not yet a p99 that is missed.
            (Standing::Misses, Some(asked_ms)) if self.refused.0 > allowed => {
                Some(Doubt::P99 { asked_ms, why: P99Unchecked::AboveKept { used, kept: allowed } })
            }
            _ => Some(Doubt::WithinError { limit, used, allowed, error_percent: error * 100.0 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Standing::{self, Meets, Misses, WithinError};

    /// At most 70 % with an error of 5 %: what would be 66.5 % to 73.5 % may be either.
    #[test]
    fn an_estimate_near_the_target_is_open_on_both_sides() {
        for (used, expected) in [
            (0.0, Meets),
            (0.6649, Meets),
            (0.6651, WithinError),
            (0.6999, WithinError),
            (0.7, WithinError),
            (0.7001, WithinError),
            (0.7349, WithinError),
            (0.7351, Misses),
            (7.0, Misses),
        ] {
            assert_eq!(Standing::of(used, 0.7, 0.05), expected, "{used}");
        }
        // An error of a whole capacity says nothing of what is met.
        assert_eq!(Standing::of(0.001, 0.7, 1.0), WithinError);
        // The ends of the error belong to it, on both sides.
        assert_eq!([0.5, 1.5].map(|used| Standing::of(used, 1.0, 0.5)), [WithinError; 2]);
    }
}
