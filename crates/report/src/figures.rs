//! Figures for people: units, thousands separators, three significant digits.
//!
//! Three digits are more than repetitions agree on; the exact numbers are in `analysis.json`.

/// Bytes of one KiB.
pub const KIB: f64 = 1024.0;
/// Bytes of one MiB.
pub const MIB: f64 = 1024.0 * KIB;
/// Bytes of one GiB.
pub const GIB: f64 = 1024.0 * MIB;
/// Shown where there is no figure: missing is not zero.
pub const MISSING: &str = "-";

/// A number with three significant digits and thousands separators: `12,300`, `4.57`, `0.0123`.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    let unit = 10_f64.powi(magnitude - 2);
    let rounded = (value / unit).round() * unit;
    // 9.996 rounds to 10.0: the number of decimals follows the rounded value.
    let magnitude = rounded.abs().log10().floor() as i32;
    let decimals = usize::try_from((2 - magnitude).clamp(0, 9)).unwrap_or(0);
    separated(&format!("{rounded:.decimals$}"))
}

/// A number that somebody wrote down (a limit, a scale): whole ones exactly, others as [`number`].
pub fn given(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { separated(&format!("{value:.0}")) } else { number(value) }
}

/// A whole number with thousands separators: `1,234,567`.
pub fn whole(value: f64) -> String {
    // Not "-0".
    given(value.round() + 0.0)
}

/// A count, exact: `1,234,567`.
pub fn count(value: u64) -> String {
    separated(&value.to_string())
}

/// `1 trial`, `5 trials`.
pub fn several(n: u64, one: &str) -> String {
    several_of(n, one, &format!("{one}s"))
}

/// The same for a word with a plural of its own: `1 copy`, `3 copies`.
pub fn several_of(n: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { more })
}

fn separated(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    let mut out = String::from(sign);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// Words that are said in one case alone; nothing in the other.
pub fn when(is: bool, words: impl FnOnce() -> String) -> String {
    if is { words() } else { String::new() }
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(items: impl IntoIterator<Item = impl ToString>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    match items.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// Microseconds as milliseconds, without the unit (it stands in the column's head).
pub fn ms(microseconds: f64) -> String {
    number(microseconds / 1e3)
}

/// A share as `12.3 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}

/// A share as `12 %`, where more digits would say nothing.
pub fn whole_percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A margin of error as `12 %`, below one as `0.4 %`, and `0.1 %` where it is less: that there is none is never known.
pub fn margin(share: f64) -> String {
    match share * 100.0 {
        percent if percent < 0.95 => format!("{:.1} %", percent.max(0.1)),
        _ => whole_percent(share),
    }
}

/// A share that somebody wrote down: `5 %`, `2.50 %`.
pub fn given_percent(share: f64) -> String {
    // 0.07 x 100 is 7.000000000000001.
    format!("{} %", given((share * 1e8).round() / 1e6))
}

/// Bytes in binary units: `1.50 GiB`.
pub fn bytes(value: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut scaled = value;
    let mut unit = 0;
    while scaled.abs() >= 1024.0 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{} {}", number(scaled), UNITS[unit])
}

/// Bytes per second in the unit of volumes: `160 MiB/s`.
pub fn mib_per_s(bytes_per_s: f64) -> String {
    format!("{} MiB/s", given(bytes_per_s / MIB))
}

/// Seconds as `1 h 05 min`, `4 min 10 s`, `9 s`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes} min {seconds:02} s"),
        _ => format!("{hours} h {minutes:02} min"),
    }
}

/// Seconds of which more is not known: `45 s`, `33 minutes`, `5.2 hours`.
pub fn about(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} minutes", s / 60.0),
        s => format!("{:.1} hours", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_significant_digits_with_separators() {
        for (value, text) in [
            (0.0, "0"),
            (1_234_567.0, "1,230,000"),
            (12_345.6, "12,300"),
            (999.6, "1,000"),
            (123.4, "123"),
            (45.67, "45.7"),
            (9.996, "10.0"),
            (1.0, "1.00"),
            (0.012_34, "0.0123"),
            (-1234.0, "-1,230"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(number(value), text, "{value}");
        }
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!((given(18_750.0), given(187.5)), ("18,750".to_owned(), "188".to_owned()));
    }

    #[test]
    fn units() {
        assert_eq!(bytes(1.5 * 1_073_741_824.0), "1.50 GiB");
        assert_eq!(bytes(300.0), "300 B");
        assert_eq!(duration(3900.0), "1 h 05 min");
        assert_eq!(duration(250.0), "4 min 10 s");
        assert_eq!(duration(8.7), "9 s");
        assert_eq!(percent(0.123), "12.3 %");
        let margins = [0.0, 0.0004, 0.0043, 0.0096, 0.012, 0.118].map(margin);
        assert_eq!(margins, ["0.1 %", "0.1 %", "0.4 %", "1 %", "1 %", "12 %"]);
        assert_eq!((given_percent(0.07), given_percent(0.025)), ("7 %".to_owned(), "2.50 %".to_owned()));
    }
}
