//! The names under which Cassandra's metrics leave this crate.

/// Compactions running or queued, now. The server queues work for a table only while a compaction thread is free, so
/// that under a deep backlog this stays near the number of threads.
pub const PENDING_COMPACTIONS: &str = "compaction.pending";
/// Hint files waiting for other nodes, now.
pub const PENDING_HINT_FILES: &str = "hints.pending_files";
/// Hits of the chunk cache, since the start.
pub const CHUNK_CACHE_HITS: &str = "chunk_cache.hits";
/// Look-ups in the chunk cache, since the start.
pub const CHUNK_CACHE_REQUESTS: &str = "chunk_cache.requests";
/// Hits of the key cache, since the start.
pub const KEY_CACHE_HITS: &str = "key_cache.hits";
/// Look-ups in the key cache, since the start.
pub const KEY_CACHE_REQUESTS: &str = "key_cache.requests";
/// Reads of the data set's table coordinated, since the start.
pub const COORDINATOR_READS: &str = "coordinator.reads";
/// Writes coordinated, since the start.
pub const COORDINATOR_WRITES: &str = "coordinator.writes";
/// 99th percentile of coordinated reads, milliseconds: the server's own, of a decaying reservoir (about the last five
/// minutes), good for a remark, not for a result.
pub const COORDINATOR_READ_P99_MS: &str = "coordinator.read_p99_ms";
/// 99th percentile of coordinated writes, milliseconds.
pub const COORDINATOR_WRITE_P99_MS: &str = "coordinator.write_p99_ms";
/// Requests of all clients done, since the start.
pub const CLIENT_REQUESTS: &str = "client.requests";
/// Reads that wait for a thread, now.
pub const PENDING_READS: &str = "pool.read.pending";
/// Mutations that wait for a thread, now.
pub const PENDING_MUTATIONS: &str = "pool.mutation.pending";
/// Messages dropped since the reader was made.
pub const DROPPED_MESSAGES: &str = "messages.dropped";
/// Reads of the data set's table on this node, since the start.
pub const TABLE_READS: &str = "table.reads";
/// SSTables whose rows were merged for these reads.
pub const SSTABLES_MERGED: &str = "table.sstables_merged";
/// Times that a bloom filter let a read into an SSTable without the row, summed over the SSTables that are there now:
/// one that is compacted away takes its count with it.
pub const BLOOM_FALSE_POSITIVES: &str = "table.bloom_false_positives";
/// Bytes of the table's files / bytes before compression, now; absent where nothing is compressed.
pub const COMPRESSION_RATIO: &str = "table.compression_ratio";
/// Memory outside the heap that keeps where each chunk of the table's files begins, now, bytes.
pub const COMPRESSION_METADATA_BYTES: &str = "table.compression_metadata_bytes";
/// SSTables of the table, now.
pub const SSTABLES: &str = "table.sstables";
/// Memtables of the table that were given to be flushed, since the start.
pub const FLUSHES: &str = "table.flushes";
/// Bytes of the SSTables that flushes have written, since the start.
pub const FLUSHED_BYTES: &str = "table.flushed_bytes";
/// Compactions of the table that are on record: a count that grows, of some days.
pub const COMPACTIONS: &str = "table.compactions";
/// Bytes of the SSTables that compactions have written, since the start.
pub const COMPACTED_BYTES: &str = "table.compacted_bytes";
