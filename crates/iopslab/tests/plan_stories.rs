//! Stories of `iopslab plan`: what is known before hours are spent.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use serde_json::Value;
use support::{Exits, Laboratory, one_line};

const SIMULATED: &str = include_str!("../../../examples/simulated.toml");

/// RAID 0 of two volumes, small enough for any machine.
const RAID: &str = "name = \"raid\"\n[dataset]\nrecords = 1000\n\
                    [[configuration]]\nname = \"a\"\ninstance = { vcpus = 1, memory_gib = 2 }\nmemory_limit_gib = 2\n\
                    data_volume = { iops = 500, size_gib = 1, count = 2, layout = \"raid0\" }\n\
                    [[workload]]\nname = \"w\"\nread = 1.0\n[load]\nconcurrency = [1]\n[provider.local]\n\
                    heap_mib = 256\n";

fn simulated(duration_s: u32, repetitions: u32) -> String {
    let text = SIMULATED.replacen("duration_s = 120", &format!("duration_s = {duration_s}"), 1).replacen(
        "repetitions = 6",
        &format!("repetitions = {repetitions}"),
        1,
    );
    assert_ne!(text, SIMULATED);
    text
}

fn of_rule<'a>(list: &'a Value, rule: &str) -> Vec<&'a Value> {
    let all = list.as_array().unwrap().iter();
    all.filter(|one| one["rule"] == rule).collect()
}

/// It used to be found by every trial, and reported after the run alone.
#[test]
fn what_the_plan_says_of_short_trials_is_what_the_run_finds() {
    let lab = Laboratory::new();
    for (duration_s, short) in [(39, true), (120, false)] {
        lab.write("own.toml", &simulated(duration_s, 3));
        let plan = lab.exits(0, &["plan", "own.toml", "--format", "json"]).json();
        let notes = of_rule(&plan["notes"], "trials_too_short");
        // A directory of its own: both may begin in the same second.
        let out = format!("runs-{duration_s}");
        let run = ["run", "own.toml", "--provider", "simulated", "--format", "json", "--out", &out];
        let analysis = lab.exits(0, &run).json();
        // Seconds that resemble each other too much are found besides, and cannot be known before.
        let number = |of: &Value, name: &str| of["figures"][name].as_f64().unwrap();
        let found = of_rule(&analysis["findings"], "too_short_to_judge").into_iter();
        let found: Vec<_> = found.filter(|f| number(f, "measured_s") < number(f, "needed_s")).collect();
        assert_eq!((notes.is_empty(), found.is_empty()), (!short, !short), "{duration_s} s");
        for finding in found {
            assert_eq!(number(finding, "needed_s"), notes[0]["numbers"]["needed_s"].as_f64().unwrap());
        }
    }
}

#[test]
fn a_plan_warns_of_what_cannot_be_tested_and_of_what_this_machine_cannot_carry() {
    let lab = Laboratory::new();
    let (no_truth, _) = SIMULATED.split_once("[provider.simulated]").unwrap();
    let one = no_truth.replacen("repetitions = 6", "repetitions = 1", 1);
    // More CPUs than any machine of today.
    let large = one.replace("vcpus = 4,", "vcpus = 1000,");
    lab.write("own.toml", &large);
    let said = one_line(&lab.exits(0, &["plan", "own.toml"]).stdout);
    assert!(said.contains("note: repetitions = 1: figures without intervals"), "{said}");
    assert!(said.contains("note: CPUs of the database at scale 1:"), "{said}");
    assert!(said.contains("so that iopslab run refuses this here"), "{said}");
    let refused = lab.exits(2, &["run", "own.toml"]).stderr;
    assert!(refused.contains("raise provider.local.scale"), "{refused}");
    assert!(!refused.contains("Estimated time"), "a refusal shows no plan: {refused}");
    assert!(!lab.path().join("runs").exists());
}

/// It was found by the run alone.
#[test]
fn a_plan_warns_of_a_data_set_that_this_disk_has_no_room_for() {
    let lab = Laboratory::new();
    lab.write("own.toml", RAID);
    for (records, expected) in [("1000", 0), ("1_000_000_000_000", 1)] {
        let set = format!("dataset.records={records}");
        let plan = lab.exits(0, &["plan", "own.toml", "--format", "json", "--set", &set]).json();
        let notes = of_rule(&plan["notes"], "no_room");
        assert_eq!(notes.len(), expected, "{plan:#}");
        for note in notes {
            let number = |name: &str| note["numbers"][name].as_f64().unwrap();
            assert!(number("needed_bytes") > 1e15 && number("free_bytes") < 1e15, "{note:#}");
        }
    }
}

#[test]
fn the_price_of_a_cluster_in_several_zones_says_that_traffic_between_them_is_left_out() {
    let lab = Laboratory::new();
    let three = include_str!("../../../examples/three-nodes.toml");
    let said = |text: &str| {
        lab.write("own.toml", text);
        let said = one_line(&lab.exits(0, &["plan", "own.toml"]).stdout);
        assert!(said.contains("Money at full scale"), "{said}");
        said.contains("uplift 0 %, traffic between zones is not priced.")
    };
    assert!(said(three));
    let one_rack = three.replace("\nnodes = 3", "\nracks = 1\nnodes = 3");
    assert_ne!(one_rack, three);
    assert!(!said(&one_rack));
}

/// Hours for which a file's machines on AWS are planned.
fn hours_on_aws(lab: &Laboratory, file: &str) -> f64 {
    let document = lab.exits(0, &["plan", file, "--provider", "aws", "--format", "json"]).json();
    document["aws"]["hours"].as_f64().unwrap()
}

/// What a file's plan on AWS says, in one line.
fn said_on_aws(lab: &Laboratory, file: &str) -> String {
    one_line(&String::from_utf8_lossy(&lab.output(&["plan", file, "--provider", "aws"]).stdout))
}

#[test]
fn a_plan_on_aws_says_how_long_volumes_made_from_a_snapshot_are_read_and_counts_it() {
    let lab = Laboratory::new();
    let text = r#"
name = "x"
[dataset]
records = 1_000_000
[[configuration]]
name = "gp3"
instance = "m7i.4xlarge"
data_volume = { type = "gp3", size_gib = 500, mib_per_s = 250 }
[[workload]]
name = "w"
read = 1.0
[load]
concurrency = [8]
repetitions = 3
[provider.aws]
"#;
    lab.write("empty.toml", text);
    lab.write("own.toml", &format!("{text}snapshot = \"snap-0123456789abcdef0\"\n"));
    // 500 GiB at 250 MiB/s.
    let more = (hours_on_aws(&lab, "own.toml") - hours_on_aws(&lab, "empty.toml")) * 3_600.0;
    assert!((more - 2_048.0).abs() < 1.0, "{more}");
    let reported = said_on_aws(&lab, "own.toml");
    for words in [
        "data volumes are made from snap-0123456789abcdef0; each of their blocks is read before anything is measured",
        "blocks come from S3 first, at a rate that AWS does not state",
        "gp3: about 34m 08s or longer, 500 GiB at 250 MiB/s",
    ] {
        assert!(reported.contains(words), "no {words:?} in {reported}");
    }
    assert!(!said_on_aws(&lab, "empty.toml").contains("blocks"));
}

#[test]
fn a_plan_on_aws_says_which_configurations_share_a_volume_and_counts_the_hours_of_its_modifications() {
    let lab = Laboratory::new();
    let volume = |name: &str, more: &str| {
        format!(
            "[[configuration]]\nname = \"{name}\"\ninstance = \"m7i.4xlarge\"\n\
             data_volume = {{ type = \"gp3\", size_gib = 512{more} }}\n"
        )
    };
    let text = format!(
        "name = \"x\"\n[dataset]\nrecords = 1_000_000\n{}{}[[workload]]\nname = \"w\"\nread = 1.0\n\
         [load]\nconcurrency = [8]\nrepetitions = 4\n[provider.aws]\n",
        volume("low", ""),
        volume("high", ", iops = 6000, mib_per_s = 250"),
    );
    lab.write("apart.toml", &text);
    lab.write("own.toml", &format!("{text}pair_volumes = \"modify\"\n"));
    // Four times, three hours each. A data set is loaded once instead of twice on either.
    let more = hours_on_aws(&lab, "own.toml") - hours_on_aws(&lab, "apart.toml");
    assert!((more - 12.0).abs() < 0.1, "{more}");
    let reported = said_on_aws(&lab, "own.toml");
    for words in [
        "1 machine for databases, 1 for clients low, high are measured on the same machines.",
        "Their data volume of 512 GiB is modified 4 times (AWS: at most 4 in 24 hours), which takes about 12h 00m in \
         all by what AWS calls typical:",
        "low: gp3, 3000 IOPS, 125 MiB/s high: gp3, 6000 IOPS, 250 MiB/s",
    ] {
        assert!(reported.contains(words), "no {words:?} in {reported}");
    }
    assert!(said_on_aws(&lab, "apart.toml").contains("2 machines for databases"));
    // One repetition more, and AWS would not do it.
    lab.write("more.toml", &format!("{text}pair_volumes = \"modify\"\n").replace("repetitions = 4", "repetitions = 5"));
    let refused = lab.exits(2, &["plan", "more.toml", "--provider", "aws"]).stderr;
    assert!(one_line(&refused).contains("would be modified 5 times, 1 in each of 5 repetitions"), "{refused}");
}

#[test]
fn a_plan_says_how_many_volumes_hold_the_data_and_that_two_small_ones_cost_what_a_large_one_costs() {
    let lab = Laboratory::new();
    let two = include_str!("../../../examples/two-volumes.toml");
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
    lab.write("raid.toml", include_str!("plans/raid.toml"));
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

#[test]
fn a_plan_says_with_what_backlog_trials_begin_and_a_simulation_refuses_it() {
    let lab = Laboratory::new();
    lab.write("own.toml", include_str!("../../../examples/backlog.toml"));
    let said = one_line(&lab.exits(0, &["plan", "own.toml"]).stdout);
    for name in ["behind", "behind_lcs", "behind_ucs"] {
        let words = format!("Backlog of {name}: 8 SSTables of 18750 overwritten records beside its data set at rest");
        assert!(said.contains(&words), "{said}");
    }
    assert!(!said.contains("Backlog of rest"), "{said}");
    let run = lab.output(&["run", "own.toml", "--provider", "simulated"]);
    let refused = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success(), "{refused}");
    assert!(refused.contains("a simulation has no SSTables to compact"), "{refused}");
}

/// What a cluster keeps of each record was in its cost alone.
#[test]
fn a_plan_says_how_many_nodes_and_replicas_a_cluster_has() {
    let lab = Laboratory::new();
    lab.write("own.toml", include_str!("../../../examples/three-nodes.toml"));
    let said = lab.exits(0, &["plan", "own.toml"]).stdout;
    assert!(said.contains("3 nodes, 3 replicas") && said.contains("each node:"), "{said}");
    lab.write("own.toml", include_str!("../../../examples/quickstart.toml"));
    let said = lab.exits(0, &["plan", "own.toml"]).stdout;
    assert!(!said.contains("replica") && !said.contains("each node:"), "{said}");
}

/// The second product, up to where a machine is needed: what it has nothing for is refused, and what is planned is its
/// own.
#[test]
fn a_plan_of_postgresql_names_its_memory_and_refuses_what_is_cassandras() {
    let lab = Laboratory::new();
    let example = include_str!("../../../examples/postgres.toml");
    lab.write("own.toml", example);
    let said = lab.exits(0, &["plan", "own.toml"]).stdout;
    // A quarter of 32 GiB, divided by 16.
    assert!(said.contains("512 MiB") && said.contains("shared_buffers") && !said.contains(" heap"), "{said}");

    let refused = lab.exits(2, &["run", "own.toml", "--provider", "simulated"]).stderr;
    assert!(refused.contains("what is simulated is Apache Cassandra"), "{refused}");

    // What they take more is what the page cache has less, and it costs nothing.
    let unstated = example.replace("page_cache_mib = 128", "");
    let more = unstated.replace("wal_compression = \"pglz\"", "shared_buffers = \"16GB\"");
    lab.write("own.toml", &more);
    let planned = lab.exits(0, &["plan", "own.toml", "--format", "json"]).json();
    let of = |name: &str| {
        let mut all = planned["setups"].as_array().unwrap().iter();
        let setup = all.find(|setup| setup["configuration"] == name).unwrap();
        ["heap_bytes", "page_cache_budget_bytes", "memory_limit_bytes"].map(|key| setup[key].as_u64().unwrap())
    };
    let (plain, varied) = (of("gp3-3000"), of("gp3-3000_compressed-wal"));
    assert_eq!((varied[0], varied[2]), (2 * plain[0], plain[2]));
    assert_eq!(plain[1] - varied[1], plain[0]);

    // Before it costs anything.
    let on_aws = lab.exits(2, &["plan", "own.toml", "--provider", "aws"]).stderr;
    assert!(on_aws.contains("machines on AWS are made for Apache Cassandra alone so far"), "{on_aws}");
    // A checkpoint every 30 s falls into trials of 55 s; one every five minutes does not.
    let notes = |text: &str| {
        lab.write("own.toml", text);
        let plan = lab.exits(0, &["plan", "own.toml", "--format", "json"]).json();
        plan["notes"].as_array().unwrap().iter().filter(|note| note["rule"] == "no_checkpoint").count()
    };
    let rare = example.replace("settings = { postgresql = { checkpoint_timeout = \"30s\" } }\n", "");
    assert_eq!((notes(example), notes(&rare)), (0, 1));

    let stated = [
        ("page_cache_mib = 128", "page_cache_mib = 128\nheap_mib = 512", "PostgreSQL has no Java heap"),
        ("memory_limit_gib = 32 ", "nodes = 3\nmemory_limit_gib = 32 ", "iopslab starts PostgreSQL as one node"),
        ("\"postgresql\"\n\n", "\"postgresql\"\nconsistency = \"one\"\n\n", "PostgreSQL has nothing of the kind"),
        ("\"30s\" } }\n\n[[variant]]", "\"30s\", port = 1 } }\n\n[[variant]]", "port: iopslab decides"),
        ("wal_compression = ", "wal_compresion = ", "did you mean `wal_compression`?"),
        ("concurrency = [32]", "concurrency = [901]", "concurrency cannot be 901"),
    ];
    for (line, instead, what) in stated {
        assert!(example.contains(line), "{line}");
        lab.write("own.toml", &example.replacen(line, instead, 1));
        let said = lab.exits(2, &["plan", "own.toml"]).stderr;
        assert!(said.contains(what), "{what}: {said}");
    }
}

/// A configuration with caches in front of its database.
const CACHED: &str = "name = \"cached\"\n[dataset]\nrecords = 1000\n[[configuration]]\nname = \"a\"\n\
                      instance = \"r6i.xlarge\"\ndata_volume = { type = \"gp3\", size_gib = 100 }\n\
                      cache_tier = { memory_gib = 8, nodes = 2, instance = \"r7g.large\" }\n\
                      [[workload]]\nname = \"w\"\nread = 1.0\n[load]\nconcurrency = [1]\n";

#[test]
fn a_plan_on_aws_says_how_many_machines_are_for_caches() {
    let lab = Laboratory::new();
    lab.write("own.toml", CACHED);
    let said = said_on_aws(&lab, "own.toml");
    assert!(said.contains("one zone: 1 machine for databases, 2 for caches, 1 for clients"), "{said}");
    let document = lab.exits(0, &["plan", "own.toml", "--provider", "aws", "--format", "json"]).json();
    let machines = document["plan"]["place"]["bought"]["batches"][0]["machines"].as_array().unwrap().clone();
    let of = |key: &str| machines.iter().map(|machine| machine[key].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(of("role"), ["database", "cache", "cache", "client"]);
    assert_eq!(of("name"), ["a.database-1", "a.cache-1", "a.cache-2", "client-1"]);
    assert_eq!(document["setups"][0]["at"]["bought"]["first_cache"], 0, "{document:#}");
}

#[test]
fn a_plan_by_ssh_says_on_which_machines_a_cache_tier_is() {
    let lab = Laboratory::new();
    let text = format!("{CACHED}[provider.hosts]\ndatabase = [\"db1\"]\nclient = [\"load1\"]\n");
    lab.write("nowhere.toml", &text);
    assert_eq!(lab.output(&["plan", "nowhere.toml", "--provider", "hosts"]).status.code(), Some(2));
    lab.write("named.toml", &format!("{text}cache = [\"cache1\", \"cache2\", \"cache3\"]\n"));
    let shown = lab.exits(0, &["plan", "named.toml", "--provider", "hosts"]).stdout;
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let tier = "Cache tier of a: 2 x r7g.large with 8 GiB for items, no ttl, invalidate, on cache1, cache2";
    assert!(flat.contains(tier), "{shown}");
}

/// What is as large as it is stated has no scale to speak of.
#[test]
fn that_time_is_not_divided_is_said_of_a_cache_tier_where_all_else_is() {
    let lab = Laboratory::new();
    lab.write("own.toml", CACHED);
    lab.write("model.toml", &format!("{CACHED}[provider.local]\nscale = 4\n"));
    let tier = "Cache tier of a: 2 x r7g.large with 8 GiB for items, no ttl, invalidate";
    let whole = [said_on_aws(&lab, "own.toml"), one_line(&lab.exits(0, &["plan", "own.toml"]).stdout)];
    for said in whole {
        assert!(said.contains(tier) && !said.contains("divided by the scale"), "{said}");
    }
    let model = one_line(&lab.exits(0, &["plan", "model.toml"]).stdout);
    assert!(model.contains(&format!("{tier}; time is not divided by the scale")), "{model}");
}

/// Uniform keys, of which every one is as likely as any other: a cache finds the share of the records that it holds,
/// until that expires.
#[test]
fn a_plan_says_what_a_cache_before_the_database_would_find() {
    let lab = Laboratory::new();
    lab.write("own.toml", include_str!("../../../examples/quickstart.toml"));
    let curve = |more: &[&str]| {
        let document =
            lab.exits(0, &[&["plan", "own.toml", "--cache-curve", "--format", "json"], more].concat()).json();
        let curves = document["cache_curves"].as_array().unwrap().clone();
        assert_eq!((curves.len(), &curves[0]["workload"]), (1, &"read-heavy".into()), "{document}");
        assert_eq!(document["scale"], 16.0);
        // A sixteenth of 9,600,000 records of 1,000 bytes.
        let of_item = (&curves[0]["records"], &curves[0]["item"]["chunk_bytes"]);
        assert_eq!(of_item, (&600_000.into(), &1184.into()), "{document}");
        let points = curves[0]["points"].as_array().unwrap().clone();
        let pair = |point: &Value| (point["share_of_records"].as_f64().unwrap(), point["hit_ratio"].as_f64().unwrap());
        points.iter().map(pair).collect::<Vec<(f64, f64)>>()
    };
    let aside = curve(&["--cache-policy", "aside"]);
    assert_eq!(aside.len(), 11);
    for (share, hit_ratio) in &aside {
        assert!((share - hit_ratio).abs() < 0.01, "{aside:?}");
    }
    // Of the operations on a record four of five read: the last one was a write for a fifth of the reads. The pace is
    // taken where nothing expires, too: memcached knows ages in seconds.
    let (_, invalidated) = curve(&["--cache-rate", "20000"])[10];
    assert!((invalidated - 0.8).abs() < 0.01, "{invalidated}");
    // A record is read every 37.5 s here, and found in the minute after it was stored.
    let (_, expiring) = curve(&["--cache-policy", "aside", "--cache-ttl-s", "60", "--cache-rate", "20000"])[10];
    assert!((expiring - 1.6 / 2.6).abs() < 0.01, "{expiring}");

    let shown =
        lab.exits(0, &["plan", "own.toml", "--cache-curve", "--cache-ttl-s", "60", "--cache-rate", "20000"]).stdout;
    let flat = one_line(&shown);
    let head = "read-heavy: 600,000 records of the 1:16 model (9,600,000 at full size) of 1,130 B with key, header and \
                lengths of fields, in chunks of 1,184 B; writes: invalidate; TTL 60 s";
    assert!(flat.contains(head) && flat.contains("Hit ratio"), "{shown}");
    // All records: 885 chunks of a page of 1 MiB, so 678 MiB in the model and 10.6 GiB at full size.
    let all = shown.lines().find(|line| line.contains("100 %")).unwrap_or_default();
    assert!(flat.contains("GiB (-m) GiB at Hit ratio") && all.contains("0.662") && all.contains("10.6"), "{shown}");
    let whole = lab.exits(0, &["plan", "own.toml", "--cache-curve", "--set", "provider.local.scale=1"]).stdout;
    assert!(!whole.contains("full size") && whole.contains("10.6"), "{whole}");

    for (more, part) in [
        (&["--cache-ttl-s", "60"][..], "are about --cache-curve"),
        (&["--cache-curve", "--cache-ttl-s", "60"], "--cache-rate is missing"),
        (&["--cache-curve", "--cache-ttl-s", "0.5"], "`0.5` is no TTL"),
        (&["--cache-curve", "--cache-ttl-s", "2592001"], "takes what is longer for a date"),
        (&["--cache-curve", "--cache-rate", "0"], "`0` is no number above 0"),
        (&["--cache-curve", "--cache-policy", "back"], "`back` is none of aside, invalidate, write_through"),
    ] {
        let stderr = one_line(&lab.exits(2, &[&["plan", "own.toml"], more].concat()).stderr);
        assert!(stderr.contains(part), "{more:?}: {stderr}");
    }
}

/// The file of `init --data 200GB` has fewer records than it stands for, and once got their curve.
#[test]
fn a_curve_of_records_that_stand_for_more_is_refused_with_what_to_ask_instead() {
    let lab = Laboratory::new();
    let all = include_str!("../../../examples/quickstart.toml");
    let stated = "records = 9_600_000";
    assert_eq!(all.matches(stated).count(), 1, "{all}");
    let fewer = all.replace(stated, "records = 960_000\nstands_for_records = 9_600_000");
    lab.write("own.toml", &fewer);
    let said = one_line(&lab.exits(2, &["plan", "own.toml", "--cache-curve"]).stderr);
    let why = "[dataset] stands_for_records = 9600000: a curve of records = 960000 would be that of another data set";
    assert!(said.contains(why) && said.contains("--set dataset.records=9600000"), "{said}");

    let advised = ["plan", "own.toml", "--cache-curve", "--set", "dataset.records=9600000"];
    let curve = lab.exits(0, &advised).stdout;
    lab.write("all.toml", all);
    assert_eq!(curve, lab.exits(0, &["plan", "all.toml", "--cache-curve"]).stdout);
}

/// Distributions that are not stated are named, too; the table once had the page cache that was there before.
#[test]
fn a_plan_says_what_workloads_are_and_the_page_caches_that_they_will_have() {
    let lab = Laboratory::new();
    let text = include_str!("../../../examples/quickstart.toml");
    let planned = |text: &str| {
        lab.write("own.toml", text);
        one_line(&lab.iopslab(&["plan", "own.toml"]).env("COLUMNS", "200").exits(0).stdout)
    };
    let said = planned(text);
    assert!(said.contains("Workloads: read-heavy: 80 % read, 20 % update, uniform keys Data set"), "{said}");
    assert!(said.contains(" 256 MiB page cache"), "{said}");

    let zipfian = text.replace("distribution = \"uniform\"", "");
    let kept = zipfian.replace("page_cache_mib = 256", "page_cache_mib = 256\npage_cache = \"same-misses\"");
    let said = planned(&kept);
    assert!(said.contains("Workloads: read-heavy: 80 % read, 20 % update, zipfian keys (0.99) Data set"), "{said}");
    let (_, sizes) = said.split_once("to miss as often as at full scale: ").unwrap();
    let (size, _) = sizes.split_once(" under read-heavy").unwrap();
    assert!(said.contains(&format!(" {size} page cache")) && !said.contains("256 MiB page cache"), "{said}");

    // Of uniform keys the same share misses as often.
    let even = "[[workload]]\nname = \"even\"\nread = 1.0\ndistribution = \"uniform\"\n\n[load]";
    let both = kept.replace("[load]", even);
    let said = planned(&both);
    assert!(said.contains("zipfian keys (0.99); even: 100 % read, uniform keys Data set"), "{said}");
    assert!(said.contains(&format!(" MiB to {size} page cache")), "{said}");
}

/// A snapshot that is the data set is looked at when the experiment is read: what is in it stands in the plan, and what
/// is wrong with it is refused where it is.
#[test]
fn a_plan_of_a_snapshot_names_its_tables_and_refuses_a_schema_that_differs() {
    let lab = Laboratory::new();
    let carts = lab.path().join("backup/carts-1b255f4def2540a60000000000000000/snapshots/monday");
    std::fs::create_dir_all(&carts).unwrap();
    for (file, text) in [
        ("nb-1-big-Data.db", "data"),
        ("nb-1-big-Statistics.db", "statistics"),
        ("schema.cql", "CREATE TABLE shop.carts (\n    shopper int PRIMARY KEY,\n    amount int\n) WITH ID = 1;\n"),
    ] {
        std::fs::write(carts.join(file), text).unwrap();
    }
    let script = "CREATE TABLE carts (shopper int PRIMARY KEY, amount int);\n-- statement read_cart weight 1\n\
                  SELECT * FROM carts WHERE shopper = ?;\n";
    lab.write("shop.cql", script);
    lab.write(
        "own.toml",
        "name = \"x\"\n[dataset]\nsnapshot = \"backup\"\n[[configuration]]\nname = \"a\"\n\
         instance = { vcpus = 1, memory_gib = 2 }\nmemory_limit_gib = 2\ndata_volume = { iops = 500, size_gib = 1 }\n\
         [[workload]]\ncql = \"shop.cql\"\n[workload.tables.carts]\npartitions = 1000\n\
         columns.shopper = { kind = \"sequence\" }\n[load]\nconcurrency = [1]\nduration_s = 30\n\
         [provider.local]\nheap_mib = 256\n",
    );
    let said = one_line(&lab.exits(0, &["plan", "own.toml"]).stdout);
    assert!(said.contains("Data set from the snapshot") && said.contains("carts: 1 SSTable in 1 folder"), "{said}");

    lab.write("shop.cql", &script.replace("amount int", "amount bigint"));
    let said = one_line(&lab.exits(2, &["plan", "own.toml"]).stderr);
    assert!(said.contains("carts.amount is int here and bigint in the script"), "{said}");
    assert!(said.contains("schema.cql:3"), "{said}");

    lab.write("shop.cql", script);
    std::os::unix::fs::symlink("/etc/passwd", carts.join("nb-2-big-Data.db")).unwrap();
    let refused = lab.output(&["plan", "own.toml"]);
    let said = one_line(&String::from_utf8_lossy(&refused.stderr));
    assert!(!refused.status.success() && said.contains("a snapshot has no links"), "{said}");
}

#[test]
fn a_plan_names_the_cache_that_is_killed_and_refuses_one_that_is_not_there() {
    let lab = Laboratory::new();
    let plan = |code: i32, tier: &str| {
        let text = "name = \"x\"\n[dataset]\nrecords = 1000\n[[configuration]]\nname = \"a\"\n\
                    instance = { vcpus = 1, memory_gib = 2 }\nmemory_limit_gib = 2\n\
                    data_volume = { iops = 500, size_gib = 1 }\n[[workload]]\nname = \"w\"\nread = 1.0\n\
                    [load]\nconcurrency = [1]\nduration_s = 40\n[[fault]]\nkind = \"cache-kill\"\nat_s = 20\n\
                    for_s = 5\n[provider.local]\nheap_mib = 256\n";
        lab.write("own.toml", &text.replace("[[workload]]", &format!("{tier}[[workload]]")));
        let planned = lab.exits(code, &["plan", "own.toml"]);
        one_line(&format!("{} {}", planned.stdout, planned.stderr))
    };
    let said = plan(0, "cache_tier = { memory_gib = 1, instance = \"r7g.large\" }\n");
    let planned = "In each trial: cache-kill of cache node 1 at 20 s for 5 s; every acknowledged write is read back";
    assert!(said.contains(planned), "{said}");
    let said = plan(2, "");
    assert!(said.contains("own.toml:16:8: cache-kill: a has no cache_tier"), "{said}");
}

/// Which value a statement of the user's own leaves behind nobody knows: the plan promises no look for it.
#[test]
fn a_plan_with_a_compaction_beside_own_statements_says_that_and_no_more() {
    let lab = Laboratory::new();
    lab.write(
        "carts.cql",
        "CREATE TABLE carts (shopper int PRIMARY KEY, amount int);\n-- statement read_cart weight 1\n\
         SELECT * FROM carts WHERE shopper = ?;\n",
    );
    lab.write(
        "own.toml",
        "name = \"x\"\n[[configuration]]\nname = \"a\"\ninstance = { vcpus = 1, memory_gib = 2 }\n\
         memory_limit_gib = 2\ndata_volume = { iops = 500, size_gib = 1 }\n\
         [[workload]]\ncql = \"carts.cql\"\n[workload.tables.carts]\n\
         partitions = 1000\n[load]\nconcurrency = [1]\nduration_s = 30\n\
         [[fault]]\nkind = \"compaction\"\nat_s = 10\n[provider.local]\nheap_mib = 256\n",
    );
    let said = one_line(&lab.exits(0, &["plan", "own.toml"]).stdout);
    let planned = "In each trial: compaction on node 1 at 10 s";
    assert!(said.contains(planned) && !said.contains("acknowledged write"), "{said}");
}

#[test]
fn a_plan_names_views_of_ones_own_and_refuses_an_index_that_the_version_lacks() {
    let lab = Laboratory::new();
    lab.write(
        "carts.cql",
        "CREATE TABLE carts (shopper int PRIMARY KEY, amount int);\n\
         CREATE MATERIALIZED VIEW by_amount AS SELECT * FROM carts\n\
         WHERE amount IS NOT NULL AND shopper IS NOT NULL PRIMARY KEY (amount, shopper);\n\
         CREATE INDEX ON carts (amount) USING 'sai';\n-- statement noted weight 1\n\
         SELECT * FROM carts WHERE amount = ?;\n",
    );
    let text = "name = \"x\"\n[target]\nversion = \"5.0.9\"\n[[configuration]]\nname = \"a\"\n\
                instance = { vcpus = 1, memory_gib = 2 }\nmemory_limit_gib = 2\n\
                data_volume = { iops = 500, size_gib = 1 }\n[[workload]]\ncql = \"carts.cql\"\n\
                [workload.tables.carts]\npartitions = 1000\n[load]\nconcurrency = [1]\nduration_s = 30\n\
                [provider.local]\nheap_mib = 256\n";
    lab.write("own.toml", text);
    let said = one_line(&lab.exits(0, &["plan", "own.toml"]).stdout);
    assert!(said.contains("carts: 1,000 partitions, 1,000 rows; by_amount: a view of carts;"), "{said}");

    lab.write("own.toml", &text.replace("5.0.9", "4.1.10"));
    let said = one_line(&lab.exits(2, &["plan", "own.toml"]).stderr);
    assert!(said.contains("carts.cql:4:1: a has Cassandra 4.1.10, and SAI is in 5.0 and later ones"), "{said}");
}
