//! What a PostgreSQL can be set to. It comes from that version's own `pg_settings` (`scripts/postgresql-settings.sh`),
//! not from us; a story with a real server holds it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::amount::Unit;

/// What is known, by version: one line each, the default first. The database's lock lists are of the same versions.
const VERSIONS: &[(&str, &str)] = &[("18.3", include_str!("known/postgresql-18.3.txt"))];

/// The settings of one version by their names.
pub(crate) type Known = BTreeMap<&'static str, Kind>;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// A whole number of so many units, within these bounds.
    Integer(Range),
    /// A number.
    Number(Range),
    /// On or off.
    Boolean,
    /// Text.
    Text,
    /// One of these words, with commas between them.
    OneOf(&'static str),
}

/// What a number counts, and the least and the most of it, in that unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub unit: Option<Unit>,
    pub least: f64,
    pub most: f64,
}

/// What a version can be set to; `None`: not known.
pub(crate) fn known(version: &str) -> Option<&'static Known> {
    static READ: OnceLock<BTreeMap<&'static str, Known>> = OnceLock::new();
    let all = READ.get_or_init(|| VERSIONS.iter().map(|(version, text)| (*version, read(text))).collect());
    all.get(version)
}

/// The versions that an experiment may name: the default first, then the others, newest first.
pub fn versions() -> impl Iterator<Item = &'static str> {
    VERSIONS.iter().map(|(version, _)| *version)
}

/// The lines of the settings of a version, as they are stored: what a server is compared with. None of a version that
/// is not known.
pub fn keys(version: &str) -> impl Iterator<Item = &'static str> + use<> {
    let text = VERSIONS.iter().find(|(known, _)| *known == version).map_or("", |(_, text)| *text);
    text.lines().filter(|line| !line.starts_with('#'))
}

/// A line for each setting; the tests hold that every line is understood.
fn read(text: &'static str) -> Known {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' ')).filter_map(|(name, kind)| Some((name, kind_of(kind)?))).collect()
}

fn kind_of(words: &'static str) -> Option<Kind> {
    let (kind, more) = words.split_once(' ').unwrap_or((words, ""));
    let range = || {
        let [unit, least, most] = *more.split(' ').collect::<Vec<_>>().as_slice() else { return None };
        let unit = match unit {
            "-" => None,
            name => Some(Unit::of_settings(name)?),
        };
        Some(Range { unit, least: least.parse().ok()?, most: most.parse().ok()? })
    };
    Some(match kind {
        "integer" => Kind::Integer(range()?),
        "number" => Kind::Number(range()?),
        "boolean" => Kind::Boolean,
        "text" => Kind::Text,
        "one-of" if !more.is_empty() => Kind::OneOf(more),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_every_version_is_understood() {
        for version in versions() {
            let known = known(version).expect("a version of the list");
            assert_eq!(known.len(), keys(version).count(), "{version}");
            let of = |name: &str| known[name];
            assert_eq!(of("full_page_writes"), Kind::Boolean);
            assert_eq!(of("io_method"), Kind::OneOf("sync,worker"));
            let Kind::Integer(timeout) = of("checkpoint_timeout") else { panic!("a number of seconds") };
            assert_eq!((timeout.least, timeout.most), (30.0, 86_400.0));
            let Kind::Number(target) = of("checkpoint_completion_target") else { panic!("a number") };
            assert_eq!(target.unit, None);
        }
        assert!(super::known("17.1").is_none() && keys("17.1").next().is_none());
    }
}
