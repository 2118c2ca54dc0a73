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
