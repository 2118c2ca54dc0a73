//! Days as text, `2017-11-12`: their order is the order of the letters, so that the catalog needs no calendar.

/// The last day that a date of the form `2017`, `2017-11` or `2017-11-12` can mean; `None` for any other text.
///
/// A month's last day is written as 31, which keeps the order and never appears in a result.
pub(crate) fn last(text: &str) -> Option<String> {
    padded(text, 12, 31)
}

/// The first day that a date of the form `2017`, `2017-11` or `2017-11-12` can mean.
pub(crate) fn first(text: &str) -> Option<String> {
    padded(text, 1, 1)
}

fn padded(text: &str, month: u32, day: u32) -> Option<String> {
    let mut parts = text.split('-');
    let year = digits(parts.next()?, 4)?;
    let month = parts.next().map_or(Some(month), |part| digits(part, 2))?;
    // A day that is written must exist; one that is left out only has to sort last.
    let (day, most) = match parts.next() {
        Some(part) => (digits(part, 2)?, days_in(year, month)),
        None => (day, 31),
    };
    let valid = parts.next().is_none() && (1..=12).contains(&month) && (1..=most).contains(&day);
    valid.then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// Days of a month, by the Gregorian calendar.
fn days_in(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn digits(text: &str, count: usize) -> Option<u32> {
    let plain = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{first, last};

    #[test]
    fn years_and_months_are_padded() {
        for (text, from, to) in [
            ("2017", "2017-01-01", "2017-12-31"),
            ("2017-02", "2017-02-01", "2017-02-31"),
            ("2017-11-12", "2017-11-12", "2017-11-12"),
        ] {
            assert_eq!((first(text).as_deref(), last(text).as_deref()), (Some(from), Some(to)));
        }
        for bad in [
            "",
            "17",
            "2017-13",
            "2017-00-01",
            "2017-1-1",
            "2017-11-12-1",
            "today",
            "2017-11-32",
            "2026-02-30",
            "2025-02-29",
            "1900-02-29",
            "2017-04-31",
            "+017",
        ] {
            assert_eq!(last(bad), None, "{bad}");
        }
        assert!(last("2024-02-29").is_some() && last("2000-02-29").is_some());
    }
}
