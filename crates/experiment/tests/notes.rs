//! What a plan says before anything runs.

use crate::story::{GOOD, accepted, notes, with};
use catalog::Catalog;
use experiment::{Note, Provider, static_notes};

/// The sound file with these lines in `[load]`.
fn loaded(lines: &str) -> String {
    format!("{GOOD}{lines}\n")
}

fn note(text: &str, rule: &str, machine_cpus: f64) -> Option<Note> {
    let all = static_notes(Catalog::built_in(), &accepted(text), None, Some(machine_cpus));
    all.into_iter().find(|note| note.rule == rule)
}

#[test]
fn trials_that_cannot_be_judged_are_reported_with_the_least_that_can() {
    for (duration_s, reported) in [("10", true), ("39.5", true), ("40", false), ("60", false)] {
        let text = loaded(&format!("duration_s = {duration_s}"));
        let found = note(&text, "trials_too_short", 64.0);
        assert_eq!(found.is_some(), reported, "{duration_s}: {found:?}");
    }
    let short = note(&loaded("duration_s = 10"), "trials_too_short", 64.0).unwrap();
    assert_eq!(short.numbers["needed_s"], stats::JUDGED_FROM as f64);
    assert_eq!(
        short.to_string(),
        "note: trials of 10 s are too short to distinguish a steady state from a passing one, which takes at least 40 \
         s. Set [load] duration_s = 60; shorter trials count all the same, and the report doubts them"
    );
    assert_eq!(note(GOOD, "trials_too_short", 64.0), None, "the default is long enough");
    assert_eq!(note(GOOD, "own_data_open", 64.0), None, "records are generated");
}

/// PostgreSQL writes at a checkpoint what has changed; a trial begins with one, and the next comes after five minutes
/// where nothing is set.
#[test]
fn trials_without_a_checkpoint_are_reported_where_something_is_written() {
    let of = |target: &str, settings: &str, lines: &str, mix: &str| {
        let text = loaded(&format!("warmup_s = 20\n{lines}")) + target;
        let text = text.replacen("size_gib = 320 }", &format!("size_gib = 320 }}\n{settings}"), 1);
        note(&text.replacen("read = 0.8\nupdate = 0.2", mix, 1), "no_checkpoint", 64.0)
    };
    let postgresql = "\n[target]\ndatabase = \"postgresql\"\n";
    let writes = "read = 0.8\nupdate = 0.2";
    let every = |interval: &str| format!("settings = {{ postgresql = {{ checkpoint_timeout = \"{interval}\" }} }}");
    for (settings, lines, reported) in [
        (String::new(), "duration_s = 60", true),
        (String::new(), "duration_s = 279", true),
        (String::new(), "duration_s = 280", false),
        (every("30s"), "duration_s = 60", false),
        (every("80s"), "duration_s = 60", false),
        (every("81s"), "duration_s = 60", true),
    ] {
        let found = of(postgresql, &settings, lines, writes);
        assert_eq!(found.is_some(), reported, "{settings} {lines}: {found:?}");
    }
    let found = of(postgresql, "", "duration_s = 60", writes).unwrap();
    assert_eq!((found.numbers["interval_s"], found.numbers["trial_s"]), (300.0, 80.0));
    let said = found.to_string();
    assert!(said.starts_with("note: a: a trial begins with a checkpoint and is over after 80 s"), "{said}");
    assert!(said.contains("or once about 539 MiB are logged"), "{said}");
    assert!(said.contains("Set settings.postgresql checkpoint_timeout to 80 s or less (at least 30 s), or"), "{said}");
    // None can be so frequent.
    let said = of(postgresql, "", "duration_s = 6", writes).unwrap().to_string();
    let longer = "set [load] duration_s = 30 or more and settings.postgresql checkpoint_timeout to 30 s, or [load]";
    assert!(said.contains(longer) && !said.contains("or less"), "{said}");
    assert_eq!(of(postgresql, "", "duration_s = 60", "read = 1.0"), None, "nothing is written");
    assert_eq!(of("", "", "duration_s = 60", writes), None, "Cassandra has none");
    // Each has its own interval.
    let second = "[[configuration]]\nname = \"b\"\ninstance = \"r4.4xlarge\"\ndata_volume = { type = \"gp2\", \
                  size_gib = 320 }\nsettings = { postgresql = { checkpoint_timeout = \"90s\" } }\n\n[[workload]]";
    let both = loaded("warmup_s = 20\nduration_s = 60").replacen("[[workload]]", second, 1) + postgresql;
    let reported = notes(&accepted(&both), "no_checkpoint", None);
    assert!(reported[0].starts_with("note: a: ") && reported[0].contains("comes after 300 s"), "{reported:?}");
    assert!(reported[1].starts_with("note: b: ") && reported[1].contains("comes after 90 s"), "{reported:?}");
}

/// Its settings are somebody else's, and so is its machine.
#[test]
fn what_nobody_knows_of_an_existing_server_is_reported() {
    let target = "\n[target]\ndatabase = \"postgresql\"\nhosts = [\"db:5432\"]\ndbname = \"app\"\nschema = \"lab\"\n\
                  user = \"bench\"\n";
    let of = |duration_s: u32| loaded(&format!("warmup_s = 20\nduration_s = {duration_s}")) + target;
    let found = note(&of(60), "no_checkpoint", 64.0).unwrap();
    assert_eq!((found.numbers["interval_s"], found.numbers["trial_s"]), (300.0, 80.0));
    let said = found.to_string();
    assert!(said.contains("by default of PostgreSQL every 300 s") && said.contains("checkpoint_timeout"), "{said}");
    assert_eq!(note(&of(280), "no_checkpoint", 64.0), None);
    let reads = of(60).replacen("read = 0.8\nupdate = 0.2", "read = 1.0", 1);
    assert_eq!(note(&reads, "no_checkpoint", 64.0), None, "nothing is written");
    assert!(note(&of(60), "server_not_watched", 64.0).is_some());
    let connections = note(&of(60), "connections_needed", 64.0).unwrap().to_string();
    assert!(
        connections.contains("concurrency = 10 takes 10") && connections.contains("max_connections"),
        "{connections}"
    );
    let ours = loaded("") + "\n[target]\ndatabase = \"postgresql\"\n";
    for rule in ["server_not_watched", "connections_needed"] {
        assert_eq!(note(&ours, rule, 64.0), None, "iopslab starts it");
    }
}

#[test]
fn repetitions_that_cannot_be_tested_are_reported() {
    for (lines, reported) in [
        ("repetitions = 1", Some("repetitions = 1: ")),
        ("repetitions = 2", Some("repetitions = 2: ")),
        ("repetitions = 3", None),
        ("", None),
        ("repetitions = \"auto\"", None),
        ("repetitions = \"auto\"\nmax_repetitions = 2", Some("max_repetitions = 2: ")),
    ] {
        let found = note(&loaded(lines), "repetitions_too_few", 64.0);
        match reported {
            None => assert_eq!(found, None, "{lines}"),
            Some(reported) => {
                let found = found.unwrap_or_else(|| panic!("nothing is reported of {lines}"));
                assert!(found.message.to_string().starts_with(reported), "{found}");
                assert_eq!(found.numbers["needed"], stats::REPETITIONS_MIN as f64);
            }
        }
    }
}

/// One client carries 20,000 operations/s at the least.
#[test]
fn a_rate_that_takes_more_clients_is_reported_with_their_number() {
    for (lines, reported) in [
        ("rate = [19_000]", None),
        ("rate = [21_000]", Some(2.0)),
        ("rate = [5_000, 90_000]", Some(5.0)),
        ("clients = 5\nrate = [5_000, 90_000]", None),
        ("rate = [90_000]\n[provider.local]\nscale = 16", None),
    ] {
        let found = note(&loaded(lines), "clients_too_few", 64.0);
        assert_eq!(found.map(|note| note.numbers["clients_needed"]), reported, "{lines}");
    }
}

/// An r4.4xlarge has 16 vCPUs.
#[test]
fn cpus_that_this_machine_lacks_are_reported_with_the_scale_that_fits() {
    for (scale, machine_cpus, least) in [(1, 2.0, Some(8.0)), (4, 2.0, Some(8.0)), (8, 2.0, None), (1, 16.0, None)] {
        let text = format!("{GOOD}[provider.local]\nscale = {scale}\n");
        let found = note(&text, "cpus_above_machine", machine_cpus);
        let said = found.as_ref().map(|note| note.numbers["scale_min"]);
        assert_eq!(said, least, "1:{scale} on {machine_cpus}: {found:?}");
    }
    let reported = note(GOOD, "cpus_above_machine", 3.0).unwrap();
    assert_eq!(
        reported.to_string(),
        "note: CPUs of the database at scale 1:1: a 16; this machine has 3, so that iopslab run refuses this here. Set \
         [provider.local] scale to 6 or more, or run it on a machine with 16 CPUs or more"
    );
}

/// A simulation has one time of a request for every kind of volume, and says so where that matters.
#[test]
fn volumes_of_several_kinds_are_said_to_have_one_latency_in_a_simulation() {
    let of = |kind: &str| {
        let other = format!("[[configuration]]\nname = \"b\"\ninstance = \"r4.4xlarge\"\ndata_volume = {kind}\n");
        with("[[workload]]", &format!("{other}\n[[workload]]"))
    };
    let found = |text: String| note(&text, "one_latency", 64.0).map(|note| note.to_string());
    let (same, unlike) = ("{ type = \"gp2\", size_gib = 640 }", "{ type = \"io1\", size_gib = 320, iops = 960 }");
    let truth = "[provider.simulated]\ndevice_us = 400\n";
    assert_eq!([found(of(unlike)), found(of(same) + truth)], [None, None]);
    let said = found(of(unlike) + truth).unwrap();
    assert!(said.contains("a request to gp2 and io1 takes device_us = 400"), "{said}");
}

/// A page cache is known where iopslab starts the database; elsewhere the memory that is stated.
#[test]
fn a_data_set_that_memory_holds_is_reported_of_a_cluster_of_somebody_else_too() {
    let theirs = with("[dataset]", "[target]\nhosts = [\"h:9042\"]\nkeyspace = \"lab\"\n[dataset]");
    for (text, what) in [(GOOD, "fits the page cache"), (theirs.as_str(), "fits the memory that is stated")] {
        let found = note(text, "data_fits_page_cache", 64.0).unwrap().to_string();
        assert!(found.contains(what) && found.contains("no test of storage"), "{found}");
        let large = text.replace("records = 1000", "records = 200_000_000");
        assert_eq!(note(&large, "data_fits_page_cache", 64.0), None, "200 GB beside 122 GiB");
    }
}

/// A chunk of Cassandra 5 has 16 KiB: 125 MiB/s are 8,000 of them.
#[test]
fn iops_that_reads_of_the_expected_size_cannot_reach_are_reported_with_the_price_of_more_throughput() {
    let gp3 = |more: &str| with("type = \"gp2\", size_gib = 320", &format!("type = \"gp3\", size_gib = 500{more}"));
    let found = |text: &str| note(text, "iops_above_throughput", 64.0);
    for quiet in ["", ", iops = 8000", ", iops = 16000, mib_per_s = 250"] {
        assert_eq!(found(&gp3(quiet)), None, "{quiet}");
    }
    let half = found(&gp3(", iops = 16000")).unwrap();
    assert_eq!(
        half.numbers.iter().map(|(name, number)| (*name, number.round())).collect::<Vec<_>>(),
        [
            ("bought_iops", 16_000.0),
            ("more_usd_per_month", 5.0),
            ("needed_mib_per_s", 250.0),
            ("reachable_iops", 8000.0)
        ]
    );
    assert!(half.message.to_string().contains("16000 IOPS at 125 MiB/s of gp3 500 GiB"), "{half}");
    assert!(half.message.to_string().contains("reads of 16 KiB reach 8000 IOPS; 250 MiB/s cost "), "{half}");
    // A volume given by its limits has no IOPS that were bought apart.
    let disk = with("type = \"gp2\", size_gib = 320", "iops = 16000, mib_per_s = 125, size_gib = 500");
    assert_eq!(found(&disk), None);
    // Reads of 4 KiB reach them all, and writes are no reads.
    let small = gp3(", iops = 16000").replace("records = 1000", "records = 1000\ncompressibility = 0.75");
    assert_eq!(found(&small), None);
    let writes = gp3(", iops = 16000").replace("read = 0.8\nupdate = 0.2", "update = 1.0");
    assert_eq!(found(&writes), None);
}

/// A simulated run needs no CPUs, and a run asks its own host.
#[test]
fn cpus_are_reported_only_where_this_machine_would_be_used() {
    let truth = format!("{GOOD}[provider.simulated]\n");
    assert_eq!(note(&truth, "cpus_above_machine", 2.0), None);
    let run = accepted(GOOD);
    assert_eq!(notes(&run, "cpus_above_machine", Some(Provider::Local)), Vec::<String>::new());
}

/// 320 GiB of gp2 burst to 3,000 requests a second: at 1:8 375, or 0.056 CPUs.
#[test]
fn served_volumes_are_reported_of_where_the_database_may_use_every_cpu() {
    for (volumes, scale, machine_cpus, reported) in [
        ("served", 8, 2.0, true),
        ("served", 8, 2.05, true),
        ("served", 8, 2.06, false),
        ("throttled", 8, 2.0, false),
        // Refused whatever the volumes are.
        ("served", 4, 2.0, false),
    ] {
        let text = format!("{GOOD}[provider.local]\nscale = {scale}\nvolumes = \"{volumes}\"\n");
        let found = note(&text, "cpus_beside_volume_server", machine_cpus);
        let cpus = found.as_ref().map(|note| note.numbers["server_cpus"]);
        let expected = reported.then_some(3_000.0 / 8.0 * 150e-6);
        assert_eq!(cpus, expected, "{volumes} 1:{scale} on {machine_cpus}: {found:?}");
    }
}

#[test]
fn what_is_true_of_several_configurations_is_said_once_with_their_names() {
    let another = |name: &str| {
        let volume = "data_volume = { type = \"gp2\", size_gib = 320 }";
        format!("[[configuration]]\nname = \"{name}\"\ninstance = \"r4.4xlarge\"\n{volume}\n")
    };
    let with = |names: &[&str]| {
        let more: Vec<String> = names.iter().map(|name| another(name)).collect();
        let text = GOOD.replacen("[[workload]]", &format!("{}[[workload]]", more.concat()), 1);
        notes(&accepted(&text), "commitlog_on_data_volume", None)
    };
    let said = |who: &str| {
        format!("note: {who}: the commit log shares the data volume. Give commitlog_volume to separate them")
    };
    assert_eq!(with(&[]), [said("a")]);
    assert_eq!(with(&["b", "c"]), [said("a, b and c")]);
    assert_eq!(with(&["b", "c", "d", "e"]), [said("a, b and 3 others")]);
    // Whoever reads JSON has them all.
    let text = GOOD.replacen("[[workload]]", &format!("{}[[workload]]", ["b", "c", "d"].map(another).concat()), 1);
    let note = serde_json::to_value(note(&text, "commitlog_on_data_volume", 64.0).unwrap()).unwrap();
    assert_eq!(note["message"], "a, b and 2 others: the commit log shares the data volume");
    assert_eq!(note["about"], serde_json::json!(["a", "b", "c", "d"]));
}

/// What is fast because a crash may cost data is said before a run.
#[test]
fn a_setting_that_risks_data_at_a_crash_is_no_free_one() {
    for (set, said) in [
        ("synchronous_commit = \"off\"", "note: a: A crash may lose writes that were acknowledged"),
        ("full_page_writes = false", "note: a: A crash may leave pages half written"),
        ("full_page_writes = \"off\"", "note: a: A crash may leave pages half written"),
        ("synchronous_commit = \"local\"", ""),
        ("full_page_writes = true", ""),
    ] {
        let settings = format!("size_gib = 320 }}\nsettings = {{ postgresql = {{ {set} }} }}");
        let text = with("size_gib = 320 }", &settings) + "\n[target]\ndatabase = \"postgresql\"\n";
        let found = notes(&accepted(&text), "risk_at_a_crash", None);
        assert_eq!(found.len(), usize::from(!said.is_empty()), "{set}: {found:?}");
        assert!(found.iter().all(|note| note.starts_with(said)), "{set}: {found:?}");
    }
}

/// r6i.xlarge lets 6,000 IOPS and 156 MB/s through at all times, and 40,000 and 1,250 for a while.
#[test]
fn what_is_bought_above_an_instance_is_reached_for_a_while_where_it_bursts() {
    let on = |volume: &str, more: &str| {
        let text = format!(
            "name = \"x\"\n[dataset]\nrecords = 1_000_000\n[[configuration]]\nname = \"a\"\ninstance = \
             \"r6i.xlarge\"\ndata_volume = {volume}\n[[workload]]\nname = \"w\"\nread = 1.0\n[load]\n\
             concurrency = [8]\n{more}"
        );
        notes(&accepted(&text), "volume_above_instance", None)
    };
    let found = on("{ type = \"gp3\", size_gib = 500, iops = 12000 }", "");
    assert!(
        found[0].contains(
            "6000 reachable sustained through r6i.xlarge, and 12000 IOPS for at least 30 minutes in 24 \
             hours: 30.00 USD a month buy nothing that lasts"
        ),
        "{found:?}"
    );
    // 156 MB/s are 149 MiB/s: too little money for another choice, and not what was stated.
    let found = on("{ type = \"gp3\", size_gib = 500, mib_per_s = 151 }", "");
    assert!(
        found[0].contains("151 MiB/s of gp3 500 GiB")
            && found[0].contains("149 reachable sustained through r6i.xlarge"),
        "{found:?}"
    );
    let little = "It costs less than 1 USD a month, but what is stated is not what is measured";
    assert!(found[0].ends_with(little) && !found[0].contains("buy"), "{found:?}");
    // Of 240 USD a month.
    let found = on("{ type = \"gp3\", size_gib = 500, iops = 6300 }", "");
    let little = "It costs 1.50 USD a month, less than 1 % of the price, but what is stated is not what is measured";
    assert!(found[0].ends_with(little), "{found:?}");
    assert_eq!(on("{ type = \"gp3\", size_gib = 500, mib_per_s = 149 }", ""), Vec::<String>::new());
    // 12,000 IOPS come with 400 GiB.
    let found = on("{ type = \"rds-gp3\", size_gib = 400 }", "[target]\ndatabase = \"postgresql\"\n");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("are included in its price; r6i.xlarge lets 6000 through, and 12000 for"), "{found:?}");
    assert!(!found[0].contains("buys nothing") && !found[0].contains("slower volume"), "{found:?}");
}
