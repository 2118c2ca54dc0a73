//! Are imported trials that would be compared of one length?
//!
//! A store that fills, compacts or spends credits gives another mean over ten minutes than over one. So a mean is set
//! against another where both are of about as many seconds, or of about as many operations (what takes half as long for
//! as many was twice as fast).

use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;

/// They are not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowsUnlike {
    /// The configuration that it is not compared with.
    pub other: String,
    /// Median seconds of its own trials.
    pub measured_s: f64,
    /// Of the other's.
    pub other_measured_s: f64,
    /// Median operations of its own trials.
    pub operations: f64,
    /// Of the other's.
    pub other_operations: f64,
    /// Allowed difference, as a share of the larger.
    pub threshold: f64,
}

/// Seconds, or operations, that differ by less are as many.
const LIKE: f64 = 0.1;

/// How long the imported trials of a cell are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Length {
    seconds: f64,
    operations: f64,
}

impl Length {
    /// Of a cell's valid trials; `None` where none of them is imported.
    pub(crate) fn of(trials: &[&TrialMeasurement]) -> Option<Self> {
        let imported = || trials.iter().filter(|trial| trial.imported().is_some());
        Some(Self {
            seconds: stats::median(imported().map(|trial| trial.window_s()))?,
            operations: stats::median(imported().map(|trial| trial.completed() as f64))?,
        })
    }

    /// Whether the means of two may be set against each other. Trials of our own are as long as they were planned.
    pub(crate) fn are_like(one: Option<Self>, other: Option<Self>) -> bool {
        let (Some(one), Some(other)) = (one, other) else { return true };
        let like = |a: f64, b: f64| (a - b).abs() <= LIKE * a.max(b);
        like(one.seconds, other.seconds) || like(one.operations, other.operations)
    }

    /// What is reported of one that is not like the other.
    pub(crate) fn unlike(self, other: Self, name: &str) -> WindowsUnlike {
        WindowsUnlike {
            other: name.to_owned(),
            measured_s: self.seconds,
            other_measured_s: other.seconds,
            operations: self.operations,
            other_operations: other.operations,
            threshold: LIKE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_seconds_or_as_many_operations_are_alike() {
        let length = |seconds, operations| Some(Length { seconds, operations });
        for (other, is_like) in [
            (length(60.0, 2e6), true),
            (length(65.0, 9e6), true),
            (length(30.0, 1e6), true),
            (length(600.0, 9e6), false),
            (None, true),
        ] {
            assert_eq!(Length::are_like(length(60.0, 1e6), other), is_like, "{other:?}");
        }
    }
}
