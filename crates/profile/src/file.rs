//! An experiment that resembles what was seen: today's configuration as the baseline, others of the catalog around it,
//! and comments that say of each figure where it comes from.

use std::collections::BTreeMap;

use catalog::ClusterRequest;
use experiment::{Draft, LoadLevel, Origins, PRODUCTS, Product, RecordShape};
use workload::skew::{Fitted, Law};

use crate::judged::Profile;
use crate::log::LogUse;
use crate::own_file::{left_out, own_draft, shortened};
use crate::reading::CountedBy;
use crate::verdict::Withheld;
use crate::workload::{Hour, NodeUse, Rates, TableUse};

/// So many cheaper and dearer configurations are tried: each costs as much time as today's.
const MOST_OF_A_SIDE: usize = 2;
/// Requests in flight: what `iopslab init` assumes, too.
const IN_FLIGHT: u32 = 64;
/// So many tables, and statements, are named, those that are used most.
const MOST_TABLES: usize = 20;
/// Most fields of a record, and most bytes of one, that an experiment takes.
const MOST_FIELDS: u32 = 1_000;
const MOST_FIELD_BYTES: f64 = 1_048_576.0;

/// Why there is no experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoFile {
    /// What a node runs on is not stated.
    NotStated,
    /// Its version counts no operations of tables, or no node was read twice.
    NotCounted,
    /// Nothing was asked of any table.
    NothingAsked,
    /// No table has anything on disk.
    NoData,
}

impl NoFile {
    /// What is missing, and what to do.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::NotStated => (
                "an experiment needs to know what a node runs on today, and what that may do",
                "state it: --instance TYPE --data-volume TYPE:SIZE[:IOPS[:MIB_PER_S]]",
            ),
            Self::NotCounted => (
                "the nodes count no operations of tables, or were read only once",
                "Cassandra 4.0 and later count them; watch for a minute or more",
            ),
            Self::NothingAsked => (
                "nothing was asked of any table",
                "watch it while its clients work; tables of the system do not count, and PostgreSQL with \
                 track_counts = off counts none",
            ),
            Self::NoData => (
                "no table has anything on disk",
                "look again once something is there; memtables of Cassandra are flushed by: nodetool flush",
            ),
        }
    }
}

/// What the file is made from; `machine_cpus` are those of the machine that is to run it.
pub fn drafted(profile: &Profile, name: &str, machine_cpus: f64) -> Result<Draft, NoFile> {
    let today = profile.verdict.today.as_ref().ok_or(NoFile::NotStated)?;
    let with_rates = profile.workload.nodes.iter().filter_map(|node| Some((node, node.replicas?)));
    let busiest = with_rates.max_by(|(_, a), (_, b)| a.busiest.total().total_cmp(&b.busiest.total()));
    let (node, rates) = busiest.ok_or(NoFile::NotCounted)?;
    let read_share = rates.mean.read_share().ok_or(NoFile::NothingAsked)?;
    let data_bytes = node.data_bytes.filter(|bytes| *bytes > 0.0).ok_or(NoFile::NoData)?;
    let (cheaper, dearer) = &profile.around;
    let (cheaper, dearer) = (first(cheaper), first(dearer));
    let by = profile.cluster.counted_by;
    let (record, of_record) = record(&profile.workload.tables, by);
    let own = profile.log.as_ref().and_then(|log| own_draft(log, name));
    // YCSB's operations, where there are none of one's own, are one of a node each.
    let of_own_requests = profile.log.as_ref().filter(|_| own.is_some());
    let of_a_request = of_own_requests.map_or(1.0, |log| log.own.operations_of_a_request());
    let demand = (rates.busiest.total() / of_a_request).ceil().max(1.0);
    let of_record = if own.is_some() { Vec::new() } else { of_record };
    Ok(Draft {
        name: name.to_owned(),
        question: "Would cheaper storage do for this cluster, and what would faster storage bring?".to_owned(),
        product: product(by),
        configurations: [std::slice::from_ref(&today.request), cheaper, dearer].concat(),
        // What is asked was counted on a node as a replica: one node is measured.
        nodes: 1,
        replication_factor: 1,
        consistency: None,
        read_share,
        data_bytes,
        load: LoadLevel::Concurrency(IN_FLIGHT),
        demand: Some(demand),
        p99_ms: None,
        machine_cpus,
        record,
        keys: profile.log.as_ref().and_then(LogUse::stated).and_then(|(_, skew)| skew.made.law.distribution()),
        origins: Origins {
            head: head(profile, own.is_some()),
            dataset: [dataset(node, data_bytes, by), of_record].concat(),
            configurations: configurations(profile, cheaper, dearer),
            workload: [
                of_workload(node, &rates, read_share, by),
                profile.log.as_ref().map_or_else(of_no_keys, of_keys),
                of_tables(&profile.workload.tables, by),
                of_statements("pg_stat_statements", &node.calls_per_s),
                profile.log.as_ref().map_or_else(Vec::new, |log| match &own {
                    Some(own) => of_own(&own.file),
                    None => [of_statements(&log.path, &log.calls_per_s), left_out(&log.own)].concat(),
                }),
            ]
            .concat(),
            load: [
                vec![
                    format!("Not seen: how many requests are in flight. {IN_FLIGHT} is an assumption."),
                    format!("To send what was seen in the busiest minute instead: rate = [{demand}]"),
                ],
                of_hours(&profile.workload.hours),
            ]
            .concat(),
            objective: [
                vec![format!(
                    "{}: {:.0} operations/s{} between the two readings with the most.",
                    node.node,
                    rates.busiest.total().ceil(),
                    as_replica(by)
                )],
                divided(of_a_request),
            ]
            .concat(),
        },
        own,
    })
}

/// What a run counts otherwise than a node.
fn divided(of_a_request: f64) -> Vec<String> {
    let words = || {
        format!(
            "A node counts each partition of a batch and each key of IN, a run the request once: divided by \
             {of_a_request:.3}, the operations of a node for a request of the log."
        )
    };
    (of_a_request > 1.0).then(words).into_iter().collect()
}

/// Whose shares the statements have.
fn of_own(file: &str) -> Vec<String> {
    vec![
        format!("Statements and their shares are those that clients sent: {file}."),
        "Shares are those of clients. A node of a cluster does more of the writes: each copy is written, not each read."
            .to_owned(),
    ]
}

/// The database that an experiment is to measure.
fn product(by: CountedBy) -> &'static Product {
    let name = match by {
        CountedBy::Cassandra => "cassandra",
        CountedBy::Postgresql => "postgresql",
    };
    PRODUCTS.into_iter().find(|product| product.name == name).unwrap_or(PRODUCTS[0])
}

/// Whose work it is that a node counts.
fn as_replica(by: CountedBy) -> &'static str {
    match by {
        CountedBy::Cassandra => " as a replica",
        CountedBy::Postgresql => "",
    }
}

fn first(of: &[ClusterRequest]) -> &[ClusterRequest] {
    &of[..of.len().min(MOST_OF_A_SIDE)]
}

fn head(profile: &Profile, is_own: bool) -> Vec<String> {
    let cluster = &profile.cluster;
    // What is not all of a workload says so first.
    let mut lines: Vec<String> = profile.log.iter().filter(|_| is_own).filter_map(|log| log.own.not_all()).collect();
    let stands_for = match is_own {
        true => "Tables and statements are the cluster's own, rows are made. Not known:",
        false => {
            "One table in YCSB's layout stands for all tables; inserts, updates and deletes are updates. Not known:"
        }
    };
    lines.extend([
        format!(
            "From iopslab profile: cluster {} of {} nodes ({}), {} of them read for {:.1} minutes, {} watched.",
            cluster.name,
            cluster.nodes,
            cluster.version,
            profile.workload.nodes.len(),
            profile.seconds / 60.0,
            profile.devices.len()
        ),
        stands_for.to_owned(),
    ]);
    lines.extend(profile.unknown.iter().map(|unknown| format!("* {}", unknown.words())));
    lines.extend(profile.not_read.iter().map(|missing| format!("* {}: {}", missing.what, missing.why)));
    let settings = profile.cluster.settings.iter().map(|(name, value)| format!("{name} = {value}"));
    let settings: Vec<String> = settings.collect();
    if !settings.is_empty() {
        lines.push(format!("In force on the first node, not repeated below: {}", settings.join(", ")));
    }
    lines
}

fn dataset(node: &NodeUse, data_bytes: f64, by: CountedBy) -> Vec<String> {
    let what = match by {
        CountedBy::Cassandra => "SSTables on disk, compressed as they are; more where compaction is behind",
        CountedBy::Postgresql => "tables and indexes on disk, with rows that wait for a vacuum",
    };
    vec![format!("{}: {:.0} MiB of {what}.", node.node, data_bytes / catalog::MIB)]
}

/// A record is like a partition, or a row, of the table that is used most.
fn record(tables: &[TableUse], by: CountedBy) -> (RecordShape, Vec<String>) {
    let (not_there, mean) = match by {
        CountedBy::Cassandra => (
            "system.size_estimates is empty until some minutes after a flush",
            "partition (system.size_estimates; with what Cassandra adds)",
        ),
        CountedBy::Postgresql => (
            "no table that is used has rows, as PostgreSQL reckons them",
            "row (size of the table by its rows, as PostgreSQL reckons them; with what it adds)",
        ),
    };
    let known = tables.iter().find_map(|table| Some((table, table.mean_partition_bytes.filter(|bytes| *bytes > 0.0)?)));
    let Some((table, bytes)) = known else {
        let words =
            format!("Not known: how large rows are ({not_there}). YCSB's 10 fields of 100 bytes are an assumption.");
        return (RecordShape::default(), vec![words]);
    };
    let fields = table.schema.columns.clamp(1, MOST_FIELDS);
    let field_length = (bytes / f64::from(fields)).round().clamp(1.0, MOST_FIELD_BYTES);
    let words = format!(
        "{}: {bytes:.0} bytes in the mean {mean}, {} columns beside its key.",
        table.schema.name, table.schema.columns
    );
    (RecordShape { fields, field_length: field_length as u32 }, vec![words])
}

fn configurations(profile: &Profile, cheaper: &[ClusterRequest], dearer: &[ClusterRequest]) -> Vec<Vec<String>> {
    let verdict = &profile.verdict;
    let today = match &verdict.need {
        Some(need) => {
            let (whose, most) = match profile.devices.len() {
                1 => (need.host.as_str(), String::new()),
                _ => ("Over all hosts", format!("; {} uses the most of what is bought", need.host)),
            };
            format!(
                "Today's, as stated. {whose}: {:.0} IOPS and {:.1} MiB/s at the busiest (minute, or p99 of \
                 seconds){most}.",
                need.asked.both.iops, need.asked.both.mib_per_s
            )
        }
        None => "Today's, as stated. Not seen: what its volume is asked for.".to_owned(),
    };
    let less = match &verdict.withheld {
        None => format!("Cheaper; would hold what was seen with {:.0} % free.", verdict.headroom * 100.0),
        Some(Withheld::AtLimit { .. }) => "Cheaper.".to_owned(),
        Some(_) => "Cheaper; whether it holds what is asked was not seen: a question, no advice.".to_owned(),
    };
    let more = "More expensive; may do at least a fifth more.".to_owned();
    let each = |of: &[ClusterRequest], words: &str| vec![vec![words.to_owned()]; of.len()];
    [vec![vec![today]], each(cheaper, &less), each(dearer, &more)].concat()
}

fn of_workload(node: &NodeUse, rates: &Rates, read_share: f64, by: CountedBy) -> Vec<String> {
    let [reads, scans, writes] = match by {
        CountedBy::Cassandra => ["reads", "scans", "writes"],
        CountedBy::Postgresql => {
            ["scans of an index (without those of updates and deletes)", "of a whole table", "rows written"]
        }
    };
    vec![format!(
        "{}: {:.1} {reads}, {:.1} {scans} and {:.1} {writes} a second{}, so {:.1} % read (scans count as reads).",
        node.node,
        rates.mean.reads,
        rates.mean.scans,
        rates.mean.writes,
        as_replica(by),
        read_share * 100.0
    )]
}

fn of_no_keys() -> Vec<String> {
    vec!["Keys are an assumption: no counter knows which ones are asked for.".to_owned()]
}

/// How keys are chosen, and what that is known from; then what is known of other tables.
fn of_keys(log: &LogUse) -> Vec<String> {
    let Some((table, skew)) = log.stated() else {
        return vec![format!(
            "Keys are an assumption: {} has too few requests, or partitions are not estimated.",
            log.path
        )];
    };
    let mut lines = vec![format!(
        "Keys of {table}: {} requests in {:.1} minutes of {}, for {} of {} partitions (estimated), the most popular \
         of which has {:.2} %:",
        skew.requests,
        log.seconds / 60.0,
        log.path,
        skew.asked,
        skew.keys,
        skew.hottest * 100.0
    )];
    lines.push(format!("* {}", fitted(&skew.best)));
    if skew.made != skew.best {
        lines.push(format!("* No workload can state that. Nearest is {}", fitted(&skew.made)));
    }
    if skew.best.law == Law::Uniform {
        lines.push(format!("* zipfian keys with a constant of up to {:.3} would look the same", skew.zipfian.high));
    }
    let parts = log.tables.iter().filter(|other| other.table == *table);
    let parts = parts.flat_map(|own| [("reads alone", own.of_reads), ("writes alone", own.of_writes)]);
    let others = log.tables.iter().filter(|other| other.table != *table).take(MOST_TABLES);
    let others = others.map(|other| (other.table.to_string(), other.skew));
    let all = parts.map(|(which, skew)| (which.to_owned(), skew)).chain(others);
    lines.extend(all.filter_map(|(which, skew)| Some(format!("* {which}: {}", fitted(&skew?.best)))));
    lines
}

fn fitted(fitted: &Fitted) -> String {
    format!("{}; at most {:.1} points of the requests from what was counted", fitted.law, fitted.gap * 100.0)
}

/// What whoever states their own statements needs of each table: weights, and how much it holds.
fn of_tables(tables: &[TableUse], by: CountedBy) -> Vec<String> {
    let partitions = match by {
        CountedBy::Cassandra => "partitions",
        CountedBy::Postgresql => "rows",
    };
    let each = tables.iter().filter_map(|table| {
        let clients = table.clients.filter(|clients| clients.total() > 0.0)?;
        let (reads, writes) = (clients.reads + clients.scans, clients.writes);
        let holds = table.partitions.zip(table.mean_partition_bytes).map_or_else(String::new, |(count, bytes)| {
            format!("; {count:.0} {partitions} of {bytes:.0} bytes (estimated)")
        });
        Some(format!("* {}: {reads:.1} reads and {writes:.1} writes a second{holds}", table.schema.name))
    });
    let mut lines: Vec<String> = each.take(MOST_TABLES).collect();
    if !lines.is_empty() {
        let words = "What clients ask of each table, for weights and `partitions` of statements of your own:";
        lines.insert(0, words.to_owned());
    }
    lines
}

/// What whoever writes a file of statements begins with.
fn of_statements(source: &str, calls_per_s: &BTreeMap<String, f64>) -> Vec<String> {
    let mut calls: Vec<(&String, f64)> = calls_per_s.iter().map(|(text, rate)| (text, *rate)).collect();
    calls.retain(|(_, rate)| *rate > 0.0);
    calls.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let each = calls.iter().take(MOST_TABLES);
    let each = each.map(|(text, rate)| format!("* {rate:.1} a second: {}", shortened(text)));
    let mut lines: Vec<String> = each.collect();
    if !lines.is_empty() {
        lines.insert(0, format!("Statements that are called most, as {source} has them:"));
    }
    lines
}

fn of_hours(hours: &[Hour]) -> Vec<String> {
    let each: Vec<String> = hours.iter().map(|hour| format!("{}: {:.0}", hour.hour, hour.clients.total())).collect();
    match each.as_slice() {
        [] => Vec::new(),
        each => vec![format!("Operations/s of clients on all nodes, by hour from the beginning: {}", each.join(", "))],
    }
}
