//! Numbers as people type them: `5000`, `5_000`, `9k`, `1.5M`.

/// A number above 0; `k`, `M` and `G` stand for thousands, millions and billions.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    let number = experiment::typed_number(text).filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("`{text}` is no number above 0; expected one such as 5000, 5_000 or 9k"))
}

/// A whole number above 0.
pub(super) fn count(text: &str) -> Result<u64, String> {
    let expected = || format!("`{text}` is no whole number above 0; expected one such as 100000, 10_000_000 or 10M");
    let number = positive(text).map_err(|_| expected())?;
    // 2.01 times a million is a whole number but for its last bit.
    let whole = number.round();
    let is_whole = (number - whole).abs() <= whole * (2.0 * f64::EPSILON);
    // 1e18 lies below the greatest u64, and far above anything that can be counted.
    if is_whole && whole <= 1e18 { Ok(whole as u64) } else { Err(expected()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_may_be_written_short() {
        for (text, expected) in
            [("5000", 5e3), ("5_000", 5e3), ("9k", 9e3), (" 1.5M ", 1.5e6), ("0.5", 0.5), ("2 G", 2e9)]
        {
            assert_eq!(positive(text), Ok(expected), "{text}");
        }
        for text in ["0", "-1", "NaN", "inf", "k", "", "9m", "nine"] {
            assert!(positive(text).is_err(), "{text}");
        }
        assert_eq!((count("10_000_000"), count("10M"), count("1.5k")), (Ok(10_000_000), Ok(10_000_000), Ok(1_500)));
        assert_eq!((count("2.01M"), count("1.005k")), (Ok(2_010_000), Ok(1_005)));
        for text in ["0", "0.3", "1.5", "1.0005k", "2e18"] {
            assert!(count(text).is_err(), "{text}");
        }
    }
}
