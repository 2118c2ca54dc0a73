//! Clusters behind a cache, in one ranking with those that have none.

use serde_json::{Value, json};

use super::support::{Exits, Laboratory, one_line};
use super::{evidence, size};

/// 30,000 operations/s on 500 GB, of which the machines' volumes carry little: reads need many of them.
const TARGET: [&str; 10] = [
    "--throughput",
    "30000",
    "--read-share",
    "0.9",
    "--data",
    "500GB",
    "--consistency",
    "quorum",
    "--candidate",
    "r5.2xlarge+gp3:1000GiB:3000",
];

/// 12 machines of 64 GiB hold all records, and writes store theirs.
const LARGE: [&str; 6] = ["--cache", "r5.2xlarge*12", "--cache-cpu-us", "15", "--cache-policy", "write_through"];

fn nodes(proposal: &Value) -> u64 {
    proposal["nodes"].as_u64().unwrap()
}

/// Why it is not known whether the fleet of today meets the target; one that is cheaper and not in doubt replaces it
/// anyway.
fn not_known_of_today(answer: &Value) -> &Value {
    let comparison = &answer["comparison"];
    let (usd, decision) = (|fleet: &str| comparison[fleet]["usd_per_month"].as_f64().unwrap(), &comparison["decision"]);
    let is_cheaper = !answer["choice"]["best"].is_null() && usd("proposed") < 0.99 * usd("current");
    assert_eq!(decision["verdict"], if is_cheaper { "change" } else { "not_decided" }, "{decision}");
    if is_cheaper { &decision["because"]["today"] } else { &decision["because"] }
}

#[test]
fn a_cache_spares_database_machines_and_is_priced_with_them() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    let without = size(&lab, evidence, &TARGET);
    assert_eq!(without["choice"]["cheapest_with_cache"], Value::Null, "{}", without["choice"]);
    assert_eq!(without["choice"]["cheapest_without_cache"], without["choice"]["cheapest"]);
    let answer = size(&lab, evidence, &[&TARGET[..], &LARGE].concat());
    let proposals = answer["proposals"].as_array().unwrap();
    let cached = proposals.iter().find(|p| !p["cache"].is_null()).unwrap();
    let is_best = |p: &&Value| p["cache"].is_null() && p["configuration"] == answer["choice"]["cheapest_without_cache"];
    let alone = proposals.iter().find(is_best).unwrap();
    assert_eq!(answer["choice"]["cheapest_without_cache"], without["choice"]["cheapest"]);
    println!("{} nodes, {} behind a cache: {}", nodes(alone), nodes(cached), cached["cache"]);
    assert!(nodes(cached) < nodes(alone), "{answer}");

    // Everything is cached, and one node of twelve may be down: a twelfth of 27,000 reads a second, and all writes.
    let cache = &cached["cache"];
    let figure = |name: &str| cache[name].as_f64().unwrap();
    assert!(figure("hit_ratio") > 0.99 && figure("share_of_records") > 0.99, "{cache}");
    assert!((figure("hit_ratio_when_down") / figure("hit_ratio") - 11.0 / 12.0).abs() < 1e-9, "{cache}");
    let expected = 3000.0 + 27_000.0 * (1.0 - figure("hit_ratio_when_down"));
    assert!((figure("database_operations_per_s") - expected).abs() < 1.0, "{cache}");
    assert!((figure("database_read_share") - (expected - 3000.0) / expected).abs() < 1e-6, "{cache}");
    // 30,000 requests of 15 microseconds on 96 vCPUs, and those that store what was missed.
    assert!((0.0046..0.0049).contains(&figure("cpu")), "{cache}");
    assert!(cached["operations_per_s"].as_f64().unwrap() >= 30_000.0 * 0.999, "{cached}");

    // One bill, and no proof.
    let lines = cached["cost"].as_array().unwrap().iter().map(|l| l["usd_per_month"].as_f64().unwrap());
    assert!((lines.sum::<f64>() - cached["usd_per_month"].as_f64().unwrap()).abs() < 0.01, "{cached}");
    let mut lines = cached["cost"].as_array().unwrap().iter();
    let line = lines.find(|line| line["what"] == "12 x r5.2xlarge, on-demand").unwrap();
    assert!((line["usd_per_month"].as_f64().unwrap() - 0.504 * 730.0 * 12.0).abs() < 0.01, "{line}");
    let doubts = cached["doubts"].as_array().unwrap();
    assert!(doubts.iter().any(|doubt| doubt["kind"] == "cache"), "{cached}");
    assert_ne!(answer["choice"]["best"], answer["choice"]["cheapest_with_cache"]);
    assert!(
        answer["notes"].to_string().contains("Of a cache: memcached's LRU in 90 % of its nodes' memory"),
        "{}",
        answer["notes"]
    );

    // In the words of the study of 2012.
    let shown = lab.output(&[&["size", evidence], &TARGET[..], &LARGE].concat());
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let flat = one_line(&shown);
    let with = format!("With a cache: {} database + 12 cache machines (", nodes(cached));
    let without = format!("Without: {} database machines (", nodes(alone));
    assert!(flat.contains(&with) && flat.contains(&without), "{shown}");
    assert!(flat.contains(" behind cache r5.2xlarge*12"), "{shown}");
}

#[test]
fn what_the_cache_answers_follows_its_size_its_ttl_and_what_may_be_down() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    let of = |more: &[&str]| {
        let answer = size(&lab, evidence, &[&TARGET[..], &["--cache-cpu-us", "15"], more].concat());
        let proposals = answer["proposals"].as_array().unwrap().clone();
        proposals.into_iter().find(|p| !p["cache"].is_null()).unwrap()["cache"].clone()
    };
    let hit_ratio = |cache: &Value| cache["hit_ratio"].as_f64().unwrap();
    let aside = ["--cache-policy", "aside"];
    let (small, large) = (
        of(&[&["--cache", "r5.2xlarge*2"], &aside[..]].concat()),
        of(&[&["--cache", "r5.2xlarge*6"], &aside[..]].concat()),
    );
    assert!(hit_ratio(&small) > 0.3 && hit_ratio(&large) > hit_ratio(&small) + 0.02, "{small} {large}");
    let short = of(&[&["--cache", "r5.2xlarge*6", "--cache-ttl-s", "1"], &aside[..]].concat());
    assert!(hit_ratio(&short) < hit_ratio(&small) && short["ttl_s"] == json!(1.0), "{short}");
    // One node that may be down spares the database nothing.
    let single = of(&["--cache", "r5.24xlarge*1"]);
    assert_eq!((&single["hit_ratio_when_down"], &single["nodes"]), (&json!(0.0), &json!(1)), "{single}");
    assert!((single["database_operations_per_s"].as_f64().unwrap() - 30_000.0).abs() < 0.01, "{single}");
    let may_not = of(&["--cache", "r5.24xlarge*1", "--survive", "none"]);
    assert_eq!(may_not["hit_ratio_when_down"], may_not["hit_ratio"], "{may_not}");
    // Left open, that number of nodes is found that makes both together cheapest.
    let open = of(&["--cache", "r5.2xlarge"]);
    assert!(open["nodes"].as_u64().unwrap() >= 1 && open["nodes"].as_u64().unwrap() <= 11, "{open}");
}

/// The study of 2012 asked for 48 machines with 36 caches before them, or 15 with SSDs.
#[test]
fn the_fleet_of_today_is_judged_behind_its_cache() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    let current = ["--current", "r5.2xlarge+gp3:1000GiB:3000*12"];
    let behind = ["--current-cache", "r5.2xlarge*12", "--cache-cpu-us", "15", "--cache-policy", "write_through"];
    let alone = size(&lab, evidence, &[&TARGET[..], &current].concat())["comparison"].clone();
    let answer = size(&lab, evidence, &[&TARGET[..], &current, &behind].concat());
    let both = &answer["comparison"];
    assert_eq!(answer["choice"]["cheapest_with_cache"], Value::Null, "only the fleet of today has one");

    // One bill, machines and memory of both, and disks of the database alone.
    let of = |fleets: &Value, figure: &str| fleets["current"]["total"][figure].as_f64().unwrap();
    assert_eq!((of(both, "nodes"), both["current"]["cache_nodes"].as_u64()), (24.0, Some(12)), "{both:#}");
    assert_eq!(of(both, "memory_gib"), 2.0 * of(&alone, "memory_gib"));
    assert_eq!((of(both, "usable_tb"), of(both, "iops")), (of(&alone, "usable_tb"), of(&alone, "iops")));
    let usd = |fleets: &Value| fleets["current"]["usd_per_month"].as_f64().unwrap();
    assert!((usd(both) - usd(&alone) - 0.504 * 730.0 * 12.0).abs() < 0.01, "{both:#}");

    // The same tier as one that is proposed, and what it leaves to the same machines.
    let tier = &both["current_cache"];
    assert!(alone["current_cache"].is_null() && tier["hit_ratio"].as_f64().unwrap() > 0.99, "{tier}");
    assert_eq!((&tier["cpu_us"], &tier["cpu_is_measured"]), (&json!(15.0), &json!(false)));
    let proposed = size(&lab, evidence, &[&TARGET[..], &LARGE].concat());
    let proposed = proposed["proposals"].as_array().unwrap().iter().find(|p| !p["cache"].is_null()).unwrap();
    assert_eq!(tier, &proposed["cache"]);
    let used = |fleets: &Value| fleets["current_use"]["used"].as_f64().unwrap();
    assert!(used(both) < 0.6 * used(&alone), "{} behind a cache, {} alone", used(both), used(&alone));

    // What it answers is predicted, so that nothing is decided by it.
    let because = not_known_of_today(&answer);
    assert_eq!(because["reason"], "in_doubt", "{because}");
    assert_eq!(because["doubts"][0]["kind"], "cache", "{because}");
    let shown = lab.exits(0, &[&["size", evidence], &TARGET[..], &current, &behind].concat()).stdout;
    let flat = one_line(&shown);
    for part in [
        "Today: 12 database + 12 cache machines, ",
        "times the money.",
        "The cache of today: 12 nodes hold ",
        "no run measured a cache",
    ] {
        assert!(flat.contains(part), "{part}: {shown}");
    }

    // Caches that do not carry their requests are arithmetic: the fleet does not meet the target.
    let slow = ["--current-cache", "r5.large*2", "--cache-cpu-us", "5000"];
    let decision = size(&lab, evidence, &[&TARGET[..], &current, &slow].concat())["comparison"]["decision"].clone();
    assert_eq!((&decision["verdict"], &decision["because"]["reason"]), (&json!("change"), &json!("cache_full")));
    let several = [&TARGET[..], &current, &["--current", "r5.2xlarge*3"], &behind].concat();
    let stderr = one_line(&lab.exits(2, &[&["size", evidence], &several[..]].concat()).stderr);
    assert!(stderr.contains("before a fleet of one kind of machines, and the fleet has 2 kinds"), "{stderr}");
}

/// The study's own machines at the prices of then, from a file of facts, and at those of now.
#[test]
fn forty_eight_machines_behind_thirty_six_caches_or_machines_with_ssds() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    let facts = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/catalog/netflix-2012.toml");
    let fleets = ["--current", "m2.4xlarge*48", "--current-cache", "m2.xlarge*36"];
    let target = ["--throughput", "30000", "--read-share", "0.8", "--data", "1TB", "--consistency", "quorum"];
    let more = ["--cache-cpu-us", "15", "--candidate", "hi1.4xlarge", "--price-date", "2012-07-19"];
    let asked = [&["--format", "json", "size", evidence], &target[..], &fleets, &more].concat();
    let answer = lab.iopslab(&asked).env("IOPSLAB_CATALOG", facts).exits(0).json();
    let comparison = &answer["comparison"];
    let usd = |fleet: &Value| fleet["usd_per_month"].as_f64().unwrap();
    assert!((usd(&comparison["current"]) - (48.0 * 1.8 + 36.0 * 0.45) * 730.0).abs() < 0.01, "{comparison:#}");
    let proposed = &answer["proposals"][0];
    assert!((usd(proposed) - nodes(proposed) as f64 * 3.1 * 730.0).abs() < 0.01, "{proposed:#}");
    assert!(comparison["current_use"]["used"].as_f64().unwrap() > 0.0, "200 IOPS a machine: {comparison:#}");
    assert_eq!(comparison["current_cache"]["nodes"], 36);

    // Now: m2 has a price of its own, and what its disks do nobody says.
    let now = ["--cache-cpu-us", "15", "--family", "i4i"];
    let answer = size(&lab, evidence, &[&target[..], &fleets, &now].concat());
    let comparison = &answer["comparison"];
    assert!((usd(&comparison["current"]) - (48.0 * 0.98 + 36.0 * 0.245) * 730.0).abs() < 0.01, "{comparison:#}");
    let because = not_known_of_today(&answer);
    assert_eq!((&because["reason"], &because["why"]), (&json!("not_known"), &json!("disks_unknown")), "{because}");

    // Fleets beside each other, without a run.
    let beside = [&["size"], &fleets[..], &["--proposed", "hi1.4xlarge*15", "--price-date", "2012-07-19"]].concat();
    let shown = lab.exits(0, &beside).stdout;
    let flat = one_line(&shown);
    let said = "Today: 48 database + 36 cache machines, 74,898 USD a month. \
                Proposed: 15 database machines, 33,945 USD a month: 0.453 times the money.";
    assert!(flat.contains(said), "{shown}");
    let days = "prices of different days are compared (2012-06-14 and 2012-07-19); each is the latest known by \
                2012-07-19, and not both fleets have a price of that day";
    assert!(flat.contains(days) && !flat.contains("--price-date sets"), "{shown}");
    // The disks of both are known, what they do under load is not.
    let open = "This says nothing of whether the proposed fleet carries the load of today's";
    assert!(flat.contains(open) && flat.contains(" judges that. Usable: "), "{shown}");
}

/// What a request costs a cache is measured, stated or refused, never made up.
#[test]
fn what_cannot_be_said_of_a_cache_is_refused() {
    let lab = Laboratory::new();
    let evidence = evidence(&lab);
    for (more, part) in [
        (&["--cache", "r7g.large"][..], "--cache-cpu-us is missing: no run has measured"),
        (&["--cache-ttl-s", "60"], "--cache-ttl-s says something of a cache, and there is none"),
        (&["--cache", "r7g.large", "--cache-cpu-us", "0"], "CPU time of 0 us for a request"),
        (
            &["--current", "m2.4xlarge*48", "--current-cache", "m2.xlarge", "--cache-cpu-us", "15"],
            "--current-cache m2.xlarge does not state how many machines there are",
        ),
        (&["--cache", "r7g.huge", "--cache-cpu-us", "15"], "unknown instance type"),
        (&["--cache", "r7g.large+gp3:10GiB", "--cache-cpu-us", "15"], "what it caches is in its memory"),
        (&["--cache", "r7g.large", "--cache-cpu-us", "15", "--cache-memory", "0"], "above 0 % and at most 100 %"),
    ] {
        let stderr = one_line(&lab.exits(2, &[&["size", evidence], &TARGET[..], more].concat()).stderr);
        assert!(stderr.contains(part), "{more:?}: {stderr}");
    }
    let no_reads = ["--throughput", "3000", "--read-share", "0", "--data", "500GB", "--cache", "r7g.large"];
    let stderr = lab.exits(2, &[&["size", evidence], &no_reads[..], &["--cache-cpu-us", "15"]].concat()).stderr;
    assert!(stderr.contains("a cache answers reads, and the target has none"), "{stderr}");

    // Requests that take 5 ms of CPU are too many for two machines of two vCPUs: said, and nothing is proposed of it.
    let slow = ["--cache", "r5.large*2", "--cache-cpu-us", "5000"];
    let answer = size(&lab, evidence, &[&TARGET[..], &slow].concat());
    assert_eq!(answer["choice"]["cheapest_with_cache"], Value::Null, "{}", answer["choice"]);
    let why = "No cache of such machines carries the requests: r5.large*2 would use";
    assert!(answer["notes"].to_string().contains(why), "{}", answer["notes"]);
}
