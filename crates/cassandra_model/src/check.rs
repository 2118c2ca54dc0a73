//! Whether settings are ones that a Cassandra takes and iopslab leaves to an experiment.

use std::collections::{BTreeMap, BTreeSet};

use product::{At, Problem, Section};
use toml::{Table, Value};

use crate::jvm_option::{is_jvm_setting, jvm_option_name, kept_jvm_option, meant_jvm_option};
use crate::known::known;
use crate::settings::{JVM, TABLE, YAML};
use crate::{keys, table_options};

/// Checks what is stated, as [`product::CheckSettings`] says.
pub(crate) fn check(version: Option<&str>, stated: &Table) -> (BTreeMap<String, Section>, Vec<Problem>) {
    let mut problems = Vec::new();
    let nothing = Table::new();
    let table_of = |name: &str| stated.get(name).and_then(Value::as_table).unwrap_or(&nothing);
    let (cassandra, table) = (table_of(YAML), table_of(TABLE));
    let options = stated.get(JVM).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let jvm = jvm_options(options, &mut problems);
    let (mut yaml, mut options) = (BTreeMap::new(), BTreeMap::new());
    // A version of which nothing is known is refused where it is stated.
    if let Some(known) = version.and_then(known) {
        yaml = keys::check(cassandra, known, &mut problems);
        options = table_options::check(table, known, cassandra, &mut problems);
    }
    problems.extend(read_ahead_of_nothing(cassandra, table));
    let all = [(JVM, Section::Options(jvm)), (YAML, Section::Keys(yaml)), (TABLE, Section::Keys(options))];
    (all.map(|(name, section)| (name.to_owned(), section)).into(), problems)
}

/// A buffer that reads ahead in compressed tables needs one.
fn read_ahead_of_nothing(cassandra: &Table, table: &Table) -> Option<Problem> {
    const BUFFER: &str = "compressed_read_ahead_buffer_size";
    let is_off = table.get("compression").and_then(|c| c.get("enabled")?.as_bool()) == Some(false);
    (is_off && cassandra.contains_key(BUFFER)).then(|| Problem {
        section: YAML,
        at: At::Key(BUFFER.to_owned()),
        what: format!("{BUFFER} does nothing for a table without compression"),
        help: "remove one of the two".to_owned(),
    })
}

fn jvm_options(given: &[Value], problems: &mut Vec<Problem>) -> Vec<String> {
    let mut names = BTreeSet::new();
    let options: Vec<String> = given.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    for (number, option) in options.iter().enumerate() {
        let is_new = names.insert(jvm_option_name(option));
        if let Some((what, help)) = problem(option, is_new) {
            problems.push(Problem { section: JVM, at: At::Option(number), what, help });
        }
    }
    options
}

fn problem(option: &str, is_new: bool) -> Option<(String, String)> {
    const FOR_EXAMPLE: &str = "for example jvm = [\"-XX:TieredStopAtLevel=1\", \"-Xss512k\"]";
    let (what, help) = if option.contains(|c: char| c.is_whitespace() || c.is_control()) {
        (format!("`{option}` is more than one word"), "each option is an entry of its own, in quotes of its own")
    } else if !option.starts_with('-') {
        (format!("`{option}` is no option of the JVM: they begin with `-`"), FOR_EXAMPLE)
    } else if !is_jvm_setting(option) {
        (format!("`{option}` sets nothing of a JVM"), FOR_EXAMPLE)
    } else if let Some(meant) = meant_jvm_option(option) {
        let what = format!("{option}: there is no such option among those that an experiment may state");
        return Some((what, format!("did you mean `{meant}`? docs/settings.md lists them")));
    } else if let Some(kept) = kept_jvm_option(option) {
        (format!("{option}: {}", kept.why), kept.help)
    } else if is_new {
        return None;
    } else {
        (format!("{} is set twice", jvm_option_name(option)), "the last one would win: remove the other")
    };
    Some((what, help.to_owned()))
}
