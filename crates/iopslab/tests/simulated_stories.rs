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
fn simulate(lab: &Laboratory, name: &str, text: &str) -> PathBuf {
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

/// Two volumes with prices; which rates they carry at p99 below 20 ms is to be found.
const CAPACITY: &str = r#"name = "carries"
[dataset]
records = 20_000_000
[[configuration]]
name = "small"
instance = { vcpus = 4, memory_gib = 16 }
memory_limit_gib = 4
data_volume = { iops = 300, mib_per_s = 2000, size_gib = 100 }
price_usd_per_month = 100
[[configuration]]
name = "large"
instance = { vcpus = 4, memory_gib = 16 }
memory_limit_gib = 4
data_volume = { iops = 600, mib_per_s = 2000, size_gib = 100 }
price_usd_per_month = 120
[[workload]]
name = "reads"
read = 1.0
[load]
rate = "find"
warmup_s = 5
duration_s = 60
[objective]
p99_ms = 20
[provider.simulated]
run_noise = 0.01
"#;

fn journal(run: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(run.join("journal.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How often an event stands in the journal.
fn times(run: &Path, event: &str) -> usize {
    journal(run).iter().filter(|line| line["event"] == event).count()
}

/// What a configuration carries.
fn carries(analysis: &Value, configuration: &str) -> Value {
    let mut all = analysis["capacities"].as_array().unwrap().iter();
    let own = all.find(|c| c["configuration"] == configuration);
    own.cloned().unwrap_or_else(|| panic!("{configuration}: {analysis:#}"))
}

fn because(analysis: &Value) -> &str {
    analysis["recommendation"]["because"].as_str().unwrap()
}

#[test]
fn the_highest_rate_under_the_objective_is_found_and_what_it_costs_is_said() {
    let lab = Laboratory::new();
    let run = simulate(&lab, "x", CAPACITY);
    let analysis = json(&run.join("analysis.json"));
    let rate = |name: &str| carries(&analysis, name)["ops_per_s"].as_f64().unwrap();
    // Twice the IOPS carry more than twice the rate: a queue in front of a device twice as fast takes half as long.
    assert!((2.0..3.2).contains(&(rate("large") / rate("small"))), "{:#}", analysis["capacities"]);
    for name in ["small", "large"] {
        let of = carries(&analysis, name);
        assert_eq!(of["outcome"]["is"], "found", "{of:#}");
        let [low, high] = ["low_ops_per_s", "high_ops_per_s"].map(|end| of[end].as_f64().unwrap());
        assert!(low < rate(name) && rate(name) < high && high < low * 1.5, "{of:#}");
        assert_eq!(of["limit"]["kind"], "volume_iops", "{of:#}");
        assert_eq!(of["missed"]["of"]["of"], "latency");
    }
    assert_eq!(analysis["recommendation"]["run"], "large");
    let because = because(&analysis);
    assert!(because.starts_with("it carries the most for its money at p99 at most 20 ms: "), "{because}");
    assert!(because.contains("for $120.00 a month; small carries"), "{because}");
    // What was tried stands in the journal, and what was measured in its place.
    assert!(times(&run, "probed") >= 6 && times(&run, "round") >= 2);
    assert_eq!(times(&run, "searched"), 1);
    assert_eq!(times(&run, "trial_done") as u64, analysis["trials"]["valid"].as_u64().unwrap());
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("What each carries") && page.contains("Operations/s at p99 at most 20 ms"));
    assert!(std::fs::read_to_string(run.join("report.md")).unwrap().contains("## What each carries"));

    // A finished run has nothing to do.
    let before = times(&run, "probed");
    lab.exits(0, &["run", "--resume", run.to_str().unwrap()]);
    assert_eq!((times(&run, "probed"), times(&run, "searched")), (before, 1));
    assert_eq!(json(&run.join("analysis.json"))["capacities"], analysis["capacities"]);
}

/// A quarter of the IOPS has queues four times as long: what is found there is said to be found there.
#[test]
fn a_bound_on_latency_in_a_model_is_named_as_one_and_doubted_first() {
    let lab = Laboratory::new();
    let run = simulate(&lab, "x", &(CAPACITY.to_owned() + "[provider.local]\nscale = 4\n"));
    let analysis = json(&run.join("analysis.json"));
    assert!(because(&analysis).contains("p99 at most 20 ms in the 1:4 model"), "{}", because(&analysis));
    assert_eq!(analysis["recommendation"]["doubts_typed"][0]["doubt"], "latency_in_model");
    assert_eq!(analysis["recommendation"]["doubts_typed"][0]["scale"], 4.0);
}

#[test]
fn a_search_goes_on_after_its_last_probe() {
    let lab = Laboratory::new();
    let run = simulate(&lab, "x", CAPACITY);
    // As a controller that is killed after the third probe leaves it.
    let text = std::fs::read_to_string(run.join("journal.jsonl")).unwrap();
    let third = text.match_indices("\"probed\"").nth(2).unwrap().0;
    let end = third + text[third..].find('\n').unwrap() + 1;
    std::fs::write(run.join("journal.jsonl"), &text[..end]).unwrap();
    std::fs::remove_dir_all(run.join("trials")).unwrap();
    std::fs::create_dir(run.join("trials")).unwrap();
    lab.exits(0, &["run", "--resume", run.to_str().unwrap()]);
    let numbers = |search: &str| -> Vec<u64> {
        let lines = journal(&run).into_iter().filter(|l| l["event"] == "probed" && l["search"] == search);
        lines.map(|line| line["number"].as_u64().unwrap()).collect()
    };
    for search in ["small.reads.find", "large.reads.find"] {
        let numbers = numbers(search);
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "{search}: each once, in order");
    }
    assert_eq!(carries(&json(&run.join("analysis.json")), "large")["outcome"]["is"], "found");
}

#[test]
fn an_objective_that_no_rate_meets_is_reported_with_the_latency_at_next_to_no_load() {
    let lab = Laboratory::new();
    let run = simulate(&lab, "x", &CAPACITY.replace("p99_ms = 20", "p99_ms = 0.2"));
    let analysis = json(&run.join("analysis.json"));
    assert_eq!(carries(&analysis, "small")["outcome"]["is"], "floor");
    assert_eq!(times(&run, "trial_done"), 0, "nothing is measured that cannot be met");
    let because = because(&analysis);
    assert!(because.contains("no configuration meets p99 at most 0.200 ms"), "{because}");
    assert!(because.contains("misses it at any rate: at ") && because.contains("read p99 is "), "{because}");
    assert_eq!(analysis["recommendation"]["not_considered"], Value::Array(Vec::new()), "probes judged both");
}

#[test]
fn rates_without_a_price_are_compared_without_cost_and_say_so() {
    let lab = Laboratory::new();
    let run = simulate(&lab, "x", &CAPACITY.replace("price_usd_per_month = 100\n", ""));
    let said = "it carries the most at p99 at most 20 ms, and prices are missing, so that cost does not count: ";
    assert!(because(&json(&run.join("analysis.json"))).starts_with(said));
}

#[test]
fn against_a_demand_the_cheapest_that_carries_it_with_headroom_is_run() {
    let lab = Laboratory::new();
    // Both carry some hundred a second; with 30 % free the small one carries 100, and only the large one 250.
    for (demand, run, what) in [(100, "small", "the cheapest"), (330, "large", "the only one")] {
        let text = CAPACITY.replace("p99_ms = 20", &format!("p99_ms = 20\nthroughput = {demand}"));
        let analysis = json(&simulate(&lab, run, &text).join("analysis.json"));
        assert_eq!(analysis["recommendation"]["run"], run, "{}: {}", demand, because(&analysis));
        let claim = format!("it is {what} that carries {demand}/s with 30 % headroom (");
        assert!(because(&analysis).contains(&claim), "{}", because(&analysis));
    }
    let text = CAPACITY.replace("p99_ms = 20", "p99_ms = 20\nthroughput = 5000");
    let analysis = json(&simulate(&lab, "none", &text).join("analysis.json"));
    assert_eq!(analysis["recommendation"]["run"], Value::Null);
    let none = "no configuration carries 5,000/s with 30 % headroom (7,143/s) at ";
    assert!(because(&analysis).contains(none), "{}", because(&analysis));
}

/// Four CPUs do some 10,000 operations/s, and a client that takes 500 us for each sends 2,000.
#[test]
fn a_simulated_client_at_its_limit_is_named_with_what_raises_it() {
    let lab = Laboratory::new();
    let closed = CAPACITY.replace("rate = \"find\"", "concurrency = [64]\ncache = \"cold\"\nrepetitions = 3");
    let closed = closed.replace("[objective]\np99_ms = 20\n", "").replace("iops = 300", "iops = 100000");
    let closed = closed.replace("iops = 600", "iops = 100000") + "client_cpu_us = 500\n";
    let run = simulate(&lab, "x", &closed);
    let analysis = json(&run.join("analysis.json"));
    assert_eq!(analysis["cells"][0]["limit"]["kind"], "client");
    let because = because(&analysis);
    assert!(because.contains("the client was at its limit while it loaded small and large"), "{because}");
    assert!(because.contains("(it is simulated: more threads of it, [provider.simulated] client_threads"), "{because}");
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("client, simulated"));

    // With threads enough it is not the limit.
    let run = simulate(&lab, "y", &format!("{closed}client_threads = 100\n"));
    assert_ne!(json(&run.join("analysis.json"))["cells"][0]["limit"]["kind"], "client");

    // A rate says so before anything runs.
    let open = closed.replace("concurrency = [64]", "rate = [1700]");
    for (rate, noted) in [("1500", false), ("1700", true)] {
        lab.write("open.toml", &open.replace("1700", rate));
        let plan = lab.exits(0, &["plan", "open.toml", "--provider", "simulated", "--format", "json"]).json();
        let notes = plan["notes"].as_array().unwrap();
        assert_eq!(notes.iter().any(|note| note["rule"] == "simulated_client"), noted, "{rate}: {notes:#?}");
    }
}
