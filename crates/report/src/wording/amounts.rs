//! What a finding comes to, and its numbers as its words use them.

use analysis::OperationKind;

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

/// Whole, with thousands separators: `1,234,567`.
pub(super) fn whole(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::from(if value < 0.0 && digits != "0" { "-" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time that people read: `45 s`, `33 minutes`, `5.2 hours`.
pub(super) fn duration(seconds: f64) -> String {
    if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else if seconds < 7200.0 {
        format!("{:.0} minutes", seconds / 60.0)
    } else {
        format!("{:.1} hours", seconds / 3600.0)
    }
}

/// `read-modify-write`.
pub(super) fn operation(kind: OperationKind) -> String {
    kind.name().replace('_', "-")
}
