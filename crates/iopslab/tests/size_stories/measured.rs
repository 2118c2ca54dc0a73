//! What a run measured is a candidate of the search for its target, at the price that counts for it.

use serde_json::{Value, json};

use super::support::{Laboratory, one_line};
use super::{CLOSED, ONE_NODE, cheapest, copied, evidence, experiment, replan, run, size};

/// As much data as was measured, at a mix that was.
const TARGET: [&str; 6] = ["--throughput", "1000", "--read-share", "0.8", "--data", "100GB"];
const LARGE: &str = "r4.2xlarge+io1:1000GiB:12000+gp2:100GiB";

fn target(more: &[&'static str]) -> Vec<&'static str> {
    [&TARGET[..], &ONE_NODE, more].concat()
}

/// The evidence, of which one machine costs what its experiment states.
fn priced(lab: &Laboratory, name: &str, usd: f64) -> String {
    let run = copied(lab, evidence(lab), name);
    replan(&run, |name, configuration| {
        if name == "r4-2xlarge-12000" {
            configuration["price_usd_per_month"] = json!(usd);
        }
    });
    run
}

/// `size` searched the catalog alone, whose volumes are made to measure: that nothing was cheaper was false where a run
/// had measured what was.
#[test]
fn a_configuration_of_the_run_that_is_cheaper_than_all_of_the_catalog_is_what_is_proposed() {
    let lab = Laboratory::new();
    let before = size(&lab, evidence(&lab), &target(&[]));
    let usd = |proposal: &Value| proposal["usd_per_month"].as_f64().unwrap();
    assert!(usd(cheapest(&before)) > 10.0 && before["not_candidates"] == json!([]), "{before:#}");

    let run = priced(&lab, "cheap", 10.0);
    let answer = size(&lab, &run, &target(&[]));
    let best = cheapest(&answer);
    assert_eq!((&best["configuration"], usd(best)), (&json!(LARGE), 10.0), "{best:#}");
    assert_eq!((&best["label"], &best["measured_as"]), (&json!("measured"), &json!(["r4-2xlarge-12000"])), "{best:#}");
    assert_eq!(answer["choice"]["best"], best["configuration"]);
    assert_eq!(best["cost"][0]["what"], format!("{LARGE}, as the experiment states it"), "{best:#}");
    // Each machine once.
    let proposals = size(&lab, &run, &target(&["--top", "1000"]))["proposals"].clone();
    let of_its_type = |proposal: &&Value| proposal["instance"] == "r4.2xlarge";
    assert_eq!(proposals.as_array().unwrap().iter().filter(of_its_type).count(), 1, "{proposals:#}");

    let shown = lab.exits(0, &[&["size", run.as_str()], &target(&[])[..]].concat()).stdout;
    let flat = one_line(&shown);
    for part in [
        "Best proven: r4.2xlarge+io1:1000GiB:12000+gp2:100GiB, 10 USD a month; by the estimates nothing of \
         the search is cheaper",
        "1. the machine and disks of r4-2xlarge-12000 in the evidence",
    ] {
        assert!(flat.contains(part), "{part}: {shown}");
    }
}

/// The price that an experiment states is that of its machine wherever it stands; of all others it is the catalog's.
#[test]
fn a_price_that_is_stated_counts_for_candidate_and_fleet_of_today_alike() {
    let lab = Laboratory::new();
    let run = priced(&lab, "dear", 100_000.0);
    let answer = size(&lab, &run, &target(&[]));
    let before = size(&lab, evidence(&lab), &target(&[]));
    assert_eq!(cheapest(&answer)["usd_per_month"], cheapest(&before)["usd_per_month"]);
    let today = "r4.2xlarge+io1:1000GiB:12000+gp2:100GiB*2";
    let beside = size(&lab, &run, &target(&["--candidate", LARGE, "--current", today]));
    assert_eq!(cheapest(&beside)["usd_per_month"].as_f64(), Some(100_000.0));
    let fleets = &beside["comparison"];
    let usd = |fleet: &str| fleets[fleet]["usd_per_month"].as_f64();
    assert_eq!((usd("current"), usd("proposed")), (Some(200_000.0), Some(100_000.0)), "{fleets:#}");
    assert_eq!(fleets["decision"]["saves_usd_per_month"].as_f64(), Some(100_000.0), "{fleets:#}");
    // Of several prices that experiments state the least counts, and whose it is is said.
    let less = priced(&lab, "less", 90_000.0);
    for runs in [[&run, &less], [&less, &run]] {
        let more = [&[runs[1].as_str()][..], &target(&["--candidate", LARGE])[..]].concat();
        let answer = size(&lab, runs[0], &more);
        let best = cheapest(&answer);
        assert_eq!(best["usd_per_month"].as_f64(), Some(90_000.0), "{best:#}");
        let said = "the least that experiments state of it: 90000.00 USD a month for one is that of r4-2xlarge-12000 \
                    of less, 100000.00 is that of r4-2xlarge-12000 of dear";
        assert!(best["remarks"].to_string().contains(said), "{best:#}");
    }
    let one = cheapest(&size(&lab, &run, &target(&["--candidate", LARGE])))["remarks"].to_string();
    assert!(one.contains("its price is the one that the experiment states"), "{one}");
    // One candidate was searched, and nothing is said of others.
    let same = target(&["--candidate", LARGE, "--current", LARGE]);
    let kept = lab.exits(0, &[&["size", run.as_str()], &same[..]].concat()).stdout;
    let said = "nothing else of the search that does is cheaper: it is the cheapest of the search.";
    assert!(one_line(&kept).contains(said), "{kept}");
}

/// A volume of the commit log's own has no room for data. Two that nobody measured are both for data.
#[test]
fn the_commit_logs_volume_of_a_measured_machine_holds_no_data() {
    let lab = Laboratory::new();
    for (machine, gib) in [(LARGE, 1000.0), ("r4.2xlarge+io1:1000GiB:6000+gp2:100GiB", 1100.0)] {
        let answer = size(&lab, evidence(&lab), &target(&["--candidate", machine]));
        let best = cheapest(&answer);
        let [data, fill] = ["data_bytes_per_node", "disk_fill"].map(|figure| best[figure].as_f64().unwrap());
        assert!((data / fill / (gib * f64::from(1 << 30)) - 1.0).abs() < 1e-9, "{best:#}");
    }
}

/// Local disks are a candidate as volumes are.
#[test]
fn a_measured_instance_store_is_a_candidate() {
    let lab = Laboratory::new();
    let load = "concurrency = [128]\nwarmup_s = 20\nrepetitions = 1";
    let text = experiment("store", 100, &[("i3.2xlarge", 1)], load, "");
    let (start, rest) = text.split_once("data_volume").unwrap();
    let (_, rest) = rest.split_once("[[workload]]").unwrap();
    let text = format!("{start}data_volume = \"local\"\nprice_usd_per_month = 12\n[[workload]]{rest}");
    let run = run(&lab, "store", &text);
    let answer = size(&lab, &run, &target(&[]));
    let best = cheapest(&answer);
    assert_eq!((&best["configuration"], &best["usd_per_month"]), (&json!("i3.2xlarge"), &json!(12.0)), "{best:#}");
    assert_eq!(best["measured_as"], json!(["i3-2xlarge-1"]), "{best:#}");
}

/// Disks that were held to IOPS alone, as nobody knows their MB/s, are none that can be bought.
#[test]
fn a_modelled_instance_store_without_a_limit_of_bytes_does_not_count_as_measured() {
    let lab = Laboratory::new();
    let text = experiment("store", 100, &[("r5ad.2xlarge", 1)], CLOSED, "");
    let (start, rest) = text.split_once("data_volume").unwrap();
    let (_, rest) = rest.split_once("[[workload]]").unwrap();
    let store = run(&lab, "store", &format!("{start}data_volume = \"local\"\n[[workload]]{rest}"));
    let asked = [&[store.as_str()][..], &target(&["--candidate", "r5ad.2xlarge"])[..]].concat();
    let answer = size(&lab, evidence(&lab), &asked);
    let best = cheapest(&answer);
    assert_eq!((&best["configuration"], &best["measured_as"]), (&json!("r5ad.2xlarge"), &json!(["r5ad-2xlarge-1"])));
    assert_ne!(best["label"], "measured", "{best:#}");
    let mut doubts = best["doubts"].as_array().unwrap().iter();
    assert!(doubts.any(|doubt| doubt["kind"] == "disk_throughput"), "{best:#}");
}

/// What is no candidate is named with the reason.
#[test]
fn configurations_of_the_run_that_are_no_candidates_are_named_with_the_reason() {
    let lab = Laboratory::new();
    let run = copied(&lab, evidence(&lab), "odd");
    let set_type = |of: &'static str| {
        replan(&run, move |name, configuration| match name {
            "r4-xlarge-2000" => configuration["instance"]["from_catalog"] = json!(false),
            "r4-xlarge-8000" => configuration["data_volume"]["order"] = Value::Null,
            "r4-2xlarge-4000" => configuration["instance"]["label"] = json!(of),
            _ => {}
        });
    };
    let by_size = json!({
        "configurations": ["r4-xlarge-2000"],
        "why": {"rule": "its instance is given by its size, not by the catalog"},
    });
    let by_limits = json!({
        "configurations": ["r4-xlarge-8000"],
        "why": {"rule": "a volume of it is given by its limits, not by the catalog"},
    });
    for (of, why) in [("t3.2xlarge", "cpu_credits"), ("hi1.4xlarge", "retired")] {
        set_type(of);
        let left_out = size(&lab, &run, &target(&[]))["not_candidates"].clone();
        let own = json!({"configurations": ["r4-2xlarge-4000"], "why": why});
        assert_eq!(left_out, json!([own, by_limits, by_size]));
    }
    let shown = lab.exits(0, &[&["size", run.as_str()], &target(&[])[..]].concat()).stdout;
    let flat = one_line(&shown);
    for part in [
        "left out: r4-2xlarge-4000 of the evidence: it is no longer sold",
        "left out: r4-xlarge-2000 of the evidence: its instance is given by its size",
    ] {
        assert!(flat.contains(part), "{part}: {shown}");
    }

    // Somebody asked for another family, or named the candidates.
    let other = size(&lab, evidence(&lab), &target(&["--family", "r5"]));
    let [left_out] = other["not_candidates"].as_array().unwrap().as_slice() else { panic!("{other:#}") };
    assert_eq!((&left_out["why"], left_out["configurations"].as_array().unwrap().len()), (&json!("not_asked_for"), 4));
    assert_eq!(size(&lab, &run, &target(&["--candidate", LARGE]))["not_candidates"], json!([]));
    // Its trials are valid, and of a workload that was left out.
    let nightly = experiment("nightly", 100, &[("r4.xlarge", 3000)], CLOSED, "").replace("read-heavy", "nightly");
    let nightly = super::run(&lab, "nightly", &nightly);
    let asked = [&[nightly.as_str()][..], &target(&["--workload", "read-heavy"])[..]].concat();
    let own = json!([{"configurations": ["r4-xlarge-3000"], "why": "workload_not_asked_for"}]);
    assert_eq!(size(&lab, evidence(&lab), &asked)["not_candidates"], own);

    // Several volumes of data, and nothing that says what they cost.
    replan(&run, |name, configuration| {
        if name == "r4-2xlarge-4000" {
            configuration["data_volume"]["count"] = json!(2);
        }
    });
    let striped = lab.exits(0, &[&["size", run.as_str()], &target(&[])[..]].concat()).stdout;
    let flat = one_line(&striped);
    assert!(flat.contains("those with several are no evidence and no candidates: r4-2xlarge-4000."), "{striped}");
}
