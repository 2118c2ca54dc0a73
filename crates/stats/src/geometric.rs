//! Ratios: compared and averaged on the logarithmic scale, where "twice" and "half" are equally far from "the same".

/// Geometric mean of positive numbers: exp(mean(ln x)). The mean of choice for ratios, because it gives the same answer
/// whichever side is the denominator (Fleming & Wallace, "How not to lie with statistics", CACM 29(3), 1986).
///
/// `None` for an empty sample or when any value is not a positive finite number.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|v| !(v.is_finite() && *v > 0.0)) {
        return None;
    }
    Some((values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp())
}

/// `value / base`; `None` when that is not a finite number (the base is 0, or either is missing).
pub fn ratio(value: f64, base: f64) -> Option<f64> {
    let ratio = value / base;
    ratio.is_finite().then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_and_half_cancel() {
        assert!((geometric_mean(&[2.0, 0.5]).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        assert_eq!(ratio(3.0, 2.0), Some(1.5));
        assert_eq!(ratio(1.0, 0.0), None);
        assert_eq!(ratio(0.0, 0.0), None);
    }
}
