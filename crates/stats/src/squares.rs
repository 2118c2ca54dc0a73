//! Sums of squares: which variances may be pooled.

use crate::student;
use crate::variance::Variance;

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
            Self { sum: deviation.powi(2) * degrees, degrees }
        })
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, degrees: self.degrees + other.degrees }
    }

    /// Without a part of it.
    pub fn less(self, part: Self) -> Self {
        Self { sum: (self.sum - part.sum).max(0.0), degrees: (self.degrees - part.degrees).max(0.0) }
    }

    /// The variance; `None` without a degree of freedom.
    pub fn variance(self) -> Option<Variance> {
        (self.degrees > 1e-9).then(|| Variance { value: self.sum / self.degrees, degrees: self.degrees })
    }

    /// The chance that it is this much larger than the rest where the two are alike: the upper tail of the F
    /// distribution. 1 where one of them is not known.
    pub fn is_more_by_chance(self, rest: Self) -> f64 {
        let (Some(own), Some(rest)) = (self.variance(), rest.variance()) else { return 1.0 };
        if own.value <= rest.value {
            return 1.0;
        }
        match rest.value > 0.0 {
            true => student::f_upper(own.value / rest.value, own.degrees, rest.degrees).unwrap_or(1.0),
            false => 0.0,
        }
    }
}
