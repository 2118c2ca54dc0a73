//! A backlog of SSTables with a real Cassandra: it is there when measurement begins, and compacted from then on.

use evidence::{HostId, HostSample};
use reported::Series;
use reported::cassandra::{COMPACTED_BYTES, SSTABLES, SSTABLES_MERGED, TABLE_READS};
use serde_json::Value;

use super::small_node;
use crate::support::{Laboratory, lane::Share};

/// Each record once more, in five SSTables: size tiers of this size are all alike, and one more than four are
/// compacted.
const EXPERIMENT: &str = r#"
name = "backlog"

[dataset]
records = 20_000

[[workload]]
name = "reads"
read = 1.0
distribution = "uniform"

[load]
rate = [300]
rest_max_s = 0
warmup_s = 6
duration_s = 16
repetitions = 1
"#;

const BACKLOG: &str = r#"backlog = { overwrites = 1, sstables = 5 }
settings = { cassandra = { compaction_throughput = "12MiB/s" } }"#;

/// What was seen of a configuration's first trial.
pub(super) fn samples(lab: &Laboratory, configuration: &str) -> Vec<HostSample> {
    let directory = archive::RunDirectory::open(&lab.run_directory()).unwrap();
    let trials = &directory.plan().trials;
    let is_it = |t: &&experiment::PlannedTrial| t.cell.starts_with(&format!("{configuration}."));
    let trial = directory.trial(trials.iter().find(is_it).unwrap()).unwrap();
    trial.samples[&HostId::DATABASE].clone()
}

/// SSTables merged for each read between two moments of the measurement.
fn per_read(samples: &[HostSample], from_s: f64, to_s: f64) -> f64 {
    let within: Vec<_> = samples.iter().filter(|s| (from_s..to_s).contains(&s.t_s)).collect();
    let grown = |series: &Series| {
        let known: Vec<f64> = within.iter().filter_map(|s| s.database.get(series)).collect();
        known.last().unwrap() - known.first().unwrap()
    };
    grown(&SSTABLES_MERGED) / grown(&TABLE_READS)
}

fn run(lab: &Laboratory, text: &str) -> (Value, String) {
    lab.write("backlog.toml", text);
    let output = lab.exits(0, &["run", "backlog.toml", "--format", "json"]);
    (output.json(), output.stderr)
}

fn finding<'a>(analysis: &'a Value, rule: &str) -> &'a Value {
    let all = analysis["findings"].as_array().unwrap().iter();
    let found: Vec<_> = all.filter(|f| f["rule"] == rule).collect();
    assert_eq!(found.len(), 1, "{rule}: {:#}", analysis["findings"]);
    found[0]
}

#[test]
fn a_backlog_is_there_when_measurement_begins_and_is_compacted_from_then_on() {
    let lab = Laboratory::on_machine(Share::Half);
    // The backlog that an earlier run of this story has loaded goes, and nothing else.
    for snapshot in std::fs::read_dir(lab.work().join("snapshots")).into_iter().flatten().flatten() {
        let name = snapshot.file_name().to_string_lossy().into_owned();
        if name.contains("-20000x10x100-") && name.contains("-backlog-") {
            std::fs::remove_dir_all(snapshot.path()).unwrap();
        }
    }
    let (analysis, stderr) = run(&lab, &small_node::experiment(EXPERIMENT, &[("rest", ""), ("behind", BACKLOG)]));
    // What is at rest is the data set of other stories, too.
    assert!((1..=2).contains(&stderr.matches(": loaded 20000 records").count()), "{stderr}");
    assert!(stderr.contains("wrote 20000 records again, in 5 SSTables more of each data directory"), "{stderr}");
    assert!(stderr.contains("database compacts its backlog: 6 SSTables"), "{stderr}");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&stderr).contains("Backlog of behind: 5 SSTables of 4000 overwritten records"), "{stderr}");
    for cell in analysis["cells"].as_array().unwrap() {
        assert_eq!(cell["valid_trials"], 1, "{cell:#}");
    }

    // One at rest, and five.
    let behind = samples(&lab, "behind");
    let reported = finding(&analysis, "compaction_backlog");
    let number = |name: &str| reported["figures"][name].as_f64().unwrap();
    assert_eq!(number("sstables"), 6.0, "{reported:#}");
    let from_s = number("compacts_from_s");
    assert!(from_s > 0.0 && from_s < number("compacted_until_s"), "{reported:#}");
    // Not before it was turned on; from there to one SSTable.
    let (before, after): (Vec<_>, Vec<_>) = behind.iter().partition(|s| s.t_s < from_s - 0.1);
    assert!(before.len() >= 4, "{before:?}");
    for sample in &before {
        assert_eq!(sample.database.get(&SSTABLES).unwrap_or(6.0), 6.0, "{sample:?}");
        assert_eq!(sample.database.get(&COMPACTED_BYTES).unwrap_or(0.0), 0.0, "{sample:?}");
    }
    let last = after.iter().rev().find_map(|s| s.database.get(&SSTABLES)).unwrap();
    assert_eq!((last, number("sstables_left")), (1.0, 1.0));
    assert!(number("compacted_bytes") > 20e6, "{reported:#}");
    // A read finds its record at rest and once more, until they are one.
    let (first, end) = (per_read(&behind, -4.0, from_s), per_read(&behind, number("compacted_until_s") + 1.0, 99.0));
    println!("SSTables per read: {first:.3} at first, {end:.3} at the end");
    assert!((1.95..2.1).contains(&first), "{first}");
    assert!((0.95..1.05).contains(&end), "{end}");
    let rest = samples(&lab, "rest");
    assert!((0.95..1.05).contains(&per_read(&rest, 0.0, 99.0)));
    // It is called steady by nobody.
    let steady = ["no_steady_state", "too_short_to_judge", "slow_change_possible"];
    let of_behind = |f: &&Value| f["scope"]["trial"].as_str().is_some_and(|trial| trial.starts_with("behind."));
    let findings = analysis["findings"].as_array().unwrap();
    assert!(!findings.iter().filter(of_behind).any(|f| steady.iter().any(|rule| f["rule"] == *rule)), "{findings:#?}");

    // Another run finds it where it is; one that is over too soon says so.
    let slow = small_node::experiment(EXPERIMENT, &[("behind", BACKLOG)])
        .replace("12MiB/s", "1MiB/s")
        .replace("duration_s = 16", "duration_s = 6");
    let (analysis, stderr) = run(&lab, &slow);
    let found = stderr.matches("20000 records from an earlier run's snapshot").count();
    assert_eq!(found, 1, "{stderr}");
    let left = finding(&analysis, "compaction_backlog_left");
    assert_eq!(left["figures"]["sstables"], 6.0, "{left:#}");
    assert!(left["figures"]["compacted_until_s"].is_null(), "{left:#}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
