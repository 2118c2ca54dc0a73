//! What an operation cost a real Cassandra: the database's own counts, beside those of its devices.

use std::path::Path;

use serde_json::Value;

/// Of a cell whose records are in one SSTable, with updates that are too few to fill a memtable.
pub(super) fn are_reported(cell: &Value, run: &Path) {
    let counts = &cell["database"];
    let number = |name: &str| counts[name].as_f64().unwrap_or_else(|| panic!("{name}: {counts:#}"));
    // One SSTable after the restore; a row that was updated since is merged with its memtable.
    assert_eq!(number("sstables"), 1.0);
    let merged = number("sstables_per_read");
    // Both are read one after the other.
    assert!(merged > 0.5 && merged < 1.05, "{counts:#}");
    // Every key that is asked for exists, and there is one file.
    assert_eq!(number("bloom_false_positives_per_read"), 0.0);
    let ratio = number("compression_ratio");
    assert!(ratio > 0.1 && ratio < 1.1, "{counts:#}");
    let keys = number("key_cache_hit_share");
    assert!((0.0..=1.0).contains(&keys), "{counts:#}");
    assert_eq!(number("compacted_bytes_per_operation"), 0.0);
    assert!(counts["chunk_cache_hit_share"].is_null(), "it is off: {counts:#}");

    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("What an operation cost") && page.contains("SSTables merged/read"));
    let text = std::fs::read_to_string(run.join("report.md")).unwrap();
    assert!(text.contains("| SSTables merged/read |"), "{text}");
    println!("{counts:#}");
}
