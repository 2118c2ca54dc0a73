//! Sums of squares: which variances may be pooled.

use crate::student;

/// A pair spreads more than the rest: upper tail of the F distribution. Chosen by simulation (docs/method.md): strict
/// enough that pooling helps, loose enough that a noisy pair among quiet ones is not called different too often.
pub const SPREADS_MORE: f64 = 0.06;
/// A pair spreads less than the rest: lower tail. Small, because a small spread of three pairs is often luck.
const SPREADS_LESS: f64 = 0.003;

/// A sum of squares with its degrees of freedom.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Squares {
    /// Squares.
    pub sum: f64,
    /// Their degrees of freedom.
    pub degrees: f64,
}

impl Squares {
    /// Around the mean; nothing from fewer than two values.
    pub fn of(values: &[f64]) -> Self {
        student::mean_and_deviation(values).map_or(Self::default(), |(_, deviation)| {
            let degrees = values.len() as f64 - 1.0;
            Self {
                sum: deviation.powi(2) * degrees,
                degrees,
            }
        })
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            sum: self.sum + other.sum,
            degrees: self.degrees + other.degrees,
        }
    }

    /// Without a part of it.
    pub fn less(self, part: Self) -> Self {
        Self {
            sum: (self.sum - part.sum).max(0.0),
            degrees: self.degrees - part.degrees,
        }
    }

    /// The variance.
    pub fn mean(self) -> f64 {
        self.sum / self.degrees
    }

    /// Whether it may be pooled with the rest.
    pub fn is_like(self, rest: Self, more: f64) -> bool {
        is_alike(self.mean(), self.degrees, rest.sum, rest.degrees, more)
    }
}

/// Whether a variance may be pooled with the rest (sum of squares and degrees of freedom of the rest).
pub fn is_alike(own: f64, own_degrees: f64, rest_squares: f64, rest_degrees: f64, more: f64) -> bool {
    if rest_degrees < 1.0 {
        return false;
    }
    let f = own / (rest_squares / rest_degrees);
    if !f.is_finite() {
        return own == 0.0;
    }
    let upper = student::f_upper(f, own_degrees, rest_degrees).unwrap_or(0.0);
    upper >= more && 1.0 - upper >= SPREADS_LESS
}
