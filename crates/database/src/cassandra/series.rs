//! The names under which Cassandra's metrics leave this crate.

use super::metrics::Metrics;
use crate::server::Metrics as Named;

/// Compactions running or queued, now.
pub const PENDING_COMPACTIONS: &str = "compaction.pending";
/// Bytes that running compactions have still to process, now.
pub const COMPACTION_REMAINING_BYTES: &str = "compaction.remaining_bytes";
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
/// Reads coordinated, since the start.
pub const COORDINATOR_READS: &str = "coordinator.reads";
/// Writes coordinated, since the start.
pub const COORDINATOR_WRITES: &str = "coordinator.writes";
/// 99th percentile of coordinated reads, milliseconds.
pub const COORDINATOR_READ_P99_MS: &str = "coordinator.read_p99_ms";
/// 99th percentile of coordinated writes, milliseconds.
pub const COORDINATOR_WRITE_P99_MS: &str = "coordinator.write_p99_ms";
/// Reads from this node's own memtables and files, since the start.
pub const LOCAL_READS: &str = "local.reads";
/// Writes to this node's own memtables, since the start.
pub const LOCAL_WRITES: &str = "local.writes";
/// Client connections, now.
pub const CLIENT_CONNECTIONS: &str = "client.connections";
/// Requests received over the connections that are open now.
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
/// Times that a bloom filter let a read into an SSTable without the row, summed over the SSTables that are there now: one
/// that is compacted away takes its count with it.
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

/// What a node says about itself, by name; what it does not say is left out.
pub(crate) fn named(metrics: &Metrics) -> Named {
    let cache = |name: &str| metrics.caches.get(name);
    let pending = |name: &str| metrics.pools.get(name).and_then(|pool| pool.pending);
    let read = metrics.coordinator_read.as_ref();
    let write = metrics.coordinator_write.as_ref();
    let counts = [
        (PENDING_COMPACTIONS, metrics.pending_compactions),
        (COMPACTION_REMAINING_BYTES, metrics.compaction_remaining_bytes),
        (PENDING_HINT_FILES, metrics.pending_hint_files),
        (CHUNK_CACHE_HITS, cache("chunks").and_then(|c| c.hits)),
        (CHUNK_CACHE_REQUESTS, cache("chunks").and_then(|c| c.requests)),
        (KEY_CACHE_HITS, cache("keys").and_then(|c| c.hits)),
        (KEY_CACHE_REQUESTS, cache("keys").and_then(|c| c.requests)),
        (COORDINATOR_READS, read.map(|l| l.count)),
        (COORDINATOR_WRITES, write.map(|l| l.count)),
        (LOCAL_READS, metrics.local_read.as_ref().map(|l| l.count)),
        (LOCAL_WRITES, metrics.local_write.as_ref().map(|l| l.count)),
        (CLIENT_CONNECTIONS, metrics.client_connections),
        (CLIENT_REQUESTS, metrics.client_requests),
        (PENDING_READS, pending("ReadStage")),
        (PENDING_MUTATIONS, pending("MutationStage")),
    ];
    let counts = counts.into_iter().map(|(name, count)| (name, count.map(|n| n as f64)));
    let percentiles = [
        (COORDINATOR_READ_P99_MS, read.and_then(|l| l.p99_ms)),
        (COORDINATOR_WRITE_P99_MS, write.and_then(|l| l.p99_ms)),
    ];
    counts
        .chain(percentiles)
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::cassandra::metrics::{Cache, Latency, Pool};

    #[test]
    fn every_figure_goes_by_its_own_name_and_what_is_missing_is_absent() {
        assert_eq!(named(&Metrics::default()), Named::new());
        let cache = |hits, requests| Cache {
            hits: Some(hits),
            requests: Some(requests),
            ..Cache::default()
        };
        let latency = |count, p99_ms| Latency {
            count,
            p99_ms: Some(p99_ms),
            ..Latency::default()
        };
        let pool = |pending| Pool {
            pending: Some(pending),
            ..Pool::default()
        };
        let metrics = Metrics {
            pending_compactions: Some(1),
            compaction_remaining_bytes: Some(2),
            pending_hint_files: Some(3),
            caches: BTreeMap::from([("chunks".into(), cache(4, 5)), ("keys".into(), cache(6, 7))]),
            coordinator_read: Some(latency(8, 9.5)),
            coordinator_write: Some(latency(10, 11.5)),
            local_read: Some(latency(12, 0.0)),
            local_write: Some(latency(13, 0.0)),
            client_connections: Some(14),
            client_requests: Some(15),
            pools: BTreeMap::from([("ReadStage".into(), pool(16)), ("MutationStage".into(), pool(17))]),
        };
        let expected = [
            (PENDING_COMPACTIONS, 1.0),
            (COMPACTION_REMAINING_BYTES, 2.0),
            (PENDING_HINT_FILES, 3.0),
            (CHUNK_CACHE_HITS, 4.0),
            (CHUNK_CACHE_REQUESTS, 5.0),
            (KEY_CACHE_HITS, 6.0),
            (KEY_CACHE_REQUESTS, 7.0),
            (COORDINATOR_READS, 8.0),
            (COORDINATOR_READ_P99_MS, 9.5),
            (COORDINATOR_WRITES, 10.0),
            (COORDINATOR_WRITE_P99_MS, 11.5),
            (LOCAL_READS, 12.0),
            (LOCAL_WRITES, 13.0),
            (CLIENT_CONNECTIONS, 14.0),
            (CLIENT_REQUESTS, 15.0),
            (PENDING_READS, 16.0),
            (PENDING_MUTATIONS, 17.0),
        ];
        assert_eq!(named(&metrics), Named::from(expected));
    }
}
