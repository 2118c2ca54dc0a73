//! `iopslab size` on evidence whose truth is known: what it predicts is then simulated.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::path::Path;
use std::sync::OnceLock;

use serde_json::{Value, json};
use support::Laboratory;

/// Machines with volumes under three mixes; 1.15 times as many GB on disk, warmed until the page cache is full.
fn experiment(name: &str, gb: u32, machines: &[(&str, u32)], load: &str, truth: &str) -> String {
    let mut text = format!("name = \"{name}\"\n[dataset]\nrecords = {gb}_000_000\n");
    for (instance, iops) in machines {
        let id = instance.replace('.', "-");
        text += &format!(
            "[[configuration]]\nname = \"{id}-{iops}\"\ninstance = \"{instance}\"\n\
             data_volume = {{ type = \"io1\", size_gib = 1000, iops = {iops} }}\n\
             commitlog_volume = {{ type = \"gp2\", size_gib = 100 }}\n"
        );
    }
    for (workload, read) in [("read-heavy", 0.8), ("balanced", 0.5), ("write-heavy", 0.2)] {
        text += &format!(
            "[[workload]]\nname = \"{workload}\"\nread = {read}\nupdate = {}\n",
            1.0 - read
        );
    }
    text + &format!(
        "[load]\n{load}\nduration_s = 120\n\
         [provider.simulated]\nread_cpu_us = 400\nwrite_cpu_us = 250\nreads_per_miss = 1.3\nclient_threads = 16\n\
         block_noise = 0.01\n{truth}\n"
    )
}

const MEASURED: [(&str, u32); 4] = [
    ("r4.xlarge", 2000),
    ("r4.xlarge", 8000),
    ("r4.2xlarge", 4000),
    ("r4.2xlarge", 12_000),
];

/// Long enough to fill the page cache of the slowest of [`MEASURED`].
const CLOSED: &str = "concurrency = [128]\nwarmup_s = 700\nrepetitions = 2";

/// Runs an experiment; gives its directory.
fn run(lab: &Laboratory, name: &str, text: &str) -> String {
    lab.write(&format!("{name}.toml"), text);
    let output = lab.output(&[
        "run",
        &format!("{name}.toml"),
        "--provider",
        "simulated",
        "--out",
        &format!("run-{name}"),
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run = std::fs::read_dir(lab.path().join(format!("run-{name}")))
        .unwrap()
        .next();
    run.unwrap().unwrap().path().display().to_string()
}

/// One run of [`MEASURED`] in a closed loop for all stories that only read it; made anew by each test process.
fn evidence(lab: &Laboratory) -> &'static str {
    static EVIDENCE: OnceLock<String> = OnceLock::new();
    EVIDENCE.get_or_init(|| {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("size-evidence");
        drop(std::fs::remove_dir_all(&kept));
        let made = run(lab, "evidence", &experiment("evidence", 100, &MEASURED, CLOSED, ""));
        std::fs::rename(&made, &kept).unwrap();
        kept.display().to_string()
    })
}

/// One node without replication, everything used to the full: the answer is then a capacity.
const ONE_NODE: [&str; 10] = [
    "--replication-factor",
    "1",
    "--zones",
    "1",
    "--survive",
    "none",
    "--headroom",
    "0%",
    "--consistency",
    "one",
];

fn size(lab: &Laboratory, run: &str, more: &[&str]) -> Value {
    let output = lab.output(&[&["--format", "json", "size", run], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_machine_that_was_not_measured_does_what_was_predicted() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    // Unmeasured: another size, other IOPS. With 5,000 IOPS the volume is its limit, with 18,000 the CPU.
    let unknown = [("r4.4xlarge", 5000), ("r4.4xlarge", 18_000)];
    let truth = run(
        &lab,
        "truth",
        &experiment(
            "truth",
            200,
            &unknown,
            "concurrency = [512]\nwarmup_s = 2500\nrepetitions = 1",
            "",
        ),
    );
    let truth: Value = serde_json::from_slice(&std::fs::read(format!("{truth}/analysis.json")).unwrap()).unwrap();
    for (iops, workload, read_share, asked, limit) in [
        (5000, "balanced", "0.5", "20000", "volume_iops"),
        (18_000, "read-heavy", "0.8", "30000", "cpu"),
        (18_000, "write-heavy", "0.2", "40000", "cpu"),
    ] {
        let candidate = format!("r4.4xlarge+io1:1000GiB:{iops}");
        // Twice the memory, twice the data: the ratio is one that was measured.
        let mut arguments = vec![
            "--throughput",
            asked,
            "--read-share",
            read_share,
            "--candidate",
            &candidate,
        ];
        arguments.extend(ONE_NODE);
        arguments.extend(["--data", "200GB"]);
        let answer = size(&lab, evidence, &arguments);
        let best = &answer["proposals"][0];
        assert_eq!(
            (best["nodes"].as_u64(), best["limit"].as_str()),
            (Some(1), Some(limit)),
            "{best}"
        );
        let predicted = best["operations_per_s"].as_f64().unwrap();
        let cell = truth["cells"]
            .as_array()
            .unwrap()
            .iter()
            .find(|cell| cell["configuration"] == format!("r4-4xlarge-{iops}") && cell["workload"] == workload);
        let real = cell.unwrap()["throughput_ops_per_s"]["median"].as_f64().unwrap();
        println!("{iops} IOPS, {workload}: predicted {predicted:.0}, simulated {real:.0}");
        assert!(
            (predicted / real - 1.0).abs() < 0.15,
            "{iops} {workload}: {predicted} against {real}"
        );
        assert_eq!(best["label"], "modelled");
    }
}

/// Three nodes, three copies, QUORUM: each read asks two of them, each write goes to three. The demands that come out are
/// those of one replica, and the cluster that was measured is what `size` proposes for what it did.
#[test]
fn a_cluster_is_evidence_for_what_a_replica_does() {
    let lab = Laboratory::new();
    let text = experiment(
        "cluster",
        100,
        &[("r4.xlarge", 8000)],
        "concurrency = [512]\nwarmup_s = 700\nrepetitions = 2",
        "coordinator_share = 0\ngc_pause_ms = 0\nbackground_cpus = 0",
    )
    .replace(
        "[[workload]]\nname = \"read-heavy\"",
        "nodes = 3\nconsistency = \"quorum\"\n[[workload]]\nname = \"read-heavy\"",
    );
    let cluster = run(&lab, "cluster", &text);
    let document: Value = serde_json::from_slice(&std::fs::read(format!("{cluster}/analysis.json")).unwrap()).unwrap();
    let balanced = document["cells"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["workload"] == "balanced")
        .unwrap();
    let measured = balanced["throughput_ops_per_s"]["median"].as_f64().unwrap();
    assert_eq!(balanced["nodes"].as_array().unwrap().len(), 3);
    let asked = |share: f64| {
        let throughput = format!("{:.0}", measured * share);
        let target = ["--throughput", &throughput, "--read-share", "0.5", "--data", "100GB"];
        let shape = [
            "--candidate",
            "r4.xlarge+io1:1000GiB:8000",
            "--replication-factor",
            "3",
            "--zones",
            "3",
        ];
        let full = ["--survive", "none", "--headroom", "0%", "--consistency", "quorum"];
        size(&lab, &cluster, &[&target[..], &shape, &full].concat())
    };
    let within = asked(0.98);
    let demand = &within["evidence"]["demand"];
    for (figure, truth) in [("read_cpu_us", 400.0), ("write_cpu_us", 250.0)] {
        let found = demand[figure].as_f64().unwrap();
        assert!((found / truth - 1.0).abs() < 0.03, "{figure}: {found}");
    }
    assert_eq!(within["proposals"][0]["nodes"], 3, "{within:#}");
    assert_eq!(asked(1.05)["proposals"][0]["nodes"], 6);
}

#[test]
fn every_figure_says_where_it_comes_from() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    let proposal = |candidate: &str, more: &[&str]| {
        let mut arguments = vec![
            "--throughput",
            "1000",
            "--read-share",
            "0.8",
            "--data",
            "100GB",
            "--candidate",
            candidate,
        ];
        arguments.extend(more);
        size(&lab, evidence, &arguments)["proposals"][0].clone()
    };
    // The very machine, mix and data that were measured, its commit log included.
    let measured = proposal("r4.2xlarge+io1:1000GiB:12000+gp2:100GiB", &ONE_NODE);
    assert_eq!(measured["label"], "measured", "{measured}");
    let without_log = proposal("r4.2xlarge+io1:1000GiB:12000", &ONE_NODE);
    assert_eq!(without_log["label"], "interpolated", "{without_log}");
    assert!(measured["uncertainty_percent"].as_f64().unwrap() > 0.0);
    // Between what was measured.
    let between = proposal("r4.2xlarge+io1:1000GiB:6000", &ONE_NODE);
    assert_eq!(
        (
            between["label"].as_str(),
            between["beyond_evidence"].as_array().unwrap().len()
        ),
        (Some("interpolated"), 0)
    );
    assert!(between["uncertainty_percent"].as_f64().unwrap() < 25.0);
    // Far outside: told, without a claim about its error.
    let far = proposal("r4.16xlarge+io1:1000GiB:20000", &ONE_NODE);
    assert_eq!(
        (far["label"].as_str(), far["uncertainty_percent"].as_f64()),
        (Some("modelled"), None),
        "{far}"
    );
    let doubts = far["beyond_evidence"].as_array().unwrap();
    let vcpus = doubts.iter().find(|doubt| doubt["kind"] == "vcpus").unwrap();
    assert_eq!(
        (&vcpus["vcpus"], &vcpus["measured"]),
        (&json!(64), &json!({"low": 4.0, "high": 8.0}))
    );
}

#[test]
fn a_cluster_meets_the_target_with_a_part_down() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    let answer = |more: &[&str]| {
        let target = [
            "--throughput",
            "60000",
            "--read-share",
            "0.8",
            "--data",
            "1TB",
            "--consistency",
            "quorum",
            "--family",
            "r5",
        ];
        size(&lab, evidence, &[&target, more].concat())
    };
    let usual = answer(&[]);
    let proposals = usual["proposals"].as_array().unwrap();
    assert_eq!(proposals.len(), 5);
    for p in proposals {
        let nodes = p["nodes"].as_u64().unwrap();
        assert!(nodes.is_multiple_of(3) && p["nodes_per_zone"].as_u64() == Some(nodes / 3));
        let used = p["utilisation"]["cpu"]
            .as_f64()
            .unwrap()
            .max(p["utilisation"]["iops"].as_f64().unwrap());
        let down = p["utilisation_when_down"].as_f64().unwrap();
        assert!(used <= 0.7 + 1e-9 && down <= 0.8 + 1e-9 && down > used, "{p}");
        // 3 copies of 1 TB fit half of the disks.
        assert!(p["total"]["usable_tb"].as_f64().unwrap() >= 1.15 * 0.999, "{p}");
        // One node fewer in each zone would not do.
        let operations = p["operations_per_s"].as_f64().unwrap();
        assert!(operations >= 60_000.0 * 0.999, "{p}");
        let lines = p["cost"]
            .as_array()
            .unwrap()
            .iter()
            .map(|l| l["usd_per_month"].as_f64().unwrap());
        assert!((lines.sum::<f64>() - p["usd_per_month"].as_f64().unwrap()).abs() < 0.01);
    }
    // The cheapest first; second the cheapest within the evidence, if that is another; then by price.
    let price = |p: &Value| p["usd_per_month"].as_f64().unwrap();
    let proven_second = usize::from(proposals[0]["configuration"] != usual["choice"]["best_proven"]);
    let by_price: Vec<f64> = proposals[..1]
        .iter()
        .chain(&proposals[1 + proven_second..])
        .map(price)
        .collect();
    assert!(by_price.is_sorted(), "{by_price:?}");
    // More is asked for: never cheaper.
    let cheapest = |answer: &Value| answer["proposals"][0]["usd_per_month"].as_f64().unwrap();
    for more in [
        &["--growth", "50%", "--years", "3"][..],
        &["--headroom", "60%"],
        &["--survive", "zone", "--replication-factor", "5"],
    ] {
        assert!(cheapest(&answer(more)) > cheapest(&usual), "{more:?}");
    }
    // Beside the fleet of today.
    let beside = answer(&["--current", "i3.2xlarge*30"]);
    assert_eq!(beside["comparison"]["current"]["total"]["nodes"], 30);
    assert!(beside["comparison"]["ratios"]["usd_per_month"].as_f64().unwrap() > 0.0);
    let today = &beside["comparison"]["current_use"];
    assert!(
        (0.05..0.5).contains(&today["used"].as_f64().unwrap())
            && (0.05..0.2).contains(&today["disk_fill"].as_f64().unwrap()),
        "{today}"
    );
}

/// 9 TB-copies on machines of 64 GiB: 9 % of the data must fit the page cache for the evidence to carry (half of the 18
/// % measured).
const MUCH_DATA: [&str; 10] = [
    "--throughput",
    "30000",
    "--read-share",
    "0.8",
    "--data",
    "3TB",
    "--consistency",
    "quorum",
    "--candidate",
    "r5.2xlarge+gp3:7000GiB:16000:1000",
];

/// `size` once put the number of doubts before the price: it added nodes until the page cache was in the measured
/// range, showed only that, and said nothing of it.
#[test]
fn the_cheapest_is_shown_with_its_doubts_beside_the_best_proven_one() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    let answer = size(&lab, evidence, &MUCH_DATA);
    let (cheapest, proven) = (&answer["proposals"][0], &answer["proposals"][1]);
    let nodes = |p: &Value| p["nodes"].as_u64().unwrap();
    println!("{} nodes, {} proven", nodes(cheapest), nodes(proven));
    assert!(nodes(cheapest) < nodes(proven), "{answer}");
    assert_eq!(cheapest["beyond_evidence"][0]["kind"], "cache_share", "{cheapest}");
    assert_eq!(proven["beyond_evidence"], json!([]), "{proven}");
    assert_eq!(answer["choice"]["cheapest"], cheapest["configuration"]);
    assert_eq!(answer["choice"]["best_proven"], proven["configuration"]);
    let usd = |p: &Value| p["usd_per_month"].as_f64().unwrap();
    let proof = answer["choice"]["proof_costs_usd_per_month"].as_f64().unwrap();
    assert!(
        (proof - (usd(proven) - usd(cheapest))).abs() < 0.01 && proof > 0.0,
        "{proof}"
    );
    // Why so many nodes: one fewer in each zone would not do; for the proven one they would.
    let why = &cheapest["nodes_because"];
    assert_eq!(
        (&why["kind"], why["fewer"].as_u64()),
        (&json!("full"), Some(nodes(cheapest) - 3)),
        "{why}"
    );
    assert!(why["used"].as_f64() > why["allowed"].as_f64(), "{why}");
    let why = &proven["nodes_because"];
    assert_eq!(
        (&why["kind"], why["fewer"].as_u64()),
        (&json!("evidence"), Some(nodes(cheapest))),
        "{why}"
    );
    // One row was asked for: both are shown.
    let mut command = lab.iopslab(&[&["size", evidence], &MUCH_DATA[..], &["--top", "1"]].concat());
    let output = command.env("COLUMNS", "80").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.starts_with("SIMULATED evidence"), "{text}");
    for part in [
        "Cheapest: r5.2xlarge+gp3:7000GiB:16000:1000*",
        "beyond the evidence: ",
        "Best proven: r5.2xlarge+gp3:7000GiB:16000:1000*",
        "the proof costs ",
        "nodes for the evidence: ",
    ] {
        assert!(flat.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// The limit was "CPU" at 0.7 % where the disks set the number of nodes.
#[test]
fn the_limit_is_what_set_the_number_of_nodes() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    let of = |data: &'static str| {
        let target = [
            "--throughput",
            "200",
            "--read-share",
            "0.8",
            "--data",
            data,
            "--candidate",
            "r5.2xlarge+gp3:1000GiB:6000",
        ];
        size(&lab, evidence, &target)["proposals"][0].clone()
    };
    // Three nodes would be 64 % full, of 50 %; six are 32 % full.
    let space = of("600GB");
    assert_eq!(
        (space["nodes"].as_u64(), &space["limit"]),
        (Some(6), &json!("disk_space")),
        "{space}"
    );
    let why = &space["nodes_because"];
    assert_eq!(
        (&why["kind"], &why["limit"], &why["allowance"]),
        (&json!("full"), &json!("disk_space"), &json!("disk_fill")),
        "{why}"
    );
    assert!(space["utilisation"]["cpu"].as_f64().unwrap() < 0.02, "{space}");
    // So little that only the copies need three nodes.
    let copies = of("10GB");
    assert_eq!(
        (copies["nodes"].as_u64(), &copies["limit"], &copies["nodes_because"]),
        (
            Some(3),
            &json!("copies"),
            &json!({"kind": "copies", "replication_factor": 3, "zones": 3})
        ),
        "{copies}"
    );
}

/// The ranks of the keys were spread over one node's rows, as if every popular row lay on every node: too few were
/// found in the page cache. That this model is close to LRUs that are really run: `cargo test -p sizing page_cache`.
#[test]
fn a_nodes_page_cache_is_that_of_the_clusters_rows() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    let answer = size(&lab, evidence, &MUCH_DATA);
    let rows = workload::PageCache::new(
        workload::Distribution::Zipfian { constant: 0.99 },
        3_000_000_000,
        1000.0,
        16_384.0,
    );
    for p in answer["proposals"].as_array().unwrap() {
        let (share, hits) = (p["cache_share"].as_f64().unwrap(), p["hit_ratio"].as_f64().unwrap());
        println!("{} nodes: {share:.3} of the data cached, {hits:.3} found", p["nodes"]);
        assert!((hits - rows.hit_ratio(share)).abs() < 0.005, "{p}");
    }
}

#[test]
fn keep_what_you_have_is_an_answer() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    let machine = "r5.2xlarge+gp3:4000GiB:6000";
    let target = [
        "--throughput",
        "30000",
        "--read-share",
        "0.8",
        "--data",
        "1TB",
        "--candidate",
        machine,
    ];
    let beside =
        |today: &str| size(&lab, evidence, &[&target[..], &["--current", today]].concat())["comparison"].clone();
    let needed = size(&lab, evidence, &target);
    assert_eq!(
        needed["choice"]["cheapest"], needed["choice"]["best_proven"],
        "{needed}"
    );
    let nodes = needed["proposals"][0]["nodes"].as_u64().unwrap();
    let needed_usd = needed["proposals"][0]["usd_per_month"].as_f64().unwrap();
    // As many as it takes: nothing is cheaper.
    let enough = format!("{machine}*{nodes}");
    let kept = beside(&enough);
    assert_eq!(kept["decision"]["verdict"], "keep", "{}", kept["decision"]);
    assert_eq!(kept["decision"]["costs_more_usd_per_month"].as_f64(), Some(0.0));
    let human = lab.output(&[&["size", evidence], &target[..], &["--current", &enough]].concat());
    let text = String::from_utf8_lossy(&human.stdout).into_owned();
    assert!(
        text.lines().nth(1).unwrap().starts_with("Keep what you have: "),
        "{text}"
    );
    // Twice as many: half of the money.
    let change = beside(&format!("{machine}*{}", 2 * nodes))["decision"].clone();
    assert_eq!(
        (&change["verdict"], &change["because"]["reason"], &change["is_proven"]),
        (&json!("change"), &json!("cheaper"), &json!(true)),
        "{change}"
    );
    assert!(
        (change["saves_usd_per_month"].as_f64().unwrap() - needed_usd).abs() < 0.01,
        "{change}"
    );
    // Four times the throughput is more than it carries: the change costs money.
    let mut fourfold = target;
    fourfold[1] = "120000";
    let change = size(&lab, evidence, &[&fourfold[..], &["--current", &enough]].concat());
    let change = change["comparison"]["decision"].clone();
    assert_eq!(
        (&change["verdict"], &change["because"]["reason"]),
        (&json!("change"), &json!("full")),
        "{change}"
    );
    assert!(change["saves_usd_per_month"].as_f64().unwrap() < 0.0, "{change}");
    // Machines like these were never measured, and two kinds are no one machine.
    let far = beside("r5.24xlarge+gp3:4000GiB:6000*6")["decision"].clone();
    assert_eq!(
        (&far["verdict"], &far["because"]["reason"]),
        (&json!("not_decided"), &json!("beyond_evidence")),
        "{far}"
    );
    let mixed = [
        &target[..],
        &["--current", &enough, "--current", "r5.xlarge+gp3:100GiB*3"],
    ]
    .concat();
    let mixed = size(&lab, evidence, &mixed)["comparison"]["decision"].clone();
    assert_eq!(
        mixed,
        json!({"verdict": "not_decided", "because": {"reason": "several_kinds"}})
    );
}

#[test]
fn p99_counts_where_it_was_measured_under_an_offered_load() {
    let lab = Laboratory::new();
    let load = "concurrency = [128]\nrate = [1000]\nwarmup_s = 700\nrepetitions = 2";
    let closed = evidence(&lab);
    let evidence = run(&lab, "open", &experiment("open", 100, &MEASURED[..2], load, ""));
    let evidence = evidence.as_str();
    let target = [
        "--throughput",
        "20000",
        "--read-share",
        "0.8",
        "--data",
        "500GB",
        "--consistency",
        "one",
        "--family",
        "r5",
    ];
    let arguments = |ms: &'static str| [&target[..], &["--p99-ms", ms]].concat();
    let kept = size(&lab, evidence, &arguments("200"));
    let utilisation = kept["evidence"]["p99_utilisation"].as_f64().unwrap();
    assert!((0.05..1.1).contains(&utilisation), "{utilisation}");
    let output = lab.output(&[&["size", evidence], arguments("0.2").as_slice()].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(
        stderr.contains("no open-loop cell kept p99 <= 0.2 ms: the lowest measured is"),
        "{stderr}"
    );
    // Closed loop promises nothing: said, not guessed.
    let unchecked = size(&lab, closed, &arguments("20"));
    assert!(
        unchecked["notes"].to_string().contains("NOT checked"),
        "{}",
        unchecked["notes"]
    );
    // Half reads, half updates: the p99 is that of the reads, as everywhere else, which wait for the volume.
    let balanced = size(
        &lab,
        closed,
        &[&arguments("20")[..], &["--workload", "balanced"]].concat(),
    );
    let analysis = std::fs::read(Path::new(closed).join("analysis.json")).unwrap();
    let analysis: Value = serde_json::from_slice(&analysis).unwrap();
    let cells = analysis["cells"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|cell| cell["workload"] == "balanced");
    let lowest = cells
        .map(|cell| cell["latency_us"]["read"]["p99"].as_f64().unwrap())
        .fold(f64::INFINITY, f64::min);
    let told = format!("lowest p99 there: {:.1} ms", lowest / 1e3);
    assert!(
        balanced["notes"].to_string().contains(&told),
        "{told}: {}",
        balanced["notes"]
    );
}

#[test]
fn a_model_that_fails_its_own_test_is_not_used() {
    let lab = Laboratory::new();
    // A machine of half the speed that nothing in the experiment tells apart.
    let evidence = run(
        &lab,
        "slow",
        &experiment("slow", 100, &MEASURED, CLOSED, "speed = { r4-xlarge-8000 = 0.4 }"),
    );
    let mut arguments = vec![
        "size",
        evidence.as_str(),
        "--throughput",
        "1000",
        "--read-share",
        "0.8",
        "--data",
        "100GB",
    ];
    arguments.extend(ONE_NODE);
    let refused = lab.output(&[&arguments[..], &["--candidate", "r4.4xlarge+io1:1000GiB:6000"]].concat());
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{stderr}");
    assert!(
        stderr.contains("the model may not be used on this evidence: held out, its error is"),
        "{stderr}"
    );
    // What was measured still counts.
    let measured = size(
        &lab,
        &evidence,
        &[
            &arguments[2..],
            &["--candidate", "r4.2xlarge+io1:1000GiB:12000+gp2:100GiB"],
        ]
        .concat(),
    );
    assert_eq!(measured["proposals"][0]["label"], "measured");
}

#[test]
fn bad_targets_are_refused() {
    let lab = Laboratory::new();
    let text = experiment(
        "small",
        100,
        &MEASURED[..1],
        "concurrency = [8]\nwarmup_s = 60\nrepetitions = 1",
        "",
    );
    let evidence = run(&lab, "small", &text);
    let good = ["--throughput", "1000", "--read-share", "0.8", "--data", "1TB"];
    for (change, part) in [
        (&["--read-share", "0.8", "--data", "1TB"][..], "--throughput is missing"),
        (
            &["--throughput", "1000", "--read-share", "0.8", "--data", "1000"],
            "no size",
        ),
        (
            &["--throughput", "1000", "--read-share", "most", "--data", "1TB"],
            "no share",
        ),
        (
            &[good.as_slice(), &["--replication-factor", "2"]].concat(),
            "leaves 1 of the copies with a node down, and 2 must answer",
        ),
        (
            &[good.as_slice(), &["--survive", "zone", "--zones", "2"]].concat(),
            "leaves 1 of the copies with a zone down, and 2 must answer",
        ),
        (
            &[good.as_slice(), &["--candidate", "r5.huge"]].concat(),
            "unknown instance type",
        ),
        (
            &[good.as_slice(), &["--workload", "nobody"]].concat(),
            "no run has a workload `nobody`",
        ),
        (
            &[good.as_slice(), &["--consistency", "most"]].concat(),
            "no consistency",
        ),
        (
            &[good.as_slice(), &["--consistency", "all"]].concat(),
            "leaves 2 of the copies with a node down, and 3 must answer",
        ),
        (
            &[good.as_slice(), &["--family", "i4x"]].concat(),
            "no instance type is of a family `i4x`",
        ),
        (
            &[good.as_slice(), &["--arch", "sparc"]].concat(),
            "no instance type has the architecture `sparc`; known: arm64",
        ),
        (
            &[good.as_slice(), &["--candidate", "i3.2xlarge*12"]].concat(),
            "leave out `*12`",
        ),
        (&[good.as_slice(), &["--growth", "2"]].concat(), "may mean 2% or 200%"),
        (&[good.as_slice(), &["--top", "0"]].concat(), "0 is not in 1.."),
        (
            &[good.as_slice(), &[evidence.as_str()]].concat(),
            "is given twice: it would count as evidence for itself",
        ),
    ] {
        let output = lab.output(&[&["size", evidence.as_str()], change].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{change:?}: {stderr}");
        let flat = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(part), "{change:?}: {stderr}");
    }
}
