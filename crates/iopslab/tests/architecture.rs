//! The crate graph is the picture in docs/architecture.md: one direction, no circle, pure rooms stay pure.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "architecture/floors.rs"]
mod floors;
#[path = "architecture/made.rs"]
mod made;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Which rooms a room may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("catalog", &[]),
    ("reported", &[]),
    ("stats", &[]),
    ("guarded", &[]),
    ("workload", &[]),
    ("statements", &["workload"]),
    ("miss_ratio", &["workload"]),
    ("query_log", &[]),
    ("volume", &["catalog", "stats"]),
    ("product", &["reported"]),
    ("cassandra_model", &["product", "reported"]),
    ("postgresql_model", &["product", "reported"]),
    (
        "experiment",
        &["product", "cassandra_model", "postgresql_model", "catalog", "query_log", "stats", "statements", "workload"],
    ),
    ("evidence", &["experiment", "reported"]),
    ("imports", &["evidence", "experiment"]),
    ("simulator", &["evidence", "experiment", "reported", "workload"]),
    ("analysis", &["cassandra_model", "evidence", "experiment", "miss_ratio", "reported", "catalog", "stats"]),
    ("sizing", &["analysis", "evidence", "experiment", "miss_ratio", "reported", "catalog", "stats", "workload"]),
    ("profile", &["catalog", "evidence", "experiment", "stats"]),
    ("report", &["analysis", "miss_ratio", "profile", "sizing", "reported"]),
    ("engine", &["workload", "evidence"]),
    (
        "database",
        &[
            "cassandra_model",
            "postgresql_model",
            "engine",
            "experiment",
            "profile",
            "query_log",
            "reported",
            "guarded",
            "statements",
        ],
    ),
    ("datasets", &["evidence", "guarded"]),
    ("monitor", &["evidence", "reported", "guarded"]),
    ("served", &["volume"]),
    ("storage", &["catalog", "experiment", "volume", "served", "guarded"]),
    ("wire", &["experiment", "evidence"]),
    ("offers", &["catalog"]),
    ("provider", &["wire", "process", "simulator", "evidence", "experiment", "guarded"]),
    ("archive", &["evidence", "experiment", "reported", "guarded"]),
    ("process", &["experiment", "guarded"]),
    (
        "agent",
        &[
            "wire",
            "process",
            "database",
            "storage",
            "served",
            "volume",
            "datasets",
            "monitor",
            "engine",
            "stats",
            "catalog",
            "evidence",
            "experiment",
            "reported",
            "guarded",
        ],
    ),
    (
        "controller",
        &[
            "wire",
            "process",
            "provider",
            "profile",
            "archive",
            "analysis",
            "database",
            "storage",
            "catalog",
            "offers",
            "evidence",
            "experiment",
            "workload",
            "guarded",
        ],
    ),
];
const PURE: [&str; 19] = [
    "catalog",
    "reported",
    "stats",
    "workload",
    "statements",
    "miss_ratio",
    "query_log",
    "volume",
    "product",
    "cassandra_model",
    "postgresql_model",
    "experiment",
    "evidence",
    "imports",
    "simulator",
    "analysis",
    "sizing",
    "profile",
    "report",
];

/// Normal dependencies between rooms, as cargo sees them.
fn edges() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let name = |value: &serde_json::Value| value["name"].as_str().unwrap().to_owned();
    let rooms: BTreeSet<String> = packages.iter().map(name).collect();
    packages
        .iter()
        .map(|package| {
            let used = package["dependencies"].as_array().unwrap().iter().filter(|d| d["kind"].is_null()).map(name);
            (name(package), used.filter(|d| rooms.contains(d)).collect())
        })
        .collect()
}

#[test]
fn rooms_use_only_what_the_picture_allows() {
    for (room, used) in edges() {
        if room == "iopslab" {
            continue;
        }
        let allowed = ALLOWED.iter().find(|(name, _)| *name == room);
        let (_, allowed) = allowed.unwrap_or_else(|| panic!("room {room} is not in the picture"));
        for other in used {
            assert!(allowed.contains(&other.as_str()), "{room} may not use {other}");
        }
    }
}

/// Cargo forbids circles of crates; this keeps the *picture* free of them, so that it can be obeyed.
#[test]
fn the_picture_has_no_circle() {
    let mut placed = BTreeSet::new();
    while placed.len() < ALLOWED.len() {
        let ready: Vec<_> = ALLOWED
            .iter()
            .filter(|(room, uses)| !placed.contains(room) && uses.iter().all(|u| placed.contains(u)))
            .map(|(room, _)| *room)
            .collect();
        assert!(!ready.is_empty(), "a circle among the rooms that are not in {placed:?}");
        placed.extend(ready);
    }
}

/// What both had from one place would agree with itself, and no simulated run would show that it is wrong.
#[test]
fn who_makes_evidence_shares_nothing_with_who_judges_it() {
    let edges = edges();
    for judge in ["stats", "analysis", "sizing", "report"] {
        assert!(!edges["simulator"].contains(judge), "simulator may not use {judge}");
        assert!(!edges[judge].contains("simulator"), "{judge} may not use simulator");
    }
}

#[test]
fn pure_rooms_ban_files_networks_processes_and_clocks() {
    let list = |room: &str| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(room).join("clippy.toml");
        std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
    };
    let first = list(PURE[0]);
    for banned in [
        "std::fs::File",
        "std::fs::OpenOptions",
        "std::fs::read_dir",
        "std::thread::sleep",
        "std::time::Instant::now",
        "std::process::Command",
        "std::net::TcpStream",
    ] {
        assert!(first.contains(banned), "{banned} is not banned");
    }
    for room in PURE {
        assert!(list(room) == first, "{room} bans something else than {}", PURE[0]);
    }
}

#[test]
fn no_room_is_a_lumber_room() {
    for room in edges().keys() {
        assert!(!["util", "utils", "common", "core", "misc"].contains(&room.as_str()), "{room}");
    }
}

/// Crates with many files of tests make one program of them, and list them: one that nobody lists would never run.
#[test]
fn every_file_of_tests_belongs_to_a_program() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for room in std::fs::read_dir(crates).unwrap().flatten() {
        let read = |file: &str| std::fs::read_to_string(room.path().join(file)).unwrap_or_default();
        let manifest = read("Cargo.toml");
        if !manifest.contains("autotests = false") {
            continue;
        }
        let listed = read("tests/stories.rs");
        for file in std::fs::read_dir(room.path().join("tests")).unwrap().flatten() {
            let path = file.path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let is_listed =
                listed.contains(&format!("mod {name};")) || manifest.contains(&format!("name = \"{name}\""));
            let is_code = path.extension().is_some_and(|extension| extension == "rs");
            assert!(!is_code || is_listed, "{} is part of no program", path.display());
        }
    }
}
