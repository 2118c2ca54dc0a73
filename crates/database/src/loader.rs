//! What a database that loads a data set takes of its host: it has no limits, and needs more than many a
//! configuration's does.

/// Keyspace of a data set that a run loads, as in YCSB.
pub const KEYSPACE: &str = "ycsb";
/// Its table, as in YCSB.
pub const TABLE: &str = "usertable";
/// Main memory of one that loads alone; the nodes of a cluster share it.
const MAIN_BYTES: u64 = 2 << 30;
/// Less than this does not load well.
const LEAST_MAIN_BYTES: u64 = 768 << 20;
/// Buffers besides are half of main memory (`Server::memory`); the code itself takes 300 MiB (measured: Cassandra
/// 5.0.9, JDK 17).
const CODE_BYTES: u64 = 300 << 20;

/// Main memory (the heap) of each of so many nodes.
pub fn main_bytes(nodes: u32) -> u64 {
    (MAIN_BYTES / u64::from(nodes.max(1))).max(LEAST_MAIN_BYTES)
}

/// All memory of each of so many nodes.
pub fn memory_bytes(nodes: u32) -> u64 {
    let main = main_bytes(nodes);
    main + main / 2 + CODE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_share_the_heap_down_to_what_still_loads() {
        let mib = |bytes: u64| bytes >> 20;
        assert_eq!([1, 2, 3].map(main_bytes).map(mib), [2048, 1024, 768]);
        assert_eq!(mib(memory_bytes(1)), 3372);
    }
}
