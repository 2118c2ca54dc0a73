//! The tables that a file of statements creates: as the schema has them, with as many rows and as large values as were
//! seen.

use std::collections::BTreeMap;

use experiment::Distribution;
use serde::Serialize;
use statements::{
    Generator, MOST_ELEMENTS, Population, Size, TableData, USUAL_ELEMENTS, USUAL_TEXT_BYTES, USUAL_TEXT_WITHIN_BYTES,
    quoted,
};

use crate::keys::TableKeys;
use crate::logged::{OwnUse, own_type, words};
use crate::reading::{Cluster, ColumnKind, ColumnSchema, TableName, TableSchema, TypeSchema};
use crate::values::{ValuesSeen, mean, size};
use crate::workload::TableUse;

/// Bytes of a row that are no text, as an experiment reckons with them.
const OTHER_BYTES: f64 = 64.0;
/// Bytes of a value within a collection, tuple or type, with its length before it; and of one within a vector.
const WITHIN_BYTES: f64 = USUAL_TEXT_WITHIN_BYTES as f64 + 4.0;
const OF_VECTOR_BYTES: f64 = 4.0;
/// Most rows of a partition that are stated; more is one that a run should not begin with.
const MOST_ROWS: f64 = 100_000.0;
/// Texts of a key have to be at least so long: by these bytes they differ.
const LEAST_KEY_BYTES: u32 = 16;
/// Words that name nothing without quotes (Apache Cassandra 5.0, `reserved_keywords.txt` of its documentation).
const RESERVED: [&str; 63] = [
    "add",
    "allow",
    "alter",
    "and",
    "apply",
    "asc",
    "authorize",
    "batch",
    "begin",
    "between",
    "by",
    "columnfamily",
    "create",
    "default",
    "delete",
    "desc",
    "describe",
    "drop",
    "entries",
    "execute",
    "from",
    "full",
    "grant",
    "if",
    "in",
    "index",
    "infinity",
    "insert",
    "into",
    "is",
    "keyspace",
    "limit",
    "materialized",
    "mbean",
    "mbeans",
    "modify",
    "nan",
    "norecursive",
    "not",
    "null",
    "of",
    "on",
    "or",
    "order",
    "primary",
    "rename",
    "replace",
    "revoke",
    "schema",
    "select",
    "set",
    "table",
    "to",
    "token",
    "truncate",
    "unlogged",
    "unset",
    "update",
    "use",
    "using",
    "view",
    "where",
    "with",
];

/// A table of a file of statements.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnTable {
    /// Which.
    pub name: TableName,
    /// `CREATE TABLE`, without a keyspace.
    pub create: String,
    /// What one node has of it at full size, and how requests choose from it.
    pub data: TableData,
    /// Bytes of a row, in the mean.
    pub row_bytes: u32,
    /// Where that is from, in lines.
    pub origin: Vec<String>,
}

/// The tables of a file of statements, in the order of their names.
pub(crate) fn own_tables(own: &OwnUse, keys: &[TableKeys], used: &[TableUse], cluster: &Cluster) -> Vec<OwnTable> {
    let one = |(place, values): (&usize, &BTreeMap<String, ValuesSeen>)| {
        let schema = &cluster.tables[*place];
        let keys = keys.iter().find(|keys| keys.table == schema.name);
        let mean_bytes = used.iter().find(|table| table.schema.name == schema.name);
        let mean_bytes = mean_bytes.and_then(|table| table.mean_partition_bytes).filter(|bytes| *bytes > 0.0);
        let (partitions, of_partitions) = partitions(schema, keys, cluster.nodes);
        let most = room(schema, |kind| matches!(kind, ColumnKind::PartitionKey(_)));
        let of_room = (partitions > most).then(|| format!("Its partition key has {most} values as they are made."));
        let row_bytes = row_bytes(schema, values, cluster);
        let (rows, of_rows) = rows(schema, row_bytes, mean_bytes);
        let (distribution, of_keys) = distribution(keys);
        let columns = schema
            .described
            .iter()
            .filter_map(|column| Some((column.name.clone(), generator(column, values.get(&column.name)?)?)));
        let data = TableData {
            table: schema.name.table.clone(),
            partitions: partitions.min(most),
            rows: Size::fixed(rows),
            population: Population::Of(distribution),
            columns: columns.collect(),
        };
        let origin = [Some(of_partitions), of_room, of_rows, Some(of_keys)].into_iter().flatten().collect();
        OwnTable {
            name: schema.name.clone(),
            create: create(schema),
            data,
            row_bytes: row_bytes.round() as u32,
            origin,
        }
    };
    let mut tables: Vec<OwnTable> = own.tables.iter().map(one).collect();
    tables.sort_by(|a, b| a.name.table.cmp(&b.name.table));
    tables
}

/// `CREATE TYPE` of each type that these tables need, those that others have in them first.
pub(crate) fn own_types(own: &OwnUse, cluster: &Cluster) -> Vec<String> {
    let mut needed = Vec::new();
    for column in own.tables.keys().flat_map(|place| &cluster.tables[*place].described) {
        need_types(&column.cql_type, cluster, &mut needed);
    }
    needed.into_iter().map(create_type).collect()
}

/// Adds the users' types that are within a type, each after those that it needs. (No server has types that need each
/// other.)
fn need_types<'a>(cql_type: &str, cluster: &'a Cluster, needed: &mut Vec<&'a TypeSchema>) {
    for own in words(cql_type).filter_map(|word| own_type(cluster, word)) {
        if !needed.contains(&own) {
            for (_, within) in &own.fields {
                need_types(within, cluster, needed);
            }
            needed.push(own);
        }
    }
}

/// Partitions that one node has.
fn partitions(schema: &TableSchema, keys: Option<&TableKeys>, nodes: u32) -> (u64, String) {
    let nodes = nodes.max(1);
    let copies = schema.copies.unwrap_or(1).clamp(1, nodes);
    let of_node = |all: f64| (all * f64::from(copies) / f64::from(nodes)).round().max(1.0) as u64;
    let known = match schema.copies {
        Some(_) => format!("nodes: {nodes}, copies: {copies}"),
        None => format!("nodes: {nodes}, copies: not known, and one is assumed"),
    };
    match (keys.and_then(|keys| keys.partitions), keys.map(|keys| keys.asked)) {
        (Some(all), _) => (of_node(all), format!("{all:.0} partitions (estimated by the nodes); {known}.")),
        (None, Some(asked @ 1..)) => {
            let words = "as many as the log asks for, since no node has estimated them";
            (of_node(asked as f64), format!("{asked} partitions, {words}; {known}."))
        }
        (None, _) => (1, "Not known: how many partitions there are. State them.".to_owned()),
    }
}

/// How many keys such columns have as their values are usually made: numbers count up from 0, and those of collections
/// may repeat. A run refuses more.
fn room(schema: &TableSchema, is_it: fn(ColumnKind) -> bool) -> u64 {
    let of_column = |column: &ColumnSchema| match column.parts().0 {
        "list" | "map" | "set" | "vector" => 1,
        "boolean" => 2,
        "tinyint" => 1 << 7,
        "smallint" => 1 << 15,
        _ => u64::MAX,
    };
    schema.described.iter().filter(|column| is_it(column.kind)).map(of_column).max().unwrap_or(u64::MAX)
}

/// Bytes of a row as it is made, in the mean.
fn row_bytes(schema: &TableSchema, values: &BTreeMap<String, ValuesSeen>, cluster: &Cluster) -> f64 {
    let of_column = |column: &ColumnSchema| {
        let seen = values.get(&column.name).and_then(|seen| mean(&seen.bytes));
        let is_plain = column.parts().1.is_empty() && own_type(cluster, column.parts().0).is_none();
        match (column.is_text(), column.is_collection()) {
            (true, _) => seen.unwrap_or(USUAL_TEXT_BYTES as f64),
            (_, true) => seen.unwrap_or_else(|| usual_bytes(&column.cql_type, cluster)),
            _ if is_plain => 0.0,
            _ => usual_bytes(&column.cql_type, cluster),
        }
    };
    OTHER_BYTES + schema.described.iter().map(of_column).sum::<f64>()
}

/// About how many bytes a value of a type has that has others in it, as it is usually made.
fn usual_bytes(cql_type: &str, cluster: &Cluster) -> f64 {
    let is_vector = words(cql_type).any(|word| word == "vector");
    let (mut times, mut within) = (1.0, 0.0);
    for word in words(cql_type) {
        match (word, word.parse::<u32>(), own_type(cluster, word)) {
            ("frozen" | "tuple" | "vector", ..) => {}
            ("list" | "map" | "set", ..) => times *= USUAL_ELEMENTS as f64,
            (_, Ok(dimensions), _) => times *= f64::from(dimensions),
            (.., Some(own)) => within += own.fields.iter().map(|(_, of)| usual_bytes(of, cluster)).sum::<f64>(),
            _ => within += if is_vector { OF_VECTOR_BYTES } else { WITHIN_BYTES },
        }
    }
    times * within
}

/// Rows of a partition of so many bytes each; and where that is from, where there can be several.
fn rows(schema: &TableSchema, row_bytes: f64, mean_partition_bytes: Option<f64>) -> (u64, Option<String>) {
    if schema.clustering == 0 {
        return (1, None);
    }
    let Some(bytes) = mean_partition_bytes else {
        return (1, Some("Not known: how many rows a partition has. State them.".to_owned()));
    };
    let most = MOST_ROWS.min(room(schema, |kind| matches!(kind, ColumnKind::Clustering(_))) as f64);
    let rows = (bytes / row_bytes).round().clamp(1.0, most);
    let words =
        format!("Rows are an estimate: {bytes:.0} bytes of the mean partition, by {row_bytes:.0} bytes of a row.");
    (rows as u64, Some(words))
}

/// How requests choose a partition.
fn distribution(keys: Option<&TableKeys>) -> (Distribution, String) {
    let skew = keys.and_then(|keys| keys.skew.as_ref());
    let fitted = skew.and_then(|skew| Some((skew.made.law.distribution()?, skew)));
    match fitted {
        Some((distribution, skew)) => {
            let gap = skew.made.gap * 100.0;
            (distribution, format!("Keys: {}; at most {gap:.1} points from what was counted.", skew.made.law))
        }
        None => {
            let why = "the log has too few requests of one partition, or partitions are not estimated";
            (Distribution::Zipfian { constant: 0.99 }, format!("Keys are an assumption: {why}."))
        }
    }
}

/// How values of a column are made that are as large as those that were seen; `None`: as is usual for its type.
fn generator(column: &ColumnSchema, seen: &ValuesSeen) -> Option<Generator> {
    let text = |length| Generator::Bytes { length, compressibility: 0.0 };
    // Usual ones go up from row to row, as a range needs them.
    if matches!(column.kind, ColumnKind::Clustering(_)) {
        return None;
    }
    if column.is_text() {
        let is_short = column.is_key() && seen.bytes.keys().any(|bytes| *bytes < LEAST_KEY_BYTES);
        return size(&seen.bytes).filter(|_| !is_short).map(text);
    }
    let has_room = seen.numbers.keys().all(|elements| u64::from(*elements) <= MOST_ELEMENTS);
    if !column.is_collection() || column.is_key() || !has_room {
        return None;
    }
    // A length of four bytes before each element, and their number before all (native_protocol_v4.spec, section 6).
    let elements = mean(&seen.numbers).filter(|elements| *elements > 0.0);
    let element_bytes = elements.and_then(|elements| Some(((mean(&seen.bytes)? - 4.0) / elements - 4.0).max(0.0)));
    let (outer, within) = column.parts();
    let is_of_text = outer != "map" && ["ascii", "blob", "text"].contains(&within);
    let element = element_bytes.filter(|_| is_of_text);
    let element = element.map(|bytes| Box::new(text(Size::fixed(bytes.round() as u64))));
    Some(Generator::Collection { size: size(&seen.numbers)?, element, key: None })
}

/// A name as it stands in CQL, with quotes where it needs them.
fn name(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if is_plain && !RESERVED.contains(&name) { name.to_owned() } else { quoted(name) }
}

fn create_type(own: &TypeSchema) -> String {
    let fields: Vec<String> = own.fields.iter().map(|(field, of)| format!("    {} {of}", name(field))).collect();
    format!("CREATE TYPE {} (\n{}\n)", name(&own.name), fields.join(",\n"))
}

/// `CREATE TABLE` as the schema has it.
fn create(schema: &TableSchema) -> String {
    let column = |column: &ColumnSchema| {
        let of_all = if column.kind == ColumnKind::Static { " static" } else { "" };
        format!("    {} {}{of_all},\n", name(&column.name), column.cql_type)
    };
    let named = |is_it: fn(ColumnKind) -> bool| {
        let columns = schema.described.iter().filter(|column| is_it(column.kind));
        columns.map(|column| name(&column.name)).collect::<Vec<_>>().join(", ")
    };
    let partition = named(|kind| matches!(kind, ColumnKind::PartitionKey(_)));
    let clustering = named(|kind| matches!(kind, ColumnKind::Clustering(_)));
    let partition = if schema.partition_key > 1 { format!("({partition})") } else { partition };
    let key = if clustering.is_empty() { partition } else { format!("{partition}, {clustering}") };
    let descends = schema.described.iter().any(|column| column.is_descending);
    let order = descends.then(|| format!("CLUSTERING ORDER BY ({})", order(schema)));
    let option = |(option, entries): (&String, &BTreeMap<String, String>)| {
        let entries: Vec<String> =
            entries.iter().map(|(key, value)| format!("{}: {}", text(key), text(value))).collect();
        format!("{option} = {{{}}}", entries.join(", "))
    };
    let options: Vec<String> = order.into_iter().chain(schema.options.iter().map(option)).collect();
    let with = if options.is_empty() { String::new() } else { format!(" WITH {}", options.join("\n    AND ")) };
    format!(
        "CREATE TABLE {} (\n{}    PRIMARY KEY ({key})\n){with}",
        name(&schema.name.table),
        schema.described.iter().map(column).collect::<String>()
    )
}

fn order(schema: &TableSchema) -> String {
    let clustering = schema.described.iter().filter(|column| matches!(column.kind, ColumnKind::Clustering(_)));
    let one =
        |column: &ColumnSchema| format!("{} {}", name(&column.name), if column.is_descending { "DESC" } else { "ASC" });
    clustering.map(one).collect::<Vec<_>>().join(", ")
}

/// A text of CQL.
fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}
