//! `consistency`: a word for all statements, or one for each kind.

use toml::Value;
use workload::{Definition, OperationKind};

use super::beside::ReadFile;
use super::inline::{table, within};
use super::{only, own_data};
use crate::mistakes::Collector;
use crate::spanned::Form;
use crate::words::Word as _;
use crate::{Configuration, Consistency, ConsistencyLevels, Database, Experiment, Own, raw};

/// As it is typed.
type Given = Form<String, raw::ConsistencyByKind>;

/// The levels that are stated; what a table leaves out is `one`.
pub(super) fn check(given: &Given, mistakes: &mut Collector<'_>) -> Option<ConsistencyLevels> {
    match given.get_ref() {
        Value::String(word) => level(given, word, mistakes).map(ConsistencyLevels::all),
        Value::Table(_) => {
            let raw = table(given, "consistency", mistakes)?;
            let mut of = |word: &Option<String>| match word {
                None => Some(Consistency::One),
                Some(word) => level(given, word, mistakes),
            };
            let (read, scan, update, insert) = (of(&raw.read), of(&raw.scan), of(&raw.update), of(&raw.insert));
            Some(ConsistencyLevels { read: read?, scan: scan?, update: update?, insert: insert? })
        }
        other => {
            let message = format!("consistency cannot be {}", other.type_str());
            let help = "a level such as \"quorum\", or { read = \"one\", update = \"quorum\" }";
            mistakes.refuse(given.span(), message, help)
        }
    }
}

fn level(given: &Given, word: &str, mistakes: &mut Collector<'_>) -> Option<Consistency> {
    let found = Consistency::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(word));
    let at = place(given, word, mistakes);
    found.or_else(|| mistakes.one_of(at, word, "unknown consistency level", Consistency::WORDS))
}

/// Where a level stands: the whole value, or the word inside a table.
fn place(given: &Given, word: &str, mistakes: &Collector<'_>) -> std::ops::Range<usize> {
    match given.get_ref() {
        Value::Table(_) => within(mistakes.text, &given.span(), word),
        _ => given.span(),
    }
}

/// Levels that no request could reach: ANY for what reads (Cassandra answers it with an error), and more replicas than
/// are kept.
pub(super) fn reachable(
    file: &raw::Experiment,
    target: Option<&crate::Target>,
    configurations: &[Option<Configuration>],
    workloads: &[Option<Definition>],
    mistakes: &mut Collector<'_>,
) {
    let of_target = file.target.as_ref().and_then(|t| t.consistency.as_ref());
    let of_all = of_target.zip(target.map(|t| t.consistency));
    let of_each = file.configuration.iter().zip(configurations).filter_map(|(raw, checked)| {
        let checked = checked.as_ref()?;
        let own = raw.consistency.as_ref().zip(checked.consistency);
        Some((own, checked))
    });
    let of_each: Vec<_> = of_each.collect();
    let stated = of_each.iter().filter_map(|(own, _)| *own).chain(of_all);
    for (at, levels) in stated {
        any_reads(at, levels, workloads, mistakes);
    }
    let ours = target.is_none_or(|t| matches!(t.database, Database::Started(_)));
    for (own, configuration) in of_each.into_iter().filter(|_| ours) {
        let replicas = configuration.placement.replication_factor;
        let Some((at, levels)) = own.or(of_all) else { continue };
        let too_many = |(_, level): &(&str, Consistency)| level.replicas(replicas) > replicas;
        if let Some((_, level)) = levels.by_kind().into_iter().find(too_many) {
            mistakes.add(
                place(at, level.name(), mistakes),
                format!(
                    "consistency `{}` waits for {} replicas, and {} keeps {replicas}: every request would fail",
                    level.name(),
                    level.replicas(replicas),
                    configuration.name,
                ),
                "state consistency = \"one\" or \"quorum\", or more `nodes` with a higher `replication_factor`",
            );
            return;
        }
    }
}

/// The same of the levels that statements of the user's own state themselves, each at its line.
pub(super) fn reachable_by_own(
    own: &Own,
    configurations: &[Option<Configuration>],
    read_file: ReadFile<'_>,
    mistakes: &mut Collector<'_>,
) {
    // It was read before.
    let Ok(text) = read_file(&own.file) else { return };
    for statement in &own.script.statements {
        let stated = statement.consistency.as_deref();
        let level = Consistency::ALL.into_iter().find(|level| stated == Some(level.name()));
        let Some(level) = level else { continue };
        let mut refuse = |message: String, help: &str| {
            mistakes.add_in(&own.file, &text, own_data::line(&text, statement.line), message, help);
        };
        if level == Consistency::Any && statement.reads() {
            let message = format!("consistency `any` is for writes alone, and `{}` reads", statement.name);
            refuse(message, "state consistency one");
        }
        let replicas = |configuration: &Configuration| configuration.placement.replication_factor;
        let too_few =
            |configuration: &&Configuration| level.replicas(replicas(configuration)) > replicas(configuration);
        if let Some(few) = configurations.iter().flatten().find(too_few) {
            let message = format!(
                "consistency `{}` waits for {} replicas, and {} keeps {}: every `{}` would fail",
                level.name(),
                level.replicas(replicas(few)),
                few.name,
                replicas(few),
                statement.name,
            );
            refuse(message, "state consistency one or quorum, or more `nodes` with a higher `replication_factor`");
        }
    }
}

fn any_reads(at: &Given, levels: ConsistencyLevels, workloads: &[Option<Definition>], mistakes: &mut Collector<'_>) {
    use OperationKind::{Read, ReadModifyWrite, Scan};
    let asks = |w: &&Definition| {
        // What reads and writes, a condition, is asked at the level of updates.
        let own = w.statements.iter().any(|statement| statement.reads && !statement.writes);
        let read = own || w.mix.share(Read) + w.mix.share(ReadModifyWrite) > 0.0;
        (read && levels.read == Consistency::Any) || (w.mix.share(Scan) > 0.0 && levels.scan == Consistency::Any)
    };
    if let Some(reader) = workloads.iter().flatten().find(asks) {
        let message = format!("consistency `any` is for writes alone, and `{}` reads", reader.name);
        mistakes.add(place(at, "any", mistakes), message, "state consistency = \"one\"");
    }
}

/// Levels that are more than ONE in a cluster, where every record has one replica.
pub(super) struct OfOneReplica {
    /// As stated.
    pub levels: ConsistencyLevels,
    /// Those of them that are more than ONE, in capitals as CQL has them, each once.
    pub above_one: Vec<String>,
    /// The configurations with one replica that ask at them.
    pub configurations: Vec<String>,
}

/// Levels that wait for the only replica, as ONE does: what they cost in a cluster is not seen.
pub(super) fn of_one_replica(file: &raw::Experiment, experiment: &Experiment) -> Vec<OfOneReplica> {
    let is_stated = |c: &raw::Configuration| {
        file.target.as_ref().and_then(|t| t.consistency.as_ref()).or(c.consistency.as_ref()).is_some()
    };
    let mut found: Vec<OfOneReplica> = Vec::new();
    for (raw, checked) in only::with_raw(file, &experiment.configurations) {
        if checked.placement.replication_factor > 1 || !is_stated(raw) {
            continue;
        }
        let levels = checked.consistency.unwrap_or(experiment.target.consistency);
        // Three replicas distinguish them; TWO and THREE cannot be had of one.
        let differs = |level: &Consistency| level.replicas(1) == 1 && level.replicas(3) > 1;
        let mut above_one: Vec<String> = Vec::new();
        for (_, level) in levels.by_kind().iter().filter(|(_, level)| differs(level)) {
            let name = level.name().to_ascii_uppercase();
            if !above_one.contains(&name) {
                above_one.push(name);
            }
        }
        match found.iter_mut().find(|of| of.levels == levels) {
            _ if above_one.is_empty() => {}
            Some(of) => of.configurations.push(checked.name.clone()),
            None => found.push(OfOneReplica { levels, above_one, configurations: vec![checked.name.clone()] }),
        }
    }
    found
}
