//! Which cluster meets the target, why so many nodes, and whether to keep what is there.

use serde_json::{Value, json};

use super::support::{Laboratory, one_line};
use super::{MEASURED, MUCH_DATA, cheapest, evidence, experiment, run, size};

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
        let used = p["utilisation"]["cpu"].as_f64().unwrap().max(p["utilisation"]["iops"].as_f64().unwrap());
        let down = p["utilisation_when_down"].as_f64().unwrap();
        assert!(used <= 0.7 + 1e-9 && down <= 0.8 + 1e-9 && down > used, "{p}");
        // 3 copies of 1 TB fit half of the disks.
        assert!(p["total"]["usable_tb"].as_f64().unwrap() >= 1.15 * 0.999, "{p}");
        // One node fewer in each zone would not do.
        let operations = p["operations_per_s"].as_f64().unwrap();
        assert!(operations >= 60_000.0 * 0.999, "{p}");
        let lines = p["cost"].as_array().unwrap().iter().map(|l| l["usd_per_month"].as_f64().unwrap());
        assert!((lines.sum::<f64>() - p["usd_per_month"].as_f64().unwrap()).abs() < 0.01);
    }
    // What is not in doubt first, then what is; each by price.
    let price = |p: &Value| p["usd_per_month"].as_f64().unwrap();
    let is_sure = |p: &&Value| p["doubts"] == json!([]);
    let sure = proposals.iter().take_while(is_sure).count();
    assert!(proposals.iter().skip(sure).all(|p| p["doubts"] != json!([])), "{usual:#}");
    let (sure, in_doubt) = proposals.split_at(sure);
    for by_price in [sure, in_doubt] {
        assert!(by_price.iter().map(price).is_sorted(), "{usual:#}");
    }
    let first = sure.first().map_or(&Value::Null, |p| &p["configuration"]);
    assert_eq!(first, &usual["choice"]["best"]);
    // By more than the error of what it carries.
    for p in sure {
        let (used, error) = (p["used"].as_f64().unwrap(), p["uncertainty_percent"].as_f64().unwrap() / 100.0);
        assert!(used < p["allowed"].as_f64().unwrap() * (1.0 - error), "{p}");
    }
    // More is asked for: never cheaper.
    for more in [
        &["--growth", "50%", "--years", "3"][..],
        &["--headroom", "60%"],
        &["--survive", "zone", "--replication-factor", "5"],
    ] {
        assert!(price(cheapest(&answer(more))) > price(cheapest(&usual)), "{more:?}");
    }
    // What goes from zone to zone has no price here: said, where there is more than one.
    let says_so = |answer: &Value| answer["notes"].to_string().contains("Traffic between zones is not priced");
    assert!(says_so(&usual) && !says_so(&answer(&["--zones", "1"])), "{}", usual["notes"]);
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

/// `size` once put the number of doubts before the price: it added nodes until the page cache was in the measured
/// range, showed only that, and said nothing of it. Later it led with what nobody had measured.
#[test]
fn the_best_one_leads_and_what_would_be_cheaper_stands_below_with_the_run_that_would_decide() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    let answer = size(&lab, evidence, &MUCH_DATA);
    let (best, cheapest) = (&answer["proposals"][0], &answer["proposals"][1]);
    let nodes = |p: &Value| p["nodes"].as_u64().unwrap();
    println!("{} nodes, {} not in doubt", nodes(cheapest), nodes(best));
    assert!(nodes(cheapest) < nodes(best), "{answer}");
    assert_eq!(cheapest["doubts"][0]["kind"], "cache_share", "{cheapest}");
    assert_eq!((&best["doubts"], &best["label"]), (&json!([]), &json!("modelled")), "{best}");
    // It may lie beyond what was measured, up to twice as far: said of it, too.
    let said = best["remarks"].to_string();
    assert!(said.contains("extrapolated within the allowed factor of 2: "), "{said}");
    let share = best["remarks_typed"].as_array().unwrap().iter().find_map(|remark| {
        let value = &remark["extrapolated"]["value"];
        (value["kind"] == "cache_share").then_some(value)
    });
    let share = share.unwrap_or_else(|| panic!("{best}"));
    let (held, least) = (share["share"].as_f64().unwrap(), share["measured"]["low"].as_f64().unwrap());
    assert!((least / 2.0..least).contains(&held) && share["share"] == best["cache_share"], "{share}");
    assert_eq!(answer["choice"]["cheapest"], cheapest["configuration"]);
    assert_eq!(
        (&answer["choice"]["best"], &answer["choice"]["best_is_proven"]),
        (&best["configuration"], &json!(false))
    );
    let usd = |p: &Value| p["usd_per_month"].as_f64().unwrap();
    let proof = answer["choice"]["best_costs_more_usd_per_month"].as_f64().unwrap();
    assert!((proof - (usd(best) - usd(cheapest))).abs() < 0.01 && proof > 0.0, "{proof}");
    // Why so many nodes: one fewer in each zone would not do; for the best one they would.
    let why = &cheapest["nodes_because"];
    assert_eq!((&why["kind"], why["fewer"].as_u64()), (&json!("full"), Some(nodes(cheapest) - 3)), "{why}");
    assert!(why["used"].as_f64() > why["allowed"].as_f64(), "{why}");
    let why = &best["nodes_because"];
    assert_eq!((&why["kind"], why["fewer"].as_u64()), (&json!("evidence"), Some(nodes(cheapest))), "{why}");
    // One row was asked for: both are shown.
    let mut command = lab.iopslab(&[&["size", evidence], &MUCH_DATA[..], &["--top", "1"]].concat());
    let output = command.env("COLUMNS", "80").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let flat = one_line(&text);
    assert!(text.starts_with("SIMULATED evidence"), "{text}");
    for part in [
        "Cheaper if it holds: r5.2xlarge+gp3:7000GiB:16000:1000*",
        " USD a month. It meets the target by more than its error (±",
        " %). It is extrapolated within the allowed factor of 2: ",
        "outside the measured range: ",
        "Measure it: run one r5.2xlarge with gp3 7000 GiB",
        "In doubt, to be measured first:",
        "nodes for the evidence: ",
        "80 % reads at QUORUM (the run's level, unless --consistency states another); 3.00 TB of payload",
    ] {
        assert!(flat.contains(part), "{part}: {text}");
    }
    let lead = text.lines().nth(1).unwrap();
    assert!(lead.starts_with("Best modelled: r5.2xlarge+gp3:7000GiB:16000:1000*"), "{text}");
    assert!(!flat.contains("proven"), "nothing was measured: {text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // Without a level the run's own is taken, and named.
    let own = lab.output(&[&["size", evidence], &MUCH_DATA[..6], &MUCH_DATA[8..]].concat());
    let flat = one_line(&String::from_utf8_lossy(&own.stdout));
    assert!(flat.contains("80 % reads at ONE (the run's level, unless"), "{flat}");
}

/// A fleet that is too small leads to nothing that nobody measured: that stands behind a condition, with what to do.
#[test]
fn where_nothing_is_proven_no_change_is_recommended() {
    let lab = Laboratory::new();
    let mut target = MUCH_DATA;
    // Reads alone were never measured.
    target[3] = "0.95";
    let today = ["--current", "r5.2xlarge+gp3:7000GiB:16000:1000*1"];
    let output = lab.output(&[&["size", evidence(&lab)], &target[..], &today[..]].concat());
    let flat = one_line(&String::from_utf8_lossy(&output.stdout));
    assert!(!flat.contains("Change to"), "{flat}");
    for part in [
        "What you have is not enough: ",
        "Nothing proven meets the target either; r5.2xlarge+gp3:7000GiB:16000:1000*",
        "would if it holds",
        ": measure it first. Best proven: none; something is in doubt of every cluster of the search that would do.",
        "Measure it: run one r5.2xlarge with gp3 7000 GiB",
    ] {
        assert!(flat.contains(part), "{part}: {flat}");
    }
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
        cheapest(&size(&lab, evidence, &target)).clone()
    };
    // Three nodes would be 64 % full, of 50 %; six are 32 % full.
    let space = of("600GB");
    assert_eq!((space["nodes"].as_u64(), &space["limit"]), (Some(6), &json!("disk_space")), "{space}");
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
        (Some(3), &json!("copies"), &json!({"kind": "copies", "replication_factor": 3, "zones": 3})),
        "{copies}"
    );
}

/// A machine of which `nodes` carry so much, by an estimate with this error as a share of it.
struct Known {
    machine: &'static str,
    nodes: u64,
    carries: f64,
    error: f64,
}

impl Known {
    fn of(lab: &Laboratory) -> Self {
        let machine = "r5.2xlarge+gp3:4000GiB:6000";
        let answer = size(lab, evidence(lab), &Self::target("30000", machine));
        let best = &answer["proposals"][0];
        assert_eq!((&best["doubts"], &best["configuration"]), (&json!([]), &answer["choice"]["best"]), "{answer:#}");
        let figure = |name: &str| best[name].as_f64().unwrap();
        let (nodes, error) = (best["nodes"].as_u64().unwrap(), figure("uncertainty_percent") / 100.0);
        // One fewer in each zone would not do at any of the throughputs below.
        assert!((3..=18).contains(&nodes) && (0.002..0.14).contains(&error), "{nodes} nodes, {error}");
        Self { machine, nodes, carries: figure("operations_per_s"), error }
    }

    fn target<'a>(throughput: &'a str, machine: &'a str) -> [&'a str; 8] {
        ["--throughput", throughput, "--read-share", "0.8", "--data", "1TB", "--candidate", machine]
    }

    /// The answer where it is today's fleet, and this part of what it carries is asked of it.
    fn asked(&self, lab: &Laboratory, part: f64, format: &str) -> String {
        let throughput = format!("{:.4}", self.carries * part);
        let today = self.fleet(self.nodes);
        let target = Self::target(&throughput, self.machine);
        let command = [&["--format", format, "size", evidence(lab)], &target[..], &["--current", &today]].concat();
        lab.exits(0, &command).stdout
    }

    fn fleet(&self, nodes: u64) -> String {
        format!("{}*{nodes}", self.machine)
    }
}

#[test]
fn keep_what_you_have_is_an_answer() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    let known = Known::of(&lab);
    let throughput = format!("{:.0}", 0.85 * known.carries);
    let target = Known::target(&throughput, known.machine);
    let beside =
        |today: &str| size(&lab, evidence, &[&target[..], &["--current", today]].concat())["comparison"].clone();
    let needed = size(&lab, evidence, &target);
    let enough = known.fleet(known.nodes);
    assert_eq!((&needed["choice"]["cheapest"], &needed["choice"]["best"]), (&json!(enough), &json!(enough)));
    let needed_usd = cheapest(&needed)["usd_per_month"].as_f64().unwrap();
    // As many as it takes: nothing is cheaper.
    let kept = beside(&enough);
    assert_eq!(kept["decision"]["verdict"], "keep", "{}", kept["decision"]);
    assert_eq!(kept["decision"]["costs_more_usd_per_month"].as_f64(), Some(0.0));
    let human = lab.output(&[&["size", evidence], &target[..], &["--current", &enough]].concat());
    let text = String::from_utf8_lossy(&human.stdout).into_owned();
    assert!(text.lines().nth(1).unwrap().starts_with("Keep what you have: "), "{text}");
    // One candidate was searched: whether another machine is cheaper nobody asked. And nobody measured this one.
    let flat = one_line(&text);
    assert!(flat.contains("; by the estimates nothing of the search is cheaper, "), "{flat}");
    assert!(flat.contains(" meets the target by more than its error, using ") && !flat.contains("proven"), "{flat}");
    // Twice as many: half of the money.
    let change = beside(&known.fleet(2 * known.nodes))["decision"].clone();
    assert_eq!(
        (&change["verdict"], &change["because"]["reason"], &change["is_in_doubt"]),
        (&json!("change"), &json!("cheaper"), &json!(false)),
        "{change}"
    );
    assert!((change["saves_usd_per_month"].as_f64().unwrap() - needed_usd).abs() < 0.01, "{change}");
    // Four times the throughput is more than it carries: the change costs money.
    let fourfold = format!("{:.0}", 3.4 * known.carries);
    let fourfold = Known::target(&fourfold, known.machine);
    let change = size(&lab, evidence, &[&fourfold[..], &["--current", &enough]].concat());
    let change = change["comparison"]["decision"].clone();
    assert_eq!((&change["verdict"], &change["because"]["reason"]), (&json!("change"), &json!("full")), "{change}");
    assert!(change["saves_usd_per_month"].as_f64().unwrap() < 0.0, "{change}");
    // Two kinds are no one machine, and cheaper than what surely does.
    let few = ["--current", "r5.large+gp3:100GiB*3", "--current", "r5.xlarge+gp3:100GiB*3"];
    let mixed = size(&lab, evidence, &[&target[..], &few].concat())["comparison"]["decision"].clone();
    assert_eq!(mixed, json!({"verdict": "not_decided", "because": {"reason": "several_kinds"}}));
}

/// A fleet, and a proposal, that an estimate puts near the target was said to meet it on one side and to be near it on
/// the other: whichever side it is on, within the error it is to be measured.
#[test]
fn what_lies_within_the_error_of_the_target_is_to_be_measured_on_either_side() {
    let lab = Laboratory::new();
    let known = Known::of(&lab);
    let (low, high) = (1.0 - known.error, 1.0 + known.error);
    let grown = (known.nodes + 3) as f64 / known.nodes as f64;
    assert!(grown * low > high + 0.001, "one more in each zone does at all of them: {grown}, {}", known.error);
    let more = known.fleet(known.nodes + 3);
    let mine = known.fleet(known.nodes);
    for (part, verdict, reason) in [
        (low - 0.0005, "keep", json!(null)),
        (low + 0.0005, "not_decided", json!("in_doubt")),
        (1.0 - 0.0005, "not_decided", json!("in_doubt")),
        (1.0 + 0.0005, "not_decided", json!("in_doubt")),
        (high - 0.0005, "not_decided", json!("in_doubt")),
        (high + 0.0005, "change", json!("full")),
    ] {
        let answer: Value = serde_json::from_str(&known.asked(&lab, part, "json")).unwrap();
        let decision = &answer["comparison"]["decision"];
        let said = (decision["verdict"].as_str().unwrap(), decision["because"]["reason"].clone());
        assert_eq!(said, (verdict, reason), "{part}: {decision}");
        if verdict == "not_decided" {
            assert_eq!(decision["because"]["doubts"][0]["kind"], "within_error", "{part}: {decision}");
        }
        // The search: the fewest by the estimate, and the fewest that do by more than its error.
        let (choice, best) = (&answer["choice"], if part < low { &mine } else { &more });
        assert_eq!((&choice["best"], &choice["best_is_proven"]), (&json!(best), &json!(false)), "{part}: {choice}");
        assert_eq!(choice["cheapest"], json!(if part < 1.0 { &mine } else { &more }), "{part}: {choice}");
        let why = &answer["proposals"][0]["nodes_because"];
        match (part > low, part > 1.0) {
            (true, false) => {
                assert_eq!((&why["kind"], &why["doubts"][0]["kind"]), (&json!("evidence"), &json!("within_error")))
            }
            (true, true) => assert_eq!(why["within_error_percent"].is_null(), part > high, "{part}: {why}"),
            (false, _) => {}
        }
        let flat = one_line(&known.asked(&lab, part, "human"));
        let is_named = flat.contains(", which is within the error of ");
        assert_eq!(is_named, (low..high).contains(&part), "{part}: {flat}");
        // Beside fewer nodes that may do, nothing in doubt is said to cost no less.
        if part > 1.0 {
            let may_do = format!(", but {} nodes may do, as they lie within the error", known.nodes);
            assert_eq!(flat.contains(&may_do), part < high, "{part}: {flat}");
            assert_eq!(flat.contains("cheaper, in doubt or not"), part > high, "{part}: {flat}");
        }
        assert!(
            flat.contains(&format!("Best modelled: {best}")) || flat.contains(&format!("Best interpolated: {best}"))
        );
    }
}

/// If today's fleet meets the target, one that surely does is cheaper; if it does not, it must be changed.
#[test]
fn a_fleet_of_which_little_is_known_is_changed_for_one_that_surely_does_and_is_cheaper() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    let machine = "r5.2xlarge+gp3:4000GiB:6000";
    let target = ["--throughput", "30000", "--read-share", "0.8", "--data", "1TB", "--candidate", machine];
    // Machines like these were never measured.
    let far = ["--current", "r5.24xlarge+gp3:4000GiB:6000*24"];
    let answer = size(&lab, evidence, &[&target[..], &far].concat());
    let (comparison, usd) = (&answer["comparison"], |fleet: &Value| fleet["usd_per_month"].as_f64().unwrap());
    let decision = &comparison["decision"];
    let why = &decision["because"];
    assert_eq!(
        (&decision["verdict"], &why["reason"], &why["today"]["reason"], &decision["to"]),
        (&json!("change"), &json!("cheaper_anyway"), &json!("in_doubt"), &answer["choice"]["best"]),
        "{decision}"
    );
    let saves = usd(&comparison["current"]) - usd(&comparison["proposed"]);
    assert!(saves > 0.0 && (decision["saves_usd_per_month"].as_f64().unwrap() - saves).abs() < 0.01, "{decision}");
    let shown = lab.output(&[&["size", evidence], &target[..], &far].concat());
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let flat = one_line(&shown);
    assert!(flat.contains("Change to ") && flat.contains(", whatever today's fleet can do: whether "), "{shown}");
    // Two kinds are no one machine.
    let mixed = ["--current", "r5.2xlarge+gp3:4000GiB:6000*24", "--current", "r5.24xlarge+gp3:4000GiB:6000*24"];
    let mixed = size(&lab, evidence, &[&target[..], &mixed].concat())["comparison"]["decision"].clone();
    assert_eq!(
        (&mixed["verdict"], &mixed["because"]),
        (&json!("change"), &json!({"reason": "cheaper_anyway", "today": {"reason": "several_kinds"}})),
        "{mixed}"
    );
}

#[test]
fn a_day_of_which_no_price_is_known_is_said_to_be_one() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    let target = ["--throughput", "30000", "--read-share", "0.8", "--data", "1TB", "--price-date", "2011-01-01"];
    let stderr = lab.exits(3, &[&["size", evidence], &target[..]].concat()).stderr;
    let flat = one_line(&stderr);
    assert!(
        flat.contains("price of any machine of the search is known in us-east-1 on 2011-01-01 or before"),
        "{stderr}"
    );
    assert!(!flat.contains("meets the target"), "{stderr}");
}

#[test]
fn bad_targets_are_refused() {
    let lab = Laboratory::new();
    let text = experiment("small", 100, &MEASURED[..1], "concurrency = [8]\nwarmup_s = 60\nrepetitions = 1", "");
    let evidence = run(&lab, "small", &text);
    let good = ["--throughput", "1000", "--read-share", "0.8", "--data", "1TB"];
    for (change, part) in [
        (&["--read-share", "0.8", "--data", "1TB"][..], "--throughput is missing"),
        (&["--throughput", "1000", "--read-share", "0.8", "--data", "1000"], "no size"),
        (&["--throughput", "1000", "--read-share", "most", "--data", "1TB"], "no share"),
        (
            &[good.as_slice(), &["--replication-factor", "2"]].concat(),
            "leaves 1 of the copies with a node down, and 2 must answer",
        ),
        (
            &[good.as_slice(), &["--survive", "zone", "--zones", "2"]].concat(),
            "leaves 1 of the copies with a zone down, and 2 must answer",
        ),
        (&[good.as_slice(), &["--candidate", "r5.huge"]].concat(), "unknown instance type"),
        (
            &[good.as_slice(), &["--candidate", "r6i.4xlarge+rds-gp3:400"]].concat(),
            "has storage of RDS, which does not run Apache Cassandra",
        ),
        (&[good.as_slice(), &["--workload", "nobody"]].concat(), "no run has a workload `nobody`"),
        (&[good.as_slice(), &["--consistency", "most"]].concat(), "no consistency level"),
        (&[good.as_slice(), &["--consistency", "quorom"]].concat(), "did you mean `quorum`?"),
        (
            &[good.as_slice(), &["--consistency", "all"]].concat(),
            "leaves 2 of the copies with a node down, and 3 must answer",
        ),
        (&[good.as_slice(), &["--family", "i4x"]].concat(), "no instance type is of a family `i4x`"),
        (
            &[good.as_slice(), &["--arch", "sparc"]].concat(),
            "no instance type has the architecture `sparc`; known: arm64",
        ),
        (
            &[good.as_slice(), &["--candidate", "i3.2xlarge*12"]].concat(),
            "leave out `*12`, or ask whether 12 carry the target: --current 'i3.2xlarge*12'",
        ),
        (&[good.as_slice(), &["--growth", "2"]].concat(), "`2`: 2 % or 0.02? write 2% or 0.02"),
        (&[good.as_slice(), &["--top", "0"]].concat(), "0 is not in 1.."),
        (&[good.as_slice(), &[evidence.as_str()]].concat(), "is given twice: it would count as evidence for itself"),
    ] {
        let stderr = one_line(&lab.exits(2, &[&["size", evidence.as_str()], change].concat()).stderr);
        assert!(stderr.contains(part), "{change:?}: {stderr}");
    }
}

/// Nodes that the CPU limits: one alone, and three that keep three copies and wait for two of them. Sixty of a hundred
/// microseconds of an operation are spent once, by the node that is asked.
fn coordinated(clusters: bool) -> String {
    let node = "instance = \"r4.xlarge\"\ndata_volume = { type = \"io1\", size_gib = 1000, iops = 12000 }\n";
    let mut text =
        format!("name = \"coordinated\"\n[dataset]\nrecords = 1_000_000\n[[configuration]]\nname = \"alone\"\n{node}");
    if clusters {
        text += &format!(
            "[[configuration]]\nname = \"three\"\n{node}nodes = 3\nreplication_factor = 3\nconsistency = \"quorum\"\n"
        );
    }
    for (workload, read) in [("read-heavy", 0.8), ("balanced", 0.5), ("write-heavy", 0.2)] {
        text += &format!("[[workload]]\nname = \"{workload}\"\nread = {read}\nupdate = {:.1}\n", 1.0 - read);
    }
    text + "[load]\nconcurrency = [128]\nwarmup_s = 5\nduration_s = 60\nrepetitions = 2\n[provider.simulated]\n\
            read_cpu_us = 400\n\
            write_cpu_us = 250\ncoordinator_share = 0.6\nclient_threads = 16\nblock_noise = 0.01\n"
}

/// Evidence of one node charges each replica a whole operation; that of clusters beside it shows what is done once.
#[test]
fn what_an_operation_uses_once_is_measured_where_clusters_tell() {
    let answer = |clusters: bool| {
        let lab = Laboratory::new();
        let evidence = run(&lab, "coordinated", &coordinated(clusters));
        let target = [
            "--throughput",
            "100000",
            "--read-share",
            "0.8",
            "--data",
            "20GB",
            "--consistency",
            "quorum",
            "--candidate",
            "r4.xlarge+io1:1000GiB:12000",
        ];
        size(&lab, &evidence, &target)
    };
    let (alone, reported) = (answer(false), answer(true));
    let share = |answer: &Value| answer["evidence"]["demand"]["coordinator_share"].as_f64();
    assert_eq!(share(&alone), None, "{alone}");
    let share = share(&reported).unwrap();
    assert!((0.5..=0.7).contains(&share), "{share}");
    let notes = |answer: &Value| answer["notes"].to_string();
    assert!(notes(&alone).contains("charged like a whole operation"), "{}", notes(&alone));
    assert!(
        notes(&reported).contains("Coordination takes") && !notes(&reported).contains("charged like a whole operation"),
        "{}",
        notes(&reported)
    );
    // Reads ask two replicas: 1.4 operations' worth instead of 2.
    let nodes = |answer: &Value| cheapest(answer)["nodes"].as_f64().unwrap();
    let spared = nodes(&reported) / nodes(&alone);
    println!("{} nodes, {} by one node's evidence", nodes(&reported), nodes(&alone));
    assert!((0.55..0.9).contains(&spared), "{spared}");
}
