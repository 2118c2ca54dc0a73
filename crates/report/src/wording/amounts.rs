//! What a finding comes to, and its numbers as its words use them.

/// What was seen, with its numbers and units; what to do.
pub(super) type Words = (String, &'static str);

/// A share: `12.3 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.*} %", if share.abs() < 0.1 { 2 } else { 1 }, share * 100.0)
}

/// A change: `+12.3 %`.
pub(super) fn signed(share: f64) -> String {
    format!("{}{}", if share > 0.0 { "+" } else { "" }, percent(share))
}
