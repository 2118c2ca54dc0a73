//! Numbers as people type them: `5000`, `5_000`, `9k`, `1.5M`; and which number was meant by a text that is none.

/// The number that a text is; `k`, `M` and `G` stand for thousands, millions and billions.
pub fn typed_number(text: &str) -> Option<f64> {
    let plain = text.trim().replace('_', "");
    let (digits, unit) = match plain.char_indices().last() {
        Some((at, 'k' | 'K')) => (&plain[..at], 1e3),
        Some((at, 'M')) => (&plain[..at], 1e6),
        Some((at, 'G')) => (&plain[..at], 1e9),
        _ => (plain.as_str(), 1.0),
    };
    digits.trim_end().parse::<f64>().ok().map(|number| number * unit)
}

/// A whole number with this between its groups of three digits: `4_000_000`.
pub fn grouped_by(number: u64, separator: char) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(separator);
        }
        text.push(digit);
    }
    text
}

/// What keys that end so are counted in.
struct Counted {
    ending: &'static str,
    unit: &'static str,
    /// Units that are so many of it. None is decimal where the key's is binary: who types `4TB` may mean either.
    units: &'static [(&'static str, f64)],
}

const COUNTED: &[Counted] = &[
    Counted { ending: "mib_per_s", unit: "MiB/s", units: &[("MiB/s", 1.0), ("GiB/s", 1024.0)] },
    Counted { ending: "mb_per_s", unit: "MB/s", units: &[("MB/s", 1.0), ("GB/s", 1e3)] },
    Counted { ending: "usd_per_month", unit: "USD", units: &[("USD", 1.0)] },
    Counted { ending: "_usd", unit: "USD", units: &[("USD", 1.0)] },
    Counted { ending: "_gib", unit: "GiB", units: &[("GiB", 1.0), ("TiB", 1024.0)] },
    Counted { ending: "_mib", unit: "MiB", units: &[("MiB", 1.0), ("GiB", 1024.0)] },
    Counted { ending: "_kib", unit: "KiB", units: &[("KiB", 1.0), ("MiB", 1024.0)] },
    Counted { ending: "_minutes", unit: "minutes", units: &[("min", 1.0), ("m", 1.0), ("h", 60.0)] },
    Counted { ending: "_min", unit: "minutes", units: &[("min", 1.0), ("m", 1.0), ("h", 60.0)] },
    Counted { ending: "_percent", unit: "per cent", units: &[("%", 1.0)] },
    Counted { ending: "_ms", unit: "milliseconds", units: &[("ms", 1.0), ("s", 1e3)] },
    Counted { ending: "_us", unit: "microseconds", units: &[("us", 1.0), ("ms", 1e3)] },
    Counted {
        ending: "_s",
        unit: "seconds",
        units: &[("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("m", 60.0), ("h", 3_600.0)],
    },
];

fn counted(key: &str) -> Option<&'static Counted> {
    COUNTED.iter().find(|counted| key.ends_with(counted.ending))
}

/// What a number of this key counts; `None`: its name says it.
pub(crate) fn unit(key: &str) -> Option<&'static str> {
    counted(key).map(|counted| counted.unit)
}

/// The number of this key that was probably meant by a text: by `80%` 0.8, by `10ms` of `p99_ms` 10, by `1:16` of
/// `scale` 16.
pub(crate) fn meant(key: &str, text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = |text: &str| text.trim().replace('_', "").parse::<f64>().ok();
    let number = match (counted(key), text.strip_suffix('%')) {
        (Some(Counted { units, .. }), _) => plain(text).or_else(|| {
            units.iter().find_map(|(unit, times)| plain(text.strip_suffix(*unit)?).map(|number| number * *times))
        }),
        (None, _) if key == "scale" => typed_number(text.strip_prefix("1:").unwrap_or(text)),
        (None, Some(per_cent)) => plain(per_cent).map(of_per_cent),
        (None, None) => typed_number(text),
    };
    // No key takes less than nothing.
    number.filter(|number| number.is_finite() && *number >= 0.0)
}

/// The share that so many per cent are: 0.011 by 1.1, not 0.011000000000000001.
pub(crate) fn of_per_cent(per_cent: f64) -> f64 {
    (per_cent * 1e10).round() / 1e12
}

/// As TOML has it, thousands apart where there are many: `1_000_000`.
pub(crate) fn in_toml(number: f64) -> String {
    let digits = number.to_string();
    if number.fract() != 0.0 || !(1e4..1e15).contains(&number) {
        return digits;
    }
    let first = digits.len() % 3;
    let mut groups: Vec<&str> = (first..digits.len()).step_by(3).map(|at| &digits[at..at + 3]).collect();
    if first > 0 {
        groups.insert(0, &digits[..first]);
    }
    groups.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_may_be_written_short() {
        for (text, expected) in [("9k", 9e3), ("5_000", 5e3), (" 1.5M ", 1.5e6), ("2 G", 2e9), ("-0.5", -0.5)] {
            assert_eq!(typed_number(text), Some(expected), "{text}");
        }
        for text in ["k", "", "9m", "nine", "9kk"] {
            assert_eq!(typed_number(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_is_the_number_of_its_key_where_only_one_can_be_meant() {
        for (key, text, expected) in [
            ("records", "1M", Some(1e6)),
            ("iops", "3k", Some(3e3)),
            ("scale", "1:16", Some(16.0)),
            ("read", "80 %", Some(0.8)),
            ("read", "1.1%", Some(0.011)),
            ("uplift_percent", "10 %", Some(10.0)),
            ("lifetime_min", "2h", Some(120.0)),
            ("duration_s", "30s", Some(30.0)),
            ("duration_s", "5min", Some(300.0)),
            ("duration_s", "1_000", Some(1e3)),
            ("p99_ms", "10ms", Some(10.0)),
            ("p99_ms", "2 s", Some(2e3)),
            ("mib_per_s", "250 MiB/s", Some(250.0)),
            ("mb_per_s", "2000 MB/s", Some(2e3)),
            ("size_gib", "2TiB", Some(2048.0)),
            // Millions, or megabytes; 3,725 GiB or 4,096.
            ("mib_per_s", "250M", None),
            ("size_gib", "4TB", None),
            ("iops", "many", None),
            ("iops", "inf", None),
            ("iops", "1Ki", None),
            // None of these is taken.
            ("iops", "-3k", None),
            ("duration_s", "50%", None),
            ("scale", "50%", None),
            ("speed", "1:16", None),
        ] {
            assert_eq!(meant(key, text), expected, "{key} = {text}");
        }
    }

    #[test]
    fn many_digits_are_grouped() {
        for (number, text) in
            [(16.0, "16"), (9e3, "9000"), (12e3, "12_000"), (1e6, "1_000_000"), (123456.0, "123_456"), (0.8, "0.8")]
        {
            assert_eq!(in_toml(number), text);
        }
    }
}
