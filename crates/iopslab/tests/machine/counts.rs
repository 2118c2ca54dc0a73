//! What an operation cost a real Cassandra: the database's own counts, beside those of its devices.

use super::small_node;
use crate::support::{Laboratory, lane::Share};

/// Reads and updates of records in one SSTable, too few to fill a memtable.
const EXPERIMENT: &str = r#"
name = "work"

[dataset]
records = 100_000

[[workload]]
name = "mixed"
read = 0.5
update = 0.5
distribution = "uniform"

[load]
rate = [300]
rest_max_s = 0
warmup_s = 2
duration_s = 5
repetitions = 1
"#;

#[test]
fn an_operation_is_reported_with_what_the_database_did_for_it() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("work.toml", &small_node::experiment(EXPERIMENT, &[("one", "")]));
    let analysis = lab.exits(0, &["run", "work.toml", "--format", "json"]).json();
    let cell = &analysis["cells"][0];
    assert_eq!(cell["valid_trials"], 1, "{cell:#}");
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

    let page = std::fs::read_to_string(lab.run_directory().join("report.html")).unwrap();
    assert!(page.contains("What an operation cost") && page.contains("SSTables merged/read"));
    let text = std::fs::read_to_string(lab.run_directory().join("report.md")).unwrap();
    assert!(text.contains("| SSTables merged/read |"), "{text}");
    println!("{counts:#}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
