//! What the server says about itself over CQL: raw counters from `system_views`, for a monitor that reads once per
//! second.
//!
//! Counters are kept as counters; rates are differences, taken later by whoever analyses. What a server does not offer
//! is `None` or absent, never zero. The number of dropped messages is in no table of Cassandra 5.0: see
//! [`super::DroppedMessages`].

use std::collections::BTreeMap;

use scylla::value::CqlValue;
use serde::{Deserialize, Serialize};

/// One row of a virtual table, by column name.
pub(crate) type ViewRow = BTreeMap<String, CqlValue>;

/// Counters of one node at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Compactions running or queued (`thread_pools`, `CompactionExecutor`). The server queues work for a table only
    /// while a compaction thread is free, so under a deep backlog this stays near the number of threads; nodetool's
    /// estimate is not in CQL.
    pub pending_compactions: Option<u64>,
    /// Bytes that running compactions have still to process (`sstable_tasks`, uncompressed).
    pub compaction_remaining_bytes: Option<u64>,
    /// Hint files waiting for other nodes.
    pub pending_hint_files: Option<u64>,
    /// By name: `keys`, `rows`, `counters`, and `chunks` where the chunk cache is on.
    pub caches: BTreeMap<String, Cache>,
    /// Reads that this node coordinated, all application tables.
    pub coordinator_read: Option<Latency>,
    /// Writes that this node coordinated.
    pub coordinator_write: Option<Latency>,
    /// Reads from this node's own memtables and SSTables.
    pub local_read: Option<Latency>,
    /// Writes to this node's own memtables.
    pub local_write: Option<Latency>,
    /// Client connections open now (iopslab's own included).
    pub client_connections: Option<u64>,
    /// Requests received over the connections that are open now; a closed connection takes its count with it.
    pub client_requests: Option<u64>,
    /// By name: `ReadStage`, `MutationStage`, `Native-Transport-Requests`, `MemtableFlushWriter`, ...
    pub pools: BTreeMap<String, Pool>,
}

/// One cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// Hits since the start.
    pub hits: Option<u64>,
    /// Look-ups since the start.
    pub requests: Option<u64>,
    /// Entries now.
    pub entries: Option<u64>,
    /// Bytes now.
    pub size_bytes: Option<u64>,
    /// Bytes at most.
    pub capacity_bytes: Option<u64>,
}

/// Latency over the application's tables. The percentiles are the server's own, of a decaying reservoir (about the last
/// five minutes), of the busiest table: good for a remark, not for a result.
///
/// **The server's unit is wrong.** `LatencyTableMetric` of Cassandra 5.0 takes its reservoir for nanoseconds,
/// multiplies by 1e-6 and rounds to three decimals, but the reservoir counts microseconds: columns named `..._ms` hold
/// *seconds*. Here they are milliseconds, with the step of 1 ms that the rounding leaves (0 means "under half a
/// millisecond"). A test holds this to `nodetool proxyhistograms`. For servers where iopslab has not checked it, the
/// percentiles are `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Operations since the start, all application tables.
    pub count: u64,
    /// Median of the busiest table, milliseconds.
    pub p50_ms: Option<f64>,
    /// 99th percentile of the busiest table, milliseconds.
    pub p99_ms: Option<f64>,
    /// Longest of the busiest table, milliseconds.
    pub max_ms: Option<f64>,
}

/// One thread pool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// Running now.
    pub active: Option<u64>,
    /// Waiting now.
    pub pending: Option<u64>,
    /// Refused entry now because the queue is full.
    pub blocked: Option<u64>,
    /// Refused entry since the start.
    pub blocked_all_time: Option<u64>,
    /// Done since the start.
    pub completed: Option<u64>,
}

impl Pool {
    /// Running or waiting.
    pub fn busy(&self) -> u64 {
        self.active.unwrap_or(0) + self.pending.unwrap_or(0)
    }
}

/// A whole number of any CQL integer type; negative values mean "unknown" in these tables.
pub(crate) fn number(row: &ViewRow, column: &str) -> Option<u64> {
    let value = match row.get(column)? {
        CqlValue::Int(value) => i64::from(*value),
        CqlValue::BigInt(value) => *value,
        CqlValue::SmallInt(value) => i64::from(*value),
        _ => return None,
    };
    u64::try_from(value).ok()
}

/// A text column.
pub(crate) fn text<'a>(row: &'a ViewRow, column: &str) -> Option<&'a str> {
    row.get(column)?.as_text().map(String::as_str)
}

fn float(row: &ViewRow, column: &str) -> Option<f64> {
    // NaN where nothing has been measured yet.
    row.get(column)?.as_double().filter(|value| value.is_finite())
}

/// Rows of `thread_pools` by name.
pub(crate) fn pools(rows: &[ViewRow]) -> BTreeMap<String, Pool> {
    let pool = |row: &ViewRow| Pool {
        active: number(row, "active_tasks"),
        pending: number(row, "pending_tasks"),
        blocked: number(row, "blocked_tasks"),
        blocked_all_time: number(row, "blocked_tasks_all_time"),
        completed: number(row, "completed_tasks"),
    };
    rows.iter()
        .filter_map(|row| Some((text(row, "name")?.to_owned(), pool(row))))
        .collect()
}

/// Rows of `caches` by name.
pub(crate) fn caches(rows: &[ViewRow]) -> BTreeMap<String, Cache> {
    let cache = |row: &ViewRow| Cache {
        hits: number(row, "hit_count"),
        requests: number(row, "request_count"),
        entries: number(row, "entry_count"),
        size_bytes: number(row, "size_bytes"),
        capacity_bytes: number(row, "capacity_bytes"),
    };
    rows.iter()
        .filter_map(|row| Some((text(row, "name")?.to_owned(), cache(row))))
        .collect()
}

/// Rows of one of the `*_latency` tables; the server's own keyspaces left out.
/// `ms_per_unit` turns the server's figures into milliseconds; `None`: nobody knows their unit.
pub(crate) fn latency(rows: &[ViewRow], ms_per_unit: Option<f64>) -> Latency {
    let application = rows
        .iter()
        .filter(|row| !text(row, "keyspace_name").unwrap_or_default().starts_with("system"));
    let in_ms = |value: Option<f64>| Some(value? * ms_per_unit?);
    let mut sum = Latency::default();
    let mut busiest = 0;
    for row in application {
        let count = number(row, "count").unwrap_or(0);
        sum.count += count;
        if count > busiest {
            busiest = count;
            sum.p50_ms = in_ms(float(row, "p50th_ms"));
            sum.p99_ms = in_ms(float(row, "p99th_ms"));
            sum.max_ms = in_ms(float(row, "max_ms"));
        }
    }
    sum
}

/// What running compactions and other tasks on SSTables have still to do, in bytes.
pub(crate) fn remaining_bytes(tasks: &[ViewRow]) -> u64 {
    let bytes = tasks.iter().filter(|row| text(row, "unit") == Some("bytes"));
    bytes
        .map(|row| {
            number(row, "total")
                .unwrap_or(0)
                .saturating_sub(number(row, "progress").unwrap_or(0))
        })
        .sum()
}
