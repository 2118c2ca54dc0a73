//! Results of other tools become a run, and no more is concluded from them than they carry.

use serde_json::Value;

use crate::support::Laboratory;

/// 10 million operations of YCSB's workload A on ScyllaDB, 8 threads, 622 s.
const SCYLLA: &str = include_str!("../../../examples/ycsb-result.txt");
/// 37 % of its operations are reads that found nothing.
const NOT_FOUND: &str = include_str!("../../imports/tests/real/ycsb-not-found.txt");
const STRESS: &str = include_str!("../../imports/tests/real/cassandra-stress-scylla.txt");

/// The document of an import.
fn imported(lab: &Laboratory, arguments: &[&str]) -> Value {
    let arguments = [&["import"], arguments, &["--format", "json"]].concat();
    lab.exits(0, &arguments).json()
}

fn refused(lab: &Laboratory, arguments: &[&str]) -> String {
    let stderr = lab.exits(2, &[&["import"], arguments].concat()).stderr;
    assert!(!lab.path().join("runs").exists(), "nothing is left of what was refused");
    stderr
}

/// 100,000 reads at so many operations a second, on 32 threads.
fn ycsb(ops_per_s: f64) -> String {
    let (ms, mean) = (100_000.0 / ops_per_s * 1e3, 32.0 / ops_per_s * 1e6);
    format!(
        "Command line: -db a -threads 32 -t\n[OVERALL], RunTime(ms), {ms:.0}\n\
         [OVERALL], Throughput(ops/sec), {ops_per_s}\n\
         [READ], Operations, 100000\n[READ], AverageLatency(us), {mean}\n[READ], MinLatency(us), 90\n\
         [READ], MaxLatency(us), 90000\n[READ], 95thPercentileLatency(us), {:.0}\n\
         [READ], 99thPercentileLatency(us), {:.0}\n[READ], Return=OK, 100000\n",
        mean * 2.0,
        mean * 3.0
    )
}

/// A map of files by configuration, three of each.
fn map(lab: &Laboratory, configurations: &[(&str, f64, f64)]) {
    let mut text = "name = \"study\"\n".to_owned();
    for (name, ops_per_s, usd) in configurations {
        for repetition in 1..=3_u32 {
            let file = format!("{name}-{repetition}.txt");
            lab.write(&file, &ycsb(ops_per_s * (1.0 + 0.004 * f64::from(repetition))));
            text += &format!(
                "[[result]]\nfile = \"{file}\"\nconfiguration = \"{name}\"\nworkload = \"c\"\n\
                 repetition = {repetition}\n\
                 price_usd_per_month = {usd}\n"
            );
        }
    }
    lab.write("study.toml", &text);
}

fn findings(document: &Value, rule: &str) -> usize {
    document["findings"].as_array().unwrap().iter().filter(|finding| finding["rule"] == rule).count()
}

/// The example, as docs/imports.md has it.
#[test]
fn one_file_states_what_it_states_and_no_limit() {
    let lab = Laboratory::new();
    lab.write("ycsb-result.txt", SCYLLA);
    let message = refused(&lab, &["ycsb-result.txt"]);
    assert!(message.contains("ycsb-result.txt: the file states neither threads nor a rate"), "{message}");
    assert!(!message.contains("ycsb-result.txt: ycsb-result.txt"), "{message}");

    let document = imported(&lab, &["ycsb-result.txt", "--threads", "8"]);
    assert_eq!(document["provider"], "imported");
    let cell = &document["cells"][0];
    assert_eq!(cell["id"], "imported.imported.c8");
    assert!((cell["throughput_ops_per_s"]["median"].as_f64().unwrap() - 16_085.06).abs() < 0.1, "{cell:#}");
    let reads = &cell["latency_us"]["read"];
    assert_eq!((&reads["p99"], &reads["p50"], &reads["p999"]), (&1049.0.into(), &Value::Null, &Value::Null));
    assert_eq!(cell["limit"]["kind"], "not_watched");
    assert_eq!(cell["client_cpu_us_per_operation"], Value::Null, "nobody measured the client");
    for silent in ["no_steady_state", "too_short_to_judge", "counts_disagree", "clock_drift"] {
        assert_eq!(findings(&document, silent), 0, "{silent}: {:#}", document["findings"]);
    }
    let run = lab.run_directory();
    let kept = std::fs::read_to_string(run.join("trials/imported.imported.c8/1/imported.log")).unwrap();
    assert_eq!(kept, SCYLLA, "the file itself is evidence");
    let run = run.display().to_string();
    for arguments in [["report", &run, "--verify"].as_slice(), &["compare", &run, &run]] {
        lab.exits(0, arguments);
    }
    let resumed = lab.exits(2, &["run", "--resume", &run]).stderr;
    assert!(resumed.contains("was imported"), "{resumed}");
    let size = ["size", &run, "--throughput", "1000", "--read-share", "0.5", "--data", "10GB"];
    let sized = lab.exits(2, &size).stderr;
    assert!(sized.contains("was imported: what an operation takes"), "{sized}");
}

/// A count, the returns and the throughput of one file say the same, or it is not to be used.
#[test]
fn a_file_that_contradicts_itself_says_so() {
    let lab = Laboratory::new();
    lab.write("raised.txt", &ycsb(2_000.0).replace("[READ], Operations, 100000", "[READ], Operations, 1100000"));
    let document = imported(&lab, &["raised.txt"]);
    assert_eq!(findings(&document, "counts_disagree"), 1, "{:#}", document["findings"]);
    assert!(!document["findings"].to_string().contains("report it as a defect"), "{:#}", document["findings"]);
}

/// What to do about another tool's run is said of that tool, not of an experiment file that there is none of.
#[test]
fn threads_that_were_stated_wrong_are_said_to_be_wrong() {
    let lab = Laboratory::new();
    lab.write("ycsb-result.txt", SCYLLA);
    let document = imported(&lab, &["ycsb-result.txt", "--threads", "64"]);
    let all = document["findings"].as_array().unwrap();
    let advice = all.iter().find(|finding| finding["rule"] == "little").unwrap()["advice"].as_str().unwrap();
    assert!(advice.contains("about 8 were in flight") && !advice.contains("[load]"), "{advice}");
}

/// Whoever measured them did not mix their order: repetitions are not pairs.
#[test]
fn configurations_of_a_map_are_compared_and_valued() {
    let lab = Laboratory::new();
    map(&lab, &[("gp2", 2_000.0, 300.0), ("io1", 3_000.0, 500.0)]);
    let document = imported(&lab, &["--map", "study.toml"]);
    let ratio = &document["cells"][1]["ratio_to_baseline"];
    assert!((ratio["median"].as_f64().unwrap() - 1.5).abs() < 0.001, "{ratio:#}");
    assert_eq!((&ratio["verdict"], &ratio["unpaired"]), (&"faster".into(), &true.into()), "{ratio:#}");
    let doubts = document["recommendation"]["doubts"].as_array().unwrap();
    let said = |doubt: &Value| doubt.as_str().unwrap().starts_with("All figures are those of other tools");
    assert!(doubts.iter().any(said), "{doubts:#?}");
    let value = &document["value_of_money"][0];
    assert_eq!((&value["from"], &value["to"]), (&"gp2".into(), &"io1".into()), "{value:#}");
}

/// What one tool counts as an operation is none of the other's.
#[test]
fn results_of_two_tools_are_not_compared() {
    let lab = Laboratory::new();
    lab.write("ycsb.txt", SCYLLA);
    lab.write("stress.txt", STRESS);
    imported(&lab, &["ycsb.txt", "--threads", "10", "--out", "one"]);
    imported(&lab, &["stress.txt", "--out", "other"]);
    let run = |of: &str| {
        let run = std::fs::read_dir(lab.path().join(of)).unwrap().next().unwrap().unwrap();
        run.path().display().to_string()
    };
    let output = lab.output(&["compare", &run("one"), &run("other"), "--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["cells"], serde_json::json!([]), "{document:#}");
    let not_compared = document["not_compared"][0].as_str().unwrap();
    assert!(not_compared.contains("c10 was loaded by YCSB in "), "{not_compared}");
    let differences = document["differences"].as_array().unwrap();
    assert!(differences.contains(&"tool: YCSB -> cassandra-stress".into()), "{differences:#?}");
}

/// A minute of one against ten of the other.
#[test]
fn runs_of_different_lengths_are_not_compared() {
    let lab = Laboratory::new();
    map(&lab, &[("gp2", 2_000.0, 300.0), ("io1", 3_000.0, 500.0)]);
    for repetition in 1..=3 {
        let name = format!("io1-{repetition}.txt");
        let text = std::fs::read_to_string(lab.path().join(&name)).unwrap();
        let ms = text.split("RunTime(ms), ").nth(1).unwrap().lines().next().unwrap().to_owned();
        let longer = text.replace(&ms, &format!("{ms}0")).replace("100000", "1000000");
        lab.write(&name, &longer);
    }
    let document = imported(&lab, &["--map", "study.toml"]);
    assert_eq!(document["cells"][1]["ratio_to_baseline"], Value::Null, "{:#}", document["cells"][1]);
    assert_eq!(findings(&document, "windows_unlike"), 1);
    let ratios = document["value_of_money"].as_array().unwrap();
    assert!(ratios.iter().all(|value| value["verdict"] == "not decided"), "{ratios:#?}");
}

#[test]
fn latencies_of_a_closed_loop_at_a_rate_are_no_response_times() {
    let lab = Laboratory::new();
    lab.write("a.txt", &ycsb(2_000.0).replace("-threads 32", "-threads 32 -target 2000"));
    let document = imported(&lab, &["a.txt"]);
    let cell = &document["cells"][0];
    assert_eq!(cell["latency_us"], serde_json::json!({}), "{cell:#}");
    assert_eq!(cell["service_us"]["read"]["p99"], 48_000.0);
    assert_eq!(findings(&document, "coordinated_omission"), 1);

    lab.write("b.txt", &ycsb(2_000.0).replace("-threads 32", "-target 2000 -p measurement.interval=intended"));
    let document = imported(&lab, &["b.txt", "--out", "intended"]);
    assert_eq!(document["cells"][0]["latency_us"]["read"]["p99"], 48_000.0);
    assert_eq!(findings(&document, "coordinated_omission"), 0);

    lab.write("c.txt", &ycsb(2_000.0).replace("-threads 32", "-target 2000"));
    let document = imported(&lab, &["c.txt", "--counted-from", "due", "--out", "stated"]);
    assert_eq!(document["cells"][0]["latency_us"]["read"]["p99"], 48_000.0);
    let stderr = lab.exits(2, &["import", "b.txt", "--counted-from", "sent", "--out", "contradicted"]).stderr;
    assert!(stderr.contains("b.txt: counted_from = \"sent\": the file shows \"due\""), "{stderr}");
}

#[test]
fn what_a_file_shows_of_itself_is_reported() {
    let lab = Laboratory::new();
    lab.write("not-found.txt", NOT_FOUND);
    let document = imported(&lab, &["not-found.txt", "--threads", "2"]);
    assert_eq!(findings(&document, "not_found"), 1, "{:#}", document["findings"]);

    // A store that fills: from 20,000 to 9,000 a second.
    let mut falling = String::new();
    let mut done = 0;
    for second in (0..=300).step_by(10) {
        let (minute, of_minute) = (second / 60, second % 60);
        falling +=
            &format!("2020-01-10 16:{minute:02}:{of_minute:02}:213 {second} sec: {done} operations; 1 current\n");
        done += (20_000 - second * 36) * 10;
    }
    lab.write("falling.txt", &(falling + SCYLLA));
    let document = imported(&lab, &["falling.txt", "--threads", "8", "--out", "falling"]);
    assert_eq!(findings(&document, "imported_drift"), 1, "{:#}", document["findings"]);
    assert_eq!(document["cells"][0]["withheld"]["unrest"], "changing", "{:#}", document["cells"][0]);
    let run = lab.run_in("falling");
    let page = std::fs::read_to_string(run.join("report.md")).unwrap();
    assert!(
        page.contains("Throughput went one way") && !page.to_lowercase().contains("steady state reached"),
        "{page}"
    );
}

#[test]
fn a_damaged_file_is_refused_at_its_line_and_one_of_another_tool_by_its_name() {
    let lab = Laboratory::new();
    lab.write("a.txt", &SCYLLA.replace("[READ], Operations, 5001979", "[READ], Operations, 50o1979"));
    let message = refused(&lab, &["a.txt", "--threads", "8"]);
    assert!(message.contains("a.txt:13: expected a number of at least 0"), "{message}");

    lab.write("io.txt", "Linux 6.1 (h)  06/17/2024  _x86_64_  (1 CPU)\n\navg-cpu:  %user   %nice %system\n 1 2 3\n");
    let message = refused(&lab, &["io.txt"]);
    assert!(message.contains("io.txt: this is a file of iostat, which is not read"), "{message}");
    let message = refused(&lab, &["a.txt", "io.txt"]);
    assert!(message.contains("nothing says which cell"), "{message}");

    lab.write("a.txt", SCYLLA);
    lab.write("of-nobody.hdr", "#[Histogram log format version 1.3]\n0.000,1.000,2.769,HISTFAAAA\n");
    let message = refused(&lab, &["a.txt", "--threads", "8", "--histograms", "of-nobody.hdr"]);
    assert!(message.contains("of-nobody.hdr: this is an HdrHistogram log of no tool that is known here"), "{message}");
    let message = refused(&lab, &["a.txt", "--threads", "8", "--operation", "delete"]);
    assert!(message.contains("--operation delete: expected one of read, update, insert"), "{message}");
    let message = refused(&lab, &["a.txt", "--threads", "8", "--operation", "read"]);
    assert!(message.contains("a.txt: operation = \"read\": YCSB states what its operations are"), "{message}");
}

#[test]
fn what_a_map_says_is_held_against_its_files_all_at_once() {
    let lab = Laboratory::new();
    lab.write("a.txt", &ycsb(2_000.0));
    lab.write("b.txt", STRESS);
    lab.write("c.txt", &SCYLLA.replace("[OVERALL], RunTime(ms), 621695\n", ""));
    let entry = |file: &str, more: &str| {
        format!("[[result]]\nfile = \"{file}\"\nconfiguration = \"x\"\nworkload = \"w\"\n{more}\n")
    };
    lab.write("map.toml", &[entry("a.txt", "threads = 64"), entry("c.txt", ""), entry("gone.txt", "")].concat());
    let message = refused(&lab, &["--map", "map.toml"]);
    for expected in [
        "map.toml:2: a.txt: 64 threads are given, and the file states 32",
        "c.txt: `[OVERALL], RunTime(ms), NUMBER` is missing",
        "map.toml:12: cannot read gone.txt",
    ] {
        assert!(message.contains(expected), "{expected}: {message}");
    }
    lab.write("map.toml", &[entry("a.txt", ""), entry("b.txt", "")].concat());
    let message = refused(&lab, &["--map", "map.toml"]);
    assert!(message.contains("b.txt is of cassandra-stress, a.txt of YCSB"), "{message}");
    lab.write("twin.txt", &ycsb(2_001.0));
    lab.write("map.toml", &[entry("a.txt", ""), entry("twin.txt", "")].concat());
    let message = refused(&lab, &["--map", "map.toml"]);
    assert!(message.contains("are both repetition 1 of x.w.c32"), "{message}");
    lab.write("twin.txt", &ycsb(2_000.0));
    lab.write("map.toml", &[entry("a.txt", ""), entry("twin.txt", "repetition = 2")].concat());
    let message = refused(&lab, &["--map", "map.toml"]);
    assert!(message.contains("map.toml:7: twin.txt has the same content as a.txt"), "{message}");
}
