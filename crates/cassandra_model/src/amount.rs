//! Times, sizes and rates as `cassandra.yaml` has them: a whole number with its unit, `500ms`, `16MiB`, `24MiB/s`
//! (`DurationSpec`, `DataStorageSpec` and `DataRateSpec` of Cassandra 4.1 and later).

use crate::known::Kind;

const DURATIONS: [(&str, u128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];
const SIZES: [(&str, u128); 4] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
const RATES: [(&str, u128); 3] = [("B/s", 1), ("KiB/s", 1 << 10), ("MiB/s", 1 << 20)];

/// The units of a kind, the smallest first; none where it has no unit.
fn units(kind: Kind) -> &'static [(&'static str, u128)] {
    match kind {
        Kind::Duration(_) => &DURATIONS,
        Kind::Size(_) => &SIZES,
        Kind::Rate => &RATES,
        _ => &[],
    }
}

/// An amount in the smallest unit of its kind; `None`: it is none of that kind.
pub(crate) fn amount(kind: Kind, text: &str) -> Option<u128> {
    let at = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(at);
    let (_, factor) = units(kind).iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<u128>().ok()?.checked_mul(*factor)
}

/// What is wrong with a text as an amount of this kind; `None`: nothing.
pub(crate) fn problem(kind: Kind, text: &str) -> Option<String> {
    let least = match kind {
        Kind::Duration(unit) | Kind::Size(unit) => unit,
        _ => "",
    };
    let all = units(kind);
    let smallest = all.iter().find(|(name, _)| *name == least).map_or(1, |(_, factor)| *factor);
    let allowed = all.iter().filter(|(_, factor)| *factor >= smallest).map(|(name, _)| *name);
    // Cassandra takes no space between them.
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if amount(kind, text).is_some() && allowed.clone().any(|name| name == unit) {
        return None;
    }
    let allowed: Vec<&str> = allowed.collect();
    Some(format!("a whole number with its unit, one of {}", allowed.join(", ")))
}
