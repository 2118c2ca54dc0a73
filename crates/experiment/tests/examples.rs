//! The committed examples are valid, mean what they say, and the committed schema is the generated one.

#![allow(clippy::disallowed_methods, reason = "the committed examples and the schema are files")]
use std::path::Path;

use experiment::{DataSetFiles, Experiment, LoadLevel, ParseContext, ReadFor, Recording, parse, plan, setups};

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example(name: &str) -> Experiment {
    let file = root().join("examples").join(name);
    let text = std::fs::read_to_string(&file).unwrap();
    let read = |path: &str| std::fs::read_to_string(root().join("examples").join(path)).map_err(|e| e.to_string());
    let recording = |path: &str| -> Result<Recording, String> {
        let mut log = query_log::Log::default();
        log.read_json_lines(read(path)?.as_bytes()).map_err(|e| e.to_string())?;
        log.finish();
        Ok(Recording { path: path.to_owned(), sha256: String::new(), summary: log.summary() })
    };
    let beside = ParseContext { recording: &recording, ..ParseContext::files(&read) };
    parse(catalog::Catalog::built_in(), name, &text, &beside, ReadFor::Anybody)
        .unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

#[test]
fn every_example_is_valid() {
    let mut seen = 0;
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".toml") {
            example(&name);
            seen += 1;
        }
    }
    assert!(seen >= 4);
}

/// Times measured on two quiet cores: that of `backlog.toml` in docs/faults.md, that of `quickstart.toml` with its data
/// set loaded in 40 s of it in the README.
#[test]
fn the_estimated_time_is_within_a_quarter_of_what_runs_took() {
    for (name, measured_s) in [("backlog.toml", 19.0 * 60.0), ("quickstart.toml", 5.0 * 60.0)] {
        let estimated_s = plan(&example(name)).estimated_s;
        let factor = estimated_s / measured_s;
        assert!((1.0 / 1.25..1.25).contains(&factor), "{name}: {estimated_s:.0} s instead of {measured_s:.0}");
    }
}

/// A plan knows without setups which configurations share a data set.
#[test]
fn what_is_planned_to_be_loaded_is_what_setups_need() {
    for name in ["backlog.toml", "quickstart.toml", "two-volumes.toml", "free-before-paid.toml"] {
        let experiment = example(name);
        let (plan, setups) = (plan(&experiment), setups(&experiment));
        for (configuration, setup) in plan.configurations.iter().zip(setups.iter()) {
            assert_eq!(DataSetFiles::planned(configuration, plan.dataset.records), DataSetFiles::of(setup), "{name}");
        }
    }
}

/// Code blocks of a page that are TOML.
fn toml_blocks(page: &str) -> Vec<String> {
    let begun = page.split("\n```toml\n").skip(1);
    let inside = begun.filter_map(|rest| rest.split("\n```").next());
    inside.map(|block| block.to_owned() + "\n").collect()
}

#[test]
fn every_whole_experiment_in_the_docs_is_valid() {
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    let pages = docs.map(|entry| entry.unwrap().path()).chain([root().join("README.md")]);
    let mut seen = 0;
    for page in pages.filter(|page| page.extension().is_some_and(|e| e == "md")) {
        let text = std::fs::read_to_string(&page).unwrap();
        for block in toml_blocks(&text) {
            if block.contains("\n[dataset]\n") && block.contains("\n[load]\n") {
                let name = page.display().to_string();
                parse(catalog::Catalog::built_in(), &name, &block, &ParseContext::alone(), ReadFor::Anybody)
                    .unwrap_or_else(|mistakes| panic!("{mistakes}"));
                seen += 1;
            }
        }
    }
    assert!(seen >= 1);
}

#[test]
fn quickstart_is_three_volumes_and_can_be_tested() {
    let plan = plan(&example("quickstart.toml"));
    assert_eq!((plan.configurations.len(), plan.cells.len(), plan.trials.len()), (3, 3, 9));
}

#[test]
fn kenzan_2018_is_the_published_matrix_at_one_sixteenth() {
    let experiment = example("kenzan-2018.toml");
    let plan = plan(&experiment);
    assert_eq!(plan.cells.len(), 4 * 3 * 2);
    assert_eq!(plan.dataset.records, 3_750_000);
    assert_eq!(plan.shape.operations, Some(625_000));
    assert_eq!(experiment.load.levels, [LoadLevel::Concurrency(100), LoadLevel::Concurrency(250)]);
    let setups = setups(&experiment);
    let baseline = |i: usize| setups[i].data.burst.map_or(setups[i].data.limits.read_iops, |b| Some(b.baseline_iops));
    assert_eq!(baseline(0), Some(60.0));
    assert_eq!(baseline(1), Some(187.5));
    assert_eq!(baseline(2), Some(625.0));
    assert!(baseline(3).unwrap() > 10_000.0, "two NVMe disks");
    let cpus: Vec<f64> = setups.iter().map(|setup| setup.cpus).collect();
    // 16 vCPUs; those of r3 (Ivy Bridge, 26 ECU of 8 vCPUs) are slower than those of r4 and i3 (Broadwell, 31).
    assert_eq!(cpus, [26.0 / 31.0, 1.0, 1.0, 1.0]);
    for setup in setups.iter() {
        // (30 - 7.5 heap - 0.5 direct - 0.5 native) GiB / 16
        assert_eq!(setup.page_cache_budget_bytes, 43 * (1 << 29) / 16);
    }
}

/// As docs/tutorial.md says: three volumes on one instance type, and what they become at 1:16.
#[test]
fn the_tutorial_is_one_instance_with_three_volumes() {
    let experiment = example("tutorial.toml");
    let plan = plan(&experiment);
    assert_eq!((plan.cells.len(), plan.trials.len()), (3, 9));
    assert_eq!(plan.dataset.records, 800_000);
    let iops: Vec<_> = setups(&experiment).iter().map(|s| s.data.limits.read_iops.unwrap()).collect();
    assert_eq!(iops, [187.5, 375.0, 750.0]);
    assert_eq!(plan.objective.unwrap().throughput, Some(5_000.0));
}

#[test]
fn dse_2017_has_five_mixes_on_two_volumes() {
    let plan = plan(&example("dse-2017.toml"));
    assert_eq!((plan.workloads.len(), plan.cells.len()), (5, 2 * 5));
}

/// 57 % and 36 % of some 690 MiB of data on m2.4xlarge, 10 % on hi1.4xlarge, and one process that serves all three.
#[test]
fn netflix_2012_has_the_share_of_its_data_in_memory_that_each_fleet_had() {
    let experiment = example("netflix-2012.toml");
    let plan = plan(&experiment);
    assert_eq!((plan.cells.len(), plan.trials.len(), plan.processes.len()), (6, 18, 1));
    let page_cache_mib: Vec<u64> = setups(&experiment).iter().map(|s| s.page_cache_budget_bytes >> 20).collect();
    assert_eq!(page_cache_mib, [393, 248, 68]);
}

/// A profile of cassandra-stress: a million partitions of ten rows at 1:16, and its operations by the names in reports.
#[test]
fn stress_asks_the_operations_of_its_profile_of_two_volumes() {
    let plan = plan(&example("stress.toml"));
    assert_eq!((plan.cells.len(), plan.trials.len(), plan.dataset.records), (2, 6, 625_000));
    let names: Vec<&str> = plan.workloads[0].kinds().map(|kind| kind.name()).collect();
    assert_eq!(names, ["stress_insert", "latest", "reading"]);
}

/// `UPDATE_SCHEMA=1 cargo test -p experiment` writes it anew.
#[test]
fn the_committed_schema_is_the_generated_one() {
    let file = root().join("docs/experiment.schema.json");
    let generated = serde_json::to_string_pretty(&experiment::json_schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&file, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == generated,
        "docs/experiment.schema.json is stale; run: UPDATE_SCHEMA=1 cargo test -p experiment"
    );
}

#[test]
fn the_schema_says_what_it_is_called() {
    let schema = experiment::json_schema();
    assert_eq!(schema["$id"], experiment::SCHEMA_ID);
    assert!(schema["$schema"].as_str().unwrap().starts_with("https://json-schema.org/"));
}
