//! What workloads of the user's own statements state beside their file, be it of CQL or a profile of cassandra-stress:
//! what requests ask for and how partitions are chosen; and what of such a file cannot be measured.

use std::borrow::Cow;
use std::ops::Range;

use ::workload::StatementName;
use statements::{
    At, Creates, Data, Generator, IndexKind, Population, RowChoice, SchemaStatement, Script, StatementData, TableData,
    USUAL_TEXT_BYTES, USUAL_TEXT_WITHIN_BYTES, Unfit, stress_statement,
};

use super::beside::ReadFile;
use super::workload;
use crate::mistakes::Collector;
use crate::products::{has_attached_indexes, kept_table_option};
use crate::spanned::{Form, Spanned};
use crate::{Configuration, Own, Target, raw};

/// Most partitions of a table.
pub(super) const MOST_PARTITIONS: i64 = 1_000_000_000_000;
/// Bytes that a row is taken to have besides those that are stated: a few numbers, names and times.
const UNSTATED_ROW_BYTES: f64 = 64.0;
/// Bytes that stand before each value of a collection.
const LENGTH_BYTES: f64 = 4.0;
/// Bytes of a number within a collection.
const NUMBER_BYTES: f64 = 8.0;

/// What the names of user profiles of cassandra-stress end with.
pub(super) const PROFILE_ENDINGS: [&str; 2] = [".yaml", ".yml"];

/// Whether a file is read as a user profile of cassandra-stress.
pub(super) fn is_profile(path: &str) -> bool {
    PROFILE_ENDINGS.iter().any(|ending| path.ends_with(ending))
}

/// What was read of a file; its mistakes are noted at their places there.
pub(super) fn sound<T>(
    read: Result<T, Vec<statements::Mistake>>,
    (path, text): (&str, &str),
    mistakes: &mut Collector<'_>,
) -> Option<T> {
    let note = |one: statements::Mistake| mistakes.add_in(path, text, one.span, one.message, "");
    read.map_err(|all| all.into_iter().for_each(note)).ok()
}

/// What of the data cannot be, each at its place.
pub(super) fn unfit(
    (data, script): (&Data, &Script),
    raw: &raw::Workload,
    file: &Spanned<String>,
    mistakes: &mut Collector<'_>,
) {
    for Unfit { at, message } in data.check(script) {
        let span = placed(raw, file, &at);
        mistakes.add(span, format!("{at}: {message}"), "");
    }
}

/// Refuses options and parts of a schema that nothing can be measured with so far.
pub(super) fn not_measurable(script: &Script, (path, text): (&str, &str), mistakes: &mut Collector<'_>) {
    for statement in &script.schema {
        for (option, at) in statement.options() {
            if let Some(why) = kept_table_option(&option) {
                mistakes.add_in(path, text, line(text, at), format!("{option}: {why}"), "remove it");
            }
        }
        if let Some((message, help)) = cannot_be(statement) {
            mistakes.add_in(path, text, line(text, statement.line), message, help);
        }
    }
}

/// Why what a statement creates cannot be measured, and what to do instead; `None`: it can be.
fn cannot_be(statement: &SchemaStatement) -> Option<(String, &'static str)> {
    const LEAVE_OUT: &str = "leave it out, and what asks for it";
    let of_code = |what: &str| {
        let message = format!("{what} cannot be measured so far: nodes run no code of yours");
        Some((message, LEAVE_OUT))
    };
    match statement.creates {
        Creates::Table | Creates::Type | Creates::View | Creates::Change => None,
        Creates::Function => of_code("a function"),
        Creates::Aggregate => of_code("an aggregate"),
        Creates::Index => match statement.index()? {
            IndexKind::Attached => None,
            // `SecondaryIndexManager.handleNotification`: by what `nodetool import` adds.
            IndexKind::HiddenTable => {
                let why = "a node that takes its table in again reads all of it and makes the index anew";
                let help = "write USING 'sai' (since Cassandra 5.0), or leave it out, and what asks for it";
                Some((format!("an index in a hidden table cannot be measured: {why}"), help))
            }
            IndexKind::Other(class) if class.to_ascii_lowercase().contains("sasi") => {
                let why = "it is experimental, and nodes are started without sasi_indexes_enabled";
                Some((format!("an index of SASI cannot be measured: {why}"), LEAVE_OUT))
            }
            IndexKind::Other(class) => of_code(&format!("an index of class {class}")),
        },
    }
}

/// Refuses an index of SAI where the database of a configuration has none, at the index's line.
pub(super) fn indexes_of_versions(
    own: &Own,
    (target, configurations): (Option<&Target>, &[Option<Configuration>]),
    read_file: ReadFile<'_>,
    mistakes: &mut Collector<'_>,
) {
    let attached = own.script.schema.iter().find(|statement| statement.index() == Some(IndexKind::Attached));
    let (Some(index), Some(usual)) = (attached, target.and_then(|target| target.database.version())) else { return };
    let version = |configuration: &Configuration| configuration.version.clone().unwrap_or_else(|| usual.to_owned());
    let has_none = |configuration: &&Configuration| !has_attached_indexes(&version(configuration));
    let Some(configuration) = configurations.iter().flatten().find(has_none) else { return };
    // It was read before.
    let Ok(text) = read_file(&own.file) else { return };
    let (name, version) = (&configuration.name, version(configuration));
    let message = format!("{name} has Cassandra {version}, and SAI is in 5.0 and later ones");
    let help = "leave the index out, and what asks for it, or state a later version";
    mistakes.add_in(&own.file, &text, line(&text, index.line), message, help);
}

/// Refuses names that no kind of operation can have.
pub(super) fn names_of_statements(script: &Script, (path, text): (&str, &str), mistakes: &mut Collector<'_>) {
    for statement in &script.statements {
        if let Err(error) = StatementName::new(&statement.name) {
            let message = format!("the statement's name: {error}");
            mistakes.add_in(path, text, line(text, statement.line), message, "call it something else");
        }
    }
}

/// The bytes of a line, from 1.
pub(super) fn line(text: &str, number: usize) -> Range<usize> {
    let start: usize = text.split_inclusive('\n').take(number.saturating_sub(1)).map(str::len).sum();
    let length = text[start..].lines().next().map_or(0, str::len);
    start..start + length
}

/// Where something of the data is stated; where it is not, the file.
fn placed(raw: &raw::Workload, file: &Spanned<String>, at: &At) -> Range<usize> {
    let name_of = |table: &String| raw.tables.keys().find(|name| name.get_ref() == table).map(Spanned::span);
    let stated = match at {
        At::Table(table) => name_of(table),
        At::Column { table, column } => {
            let of_table = raw.tables.iter().find(|(name, _)| name.get_ref() == table);
            let columns = of_table.into_iter().flat_map(|(_, given)| given.columns.keys());
            let mut columns = columns.filter(|name| name.get_ref() == column);
            columns.next().map(Spanned::span).or_else(|| name_of(table))
        }
        At::Statement(statement) => {
            raw.statements.keys().find(|name| *called(file, name) == **statement).map(Spanned::span)
        }
    };
    stated.unwrap_or_else(|| file.span())
}

/// What a statement is called that the experiment names so.
pub(super) fn called<'n>(file: &str, name: &'n str) -> Cow<'n, str> {
    if is_profile(file) { Cow::Owned(stress_statement(name)) } else { Cow::Borrowed(name) }
}

/// How many columns of text a table has of which nothing is stated.
pub(super) fn unstated_texts(script: &Script, table: &TableData) -> usize {
    let created = script.schema.iter().filter(|statement| statement.name == table.table);
    created.flat_map(SchemaStatement::text_columns).filter(|column| !table.columns.contains_key(column)).count()
}

/// Bytes that a generator's values have beyond those of a number.
fn bytes_of(generator: &Generator) -> f64 {
    match generator {
        Generator::Bytes { length, .. } => length.mean(),
        Generator::Collection { size, element, key } => {
            let stated = |generator: &Generator| LENGTH_BYTES + bytes_of(generator).max(NUMBER_BYTES);
            let usual = LENGTH_BYTES + USUAL_TEXT_WITHIN_BYTES as f64;
            let element = element.as_deref().map_or(usual, stated);
            size.mean() * (element + key.as_deref().map_or(0.0, stated))
        }
        _ => 0.0,
    }
}

/// What a row is taken to have, where it is not stated; `texts` columns of text have what is usual.
pub(super) fn row_bytes(
    given: Option<&Spanned<i64, u32>>,
    table: &TableData,
    texts: usize,
    mistakes: &mut Collector<'_>,
) -> u32 {
    let stated = table.columns.values().map(bytes_of).sum::<f64>();
    let usual = stated + (texts as u64 * USUAL_TEXT_BYTES) as f64 + UNSTATED_ROW_BYTES;
    mistakes.integer(given, "row_bytes", 1..=1 << 30, usual.round() as i64) as u32
}

/// How partitions are chosen; `Some(None)`: not stated.
pub(super) fn population(
    (distribution, hot_set): (&Option<Form<String, raw::Distribution>>, &Option<Spanned<raw::HotSet>>),
    mistakes: &mut Collector<'_>,
) -> Option<Option<Population>> {
    match (distribution, hot_set) {
        (None, None) => Some(None),
        (Some(_), Some(hot_set)) => {
            mistakes.refuse(hot_set.span(), "`hot_set` and `distribution` exclude each other", "state one of the two")
        }
        (Some(given), None) => Some(Some(Population::Of(workload::distribution(given, mistakes)?))),
        (None, Some(given)) => mistakes.sound(|mistakes| {
            let partitions = mistakes.integer(&given.partitions, "partitions", 1..=MOST_PARTITIONS, 1);
            let share = mistakes.number(&given.share, "share", 0.0..=1.0, 0.0);
            Some(Population::HotSet { hot_partitions: partitions as u64, share })
        }),
    }
}

const ROWS: [(&str, RowChoice); 4] = [
    ("uniform", RowChoice::Uniform),
    ("oldest", RowChoice::Oldest),
    ("newest", RowChoice::Newest),
    ("new", RowChoice::New),
];

pub(super) fn statement(
    name: &Spanned<String>,
    given: &raw::StatementData,
    mistakes: &mut Collector<'_>,
) -> Option<(String, StatementData)> {
    let population = population((&given.distribution, &given.hot_set), mistakes)?;
    let most = i64::from(i32::MAX);
    mistakes.sound(|mistakes| {
        let missing = mistakes.number(&given.missing, "missing", 0.0..=1.0, 0.0);
        let rows = given.rows.as_ref();
        let rows = rows.and_then(|word| mistakes.one_of(word.span(), word, "rows cannot be", &ROWS));
        let limit = mistakes.stated_integer(&given.limit, "limit", 1..=most);
        let in_keys = mistakes.stated_integer(&given.in_keys, "in_keys", 1..=1_000);
        let range_rows = mistakes.stated_integer(&given.range_rows, "range_rows", 1..=most);
        // The server's own bound: 20 years (Attributes.MAX_TTL).
        let ttl_s = mistakes.stated_integer(&given.ttl_s, "ttl_s", 1..=630_720_000);
        let data = StatementData {
            population,
            missing,
            rows: rows.unwrap_or_default(),
            limit: limit.map(|n| n as u32),
            in_keys: in_keys.map(|n| n as u32),
            range_rows: range_rows.map(|n| n as u64),
            ttl_s: ttl_s.map(|n| n as u32),
        };
        (name.get_ref().clone(), data)
    })
}
