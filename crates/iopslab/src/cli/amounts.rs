//! Shares and sizes as they are typed.

/// `0.8`, `80%`, `80 %`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let (digits, is_percent) = match text.trim().strip_suffix('%') {
        Some(digits) => (digits.trim_end(), true),
        None => (text.trim(), false),
    };
    let value: f64 = digits
        .parse()
        .ok()
        .filter(|value: &f64| value.is_finite() && *value >= 0.0)
        .ok_or_else(|| format!("`{text}` is no share; expected 0.8 or 80%"))?;
    match (is_percent, value > 1.0) {
        (true, _) => Ok(value / 100.0),
        (false, false) => Ok(value),
        (false, true) => Err(format!("`{text}`: {text} % or {}? write {text}% or {}", value / 100.0, value / 100.0)),
    }
}

/// The same of a whole: at most all of it.
pub(super) fn part(text: &str) -> Result<f64, String> {
    let part = share(text)?;
    if part <= 1.0 { Ok(part) } else { Err(format!("`{text}` is more than all of it; expected 0.8 or 80%")) }
}

/// Bytes of a size with a unit: `500GB`, `2TB`, `1.5TiB`.
pub(super) fn data_size(text: &str) -> Result<f64, String> {
    const UNITS: [(&str, f64); 8] = [
        ("mib", 1_048_576.0),
        ("gib", 1_073_741_824.0),
        ("tib", 1_099_511_627_776.0),
        ("pib", 1_125_899_906_842_624.0),
        ("mb", 1e6),
        ("gb", 1e9),
        ("tb", 1e12),
        ("pb", 1e15),
    ];
    let lower = text.trim().to_ascii_lowercase();
    UNITS
        .iter()
        .find_map(|(unit, bytes)| Some((lower.strip_suffix(unit)?.trim_end().parse::<f64>().ok()?, bytes)))
        .filter(|(number, _)| number.is_finite() && *number > 0.0)
        .map(|(number, bytes)| number * bytes)
        .ok_or_else(|| format!("`{text}` is no size; expected a number with a unit: 500GB, 2TB or 1.5TiB"))
}
