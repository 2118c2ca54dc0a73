//! Whether what a PostgreSQL shows of a setting is what was asked for: `15min` is 900.

use crate::amount::amount;
use crate::known::{Kind, known};

/// Values by which PostgreSQL decides by itself, and shows what it has decided.
const AUTOMATIC: &[(&str, f64)] = &[
    ("commit_timestamp_buffers", 0.0),
    ("io_max_concurrency", -1.0),
    ("subtransaction_buffers", 0.0),
    ("transaction_buffers", 0.0),
    ("wal_buffers", -1.0),
];

/// Whether a PostgreSQL of this version whose `pg_settings` has `setting` for `name` does as asked.
pub fn is_value(version: &str, name: &str, asked: &str, setting: &str) -> bool {
    let kind = known(version).and_then(|known| known.get(name).copied());
    match kind {
        // Whole units: what is asked for in finer ones is rounded.
        Some(Kind::Integer(range)) => {
            let asked = amount(range.unit, asked);
            let is_automatic = asked.is_some_and(|asked| AUTOMATIC.contains(&(name, asked)));
            let both = asked.zip(setting.parse::<f64>().ok());
            both.is_some_and(|(asked, setting)| is_automatic || (asked - setting).abs() <= 0.5)
        }
        Some(Kind::Number(range)) => {
            let asked = amount(range.unit, asked);
            let both = asked.zip(setting.parse::<f64>().ok());
            both.is_some_and(|(asked, setting)| (asked - setting).abs() <= 1e-6 * asked.abs())
        }
        Some(Kind::Boolean | Kind::OneOf(_)) => match (name, asked) {
            // Of two names of one value it shows the first.
            ("wal_compression", "on") => setting == "pglz",
            _ => asked.eq_ignore_ascii_case(setting),
        },
        Some(Kind::Text) | None => asked == setting,
    }
}

/// A setting with the unit that `pg_settings` has for it, for people: `900 s`, `8192 x 8kB`.
pub fn shown(setting: &str, unit: Option<&str>) -> String {
    match unit {
        None | Some("") => setting.to_owned(),
        Some(unit) if unit.starts_with(|c: char| c.is_ascii_digit()) => format!("{setting} x {unit}"),
        Some(unit) => format!("{setting} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_the_same_in_another_unit_and_no_other_is() {
        let is = |name, asked, setting| is_value("18.3", name, asked, setting);
        assert!(is("checkpoint_timeout", "15min", "900"));
        assert!(!is("checkpoint_timeout", "15min", "300"));
        assert!(is("effective_cache_size", "64MB", "8192"));
        assert!(is("max_wal_size", "1024MB", "1024") && !is("max_wal_size", "1GB", "512"));
        assert!(is("checkpoint_completion_target", "0.5", "0.5"));
        assert!(is("full_page_writes", "off", "off") && !is("full_page_writes", "off", "on"));
        assert!(is("io_method", "worker", "worker") && !is("io_method", "worker", "sync"));
        assert!(!is("checkpoint_timeout", "soon", "900"));
        assert!(is("wal_compression", "on", "pglz") && is("wal_compression", "off", "off"));
        assert!(!is("wal_compression", "on", "off") && !is("wal_compression", "off", "pglz"));
        assert!(is("wal_buffers", "-1", "2048") && !is("wal_buffers", "16MB", "1024"));
        assert!(is("transaction_buffers", "0", "64") && !is("work_mem", "0", "64"));
        assert!(AUTOMATIC.iter().all(|(name, _)| known("18.3").is_some_and(|known| known.contains_key(name))));
        assert_eq!((shown("900", Some("s")), shown("on", None)), ("900 s".to_owned(), "on".to_owned()));
        assert_eq!(shown("8192", Some("8kB")), "8192 x 8kB");
    }
}
