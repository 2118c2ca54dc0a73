//! Operations of a profile: `insert`, which the table's columns make, and queries.

use workload::OperationKind;

use super::definition::{Definition, Kind, unqualified};
use super::distribution::{distribution, ratio};
use super::reading::Reading;
use super::yaml::{Entry, Node};
use crate::cql::quoted;
use crate::data::Size;

/// Most rows that one `insert` writes in a batch.
const MOST_ROWS: u64 = 100;
/// Most characters of a statement's name.
const MOST_NAME: usize = 40;

/// What is asked of the database.
#[derive(Debug)]
pub(super) struct Operation {
    /// As the profile names it.
    pub(super) name: String,
    /// Line of the name.
    pub(super) line: usize,
    /// Line of the text.
    pub(super) text_line: usize,
    /// What a directive states of it beside its weight.
    pub(super) levels: String,
    pub(super) text: String,
}

/// What a statement is called that is this operation of a profile: in small letters, and of YCSB's kinds (`insert`,
/// `read`) with `stress_` before.
pub fn stress_statement(operation: &str) -> String {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let name = operation.to_ascii_lowercase().replace(|c: char| !is_part(c), "_");
    let is_begun = name.starts_with(|c: char| c.is_ascii_lowercase());
    let name = if is_begun { name } else { format!("q{name}") };
    let is_of_ycsb = OperationKind::YCSB.iter().any(|kind| kind.name() == name);
    if is_of_ycsb { format!("stress_{name}") } else { name.chars().take(MOST_NAME).collect() }
}

impl Reading<'_> {
    /// `insert`; a profile without an entry for it has it as well.
    pub(super) fn insert(
        &mut self,
        (entry, otherwise): (Option<&Entry>, usize),
        table: &str,
        defined: &Definition,
        rows: &Size,
    ) -> Option<Operation> {
        let (mut selected, mut batch, mut condition) = (None, "UNLOGGED ", None);
        for Entry { key, line, value } in entry.map(|entry| entry.value.entries()).unwrap_or_default() {
            let value = value.text().unwrap_or_default();
            match key.as_str() {
                "select" => selected = self.sound(*line, ratio(value)),
                "condition" => condition = Some((*line, value)),
                "batchtype" => match value.to_ascii_uppercase().as_str() {
                    "LOGGED" => batch = "",
                    "UNLOGGED" => batch = "UNLOGGED ",
                    "COUNTER" => batch = "COUNTER ",
                    _ => {
                        self.refuse::<()>(*line, format!("unknown batchtype {value}: LOGGED, UNLOGGED or COUNTER"));
                    }
                },
                "partitions" | "visits" => {
                    if self.sound(*line, distribution(value)).is_some_and(|size| size != Size::fixed(1)) {
                        self.refuse::<()>(*line, format!("{key} other than fixed(1) is not supported"));
                    }
                }
                other => {
                    self.refuse::<()>(*line, format!("{other} of insert is not supported"));
                }
            }
        }
        let line = entry.map_or(otherwise, |entry| entry.line);
        let share = selected.as_ref().map_or(1.0, |(size, over)| size.mean() / over);
        let many = ((rows.mean() * share).round() as u64).max(1);
        if many > MOST_ROWS {
            let message = format!("an insert would write {many} rows at once, more than {MOST_ROWS}: state `select`");
            return self.refuse(line, message);
        }
        let mut sizes = selected.iter().map(|(size, _)| size).chain([rows]);
        if !sizes.all(|size| matches!(size, Size::Fixed { .. })) {
            self.notes
                .push(format!("an insert writes {many} of a partition's rows, the mean of what the profile says"));
        }
        let one = write(table, defined, condition.map(|(_, condition)| condition));
        let (text_line, text) = match (many, condition) {
            (1, condition) => (condition.map_or(line, |(line, _)| line), one),
            (_, Some((line, _))) => return self.refuse(line, "a condition on several rows at once is not supported"),
            (_, None) => {
                let all = format!("  {one};\n").repeat(many as usize);
                (line, format!("BEGIN {batch}BATCH\n{all}APPLY BATCH"))
            }
        };
        Some(Operation { name: "insert".to_owned(), line, text_line, levels: String::new(), text })
    }

    /// A query. `levels`: the words that a consistency may be.
    pub(super) fn query(&mut self, query: &Entry, keyspace: &str, levels: &[&str]) -> Option<Operation> {
        let (mut text, mut consistency, mut serial) = (None, String::new(), None);
        if !matches!(query.value, Node::Map(_)) {
            return self.refuse(query.line, format!("{} has no cql", query.key));
        }
        let before = self.mistakes.len();
        for Entry { key, line, value } in query.value.entries() {
            let value = value.text().unwrap_or_default();
            match key.as_str() {
                "cql" => text = self.sound(*line, unqualified(value, keyspace)).map(|text| (*line, text)),
                "fields" => match value.to_ascii_lowercase().as_str() {
                    "samerow" => {}
                    "multirow" => {
                        self.notes.push(format!("{}: what it asks for is of one row, not of several", query.key));
                    }
                    _ => {
                        self.refuse::<()>(*line, format!("unknown fields {value}: samerow or multirow"));
                    }
                },
                "consistencyLevel" => {
                    let level = value.to_ascii_lowercase();
                    if !levels.contains(&level.as_str()) {
                        let message = format!("unknown consistency `{value}`: valid are {}", levels.join(", "));
                        self.refuse::<()>(*line, message);
                    }
                    consistency = format!(" consistency {level}");
                }
                "serialConsistencyLevel" => serial = Some((*line, value)),
                other => {
                    self.refuse::<()>(*line, format!("{other} of a query is not supported"));
                }
            }
        }
        let name = query.key.clone();
        let (line, serial) = serial.map_or((query.line, String::new()), |(line, value)| {
            (line, format!(" serial {}", value.split_whitespace().collect::<Vec<_>>().join(" ")))
        });
        match text {
            Some((text_line, text)) => {
                Some(Operation { name, line, text_line, levels: format!("{consistency}{serial}"), text })
            }
            None if self.mistakes.len() == before => self.refuse(query.line, format!("{name} has no cql")),
            None => None,
        }
    }
}

/// What writes one row.
fn write(table: &str, defined: &Definition, condition: Option<&str>) -> String {
    let is_key = |name: &String| defined.partition_key.contains(name) || defined.clustering.contains(name);
    let is_counter = defined.columns.iter().any(|column| column.kind == Kind::Counter);
    let names: Vec<String> = defined.columns.iter().map(|column| quoted(&column.name)).collect();
    if !is_counter && condition.is_none() {
        let marks = vec!["?"; names.len()].join(", ");
        return format!("INSERT INTO {table} ({}) VALUES ({marks})", names.join(", "));
    }
    let set = defined.columns.iter().filter(|column| !is_key(&column.name)).map(|column| {
        let name = quoted(&column.name);
        if is_counter { format!("{name} = {name} + ?") } else { format!("{name} = ?") }
    });
    let set: Vec<String> = set.collect();
    let key = defined.partition_key.iter().chain(&defined.clustering).map(|name| format!("{} = ?", quoted(name)));
    let key: Vec<String> = key.collect();
    let condition = condition.map(|condition| format!(" {condition}")).unwrap_or_default();
    format!("UPDATE {table} SET {} WHERE {}{condition}", set.join(", "), key.join(" AND "))
}
