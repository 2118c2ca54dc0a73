//! A variance and how well it is known.

/// A variance with its degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Variance {
    /// The variance.
    pub value: f64,
    /// Its degrees of freedom; not a whole number where several variances stand behind it.
    pub degrees: f64,
}

impl Variance {
    /// A part or a multiple of it.
    pub fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, ..self }
    }

    /// The variance of a sum of two independent quantities, whose own variances were estimated apart: the degrees of
    /// freedom are those of Satterthwaite (Biometrics Bulletin 2, 1946) and Welch (Biometrika 34, 1947).
    pub fn plus(self, other: Self) -> Self {
        let value = self.value + other.value;
        let part = |v: Self| crate::ratio(v.value.powi(2), v.degrees).unwrap_or(0.0);
        let degrees = crate::ratio(value.powi(2), part(self) + part(other));
        Self { value, degrees: degrees.filter(|d| d.is_finite()).unwrap_or(self.degrees + other.degrees) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_known_at_least_as_well_as_its_worse_part_and_at_most_as_well_as_both() {
        let of = |value, degrees| Variance { value, degrees };
        assert_eq!(of(1.0, 4.0).plus(of(1.0, 4.0)), of(2.0, 8.0));
        // Next to a noisy one a quiet one adds nothing.
        let sum = of(100.0, 2.0).plus(of(0.01, 12.0));
        assert!((sum.degrees - 2.0).abs() < 1e-2, "{sum:?}");
        assert_eq!(of(0.0, 2.0).plus(of(0.0, 3.0)), of(0.0, 5.0));
    }
}
