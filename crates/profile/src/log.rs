//! A log of requests: which keys it asks for, and what a file of statements can have of it.

use std::collections::BTreeMap;

use serde::Serialize;
use workload::skew::Skew;

use crate::keys::{PartitionsAsked, TableKeys, table_keys};
use crate::logged::{OwnUse, StatementSeen, own_use};
use crate::own_tables::{OwnTable, own_tables};
use crate::reading::{Cluster, NodeSeen, TableName};
use crate::workload::TableUse;

/// A log of requests, counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogSeen {
    /// Where it was read.
    pub path: String,
    /// From its first request to its last, seconds.
    pub seconds: f64,
    /// What is missing of it.
    pub lost: Vec<String>,
    /// How often each statement was sent, by its text, without those that have values in it.
    pub calls: BTreeMap<String, u64>,
    /// All statements, as a file of statements may have them.
    pub statements: Vec<StatementSeen>,
    /// The tables that it asks for.
    pub tables: BTreeMap<TableName, PartitionsAsked>,
}

/// What a log shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogUse {
    /// Where it was read.
    pub path: String,
    /// From its first request to its last, seconds.
    pub seconds: f64,
    /// The tables that it asks for, the one with the most requests first.
    pub tables: Vec<TableKeys>,
    /// How often each statement was sent in a second, by its text, without those that have values in it.
    pub calls_per_s: BTreeMap<String, f64>,
    /// What a file of statements can have of it.
    pub own: OwnUse,
    /// The tables that such a file creates.
    pub own_tables: Vec<OwnTable>,
}

impl LogUse {
    /// The table whose keys an experiment has: that with the most requests, where something is known of it.
    pub fn stated(&self) -> Option<(&TableName, &Skew)> {
        self.tables.iter().find_map(|table| Some((&table.table, table.skew.as_ref()?)))
    }
}

/// What a log shows of tables of which this was read.
pub(crate) fn log_use(log: &LogSeen, used: &[TableUse], cluster: &Cluster, nodes: &[NodeSeen]) -> LogUse {
    let tables = table_keys(&log.tables, used, cluster, nodes);
    let calls = log.calls.iter();
    let calls_per_s = calls.filter_map(|(text, calls)| Some((text.clone(), stats::ratio(*calls as f64, log.seconds)?)));
    let own = own_use(&log.statements, cluster);
    let own_tables = own_tables(&own, &tables, used, cluster);
    let calls_per_s = calls_per_s.collect();
    LogUse { path: log.path.clone(), seconds: log.seconds, tables, calls_per_s, own, own_tables }
}
