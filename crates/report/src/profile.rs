//! What `iopslab profile` says of a cluster that it watched.

mod words;

use ::profile::{CountedBy, DeviceUse, Hour, LeftOut, NodeUse, Profile, TableKeys, TableUse};
use serde_json::{Value, json};

use crate::document::markdown as in_markdown;
use crate::document::section::Section;
use crate::document::table::{Rows, column, rows};
use crate::document::terminal::plain;
use crate::figures::{given, number, percent, several, whole, whole_percent};
use crate::neutral::{neutral, one_line};
use words::{left_out, sentences};

/// So many statements are shown, and so much of each; the document has all of them.
const MOST_STATEMENTS: usize = 20;
const MOST_CHARACTERS: usize = 120;

/// The document as `--format json` prints it, with the sentences that people read.
pub fn profile_document(profile: &Profile) -> Value {
    let mut document = json!(profile);
    document["sentences"] = json!(sentences(profile));
    for (place, unknown) in profile.unknown.iter().enumerate() {
        document["unknown"][place] = json!({ "kind": unknown, "words": unknown.words() });
    }
    document
}

/// At most `width` columns wide.
pub fn profile_terminal(profile: &Profile, width: usize) -> String {
    plain(sections(profile), width)
}

/// The same as Markdown.
pub fn profile_markdown(profile: &Profile) -> String {
    let text: String = sections(profile).iter().map(in_markdown::section).collect();
    neutral(text.trim_end()) + "\n"
}

fn sections(profile: &Profile) -> Vec<Section<'_>> {
    let seen = format!(
        "Cluster {} ({}, {}), watched for {:.1} minutes{}.",
        one_line(&profile.cluster.name),
        one_line(&profile.cluster.version),
        several(profile.cluster.nodes.into(), "node"),
        profile.seconds / 60.0,
        if profile.ended_early { ", ended early" } else { "" }
    );
    let own = &profile.own_load;
    let statement = own.statement_ms.map_or_else(String::new, |ms| format!(", {} ms each", number(ms)));
    let agent = own.agent_cpus.map_or_else(String::new, |cpus| {
        format!("; the agent of the host with the most used {} of a CPU", percent(cpus))
    });
    let cost = format!(
        "Watching itself: {} statements a minute and node{statement}{agent}.",
        number(own.statements_per_minute)
    );
    let not_read = profile.not_read.iter().map(|missing| format!("{}: {}", missing.what, missing.why));
    let not_watched = profile
        .devices
        .iter()
        .flat_map(|device| device.missing.iter().map(move |missing| format!("on {}: {missing}", device.host)));
    let not_read = not_read.chain(not_watched);
    vec![
        Section::new("answer", "").paragraph(seen).paragraphs(sentences(profile)),
        Section::new("cheaper", "").table(candidates(profile)),
        Section::new("volumes", "Volumes").table(devices(profile)).paragraphs(left_out(profile)),
        Section::new("workload", "Workload")
            .table(tables(profile))
            .table(keys(profile))
            .table(nodes(profile))
            .table(statements(profile))
            .table(left_out_of_own(profile))
            .table(counted(profile))
            .table(hours(profile)),
        Section::new("not-read", "Not read").list(not_read),
        Section::new("unknown", "Not known").list(profile.unknown.iter().map(::profile::Unknown::words)),
        Section::new("basis", "").paragraph(cost).paragraph(format!("Basis: {}", profile.verdict.basis)),
    ]
}

fn candidates(profile: &Profile) -> Rows<[String; 5]> {
    let today = profile.verdict.today.iter().map(|today| {
        [
            today.configuration.clone(),
            today.usd_per_month.map_or_else(|| "-".to_owned(), whole),
            String::new(),
            today.used.map_or_else(|| "-".to_owned(), whole_percent),
            "today".to_owned(),
        ]
    });
    let cheaper = profile.verdict.cheaper.iter().map(|candidate| {
        let what = match candidate.other_type {
            true => "another type, no less of CPUs, memory and network; not measured",
            false => "the same machine",
        };
        [
            candidate.configuration.clone(),
            whole(candidate.usd_per_month),
            whole(candidate.saves_usd_per_month),
            whole_percent(candidate.used),
            what.to_owned(),
        ]
    });
    rows("What would hold what was seen", today.chain(cheaper))
        .text(column("Configuration").wide(), |row| row[0].clone())
        .number("$/month", |row| row[1].clone())
        .number("saves", |row| row[2].clone())
        .number("used", |row| row[3].clone())
        .text(column("").wide().drop(1), |row| row[4].clone())
}

fn devices(profile: &Profile) -> Rows<&DeviceUse> {
    rows("What volumes were asked for", &profile.devices)
        .text("Host", |device| device.host.clone())
        .number("IOPS,\nbusiest\nminute", |device| device.busiest_minute.both.iops)
        .number("IOPS,\np99 of\nseconds", |device| device.p99_second.both.iops)
        .number("MiB/s,\nbusiest\nminute", |device| device.busiest_minute.both.mib_per_s)
        .number("MiB/s,\np99 of\nseconds", |device| device.p99_second.both.mib_per_s)
        .number("At the\nlimit", |device| device.at_limit.map(percent))
        .number(column("Queue\np99").drop(2), |device| device.queue_p99)
        .number(column("Read\nms").drop(3), |device| {
            device.read_ms.map(|(median, p99)| format!("{}\np99 {}", number(median), number(p99)))
        })
        .number(column("CPUs").drop(1), |device| {
            device.cpu.map(|cpu| format!("{}\nof {}", number(cpu.busiest_minute), given(cpu.of)))
        })
}

fn tables(profile: &Profile) -> Rows<&TableUse> {
    let mean_bytes = match profile.cluster.counted_by {
        CountedBy::Cassandra => "Mean\npartition\nbytes",
        CountedBy::Postgresql => "Mean\nrow\nbytes",
    };
    rows("Tables, on all nodes that were read", &profile.workload.tables)
        .text("Table", |table| table.schema.name.to_string())
        .number("Reads/s\nof clients", |table| table.clients.map(|rates| rates.reads + rates.scans))
        .number("Writes/s\nof clients", |table| table.clients.map(|rates| rates.writes))
        .number("Read", |table| table.clients.and_then(|rates| rates.read_share()).map(percent))
        .number(column("MiB on\ndisk").drop(1), |table| table.disk_mib.map(whole))
        .number(column(mean_bytes).drop(2), |table| table.mean_partition_bytes)
        .number(column("Largest\nMiB").drop(3), |table| table.largest_partition_mib.map(whole))
        .number(column("Tombstones\na read, p99").drop(4), |table| table.tombstones_per_read_p99)
}

/// How partitions are chosen, where a log of requests shows it.
fn keys(profile: &Profile) -> Rows<&TableKeys> {
    let law = |skew: Option<::profile::Skew>| skew.map(|skew| skew.best.law.to_string());
    rows("Which partitions are asked for, by the query log", profile.log.iter().flat_map(|log| &log.tables))
        .text("Table", |keys| keys.table.to_string())
        .number("Requests", |keys| keys.requests)
        .text(column("Partitions are chosen").wide(), move |keys| {
            law(keys.skew).unwrap_or_else(|| "not known: too few requests, or no estimate of partitions".to_owned())
        })
        .number("Off by,\npoints", |keys| keys.skew.map(|skew| skew.best.gap * 100.0))
        .number("Most\npopular", |keys| keys.skew.map(|skew| percent(skew.hottest)))
        .text(column("by reads").wide().drop(3), move |keys| law(keys.of_reads))
        .text(column("by writes").wide().drop(2), move |keys| law(keys.of_writes))
        .number(column("Not of one\npartition").drop(1), |keys| keys.without_key)
}

fn nodes(profile: &Profile) -> Rows<&NodeUse> {
    let label = match profile.cluster.counted_by {
        CountedBy::Cassandra => "Nodes, as replicas",
        CountedBy::Postgresql => "The server; reads are scans, writes are rows",
    };
    rows(label, &profile.workload.nodes)
        .text("Node", |node| node.node.clone())
        .number("Reads/s", |node| node.replicas.map(|rates| rates.mean.reads + rates.mean.scans))
        .number("Writes/s", |node| node.replicas.map(|rates| rates.mean.writes))
        .number("Operations/s,\nbusiest", |node| node.replicas.map(|rates| rates.busiest.total()))
        .number(column("GiB on\ndisk").drop(1), |node| node.data_bytes.map(|bytes| bytes / crate::figures::GIB))
        .number(column("Compactions\nat most").drop(2), |node| node.compactions)
}

/// The statements that are called most, where a server or a log shows them.
fn statements(profile: &Profile) -> Rows<(&str, f64)> {
    let of_log = profile.log.iter().flat_map(|log| &log.calls_per_s);
    let calls = profile.workload.nodes.iter().flat_map(|node| &node.calls_per_s).chain(of_log);
    let mut calls: Vec<(&str, f64)> = calls.map(|(text, rate)| (text.as_str(), *rate)).collect();
    calls.retain(|(_, rate)| *rate > 0.0);
    calls.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    calls.truncate(MOST_STATEMENTS);
    rows("Statements that are called most", calls)
        .text(column("Statement").wide(), |(text, _)| one_line(text).chars().take(MOST_CHARACTERS).collect::<String>())
        .number("Calls/s", |(_, rate)| number(*rate))
}

/// What no file of statements can have of a log, and why.
fn left_out_of_own(profile: &Profile) -> Rows<(&LeftOut, f64)> {
    let shares = profile.log.iter().flat_map(|log| {
        let all = log.own.requests() as f64;
        log.own.left_out.iter().map(move |one| (one, one.requests as f64 / all))
    });
    rows("Statements of the query log that own statements cannot have", shares.take(MOST_STATEMENTS))
        .text(column("Statement").wide(), |(one, _)| {
            one_line(&one.what).chars().take(MOST_CHARACTERS).collect::<String>()
        })
        .number("Share", |(_, share)| percent(*share))
        .text(column("Because").wide(), |(one, _)| one_line(&one.why))
}

/// What a server counts besides: in the words of the reference of its series.
fn counted(profile: &Profile) -> Rows<(&'static str, f64)> {
    let of = |key: &str| profile.workload.nodes.first().and_then(|node| node.counted_per_s.get(key)).copied();
    let all = reported::postgresql::SERIES.iter();
    let known = all.filter_map(|series| Some((series.about, of(series.key)?)));
    rows("What the server counts; the data set's database is the one that is watched", known)
        .text(column("In a second").wide(), |(about, _)| (*about).to_owned())
        .number("Mean", |(_, rate)| number(*rate))
}

fn hours(profile: &Profile) -> Rows<&Hour> {
    rows("What clients asked, by hour from the beginning", &profile.workload.hours)
        .number("Hour", |hour| hour.hour.to_string())
        .number("Reads/s", |hour| hour.clients.reads + hour.clients.scans)
        .number("Writes/s", |hour| hour.clients.writes)
        .number("Operations/s", |hour| hour.clients.total())
}
