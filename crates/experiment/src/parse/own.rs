//! `[[workload]] cql = "shop.cql"` or `sql = "shop.sql"`: schema and statements of the user's own, and the data that
//! they ask for. A profile of cassandra-stress states most of both itself (`stress.rs`).

use std::collections::BTreeMap;

use ::workload::{Definition, OperationKind, StatementName, StatementShare};
use statements::{Data, Effect, Generator, RowChoice, Script, StatementData, TableData};

use super::beside::ReadFile;
use super::own_data::{
    MOST_PARTITIONS, PROFILE_ENDINGS, called, is_profile, names_of_statements, not_measurable, population, row_bytes,
    sound, statement, unfit, unstated_texts,
};
use super::{own_values, stress};
use crate::mistakes::{Collector, choice};
use crate::raw::Language;
use crate::spanned::{Spanned, place};
use crate::{Consistency, NodeFaultKind, Own, raw};

/// The section of settings that has options of YCSB's table.
const TABLE: &str = "table";

/// What the workloads of a file have in common, once one of them was read; `None` inside: it has mistakes.
pub(super) type Common = Option<Option<Own>>;

/// A workload of the user's own statements. The first states what they ask for, and becomes what all have in common.
pub(super) fn check(
    (raw, all): (&Spanned<raw::Workload>, &[Spanned<raw::Workload>]),
    ((language, file), seed): ((Language, &Spanned<String>), u64),
    common: &mut Common,
    read_file: ReadFile<'_>,
    mistakes: &mut Collector<'_>,
) -> Option<Definition> {
    not_of_ycsb(raw, (language, file), mistakes);
    let parse: ParseScript = match language {
        Language::Cql => Script::parse,
        Language::Sql => |text: &str, _: &[&str]| Script::parse_sql(text),
    };
    let own = match common {
        None => {
            let read = (read_file, parse);
            let own = mistakes.sound(|mistakes| first((raw, all), (language, file, seed), read, mistakes)).flatten();
            common.insert(own).as_ref()?
        }
        Some(own) => {
            let own = own.as_ref()?;
            goes_with(raw, (language, file), own, mistakes);
            own
        }
    };
    let path = file.as_str();
    let stem = path.rsplit('/').next().unwrap_or(path);
    let name = match &raw.name {
        Some(name) => mistakes.safe_name(name, "workload")?,
        None => {
            let ending = [".cql", ".sql"].iter().chain(&PROFILE_ENDINGS).find_map(|ending| stem.strip_suffix(*ending));
            ending.unwrap_or(stem).to_owned()
        }
    };
    Some(Definition::of_statements(&name, shares(raw, own, mistakes)?))
}

/// Refuses keys of YCSB, and a file in another language, beside a file of statements.
pub(super) fn not_of_ycsb(
    raw: &raw::Workload,
    (language, file): (Language, &Spanned<String>),
    mistakes: &mut Collector<'_>,
) {
    let other = place(&raw.sql).filter(|_| language != Language::Sql);
    let of_ycsb = raw.keys().into_iter().chain([("ycsb", place(&raw.ycsb)), (Language::Sql.key(), other)]);
    let of_ycsb = of_ycsb.filter(|(_, at)| at.is_some());
    let of_ycsb: Vec<&str> = of_ycsb.map(|(key, _)| key).collect();
    if !of_ycsb.is_empty() {
        let message = format!("`{}` and {} exclude each other", language.key(), of_ycsb.join(", "));
        mistakes.add(file.span(), message, "the statements of the file are what is asked of the database");
    }
}

/// How a file of statements is read: whole, or its schema alone.
pub(super) type ParseScript = fn(&str, &[&str]) -> Result<Script, Vec<statements::Mistake>>;

/// The file, and the data beside it.
pub(super) fn first(
    (raw, all): (&Spanned<raw::Workload>, &[Spanned<raw::Workload>]),
    (language, file, seed): (Language, &Spanned<String>, u64),
    (read_file, parse): (ReadFile<'_>, ParseScript),
    mistakes: &mut Collector<'_>,
) -> Option<Own> {
    let path = file.as_str();
    let text = match read_file(path) {
        Ok(text) => text,
        Err(error) => return mistakes.refuse(file.span(), error, "the path is relative to the experiment file"),
    };
    if is_profile(path) {
        if language == Language::Sql {
            let message = format!("sql = \"{path}\" ends as a profile of cassandra-stress does");
            return mistakes.refuse(file.span(), message, "call the file .sql");
        }
        return stress::first((raw, all), (file, seed), &text, mistakes);
    }
    let script = sound(parse(&text, &Consistency::ALL.map(Consistency::name)), (path, &text), mistakes);
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
            Some((name.get_ref().clone(), row_bytes(given.row_bytes.as_ref(), table, texts, mistakes)))
        })
        .collect();
    let script = script?;
    match language {
        Language::Cql => not_measurable(&script, (path, &text), mistakes),
        Language::Sql => stands_in_sql(raw, mistakes),
    }
    names_of_statements(&script, (path, &text), mistakes);
    let tables: Vec<TableData> = tables.into_iter().collect::<Option<_>>()?;
    let of_statements: BTreeMap<String, StatementData> = of_statements.into_iter().collect::<Option<_>>()?;
    let data = Data { seed, tables, statements: of_statements };
    unfit((&data, &script), raw, file, mistakes);
    Some(Own { file: path.to_owned(), script, data, row_bytes, replay: None, snapshot: None })
}

/// Refuses what a statement of SQL has in its text.
fn stands_in_sql(raw: &raw::Workload, mistakes: &mut Collector<'_>) {
    for (name, given) in &raw.statements {
        mistakes.stray(
            [
                ("limit", place(&given.limit)),
                ("in_keys", place(&given.in_keys)),
                ("range_rows", place(&given.range_rows)),
                ("ttl_s", place(&given.ttl_s)),
            ],
            |key| format!("`{key}` of {name} is for CQL"),
            "write it into the statement: LIMIT 10, BETWEEN :column AND :column + 9",
        );
    }
}

/// What does not go with statements of the user's own, or without them.
pub(super) fn fits(file: &raw::Experiment, mistakes: &mut Collector<'_>) {
    let Some((_, path)) = file.workload.iter().find_map(|workload| workload.own()) else {
        // Of a replay what is missing is said with it.
        for workload in file.workload.iter().filter(|workload| workload.replay.is_none()) {
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
    if let Some(of_ycsb) = file.workload.iter().find(|workload| workload.own().is_none()) {
        let message = format!("a workload of YCSB beside \"{path}\": an experiment has one data set");
        mistakes.add(of_ycsb.span(), message, "write an experiment for each");
    }
    let dataset = &file.dataset;
    mistakes.stray(
        [
            ("records", place(&dataset.records)),
            ("stands_for_records", place(&dataset.stands_for_records)),
            ("fields", place(&dataset.fields)),
            ("field_length", place(&dataset.field_length)),
            ("compressibility", place(&dataset.compressibility)),
        ],
        |key| format!("{key} is for YCSB's records, and \"{path}\" has tables of its own"),
        "state what is in these with the workload: [workload.tables.NAME]",
    );
    faults(file, path, mistakes);
    if let Some(sweep) = &file.sweep {
        let message = format!("cache_ratio with \"{path}\": how large its data set is, is known once it is loaded");
        mistakes.add(sweep.span(), message, "state page_cache_mib in [provider.local]");
    }
    if let Some(at) = file.provider.local.asks_for_same_misses() {
        let message = format!("page_cache = \"same-misses\" with \"{path}\": how often its rows miss is not known");
        mistakes.add(at, message, "remove it, or state page_cache_mib");
    }
    if let Some(hosts) = file.existing() {
        let message =
            format!("[target] hosts with \"{path}\": iopslab makes schema and data of its own databases alone so far");
        mistakes.add(hosts.span(), message, "leave [target] hosts out, for a database of its own");
    }
    for configuration in &file.configuration {
        if let Some(backlog) = &configuration.backlog {
            let message = format!("backlog of {} with \"{path}\": it is made of YCSB's records", configuration.name);
            mistakes.add(backlog.span(), message, "remove it");
        }
        let settings = configuration.settings.as_ref();
        if let Some(settings) = settings.filter(|settings| settings.sections.contains_key(TABLE)) {
            let message =
                format!("settings.{TABLE} of {} with \"{path}\": it creates its tables itself", configuration.name);
            mistakes.add(settings.span(), message, "state the options in CREATE TABLE ... WITH");
        }
    }
}

/// Of faults a compaction alone loses no writes, which would have to be looked for.
fn faults(file: &raw::Experiment, path: &str, mistakes: &mut Collector<'_>) {
    let is_compaction = |fault: &&Spanned<raw::Fault>| *fault.kind == NodeFaultKind::Compaction.name();
    if let Some(fault) = file.fault.iter().find(|fault| !is_compaction(fault)) {
        let message =
            format!("[[fault]] with \"{path}\": acknowledged writes are looked for in YCSB's records alone so far");
        mistakes.add(fault.span(), message, "plan a compaction, or measure it with a workload of YCSB");
    }
    let fastest = file.workload.iter().filter_map(|workload| workload.speed.as_ref()).find(|speed| speed.is_str());
    if let Some(speed) = fastest
        && file.fault.iter().any(|fault| is_compaction(&fault))
    {
        let message = format!("speed = {speed} with [[fault]]: a trial could end with the recording before it");
        mistakes.add(speed.span(), message, "give a number");
    }
}

/// A further workload: it has schema and data in common with the first.
fn goes_with(
    raw: &raw::Workload,
    (language, file): (Language, &Spanned<String>),
    own: &Own,
    mistakes: &mut Collector<'_>,
) {
    if *file.get_ref() != own.file {
        let (key, known) = (language.key(), &own.file);
        let message = format!("{key} = \"{file}\" beside \"{known}\": an experiment has one schema and one data set");
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
            if !names.contains(&&*called(&own.file, name)) {
                let message = format!("weights: {} has no statement `{name}`", own.file);
                mistakes.add(name.span(), message, choice(name, &names));
            }
        }
        // A profile says of no operation how often it is asked.
        let unstated = |statement: &statements::Statement| {
            if is_profile(&own.file) { 0.0 } else { statement.weight }
        };
        let weight = |statement: &statements::Statement| {
            let stated = raw.weights.iter().find(|(name, _)| *called(&own.file, name) == *statement.name);
            stated.map_or(unstated(statement), |(_, weight)| mistakes.number(weight, "a weight", 0.0..=1e9, 0.0))
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
            grows: statement.sql.as_ref().is_some_and(statements::Sql::adds_rows)
                || statement.makes() && asks_for_new(own.data.statements.get(&statement.name)),
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
    let partitions = match &given.partitions {
        None => {
            mistakes.refuse(name.span(), format!("{name} has no `partitions`"), "state how many are loaded; 0: none")
        }
        Some(partitions) => mistakes.stated_integer(partitions, "partitions", 0..=MOST_PARTITIONS),
    };
    let rows = match &given.rows {
        None => Some(statements::Size::fixed(1)),
        Some(rows) => own_values::stated_size(rows, "rows", mistakes),
    };
    let population = population((&given.distribution, &given.hot_set), mistakes);
    Some(TableData {
        table: name.get_ref().clone(),
        partitions: partitions? as u64,
        rows: rows?,
        population: population?.unwrap_or_default(),
        columns: columns.into_iter().collect::<Option<_>>()?,
    })
}
