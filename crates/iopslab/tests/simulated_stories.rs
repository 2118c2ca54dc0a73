//! Stories without a machine: simulated runs, from the command line to the files that they leave.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::{Exits, Laboratory, Said, conformance, json, two_equal};
use serde_json::Value;

const EXPERIMENT: &str = two_equal!(
    "question = \"Is b faster?\"\n",
    "duration_s = 45\nrepetitions = 4\n[provider.simulated]\nrun_noise = 0.02\nspeed = { b = 1.3 }\n"
);

/// Who may do what with a file or directory.
fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_run_is_closed_to_other_users_unless_it_is_to_be_shared() {
    let lab = Laboratory::new();
    let run = simulate(&lab, "x", EXPERIMENT);
    assert_eq!(mode(&run), 0o700, "whatever the umask lets");
    lab.exits(0, &["run", "x.toml", "--provider", "simulated", "--shared", "--out", "for-all"]);
    let shared = lab.run_in("for-all");
    // As the umask has it, which a new directory shows.
    std::fs::create_dir(lab.path().join("usual")).unwrap();
    assert_eq!(mode(&shared), mode(&lab.path().join("usual")));
}

/// Runs an experiment and returns its directory.
pub fn simulate(lab: &Laboratory, name: &str, text: &str) -> PathBuf {
    lab.write(&format!("{name}.toml"), text);
    lab.exits(0, &["run", &format!("{name}.toml"), "--provider", "simulated", "--out", name]);
    lab.run_in(name)
}

#[test]
fn a_simulated_run_ends_with_the_answer_and_all_its_files() {
    let lab = Laboratory::new();
    let run = simulate(&lab, "x", EXPERIMENT);
    let analysis = json(&run.join("analysis.json"));
    assert_eq!(analysis["provider"], "simulated");
    let ratio = &analysis["cells"][1]["ratio_to_baseline"];
    assert_eq!(ratio["verdict"], "faster");
    // b is faster, but the data set fits into memory: that says nothing about storage, and the answer says so, in words
    // and as values.
    assert_eq!(analysis["recommendation"]["status"], "not decided");
    assert_eq!(analysis["recommendation"]["run"], Value::Null);
    let because = analysis["recommendation"]["because"].as_str().unwrap();
    assert!(because.contains("memory answered the reads of a and b"), "{because}");
    assert!(analysis["answer"][0].as_str().unwrap().starts_with("SIMULATED"));
    assert_eq!(analysis["answer"][1], format!("Not decided: {because}"));
    let factor = ratio["median"].as_f64().unwrap();
    assert!((1.2..1.4).contains(&factor), "1.3 was planted, {factor} was found");
    assert_eq!(analysis["cells"][0]["limit"]["kind"], "cpu");
    conformance::is_whole(&lab, &run, "simulated");

    // The same evidence gives the same bytes, and nothing but the evidence is needed.
    let before: Vec<Vec<u8>> = ["analysis.json", "report.html", "report.md", "summary.csv"]
        .map(|name| std::fs::read(run.join(name)).unwrap())
        .into();
    let moved = lab.path().join("elsewhere").join(run.file_name().unwrap());
    std::fs::create_dir_all(moved.parent().unwrap()).unwrap();
    std::fs::rename(&run, &moved).unwrap();
    lab.exits(0, &["report", moved.to_str().unwrap()]);
    let after: Vec<Vec<u8>> = ["analysis.json", "report.html", "report.md", "summary.csv"]
        .map(|name| std::fs::read(moved.join(name)).unwrap())
        .into();
    assert_eq!(before, after);

    conformance::goes_on(&lab, &moved);
}

#[test]
fn a_trial_that_is_missing_is_simulated_again_and_the_same() {
    let lab = Laboratory::new();
    let run = simulate(&lab, "x", EXPERIMENT);
    let trial = run.join("trials/b.reads.c32/2");
    let before = std::fs::read(trial.join("latency.hlog")).unwrap();
    std::fs::remove_dir_all(&trial).unwrap();
    lab.exits(0, &["run", "--resume", run.to_str().unwrap()]);
    assert_eq!(std::fs::read(trial.join("latency.hlog")).unwrap(), before);
}

#[test]
fn a_comparison_gates_a_loss_and_lets_noise_pass() {
    let lab = Laboratory::new();
    // Most reads come from the volume, and CPUs are the limit. Two runs share no block: what blocks have in common does
    // not cancel.
    let experiment = EXPERIMENT
        .replace("records = 100_000", "records = 20_000_000")
        .replace("{ vcpus = 2, memory_gib = 8 }", "{ vcpus = 4, memory_gib = 16 }\nmemory_limit_gib = 4")
        .replace("warmup_s = 5", "warmup_s = 5\ncache = \"cold\"")
        .replace("run_noise", "read_cpu_us = 400\nblock_noise = 0.01\nrun_noise");
    let before = simulate(&lab, "before", &experiment);
    let same = simulate(&lab, "same", &experiment.replace("run_noise", "seed = 7\nrun_noise"));
    let slower = simulate(&lab, "slower", &experiment.replace("b = 1.3", "b = 1.0"));
    let compare = |code: i32, run: &Path, gate: &str| {
        let arguments = ["compare", before.to_str().unwrap(), run.to_str().unwrap(), "--fail-if", gate];
        lab.exits(code, &arguments).stdout
    };
    let text = compare(0, &same, "throughput < -8%");
    assert!(text.contains("Gate `throughput < -8%`: **passed**"), "{text}");
    let text = compare(3, &slower, "throughput < -8%");
    assert!(text.contains("**FAILED**") && text.contains("b.reads.c32: throughput -"), "{text}");
    assert!(text.contains("simulated") || text.contains("What else differs"), "{text}");
    // A run against itself, or against a copy of it, cannot lose: that is no pass.
    let copy = lab.path().join("copy");
    assert!(std::process::Command::new("cp").arg("-r").args([&before, &copy]).status().unwrap().success());
    for same in [&before, &copy] {
        let text = compare(3, same, "throughput < 0%");
        assert!(
            text.contains("**INCONCLUSIVE**") && text.contains("both are the same run, or copies of one"),
            "{text}"
        );
    }

    // The threshold lies inside the interval: neither passed nor failed, and it says what would decide.
    let noisy = ["compare", before.to_str().unwrap(), same.to_str().unwrap(), "--fail-if", "throughput < -0.5%"];
    let output = lab.exits(3, &noisy);
    let (text, stderr) = (output.stdout, output.stderr);
    assert!(text.contains("**INCONCLUSIVE**") && text.contains("the interval holds the threshold"), "{text}");
    assert!(stderr.contains("gate inconclusive: throughput < -0.5%") && !stderr.contains("failed"), "{stderr}");
    let output = lab.exits(0, &[&noisy[..], &["--inconclusive", "pass"]].concat());
    assert!(output.stderr.contains("gate inconclusive"), "but it is said");

    // A single repetition shows nothing, whatever it says.
    let once = simulate(&lab, "once", &experiment.replace("repetitions = 4", "repetitions = 1"));
    let text = compare(3, &once, "throughput < -50%");
    assert!(text.contains("fewer than three valid repetitions"), "{text}");

    // An unknown metric is bad usage.
    compare(2, &slower, "speed < -5%");

    let document = ["--format", "json", "compare", before.to_str().unwrap(), slower.to_str().unwrap()];
    let comparison = lab.exits(0, &document).json();
    let change = &comparison["cells"][1]["metrics"]["throughput"];
    assert_eq!(change["verdict"], "slower");
    assert!((-30.0..-15.0).contains(&change["change_percent"].as_f64().unwrap()), "{change}");
}

#[test]
fn repetitions_stop_when_enough_is_known_or_the_budget_is_spent() {
    let lab = Laboratory::new();
    let auto = |name: &str, replacement: &str, noise: &str| {
        let text = EXPERIMENT.replace("repetitions = 4", replacement).replace("run_noise = 0.02", noise);
        let run = simulate(&lab, name, &text);
        let analysis = json(&run.join("analysis.json"));
        let trials = analysis["trials"]["done"].as_u64().unwrap();
        assert_eq!(analysis["trials"]["planned"], trials, "nothing is missing");
        (trials, analysis["stopped"].as_str().unwrap_or_default().to_owned(), run)
    };
    let (trials, why, run) = auto("calm", "repetitions = \"auto\"", "run_noise = 0.02");
    // +30 % at 2 % noise is a clear gap: three blocks are enough.
    assert_eq!(trials, 6, "two cells, three blocks: {why}");
    assert!(why.starts_with("after 3 blocks every ratio is known to +-5 % or is clear of 1"), "{why}");
    // A run that has stopped stays stopped.
    lab.exits(0, &["run", "--resume", run.to_str().unwrap()]);
    assert_eq!(json(&run.join("analysis.json"))["trials"]["done"], 6);

    let (trials, why, _) = auto("noisy", "repetitions = \"auto\"\nbudget_minutes = 12", "run_noise = 0.3\nseed = 3");
    assert!(why.contains("the budget of 12 minutes was spent"), "{trials}: {why}");
    assert!((14..40).contains(&trials), "{trials}");

    // Two cells of 66 s at 2 x 100 dollars a month: a block costs 0.5 cents.
    let priced = EXPERIMENT.replace("size_gib = 100 }\n", "size_gib = 100 }\nprice_usd_per_month = 100.0\n");
    let text = priced
        .replace("repetitions = 4", "repetitions = \"auto\"\nbudget_usd = 0.06")
        .replace("run_noise = 0.02", "run_noise = 0.3\nseed = 3");
    let analysis = json(&simulate(&lab, "dear", &text).join("analysis.json"));
    let why = analysis["stopped"].as_str().unwrap_or_default();
    assert!(why.contains("the budget of $0.06 was spent"), "{why}");
    lab.write("free.toml", &EXPERIMENT.replace("repetitions = 4", "repetitions = \"auto\"\nbudget_usd = 1"));
    lab.exits(2, &["run", "free.toml", "--provider", "simulated"]);
}

/// Several runs are reported after each other, as one array, or as one OpenMetrics text; every table fits 80 columns.
#[test]
fn several_runs_are_reported_together() {
    let lab = Laboratory::new();
    let once = EXPERIMENT.replace("repetitions = 4", "repetitions = 1");
    let (a, b) = (simulate(&lab, "one", &once), simulate(&lab, "two", &once));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let text = lab.exits(0, &["report", a, b]).stdout;
    for run in [a, b] {
        let name = run.rsplit('/').next().unwrap();
        let lines: Vec<&str> = text.lines().skip_while(|l| *l != name).collect();
        assert!(lines[1].starts_with("  SIMULATED"), "{text}");
        assert!(text.contains("Not decided: "), "{text}");
    }
    let both = lab.exits(0, &["report", a, b, "--format", "json"]).json();
    assert_eq!(both.as_array().unwrap().len(), 2);
    let metrics = lab.exits(0, &["report", a, b, "--format", "openmetrics"]).stdout;
    assert!(metrics.starts_with("# TYPE iopslab_run info\n") && metrics.ends_with("# EOF\n"));
    assert_eq!(metrics.matches("iopslab_cell_valid_trials{").count(), 4, "two cells each");
    lab.exits(2, &["plan", "one.toml", "--format", "openmetrics"]);
    for arguments in [&["report", a][..], &["plan", "one.toml"]] {
        let text = lab.iopslab(arguments).env("COLUMNS", "80").exits(0).stdout;
        let wide = text.lines().find(|l| l.chars().count() > 80 && !l.starts_with("Report: "));
        assert_eq!(wide, None, "{arguments:?}");
    }
}

#[test]
fn a_truth_that_cannot_be_is_refused_with_its_place() {
    let lab = Laboratory::new();
    for (wrong, right) in [
        ("speed = { c = 1.3 }", "`c` is no configuration"),
        ("read_cpu_us = 0", "read_cpu_us cannot be 0: above 0"),
        ("read_cpu = 5", "unknown key `read_cpu`"),
    ] {
        lab.write("wrong.toml", &EXPERIMENT.replace("speed = { b = 1.3 }", wrong));
        let stderr = lab.exits(2, &["run", "wrong.toml", "--provider", "simulated"]).stderr;
        assert!(stderr.contains(right) && stderr.contains("wrong.toml:"), "{wrong}: {stderr}");
        assert!(!lab.path().join("runs").exists(), "nothing was started");
    }
}

#[test]
fn runs_of_different_things_are_not_compared() {
    let lab = Laboratory::new();
    let short = EXPERIMENT.replace("repetitions = 4", "repetitions = 1");
    let one = simulate(&lab, "one", &short);
    let other = simulate(&lab, "other", &short.replace("name = \"reads\"", "name = \"lookups\""));
    let Said { stdout, stderr, .. } = lab.exits(2, &["compare", one.to_str().unwrap(), other.to_str().unwrap()]);
    assert!(stdout.is_empty());
    assert!(stderr.contains("nothing to compare") && stderr.contains("a.reads.c32 and 1 more"), "{stderr}");
    assert!(!stderr.contains('{'), "a sentence, not a document: {stderr}");
}

#[test]
fn runs_of_different_scales_are_compared_behind_a_warning() {
    let lab = Laboratory::new();
    let of = |scale: u32| {
        let text = format!("{EXPERIMENT}[provider.local]\nscale = {scale}\n");
        simulate(&lab, &format!("at-{scale}"), &text).display().to_string()
    };
    let (two, four) = (of(2), of(4));
    let shown = lab.exits(0, &["compare", &two, &four]).stdout;
    assert!(shown.contains("the scales differ (1:2 and 1:4)"), "{shown}");
    let document = lab.exits(0, &["--format", "json", "compare", &two, &four]).json();
    assert_eq!(document["differences"][0], "scale: 2.0 -> 4.0");
}

#[test]
fn an_invalid_trial_is_not_counted_among_the_valid_ones_that_are_too_short() {
    let lab = Laboratory::new();
    let short = EXPERIMENT.replace("duration_s = 45", "duration_s = 16");
    let fault = "[[provider.simulated.fault]]\nkind = \"errors\"\nconfiguration = \"b\"\nblocks = [2]\namount = 0.5\n";
    let run = simulate(&lab, "short", &format!("{short}{fault}"));
    let analysis = json(&run.join("analysis.json"));
    assert_eq!((&analysis["trials"]["done"], &analysis["trials"]["valid"]), (&8.into(), &7.into()));
    let answer = analysis["answer"].to_string();
    assert!(answer.contains("7 of 7 valid trials are too short"), "{answer}");
}

#[test]
fn disks_that_are_lost_are_named_where_the_choice_is_still_open() {
    let lab = Laboratory::new();
    let experiment = EXPERIMENT
        .replace("records = 100_000", "records = 40_000_000")
        .replace(
            "name = \"b\"\ninstance = { vcpus = 2, memory_gib = 8 }\n\
             data_volume = { iops = 100000, mib_per_s = 2000, size_gib = 100 }",
            "name = \"b\"\ninstance = \"i4i.large\"\ndata_volume = \"local\"",
        )
        .replace("run_noise = 0.02\nspeed = { b = 1.3 }", "run_noise = 0.2")
        .replace("memory_gib = 8 }", "memory_gib = 8 }\nprice_usd_per_month = 120");
    let run = simulate(&lab, "local", &experiment);
    let analysis = json(&run.join("analysis.json"));
    assert_eq!(analysis["recommendation"]["status"], "not decided", "{:#}", analysis["answer"]);
    let answer = analysis["answer"].to_string();
    assert!(answer.contains("b keeps its data on the instance's own disks"), "{answer}");
}

/// Three nodes, one volume of which delivers half: evidence of each node, and a report that names it.
#[test]
fn a_cluster_is_simulated_node_by_node() {
    let lab = Laboratory::new();
    let text = EXPERIMENT
        .replace("records = 100_000", "records = 20_000_000")
        .replace("iops = 100000", "iops = 1000")
        .replace("size_gib = 100 }", "size_gib = 100 }\nnodes = 3\nconsistency = \"quorum\"")
        .replace("repetitions = 4", "repetitions = 3")
        + "[[provider.simulated.fault]]\nkind = \"slow_disk\"\nconfiguration = \"a\"\nnode = 2\namount = 0.5\n";
    let run = simulate(&lab, "cluster", &text);
    conformance::is_whole(&lab, &run, "simulated");
    let trial = run.join("trials/a.reads.c32/1");
    let nodes = json(&trial.join("trial.json"))["nodes"].as_array().unwrap().len();
    assert_eq!(nodes, 3);
    for host in ["database", "database-2", "database-3", "client"] {
        assert!(trial.join(format!("host-{host}.parquet")).is_file(), "{host}");
    }
    let analysis = json(&run.join("analysis.json"));
    let limit = &analysis["cells"][0]["limit"];
    assert_eq!((&limit["kind"], &limit["nodes"]), (&"volume_iops".into(), &serde_json::json!(["database-2"])));
    let equal = &analysis["cells"][1]["limit"];
    assert_eq!((&equal["nodes"].as_array().unwrap().len(), &equal["of_nodes"]), (&3, &3.into()));
    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    for said in [
        "volume IOPS of database-2",
        "volume IOPS of all 3 nodes",
        "3 nodes, 3 racks, 3 replicas, consistency quorum",
        "The nodes are unequal: ",
    ] {
        assert!(report.contains(said), "{said}: {report}");
    }
    let rows = std::fs::read_to_string(run.join("nodes.csv")).unwrap();
    assert_eq!(rows.lines().count(), 1 + 2 * 3);
}
