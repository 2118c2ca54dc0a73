//! What PostgreSQL counts of itself and of its tables, read from its statistics views for a monitor that asks once a
//! second, by one query.
//!
//! Counters are kept as counters; rates are differences, taken later by whoever analyses. Processes hand in what they
//! have counted about once a second (`PGSTAT_MIN_INTERVAL`), so that a figure is that much late.

use std::time::Duration;

use reported::postgresql as series;
use reported::{Reported, Series};

use super::admin::Admin;
use super::node_error::NodeError;

/// How long an answer may take. A node that stands still longer than this is not asked for the rest of the second.
const PATIENCE: Duration = Duration::from_secs(2);

/// A series, and what gives it in the query below. Columns are those of PostgreSQL 18: `pg_stat_io` counts bytes since
/// then, and has the WAL as an object of its own.
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

const FROM: &str = "
    FROM pg_stat_wal w, pg_stat_checkpointer c, pg_stat_database d,
    (SELECT sum(reads) FILTER (WHERE object = 'relation') AS reads,
            sum(read_bytes) FILTER (WHERE object = 'relation') AS read_bytes,
            sum(evictions) FILTER (WHERE object = 'relation') AS evictions,
            sum(write_bytes) FILTER (WHERE object = 'relation' AND backend_type = 'checkpointer') AS checkpointer,
            sum(write_bytes) FILTER (WHERE object = 'relation' AND backend_type = 'background writer') AS writer,
            sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0))
                FILTER (WHERE object = 'relation' AND backend_type = 'client backend') AS backends,
            sum(fsyncs) FILTER (WHERE object = 'wal') AS wal_syncs
       FROM pg_stat_io) io,
    (SELECT sum(n_tup_upd) AS updated, sum(n_tup_hot_upd) AS in_page, sum(n_dead_tup) AS dead,
            sum(vacuum_count + autovacuum_count) AS vacuums,
            sum(pg_table_size(relid)) AS table_bytes, sum(pg_indexes_size(relid)) AS index_bytes
       FROM pg_stat_user_tables WHERE relname = ANY($1)) t
    WHERE d.datname = current_database()";

/// A reader of the counters of a node and of tables of one database, what these count added up.
pub(crate) struct Counters {
    connect: Box<dyn Fn(Duration) -> Result<Admin, NodeError> + Send>,
    tables: Vec<String>,
    admin: Option<Admin>,
}

impl Counters {
    /// Connects by this when it is first asked, and again when it was cut off.
    pub fn of_tables(connect: Box<dyn Fn(Duration) -> Result<Admin, NodeError> + Send>, tables: &[String]) -> Self {
        Self { connect, tables: tables.to_vec(), admin: None }
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
            None => (self.connect)(PATIENCE)?,
        };
        let admin = self.admin.insert(admin);
        let mut reported = Reported::default();
        if let Some(row) = admin.rows(&query(), &[&self.tables], PATIENCE)?.first() {
            for (column, (series, _)) in COLUMNS.iter().enumerate() {
                // Null where nothing of the kind was counted: no process of that type has run yet.
                reported.set(series, row.try_get::<_, Option<f64>>(column).ok().flatten());
            }
        }
        Ok(reported)
    }
}

fn query() -> String {
    let columns: Vec<String> = COLUMNS.iter().map(|(_, of)| format!("({of})::float8")).collect();
    format!("SELECT {}{FROM}", columns.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_read_and_no_other() {
        let read: Vec<&str> = COLUMNS.iter().map(|(series, _)| series.key).collect();
        let stated: Vec<&str> = reported::postgresql::REPORTS.all_series().map(|series| series.key).collect();
        assert_eq!(read, stated);
        assert!(query().starts_with("SELECT (d.blks_read + d.blks_hit)::float8, (d.blks_hit)::float8, "));
    }
}
