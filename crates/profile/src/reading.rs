//! What a cluster, or a server of PostgreSQL, says of itself, as it was read. Missing is not zero.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// Whose counters these are: they do not count the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedBy {
    /// Nodes of Cassandra: requests for partitions, of clients and of replicas.
    #[default]
    Cassandra,
    /// A server of PostgreSQL: scans of indexes and tables, and rows that are written. It is a cluster of one node,
    /// whose clients' work is all that it does.
    Postgresql,
}

/// A table.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "String")]
pub struct TableName {
    /// Its keyspace; of PostgreSQL its schema.
    pub keyspace: String,
    /// Its own name.
    pub table: String,
}

impl TableName {
    /// Whether a statement means it by this name; `keyspace`: that of the statement, where it is known.
    pub fn is_meant(&self, keyspace: Option<&String>, table: &str) -> bool {
        self.table == table && keyspace.is_none_or(|keyspace| self.keyspace == *keyspace)
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.keyspace, self.table)
    }
}

impl From<TableName> for String {
    fn from(name: TableName) -> Self {
        name.to_string()
    }
}

/// Operations, as a count or for each second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Operations {
    /// Reads of one partition; of PostgreSQL scans of an index, without those that updates and deletes make.
    pub reads: f64,
    /// Reads of a range of partitions; of PostgreSQL scans of a whole table.
    pub scans: f64,
    /// Writes: inserts, updates and deletes; of PostgreSQL rows.
    pub writes: f64,
}

impl Operations {
    /// All of them.
    pub fn total(self) -> f64 {
        self.reads + self.scans + self.writes
    }

    /// Share that reads, scans among them; `None` without any.
    pub fn read_share(self) -> Option<f64> {
        let total = self.total();
        (total > 0.0).then(|| (self.reads + self.scans) / total)
    }

    /// These and those.
    pub fn plus(self, other: Self) -> Self {
        Self { reads: self.reads + other.reads, scans: self.scans + other.scans, writes: self.writes + other.writes }
    }

    /// How many more than before.
    pub fn since(self, before: Self) -> Self {
        Self { reads: self.reads - before.reads, scans: self.scans - before.scans, writes: self.writes - before.writes }
    }

    /// For each second.
    pub fn over(self, seconds: f64) -> Self {
        Self { reads: self.reads / seconds, scans: self.scans / seconds, writes: self.writes / seconds }
    }

    /// Whether any of them is below zero: a counter went back.
    pub fn is_back(self) -> bool {
        self.reads < 0.0 || self.scans < 0.0 || self.writes < 0.0
    }
}

/// What a node shows of a table: counts since its start, and sizes now.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TableReading {
    /// What clients asked of this node as a coordinator.
    pub clients: Option<Operations>,
    /// What it did as a replica.
    pub replicas: Option<Operations>,
    /// MiB of its SSTables, compressed; of PostgreSQL of the table and its indexes.
    pub disk_mib: Option<f64>,
    /// MiB of the largest partition.
    pub largest_partition_mib: Option<f64>,
    /// 99th percentile of rows that a read returned, lately.
    pub rows_per_read_p99: Option<f64>,
    /// 99th percentile of tombstones that a read passed, lately.
    pub tombstones_per_read_p99: Option<f64>,
    /// Partitions of the ranges that this node has first, estimated; of PostgreSQL rows.
    pub partitions: Option<f64>,
    /// Their mean size, bytes, not compressed; of PostgreSQL without indexes.
    pub mean_partition_bytes: Option<f64>,
}

/// What a cache has counted since its node's start.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CacheCounts {
    /// Requests.
    pub requests: f64,
    /// Those that found something.
    pub hits: f64,
}

/// One look at a node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeReading {
    /// When, seconds after the observation began.
    pub at_s: f64,
    /// Grows with each start of the node.
    pub generation: Option<i64>,
    /// Its tables, without those of the system.
    pub tables: BTreeMap<TableName, TableReading>,
    /// Its caches by name.
    pub caches: BTreeMap<String, CacheCounts>,
    /// Compactions that wait or go on.
    pub compactions: Option<u64>,
    /// What else it has counted since its start, by the name of the series.
    pub counted: BTreeMap<&'static str, f64>,
    /// Calls of statements since it began to count them, by their text without values, as far as it shows that; none
    /// where it hides most of them.
    pub calls: BTreeMap<String, f64>,
    /// Statements that this look took.
    pub statements: u32,
    /// Seconds for which they were waited for.
    pub waited_s: f64,
}

/// Something that could not be read, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotRead {
    /// What.
    pub what: String,
    /// Why.
    pub why: String,
}

/// A node with all looks at it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeSeen {
    /// Its address.
    pub node: String,
    /// In the order of time.
    pub readings: Vec<NodeReading>,
    /// What it does not show.
    pub not_read: Vec<NotRead>,
}

/// What a column is in its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Of the partition key, with its place there.
    PartitionKey(u32),
    /// A clustering column, with its place among them.
    Clustering(u32),
    /// One value for a whole partition.
    Static,
    /// Any other.
    Regular,
}

/// A column as the schema has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnSchema {
    /// Its name, without quotes.
    pub name: String,
    /// Its type as the server writes it: `frozen<list<text>>`.
    pub cql_type: String,
    /// What it is for.
    pub kind: ColumnKind,
    /// Whether rows are in descending order of it.
    pub is_descending: bool,
}

/// A table as the schema has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TableSchema {
    /// Which.
    pub name: TableName,
    /// Columns of its partition key.
    pub partition_key: u32,
    /// Their names, in their order; of PostgreSQL they are not read.
    pub key: Vec<String>,
    /// Its clustering columns: with any, a partition has several rows.
    pub clustering: u32,
    /// Columns that are no part of the key.
    pub columns: u32,
    /// Class of its compaction.
    pub compaction: Option<String>,
    /// Bytes that are compressed together, KiB; `None`: not stated, or not compressed.
    pub chunk_kib: Option<f64>,
    /// Class that compresses it; `None`: not compressed, or not stated.
    pub compressor: Option<String>,
    /// All of its columns, in the order of [`ColumnKind`]; of PostgreSQL they are not read.
    pub described: Vec<ColumnSchema>,
    /// Its options of compaction and compression: by option, then by key.
    pub options: BTreeMap<String, BTreeMap<String, String>>,
    /// Copies that all data centres together keep of it; `None`: not read.
    pub copies: Option<u32>,
}

/// A type of the user's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypeSchema {
    /// Its keyspace.
    pub keyspace: String,
    /// Its own name.
    pub name: String,
    /// Its fields in their order, each with its type as the server writes it.
    pub fields: Vec<(String, String)>,
}

impl TableSchema {
    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&ColumnSchema> {
        self.described.iter().find(|column| column.name == name)
    }
}

impl ColumnSchema {
    /// The type with what stands in its brackets, without `frozen`: `list<text>` is `("list", "text")`.
    pub fn parts(&self) -> (&str, &str) {
        let frozen = self.cql_type.strip_prefix("frozen<").and_then(|within| within.strip_suffix('>'));
        let whole = frozen.unwrap_or(&self.cql_type);
        whole.split_once('<').map_or((whole, ""), |(outer, within)| (outer, within.strip_suffix('>').unwrap_or(within)))
    }

    /// Whether its values begin with the number of their elements.
    pub fn is_collection(&self) -> bool {
        matches!(self.parts().0, "list" | "set" | "map")
    }

    /// Whether its values are bytes of any length.
    pub fn is_text(&self) -> bool {
        matches!(self.parts().0, "ascii" | "blob" | "text" | "varchar")
    }

    /// Whether it is a part of the key.
    pub fn is_key(&self) -> bool {
        matches!(self.kind, ColumnKind::PartitionKey(_) | ColumnKind::Clustering(_))
    }
}

/// What is true of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Cluster {
    /// Whose counters its nodes have.
    pub counted_by: CountedBy,
    /// Its name; of PostgreSQL that of the database.
    pub name: String,
    /// Its version, as the first node has it.
    pub version: String,
    /// Nodes that the first one knows, itself among them.
    pub nodes: u32,
    /// Its tables, without those of the system.
    pub tables: Vec<TableSchema>,
    /// Types of the user's own; of PostgreSQL they are not read.
    pub types: Vec<TypeSchema>,
    /// Some settings in force on the first node.
    pub settings: BTreeMap<String, String>,
    /// What could not be read of it.
    pub not_read: Vec<NotRead>,
}
