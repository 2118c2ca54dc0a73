//! `[[workload]] cql = "shop.cql"`: schema and statements of the user's own, and the data that they ask for.

use std::collections::BTreeMap;
use std::ops::Range;

use ::workload::{Definition, OperationKind, StatementName, StatementShare};
use statements::{
    At, Creates, Data, Effect, Generator, Population, RowChoice, SchemaStatement, Script, StatementData, TableData,
    USUAL_TEXT_BYTES, USUAL_TEXT_WITHIN_BYTES, Unfit,
};

use super::beside::ReadFile;
use super::{own_values, workload};
use crate::mistakes::{Collector, choice};
use crate::products::kept_table_option;
use crate::spanned::{Form, Spanned, place};
use crate::{Consistency, Own, raw};

/// Most partitions of a table.
const MOST_PARTITIONS: i64 = 1_000_000_000_000;
/// The section of settings that has options of YCSB's table.
const TABLE: &str = "table";
/// Bytes that a row is taken to have besides those that are stated: a few numbers, names and times.
const UNSTATED_ROW_BYTES: f64 = 64.0;
/// Bytes that stand before each value of a collection.
const LENGTH_BYTES: f64 = 4.0;
/// Bytes of a number within a collection.
const NUMBER_BYTES: f64 = 8.0;

/// What the workloads of a file have in common, once one of them was read; `None` inside: it has mistakes.
pub(super) type Common = Option<Option<Own>>;

/// A workload of the user's own statements. The first states what they ask for, and becomes what all have in common.
pub(super) fn check(
    raw: &Spanned<raw::Workload>,
    (file, seed): (&Spanned<String>, u64),
    common: &mut Common,
    read_file: ReadFile<'_>,
    mistakes: &mut Collector<'_>,
) -> Option<Definition> {
    let of_ycsb = raw.keys().into_iter().chain([("ycsb", place(&raw.ycsb))]).filter(|(_, at)| at.is_some());
    let of_ycsb: Vec<&str> = of_ycsb.map(|(key, _)| key).collect();
    if !of_ycsb.is_empty() {
        let message = format!("`cql` and {} exclude each other", of_ycsb.join(", "));
        mistakes.add(file.span(), message, "the statements of the file are what is asked of the database");
    }
    let own = match common {
        None => {
            let own = mistakes.sound(|mistakes| first(raw, (file, seed), read_file, mistakes)).flatten();
            common.insert(own).as_ref()?
        }
        Some(own) => {
            let own = own.as_ref()?;
            goes_with(raw, file, own, mistakes);
            own
        }
    };
    let path = file.as_str();
    let stem = path.rsplit('/').next().unwrap_or(path);
    let name = match &raw.name {
        Some(name) => mistakes.safe_name(name, "workload")?,
        None => stem.strip_suffix(".cql").unwrap_or(stem).to_owned(),
    };
    Some(Definition::of_statements(&name, shares(raw, own, mistakes)?))
}

/// The file, and the data beside it.
fn first(
    raw: &Spanned<raw::Workload>,
    (file, seed): (&Spanned<String>, u64),
    read_file: ReadFile<'_>,
    mistakes: &mut Collector<'_>,
) -> Option<Own> {
    let path = file.as_str();
    let text = match read_file(path) {
        Ok(text) => text,
        Err(error) => return mistakes.refuse(file.span(), error, "the path is relative to the experiment file"),
    };
    let script = match Script::parse(&text, &Consistency::ALL.map(Consistency::name)) {
        Ok(script) => Some(script),
        Err(all) => {
            for mistake in all {
                mistakes.add_in(path, &text, mistake.span, mistake.message, "");
            }
            None
        }
    };
    let tables: Vec<Option<TableData>> = raw.tables.iter().map(|(name, given)| table(name, given, mistakes)).collect();
    let of_statements: Vec<Option<(String, StatementData)>> =
        raw.statements.iter().map(|(name, given)| statement(name, given, mistakes)).collect();
    let row_bytes: BTreeMap<String, u32> = raw
        .tables
        .iter()
        .zip(&tables)
        .filter_map(|((name, given), table)| {
            let table = table.as_ref()?;
            let texts = script.as_ref().map_or(0, |script| unstated_texts(script, table));
            Some((name.get_ref().clone(), row_bytes(given, table, texts, mistakes)))
        })
        .collect();
    let script = script?;
    not_restored(&script, (path, &text), mistakes);
    for statement in &script.statements {
        if let Err(error) = StatementName::new(&statement.name) {
            let message = format!("the statement's name: {error}");
            mistakes.add_in(path, &text, line(&text, statement.line), message, "call it something else");
        }
    }
    let tables: Vec<TableData> = tables.into_iter().collect::<Option<_>>()?;
    let of_statements: BTreeMap<String, StatementData> = of_statements.into_iter().collect::<Option<_>>()?;
    let data = Data { seed, tables, statements: of_statements };
    for Unfit { at, message } in data.check(&script) {
        let span = placed(raw, file, &at);
        mistakes.add(span, format!("{at}: {message}"), "");
    }
    Some(Own { file: path.to_owned(), script, data, row_bytes })
}

/// Refuses what no data set is restored with between trials so far.
fn not_restored(script: &Script, (path, text): (&str, &str), mistakes: &mut Collector<'_>) {
    for statement in &script.schema {
        for (option, at) in statement.options() {
            if let Some(why) = kept_table_option(&option) {
                mistakes.add_in(path, text, line(text, at), format!("{option}: {why}"), "remove it");
            }
        }
        let what = match statement.creates {
            Creates::Table | Creates::Type | Creates::Change => continue,
            Creates::Index => "an index",
            Creates::View => "a materialised view",
            Creates::Function => "a function",
            Creates::Aggregate => "an aggregate",
        };
        let message = format!("{what} cannot be measured so far: iopslab restores tables alone between trials");
        mistakes.add_in(path, text, line(text, statement.line), message, "leave it out, and what asks for it");
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
        At::Statement(statement) => raw.statements.keys().find(|name| name.get_ref() == statement).map(Spanned::span),
    };
    stated.unwrap_or_else(|| file.span())
}

/// What does not go with statements of the user's own, or without them.
pub(super) fn fits(file: &raw::Experiment, mistakes: &mut Collector<'_>) {
    let Some(cql) = file.workload.iter().find_map(|workload| workload.cql.as_ref()) else {
        for workload in &file.workload {
            let stated = [
                ("weights", workload.weights.keys().next().map(Spanned::span)),
                ("tables", workload.tables.keys().next().map(Spanned::span)),
                ("statements", workload.statements.keys().next().map(Spanned::span)),
            ];
            mistakes.stray(
                stated,
                |key| format!("`{key}` is for statements of your own"),
                "state cql = \"FILE\", or remove it",
            );
        }
        if let Some((name, _)) = file.objective.as_ref().and_then(|objective| objective.statements.iter().next()) {
            let message = "the objective bounds a statement of your own, and no workload has any";
            mistakes.add(name.span(), message, "state cql = \"FILE\" in a workload, or remove it");
        }
        return;
    };
    if let Some(of_ycsb) = file.workload.iter().find(|workload| workload.cql.is_none()) {
        let message = format!("a workload of YCSB beside \"{cql}\": an experiment has one data set");
        mistakes.add(of_ycsb.span(), message, "write an experiment for each");
    }
    let dataset = &file.dataset;
    mistakes.stray(
        [
            ("records", place(&dataset.records)),
            ("fields", place(&dataset.fields)),
            ("field_length", place(&dataset.field_length)),
            ("compressibility", place(&dataset.compressibility)),
        ],
        |key| format!("{key} is for YCSB's records, and \"{cql}\" has tables of its own"),
        "state what is in these with the workload: [workload.tables.NAME]",
    );
    if let Some(fault) = file.fault.first() {
        let message =
            format!("[[fault]] with \"{cql}\": acknowledged writes are looked for in YCSB's records alone so far");
        mistakes.add(fault.span(), message, "remove it, or measure it with a workload of YCSB");
    }
    if let Some(sweep) = &file.sweep {
        let message = format!("cache_ratio with \"{cql}\": how large its data set is, is known once it is loaded");
        mistakes.add(sweep.span(), message, "state page_cache_mib in [provider.local]");
    }
    if let Some(hosts) = file.existing() {
        let message =
            format!("[target] hosts with \"{cql}\": iopslab makes schema and data of its own databases alone so far");
        mistakes.add(hosts.span(), message, "leave [target] hosts out, for a Cassandra of its own");
    }
    for configuration in &file.configuration {
        if let Some(backlog) = &configuration.backlog {
            let message = format!("backlog of {} with \"{cql}\": it is made of YCSB's records", configuration.name);
            mistakes.add(backlog.span(), message, "remove it");
        }
        let settings = configuration.settings.as_ref();
        if let Some(settings) = settings.filter(|settings| settings.sections.contains_key(TABLE)) {
            let message =
                format!("settings.{TABLE} of {} with \"{cql}\": it creates its tables itself", configuration.name);
            mistakes.add(settings.span(), message, "state the options in CREATE TABLE ... WITH");
        }
    }
}

/// A further workload: it has schema and data in common with the first.
fn goes_with(raw: &raw::Workload, file: &Spanned<String>, own: &Own, mistakes: &mut Collector<'_>) {
    if *file.get_ref() != own.file {
        let message =
            format!("cql = \"{file}\" beside \"{}\": an experiment has one schema and one data set", own.file);
        mistakes.add(file.span(), message, "name the same file, with other `weights`; or an experiment for each");
    }
    let stated = raw.tables.keys().map(|name| ("tables", name.span()));
    let stated = stated.chain(raw.statements.keys().map(|name| ("statements", name.span())));
    for (key, at) in stated {
        let message = format!("`{key}` of a second workload of {file}: all have one data set, which the first states");
        mistakes.add(at, message, "state it there");
    }
}

/// The statements with their shares; those of weight 0 are left out.
fn shares(raw: &Spanned<raw::Workload>, own: &Own, mistakes: &mut Collector<'_>) -> Option<Vec<StatementShare>> {
    let all = &own.script.statements;
    let names: Vec<&str> = all.iter().map(|statement| statement.name.as_str()).collect();
    let weights = mistakes.sound(|mistakes| {
        for name in raw.weights.keys() {
            if !names.contains(&name.as_str()) {
                let message = format!("weights: {} has no statement `{name}`", own.file);
                mistakes.add(name.span(), message, choice(name, &names));
            }
        }
        let weight = |statement: &statements::Statement| {
            let stated = raw.weights.iter().find(|(name, _)| *name.get_ref() == statement.name);
            stated.map_or(statement.weight, |(_, weight)| {
                mistakes.number(weight, "a weight", 0.0..=1e9, statement.weight)
            })
        };
        all.iter().map(weight).collect::<Vec<f64>>()
    })?;
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 {
        return mistakes.refuse(raw.span(), "all statements have weight 0", "give one of them a weight above 0");
    }
    let share = |(statement, weight): (&statements::Statement, f64)| {
        Some(StatementShare {
            kind: OperationKind::Statement(StatementName::new(&statement.name).ok()?),
            share: weight / sum,
            reads: statement.effect != Effect::Write,
            writes: statement.effect != Effect::Read,
            grows: statement.makes() && asks_for_new(own.data.statements.get(&statement.name)),
        })
    };
    all.iter().zip(weights).filter(|(_, weight)| *weight > 0.0).map(share).collect()
}

/// Whether requests of a statement are of partitions or rows that were not loaded.
fn asks_for_new(stated: Option<&StatementData>) -> bool {
    stated.is_some_and(|stated| stated.missing > 0.0 || stated.rows == RowChoice::New)
}

fn table(name: &Spanned<String>, given: &raw::TableData, mistakes: &mut Collector<'_>) -> Option<TableData> {
    let columns: Vec<Option<(String, Generator)>> = given
        .columns
        .iter()
        .map(|(column, given)| Some((column.get_ref().clone(), own_values::generator(column, given, mistakes)?)))
        .collect();
    let partitions =
        mistakes.sound(|mistakes| mistakes.integer(&given.partitions, "partitions", 0..=MOST_PARTITIONS, 0) as u64);
    let rows = match &given.rows {
        None => Some(statements::Size::fixed(1)),
        Some(rows) => own_values::stated_size(rows, "rows", mistakes),
    };
    let population = population((&given.distribution, &given.hot_set), mistakes);
    Some(TableData {
        table: name.get_ref().clone(),
        partitions: partitions?,
        rows: rows?,
        population: population?.unwrap_or_default(),
        columns: columns.into_iter().collect::<Option<_>>()?,
    })
}

/// How many columns of text a table has of which nothing is stated.
fn unstated_texts(script: &Script, table: &TableData) -> usize {
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
fn row_bytes(given: &raw::TableData, table: &TableData, texts: usize, mistakes: &mut Collector<'_>) -> u32 {
    let stated = table.columns.values().map(bytes_of).sum::<f64>();
    let usual = stated + (texts as u64 * USUAL_TEXT_BYTES) as f64 + UNSTATED_ROW_BYTES;
    mistakes.integer(&given.row_bytes, "row_bytes", 1..=1 << 30, usual.round() as i64) as u32
}

/// How partitions are chosen; `Some(None)`: not stated.
fn population(
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

fn statement(
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
