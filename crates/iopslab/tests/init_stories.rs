//! Stories of `iopslab init`: from a few flags to a file that can be planned and run.

use crate::support::{Laboratory, Said};

const TODAY: [&str; 2] = ["--current", "r6i.2xlarge+gp3:500GiB"];
const CANDIDATE: [&str; 2] = ["--candidate", "r6i.2xlarge+gp3:500GiB:12000:300"];

fn init(lab: &Laboratory, code: i32, more: &[&str]) -> Said {
    lab.exits(code, &[&["init"][..], &TODAY, &CANDIDATE, more].concat())
}

#[test]
fn what_init_writes_can_be_planned_and_run() {
    let lab = Laboratory::new();
    let sets: [&[&str]; 8] = [
        &[],
        &["--candidate", "i4i.2xlarge", "--demand", "4000", "--rate", "5000"],
        &["--read-share", "95%", "--data", "2TB", "--in-flight", "200"],
        &["--nodes", "3", "--rf", "3", "--consistency", "QUORUM", "--rate", "9000"],
        &["--question", "Is \"fast\" worth it?", "--read-share", "1", "--data", "20GB"],
        &["--candidate", "i3.2xlarge", "--candidate", "r5.4xlarge+io1:500GiB:16000+gp2:100GiB"],
        &["--database", "postgresql", "--candidate", "i4i.2xlarge", "--data", "2TB", "--in-flight", "900"],
        &["--database", "postgresql", "--rate", "5000", "--p99", "10", "--read-share", "95%", "--data", "20GB"],
    ];
    for (n, flags) in sets.iter().enumerate() {
        let file = format!("own-{n}.toml");
        let said = init(&lab, 0, &[*flags, &["--out", file.as_str()]].concat()).stdout;
        assert!(said.contains(&format!("next: iopslab plan {file}")), "{said}");
        let plan = lab.exits(0, &["plan", &file, "--format", "json"]).json();
        assert_eq!(plan["plan"]["experiment"], format!("own-{n}"));
        let database = if flags.contains(&"postgresql") { "postgresql" } else { "cassandra" };
        // What costs nothing is a configuration of its own.
        let free = usize::from(database == "postgresql");
        let named = 2 + free + flags.iter().filter(|f| **f == "--candidate").count();
        assert_eq!(plan["plan"]["configurations"].as_array().unwrap().len(), named);
        assert_eq!(plan["setups"].as_array().unwrap().len(), named);
        assert!(plan["plan"]["target"]["database"][database].is_object(), "{flags:?}: {plan}");
        for note in plan["notes"].as_array().unwrap() {
            assert_ne!(note["rule"], "key_without_effect", "{flags:?}: {note}");
        }
    }
    // To its end, where no machine is needed.
    let text = std::fs::read_to_string(lab.path().join("own-1.toml")).unwrap();
    lab.write("own-1.toml", &format!("{text}\n[provider.simulated]\nrun_noise = 0.02\n"));
    lab.exits(0, &["run", "own-1.toml", "--provider", "simulated"]);
    // A demand decides it, of which the model of `next` says nothing: which run it needs is said instead.
    let next = lab.exits(3, &["--format", "json", "next"]).json();
    let sentence = next["sentences"][0].as_str().unwrap();
    assert!(sentence.contains("Proposals need a run with a closed loop ([load] concurrency)"), "{sentence}");
}

#[test]
fn a_dash_prints_and_a_file_is_replaced_only_by_force() {
    let lab = Laboratory::new();
    let text = init(&lab, 0, &["--out", "-"]).stdout;
    assert!(text.starts_with("#:schema ") && text.contains("[[configuration]]"), "{text}");
    assert_eq!(std::fs::read_dir(lab.path()).unwrap().count(), 0, "nothing is written");

    lab.write("mine.toml", "mine");
    let refused = init(&lab, 2, &["--out", "mine.toml"]).stderr;
    assert!(refused.contains("mine.toml is there already"), "{refused}");
    assert_eq!(std::fs::read_to_string(lab.path().join("mine.toml")).unwrap(), "mine");
    init(&lab, 0, &["--out", "mine.toml", "--force"]);
    assert!(std::fs::read_to_string(lab.path().join("mine.toml")).unwrap().contains("name = \"mine\""));
}

#[test]
fn what_cannot_be_measured_is_refused_and_nothing_is_written() {
    let lab = Laboratory::new();
    for (flags, reason) in [
        (&["--candidate", "r6i.2xlrage"][..], "unknown instance type `r6i.2xlrage`"),
        (&["--candidate", "r6i.2xlarge"], "the catalog has no local disks of `r6i.2xlarge`"),
        (&["--candidate", "i4i.2xlarge*3"], "--nodes 3 is for all configurations"),
        (&["--candidate", "r6i.2xlarge+gp2:9GiB+gp2:9GiB+gp2:9GiB"], "a data volume and a commit-log volume"),
        (&["--candidate", "r6i.2xlarge+gp3:500GiB:99000"], "99000"),
    ] {
        let stderr = init(&lab, 2, flags).stderr;
        assert!(stderr.contains(reason), "{flags:?}: {stderr}");
    }
    for (flags, reasons) in [
        (&["--p99", "10"][..], ["--p99 10 without --rate", "for example --rate 5000 --p99 10"]),
        (&["--p99", "10", "--in-flight", "64"], ["--p99 10 without --rate", "requests in flight alone"]),
        (&["--database", "mongodb"], ["mongodb", "cassandra, postgresql"]),
        (&["--database", "postgresql", "--in-flight", "1000"], ["concurrency", "900"]),
        (&["--database", "postgresql", "--nodes", "3"], ["nodes = 3", "iopslab starts PostgreSQL as one node"]),
        (&["--database", "postgresql", "--consistency", "one"], ["consistency", "PostgreSQL has nothing of the kind"]),
        (&["--rf", "3"], ["replication_factor = 3 is not possible with one node", "or state more `nodes`"]),
        (&["--nodes", "2", "--consistency", "three"], ["consistency `three` waits for 3 replicas", "keeps 2"]),
        (&["--consistency", "quorums"], ["`quorums` is no consistency level", "quorum"]),
    ] {
        let stderr = init(&lab, 2, flags).stderr;
        for reason in reasons {
            assert!(stderr.contains(reason), "{flags:?}: {stderr}");
        }
    }
    // Nobody to ask.
    let stderr = lab.exits(2, &["init"]).stderr;
    assert!(stderr.contains("--current and at least one --candidate are missing"), "{stderr}");
    assert_eq!(std::fs::read_dir(lab.path()).unwrap().count(), 0);
}

/// What is written by default may be of no use to `iopslab next`, and the flag that helps is named.
#[test]
fn what_iopslab_next_would_need_is_said_before_the_run() {
    let lab = Laboratory::new();
    let (closed, sizes) = ("--in-flight instead of --rate", "a --candidate of another instance size");
    let cases: [(&[&str], &[&str]); 5] = [
        (&[], &[sizes]),
        (&["--demand", "5000"], &[closed, sizes]),
        (&["--candidate", "r6i.4xlarge+gp3:500GiB", "--rate", "5000"], &[closed]),
        (&["--candidate", "r6i.4xlarge+gp3:500GiB"], &[]),
        (&["--database", "postgresql"], &[]),
    ];
    for (flags, needed) in cases {
        let stderr = init(&lab, 0, &[flags, &["--out", "-"]].concat()).stderr;
        assert_eq!(stderr.contains("`iopslab next`"), !needed.is_empty(), "{flags:?}: {stderr}");
        for need in [closed, sizes] {
            assert_eq!(stderr.contains(need), needed.contains(&need), "{flags:?}: {stderr}");
        }
    }
}

/// On a machine that cannot carry full scale a bound on latency is judged in a model whose queues take longer: the file
/// has it, and the terminal says what the model makes of it.
#[test]
fn a_demand_and_a_bound_on_latency_are_in_force_and_a_model_is_named() {
    let lab = Laboratory::new();
    let planned = |file: &str| lab.exits(0, &["plan", file, "--format", "json"]).json();
    let demand = init(&lab, 0, &["--demand", "5000", "--out", "demand.toml"]).stderr;
    assert!(demand.contains("note: one node is measured"), "{demand}");
    let cluster = init(&lab, 0, &["--demand", "5000", "--nodes", "3", "--out", "cluster.toml"]).stderr;
    assert!(!cluster.contains("one node is measured"), "{cluster}");
    let placement = &planned("cluster.toml")["setups"][0]["placement"];
    assert_eq!((&placement["nodes"], &placement["replication_factor"]), (&3.into(), &3.into()));
    let objective = &planned("demand.toml")["plan"]["objective"];
    assert_eq!((&objective["throughput"], &objective["headroom"]), (&5000.0.into(), &0.3.into()));

    let both = [
        ("large", "r6i.32xlarge+gp3:500GiB", "r6i.32xlarge+gp3:500GiB:12000:300"),
        ("small", "m3.medium+gp2:500GiB", "m3.medium+gp2:1000GiB"),
    ];
    for (name, current, candidate) in both {
        let file = format!("{name}.toml");
        let flags =
            ["init", "--current", current, "--candidate", candidate, "--rate", "500", "--p99", "10", "--out", &file];
        let stderr = lab.exits(0, &flags).stderr;
        let plan = planned(&file);
        let scaled = plan["plan"]["place"]["emulated"]["model"]["scale"].as_f64().unwrap() > 1.0;
        let bounds = plan["plan"]["objective"]["latency"].as_array().unwrap();
        // One vCPU fits any machine that builds this.
        assert_eq!((scaled, bounds.len()), (name == "large", 1), "{plan}");
        assert_eq!(stderr.contains("note: p99_ms = 10 is judged in a 1:"), scaled, "{stderr}");
    }
}
