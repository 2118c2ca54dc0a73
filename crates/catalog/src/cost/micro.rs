//! Rounding of sums.

/// Rounds to a millionth of a dollar: below what anybody is charged, above the noise of binary fractions.
pub(crate) fn micro(usd: f64) -> f64 {
    // Not -0, which would be printed.
    (usd * 1e6).round() / 1e6 + 0.0
}
