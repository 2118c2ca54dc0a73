//! What a node of somebody else's shows by CQL: its virtual tables, its schema, its estimates. Nothing is written.
//!
//! Virtual tables exist since Cassandra 4.0; which ones differs. One that a node lacks is named with what the node
//! said, and the others are read.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use experiment::Access;
use profile::{
    CacheCounts, Cluster, ColumnKind, ColumnSchema, CountedBy, NodeReading, NotRead, Operations, TableName,
    TableReading, TableSchema, TypeSchema,
};
use scylla::value::CqlValue;

use super::admin::{Admin, AdminError, Result, ViewRow, number, text};

/// For a connection, and for each statement: a look must not hang where a node does.
const PATIENCE: Duration = Duration::from_secs(10);
/// Settings that decide how a node uses its volumes; names before 4.1 and since.
const SETTINGS: [&str; 14] = [
    "commitlog_sync",
    "compaction_throughput",
    "compaction_throughput_mb_per_sec",
    "concurrent_compactors",
    "concurrent_reads",
    "concurrent_writes",
    "disk_access_mode",
    "disk_optimization_strategy",
    "file_cache_size",
    "file_cache_size_in_mb",
    "memtable_allocation_type",
    "num_tokens",
    "row_cache_size",
    "row_cache_size_in_mb",
];
/// The pool that compacts.
const COMPACTIONS: &str = "CompactionExecutor";

/// Puts a figure where it belongs.
type Put = fn(&mut TableReading, f64);

/// Virtual tables with a row for each table: columns that may hold the figure, and where it goes
/// (`TableMetricTables.java`; percentiles were called `99th` before 4.0).
const FIGURES: [(&str, &[&str], Put); 10] = [
    ("coordinator_read_latency", &["count"], |table, count| clients(table).reads = count),
    ("coordinator_scan_latency", &["count"], |table, count| clients(table).scans = count),
    ("coordinator_write_latency", &["count"], |table, count| clients(table).writes = count),
    ("local_read_latency", &["count"], |table, count| replicas(table).reads = count),
    ("local_scan_latency", &["count"], |table, count| replicas(table).scans = count),
    ("local_write_latency", &["count"], |table, count| replicas(table).writes = count),
    ("disk_usage", &["mebibytes"], |table, mib| table.disk_mib = Some(mib)),
    ("max_partition_size", &["mebibytes"], |table, mib| table.largest_partition_mib = Some(mib)),
    ("rows_per_read", &["p99th", "99th"], |table, rows| table.rows_per_read_p99 = Some(rows)),
    ("tombstones_per_read", &["p99th", "99th"], |table, count| table.tombstones_per_read_p99 = Some(count)),
];

fn clients(table: &mut TableReading) -> &mut Operations {
    table.clients.get_or_insert_default()
}

fn replicas(table: &mut TableReading) -> &mut Operations {
    table.replicas.get_or_insert_default()
}

/// A connection that reads what one node shows.
#[derive(Debug)]
pub struct NodeViews {
    admin: Admin,
}

/// One look: what it took, and what was missing.
struct Look<'a> {
    admin: &'a Admin,
    statements: u32,
    waited: Duration,
    not_read: Vec<NotRead>,
}

impl Look<'_> {
    fn rows(&mut self, statement: &str) -> Result<Vec<ViewRow>> {
        let began = Instant::now();
        let rows = self.admin.rows(statement);
        self.statements += 1;
        self.waited += began.elapsed();
        rows
    }

    /// `None` where the node has no such table, or did not answer; that is noted.
    fn rows_if_any(&mut self, what: &str, statement: &str) -> Option<Vec<ViewRow>> {
        match self.rows(statement) {
            Ok(rows) => Some(rows),
            Err(error) => {
                let why = match error {
                    AdminError::Statement { reason, .. } => reason,
                    other => other.to_string(),
                };
                self.not_read.push(NotRead { what: what.to_owned(), why });
                None
            }
        }
    }
}

impl NodeViews {
    /// Connects to exactly this node, which its owner calls by `names`. Errors: it does not answer, or lets nobody in.
    pub fn connect(address: SocketAddr, names: &[String], access: &Access) -> Result<Self> {
        Ok(Self { admin: Admin::connect_as(address, PATIENCE, names, access)? })
    }

    /// Which node it is, by whatever address it was reached.
    pub fn host_id(&self) -> Result<Option<String>> {
        let rows = self.admin.rows("SELECT host_id FROM system.local")?;
        Ok(rows.first().and_then(|row| match row.get("host_id")? {
            CqlValue::Uuid(id) => Some(id.to_string()),
            _ => None,
        }))
    }

    /// Where the other nodes that this one knows listen for clients; on `port` where it does not say.
    pub fn others(&self, port: u16) -> Result<Vec<SocketAddr>> {
        let address = |row: &ViewRow, ip: &str, port: u16| match row.get(ip)? {
            CqlValue::Inet(ip) => Some(SocketAddr::new(*ip, port)),
            _ => None,
        };
        if let Ok(rows) = self.admin.rows("SELECT native_address, native_port FROM system.peers_v2") {
            let own = |row: &ViewRow| {
                let stated = number(row, "native_port").and_then(|port| u16::try_from(port).ok());
                address(row, "native_address", stated.unwrap_or(port))
            };
            return Ok(rows.iter().filter_map(own).collect());
        }
        let rows = self.admin.rows("SELECT rpc_address FROM system.peers")?;
        Ok(rows.iter().filter_map(|row| address(row, "rpc_address", port)).collect())
    }

    /// What is true of the cluster, as this node has it.
    pub fn cluster(&self) -> Result<Cluster> {
        let mut look = self.look();
        let local = look.rows("SELECT cluster_name, release_version FROM system.local")?;
        let peers = look.rows("SELECT peer FROM system.peers")?;
        let of_local = |column| {
            let row = local.first()?;
            text(row, column).map(str::to_owned)
        };
        let tables = look.rows_if_any(
            "the schema's tables",
            "SELECT keyspace_name, table_name, compaction, compression FROM system_schema.tables",
        );
        let columns = look.rows_if_any(
            "the schema's columns",
            "SELECT keyspace_name, table_name, column_name, kind, position, type, clustering_order FROM \
             system_schema.columns",
        );
        let keyspaces = look.rows_if_any(
            "the copies of each keyspace",
            "SELECT keyspace_name, replication FROM system_schema.keyspaces",
        );
        let copies = copies(&keyspaces.unwrap_or_default());
        let types = look.rows_if_any(
            "types of the users' own",
            "SELECT keyspace_name, type_name, field_names, field_types FROM system_schema.types",
        );
        let settings = look.rows_if_any("settings in force", "SELECT name, value FROM system_views.settings");
        let setting = |row: &ViewRow| {
            let name = text(row, "name").filter(|name| SETTINGS.contains(name))?;
            Some((name.to_owned(), text(row, "value")?.to_owned()))
        };
        Ok(Cluster {
            counted_by: CountedBy::Cassandra,
            name: of_local("cluster_name").unwrap_or_default(),
            version: of_local("release_version").unwrap_or_default(),
            nodes: peers.len() as u32 + 1,
            tables: schema(&tables.unwrap_or_default(), &columns.unwrap_or_default(), &copies),
            types: types.iter().flatten().filter_map(own_type).collect(),
            settings: settings.iter().flatten().filter_map(setting).collect(),
            not_read: look.not_read,
        })
    }

    /// What the node shows now. Sizes of partitions are estimated by it every five minutes, and are many rows: they are
    /// read where they are asked for.
    pub fn read(&self, at_s: f64, with_sizes: bool) -> Result<(NodeReading, Vec<NotRead>)> {
        let mut look = self.look();
        let local = look.rows("SELECT gossip_generation FROM system.local")?;
        let mut reading = NodeReading { at_s, ..NodeReading::default() };
        reading.generation = local.first().and_then(|row| i64::try_from(number(row, "gossip_generation")?).ok());
        reading.tables = tables(|view| look.rows_if_any(view, &format!("SELECT * FROM system_views.{view}")));
        for row in look.rows_if_any("caches", "SELECT * FROM system_views.caches").unwrap_or_default() {
            let counts = figure(&row, "request_count").zip(figure(&row, "hit_count"));
            if let (Some(name), Some((requests, hits))) = (text(&row, "name"), counts) {
                reading.caches.insert(name.to_owned(), CacheCounts { requests, hits });
            }
        }
        let pools = look.rows_if_any("thread_pools", "SELECT * FROM system_views.thread_pools");
        let compactions = pools.iter().flatten().find(|row| text(row, "name") == Some(COMPACTIONS));
        reading.compactions =
            compactions.and_then(|row| Some(number(row, "active_tasks")? + number(row, "pending_tasks")?));
        if with_sizes {
            let statement =
                "SELECT keyspace_name, table_name, mean_partition_size, partitions_count FROM system.size_estimates";
            sizes(&look.rows_if_any("size_estimates", statement).unwrap_or_default(), &mut reading.tables);
        }
        (reading.statements, reading.waited_s) = (look.statements, look.waited.as_secs_f64());
        Ok((reading, look.not_read))
    }

    fn look(&self) -> Look<'_> {
        Look { admin: &self.admin, statements: 0, waited: Duration::ZERO, not_read: Vec::new() }
    }
}

/// What the views show of each table; `rows_of` gives the rows of one, `None`: it was not read. Counts of clients, or
/// of replicas, are known where each view of them was read: one that is missing is no zero.
fn tables(mut rows_of: impl FnMut(&str) -> Option<Vec<ViewRow>>) -> BTreeMap<TableName, TableReading> {
    let mut tables: BTreeMap<TableName, TableReading> = BTreeMap::new();
    let (mut of_clients, mut of_replicas) = (true, true);
    for (view, columns, put) in FIGURES {
        let rows = rows_of(view);
        of_clients &= rows.is_some() || !view.starts_with("coordinator_");
        of_replicas &= rows.is_some() || !view.starts_with("local_");
        for row in rows.iter().flatten() {
            let figure = columns.iter().find_map(|column| figure(row, column));
            if let (Some(name), Some(figure)) = (name(row), figure) {
                put(tables.entry(name).or_default(), figure);
            }
        }
    }
    for table in tables.values_mut() {
        table.clients = table.clients.filter(|_| of_clients);
        table.replicas = table.replicas.filter(|_| of_replicas);
    }
    tables
}

/// Ranges of a node into its tables: partitions add up, sizes are weighted by them.
fn sizes(ranges: &[ViewRow], tables: &mut BTreeMap<TableName, TableReading>) {
    let mut sums: BTreeMap<TableName, (f64, f64)> = BTreeMap::new();
    for row in ranges {
        let range = figure(row, "partitions_count").zip(figure(row, "mean_partition_size"));
        if let (Some(name), Some((partitions, mean_bytes))) = (name(row), range) {
            let sum = sums.entry(name).or_default();
            sum.0 += partitions;
            sum.1 += partitions * mean_bytes;
        }
    }
    for (name, (partitions, bytes)) in sums {
        let table = tables.entry(name).or_default();
        table.partitions = Some(partitions);
        table.mean_partition_bytes = (partitions > 0.0).then(|| bytes / partitions);
    }
}

/// Copies that all data centres together keep of each keyspace. Of transient ones (`3/1`) no number is known.
fn copies(keyspaces: &[ViewRow]) -> BTreeMap<String, u32> {
    let of = |row: &ViewRow| {
        let stated = entries(row, "replication");
        let numbers = stated.iter().filter(|(key, _)| *key != "class").map(|(_, value)| value.parse::<u32>().ok());
        let sum: u32 = numbers.collect::<Option<Vec<u32>>>()?.into_iter().sum();
        Some((text(row, "keyspace_name")?.to_owned(), sum)).filter(|(_, sum)| *sum > 0)
    };
    keyspaces.iter().filter_map(of).collect()
}

/// A type of the user's own.
fn own_type(row: &ViewRow) -> Option<TypeSchema> {
    let texts = |column: &str| -> Option<Vec<String>> {
        row.get(column)?.as_list()?.iter().map(|one| one.as_text().cloned()).collect()
    };
    Some(TypeSchema {
        keyspace: text(row, "keyspace_name")?.to_owned(),
        name: text(row, "type_name")?.to_owned(),
        fields: texts("field_names")?.into_iter().zip(texts("field_types")?).collect(),
    })
}

/// A column, and the table that it is of.
fn column(row: &ViewRow) -> Option<(TableName, ColumnSchema)> {
    let place = u32::try_from(number(row, "position").unwrap_or_default()).unwrap_or_default();
    let kind = match text(row, "kind")? {
        "partition_key" => ColumnKind::PartitionKey(place),
        "clustering" => ColumnKind::Clustering(place),
        "static" => ColumnKind::Static,
        _ => ColumnKind::Regular,
    };
    let column = ColumnSchema {
        name: text(row, "column_name")?.to_owned(),
        cql_type: text(row, "type").unwrap_or_default().to_owned(),
        kind,
        is_descending: text(row, "clustering_order") == Some("desc"),
    };
    Some((name(row)?, column))
}

/// Tables with their columns, without those of the system.
fn schema(tables: &[ViewRow], columns: &[ViewRow], copies: &BTreeMap<String, u32>) -> Vec<TableSchema> {
    let mut described: BTreeMap<TableName, Vec<ColumnSchema>> = BTreeMap::new();
    for (table, column) in columns.iter().filter_map(column) {
        described.entry(table).or_default().push(column);
    }
    let one = |row: &ViewRow| {
        let name = name(row)?;
        let mut described = described.remove(&name).unwrap_or_default();
        described.sort_by(|a, b| a.kind.cmp(&b.kind).then_with(|| a.name.cmp(&b.name)));
        let is_partition_key = |column: &&ColumnSchema| matches!(column.kind, ColumnKind::PartitionKey(_));
        let key: Vec<String> = described.iter().filter(is_partition_key).map(|column| column.name.clone()).collect();
        let of_key = described.iter().filter(|column| column.is_key()).count();
        let (compaction, compression) = (entries(row, "compaction"), entries(row, "compression"));
        let class = |of: &BTreeMap<String, String>| Some(of.get("class")?.rsplit('.').next()?.to_owned());
        Some(TableSchema {
            partition_key: key.len() as u32,
            clustering: (of_key - key.len()) as u32,
            columns: (described.len() - of_key) as u32,
            key,
            compaction: class(&compaction),
            chunk_kib: compression.get("chunk_length_in_kb").and_then(|kib| kib.parse().ok()),
            compressor: class(&compression),
            options: [("compaction", compaction), ("compression", compression)]
                .into_iter()
                .filter(|(_, entries)| !entries.is_empty())
                .map(|(option, entries)| (option.to_owned(), entries))
                .collect(),
            copies: copies.get(&name.keyspace).copied(),
            described,
            name,
        })
    };
    tables.iter().filter_map(one).collect()
}

/// The table that a row is of; `None`: one of the system, of which nobody asks.
fn name(row: &ViewRow) -> Option<TableName> {
    let (keyspace, table) = (text(row, "keyspace_name")?, text(row, "table_name")?);
    let is_system = keyspace == "system" || keyspace.starts_with("system_");
    (!is_system).then(|| TableName { keyspace: keyspace.to_owned(), table: table.to_owned() })
}

/// All entries of a column that is a map of texts.
fn entries(row: &ViewRow, column: &str) -> BTreeMap<String, String> {
    let map = row.get(column).and_then(|value| value.as_map()).map(Vec::as_slice).unwrap_or_default();
    let one = |(key, value): &(CqlValue, CqlValue)| Some((key.as_text()?.clone(), value.as_text()?.clone()));
    map.iter().filter_map(one).collect()
}

/// A number of any kind; one that is not finite is none.
fn figure(row: &ViewRow, column: &str) -> Option<f64> {
    match row.get(column)? {
        CqlValue::Double(value) => value.is_finite().then_some(*value),
        CqlValue::Int(value) => Some(f64::from(*value)),
        CqlValue::BigInt(value) => Some(*value as f64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(columns: &[(&str, CqlValue)]) -> ViewRow {
        columns.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    fn said(text: &str) -> CqlValue {
        CqlValue::Text(text.to_owned())
    }

    fn of_table(keyspace: &str, table: &str) -> Vec<(&'static str, CqlValue)> {
        vec![("keyspace_name", said(keyspace)), ("table_name", said(table))]
    }

    #[test]
    fn a_schema_is_read_with_its_columns_and_the_systems_own_is_left_out() {
        let map = |pairs: &[(&str, &str)]| CqlValue::Map(pairs.iter().map(|(k, v)| (said(k), said(v))).collect());
        let compaction = map(&[("class", "org.apache.cassandra.db.compaction.LeveledCompactionStrategy")]);
        let compression =
            map(&[("chunk_length_in_kb", "16"), ("class", "org.apache.cassandra.io.compress.LZ4Compressor")]);
        let orders =
            [of_table("shop", "orders"), vec![("compaction", compaction), ("compression", compression)]].concat();
        let tables = [row(&orders), row(&of_table("system_auth", "roles")), row(&of_table("system", "local"))];
        let column = |table: &str, name: &str, kind: &str, position: i32, cql_type: &str, order: &str| {
            let described = vec![
                ("column_name", said(name)),
                ("kind", said(kind)),
                ("position", CqlValue::Int(position)),
                ("type", said(cql_type)),
                ("clustering_order", said(order)),
            ];
            row(&[of_table("shop", table), described].concat())
        };
        let columns = [
            column("orders", "day", "partition_key", 1, "date", "none"),
            column("orders", "id", "clustering", 0, "timeuuid", "desc"),
            column("orders", "lines", "regular", -1, "list<text>", "none"),
            column("orders", "shopper", "partition_key", 0, "uuid", "none"),
            column("orders", "since", "static", -1, "int", "none"),
            column("items", "id", "regular", -1, "int", "none"),
        ];
        let keyspace =
            |name: &str, stated: &[(&str, &str)]| row(&[("keyspace_name", said(name)), ("replication", map(stated))]);
        let copies = copies(&[
            keyspace("shop", &[("class", "NetworkTopologyStrategy"), ("dc1", "3"), ("dc2", "2")]),
            keyspace("passing", &[("class", "SimpleStrategy"), ("replication_factor", "3/1")]),
        ]);
        assert_eq!(copies, BTreeMap::from([("shop".to_owned(), 5)]));
        let [found]: [TableSchema; 1] = schema(&tables, &columns, &copies).try_into().unwrap();
        assert_eq!(found.name.to_string(), "shop.orders");
        let counted = (found.partition_key, found.clustering, found.columns, found.copies);
        assert_eq!(
            (counted, found.key.as_slice()),
            ((2, 1, 2, Some(5)), &["shopper".to_owned(), "day".to_owned()][..])
        );
        let described: Vec<(&str, &str, bool)> = found
            .described
            .iter()
            .map(|column| (column.name.as_str(), column.cql_type.as_str(), column.is_descending))
            .collect();
        let expected = [
            ("shopper", "uuid", false),
            ("day", "date", false),
            ("id", "timeuuid", true),
            ("since", "int", false),
            ("lines", "list<text>", false),
        ];
        assert_eq!(described, expected);
        assert_eq!(found.compaction.as_deref(), Some("LeveledCompactionStrategy"));
        assert_eq!((found.chunk_kib, found.compressor.as_deref()), (Some(16.0), Some("LZ4Compressor")));
        assert_eq!(found.options["compression"]["chunk_length_in_kb"], "16");
        let texts = |all: &[&str]| CqlValue::List(all.iter().map(|one| said(one)).collect());
        let of_type = row(&[
            ("keyspace_name", said("shop")),
            ("type_name", said("address")),
            ("field_names", texts(&["street", "zip"])),
            ("field_types", texts(&["text", "int"])),
        ]);
        let address = own_type(&of_type).unwrap();
        assert_eq!((address.keyspace.as_str(), address.name.as_str()), ("shop", "address"));
        let fields = [("street", "text"), ("zip", "int")].map(|(name, of)| (name.to_owned(), of.to_owned()));
        assert_eq!(address.fields, fields);
    }

    #[test]
    fn a_view_that_was_not_read_is_no_zero() {
        let of_view = |view: &str| {
            let column = if view == "disk_usage" { "mebibytes" } else { "count" };
            vec![row(&[of_table("shop", "orders"), vec![(column, CqlValue::BigInt(7))]].concat())]
        };
        let without = |missing: &str| tables(|view| (view != missing).then(|| of_view(view)));
        let orders = TableName { keyspace: "shop".to_owned(), table: "orders".to_owned() };
        let all = Some(Operations { reads: 7.0, scans: 7.0, writes: 7.0 });
        for (missing, of_clients, of_replicas) in
            [("none", all, all), ("coordinator_scan_latency", None, all), ("local_write_latency", all, None)]
        {
            let found = without(missing)[&orders];
            assert_eq!((found.clients, found.replicas), (of_clients, of_replicas), "without {missing}");
            assert_eq!(found.disk_mib, Some(7.0));
        }
    }

    #[test]
    fn ranges_add_up_and_their_sizes_are_weighted() {
        let range = |table: &str, partitions: i64, bytes: i64| {
            let figures = vec![
                ("partitions_count", CqlValue::BigInt(partitions)),
                ("mean_partition_size", CqlValue::BigInt(bytes)),
            ];
            row(&[of_table("shop", table), figures].concat())
        };
        let mut tables = BTreeMap::new();
        sizes(&[range("a", 100, 1_000), range("a", 300, 2_000), range("b", 0, 0)], &mut tables);
        let of = |table: &str| tables[&TableName { keyspace: "shop".to_owned(), table: table.to_owned() }];
        assert_eq!((of("a").partitions, of("a").mean_partition_bytes), (Some(400.0), Some(1_750.0)));
        assert_eq!((of("b").partitions, of("b").mean_partition_bytes), (Some(0.0), None));
    }
}
