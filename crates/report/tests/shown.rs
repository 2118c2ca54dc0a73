//! What people see in a terminal and in Markdown.

use crate::page;
use analysis::{Analysis, Charts, DataSetOrigin, Initialised, Job, Plan, Section, Setup, Setups};
use report::{TerminalOptions, html, markdown, plan_table, terminal};

fn story() -> Analysis {
    page::run(&["gp2-320", "gp3-3000", "io1-10000"], &["read-heavy"], 3).0
}

#[test]
fn a_wide_terminal_shows_everything() {
    insta::assert_snapshot!("terminal_140", terminal(&story(), TerminalOptions { width: 140, color: false }));
}

#[test]
fn a_narrow_terminal_shows_whole_columns_or_none() {
    let text = terminal(&story(), TerminalOptions { width: 80, color: false });
    let table: Vec<&str> =
        text.lines().skip_while(|l| !l.starts_with("read-heavy")).take_while(|l| !l.is_empty()).collect();
    insta::assert_snapshot!("table_80", table.join("\n"));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let long = "a-configuration-with-quite-a-long-name-gp3-16000-iops-1000-mib";
    for names in [["gp2-320", "io1-10000"], ["gp2-320", long]] {
        let (mut analysis, _) = page::run(&names, &["read-heavy", "a-workload-with-a-rather-long-name"], 3);
        // A word that cannot be broken: evidence must stay findable by it.
        analysis.findings.retain(|f| f.scope.name().len() < 60);
        for width in [80, 100, 120, 140, 200] {
            let text = terminal(&analysis, TerminalOptions { width, color: false });
            let widest = text.lines().max_by_key(|l| l.chars().count()).unwrap();
            assert!(widest.chars().count() <= width, "{width}: {widest}");
        }
    }
}

#[test]
fn colour_only_adds_codes() {
    let plain = terminal(&story(), TerminalOptions { width: 140, color: false });
    let mut coloured = terminal(&story(), TerminalOptions { width: 140, color: true });
    assert!(!plain.contains('\u{1b}') && coloured.contains("\u{1b}[33msuspect\u{1b}[0m"));
    for code in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[31m", "\u{1b}[33m", "\u{1b}[36m"] {
        coloured = coloured.replace(code, "");
    }
    assert_eq!(coloured, plain);
}

#[test]
fn markdown_says_the_same_and_how_it_was_made() {
    insta::assert_snapshot!("markdown", markdown(&story()));
}

#[test]
fn a_run_without_figures_says_so() {
    let mut empty = story();
    empty.findings.clear();
    for cell in &mut empty.cells {
        cell.throughput_ops_per_s = None;
        cell.valid_trials = 0;
        cell.latency_us.clear();
        cell.ratio_to_slowest = None;
    }
    let text = terminal(&empty, TerminalOptions { width: 140, color: false });
    assert!(text.contains("no valid trial") && text.contains("No findings."), "{text}");
    assert!(markdown(&empty).contains("| 3 | 0 | - |"));
}

/// The report in all its forms, each as words with one space between them.
fn shown(analysis: &Analysis) -> [String; 3] {
    let options = TerminalOptions { width: 100, color: false };
    let page = html(analysis, &Charts::default());
    [terminal(analysis, options), markdown(analysis), page].map(|text| {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ")
    })
}

#[test]
fn a_data_set_that_was_restored_is_said_everywhere_with_who_kept_it_and_when() {
    let mut analysis = story();
    for text in shown(&analysis) {
        assert!(!text.contains("Data set restored"), "it was loaded");
    }
    analysis.origins.push(DataSetOrigin {
        store: "s3://our-data-sets/lab".to_owned(),
        made_by: "first-20261101T080000Z".to_owned(),
        made_at: "2026-11-01T08:31:07.5Z".to_owned(),
    });
    let sentence = "Data set restored from s3://our-data-sets/lab, where the run first-20261101T080000Z kept it on \
                    2026-11-01.";
    for text in shown(&analysis) {
        assert!(text.contains(sentence), "{text}");
    }
}

#[test]
fn settings_are_reported_everywhere_with_the_configuration_that_has_them() {
    let mut analysis = story();
    for text in shown(&analysis) {
        assert!(!text.contains("Settings"), "there are none");
    }
    let name = analysis.configurations[0].name.clone();
    let options = vec!["-XX:TieredStopAtLevel=1".to_owned(), "-Xss512k".to_owned()];
    analysis.configurations[0].settings.sections.insert("jvm".to_owned(), Section::Options(options));
    let sentence = format!("Settings of {name}: jvm -XX:TieredStopAtLevel=1, jvm -Xss512k.");
    let [terminal, markdown, page] = shown(&analysis);
    for text in [&terminal, &markdown, &page] {
        assert!(text.contains(&sentence), "{text}");
    }
    let row = format!("| {name} | `jvm -Xss512k` |");
    assert!(markdown.contains(&row), "{markdown}");
    assert!(page.contains("<td class=\"t\"><code>jvm -Xss512k</code></td>"), "{page}");
}

#[test]
fn a_volume_that_was_made_from_a_snapshot_is_reported_with_how_it_was_read() {
    let mut analysis = story();
    let how = Initialised {
        snapshot: "snap-0123456789abcdef0".to_owned(),
        loaded_at: "2026-11-01T08:31:07.5Z".to_owned(),
        serial: Some("vol0123456789abcdef0".to_owned()),
        bytes: 200 << 30,
        seconds: 1_638.4,
        done_at: "2026-11-02T09:00:00Z".to_owned(),
    };
    analysis.configurations[0].volumes[0].initialised = vec![how];
    let name = analysis.configurations[0].name.clone();
    let sentence = format!(
        "{name}: the data volume was made from snap-0123456789abcdef0 of EBS, with the data set loaded on 2026-11-01. \
         Each of its blocks was read once before anything was measured: 200 GiB in 27 min 18 s (125 MiB/s)."
    );
    for text in shown(&analysis) {
        assert!(text.contains(&sentence), "{text}");
    }
    for text in shown(&story()) {
        assert!(!text.contains("Each of its blocks"), "volumes are made empty");
    }
}

#[test]
fn the_plan_shows_the_matrix_before_anything_starts() {
    let limits = serde_json::json!({"read_iops": 60.0, "write_iops": 60.0, "read_bytes_per_s": 10_485_760.0,
        "write_bytes_per_s": 10_485_760.0});
    let setup = |name: &str, commitlog: serde_json::Value| {
        serde_json::json!({"configuration": name, "cpus": 1.0, "heap_bytes": 1 << 30, "direct_memory_bytes": 1 << 28,
            "memory_limit_bytes": 3_u64 << 29, "page_cache_budget_bytes": 1 << 28, "commitlog": commitlog,
            "key_cache_bytes": 0, "more_data": [], "placement": analysis::Placement::ONE_NODE, "at": "shared",
            "settings": analysis::Settings::default(),
            "data": {"role": "data", "label": "gp2 320 GiB", "size_bytes": 1 << 30, "limits": limits, "is_local": false,
                "burst": {"baseline_iops": 60.0, "burst_iops": 187.5, "credits_max": 337_500.0,
                    "credits_start": 337_500.0}}})
    };
    let log = serde_json::json!({"role": "commitlog", "label": "gp2 50 GiB", "size_bytes": 1 << 30, "limits": limits,
        "burst": null, "is_local": false});
    let volume = serde_json::json!({"label": "gp2 320 GiB", "kind": "gp2", "size_bytes": 320_u64 << 30,
        "volume_limits": limits, "effective_limits": limits, "burst": null, "order": null, "count": 1,
        "limits_apart": false});
    let configuration = |name: &str| {
        serde_json::json!({"name": name, "data_volume": volume, "commitlog_volume": null,
            "memory_limit_bytes": 16_u64 << 30,
            "instance": {"label": "r4.xlarge", "from_catalog": true, "vcpus": 4.0, "memory_bytes": 16_u64 << 30,
                "ebs_limits": limits},
            "placement": analysis::Placement::ONE_NODE, "watched": [], "settings": analysis::Settings::default()})
    };
    let setups = [setup("gp2-320", log), setup("gp2-320-shared", serde_json::Value::Null)];
    let mut setups: [Setup; 2] = setups.map(|setup| serde_json::from_value(setup).unwrap());
    let options = vec!["-XX:TieredStopAtLevel=1".to_owned(), "-XX:+UseSerialGC".to_owned()];
    setups[1].settings.sections.insert("jvm".to_owned(), Section::Options(options));
    let plan: Plan = serde_json::from_value(serde_json::json!({
        "format_version": 8, "experiment": "story", "question": "Is it worth paying for more IOPS?", "baseline": null,
        "target": {"database": {"cassandra": {"version": "5.0.9"}}, "consistency": "one"},
        "place": {"emulated": {"model": {"scale": 16.0, "page_cache_bytes": null, "page_cache": "same-share"},
            "volumes": "throttled", "machines": {"this": {"work_directory": null}}}},
        "dataset": {"records": 300_000, "fields": 10, "field_length": 100, "compressibility": 0.0, "seed": 1},
        "configurations": [configuration("gp2-320"), configuration("gp2-320-shared")], "workloads": [],
        "patience": {"start_s": 180.0, "settle_s": 600.0},
        "caches": {"conditions": {}, "same_misses_bytes": {}, "warming_s": {}, "settling_s": {}}, "processes": [],
        "clients": 1, "faults": [],
        "decision": {"margin": 0.05, "durability": "separate"},
        "money": {"basis": analysis::Basis::default(), "configurations": []},
        "cells": [{"id": "a", "configuration": "gp2-320", "workload": "w", "load": {"concurrency": 100}},
            {"id": "b", "configuration": "gp2-320", "workload": "w",
                "load": {"rate": {"operations_per_s": 5000.0, "arrivals": "poisson"}}}],
        "trials": [{"block": 1, "cell": "a"}, {"block": 1, "cell": "b"}, {"block": 2, "cell": "b"},
            {"block": 2, "cell": "a"}],
        "shape": {"rest_max_s": 0.0, "warmup_s": 20.0, "duration_s": 60.0, "operations": null,
            "request_timeout_s": 10.0},
        "seed": 1, "forks": 1, "estimated_s": 480.0
    }))
    .unwrap();
    let mut job = Job { plan, setups: Setups::new(setups.into()) };
    let notes = ["20,000 IOPS bought, 18,750 reachable"];
    insta::assert_snapshot!("plan", plan_table(&job, &notes, 140));
    for width in [80, 100] {
        let text = plan_table(&job, &notes, width);
        let widest = text.lines().map(|l| l.chars().count()).max().unwrap();
        assert!(widest <= width, "{widest} of {width}:\n{text}");
        assert!(text.contains("gp2 320 GiB") && text.contains("187.5 IOPS") || text.contains("188 IOPS"), "{text}");
        assert!(!text.contains("Version of"), "all have one: {text}");
    }
    job.plan.stands_for_records = Some(139_200_000);
    let text = plan_table(&job, &notes, 140);
    assert!(text.contains("; a 1:16 model, data 1:464, standing for 139,200,000 records"), "{text}");
    job.setups[1].version = Some("4.1.10".to_owned());
    let text = plan_table(&job, &notes, 140);
    for line in ["Version of gp2-320: 5.0.9", "Version of gp2-320-shared: 4.1.10"] {
        assert!(text.lines().any(|shown| shown.trim_end() == line), "{text}");
    }
    job.plan.configurations[1].placement = analysis::Placement { nodes: 3, racks: 3, replication_factor: 3 };
    let text = plan_table(&job, &notes, 140);
    let said = "Database of gp2-320: 1 node, consistency one; of gp2-320-shared: 3 nodes, 3 racks, 3 replicas, \
                consistency one\n";
    assert!(text.contains(said), "{text}");
}

/// The scale divides what the file states, which may itself be a part of the real data.
#[test]
fn records_that_stand_for_more_are_said_to() {
    let mut analysis = story();
    assert!(!markdown(&analysis).contains("standing for"));
    analysis.stands_for_records = Some(464 * analysis.dataset.records);
    for text in [markdown(&analysis), terminal(&analysis, TerminalOptions { width: 200, color: false })] {
        assert!(text.contains("fields x 100 B, data 1:464, standing for 139,200,000 records; trials of"), "{text}");
    }
}

/// What a report says of how volumes were made is what they were.
#[test]
fn the_method_tells_what_limited_the_volumes_of_this_run() {
    let reported = |is_served: bool, combined: &[bool]| {
        let (mut analysis, charts) = page::run(&["gp2-320", "io1-10000"], &["read-heavy"], 3);
        for (configuration, combined) in analysis.configurations.iter_mut().zip(combined) {
            configuration.volumes[0].is_served = is_served;
            configuration.volumes[0].combined = Some(*combined);
        }
        let texts = [markdown(&analysis), html(&analysis, &charts)];
        for words in ["Reads and writes are limited apart", "Reads and writes share"] {
            assert_eq!(texts[0].contains(words), texts[1].contains(words), "{words}");
        }
        let [text, _] = texts;
        text
    };
    let throttled = reported(false, &[false, false]);
    assert!(
        throttled.contains("kernel I/O limits on a loop device. Reads and writes are limited apart"),
        "{throttled}"
    );
    let divided = reported(false, &[true, true]);
    assert!(
        divided.contains("kernel I/O limits on a loop device. Reads and writes share their limits, as with EBS"),
        "{divided}"
    );
    let served = reported(true, &[true, true]);
    assert!(served.contains("a process that answers for each of them") && !served.contains("slices"), "{served}");
    assert!(reported(true, &[true, false]).contains("Reads and writes share the limits of some volumes"));
}
