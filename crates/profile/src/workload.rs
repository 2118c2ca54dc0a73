//! What clients ask and nodes do: rates from differences of counters, by table and by node.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::reading::{Cluster, NodeReading, NodeSeen, Operations, TableName, TableReading, TableSchema};

/// Shorter intervals make no busiest one, unless there is no other: a burst of a second is no minute.
const LEAST_INTERVAL_S: f64 = 10.0;
const HOUR_S: f64 = 3_600.0;
/// An hour of which less was seen is none.
const LEAST_OF_HOUR_S: f64 = HOUR_S / 2.0;

/// Operations a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rates {
    /// Over all that was seen.
    pub mean: Operations,
    /// Between the two readings with the most.
    pub busiest: Operations,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeUse {
    /// Its address.
    pub node: String,
    /// Seconds between readings that count.
    pub seconds: f64,
    /// Intervals that do not count, because the node started again, did not answer, or its counters went back.
    pub left_out: u32,
    /// What it did as a replica; `None`: not counted by its version, or not seen twice.
    pub replicas: Option<Rates>,
    /// Bytes of its tables on disk, at the last reading.
    pub data_bytes: Option<f64>,
    /// Most compactions that waited or went on at a reading.
    pub compactions: Option<u64>,
    /// Hits of its caches among their requests, by name.
    pub cache_hits: BTreeMap<String, f64>,
    /// What else it counted in a second, in the mean, by the name of the series.
    pub counted_per_s: BTreeMap<&'static str, f64>,
    /// Calls of statements in a second, in the mean, by their text.
    pub calls_per_s: BTreeMap<String, f64>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableUse {
    /// Its schema.
    pub schema: TableSchema,
    /// What clients asked of it in a second, on all nodes.
    pub clients: Option<Operations>,
    /// What nodes did for it in a second, all of them.
    pub replicas: Option<Operations>,
    /// MiB on disk, on all nodes.
    pub disk_mib: Option<f64>,
    /// Partitions, estimated: each counted once.
    pub partitions: Option<f64>,
    /// Their mean size, bytes, not compressed.
    pub mean_partition_bytes: Option<f64>,
    /// Largest partition of any node, MiB.
    pub largest_partition_mib: Option<f64>,
    /// 99th percentile of rows a read, on the node with the most.
    pub rows_per_read_p99: Option<f64>,
    /// 99th percentile of tombstones a read, on the node with the most.
    pub tombstones_per_read_p99: Option<f64>,
}

/// An hour of the observation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Hour {
    /// Which one: 0 begins with the observation.
    pub hour: u32,
    /// What clients asked in a second, on all nodes that were read.
    pub clients: Operations,
}

/// What is done with the cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Workload {
    /// What clients asked, on all nodes that were read.
    pub clients: Option<Rates>,
    /// The same by the hour; empty where fewer than two were seen.
    pub hours: Vec<Hour>,
    /// Those that are used first.
    pub tables: Vec<TableUse>,
    /// As they were read.
    pub nodes: Vec<NodeUse>,
}

/// Whose operations.
type Whose = fn(&TableReading) -> Option<Operations>;

const CLIENTS: Whose = |table| table.clients;
const REPLICAS: Whose = |table| table.replicas;

/// What was seen of it.
pub(crate) fn workload(cluster: &Cluster, nodes: &[NodeSeen]) -> Workload {
    let mut tables: Vec<TableUse> = cluster.tables.iter().map(|schema| table(schema, nodes)).collect();
    let used = |table: &TableUse| table.replicas.or(table.clients).map_or(0.0, Operations::total);
    tables.sort_by(|a, b| used(b).total_cmp(&used(a)).then_with(|| a.schema.name.cmp(&b.schema.name)));
    let read = read(nodes);
    let together = together(&read);
    let (clients, hours) = (clients(&read, &together), hours(&together));
    Workload { clients, hours, tables, nodes: nodes.iter().map(node).collect() }
}

/// Neighbours among the readings; `None` for two between which the node started again.
fn intervals(seen: &NodeSeen) -> impl Iterator<Item = Option<(&NodeReading, &NodeReading)>> {
    seen.readings.windows(2).map(|pair| match pair {
        [before, after] if is_sound(before, after) => Some((before, after)),
        _ => None,
    })
}

fn is_sound(before: &NodeReading, after: &NodeReading) -> bool {
    // A node that did not answer says nothing at all.
    let has_answered = |reading: &NodeReading| reading.generation.is_some() || !reading.tables.is_empty();
    if !(has_answered(before) && has_answered(after)) {
        return false;
    }
    let is_back = |(name, table): (&TableName, &TableReading)| {
        let Some(earlier) = before.tables.get(name) else { return false };
        let back = |whose: Whose| whose(table).zip(whose(earlier)).is_some_and(|(now, then)| now.since(then).is_back());
        back(CLIENTS) || back(REPLICAS)
    };
    after.at_s > before.at_s && after.generation == before.generation && !after.tables.iter().any(is_back)
}

/// How many more of a table, or of all. A table that was not there before began with none, unless nothing of that kind
/// was read before: then it is not known.
fn grown((before, after): (&NodeReading, &NodeReading), of: Option<&TableName>, whose: Whose) -> Option<Operations> {
    let was_read = before.tables.values().any(|table| whose(table).is_some());
    let mut sum: Option<Operations> = None;
    for (name, table) in after.tables.iter().filter(|(name, _)| of.is_none_or(|of| of == *name)) {
        let Some(now) = whose(table) else { continue };
        let then = before.tables.get(name).map_or_else(|| was_read.then(Operations::default), whose);
        let Some(then) = then else { continue };
        sum = Some(sum.unwrap_or_default().plus(now.since(then)));
    }
    sum
}

/// For each second over all sound intervals of a node.
fn mean(seen: &NodeSeen, of: Option<&TableName>, whose: Whose) -> Option<Operations> {
    let (mut all, mut seconds): (Option<Operations>, f64) = (None, 0.0);
    for (before, after) in intervals(seen).flatten() {
        if let Some(more) = grown((before, after), of, whose) {
            all = Some(all.unwrap_or_default().plus(more));
            seconds += after.at_s - before.at_s;
        }
    }
    all.map(|all| all.over(seconds))
}

/// The rate of each interval of a node with its length, seconds; `None` where it does not count.
fn by_interval(seen: &NodeSeen, whose: Whose) -> Vec<Option<(f64, Operations)>> {
    let rate = |pair: Option<(&NodeReading, &NodeReading)>| {
        let (before, after) = pair?;
        let seconds = after.at_s - before.at_s;
        Some((seconds, grown((before, after), None, whose)?.over(seconds)))
    };
    intervals(seen).map(rate).collect()
}

/// The interval with the most; short ones where there are no others.
fn busiest(all: impl Iterator<Item = (f64, Operations)>) -> Option<Operations> {
    let all: Vec<(f64, Operations)> = all.collect();
    let long = all.iter().any(|(seconds, _)| *seconds >= LEAST_INTERVAL_S);
    let counts = all.into_iter().filter(|(seconds, _)| !long || *seconds >= LEAST_INTERVAL_S);
    counts.map(|(_, rate)| rate).max_by(|a, b| a.total().total_cmp(&b.total()))
}

/// What clients asked of all nodes between two readings.
struct Together {
    /// When, seconds after the observation began.
    began_s: f64,
    /// How long; of the nodes the shortest.
    seconds: f64,
    clients: Operations,
}

/// Those that were read twice in a row: another one is named as not read, and is no reason to know nothing of these.
fn read(nodes: &[NodeSeen]) -> Vec<&NodeSeen> {
    nodes.iter().filter(|node| intervals(node).flatten().next().is_some()).collect()
}

/// Of all nodes at the same time. A node that lacks an interval would make it a quiet one: then it does not count.
fn together(read: &[&NodeSeen]) -> Vec<Together> {
    let each: Vec<Vec<Option<(f64, Operations)>>> = read.iter().map(|node| by_interval(node, CLIENTS)).collect();
    let most = each.iter().map(Vec::len).max().unwrap_or_default();
    let at = |place: usize| {
        let rates: Option<Vec<(f64, Operations)>> =
            each.iter().map(|of_node| of_node.get(place).copied().flatten()).collect();
        let (seconds, clients) = rates?.into_iter().reduce(|(a, all), (b, more)| (a.min(b), all.plus(more)))?;
        Some(Together { began_s: read.first()?.readings.get(place)?.at_s, seconds, clients })
    };
    (0..most).filter_map(at).collect()
}

fn clients(read: &[&NodeSeen], together: &[Together]) -> Option<Rates> {
    let means: Option<Vec<Operations>> = read.iter().map(|node| mean(node, None, CLIENTS)).collect();
    let sum = means?.into_iter().reduce(Operations::plus)?;
    let each = together.iter().map(|interval| (interval.seconds, interval.clients));
    Some(Rates { mean: sum, busiest: busiest(each).unwrap_or(sum) })
}

/// One hour alone says no more than the mean.
fn hours(together: &[Together]) -> Vec<Hour> {
    let hour = |interval: &Together| (interval.began_s / HOUR_S) as u32;
    let of_hour = |intervals: &[Together]| {
        let seconds: f64 = intervals.iter().map(|interval| interval.seconds).sum();
        let parts = intervals.iter().map(|interval| interval.clients.over(seconds / interval.seconds));
        let clients = parts.reduce(Operations::plus).filter(|_| seconds >= LEAST_OF_HOUR_S)?;
        Some(Hour { hour: hour(intervals.first()?), clients })
    };
    let hours: Vec<Hour> = together.chunk_by(|a, b| hour(a) == hour(b)).filter_map(of_hour).collect();
    if hours.len() > 1 { hours } else { Vec::new() }
}

fn node(seen: &NodeSeen) -> NodeUse {
    let sound = intervals(seen).flatten();
    let mean = mean(seen, None, REPLICAS);
    let each = by_interval(seen, REPLICAS).into_iter().flatten();
    // Where it did not answer at the end, what it has said before counts.
    let last = seen.readings.iter().rev().find(|reading| !reading.tables.is_empty());
    let mib = last.and_then(|last| sum(last.tables.values().map(|table| table.disk_mib)));
    NodeUse {
        node: seen.node.clone(),
        seconds: sound.map(|(before, after)| after.at_s - before.at_s).sum(),
        left_out: intervals(seen).filter(Option::is_none).count() as u32,
        replicas: mean.map(|mean| Rates { mean, busiest: busiest(each).unwrap_or(mean) }),
        data_bytes: mib.map(|mib| mib * catalog::MIB),
        compactions: seen.readings.iter().filter_map(|reading| reading.compactions).max(),
        cache_hits: cache_hits(seen),
        counted_per_s: per_s(seen, |reading| &reading.counted),
        calls_per_s: per_s(seen, |reading| &reading.calls),
    }
}

/// Rates over the intervals that count, at both ends of which a count was read.
fn per_s<K: Ord + Clone>(seen: &NodeSeen, counts: fn(&NodeReading) -> &BTreeMap<K, f64>) -> BTreeMap<K, f64> {
    let mut sums: BTreeMap<K, (f64, f64)> = BTreeMap::new();
    for (before, after) in intervals(seen).flatten() {
        for (name, now) in counts(after) {
            // One that went back was reset.
            let Some(more) = counts(before).get(name).map(|then| now - then).filter(|more| *more >= 0.0) else {
                continue;
            };
            let sum = sums.entry(name.clone()).or_default();
            *sum = (sum.0 + more, sum.1 + after.at_s - before.at_s);
        }
    }
    sums.into_iter().filter_map(|(name, (count, seconds))| Some((name, stats::ratio(count, seconds)?))).collect()
}

/// From differences, as everything that is counted.
fn cache_hits(seen: &NodeSeen) -> BTreeMap<String, f64> {
    let mut counts: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for (before, after) in intervals(seen).flatten() {
        for (name, now) in &after.caches {
            let Some(then) = before.caches.get(name) else { continue };
            let sum = counts.entry(name.clone()).or_default();
            sum.0 += now.hits - then.hits;
            sum.1 += now.requests - then.requests;
        }
    }
    let share = |(name, (hits, requests)): (String, (f64, f64))| (requests > 0.0).then(|| (name, hits / requests));
    counts.into_iter().filter_map(share).collect()
}

fn table(schema: &TableSchema, nodes: &[NodeSeen]) -> TableUse {
    let name = &schema.name;
    let rate = |whose: Whose| nodes.iter().filter_map(|node| mean(node, Some(name), whose)).reduce(Operations::plus);
    // Sizes are not read each time: the latest ones count.
    let latest = |node: &NodeSeen, figure: fn(&TableReading) -> Option<f64>| {
        node.readings.iter().rev().find_map(|reading| figure(reading.tables.get(name)?))
    };
    let each = |figure: fn(&TableReading) -> Option<f64>| nodes.iter().map(move |node| latest(node, figure));
    let most = |figure: fn(&TableReading) -> Option<f64>| each(figure).flatten().reduce(f64::max);
    let partitions = sum(each(|table| table.partitions));
    let bytes = sum(each(|table| Some(table.partitions? * table.mean_partition_bytes?)));
    TableUse {
        schema: schema.clone(),
        clients: rate(CLIENTS),
        replicas: rate(REPLICAS),
        disk_mib: sum(each(|table| table.disk_mib)),
        partitions,
        mean_partition_bytes: bytes.zip(partitions).and_then(|(bytes, count)| stats::ratio(bytes, count)),
        largest_partition_mib: most(|table| table.largest_partition_mib),
        rows_per_read_p99: most(|table| table.rows_per_read_p99),
        tombstones_per_read_p99: most(|table| table.tombstones_per_read_p99),
    }
}

/// Of what is known; `None` where nothing is.
fn sum(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().reduce(|a, b| a + b)
}
