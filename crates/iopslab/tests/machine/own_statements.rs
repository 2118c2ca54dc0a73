//! Schema and statements of the user's own, on a real Cassandra: several tables with an index and a view are loaded,
//! restored, asked and compacted.

use serde_json::Value;

use super::small_node;
use crate::support::{Laboratory, lane::Share};

const SCRIPT: &str = "
CREATE TABLE carts (
    shopper uuid, item int, amount int, note text, tags set<text>,
    PRIMARY KEY (shopper, item)
);

CREATE TABLE sales (item int PRIMARY KEY, sold counter);

-- statement read_cart weight 50
SELECT * FROM carts WHERE shopper = ? LIMIT ?;

-- statement put weight 20 consistency one
BEGIN UNLOGGED BATCH
    INSERT INTO carts (shopper, item, amount, note) VALUES (?, ?, ?, ?) USING TTL ?;
    UPDATE carts SET amount = ? WHERE shopper = ? AND item = ?;
APPLY BATCH;

-- statement take weight 5 consistency quorum serial local_serial
UPDATE carts SET amount = ? WHERE shopper = ? AND item = ? IF amount = ?;

-- statement count_sale weight 15
UPDATE sales SET sold = sold + ? WHERE item = ?;

CREATE INDEX ON carts (amount) USING 'sai';

CREATE MATERIALIZED VIEW carts_by_item AS
    SELECT * FROM carts WHERE item IS NOT NULL AND shopper IS NOT NULL PRIMARY KEY (item, shopper);

-- statement by_amount weight 5
SELECT shopper, item FROM carts WHERE amount = ?;

-- statement who_has weight 5
SELECT shopper FROM carts_by_item WHERE item = ? LIMIT 10;
";

/// In the order of their names.
const OPERATIONS: [&str; 6] = ["by_amount", "count_sale", "put", "read_cart", "take", "who_has"];

const EXPERIMENT: &str = r#"
name = "own-statements"

[[workload]]
cql = "shop.cql"

[workload.tables.carts]
partitions = 2_000
rows = { min = 1, max = 5 }
columns.note = { kind = "bytes", length = 40 }

[workload.tables.sales]
partitions = 500

[workload.statements.read_cart]
limit = 10

[workload.statements.put]
ttl_s = 3600

[objective.statements.read_cart]
p99_ms = 10_000

[load]
rate = [200]
rest_max_s = 1
warmup_s = 2
duration_s = 14
repetitions = 1

[[fault]]
kind = "compaction"
at_s = 6
"#;

#[test]
fn statements_of_ones_own_are_measured_by_their_names() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("shop.cql", SCRIPT);
    lab.write("shop.toml", &small_node::experiment(EXPERIMENT, &[("one", "")]));
    let output = lab.output(&["run", "shop.toml", "--format", "json"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    // Carts have 3 rows in the mean of 2,000; the loader counts what it has written. A lane keeps its data sets.
    if let Some(rest) = stderr.split(": loaded ").nth(1) {
        let loaded: u64 = rest.split(' ').next().unwrap().parse().unwrap();
        assert!((6_000..7_000).contains(&loaded), "{loaded} rows: {stderr}");
    }
    let analysis: Value = serde_json::from_slice(&output.stdout).unwrap();
    let cell = &analysis["cells"][0];
    assert_eq!(cell["valid_trials"], 1, "{cell:#}");
    assert_eq!(cell["error_share"], 0.0, "{cell:#}");
    let names: Vec<&String> = cell["latency_us"].as_object().unwrap().keys().collect();
    assert_eq!(names, OPERATIONS);
    for name in names {
        let latency = &cell["latency_us"][name];
        assert!(latency["samples"].as_u64().unwrap() > 10, "{name}: {latency:#}");
    }
    let sum: u64 = OPERATIONS.iter().map(|name| cell["latency_us"][name]["samples"].as_u64().unwrap()).sum();
    let share = cell["latency_us"]["read_cart"]["samples"].as_u64().unwrap() as f64 / sum as f64;
    assert!((0.4..0.6).contains(&share), "{share}");
    let compaction = &cell["faults"]["faults"][0];
    assert_eq!((&compaction["kind"], &compaction["problems"]), (&"compaction".into(), &serde_json::json!([])));
    assert_eq!(cell["writes"], Value::Null, "nobody knows what a statement leaves behind");
    let run = lab.run_directory();
    let csv = std::fs::read_to_string(run.join("summary.csv")).unwrap();
    assert!(csv.lines().next().unwrap().contains("read_cart_p99_us"), "{csv}");
    // Sampled rows of both tables were found in the restored data.
    let cell = std::fs::read_dir(run.join("trials")).unwrap().next().unwrap().unwrap().path();
    let log = std::fs::read_to_string(cell.join("1/database.log")).unwrap();
    let is_compacted = |table: &str| log.lines().any(|line| line.contains("Compacted (") && line.contains(table));
    assert!(is_compacted("/carts-") && is_compacted("/sales-"), "{log}");
    // The view has files: it was restored, too. No index is built anew.
    assert!(is_compacted("/carts_by_item-") && !log.contains("Submitting incremental index build"), "{log}");
    let trial = cell.join("1/trial.json");
    let trial: Value = serde_json::from_str(&std::fs::read_to_string(trial).unwrap()).unwrap();
    assert_eq!(trial["nodes"][0]["restored_keys_checked"], 64, "{:#}", trial["nodes"][0]);

    // What the server says of a statement has its line, before anything is loaded.
    lab.write("shop.cql", &SCRIPT.replace("amount int, note text", "amount int, remark text"));
    let refused = lab.output(&["run", "shop.toml", "--format", "json"]);
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && stderr.contains("shop.cql:13: `put`:"), "{stderr}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
