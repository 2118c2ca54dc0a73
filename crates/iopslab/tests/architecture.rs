//! The crate graph is the picture in docs/architecture.md: one direction, no circle, pure rooms stay pure.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "architecture/floors.rs"]
mod floors;
#[path = "architecture/made.rs"]
mod made;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// A room of the picture.
struct Room {
    name: String,
    is_pure: bool,
    may_use: BTreeSet<String>,
}

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The table of docs/architecture.md down to the program, which may use all.
fn picture() -> Vec<Room> {
    let page = read("docs/architecture.md");
    let rows = page.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    let mut is_pure = false;
    let mut rooms = Vec::new();
    for row in rows.take_while(|row| row.starts_with('|') && !row.starts_with("| **the program**")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if let Some(kind) = cells[1].strip_prefix("**") {
            is_pure = kind.starts_with("pure");
        } else {
            let may_use = cells[3].split_whitespace().map(str::to_owned).collect();
            rooms.push(Room { name: cells[1].trim_matches('`').to_owned(), is_pure, may_use });
        }
    }
    rooms
}

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
    let picture = picture();
    for (room, used) in edges() {
        if room == "iopslab" {
            continue;
        }
        let drawn = picture.iter().find(|drawn| drawn.name == room);
        let drawn = drawn.unwrap_or_else(|| panic!("room {room} is not in the picture"));
        for other in used {
            assert!(drawn.may_use.contains(&other), "{room} may not use {other}");
        }
    }
}

/// Cargo forbids circles of crates; this keeps the *picture* free of them, so that it can be obeyed.
#[test]
fn the_picture_has_no_circle() {
    let mut left = picture();
    let mut placed: BTreeSet<String> = BTreeSet::new();
    while !left.is_empty() {
        let (ready, rest): (Vec<Room>, Vec<Room>) = left.into_iter().partition(|room| room.may_use.is_subset(&placed));
        assert!(!ready.is_empty(), "a circle among the rooms that are not in {placed:?}");
        placed.extend(ready.into_iter().map(|room| room.name));
        left = rest;
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
    let bans = read("clippy-pure.toml");
    for banned in [
        "std::fs::File",
        "std::fs::OpenOptions",
        "std::fs::read_dir",
        "std::thread::sleep",
        "std::time::Instant::now",
        "std::process::Command",
        "std::net::TcpStream",
    ] {
        assert!(bans.contains(banned), "{banned} is not banned");
    }
    let pure: Vec<Room> = picture().into_iter().filter(|room| room.is_pure).collect();
    assert!(!pure.is_empty());
    for Room { name, .. } in pure {
        assert!(read(&format!("crates/{name}/clippy.toml")) == bans, "{name} bans something else");
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
