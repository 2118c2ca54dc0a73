//! What a server of somebody else's shows of itself by SQL: its statistics views, its catalog, its settings. All of it
//! may be read by a user who is no superuser, and nothing is written.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use postgresql_model::shown;
use profile::{
    CacheCounts, Cluster, CountedBy, NodeReading, NotRead, Operations, TableName, TableReading, TableSchema,
};
use reported::{Kind, postgresql as series};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::admin::{Admin, AdminError};
use super::counters;
use super::described::said;
use super::way::Way;
use crate::table_at::TableAt;

/// For a connection, and for each statement: a look must not hang where the server does, or somebody holds a table.
const PATIENCE: Duration = Duration::from_secs(10);

/// Settings that decide how a server uses its volumes.
const SETTINGS: [&str; 12] = [
    "autovacuum",
    "checkpoint_completion_target",
    "checkpoint_timeout",
    "effective_cache_size",
    "effective_io_concurrency",
    "fsync",
    "full_page_writes",
    "max_wal_size",
    "shared_buffers",
    "synchronous_commit",
    "wal_compression",
    "wal_level",
];

/// Which server it is since when: its start, and the moment from which it counts, ms since 1970, and its cache.
const SERVER: &str = "
    SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint
             + coalesce((extract(epoch FROM stats_reset) * 1000)::bigint, 0),
           blks_hit::float8, (blks_hit + blks_read)::float8
      FROM pg_stat_database WHERE datname = current_database()";

/// What is counted of each table, in the order of [`Counts`], and which table of that name it is.
const TABLES: &str = "
    SELECT schemaname::text, relname::text, coalesce(idx_scan, 0)::float8, coalesce(seq_scan, 0)::float8,
           coalesce(n_tup_ins, 0)::float8, coalesce(n_tup_upd, 0)::float8, coalesce(n_tup_del, 0)::float8, relid
      FROM pg_stat_user_tables";

/// Bytes of each table without its indexes, bytes of these, and its rows as the planner reckons them: those of a page
/// at the last vacuum or analysis, times the pages of now (PostgreSQL: "Row Estimation Examples"). A standby has that
/// from its primary, and statistics that were reset lose nothing of it. Before the first one: as they were counted.
const SIZES: &str = "
    SELECT s.schemaname::text, s.relname::text, pg_table_size(s.relid)::float8, pg_indexes_size(s.relid)::float8,
           CASE WHEN c.reltuples > 0 AND c.relpages > 0
                THEN c.reltuples::float8 * (pg_relation_size(s.relid) / current_setting('block_size')::float8)
                       / c.relpages
                ELSE s.n_live_tup::float8 END
      FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid";

/// Columns of each table, and those of its primary key.
const SCHEMA: &str = "
    SELECT s.schemaname::text, s.relname::text,
           (SELECT count(*) FROM pg_attribute a
             WHERE a.attrelid = s.relid AND a.attnum > 0 AND NOT a.attisdropped)::bigint,
           coalesce((SELECT i.indnkeyatts FROM pg_index i WHERE i.indrelid = s.relid AND i.indisprimary), 0)::bigint
      FROM pg_stat_user_tables s";

/// Calls of statements, those that are called most. Texts of other users are shown to `pg_read_all_stats` alone: for
/// anybody else [`HIDDEN`] stands for all of them.
const STATEMENTS: &str = "
    SELECT query::text, sum(calls)::float8
      FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
     WHERE d.datname = current_database() AND query NOT LIKE '%pg_stat%'
     GROUP BY query ORDER BY sum(calls) DESC LIMIT 200";

/// What `pg_stat_statements` shows in place of a text (PostgreSQL 13 to 18).
const HIDDEN: &str = "<insufficient privilege>";

/// How statements begin in whose texts `pg_stat_statements` puts `$1` in the place of values (its documentation: those
/// that are planned). Of others the text is as it was sent: `ALTER ROLE` with the password, `COPY` with its program.
const WITHOUT_VALUES: [&str; 7] = ["DELETE", "INSERT", "MERGE", "SELECT", "UPDATE", "VALUES", "WITH"];

/// What a table has counted since its server's statistics began.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Counts {
    index_scans: f64,
    table_scans: f64,
    inserted: f64,
    updated: f64,
    deleted: f64,
}

impl Counts {
    /// What was done since `before`; `None`: one of them went back. An update or a delete of one row looks that up in
    /// an index, too.
    fn since(self, before: Self) -> Option<Operations> {
        let [index_scans, scans, inserted, updated, deleted] = [
            self.index_scans - before.index_scans,
            self.table_scans - before.table_scans,
            self.inserted - before.inserted,
            self.updated - before.updated,
            self.deleted - before.deleted,
        ];
        let is_back = [index_scans, scans, inserted, updated, deleted].into_iter().any(|more| more < 0.0);
        let reads = (index_scans - updated - deleted).max(0.0);
        (!is_back).then_some(Operations { reads, scans, writes: inserted + updated + deleted })
    }
}

/// What was seen of a table.
#[derive(Debug, Clone, Copy, Default)]
struct Watched {
    /// Its number: another table may get its name.
    relid: u32,
    counts: Counts,
    /// What was done since it was first seen.
    operations: Operations,
    disk_mib: Option<f64>,
    rows: Option<f64>,
    mean_row_bytes: Option<f64>,
}

impl Watched {
    /// Takes a later count in. One that went back was reset: so is what was done, and the interval does not count. What
    /// another table of the same name did before it was seen is not known, and says nothing against the interval.
    fn take(&mut self, relid: u32, now: Counts) {
        if relid != self.relid {
            *self = Self { relid, counts: now, operations: self.operations, ..Self::default() };
            return;
        }
        self.operations = match now.since(self.counts) {
            None => Operations { reads: self.operations.reads - 1.0, ..self.operations },
            Some(more) => self.operations.plus(more),
        };
        self.counts = now;
    }

    fn reading(&self) -> TableReading {
        TableReading {
            clients: Some(self.operations),
            replicas: Some(self.operations),
            disk_mib: self.disk_mib,
            partitions: self.rows,
            mean_partition_bytes: self.mean_row_bytes,
            ..TableReading::default()
        }
    }
}

/// A connection that reads what one database of a server shows.
#[derive(Debug)]
pub struct ServerViews {
    at: TableAt,
    /// `None`: it was cut off, and is made again by the next look.
    admin: Option<Admin>,
    tables: BTreeMap<TableName, Watched>,
}

/// One look: what it took, and what was missing.
struct Look<'a> {
    admin: &'a Admin,
    statements: u32,
    waited: Duration,
    not_read: Vec<NotRead>,
    /// Whether the connection is of no more use: it was cut off, or the server still works at a statement that was
    /// given up, behind which others would wait.
    is_stuck: bool,
}

impl Look<'_> {
    fn rows(&mut self, query: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, AdminError> {
        let began = Instant::now();
        let rows = self.admin.rows(query, parameters, PATIENCE);
        self.statements += 1;
        self.waited += began.elapsed();
        rows
    }

    /// `None` where the server refuses it; that is noted.
    fn if_allowed<T>(&mut self, what: &str, answer: Result<T, AdminError>) -> Option<T> {
        let why = match answer {
            Ok(answer) => return Some(answer),
            Err(AdminError::Statement { source, .. }) => {
                self.is_stuck |= source.as_db_error().is_none();
                said(&source)
            }
            Err(other) => {
                self.is_stuck |= matches!(other, AdminError::NoAnswer { .. });
                other.to_string()
            }
        };
        self.not_read.push(NotRead { what: what.to_owned(), why });
        None
    }
}

impl ServerViews {
    /// Connects to the database that `at` names as its keyspace; its table is none that anybody asks for. Errors: it
    /// does not answer, or lets nobody in.
    pub fn connect(at: TableAt) -> Result<Self, AdminError> {
        let admin = Some(connect(&at)?);
        Ok(Self { at, admin, tables: BTreeMap::new() })
    }

    /// What is true of the database: a cluster of one node. Errors: the server does not answer.
    pub fn cluster(&mut self) -> Result<Cluster, AdminError> {
        self.with(|_, look| {
            let name = "SELECT current_database()::text, current_setting('server_version')::text";
            let names = look.rows(name, &[])?;
            let name = |column| names.first().and_then(|row| text(row, column)).unwrap_or_default();
            let schema = look.rows(SCHEMA, &[]);
            let schema = look.if_allowed("the schema's tables", schema).unwrap_or_default();
            let wanted = SETTINGS.as_slice();
            let query = "SELECT name::text, setting::text, unit::text FROM pg_settings WHERE name = ANY($1)";
            let settings = look.rows(query, &[&wanted]);
            let settings = look.if_allowed("settings in force", settings).unwrap_or_default();
            let setting = |row: &Row| Some((text(row, 0)?, shown(&text(row, 1)?, text(row, 2).as_deref())));
            Ok(Cluster {
                counted_by: CountedBy::Postgresql,
                name: name(0),
                version: format!("PostgreSQL {}", name(1)),
                nodes: 1,
                tables: schema.iter().filter_map(table).collect(),
                types: Vec::new(),
                settings: settings.iter().filter_map(setting).collect(),
                not_read: std::mem::take(&mut look.not_read),
            })
        })
    }

    /// What the server shows now. Sizes ask the file system about every table: they are read where they are asked for,
    /// and kept. Errors: the server does not answer; the next look connects anew.
    pub fn read(&mut self, at_s: f64, with_sizes: bool) -> Result<(NodeReading, Vec<NotRead>), AdminError> {
        self.with(|tables, look| {
            let mut reading = NodeReading { at_s, ..NodeReading::default() };
            if let Some(row) = look.rows(SERVER, &[])?.first() {
                reading.generation = row.try_get(0).ok();
                if let Some((hits, requests)) = number(row, 1).zip(number(row, 2)) {
                    reading.caches.insert(postgresql_model::SHARED_BUFFERS.to_owned(), CacheCounts { requests, hits });
                }
            }
            let rows = look.rows(TABLES, &[])?;
            taken(tables, rows.iter().filter_map(|row| Some((name(row)?, row.try_get(7).ok()?, counts(row)?))));
            let calls = look.rows(STATEMENTS, &[]);
            let calls = look.if_allowed("pg_stat_statements", calls).unwrap_or_default();
            let (calls, are_hidden) = readable(calls.iter().filter_map(|row| Some((text(row, 0)?, number(row, 1)?))));
            reading.calls = calls;
            if are_hidden {
                let why = "their texts are shown to members of pg_read_all_stats alone".to_owned();
                look.not_read.push(NotRead { what: "statements of other users".to_owned(), why });
            }
            let began = Instant::now();
            let counted = counters::version(look.admin)
                .and_then(|version| counters::counted(look.admin, &counters::query(version), &[]));
            look.statements += 2;
            look.waited += began.elapsed();
            let counted = look.if_allowed("statistics of the whole server", counted).unwrap_or_default();
            let all = series::SERIES.iter().filter(|series| series.kind == Kind::Counter);
            reading.counted = all.filter_map(|series| Some((series.key, counted.get(series)?))).collect();
            // At the end: it waits where somebody has locked a table.
            if with_sizes {
                let sizes = look.rows(SIZES, &[]);
                for row in look.if_allowed("sizes of tables", sizes).unwrap_or_default() {
                    sized(&row, tables);
                }
            }
            reading.tables = tables.iter().map(|(name, watched)| (name.clone(), watched.reading())).collect();
            (reading.statements, reading.waited_s) = (look.statements, look.waited.as_secs_f64());
            Ok((reading, std::mem::take(&mut look.not_read)))
        })
    }

    /// A look by the connection; after one that failed, or left a statement behind, it is made anew.
    fn with<T>(
        &mut self,
        see: impl FnOnce(&mut BTreeMap<TableName, Watched>, &mut Look<'_>) -> Result<T, AdminError>,
    ) -> Result<T, AdminError> {
        let admin = match self.admin.take() {
            Some(admin) => admin,
            None => connect(&self.at)?,
        };
        let mut look =
            Look { admin: &admin, statements: 0, waited: Duration::ZERO, not_read: Vec::new(), is_stuck: false };
        let seen = see(&mut self.tables, &mut look)?;
        self.admin = (!look.is_stuck).then_some(admin);
        Ok(seen)
    }
}

fn connect(at: &TableAt) -> Result<Admin, AdminError> {
    Way::to(at, &[]).and_then(|way| Admin::by(&way, PATIENCE)).map_err(AdminError::Refused)
}

fn text(row: &Row, column: usize) -> Option<String> {
    row.try_get::<_, Option<String>>(column).ok().flatten()
}

/// A number; one that is not finite is none.
fn number(row: &Row, column: usize) -> Option<f64> {
    row.try_get::<_, Option<f64>>(column).ok().flatten().filter(|number| number.is_finite())
}

/// The table that a row is of.
fn name(row: &Row) -> Option<TableName> {
    Some(TableName { keyspace: text(row, 0)?, table: text(row, 1)? })
}

fn counts(row: &Row) -> Option<Counts> {
    Some(Counts {
        index_scans: number(row, 2)?,
        table_scans: number(row, 3)?,
        inserted: number(row, 4)?,
        updated: number(row, 5)?,
        deleted: number(row, 6)?,
    })
}

/// Takes in what all tables have counted that there are now; others are gone, and hold nothing any more.
fn taken(tables: &mut BTreeMap<TableName, Watched>, all: impl Iterator<Item = (TableName, u32, Counts)>) {
    let mut before = std::mem::take(tables);
    for (name, relid, counts) in all {
        // What a table did before it was seen is not known.
        let new = Watched { relid, counts, ..Watched::default() };
        let mut watched = before.remove(&name).unwrap_or(new);
        watched.take(relid, counts);
        tables.insert(name, watched);
    }
}

/// Calls of the statements whose text may be shown, and whether texts are hidden. Where most calls are of these, it is
/// not known what is called most: then there are none.
fn readable(calls: impl Iterator<Item = (String, f64)>) -> (BTreeMap<String, f64>, bool) {
    let (hidden, mut shown): (Vec<_>, Vec<_>) = calls.partition(|(text, _)| text == HIDDEN);
    let sum = |of: &[(String, f64)]| of.iter().map(|(_, calls)| calls).sum::<f64>();
    if sum(&hidden) > sum(&shown) {
        shown.clear();
    }
    shown.retain(|(text, _)| is_without_values(text));
    (shown.into_iter().collect(), !hidden.is_empty())
}

/// By the first word, behind comments and brackets.
fn is_without_values(text: &str) -> bool {
    let is_before = |c: char| c.is_whitespace() || c == '(';
    let mut rest = text.trim_start_matches(is_before);
    loop {
        let behind = match (rest.strip_prefix("/*"), rest.strip_prefix("--")) {
            (Some(comment), _) => comment.split_once("*/"),
            (None, Some(comment)) => comment.split_once('\n'),
            (None, None) => break,
        };
        let Some((_, behind)) = behind else { return false };
        rest = behind.trim_start_matches(is_before);
    }
    let word = rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    WITHOUT_VALUES.iter().any(|known| known.eq_ignore_ascii_case(word))
}

fn sized(row: &Row, tables: &mut BTreeMap<TableName, Watched>) {
    let Some(name) = name(row) else { return };
    let Some(watched) = tables.get_mut(&name) else { return };
    let (bytes, index_bytes, rows) = (number(row, 2), number(row, 3), number(row, 4));
    watched.disk_mib = bytes.zip(index_bytes).map(|(bytes, index_bytes)| (bytes + index_bytes) / 1_048_576.0);
    watched.rows = rows;
    watched.mean_row_bytes = bytes.zip(rows).filter(|(_, rows)| *rows > 0.0).map(|(bytes, rows)| bytes / rows);
}

fn table(row: &Row) -> Option<TableSchema> {
    let count = |column| row.try_get::<_, i64>(column).ok().and_then(|count| u32::try_from(count).ok());
    let (columns, keys) = (count(2)?, count(3)?);
    Some(TableSchema {
        name: name(row)?,
        partition_key: keys,
        columns: columns.saturating_sub(keys),
        ..TableSchema::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(index_scans: f64, table_scans: f64, [inserted, updated, deleted]: [f64; 3]) -> Counts {
        Counts { index_scans, table_scans, inserted, updated, deleted }
    }

    #[test]
    fn a_row_that_is_changed_was_looked_up_and_is_no_read() {
        let before = counts(100.0, 7.0, [10.0, 20.0, 0.0]);
        for (after, [reads, scans, writes]) in [
            (before, [0.0, 0.0, 0.0]),
            (counts(170.0, 8.0, [15.0, 45.0, 5.0]), [40.0, 1.0, 35.0]),
            // One statement changed a thousand rows.
            (counts(101.0, 8.0, [10.0, 1_020.0, 0.0]), [0.0, 1.0, 1_000.0]),
        ] {
            assert_eq!(after.since(before), Some(Operations { reads, scans, writes }), "{after:?}");
        }
    }

    /// `pg_stat_reset_single_table_counters` is seen nowhere else.
    #[test]
    fn a_counter_that_went_back_makes_an_interval_that_does_not_count() {
        let mut watched = Watched { counts: counts(100.0, 0.0, [5.0, 0.0, 0.0]), ..Watched::default() };
        watched.take(0, counts(110.0, 0.0, [5.0, 0.0, 0.0]));
        let before = watched.operations;
        assert_eq!(before.reads, 10.0);
        watched.take(0, counts(3.0, 0.0, [0.0, 0.0, 0.0]));
        assert!(watched.operations.since(before).is_back(), "{watched:?}");
        let reset = watched.operations;
        watched.take(0, counts(8.0, 0.0, [0.0, 0.0, 0.0]));
        assert_eq!(watched.operations.since(reset).reads, 5.0);
        // More was updated since than had been inserted before.
        watched.take(0, counts(8.0, 0.0, [5.0, 0.0, 0.0]));
        let before = watched.operations;
        watched.take(0, counts(20.0, 0.0, [0.0, 10.0, 0.0]));
        assert!(watched.operations.since(before).is_back(), "{watched:?}");
    }

    #[test]
    fn another_table_of_the_same_name_is_no_reset_and_one_that_is_gone_holds_nothing() {
        let name = |table: &str| TableName { keyspace: "public".to_owned(), table: table.to_owned() };
        let mut tables = BTreeMap::new();
        let scans = |scans: f64| counts(scans, 0.0, [0.0; 3]);
        taken(&mut tables, [(name("a"), 1, scans(100.0)), (name("b"), 2, scans(7.0))].into_iter());
        taken(&mut tables, [(name("a"), 1, scans(110.0)), (name("b"), 2, scans(7.0))].into_iter());
        // Made anew with fewer, then renamed from one with more.
        for (relid, known) in [(3, 2.0), (4, 5_000.0)] {
            taken(&mut tables, [(name("a"), relid, scans(known))].into_iter());
            assert_eq!(tables[&name("a")].operations.reads, 10.0, "{relid}");
        }
        taken(&mut tables, [(name("a"), 4, scans(5_001.0))].into_iter());
        assert_eq!((tables[&name("a")].operations.reads, tables.len()), (11.0, 1));
    }

    #[test]
    fn no_text_is_kept_that_has_values_or_hides_what_is_called_most() {
        let of = |calls: &[(&str, f64)]| readable(calls.iter().map(|(text, calls)| ((*text).to_owned(), *calls)));
        let (calls, are_hidden) = of(&[
            ("SELECT $1", 9.0),
            ("/* app */ -- a\n (select 1) UNION SELECT 2", 3.0),
            ("ALTER ROLE app PASSWORD 'hunter2'", 2.0),
            ("/* select */ CREATE USER MAPPING FOR x SERVER y OPTIONS (password 'hunter2')", 1.0),
            ("COPY t FROM PROGRAM 'curl -u app:hunter2 x'", 1.0),
            ("-- select", 1.0),
            ("selects", 1.0),
            (HIDDEN, 4.0),
        ]);
        assert_eq!(calls.keys().collect::<Vec<_>>(), ["/* app */ -- a\n (select 1) UNION SELECT 2", "SELECT $1"]);
        assert!(are_hidden);
        // A stranger sees what he has asked himself.
        assert_eq!(of(&[(HIDDEN, 400.0), ("SELECT current_setting($1)::bigint", 9.0)]), (BTreeMap::new(), true));
        assert_eq!(of(&[]), (BTreeMap::new(), false));
    }
}
