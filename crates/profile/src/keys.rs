//! Which partitions are asked for how often: from a log of requests, which counters do not have.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;
use workload::skew::{Skew, fit};

use crate::reading::{Cluster, NodeSeen, TableName};
use crate::workload::TableUse;

/// Requests of each partition of a table, in no order: those that read and those that write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartitionsAsked {
    /// Of each partition that was asked for.
    pub each: Vec<(u32, u32)>,
    /// Requests whose partition their statement does not show.
    pub without_key: u64,
}

/// What a log shows of a table's keys. `None`: its partitions are not estimated, or there are too few of them or of
/// requests.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableKeys {
    /// Which.
    pub table: TableName,
    /// Requests that ask for one partition.
    pub requests: u64,
    /// Requests whose partition their statement does not show.
    pub without_key: u64,
    /// Partitions that were asked for.
    pub asked: u64,
    /// How many partitions it has, estimated.
    pub partitions: Option<f64>,
    /// How all of these requests choose them.
    pub skew: Option<Skew>,
    /// How those that read do.
    pub of_reads: Option<Skew>,
    /// How those that write do.
    pub of_writes: Option<Skew>,
}

/// The keys of tables, that with the most requests first.
pub(crate) fn table_keys(
    asked: &BTreeMap<TableName, PartitionsAsked>,
    used: &[TableUse],
    cluster: &Cluster,
    nodes: &[NodeSeen],
) -> Vec<TableKeys> {
    // Each node estimates the partitions of its own ranges: those of nodes that were not read are as many.
    let known = cluster.nodes.max(1);
    let of_cluster = f64::from(known) / f64::from((nodes.len() as u32).clamp(1, known));
    let one = |(name, asked): (&TableName, &PartitionsAsked)| {
        let of_table = used.iter().find(|table| table.schema.name == *name);
        let partitions = of_table.and_then(|table| table.partitions).filter(|count| *count > 0.0);
        let partitions = partitions.map(|count| (count * of_cluster).round());
        let skew = |count: fn(&(u32, u32)) -> u32| fit(asked.each.iter().map(count).map(u64::from), partitions? as u64);
        TableKeys {
            table: name.clone(),
            requests: asked.each.iter().map(|(reads, writes)| u64::from(*reads) + u64::from(*writes)).sum(),
            without_key: asked.without_key,
            asked: asked.each.len() as u64,
            partitions,
            skew: skew(|(reads, writes)| reads.saturating_add(*writes)),
            of_reads: skew(|(reads, _)| *reads),
            of_writes: skew(|(_, writes)| *writes),
        }
    };
    let mut tables: Vec<TableKeys> = asked.iter().map(one).collect();
    tables.sort_by_key(|table| Reverse(table.requests));
    tables
}
