//! The catalog at the command line.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use serde_json::Value;
use support::Laboratory;

fn json(lab: &Laboratory, arguments: &[&str]) -> Value {
    let output = lab.output(&[&["--format", "json", "catalog"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn published_tables_come_out_to_the_cent() {
    let lab = Laboratory::new();
    let cost = json(&lab, &["cost", "i3.2xlarge*3", "--price-date", "2017-11-12"]);
    assert_eq!(cost["usd_per_month"], 1366.56);
    assert_eq!(cost["basis"]["hours_per_month"], 730.0);
    assert_eq!(cost["lines"].as_array().unwrap().len(), 1);
    let old = json(
        &lab,
        &["cost", "m2.4xlarge*48", "m2.xlarge*36", "--price-date", "2012-07-19"],
    );
    let new = json(
        &lab,
        &[
            "cost",
            "hi1.4xlarge*15",
            "--price-date",
            "2012-07-19",
            "--run-hours",
            "2",
        ],
    );
    assert_eq!(
        (old["usd_per_hour"].as_f64(), new["usd_per_hour"].as_f64()),
        (Some(102.6), Some(46.5))
    );
    assert_eq!(new["run"]["usd"], 93.0);
}

#[test]
fn bad_input_is_refused_with_what_would_be_right() {
    let lab = Laboratory::new();
    for (arguments, part) in [
        (vec!["cost", "i3.2xlrge"], "i3.2xlarge"),
        (
            vec!["cost", "i3.2xlarge", "--purchase", "on-demnd"],
            "did you mean `on-demand`",
        ),
        (vec!["cost", "i3.2xlarge", "--price-date", "2012-01-01"], "known days"),
        (vec!["caps", "r4.4xlarge+io1:100GiB:20000"], "io1"),
        (
            vec!["caps", "r4.4xlarge+gp3:100GiB", "--era", "2012"],
            "no rules of gp3",
        ),
        (vec!["show", "r4.4xlrge"], "nearest: r4.4xlarge"),
    ] {
        let output = lab.output(&[&["catalog"], arguments.as_slice()].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        let flat = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(part), "{arguments:?}: {stderr}");
    }
}

#[test]
fn lists_are_filtered_and_sorted() {
    let lab = Laboratory::new();
    let found = json(
        &lab,
        &[
            "list",
            "--min-vcpu",
            "8",
            "--memory",
            "60",
            "--local-nvme",
            "--arch",
            "x86_64",
            "--sort",
            "price",
        ],
    );
    let found = found.as_array().unwrap();
    assert!(found.len() > 20);
    assert!(
        found
            .iter()
            .all(|i| i["vcpus"].as_u64() >= Some(8) && i["local_disks"]["kind"] == "nvme-ssd")
    );
    let prices: Vec<f64> = found
        .iter()
        .filter_map(|i| i["on_demand_usd_per_hour"].as_f64())
        .collect();
    assert!(prices.windows(2).all(|p| p[0] <= p[1]));
    let caps = json(&lab, &["caps", "r4.4xlarge+io1:1000GiB:20000"]);
    assert!(
        caps["remarks"][0]
            .as_str()
            .unwrap()
            .contains("20000 IOPS bought, 18750 reachable")
    );
}

#[test]
fn a_users_own_types_and_prices_come_first() {
    let lab = Laboratory::new();
    std::fs::create_dir(lab.path().join("catalog")).unwrap();
    lab.write(
        "catalog/10-own.toml",
        r#"
region = "us-east-1"
price_date = "2026-11-01"
source = "offer 4711 of ACME hosting"

[[instance]]
name = "acme.db40"
vcpus = 40
memory_gib = 256
usd_per_hour = 1.9
reserved_usd_per_hour = { 1yr-no-upfront = 1.2 }
local_disks = { count = 4, size_gb_each = 3840, kind = "nvme-ssd", read_iops = 1600000, write_iops = 400000 }
ebs = { baseline_iops = 20000, baseline_mb_per_s = 500 }

[[instance]]
name = "i3.4xlarge"
usd_per_hour = 1.0

[[volume_price]]
type = "gp3"
usd_per_gb = 0.07
"#,
    );
    let cost = json(&lab, &["cost", "acme.db40*3"]);
    assert_eq!(cost["usd_per_month"], 3.0 * 730.0 * 1.9);
    assert_eq!(cost["lines"][0]["source"], "offer 4711 of ACME hosting");
    let reserved = json(&lab, &["cost", "acme.db40", "--purchase", "1yr-no-upfront"]);
    assert_eq!(reserved["usd_per_hour"], 1.2);
    // A known type keeps what the file does not say, and its older prices.
    let known = json(&lab, &["show", "i3.4xlarge"]);
    assert_eq!(
        (
            known["instance"]["vcpus"].as_u64(),
            known["instance"]["on_demand_usd_per_hour"].as_f64()
        ),
        (Some(16), Some(1.0))
    );
    let old = json(&lab, &["cost", "i3.4xlarge", "--price-date", "2017-11-12"]);
    assert_eq!(old["usd_per_hour"], 1.248);
    let volume = json(&lab, &["cost", "acme.db40+gp3:100GiB"]);
    assert_eq!(volume["lines"][1]["usd_per_month"], 7.0);
    let caps = json(&lab, &["caps", "acme.db40+gp3:1000GiB:16000"]);
    assert_eq!(caps["ebs"][0]["baseline"]["iops"], 16_000.0);
    // An experiment may name it.
    lab.write(
        "own.toml",
        r#"
name = "own"
[dataset]
records = 1_000_000
[[configuration]]
name = "acme"
instance = "acme.db40"
data_volume = "local"
[[workload]]
name = "reads"
read = 1.0
[load]
concurrency = [8]
duration_s = 10
"#,
    );
    let plan = lab.output(&["--format", "json", "plan", "own.toml"]);
    let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
    assert_eq!(plan["plan"]["money"]["configurations"][0]["usd_per_month"], 1387.0);
}

#[test]
fn a_users_file_that_is_wrong_says_where() {
    for (text, place, part) in [
        (
            "[[instance]]\nname = \"x.y\"\nvcpus = 4\n",
            ":2:",
            "needs vcpus and memory_gib",
        ),
        (
            "[[instance]]\nname = \"x.y\"\nvcpus = 4\nmemory_gib = 8\nusd_per_hour = 0\nprice_date = \"2026-11-01\"\n",
            ":2:",
            "above 0",
        ),
        (
            "[[instance]]\nname = \"x.y\"\nvcpus = 4\nmemory_gib = 8\nusd_per_hour = 1\n",
            ":2:",
            "price_date",
        ),
        ("[[instance]]\nname = \"x.y\"\nmemory = 8\n", ":3:", "memory"),
        (
            "[[instance]]\nname = \"i3.4xlarge\"\nnitro = false\n[[instance]]\nname = \"i3.4xlarge\"\nnitro = true\n",
            ":2:",
            "stated twice",
        ),
        ("[[volume_price]]\ntype = \"gp9\"\nusd_per_gb = 1\n", ":2:", "gp9"),
    ] {
        let lab = Laboratory::new();
        std::fs::create_dir(lab.path().join("catalog")).unwrap();
        lab.write("catalog/own.toml", text);
        let output = lab.output(&["catalog", "list"]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}: {stderr}");
        assert!(
            stderr.contains(&format!("own.toml{place}")) && stderr.contains(part),
            "{text}: {stderr}"
        );
    }
}

#[test]
fn the_fleets_of_2012_stand_beside_each_other() {
    let lab = Laboratory::new();
    let output = lab.output(&[
        "--format",
        "json",
        "size",
        "--current",
        "m2.4xlarge*48",
        "--current",
        "m2.xlarge*36",
        "--proposed",
        "hi1.4xlarge*15",
        "--price-date",
        "2012-07-19",
    ]);
    let fleets: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(fleets["current"]["total"]["nodes"], 84);
    assert_eq!(fleets["proposed"]["total"]["nodes"], 15);
    assert_eq!(
        (
            fleets["current"]["usd_per_hour"].as_f64(),
            fleets["proposed"]["usd_per_hour"].as_f64()
        ),
        (Some(102.6), Some(46.5))
    );
    // Nobody documented the IOPS of m2's disks: not known, so no ratio.
    assert!(fleets["current"]["total"]["iops"].is_null() && fleets["ratios"]["iops"].is_null());
}

#[test]
fn a_plan_prices_what_buys_nothing() {
    let lab = Laboratory::new();
    lab.write(
        "waste.toml",
        r#"
name = "waste"
[dataset]
records = 400_000_000
[[configuration]]
name = "too-fast"
instance = "r4.2xlarge"
nodes = 3
data_volume = { type = "gp3", size_gib = 1000, iops = 16000, mib_per_s = 500 }
commitlog_volume = { type = "io1", size_gib = 400, iops = 20000 }
[[configuration]]
name = "disks-unused"
instance = "i3.2xlarge"
data_volume = { type = "gp3", size_gib = 1000 }
commitlog_volume = { type = "gp3", size_gib = 100 }
[[workload]]
name = "half"
read = 0.5
update = 0.5
[load]
concurrency = [8]
duration_s = 10
"#,
    );
    let plan = lab.output(&["--format", "json", "plan", "waste.toml"]);
    let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
    let notes = plan["notes"].as_array().unwrap();
    let wasted: Vec<f64> = notes
        .iter()
        .filter_map(|n| n["numbers"]["wasted_usd_per_month"].as_f64())
        .collect();
    // r4.2xlarge: 12,000 IOPS and 212.5 MB/s. gp3: 4,000 IOPS at 0.005 and 297 MiB/s at 0.04; io1: 8,000 IOPS at 0.065; three nodes.
    assert_eq!(wasted, [95.64, 1560.0], "{notes:?}");
    let of = |rule: &str| notes.iter().filter(|n| n["rule"] == rule).count();
    assert_eq!(
        (of("volumes_above_instance"), of("local_disks_unused")),
        (1, 1),
        "{notes:?}"
    );
}
