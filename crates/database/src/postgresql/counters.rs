//! What PostgreSQL counts of itself and of its tables, read from its statistics views for a monitor that asks once a
//! second, by one query.
//!
//! Counters are kept as counters; rates are differences, taken later by whoever analyses. Processes hand in what they
//! have counted about once a second (`PGSTAT_MIN_INTERVAL`), so that a figure is that much late.

use std::time::Duration;

use reported::postgresql as series;
use reported::{Reported, Series};

use super::admin::{Admin, AdminError};
use super::node_error::NodeError;

/// How long an answer may take. A node that stands still longer than this is not asked for the rest of the second.
const PATIENCE: Duration = Duration::from_secs(2);

/// A series, and what gives it in the query below.
const COLUMNS: &[(&Series, &str)] = &[
    (&series::PAGES_ASKED, "d.blks_read + d.blks_hit"),
    (&series::PAGES_HIT, "d.blks_hit"),
    (&series::READS, "io.reads"),
    (&series::READ_BYTES, "io.read_bytes"),
    (&series::EVICTIONS, "io.evictions"),
    (&series::CHECKPOINTER_BYTES, "io.checkpointer"),
    (&series::WRITER_BYTES, "io.writer"),
    (&series::BACKEND_BYTES, "io.backends"),
    (&series::WAL_BYTES, "w.wal_bytes"),
    (&series::WAL_FULL_PAGES, "w.wal_fpi"),
    (&series::WAL_BUFFERS_FULL, "w.wal_buffers_full"),
    (&series::WAL_SYNCS, "io.wal_syncs"),
    (&series::CHECKPOINTS, "c.num_done"),
    (&series::CHECKPOINTS_TIMED, "c.num_timed"),
    (&series::CHECKPOINTS_REQUESTED, "c.num_requested"),
    (&series::CHECKPOINTING, CHECKPOINTING),
    (&series::CHECKPOINT_WRITE_S, "c.write_time / 1000"),
    (&series::CHECKPOINT_SYNC_S, "c.sync_time / 1000"),
    (&series::COMMITS, "d.xact_commit"),
    (&series::ROLLBACKS, "d.xact_rollback"),
    (&series::CONNECTIONS, "d.numbackends"),
    (&series::ROWS_UPDATED, "t.updated"),
    (&series::ROWS_UPDATED_IN_PAGE, "t.in_page"),
    (&series::DEAD_ROWS, "t.dead"),
    (&series::VACUUMS, "t.vacuums"),
    (&series::TABLE_BYTES, "t.table_bytes"),
    (&series::INDEX_BYTES, "t.index_bytes"),
];

/// Whether the checkpointer does anything but wait for the next one (`CheckpointerMain`; PostgreSQL: "Wait Events").
/// Nothing where that is not shown to this user.
const CHECKPOINTING: &str = "SELECT (wait_event IS DISTINCT FROM 'CheckpointerMain')::int FROM pg_stat_activity
     WHERE backend_type = 'checkpointer' AND pg_has_role('pg_read_all_stats', 'USAGE')";

/// The views that a release has (PostgreSQL: "The Cumulative Statistics System", of each), with the names of
/// PostgreSQL 18 and nothing where there is no such count. `pg_stat_io` came with 16, counts bytes since 18 and pages
/// before, and has the WAL as an object of its own since 18; `pg_stat_checkpointer` came with 17 and counts those that
/// are done since 18; `pg_stat_wal` came with 14.
fn views(version: i64) -> [String; 3] {
    let (read_bytes, write_bytes, extend_bytes) = match version {
        180_000.. => ("read_bytes", "write_bytes", "extend_bytes"),
        _ => ("reads * op_bytes", "writes * op_bytes", "extends * op_bytes"),
    };
    let wal_syncs = match version {
        180_000.. => "sum(fsyncs) FILTER (WHERE object = 'wal')",
        _ => "(SELECT wal_sync FROM pg_stat_wal)",
    };
    let io = match version {
        160_000.. => format!(
            "(SELECT sum(reads) FILTER (WHERE object = 'relation') AS reads,
                sum({read_bytes}) FILTER (WHERE object = 'relation') AS read_bytes,
                sum(evictions) FILTER (WHERE object = 'relation') AS evictions,
                sum({write_bytes}) FILTER (WHERE object = 'relation' AND backend_type = 'checkpointer') AS checkpointer,
                sum({write_bytes}) FILTER (WHERE object = 'relation' AND backend_type = 'background writer') AS writer,
                sum(coalesce({write_bytes}, 0) + coalesce({extend_bytes}, 0))
                    FILTER (WHERE object = 'relation' AND backend_type = 'client backend') AS backends,
                {wal_syncs} AS wal_syncs
             FROM pg_stat_io)"
        ),
        140_000.. => format!("(SELECT {NO_IO}, wal_sync AS wal_syncs FROM pg_stat_wal)"),
        _ => format!("(SELECT {NO_IO}, NULL::float8 AS wal_syncs)"),
    };
    let wal = match version {
        140_000.. => "pg_stat_wal",
        _ => "(SELECT NULL::float8 AS wal_bytes, NULL::float8 AS wal_fpi, NULL::float8 AS wal_buffers_full)",
    };
    let checkpoints = match version {
        180_000.. => "pg_stat_checkpointer",
        170_000.. => "(SELECT *, NULL::float8 AS num_done FROM pg_stat_checkpointer)",
        _ => {
            "(SELECT checkpoints_timed AS num_timed, checkpoints_req AS num_requested, NULL::float8 AS num_done,
                checkpoint_write_time AS write_time, checkpoint_sync_time AS sync_time FROM pg_stat_bgwriter)"
        }
    };
    [io, wal.to_owned(), checkpoints.to_owned()]
}

/// What `pg_stat_io` would give.
const NO_IO: &str = "NULL::float8 AS reads, NULL::float8 AS read_bytes, NULL::float8 AS evictions, \
                     NULL::float8 AS checkpointer, NULL::float8 AS writer, NULL::float8 AS backends";

/// Series that a release does not count.
pub(crate) fn not_counted(version: i64) -> Vec<&'static str> {
    let of_io = [
        &series::READS,
        &series::READ_BYTES,
        &series::EVICTIONS,
        &series::CHECKPOINTER_BYTES,
        &series::WRITER_BYTES,
        &series::BACKEND_BYTES,
    ];
    let of_wal = [&series::WAL_BYTES, &series::WAL_FULL_PAGES, &series::WAL_BUFFERS_FULL, &series::WAL_SYNCS];
    let since: [(i64, &[&Series]); 3] = [(180_000, &[&series::CHECKPOINTS]), (160_000, &of_io), (140_000, &of_wal)];
    let missing = since.into_iter().filter(|(since, _)| version < *since);
    missing.flat_map(|(_, series)| series.iter().map(|series| series.key)).collect()
}

/// The number of the release of a server: 180003 of 18.3.
pub(crate) fn version(admin: &Admin) -> Result<i64, AdminError> {
    admin.number("SELECT current_setting('server_version_num')::bigint", &[])
}

/// The tables of the data set: those that a name without a schema means.
const TABLES: &str = "
    (SELECT sum(n_tup_upd) AS updated, sum(n_tup_hot_upd) AS in_page, sum(n_dead_tup) AS dead,
            sum(vacuum_count + autovacuum_count) AS vacuums,
            sum(pg_table_size(relid)) AS table_bytes, sum(pg_indexes_size(relid)) AS index_bytes
       FROM pg_stat_user_tables WHERE relname = ANY($1) AND schemaname = ANY(current_schemas(false))) t
    WHERE d.datname = current_database()";

/// A reader of the counters of a node and of tables of one database, what these count added up.
pub(crate) struct Counters {
    connect: Box<dyn Fn(Duration) -> Result<Admin, NodeError> + Send>,
    tables: Vec<String>,
    admin: Option<Admin>,
    /// Of its release.
    query: String,
}

impl Counters {
    /// Connects by this when it is first asked, and again when it was cut off.
    pub fn of_tables(connect: Box<dyn Fn(Duration) -> Result<Admin, NodeError> + Send>, tables: &[String]) -> Self {
        Self { connect, tables: tables.to_vec(), admin: None, query: String::new() }
    }

    /// The counters now. What the node does not answer is absent.
    pub fn read(&mut self) -> Reported {
        self.try_read().unwrap_or_else(|error| {
            tracing::debug!("{error}");
            // The next reading begins anew.
            self.admin = None;
            Reported::default()
        })
    }

    /// As [`Self::read`]; the error is that nothing could be asked.
    pub fn try_read(&mut self) -> Result<Reported, NodeError> {
        let admin = match self.admin.take() {
            Some(admin) => admin,
            None => {
                let admin = (self.connect)(PATIENCE)?;
                self.query = query(version(&admin)?);
                admin
            }
        };
        let admin = self.admin.insert(admin);
        Ok(counted(admin, &self.query, &self.tables)?)
    }
}

/// What a server shows by a [`query`] for its release, of these tables.
pub(crate) fn counted(admin: &Admin, query: &str, tables: &[String]) -> Result<Reported, AdminError> {
    let mut reported = Reported::default();
    if let Some(row) = admin.rows(query, &[&tables], PATIENCE)?.first() {
        for (column, (series, _)) in COLUMNS.iter().enumerate() {
            // Null where nothing of the kind was counted: no process of that type has run yet.
            reported.set(series, row.try_get::<_, Option<f64>>(column).ok().flatten());
        }
    }
    Ok(reported)
}

/// The query for a server of this release.
pub(crate) fn query(version: i64) -> String {
    let columns: Vec<String> = COLUMNS.iter().map(|(_, of)| format!("({of})::float8")).collect();
    let [io, wal, checkpoints] = views(version);
    format!("SELECT {} FROM {wal} w, {checkpoints} c, pg_stat_database d, {io} io,{TABLES}", columns.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_read_and_no_other() {
        let read: Vec<&str> = COLUMNS.iter().map(|(series, _)| series.key).collect();
        let stated: Vec<&str> = reported::postgresql::REPORTS.all_series().map(|series| series.key).collect();
        assert_eq!(read, stated);
        assert!(query(180_003).starts_with("SELECT (d.blks_read + d.blks_hit)::float8, (d.blks_hit)::float8, "));
    }

    #[test]
    fn a_release_is_asked_for_what_it_counts_and_the_rest_is_named() {
        let asks = |version: i64, what: &str| query(version).contains(what);
        assert!(asks(180_003, "sum(read_bytes)") && asks(180_003, "pg_stat_checkpointer c,"));
        assert!(asks(170_005, "sum(reads * op_bytes)") && asks(170_005, "NULL::float8 AS num_done FROM"));
        assert!(asks(160_009, "FROM pg_stat_bgwriter) c,") && asks(160_009, "FROM pg_stat_io"));
        assert!(!asks(150_013, "pg_stat_io") && asks(150_013, "wal_sync AS wal_syncs FROM pg_stat_wal) io,"));
        assert!(!asks(130_021, "pg_stat_wal"));
        assert_eq!(not_counted(180_003), Vec::<&str>::new());
        assert_eq!(not_counted(170_005), ["postgresql_checkpoints"]);
        assert_eq!((not_counted(150_013).len(), not_counted(130_021).len()), (7, 11));
    }
}
