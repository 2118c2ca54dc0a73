//! What PostgreSQL reports.

use crate::statement::{Chart, Figure, Of, Reports, Risk, Series, background, kept, lookups, series};

series! {
    /// Pages of the data set's database that were asked for, in `shared_buffers` or not.
    PAGES_ASKED "postgresql_pages_asked" counter;
    /// Those of them that were in `shared_buffers`.
    PAGES_HIT "postgresql_pages_hit" counter;
    /// Reads of tables and indexes from files, which the page cache or a device answered; each may be of several pages.
    READS "postgresql_reads" counter;
    /// Their bytes.
    READ_BYTES "postgresql_read_bytes" counter;
    /// Pages taken out of `shared_buffers` to make room.
    EVICTIONS "postgresql_evictions" counter;
    /// Bytes of tables and indexes that the checkpointer has written.
    CHECKPOINTER_BYTES "postgresql_checkpointer_bytes" counter;
    /// Bytes of tables and indexes that the background writer has written.
    WRITER_BYTES "postgresql_writer_bytes" counter;
    /// Bytes of tables and indexes that processes of clients had to write themselves, new pages included.
    BACKEND_BYTES "postgresql_backend_bytes" counter;
    /// Bytes of the write-ahead log that were made.
    WAL_BYTES "postgresql_wal_bytes" counter;
    /// Whole pages in the write-ahead log: the first change of each after a checkpoint.
    WAL_FULL_PAGES "postgresql_wal_full_pages" counter;
    /// Times that the write-ahead log was written because its buffers were full.
    WAL_BUFFERS_FULL "postgresql_wal_buffers_full" counter;
    /// Times that the write-ahead log was flushed to its device.
    WAL_SYNCS "postgresql_wal_syncs" counter;
    /// Checkpoints that are done, however they were begun.
    CHECKPOINTS "postgresql_checkpoints" counter;
    /// Checkpoints that came because `checkpoint_timeout` was over.
    CHECKPOINTS_TIMED "postgresql_checkpoints_timed" counter;
    /// Checkpoints that were asked for, most of them because `max_wal_size` was reached.
    CHECKPOINTS_REQUESTED "postgresql_checkpoints_requested" counter;
    /// 1 while a checkpoint is under way, now.
    CHECKPOINTING "postgresql_checkpointing" level;
    /// Time in which checkpoints wrote, seconds.
    CHECKPOINT_WRITE_S "postgresql_checkpoint_write_s" counter;
    /// Time in which checkpoints waited for devices to have taken it, seconds.
    CHECKPOINT_SYNC_S "postgresql_checkpoint_sync_s" counter;
    /// Transactions committed in the data set's database.
    COMMITS "postgresql_commits" counter;
    /// Transactions rolled back there.
    ROLLBACKS "postgresql_rollbacks" counter;
    /// Connections to the data set's database, now.
    CONNECTIONS "postgresql_connections" level;
    /// Rows of the data set's table updated.
    ROWS_UPDATED "postgresql_rows_updated" counter;
    /// Those of them whose new version lies on the same page, so that no index was written.
    ROWS_UPDATED_IN_PAGE "postgresql_rows_updated_in_page" counter;
    /// Versions of rows of the table that nobody sees any more and no vacuum has removed, as PostgreSQL reckons, now.
    DEAD_ROWS "postgresql_dead_rows" level;
    /// Vacuums of the table that are done, automatic ones included.
    VACUUMS "postgresql_vacuums" counter;
    /// Bytes of the table with its TOAST and its maps, now.
    TABLE_BYTES "postgresql_table_bytes" level;
    /// Bytes of its indexes, now.
    INDEX_BYTES "postgresql_index_bytes" level;
}

const MIB: f64 = 1_048_576.0;

/// Share of the pages asked for that were in `shared_buffers`.
pub static BUFFER_HIT_SHARE: Figure = Figure {
    in_results: Some(("Buffer hits %", 10)),
    ..lookups("buffer_hit_share", "In shared_buffers, %", 100.0, Of::Each(&PAGES_HIT, &PAGES_ASKED))
};
/// Checkpoints that were done in a trial.
pub static CHECKPOINTS_OF_TRIAL: Figure = background("checkpoints", "Checkpoints in a trial", Of::Trial(&CHECKPOINTS));
/// Whether one was under way at the end: the checkpointer hands in what it has written only while it is on time.
pub static CHECKPOINT_AT_THE_END: Figure =
    background("checkpoint_at_the_end", "One under way at the end", Of::Trial(&CHECKPOINTING));
/// Bytes that checkpoints wrote for each completed operation.
pub static CHECKPOINTER_BYTES_PER_OPERATION: Figure =
    background("checkpointer_bytes_per_operation", "Bytes by checkpoints/op.", Of::Operation(&CHECKPOINTER_BYTES));
/// Bytes of the write-ahead log for each completed operation.
pub static WAL_BYTES_PER_OPERATION: Figure =
    background("wal_bytes_per_operation", "WAL bytes/op.", Of::Operation(&WAL_BYTES));

/// PostgreSQL.
pub static REPORTS: Reports = Reports {
    series: &[SERIES],
    figures: &[
        &BUFFER_HIT_SHARE,
        &lookups("read_bytes_per_operation", "Read from files, bytes/op.", 1.0, Of::Operation(&READ_BYTES)),
        &kept("table_bytes", "Table at the end, MiB", 1.0 / MIB, Of::Trial(&TABLE_BYTES)),
        &kept("index_bytes", "Indexes at the end, MiB", 1.0 / MIB, Of::Trial(&INDEX_BYTES)),
        &kept("dead_rows", "Dead row versions at the end", 1.0, Of::Trial(&DEAD_ROWS)),
        &CHECKPOINTS_OF_TRIAL,
        &CHECKPOINT_AT_THE_END,
        &background("checkpoints_requested", "of them because the WAL was full", Of::Trial(&CHECKPOINTS_REQUESTED)),
        &background("vacuums", "Vacuums in a trial", Of::Trial(&VACUUMS)),
        &WAL_BYTES_PER_OPERATION,
        &background("wal_full_pages_per_operation", "Whole pages in WAL/op.", Of::Operation(&WAL_FULL_PAGES)),
        &CHECKPOINTER_BYTES_PER_OPERATION,
        &background("backend_bytes_per_operation", "Bytes by backends/op.", Of::Operation(&BACKEND_BYTES)),
    ],
    charts: &[
        &Chart {
            title: "Writes of PostgreSQL",
            unit: "MB/s",
            lines: &[
                ("WAL", &WAL_BYTES, 1e-6),
                ("checkpoints", &CHECKPOINTER_BYTES, 1e-6),
                ("background writer", &WRITER_BYTES, 1e-6),
                ("backends", &BACKEND_BYTES, 1e-6),
            ],
        },
        &Chart { title: "Rows that wait for vacuum", unit: "versions", lines: &[("dead", &DEAD_ROWS, 1.0)] },
    ],
    background: &[(&CHECKPOINTS, "checkpoint", "checkpoints"), (&VACUUMS, "vacuum", "vacuums")],
    how_to_read: "Buffers, WAL, checkpoints and vacuums are the database's own counts of the measured window: how many \
                  of the pages asked for were in shared_buffers; what is read from files comes from the page cache or \
                  a device; what backends write they write while a client waits.",
    main_memory: "shared_buffers",
    // PostgreSQL: "Asynchronous Commit", and "Write Ahead Log", Settings.
    risks: &[
        Risk {
            section: "postgresql",
            key: "synchronous_commit",
            value: "off",
            what: "A crash may lose writes that were acknowledged just before (synchronous_commit = off)",
        },
        Risk {
            section: "postgresql",
            key: "full_page_writes",
            value: "off",
            what: "A crash may leave pages half written, which cannot be recovered, unless volumes write 8 KiB at once \
                   or not at all (full_page_writes = off)",
        },
    ],
};
