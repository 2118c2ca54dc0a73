//! Whether settings are ones that a PostgreSQL takes and iopslab leaves to an experiment.

use std::collections::BTreeMap;

use product::{At, Problem, Section, Setting, nearest};
use toml::{Table, Value};

use crate::amount::{Unit, amount};
use crate::kept_key::kept_key;
use crate::known::{Kind, Known, Range, known};

/// The section of settings of `postgresql.conf`.
pub const CONF: &str = "postgresql";

/// What is wrong, and what to do.
type Wrong = (String, String);

/// Checks what is stated, as [`product::CheckSettings`] says.
pub(crate) fn check(version: Option<&str>, stated: &Table) -> (BTreeMap<String, Section>, Vec<Problem>) {
    let (mut checked, mut problems) = (BTreeMap::new(), Vec::new());
    let given = stated.get(CONF).and_then(Value::as_table);
    // A version of which nothing is known is refused where it is stated.
    if let (Some(given), Some(known)) = (given, version.and_then(known)) {
        let mut add = |at: At, (what, help): Wrong| problems.push(Problem { section: CONF, at, what, help });
        for (name, value) in given {
            if let Some(wrong) = name_problem(name, known) {
                add(At::Key(name.clone()), wrong);
                continue;
            }
            match value_of(name, value, known) {
                Ok(text) => drop(checked.insert(name.clone(), Setting::Value(text))),
                Err(wrong) => add(At::Value { key: name.clone(), word: String::new() }, wrong),
            }
        }
        clashes(given, &mut problems);
    }
    ([(CONF.to_owned(), Section::Keys(checked))].into(), problems)
}

/// Why a setting that nobody has checked is not written into the `postgresql.conf` of this version: it may come from
/// somebody else, and a name or a value of several lines would be several settings.
pub fn refusal(version: &str, name: &str, value: &str) -> Option<String> {
    let Some(known) = known(version) else { return Some(format!("PostgreSQL {version} is not known")) };
    if let Some((what, help)) = name_problem(name, known) {
        return Some(format!("{what} ({help})"));
    }
    value.contains(|c: char| c.is_control()).then(|| format!("{name} cannot be {value:?} (text on one line)"))
}

fn name_problem(name: &str, known: &Known) -> Option<Wrong> {
    if !known.contains_key(name) {
        let help = nearest(name, known.keys().copied()).map_or_else(
            || "settings are those of this version's postgresql.conf".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Some((format!("postgresql.conf has no setting `{name}`"), help));
    }
    kept_key(name).map(|kept| (format!("{name}: {}", kept.why), kept.help.to_owned()))
}

/// The value as `postgresql.conf` has it, without quotes.
fn value_of(name: &str, value: &Value, known: &Known) -> Result<String, Wrong> {
    let refused = |help: String| Err((format!("{name} cannot be {value}"), help));
    let kind = known.get(name).copied().unwrap_or(Kind::Text);
    match (kind, value) {
        (Kind::Boolean, Value::Boolean(is_on)) => Ok(on_or_off(*is_on)),
        (Kind::Boolean, Value::String(word)) if word == "on" || word == "off" => Ok(word.clone()),
        (Kind::Boolean, _) => refused(format!("{name} = true or {name} = false")),
        (Kind::OneOf(words), Value::Boolean(is_on)) if words.split(',').any(|word| word == on_or_off(*is_on)) => {
            Ok(on_or_off(*is_on))
        }
        (Kind::OneOf(words), Value::String(word)) if words.split(',').any(|one| one == word) => Ok(word.clone()),
        (Kind::OneOf(words), _) => {
            let near = value.as_str().and_then(|word| nearest(word, words.split(',')));
            let near = near.map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
            refused(format!("{near}valid: {}", words.replace(',', ", ")))
        }
        (Kind::Text, Value::String(text)) if !text.contains(|c: char| c.is_control()) => Ok(text.clone()),
        (Kind::Text, _) => refused("text in quotes, on one line".to_owned()),
        (Kind::Integer(range), Value::Integer(_) | Value::String(_)) => number(value, range, true).or_else(refused),
        (Kind::Number(range), Value::Integer(_) | Value::Float(_) | Value::String(_)) => {
            number(value, range, false).or_else(refused)
        }
        (Kind::Integer(range) | Kind::Number(range), _) => refused(expected(range)),
    }
}

fn on_or_off(is_on: bool) -> String {
    if is_on { "on" } else { "off" }.to_owned()
}

/// A number within its bounds; the error is what is expected.
fn number(value: &Value, range: Range, is_whole: bool) -> Result<String, String> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let amount = amount(range.unit, &text).ok_or_else(|| expected(range))?;
    let is_within = (range.least..=range.most).contains(&amount);
    // With a unit a fraction is rounded to a whole one, as PostgreSQL does; without one it is a slip.
    let is_fraction = is_whole && text.parse::<f64>().is_ok_and(|number| number.fract() != 0.0);
    if is_within && !is_fraction { Ok(text) } else { Err(expected(range)) }
}

/// What `pg_settings` has as the most of a setting without an upper bound is near the greatest number that there is.
const NO_BOUND: f64 = 1e300;

/// What a number is expected to be.
fn expected(range: Range) -> String {
    let bounds = match range.most < NO_BOUND {
        true => format!("{} to {}", range.least, range.most),
        false => format!("{} or more", range.least),
    };
    match range.unit {
        None => format!("a number without quotes, {bounds}"),
        Some(unit) => {
            format!("a number in quotes with its unit, one of {}; {}", unit.names().join(", "), of(unit, &bounds))
        }
    }
}

/// Bounds in the unit of the setting.
fn of(unit: Unit, bounds: &str) -> String {
    match unit {
        Unit::Bytes(one) => format!("{bounds} times {one} B"),
        Unit::Time(one) => format!("{bounds} times {} ms", one / 1e3),
    }
}

/// Values that PostgreSQL itself refuses beside others, and those that would do nothing beside them.
fn clashes(given: &Table, problems: &mut Vec<Problem>) {
    let is = |name: &str, off: &str| match given.get(name) {
        Some(Value::Boolean(is_on)) => on_or_off(*is_on) == off,
        Some(Value::String(word)) => word == off,
        _ => false,
    };
    let mut refuse = |name: &str, what: &str| {
        if given.contains_key(name) {
            let at = At::Key(name.to_owned());
            let help = "remove one of the two".to_owned();
            problems.push(Problem { section: CONF, at, what: what.to_owned(), help });
        }
    };
    if is("full_page_writes", "off") {
        refuse("wal_compression", "wal_compression compresses full pages, of which full_page_writes = off writes none");
    }
    if is("io_method", "sync") {
        refuse("io_workers", "io_workers does nothing with io_method = \"sync\"");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> (BTreeMap<String, Setting>, Vec<String>) {
        let stated: Table = toml::from_str(&format!("[postgresql]\n{text}")).expect("a table");
        let (mut sections, problems) = check(Some("18.3"), &stated);
        let Some(Section::Keys(keys)) = sections.remove(CONF) else { panic!("a section of keys") };
        (keys, problems.into_iter().map(|problem| format!("{} ({})", problem.what, problem.help)).collect())
    }

    #[test]
    fn sound_settings_are_kept_as_postgresql_conf_has_them() {
        let (keys, problems) = checked(
            "checkpoint_timeout = \"15min\"\nfull_page_writes = false\neffective_io_concurrency = 64\n\
             checkpoint_completion_target = 0.5\nsynchronous_commit = \"off\"\nwal_level = \"minimal\"\n\
             work_mem = 8192\nshared_buffers = \"128kB\"\n",
        );
        assert_eq!(problems, [""; 0]);
        let of = |name: &str| keys[name].value();
        assert_eq!((of("checkpoint_timeout"), of("full_page_writes")), ("15min", "off"));
        assert_eq!((of("effective_io_concurrency"), of("checkpoint_completion_target")), ("64", "0.5"));
        assert_eq!((of("synchronous_commit"), of("work_mem"), of("shared_buffers")), ("off", "8192", "128kB"));
    }

    #[test]
    fn each_mistake_is_named_with_what_to_do() {
        for (text, said) in [
            (
                "checkpoint_timout = 300",
                "postgresql.conf has no setting `checkpoint_timout` (did you mean `checkpoint_",
            ),
            ("checkpoint_timeout = \"15 minutes\"", "checkpoint_timeout cannot be \"15 minutes\" (a number in quotes"),
            ("checkpoint_timeout = 10", "checkpoint_timeout cannot be 10 (a number in quotes with its unit"),
            ("full_page_writes = \"yes\"", "full_page_writes cannot be \"yes\" (full_page_writes = true or"),
            ("wal_compression = \"lz4\"", "wal_compression cannot be \"lz4\" (valid: pglz, on, off)"),
            ("effective_io_concurrency = 1.5", "effective_io_concurrency cannot be 1.5 (a number without quotes"),
            ("random_page_cost = \"much\"", "random_page_cost cannot be \"much\" (a number without quotes, 0 or more)"),
            ("shared_buffers = \"120kB\"", "shared_buffers cannot be \"120kB\" (a number in quotes with its unit"),
            ("port = 5433", "port: iopslab decides at which addresses"),
            ("io_method = \"sync\"\nio_workers = 8", "io_workers does nothing with io_method = \"sync\" (remove one"),
            ("fsync = false", "fsync: a commit that no volume has taken"),
        ] {
            let (_, problems) = checked(text);
            assert!(problems.len() == 1 && problems[0].starts_with(said), "{text}: {problems:?}");
        }
    }

    /// A plan of somebody else's can have any text as a name.
    #[test]
    fn what_was_not_checked_is_refused_before_it_is_written() {
        assert_eq!(refusal("18.3", "work_mem", "4MB"), None);
        let several = "work_mem = 4MB\nshared_preload_libraries = '/tmp/x.so'\nwork_mem";
        for (name, value, said) in [
            (several, "4MB", "postgresql.conf has no setting"),
            ("port", "1", "port: iopslab decides at which addresses"),
            ("application_name", "a\nport = 1", "application_name cannot be \"a\\nport = 1\""),
        ] {
            assert!(refusal("18.3", name, value).is_some_and(|refused| refused.starts_with(said)), "{said}");
        }
        assert!(refusal("9.6", "work_mem", "4MB").is_some());
    }

    #[test]
    fn all_mistakes_come_at_once_and_the_sound_ones_are_kept() {
        let (keys, problems) = checked("port = 1\nfsync = \"x\"\nautovacuum = false\n");
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert_eq!(keys.keys().collect::<Vec<_>>(), ["autovacuum"]);
    }
}
