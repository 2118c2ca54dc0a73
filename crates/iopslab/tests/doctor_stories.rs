//! What `iopslab doctor` says is true: free space is that of each directory, and the need is the example's.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::{Exits, Laboratory};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use serde_json::Value;

/// The checks by what they looked at.
fn doctor(lab: &Laboratory, work: &Path) -> Vec<Value> {
    let output = lab
        .iopslab(&["doctor", "--format", "json"])
        .env("IOPSLAB_WORK", work)
        .env("IOPSLAB_CACHE", lab.path().join("cache"))
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = document["checks"].as_array().unwrap().clone();
    let bad = checks.iter().any(|check| check["ok"] == false);
    assert_eq!(output.status.code(), Some(i32::from(bad)), "{checks:#?}");
    checks
}

fn of<'c>(checks: &'c [Value], what: &str) -> &'c Value {
    let found = checks.iter().find(|check| check["what"] == what);
    found.unwrap_or_else(|| panic!("{what}: {checks:#?}"))
}

/// `12.3 GiB free in DIRECTORY; examples/quickstart.toml needs 850.0 MiB`: both figures in GiB.
fn figures(check: &Value, directory: &Path) -> (f64, f64) {
    let gib = |text: &str| {
        let (number, unit) = text.split_once(' ').unwrap();
        number.parse::<f64>().unwrap() / if unit == "GiB" { 1.0 } else { 1024.0 }
    };
    let found = check["found"].as_str().unwrap();
    let (free, rest) = found.split_once(" free in ").unwrap();
    let (named, need) = rest.split_once("; examples/quickstart.toml needs ").unwrap();
    assert_eq!(Path::new(named), directory);
    (gib(free), gib(need))
}

#[test]
fn a_machine_without_fuse_still_runs_experiments_and_is_reported_of() {
    let lab = Laboratory::new();
    let found = |mut doctor: std::process::Command| {
        let output = doctor.env("IOPSLAB_CACHE", lab.path().join("cache")).output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let check = of(document["checks"].as_array().unwrap(), "served volumes").clone();
        assert_eq!(check["ok"], true);
        check["found"].as_str().unwrap().to_owned()
    };
    let arguments = ["doctor", "--format", "json"];
    let without = found(lab.iopslab_without_fuse(&arguments));
    assert!(without.starts_with("not here: volumes cannot be served: /dev/fuse"), "{without}");
    assert!(found(lab.iopslab(&arguments)).starts_with("/dev/fuse"));
}

#[test]
fn whether_volumes_can_be_striped_is_reported_and_is_no_problem() {
    let lab = Laboratory::new();
    let checks = doctor(&lab, &lab.path().join("work"));
    let check = of(&checks, "RAID 0 of volumes");
    assert_eq!(check["ok"], true, "{check}");
    let found = check["found"].as_str().unwrap();
    match storage::Array::problems().is_empty() {
        true => assert_eq!(found, "the md driver, mdadm"),
        false => assert!(
            found.starts_with("not here: volumes cannot be striped: ") && found.contains("directories"),
            "{found}"
        ),
    }
}

#[test]
fn every_directory_is_reported_with_what_is_free_and_what_the_example_needs() {
    let lab = Laboratory::new();
    let work = lab.path().join("not/yet/there");
    let checks = doctor(&lab, &work);
    let facts = rustix::fs::statvfs(lab.path()).unwrap();
    let gib = facts.f_bavail as f64 * facts.f_frsize as f64 / f64::from(1 << 30);
    for (what, directory) in
        [("work directory", work.clone()), ("downloads", lab.path().join("cache")), ("runs", lab.path().join("runs"))]
    {
        let (free, need) = figures(of(&checks, what), &directory);
        assert!((free - gib).abs() < 1.0, "{what}: {free} GiB, statvfs says {gib}");
        assert!(need < 20.0, "{what}: {need}");
    }
    // 500 MB and three configurations of it; 67 MB of jars and an archive of their classes.
    assert!(figures(of(&checks, "work directory"), &work).1 > 1.0);
    let downloads = figures(of(&checks, "downloads"), &lab.path().join("cache")).1;
    assert!((0.08..0.2).contains(&downloads), "{downloads}");
    assert!(of(&checks, "host name")["found"].as_str().unwrap().contains("resolve"));
}

#[test]
fn a_disk_that_is_too_small_is_reported_with_what_to_do() {
    let lab = Laboratory::new();
    let small = lab.path().join("small");
    std::fs::create_dir(&small).unwrap();
    if mount("tmpfs", &small, "tmpfs", MountFlags::empty(), c"size=64m,mode=700").is_err() {
        println!("skipped: mounting a small tmpfs needs root");
        return;
    }
    let checks = doctor(&lab, &small);
    unmount(&small, UnmountFlags::DETACH).unwrap();
    let work = of(&checks, "work directory");
    assert_eq!(work["ok"], false, "{work}");
    assert_eq!(figures(work, &small).0, 64.0 / 1024.0, "{work}");
    assert!(work["fix"].as_str().unwrap().contains("IOPSLAB_WORK"), "{work}");
}

/// What the client costs is measured here, and not a constant: a plan refuses what this machine cannot send.
#[test]
fn rates_that_this_machines_client_cannot_send_are_refused_once_doctor_has_measured_it() {
    let lab = Laboratory::new();
    let plan = |code: i32, rate: u64| {
        lab.write(
            "x.toml",
            &format!(
                "name = \"x\"\n[dataset]\nrecords = 1000\n[[configuration]]\nname = \"a\"\n\
                 instance = {{ vcpus = 4, memory_gib = 16 }}\ndata_volume = {{ iops = 3000, size_gib = 100 }}\n\
                 [[workload]]\nname = \"reads\"\nread = 1.0\n[load]\nrate = [{rate}]\n"
            ),
        );
        let mut command = lab.iopslab(&["plan", "x.toml", "--provider", "local", "--format", "json"]);
        command.env("IOPSLAB_CACHE", lab.path().join("cache")).exits(code).stderr
    };
    let most = 100_000_000;
    // Nobody knows yet what it costs.
    plan(0, most);
    let checks = doctor(&lab, &lab.path().join("work"));
    let found = of(&checks, "client")["found"].as_str().unwrap();
    let number = |before: &str| -> f64 {
        let at = found.find(before).unwrap_or_else(|| panic!("{before}: {found}"));
        found[..at].rsplit(' ').next().unwrap().parse().unwrap()
    };
    let (ceiling, each, sparse) = (number(" reads/s"), number(" us of CPU"), number(" us in an open loop"));
    assert!((0.2..50.0).contains(&each) && sparse > each && (10_000.0..1e8).contains(&ceiling), "{found}");
    let reported = plan(2, most);
    assert!(reported.contains("100000000 operations/s are more than this machine's client can send"), "{reported}");
    assert!(reported.contains("\"line\":12"), "{reported}");
    plan(0, (ceiling * 0.9) as u64);
}

/// A test's build is no measure of a clock; what is measured is there, and nothing else is looked at.
#[test]
fn a_cpu_is_measured_alone() {
    let lab = Laboratory::new();
    let said = lab.exits(0, &["doctor", "--cpu", "--format", "json"]);
    let document = said.json();
    assert!(!said.stdout.contains("Java"), "{document}");
    assert!(document["kernel_rounds_per_s"].as_f64().unwrap() > 0.0, "{document}");
    let read = document["memory_read_ns"].as_f64().unwrap();
    assert!(read > 0.1 && read < 100_000.0, "{document}");
    let least = document["kernel_least_share"].as_f64().unwrap();
    assert!(least > 0.0 && least <= 1.0, "{document}");
    assert_eq!(document["speed"].is_null(), document["ghz"].is_null() || document["architecture"].is_null());
    // The machine's own openssl, where it has one that has the cipher: its figures, or the reason why there are none.
    let openssl = &document["openssl"];
    assert_ne!(openssl.is_null(), document["openssl_missing"].is_null(), "{document}");
    assert!(guarded::program("openssl").is_some() || openssl.is_null(), "{document}");
    if !openssl.is_null() {
        let [one, each, speed] = ["one_mb_per_s", "each_mb_per_s", "speed"].map(|key| openssl[key].as_f64().unwrap());
        assert!(one > 0.0 && each > 0.0 && (speed - each / 66.737).abs() < 0.001 * speed, "{openssl}");
        assert_eq!(openssl["near"].as_array().unwrap().len(), 5, "{openssl}");
    }
}

/// A public kernel places a machine beside those that others have measured with it. Here each process does as much as
/// one on a vCPU of m7g, by a program of this name that comes first in PATH.
#[test]
fn a_machine_is_placed_by_the_openssl_that_it_has() {
    let lab = Laboratory::new();
    let script = r#"#!/bin/sh
if [ "$1" = version ]; then echo OpenSSL 3.0.19 27 Jan 2026; exit; fi
n=1
while [ $# -gt 0 ]; do if [ "$1" = -multi ]; then n=$2; fi; shift; done
rate=+F:25:ARIA-256-CBC:94870000.00
if [ $n = 1 ]; then echo +H:16384; echo $rate; exit; fi
for at in $(seq 0 $((n - 1))); do echo "Got: +H:16384 from $at"; echo "Got: $rate from $at"; done
"#;
    std::fs::create_dir(lab.path().join("bin")).unwrap();
    let program = lab.write("bin/openssl", script);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", lab.path().join("bin").display(), std::env::var("PATH").unwrap());
    let doctor = |format: &str| lab.iopslab(&["doctor", "--cpu", "--format", format]).env("PATH", &path).exits(0);
    let document = doctor("json").json();
    let openssl = &document["openssl"];
    assert!(document["openssl_missing"].is_null() && openssl["version"] == "OpenSSL 3.0.19 27 Jan 2026", "{document}");
    for (key, expected) in [("one_mb_per_s", 94.87), ("each_mb_per_s", 94.87), ("speed", 1.4215)] {
        assert!((openssl[key].as_f64().unwrap() - expected).abs() < 1e-4, "{key}: {openssl}");
    }
    let near = openssl["near"].as_array().unwrap();
    let m7g = near.iter().find(|near| near["family"] == "m7g").unwrap_or_else(|| panic!("{openssl}"));
    assert!(m7g["machines"] == 9 && m7g["cpu_speed"]["speed"] == 1.858, "{m7g}");
    let text = doctor("human").stdout;
    assert!(text.contains("rounds/s") && text.contains(" ns for a read") && !text.contains("Java"), "{text}");
    let line = text.lines().find(|line| line.starts_with("openssl ")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains(" 94.9 MB/s of aria-256-cbc on each of "), "{line}");
    assert!(line.contains(": 1.422 of a vCPU of m5.2xlarge with the same cipher"), "{line}");
    assert!(text.contains("near: ") && text.contains("in the catalog these have a cpu_speed of 1.8"), "{text}");
}

/// The clock is that of steps which take a known number of cycles: what makes them is optimised in the build that users
/// have, of which parts are not.
#[test]
fn what_measures_a_clock_is_optimised_in_the_build_of_users() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    let profiles = std::fs::read_to_string(workspace).unwrap();
    assert!(profiles.contains("\niopslab.opt-level = 0\n"));
    assert!(!profiles.contains("\nengine."), "engine::cpu needs its optimisation");
}
