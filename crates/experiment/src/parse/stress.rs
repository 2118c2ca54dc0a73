//! `[[workload]] cql = "profile.yaml"`: a user profile of cassandra-stress as schema, data and statements.
//!
//! What is on the command line of cassandra-stress is stated in the experiment: `ops(...)` as `weights`, the number of
//! partitions (`-pop`, `n=`) and how requests choose among them with the table.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use statements::{Data, StatementData, StressProfile, parse_stress, stress_operations, stress_statement};

use super::own_data::{
    MOST_PARTITIONS, names_of_statements, not_measurable, population, row_bytes, sound, statement, unfit,
    unstated_texts,
};
use crate::mistakes::{Collector, choice};
use crate::spanned::{Spanned, place};
use crate::{Consistency, Note, Own, raw};

/// The profile, and what is stated beside it. `all`: the workloads of the experiment, whose operations are asked.
pub(super) fn first(
    (raw, all): (&Spanned<raw::Workload>, &[Spanned<raw::Workload>]),
    (file, seed): (&Spanned<String>, u64),
    text: &str,
    mistakes: &mut Collector<'_>,
) -> Option<Own> {
    let path = file.as_str();
    let names = sound(stress_operations(text).map_err(|mistake| vec![mistake]), (path, text), mistakes)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let of_file = all.iter().filter(|workload| workload.cql.as_ref().is_some_and(|cql| cql.as_str() == path));
    let each: Vec<Option<Vec<&str>>> = of_file.map(|workload| asked(workload, path, &names, mistakes)).collect();
    let each: Option<Vec<Vec<&str>>> = each.into_iter().collect();
    let asked: Option<BTreeSet<&str>> = each.map(|each| each.into_iter().flatten().collect());
    // Of several tables, all but the profile's are refused below.
    let given = raw.tables.values().next();
    let partitions = given.and_then(|given| given.partitions.as_ref());
    let partitions = partitions.map(|stated| mistakes.integer(stated, "partitions", 0..=MOST_PARTITIONS, 1) as u64);
    let chosen = given.and_then(|given| population((&given.distribution, &given.hot_set), mistakes)).flatten();
    for given in raw.tables.values() {
        mistakes.stray(
            [("rows", place(&given.rows)), ("columns", given.columns.keys().next().map(Spanned::span))],
            |key| format!("`{key}` of a table of {path}: a profile of cassandra-stress states that itself"),
            "state it in the profile's columnspec, or write a file of CQL instead",
        );
    }
    let of_statements: Vec<Option<(String, StatementData)>> =
        raw.statements.iter().map(|(name, given)| statement(name, given, mistakes)).collect();
    let asked: Vec<&str> = asked?.into_iter().collect();
    for name in raw.statements.keys().filter(|name| !asked.contains(&name.as_str())) {
        let message = format!("{path}: no workload asks for an operation `{name}`");
        mistakes.add(name.span(), message, choice(name, &asked));
    }
    let levels = Consistency::ALL.map(Consistency::name);
    let profile = sound(parse_stress(text, &asked, partitions, &levels), (path, text), mistakes)?;
    let StressProfile { script, mut table, notes } = profile;
    for name in raw.tables.keys().filter(|name| *name.get_ref() != table.table) {
        let message = format!("{path} has no table `{name}`");
        mistakes.add(name.span(), message, format!("its table is {}", table.table));
    }
    if table.partitions > MOST_PARTITIONS as u64 {
        let message = format!("{path} has {} partitions, more than {MOST_PARTITIONS}", table.partitions);
        mistakes.add(
            file.span(),
            message,
            "state `partitions` with its table, or a smaller `population` in the profile",
        );
    }
    not_measurable(&script, (path, text), mistakes);
    names_of_statements(&script, (path, text), mistakes);
    match chosen {
        Some(chosen) => table.population = chosen,
        None => {
            let message = "requests choose partitions uniformly: cassandra-stress has that on its command line (-pop)";
            note(path, message, "State `distribution` with the table to have it otherwise", mistakes);
        }
    }
    for said in &notes {
        note(path, said, "For exactly what you mean write a file of CQL, whose data the experiment states", mistakes);
    }
    let row_bytes =
        row_bytes(given.and_then(|given| given.row_bytes.as_ref()), &table, unstated_texts(&script, &table), mistakes);
    let row_bytes = BTreeMap::from([(table.table.clone(), row_bytes)]);
    let asked_of = of_statements.into_iter().flatten().filter(|(name, _)| asked.contains(&name.as_str()));
    let of_statements = asked_of.map(|(name, data)| (stress_statement(&name), data)).collect();
    let data = Data { seed, tables: vec![table], statements: of_statements };
    unfit((&data, &script), raw, file, mistakes);
    Some(Own { file: path.to_owned(), script, data, row_bytes, replay: None, snapshot: None })
}

/// The operations that a workload asks for.
fn asked<'a>(
    workload: &'a Spanned<raw::Workload>,
    path: &str,
    names: &[&str],
    mistakes: &mut Collector<'_>,
) -> Option<Vec<&'a str>> {
    let listed = names.join(", ");
    if workload.weights.is_empty() {
        let at: Range<usize> = workload.cql.as_ref().map_or_else(|| workload.span(), Spanned::span);
        let message = format!("{path} does not state how often which operation is asked: `weights` does, as ops(...)");
        return mistakes.refuse(
            at,
            message,
            format!("its operations are {listed}; e.g. weights = {{ {} = 1 }}", names[0]),
        );
    }
    let asked: Vec<&str> = mistakes.sound(|mistakes| {
        for name in workload.weights.keys().filter(|name| !names.contains(&name.as_str())) {
            let message = format!("weights: {path} has no operation `{name}`: it has {listed}");
            mistakes.add(name.span(), message, choice(name, names));
        }
        workload.weights.iter().filter(|(_, weight)| ***weight > 0.0).map(|(name, _)| name.as_str()).collect()
    })?;
    if asked.is_empty() {
        return mistakes.refuse(workload.span(), "all operations have weight 0", "give one of them a weight above 0");
    }
    Some(asked)
}

/// What of a profile is otherwise here.
fn note(path: &str, message: &str, advice: &'static str, mistakes: &mut Collector<'_>) {
    mistakes.notes.push(Note::new("stress_profile", format!("{path}: {message}"), advice));
}
