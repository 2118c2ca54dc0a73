//! A finding's numbers as words use them.

use analysis::Finding;

/// A finding's numbers, put into words.
pub(super) struct Of<'a>(pub(super) &'a Finding);

impl Of<'_> {
    /// A number; where a document of an older version lacks it, nothing better than 0 can be said.
    pub(super) fn number(&self, name: &str) -> f64 {
        self.0.number(name).unwrap_or(0.0)
    }

    /// A count with thousands separators: `1,234,567`.
    pub(super) fn count(&self, name: &str) -> String {
        count(self.number(name))
    }

    /// A share: `12.3 %`.
    pub(super) fn percent(&self, name: &str) -> String {
        percent(self.number(name))
    }

    /// A word; where a document of an older version lacks it, a question mark.
    pub(super) fn fact(&self, name: &str) -> &str {
        self.0.fact(name).unwrap_or("?")
    }
}

/// A share: `12.3 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.*} %", if share.abs() < 0.1 { 2 } else { 1 }, share * 100.0)
}

/// A change: `+12.3 %`.
pub(super) fn signed(share: f64) -> String {
    format!("{}{}", if share > 0.0 { "+" } else { "" }, percent(share))
}

/// A count with thousands separators.
pub(super) fn count(value: f64) -> String {
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

/// `read_modify_write` becomes `read-modify-write`.
pub(super) fn operation(name: &str) -> String {
    name.replace('_', "-")
}
