//! `[[fault]]` of disks: planned in order of time, each key refused where it has no effect, each at its place.

use crate::story::{GOOD, to_run};
use experiment::{FailingRequests, FaultAction, Provider, VolumeRole, static_notes};

/// One node with served volumes, one for the commit log, measured for 60 s.
fn served(faults: &str) -> String {
    let text = format!("{GOOD}\n{faults}\n[provider.local]\nvolumes = \"served\"\n");
    let with = "size_gib = 320 }\ncommitlog_volume = { type = \"gp3\", size_gib = 100 }";
    text.replace("size_gib = 320 }", with)
}

const SLOW: &str = "[[fault]]\nkind = \"disk-slow\"\ntimes = 10\nat_s = 20\nfor_s = 10";
const ERRORS: &str = "[[fault]]\nkind = \"disk-error\"\nvolume = \"commitlog\"\nrequests = \"writes\"\nshare = 0.05\n\
                      range = [0, 0.5]\nat_s = 40\nfor_s = 5";

#[test]
fn every_kind_is_planned_with_its_particulars() {
    let others =
        "[[fault]]\nkind = \"disk-stall\"\nat_s = 5\nfor_s = 2\n[[fault]]\nkind = \"disk-full\"\nat_s = 50\nfor_s = 2";
    let faults = to_run(&served(&format!("{ERRORS}\n{SLOW}\n{others}")), Provider::Local).unwrap().faults;
    assert_eq!(
        faults.iter().map(experiment::NodeFault::label).collect::<Vec<_>>(),
        [
            "disk-stall of node 1's data volume at 5 s for 2 s",
            "disk-slow (10 times) of node 1's data volume at 20 s for 10 s",
            "disk-error (5 % of writes from 0 to 50 % of its bytes) of node 1's commit-log volume at 40 s for 5 s",
            "disk-full of node 1's data volume at 50 s for 2 s",
        ]
    );
    // What is not stated: all requests, anywhere, of the data volume.
    let bare = "[[fault]]\nkind = \"disk-error\"\nat_s = 20\nfor_s = 10";
    let faults = to_run(&served(bare), Provider::Local).unwrap().faults;
    assert_eq!(
        faults[0].action,
        FaultAction::DiskError { volume: VolumeRole::Data, requests: FailingRequests::All, share: 1.0, range: None }
    );
    assert_eq!(faults[0].label(), "disk-error (all requests) of node 1's data volume at 20 s for 10 s");
}

#[test]
fn what_is_planned_is_written_as_it_is_read() {
    let faults = to_run(&served(&format!("{ERRORS}\n{SLOW}")), Provider::Local).unwrap().faults;
    let text = serde_json::to_string(&faults).unwrap();
    assert!(text.contains(r#""kind":"disk-slow","volume":"data","times":10.0,"node":1"#), "{text}");
    assert_eq!(serde_json::from_str::<Vec<experiment::NodeFault>>(&text).unwrap(), faults);
}

#[test]
fn what_has_no_effect_or_cannot_be_done_is_refused_at_its_place() {
    let slow = [
        ("times = 10\n", "", "disk-slow without times"),
        ("times = 10", "times = 1", "times cannot be 1"),
        ("times = 10", "times = -3", "times cannot be -3"),
        ("for_s = 10", "", "disk-slow without for_s"),
        ("for_s = 10", "for_s = 40", "for_s = 40: 60 s is not within the measurement of 60 s"),
        ("at_s = 20", "at_s = 4", "at_s cannot be 4"),
        ("at_s = 20", "at_s = 60", "at_s = 60 is not within the measurement"),
        ("at_s = 20", "at_s = 20\nnode = 2", "node = 2: a has one node"),
        ("disk-slow", "disk-stall", "times has no effect on disk-stall: it is for disk-slow"),
        ("disk-slow", "node-kill", "times has no effect on node-kill"),
        ("disk-slow", "disk-slo", "unknown kind of fault `disk-slo` (did you mean `disk-slow`?"),
        ("times = 10", "times = 10\nshare = 0.1", "share has no effect on disk-slow: it is for disk-error"),
        ("times = 10", "times = 10\nrequests = \"reads\"", "requests has no effect on disk-slow"),
        ("times = 10", "times = 10\nrange = [0, 1]", "range has no effect on disk-slow"),
        ("times = 10", "times = 10\nvolume = \"logs\"", "unknown volume `logs`"),
        ("volumes = \"served\"", "volumes = \"throttled\"", "disk-slow: volumes are throttled by the kernel"),
        ("volumes = \"served\"", "", "disk-slow: volumes are throttled by the kernel"),
        ("[load]", "[load]\noperations = 1000", "operations with [[fault]]"),
        (
            "for_s = 10",
            "for_s = 10\n[[fault]]\nkind = \"disk-stall\"\nat_s = 29\nfor_s = 2",
            "disk-stall of node 1's data volume at 29 s for 2 s begins before disk-slow (10 times)",
        ),
    ];
    let errors = [
        ("share = 0.05", "share = 0", "share cannot be 0"),
        ("share = 0.05", "share = 1.5", "share cannot be 1.5"),
        ("range = [0, 0.5]", "range = [0.5, 0.5]", "range cannot be [0.5, 0.5]"),
        ("range = [0, 0.5]", "range = [0.5, 1.1]", "range cannot be [0.5, 1.1]"),
        ("\"writes\"", "\"write\"", "unknown requests `write` (did you mean `writes`?"),
        (
            "\ncommitlog_volume = { type = \"gp3\", size_gib = 100 }",
            "",
            "volume = \"commitlog\": a has none, its commit log is on the data volume",
        ),
        ("kind = \"disk-error\"", "kind = \"node-pause\"", "volume has no effect on node-pause"),
    ];
    let cases = slow.map(|case| (SLOW, case)).into_iter().chain(errors.map(|case| (ERRORS, case)));
    for (fault, (from, to, said)) in cases {
        let text = served(fault);
        assert!(text.contains(from), "{from} in\n{text}");
        let mistakes = to_run(&text.replacen(from, to, 1), Provider::Local).unwrap_err();
        assert!(mistakes.contains(said), "{to:?} is reported as\n{mistakes}\nwithout {said:?}");
        assert!(mistakes.contains("x.toml:"), "no place in {mistakes}");
    }
}

#[test]
fn only_this_machine_answers_for_its_volumes() {
    let hosts = "\n[provider.hosts]\ndatabase = [\"a\"]\nclient = [\"d\"]\n";
    let text = format!("{}{hosts}", served(SLOW));
    let said = to_run(&text, Provider::Hosts).unwrap_err();
    assert!(said.contains("disk-slow: iopslab does not answer for the disks of these machines"), "{said}");
    let said = to_run(&served(SLOW), Provider::Aws).unwrap_err();
    assert!(said.contains("disk-slow: iopslab does not answer for the disks"), "{said}");
    let said = to_run(&served(SLOW), Provider::Simulated).unwrap_err();
    assert!(said.contains("a simulation has no node to take away"), "{said}");
    let existing = format!("{GOOD}\n[target]\nhosts = [\"db:9042\"]\n{SLOW}");
    let said = to_run(&existing, Provider::Local).unwrap_err();
    assert!(said.contains("its nodes are not iopslab's to stop"), "{said}");
}

#[test]
fn a_disk_that_fails_does_not_take_the_only_replica_away() {
    let experiment = to_run(&served(SLOW), Provider::Local).unwrap();
    let notes = static_notes(catalog::Catalog::built_in(), &experiment, Some(Provider::Local), None);
    assert!(notes.iter().all(|n| !n.rule.starts_with("fault_")), "{notes:?}");
}
