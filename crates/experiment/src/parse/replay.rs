//! `[[workload]] replay = "shop.jsonl"`: what was asked once is asked again, of a schema and data that are stated.

use std::collections::BTreeSet;

use ::workload::{Definition, OperationKind, Replayed, StatementName, StatementShare};
use query_log::{RecordedStatement, Summary};
use statements::{Effect, MOST_STATEMENTS, Recorded, Script, SerialConsistency};
use toml::Value;

use super::beside::ParseContext;
use super::own::{self, Common};
use super::own_data::is_profile;
use crate::mistakes::Collector;
use crate::raw::Language;
use crate::spanned::{Spanned, place};
use crate::{Consistency, Note, Own, Replay, raw};

/// How fast at most, and how slowly: beyond these a number is a slip.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.01..=1_000.0;
const AS_FAST: &str = "as_fast_as_order_allows";

/// What does not go with a replay, or without one.
pub(super) fn fits(file: &raw::Experiment, mistakes: &mut Collector<'_>) {
    for workload in &file.workload {
        if let Some(at) = place(&workload.speed).filter(|_| workload.replay.is_none()) {
            mistakes.add(at, "`speed` is for a replay", "state replay = \"FILE\", or remove it");
        }
    }
    let Some(replay) = file.workload.iter().find_map(|workload| workload.replay.as_ref()) else { return };
    if let Some(other) = file.workload.get(1) {
        let message =
            format!("another workload beside replay = \"{replay}\": a replay has its own load and data so far");
        mistakes.add(other.span(), message, "write an experiment for each");
    }
    if let Some(scale) = file.provider.local.scale.as_ref().filter(|scale| scale.fract() != 0.0) {
        let message = format!("scale = {scale} with replay = \"{replay}\": a model has one partition of N");
        mistakes.add(scale.span(), message, "give a whole number");
    }
    let load = &file.load;
    if let Some(clients) = load.clients.as_ref().filter(|clients| clients.as_integer() != Some(1)) {
        let message = format!("clients = {clients} with replay = \"{replay}\": one client sends a recording so far");
        mistakes.add(clients.span(), message, "remove it");
    }
    if let Some(at) = place(&load.warmup) {
        let message = format!("warmup = \"auto\" with replay = \"{replay}\": a recording is as steady as it was");
        mistakes.add(at, message, "give warmup_s in seconds: the recording begins with the warm-up");
    }
}

/// A replay: its schema and data are those of `cql` and `tables`, its statements those of the recording.
pub(super) fn check(
    (raw, all): (&Spanned<raw::Workload>, &[Spanned<raw::Workload>]),
    seed: u64,
    common: &mut Common,
    beside: &ParseContext<'_>,
    mistakes: &mut Collector<'_>,
) -> Option<Definition> {
    let replay = raw.replay.as_ref()?;
    if common.is_some() {
        // A replay is the only workload, which has been said.
        return None;
    }
    let Some(file) = &raw.cql else {
        let message = "a replay has no schema";
        return mistakes.refuse(
            replay.span(),
            message,
            "state cql = \"FILE\" with the CREATE TABLEs of what was asked",
        );
    };
    if is_profile(file) {
        let message = format!(
            "cql = \"{file}\" with replay = \"{replay}\": a profile of cassandra-stress asks for what it states"
        );
        return mistakes.refuse(file.span(), message, "write a file of CQL with the CREATE TABLEs of what was asked");
    }
    own::not_of_ycsb(raw, (Language::Cql, file), mistakes);
    let stray = [
        ("weights", raw.weights.keys().next().map(Spanned::span)),
        ("statements", raw.statements.keys().next().map(Spanned::span)),
    ];
    mistakes.stray(
        stray,
        |key| format!("`{key}` with replay = \"{replay}\": what is asked, and how often, was recorded"),
        "remove it",
    );
    for (name, table) in &raw.tables {
        let stray = [("distribution", place(&table.distribution)), ("hot_set", place(&table.hot_set))];
        mistakes.stray(
            stray,
            |key| format!("`{key}` of {name} with replay = \"{replay}\": which partitions are asked for was recorded"),
            "remove it",
        );
    }
    let (file, read) = ((Language::Cql, file, seed), (beside.file, Script::parse_schema as own::ParseScript));
    let own = mistakes.sound(|mistakes| own::first((raw, all), file, read, mistakes));
    let recording = match (beside.recording)(replay) {
        Ok(recording) => Some(recording),
        Err(error) => mistakes.refuse(replay.span(), error, "the path is relative to the experiment file"),
    };
    let speed = speed(raw, mistakes);
    let path = replay.as_str().trim_end_matches('/');
    let stem = path.rsplit('/').next().unwrap_or(path);
    let name = match &raw.name {
        Some(name) => mistakes.safe_name(name, "workload")?,
        None => stem.strip_suffix(".jsonl").or_else(|| stem.strip_suffix(".cq4")).unwrap_or(stem).to_owned(),
    };
    let (mut own, recording, speed) = (own.flatten()?, recording?, speed?);
    let summary = &recording.summary;
    let asked = asked(summary, &own, replay, mistakes)?;
    let requests: u64 = asked.iter().map(|one| one.requests).sum();
    let span_s = (summary.end_us - summary.begin_us) as f64 / 1e6;
    if speed.is_some() && span_s <= 0.0 {
        let message = format!("{replay}: all requests have the same time, so that there is no pace to keep");
        return mistakes.refuse(replay.span(), message, format!("state speed = \"{AS_FAST}\""));
    }
    mistakes.notes.extend(notes(summary, requests, replay));
    let shares = named(asked, requests, &mut own, replay, mistakes)?;
    own.replay = Some(Replay { path: recording.path.clone(), sha256: recording.sha256.clone(), thinned: 1 });
    *common = Some(Some(own));
    let replayed = Replayed { file: replay.get_ref().clone(), requests, span_s, speed, again: false };
    Some(Definition { replayed: Some(replayed), ..Definition::of_statements(&name, shares) })
}

/// How much faster than recorded; `Some(None)`: as fast as order allows.
fn speed(raw: &raw::Workload, mistakes: &mut Collector<'_>) -> Option<Option<f64>> {
    let Some(given) = &raw.speed else { return Some(Some(1.0)) };
    let number = match given.get_ref() {
        Value::String(word) if word == AS_FAST => return Some(None),
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    };
    match number.filter(|number| SPEEDS.contains(number)) {
        Some(number) => Some(Some(number)),
        None => {
            let help = format!("a number from {} to {}, or \"{AS_FAST}\"", SPEEDS.start(), SPEEDS.end());
            mistakes.refuse(given.span(), format!("speed cannot be {given}"), help)
        }
    }
}

/// A statement that is sent again.
struct Asked {
    text: Recorded,
    consistency: Option<String>,
    serial: Option<SerialConsistency>,
    requests: u64,
}

/// Every statement of the recording that asks for tables of the schema, the most frequent first.
fn asked(summary: &Summary, own: &Own, replay: &Spanned<String>, mistakes: &mut Collector<'_>) -> Option<Vec<Asked>> {
    let tables: Vec<&str> = own.script.tables().collect();
    let mut all: Vec<Asked> = Vec::new();
    let mut keyspaces: BTreeSet<String> = BTreeSet::new();
    for recorded in &summary.statements {
        let Some(text) = sent(recorded, &tables) else { continue };
        keyspaces.extend(text.keyspace.clone().or_else(|| recorded.keyspace.clone()));
        let is_known = |level: &String| Consistency::ALL.iter().any(|known| known.name() == level);
        if let Some(level) = recorded.consistency.as_ref().filter(|level| !is_known(level)) {
            let message = format!("{replay}: `{}` was asked at consistency {level}", text.text);
            return mistakes.refuse(replay.span(), message, "iopslab has no such level: leave these requests out");
        }
        let of_conditions = recorded.serial.as_deref().filter(|_| text.effect == Effect::Conditional);
        let serial = match of_conditions {
            None => None,
            Some("serial") => Some(SerialConsistency::Serial),
            Some("local_serial") => Some(SerialConsistency::LocalSerial),
            Some(level) => {
                let message = format!("{replay}: the condition of `{}` was asked at {level}", text.text);
                return mistakes.refuse(replay.span(), message, "it can be serial or local_serial");
            }
        };
        let (consistency, requests) = (recorded.consistency.clone(), recorded.requests);
        let same = all
            .iter_mut()
            .find(|one| one.text.text == text.text && one.consistency == consistency && one.serial == serial);
        match same {
            Some(same) => same.requests += requests,
            None => all.push(Asked { text, consistency, serial, requests }),
        }
        if all.len() > MOST_STATEMENTS {
            let message = format!(
                "{replay}: more than {MOST_STATEMENTS} different statements, and each has latencies of its own; one is \
                 `{}`",
                all[MOST_STATEMENTS].text.text
            );
            let help = "record prepared statements, whose values do not stand in the text; or leave rare ones out";
            return mistakes.refuse(replay.span(), message, help);
        }
    }
    if keyspaces.len() > 1 {
        let names = keyspaces.into_iter().collect::<Vec<_>>().join(", ");
        let message = format!("{replay} asks for tables of several keyspaces: {names}");
        return mistakes.refuse(replay.span(), message, "a run has one: leave the requests of all others out");
    }
    if all.is_empty() {
        let message = format!("{replay} asks for no table of {}: it has {}", own.file, tables.join(", "));
        return mistakes.refuse(replay.span(), message, "state its tables there, as they were created");
    }
    all.sort_by(|a, b| b.requests.cmp(&a.requests).then_with(|| a.text.text.cmp(&b.text.text)));
    Some(all)
}

/// A recorded statement as it is sent again; `None`: it asks for something else than these tables.
fn sent(recorded: &RecordedStatement, tables: &[&str]) -> Option<Recorded> {
    let text = Recorded::read(&recorded.text)?;
    let keyspace = text.keyspace.as_deref().or(recorded.keyspace.as_deref()).unwrap_or_default();
    // What drivers ask for themselves.
    let is_of_server = keyspace == "system" || keyspace.starts_with("system_");
    (!is_of_server && text.tables.iter().all(|table| tables.contains(&table.as_str()))).then_some(text)
}

/// Gives each a name, makes them the statements of the script, and says their shares.
fn named(
    asked: Vec<Asked>,
    requests: u64,
    own: &mut Own,
    replay: &Spanned<String>,
    mistakes: &mut Collector<'_>,
) -> Option<Vec<StatementShare>> {
    let mut shares = Vec::new();
    for one in asked {
        let name = one.text.name();
        let taken = |name: &str| own.script.statements.iter().any(|other| other.name == name);
        let name = match taken(&name) {
            false => name,
            // There are fewer statements than numbers.
            true => (2..).map(|number| format!("{name}_{number}")).find(|name| !taken(name))?,
        };
        let kind = match StatementName::new(&name) {
            Ok(name) => OperationKind::Statement(name),
            Err(error) => {
                let message = format!("{replay}: `{}` cannot be called {name}: {error}", one.text.text);
                return mistakes.refuse(replay.span(), message, "leave these requests out");
            }
        };
        let share = one.requests as f64 / requests as f64;
        let (reads, writes) = (one.text.effect != Effect::Write, one.text.effect != Effect::Read);
        own.script.statements.push(one.text.statement(name, share, one.consistency, one.serial));
        // Whether its rows were there nobody recorded: what changes within a window is not excused.
        shares.push(StatementShare { kind, share, reads, writes, grows: false });
    }
    Some(shares)
}

/// What is worth knowing of a recording.
fn notes(summary: &Summary, requests: u64, replay: &Spanned<String>) -> Vec<Note> {
    let mut notes = Vec::new();
    let all: u64 = summary.statements.iter().map(|statement| statement.requests).sum();
    if all > requests {
        let left_out = all - requests;
        let message =
            format!("{replay}: {left_out} of {all} requests ask for other tables, or for none, and are left out");
        let note = Note::new("replay_left_out", message, "State all tables that the replay is to ask for");
        notes.push(note.with([("left_out", left_out as f64), ("requests", all as f64)]));
    }
    if summary.later_pages > 0 {
        let pages = summary.later_pages;
        let message = format!("{replay}: {pages} requests for a further page of a result are left out");
        let advice = "A replay asks for a whole result at once: the first page's request does";
        notes.push(Note::new("replay_pages", message, advice).with([("requests", pages as f64)]));
    }
    if let Some(lost) = summary.lost() {
        let gaps = summary.gaps;
        let message = format!("{replay} {lost}");
        let advice = "Either nothing was asked then, or it was dropped: a full query log that does not block \
                      (`block: false`) drops what it cannot write, and one that is full loses its oldest files; logs \
                      of several nodes have to begin and end together";
        let numbers = [("pauses", gaps.number as f64), ("longest_s", gaps.longest_s), ("together_s", gaps.together_s)];
        notes.push(Note::new("replay_gaps", message, advice).with(numbers));
    }
    if summary.is_cut {
        let message = format!("{replay} ends within a request: its server was still writing, or ended");
        notes.push(Note::new("replay_cut", message, "Copy it after `nodetool disablefullquerylog`"));
    }
    notes
}
