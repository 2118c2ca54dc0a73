//! What was recorded is sent again to a real Cassandra, at four times its pace.

use super::small_node;
use crate::support::{Laboratory, lane::Share};

const SCHEMA: &str = "CREATE TABLE carts (shopper int, item int, amount int, PRIMARY KEY (shopper, item));\n";

const UPDATE: &str = "UPDATE shop.carts SET amount = ? WHERE shopper = ? AND item = ?";

const EXPERIMENT: &str = r#"
name = "replay"

[[workload]]
replay = "log.jsonl"
speed = 4
cql = "schema.cql"

[workload.tables.carts]
partitions = 2_000
columns.shopper = { kind = "sequence" }

[load]
rest_max_s = 1
warmup_s = 2
duration_s = 8
repetitions = 1
"#;

/// 45 s of 20 requests each, every tenth of which writes; `shopper` says whose cart the i-th is of.
fn log(shopper: impl Fn(u32) -> u32) -> String {
    let line = |i: u32| {
        let (at_us, shopper) = (u64::from(i) * 50_000, shopper(i));
        match i % 10 {
            9 => format!(
                "{{\"at\": {at_us}, \"statement\": \"{UPDATE}\", \
                 \"values\": [\"0x{i:08x}\", \"0x{shopper:08x}\", \"0x00000007\"], \"consistency\": \"ONE\"}}\n"
            ),
            _ => format!(
                "{{\"at\": {at_us}, \"statement\": \"SELECT * FROM shop.carts WHERE shopper = ?\", \
                 \"values\": [\"0x{shopper:08x}\"], \"consistency\": \"ONE\"}}\n"
            ),
        }
    };
    (0..900).map(line).collect()
}

#[test]
fn a_recording_is_sent_at_its_pace_and_one_that_is_too_hot_for_a_model_is_refused_before_it_is_loaded() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("schema.cql", SCHEMA);
    lab.write("log.jsonl", &log(|i| i * 37 % 2_000));
    let experiment = small_node::experiment(EXPERIMENT, &[("one", "")]);
    lab.write("replay.toml", &experiment);
    let analysis = lab.exits(0, &["run", "replay.toml", "--format", "json"]).json();
    let cell = &analysis["cells"][0];
    assert_eq!((&cell["valid_trials"], &cell["error_share"]), (&1.into(), &0.0.into()), "{cell:#}");
    let samples = |name: &str| cell["latency_us"][name]["samples"].as_u64().unwrap_or_else(|| panic!("{cell:#}"));
    let (reads, writes) = (samples("select_carts"), samples("update_carts"));
    // 8 s of 80 a second.
    assert!((600..=680).contains(&(reads + writes)), "{reads} reads, {writes} writes");
    assert!((50..=80).contains(&writes), "{writes} writes");

    // A quarter of the same machine, four times as large; half of all requests are of one cart.
    lab.write("log.jsonl", &log(|i| if i % 2 == 0 { 0 } else { i * 37 % 2_000 }));
    let larger = experiment
        .replace("vcpus = 0.7, memory_gib = 16", "vcpus = 2.8, memory_gib = 64")
        .replace("iops = 4500, mib_per_s = 200, size_gib = 2", "iops = 18000, mib_per_s = 800, size_gib = 8")
        .replace("memory_limit_gib = 8", "memory_limit_gib = 32")
        .replace("[provider.local]\n", "[provider.local]\nscale = 4\n");
    lab.write("replay.toml", &larger);
    let refused = lab.output(&["run", "replay.toml", "--format", "json"]);
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && stderr.contains("50.0 % of all requests ask for one partition"), "{stderr}");
    assert!(!stderr.contains(": loaded "), "{stderr}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
