//! `[[fault]]`: nodes taken away in every trial, checked at their places.

use crate::story::{GOOD, accepted, to_run};
use experiment::{NodeFaultKind, Provider, static_notes};

/// Three nodes, measured for 60 s.
fn cluster(faults: &str) -> String {
    format!("{GOOD}\n{faults}\n").replace("size_gib = 320 }", "size_gib = 320 }\nnodes = 3")
}

const KILL: &str = "[[fault]]\nkind = \"node-kill\"\nnode = 2\nat_s = 20\nfor_s = 10";

#[test]
fn faults_are_planned_in_order_of_time() {
    let text = cluster(&format!("[[fault]]\nkind = \"node-pause\"\nat_s = 35.5\n{KILL}"));
    let faults = to_run(&text, Provider::Local).unwrap().faults;
    assert_eq!(
        faults.iter().map(experiment::NodeFault::label).collect::<Vec<_>>(),
        ["node-kill of node 2 at 20 s for 10 s", "node-pause of node 1 at 35.5 s to the end"]
    );
    assert_eq!(faults[0].until_s(), Some(30.0));
    assert_eq!(faults[1].kind(), NodeFaultKind::NodePause);
}

#[test]
fn what_cannot_be_done_is_refused_at_its_place() {
    let cases = [
        ("kind = \"node-kill\"", "kind = \"node-kil\"", "unknown kind of fault `node-kil` (did you mean `node-kill`?"),
        ("node = 2", "node = 4", "node = 4: a has 3 nodes"),
        ("at_s = 20", "at_s = 4", "at_s cannot be 4"),
        ("at_s = 20", "at_s = 60", "at_s = 60 is not within the measurement of 60 s"),
        ("for_s = 10", "for_s = 40", "for_s = 40: 60 s is not within the measurement of 60 s"),
        ("for_s = 10", "for_s = 0", "for_s cannot be 0"),
        ("for_s = 10", "seconds = 10", "unknown key `seconds`"),
        (
            "for_s = 10",
            "[[fault]]\nkind = \"node-stop\"\nat_s = 30",
            "node-stop of node 1 at 30 s to the end begins before node-kill of node 2 at 20 s to the end is over",
        ),
        ("for_s = 10", "for_s = 10\n[[fault]]\nkind = \"node-stop\"\nat_s = 30", "begins before"),
        ("records = 1000", "records = 1000\nfield_length = 35", "field_length = 35 with [[fault]]"),
        ("[load]", "[load]\noperations = 1000", "operations with [[fault]]"),
        ("nodes = 3", "", "node = 2: a has one node"),
        ("node-kill", "host-cut", "host-cut: nodes of one machine share its network"),
    ];
    for (from, to, said) in cases {
        let text = cluster(KILL);
        assert!(text.contains(from), "{from} in\n{text}");
        let mistakes = to_run(&text.replacen(from, to, 1), Provider::Local).unwrap_err();
        assert!(mistakes.contains(said), "{to:?} is reported as\n{mistakes}\nwithout {said:?}");
    }
    // Around the bounds it is accepted.
    for (from, to) in [
        ("at_s = 20", "at_s = 5"),
        ("for_s = 10", "for_s = 39.9"),
        ("records = 1000", "records = 1000\nfield_length = 36"),
    ] {
        let text = cluster(KILL).replacen(from, to, 1);
        assert_eq!(to_run(&text, Provider::Local).unwrap().faults.len(), 1, "{to}");
    }
    let existing = format!("{GOOD}\n[target]\nhosts = [\"db:9042\"]\n{}", KILL.replace("node = 2\n", ""));
    let said = to_run(&existing, Provider::Local).unwrap_err();
    assert!(said.contains("its nodes are not iopslab's to stop"), "{said}");
    let said = to_run(&cluster(KILL), Provider::Simulated).unwrap_err();
    assert!(said.contains("a simulation has no node to take away"), "{said}");
}

#[test]
fn a_plan_says_what_a_reader_of_faults_should_know() {
    let codes = |text: &str| -> Vec<String> {
        let notes = static_notes(catalog::Catalog::built_in(), &accepted(text), None, None);
        let about = |note: &experiment::Note| note.rule.starts_with("fault_") || note.rule == "cannot_be_run";
        notes.iter().filter(|n| about(n)).map(|n| n.rule.to_string()).collect()
    };
    assert_eq!(codes(&cluster(KILL)), Vec::<String>::new());
    // Back 29 s before the end: a database may need 30 to start. A paused one does not start.
    let late = cluster(KILL).replace("for_s = 10", "for_s = 11");
    assert_eq!(codes(&late), ["fault_near_end"]);
    assert_eq!(codes(&late.replace("node-kill", "node-pause")), Vec::<String>::new());
    let alone = cluster(KILL).replace("nodes = 3", "nodes = 3\nreplication_factor = 1");
    assert_eq!(codes(&alone), ["fault_without_replica"]);
    // A note where it is only planned, refused where it is run; fine where hosts are apart.
    let cut = cluster(KILL).replace("node-kill", "host-cut");
    assert_eq!(codes(&cut), ["cannot_be_run"]);
    let hosts = "\n[provider.hosts]\ndatabase = [\"a\", \"b\", \"c\"]\nclient = [\"d\"]\n";
    assert_eq!(codes(&format!("{cut}{hosts}")), Vec::<String>::new());
    assert_eq!(to_run(&format!("{cut}{hosts}"), Provider::Hosts).unwrap().faults.len(), 1);
}

#[test]
fn a_compaction_needs_no_other_node_and_ends_when_it_is_done() {
    let one_node = |faults: &str| format!("{GOOD}\n{faults}\n");
    let compaction = "[[fault]]\nkind = \"compaction\"\nat_s = 20";
    let experiment = to_run(&one_node(compaction), Provider::Local).unwrap();
    assert_eq!(experiment.faults[0].label(), "compaction on node 1 at 20 s");
    assert_eq!(experiment.faults[0].until_s(), None);
    // The node stays: one replica is enough.
    let notes = static_notes(catalog::Catalog::built_in(), &experiment, None, None);
    assert!(notes.iter().all(|note| note.rule != "fault_without_replica"), "{notes:?}");
    let refused = [
        (format!("{compaction}\nfor_s = 5"), "for_s has no effect on compaction"),
        (format!("{compaction}\ntimes = 5"), "times has no effect on compaction"),
        (compaction.replace("20", "61"), "raise duration_s in [load]"),
        (
            format!("{compaction}\n[[fault]]\nkind = \"node-pause\"\nat_s = 50"),
            "begins before compaction on node 1 at 20 s is over",
        ),
    ];
    for (faults, words) in refused {
        let error = to_run(&one_node(&faults), Provider::Local).unwrap_err();
        assert!(error.contains(words), "{words}\n{error}");
    }
}
