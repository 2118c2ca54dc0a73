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
    let day = parts.next().map_or(Some(day), |part| digits(part, 2))?;
    let valid = parts.next().is_none() && (1..=12).contains(&month) && (1..=31).contains(&day);
    valid.then(|| format!("{year:04}-{month:02}-{day:02}"))
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
            "+017",
        ] {
            assert_eq!(last(bad), None, "{bad}");
        }
    }
}
