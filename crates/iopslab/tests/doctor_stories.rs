//! What `iopslab doctor` says is true: free space is that of each directory, and the need is the example's.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::path::Path;

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use serde_json::Value;
use support::Laboratory;

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
fn every_directory_is_told_with_what_is_free_and_what_the_example_needs() {
    let lab = Laboratory::new();
    let work = lab.path().join("not/yet/there");
    let checks = doctor(&lab, &work);
    let facts = rustix::fs::statvfs(lab.path()).unwrap();
    let gib = facts.f_bavail as f64 * facts.f_frsize as f64 / f64::from(1 << 30);
    for (what, directory) in [
        ("work directory", work.clone()),
        ("downloads", lab.path().join("cache")),
        ("runs", lab.path().join("runs")),
    ] {
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
fn a_disk_that_is_too_small_is_told_with_what_to_do() {
    let lab = Laboratory::new();
    let small = lab.path().join("small");
    std::fs::create_dir(&small).unwrap();
    if mount("tmpfs", &small, "tmpfs", MountFlags::empty(), c"size=64m").is_err() {
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
