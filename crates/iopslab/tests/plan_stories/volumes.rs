//! What a plan says of several data volumes.

use serde_json::Value;

use crate::support::{Laboratory, one_line};
use crate::{RAID, of_rule};

#[test]
fn a_plan_says_how_many_volumes_hold_the_data_and_that_two_small_ones_cost_what_a_large_one_costs() {
    let lab = Laboratory::new();
    let two = include_str!("../../../../examples/two-volumes.toml");
    lab.write("two.toml", two);
    let said = one_line(&lab.exits(0, &["plan", "two.toml"]).stdout);
    assert!(said.contains("data: 2 x gp3 500 GiB"), "{said}");
    let plan = lab.exits(0, &["plan", "two.toml", "--format", "json"]).json();
    let money = plan["plan"]["money"]["configurations"].as_array().unwrap();
    let of = |name: &str| money.iter().find(|m| m["configuration"] == name).unwrap();
    let usd = |name: &str| of(name)["usd_per_month"].as_f64().unwrap();
    assert!((usd("two-gp3") - usd("gp3-3000")).abs() < 0.01, "{money:#?}");
    assert!(usd("gp3-6000") > usd("two-gp3") + 10.0, "{money:#?}");
    let lines = of("two-gp3")["lines"].as_array().unwrap();
    assert!(lines.iter().any(|line| line["what"].as_str().unwrap().starts_with("2 x gp3 500 GiB")), "{lines:?}");
    // A data set for each number of directories.
    let data = |name: &str| {
        let setups = plan["setups"].as_array().unwrap();
        let setup = setups.iter().find(|setup| setup["configuration"] == name).unwrap();
        setup["more_data"].as_array().map_or(0, Vec::len)
    };
    assert_eq!((data("gp3-6000"), data("two-gp3"), data("four-gp3")), (0, 1, 3));
}

/// One data directory on all of them, so that they have the data set of one volume; and this machine may not be able
/// to.
#[test]
fn a_plan_says_that_volumes_are_striped_and_whether_this_machine_can() {
    let lab = Laboratory::new();
    lab.write("raid.toml", include_str!("../plans/raid.toml"));
    let said = |arguments: &[&str]| one_line(&lab.exits(0, arguments).stdout);
    let reported = said(&["plan", "raid.toml"]);
    for words in [
        "data: 2 x gp3 500 GiB, RAID 0, chunks of 256 KiB; each of them:",
        "data: 2 x gp3 500 GiB, a directory on each; each of them:",
    ] {
        assert!(reported.contains(words), "no {words:?} in {reported}");
    }
    let missing = storage::Array::problems();
    let refusal = "a run on this machine is refused: volumes cannot be striped";
    assert_eq!(reported.contains(refusal), !missing.is_empty(), "{reported}");
    assert!(!said(&["plan", "raid.toml", "--provider", "simulated"]).contains(refusal));
    let plan: Value = serde_json::from_str(&said(&["plan", "raid.toml", "--format", "json"])).unwrap();
    let layouts: Vec<&Value> = plan["setups"].as_array().unwrap().iter().map(|s| &s["layout"]["kind"]).collect();
    assert_eq!(layouts, [&Value::Null, &"directories".into(), &"raid0".into(), &"directories".into(), &"raid0".into()]);
    assert_eq!(plan["plan"]["configurations"][2]["data_volume"]["layout"]["chunk_kib"], 256, "{plan:#}");
    assert_eq!(of_rule(&plan["notes"], "raid0_not_here").len(), usize::from(!missing.is_empty()));
}

/// A kernel without the md driver, as here, or without mdadm.
#[test]
fn a_machine_that_can_stripe_no_volumes_is_refused_before_anything_is_made() {
    if storage::Array::problems().is_empty() {
        println!("skipped: this machine makes arrays");
        return;
    }
    let lab = Laboratory::new();
    lab.write("raid.toml", RAID);
    let stderr = lab.exits(1, &["run", "raid.toml"]).stderr;
    assert!(stderr.contains("volumes cannot be striped: "), "{stderr}");
    assert!(stderr.contains("layout = \"directories\""), "{stderr}");
    assert!(!lab.path().join("runs").exists() && !lab.work().exists(), "nothing was begun");
    let stderr = lab.exits(1, &["probe", "raid.toml"]).stderr;
    assert!(stderr.contains("volumes cannot be striped: "), "{stderr}");
    assert!(!lab.work().exists(), "nothing was begun");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}

/// Simulated volumes are asked evenly, so that two of them do what one of twice the IOPS does.
#[test]
fn a_simulated_run_shows_each_data_volume() {
    let lab = Laboratory::new();
    let text = "name = \"two\"\n[dataset]\nrecords = 20_000_000\n\
                [[configuration]]\nname = \"a\"\ninstance = { vcpus = 4, memory_gib = 16 }\nmemory_limit_gib = 4\n\
                data_volume = { iops = 1000, mib_per_s = 500, count = 2 }\n\
                [[workload]]\nname = \"w\"\nread = 1.0\n[load]\nconcurrency = [64]\nwarmup_s = 2\nduration_s = 40\n\
                repetitions = 2\n";
    lab.write("two.toml", text);
    let analysis = lab.exits(0, &["run", "two.toml", "--provider", "simulated", "--format", "json"]).json();
    let cell = &analysis["cells"][0];
    let volumes = cell["data_volumes"].as_array().unwrap();
    let iops = |at: usize| volumes[at]["read_iops"].as_f64().unwrap();
    assert_eq!((volumes.len(), &volumes[1]["volume"]), (2, &Value::from("data-2")));
    let all = cell["device_read_iops"].as_f64().unwrap();
    assert!((iops(0) + iops(1) - all).abs() < 1.0, "{cell:#}");
    assert!((900.0..1050.0).contains(&iops(0)), "{}", iops(0));
    assert_eq!(cell["limit"]["kind"], "volume_iops", "{:#}", cell["limit"]);
    let report = std::fs::read_to_string(lab.run_directory().join("report.md")).unwrap();
    assert!(report.contains("The data volumes of each cell") && report.contains("| data-2 |"), "{report}");
}

/// A comparison in which one side has a limit of bytes and the other has none.
#[test]
fn a_plan_says_whose_local_disks_have_no_limit_of_bytes() {
    let lab = Laboratory::new();
    let configuration = |name: &str, instance: &str| {
        format!("[[configuration]]\nname = \"{name}\"\ninstance = \"{instance}\"\ndata_volume = \"local\"\n")
    };
    let rest = "[[workload]]\nname = \"reads\"\nread = 1.0\n[load]\nconcurrency = [8]\nduration_s = 60\n";
    let text = format!(
        "name = \"disks\"\n[dataset]\nrecords = 1_000_000\n{}{}{rest}",
        configuration("known", "i7ie.2xlarge"),
        configuration("unknown", "m8gd.4xlarge")
    );
    lab.write("disks.toml", &text);
    let plan = lab.exits(0, &["plan", "disks.toml", "--format", "json"]).json();
    let notes = of_rule(&plan["notes"], "local_disks_without_byte_limit");
    let [note] = notes[..] else { panic!("{:#}", plan["notes"]) };
    let message = note["message"].as_str().unwrap();
    assert!(message.starts_with("unknown: the MB/s of 1 x 950 GB NVMe of m8gd.4xlarge are not known"), "{message}");
    assert!(note["advice"].as_str().unwrap().contains("read_mb_per_s"), "{note}");
    let said = one_line(&lab.exits(0, &["plan", "disks.toml"]).stdout);
    assert!(said.contains("MiB/s not known: not limited"), "{said}");
}
