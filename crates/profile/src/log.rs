//! A log of requests: which keys it asks for, and what a file of statements can have of it.

use std::collections::BTreeMap;

use serde::Serialize;
use workload::skew::Skew;

use crate::keys::{PartitionsAsked, TableKeys, table_keys};
use crate::logged::{OwnUse, StatementSeen, own_use};
use crate::own_tables::{OwnTable, own_tables, own_types};
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
    /// How often each statement of a table that is known was sent in a second, by its text, with `?` for each value.
    pub calls_per_s: BTreeMap<String, f64>,
    /// What a file of statements can have of it.
    pub own: OwnUse,
    /// The types that such a file creates: `CREATE TYPE` of each.
    pub own_types: Vec<String>,
    /// The tables that it creates.
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
    let names = |one: &StatementSeen, table: &String| {
        cluster.tables.iter().any(|known| known.name.is_meant(one.keyspace.as_ref(), table))
    };
    // A text of several levels is one.
    let mut calls: BTreeMap<&String, u64> = BTreeMap::new();
    for one in &log.statements {
        if let Some(logged) =
            one.logged.as_ref().ok().filter(|logged| logged.tables.iter().any(|table| names(one, table)))
        {
            *calls.entry(&logged.text).or_default() += one.requests;
        }
    }
    let per_s = |(text, calls): (&String, u64)| Some((text.clone(), stats::ratio(calls as f64, log.seconds)?));
    let calls_per_s = calls.into_iter().filter_map(per_s).collect();
    let own = own_use(&log.statements, cluster);
    let own_tables = own_tables(&own, &tables, used, cluster);
    let own_types = own_types(&own, cluster);
    LogUse { path: log.path.clone(), seconds: log.seconds, tables, calls_per_s, own, own_types, own_tables }
}
