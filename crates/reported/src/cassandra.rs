//! What Cassandra reports.

use crate::jvm;
use crate::statement::{Chart, Figure, Meaning, Of, Reports, Series, background, kept, lookups, series};

series! {
    // The server queues work for a table only while a compaction thread is free, so that under a deep backlog this
    // stays near the number of threads.
    /// Compactions that wait or run, now.
    PENDING_COMPACTIONS "pending_compactions" level.means(Meaning::BackgroundWork);
    /// Messages that Cassandra dropped.
    DROPPED_MESSAGES "dropped_messages" counter;
    /// Hits of the chunk cache.
    CHUNK_CACHE_HITS "chunk_cache_hits" counter;
    /// Requests to the chunk cache.
    CHUNK_CACHE_REQUESTS "chunk_cache_requests" counter;
    /// Hits of the key cache.
    KEY_CACHE_HITS "key_cache_hits" counter;
    /// Requests to the key cache.
    KEY_CACHE_REQUESTS "key_cache_requests" counter;
    /// Reads of the table coordinated, as Cassandra counts them.
    COORDINATOR_READS "coordinator_reads" counter;
    /// Writes coordinated.
    COORDINATOR_WRITES "coordinator_writes" counter;
    // Of about the last five minutes: good for a remark, not for a result.
    /// 99th percentile of coordinated reads as Cassandra reports it (decaying reservoir), now, milliseconds.
    COORDINATOR_READ_P99_MS "coordinator_read_p99_ms" level;
    /// The same for writes, now, milliseconds.
    COORDINATOR_WRITE_P99_MS "coordinator_write_p99_ms" level;
    /// Requests of all clients that are done.
    CLIENT_REQUESTS "client_requests" counter;
    /// Reads that wait for a thread, now.
    PENDING_READS "pending_reads" level;
    /// Mutations that wait for a thread, now.
    PENDING_MUTATIONS "pending_mutations" level;
    /// Files of hints that wait, now.
    PENDING_HINT_FILES "pending_hint_files" level;
    /// Reads of the data set's table on this node, as Cassandra counts them.
    TABLE_READS "table_reads" counter;
    /// SSTables whose rows were merged for these reads.
    SSTABLES_MERGED "sstables_merged" counter;
    /// Times that a bloom filter let a read into an SSTable without the row, of the SSTables that are there, now: the
    /// count of one that is compacted away goes with it.
    BLOOM_FALSE_POSITIVES "bloom_false_positives" steps;
    // Missing where nothing is compressed.
    /// Bytes of the table's files / bytes before compression, now.
    COMPRESSION_RATIO "compression_ratio" level.mean();
    /// Memory outside the heap that keeps where each compressed chunk of the table's files begins, now, bytes.
    COMPRESSION_METADATA_BYTES "compression_metadata_bytes" level;
    /// SSTables of the table, now.
    SSTABLES "sstables" level;
    /// Memtables of the table given to be flushed.
    FLUSHES "flushes" counter;
    /// Bytes of the SSTables that flushes have written.
    FLUSHED_BYTES "flushed_bytes" counter;
    // Some days of them.
    /// Compactions of the table that Cassandra has on record.
    COMPACTIONS "compactions" counter;
    /// Bytes of the SSTables that compactions have written.
    COMPACTED_BYTES "compacted_bytes" counter;
}

/// SSTables whose rows were merged, for each read of the table on a node.
pub static SSTABLES_PER_READ: Figure = Figure {
    in_results: Some(("SSTables /read", 10)),
    ..lookups("sstables_per_read", "SSTables merged/read", 1.0, Of::Each(&SSTABLES_MERGED, &TABLE_READS))
};
/// Memory outside the heap that keeps where each compressed chunk of the table's files begins, at the end of the
/// window, all nodes, bytes.
pub static CHUNK_OFFSET_BYTES: Figure = kept(
    "compression_metadata_bytes",
    "Memory for chunk offsets, KiB",
    1.0 / 1024.0,
    Of::Trial(&COMPRESSION_METADATA_BYTES),
);
/// SSTables of the table when its backlog was left to the nodes to compact, of all nodes.
pub static BACKLOG_SSTABLES: Figure = kept("backlog_sstables", "SSTables of the backlog and at rest", 1.0, Of::Rule);
/// When the last node had compacted its backlog, seconds from the start of measurement; null where one of the trials
/// ended before.
pub static BACKLOG_COMPACTED_UNTIL_S: Figure =
    kept("backlog_compacted_until_s", "Backlog compacted until, s", 1.0, Of::Rule);
/// Bytes of the SSTables that flushes have written, for each completed operation.
pub static FLUSHED_BYTES_PER_OPERATION: Figure =
    background("flushed_bytes_per_operation", "Bytes flushed/op.", Of::Operation(&FLUSHED_BYTES));
/// Bytes of the SSTables that compactions have written, for each completed operation.
pub static COMPACTED_BYTES_PER_OPERATION: Figure =
    background("compacted_bytes_per_operation", "Bytes compacted/op.", Of::Operation(&COMPACTED_BYTES));

/// Cassandra.
pub static REPORTS: Reports = Reports {
    series: &[jvm::SERIES, SERIES],
    figures: &[
        &SSTABLES_PER_READ,
        &lookups(
            "bloom_false_positives_per_read",
            "Bloom filter wrong/1,000 reads",
            1e3,
            Of::Each(&BLOOM_FALSE_POSITIVES, &TABLE_READS),
        ),
        &lookups(
            "chunk_cache_hit_share",
            "Chunk cache hits, %",
            100.0,
            Of::Each(&CHUNK_CACHE_HITS, &CHUNK_CACHE_REQUESTS),
        ),
        &lookups("key_cache_hit_share", "Key cache hits, %", 100.0, Of::Each(&KEY_CACHE_HITS, &KEY_CACHE_REQUESTS)),
        &kept("compression_ratio", "Compressed to, %", 100.0, Of::Trial(&COMPRESSION_RATIO)),
        &CHUNK_OFFSET_BYTES,
        &background("sstables", "SSTables at the end", Of::Trial(&SSTABLES)),
        &background("flushes", "Flushes in a trial", Of::Trial(&FLUSHES)),
        &background("compactions", "Compactions in a trial", Of::Trial(&COMPACTIONS)),
        &FLUSHED_BYTES_PER_OPERATION,
        &COMPACTED_BYTES_PER_OPERATION,
        &BACKLOG_SSTABLES,
        &BACKLOG_COMPACTED_UNTIL_S,
    ],
    charts: &[
        &jvm::COLLECTION,
        &Chart {
            title: "Compactions",
            unit: "waiting or running",
            lines: &[("compactions", &PENDING_COMPACTIONS, 1.0)],
        },
    ],
    background: &[(&FLUSHES, "flush", "flushes"), (&COMPACTIONS, "compaction", "compactions")],
    how_to_read: "SSTables, caches, flushes and compactions are the database's own counts of the measured window: for \
                  each read of the table on a node, how many SSTables were merged, and how often a bloom filter let it \
                  into one without the row; the bytes of the SSTables that flushes and compactions have written.",
    main_memory: "Heap",
    risks: &[],
};
