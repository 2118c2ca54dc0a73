//! Stories of `iopslab plan`: what is known before hours are spent.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod aws;
mod caches;
#[path = "../support/mod.rs"]
mod support;
mod volumes;

use serde_json::Value;
use support::{Exits, Laboratory, one_line};

const SIMULATED: &str = include_str!("../../../../examples/simulated.toml");

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
    let three = include_str!("../../../../examples/three-nodes.toml");
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

#[test]
fn a_plan_says_with_what_backlog_trials_begin_and_a_simulation_refuses_it() {
    let lab = Laboratory::new();
    lab.write("own.toml", include_str!("../../../../examples/backlog.toml"));
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
    lab.write("own.toml", include_str!("../../../../examples/three-nodes.toml"));
    let said = lab.exits(0, &["plan", "own.toml"]).stdout;
    assert!(said.contains("3 nodes, 3 replicas") && said.contains("each node:"), "{said}");
    lab.write("own.toml", include_str!("../../../../examples/quickstart.toml"));
    let said = lab.exits(0, &["plan", "own.toml"]).stdout;
    assert!(!said.contains("replica") && !said.contains("each node:"), "{said}");
}

/// The second product, up to where a machine is needed: what it has nothing for is refused, and what is planned is its
/// own.
#[test]
fn a_plan_of_postgresql_names_its_memory_and_refuses_what_is_cassandras() {
    let lab = Laboratory::new();
    let example = include_str!("../../../../examples/postgres.toml");
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

/// Nothing is filled that is somebody else's; what nobody knows of it is said.
#[test]
fn a_plan_of_an_existing_server_refuses_what_its_volume_does_not_hold() {
    let lab = Laboratory::new();
    let of = |records: &str| {
        format!(
            "name = \"theirs\"\n[target]\ndatabase = \"postgresql\"\nhosts = [\"db:5432\"]\ndbname = \"app\"\n\
             schema = \"lab\"\nuser = \"bench\"\n[dataset]\nrecords = {records}\n[[configuration]]\nname = \"a\"\n\
             instance = {{ vcpus = 4, memory_gib = 16 }}\ndata_volume = {{ iops = 3000, size_gib = 100 }}\n\
             [[workload]]\nname = \"w\"\nread = 0.5\nupdate = 0.5\n[load]\nconcurrency = [32]\nduration_s = 60\n"
        )
    };
    lab.write("own.toml", &of("200_000_000"));
    let refused = one_line(&lab.exits(2, &["plan", "own.toml"]).stderr);
    assert!(refused.contains("a run loads 230.0 GB onto db:5432") && refused.contains("have 107.4 GB"), "{refused}");
    lab.write("own.toml", &of("20_000_000"));
    let plan = lab.exits(0, &["plan", "own.toml", "--format", "json"]).json();
    let rules: Vec<_> = plan["notes"].as_array().unwrap().iter().filter_map(|note| note["rule"].as_str()).collect();
    for rule in ["no_checkpoint", "server_not_watched", "connections_needed"] {
        assert!(rules.contains(&rule), "{rule}: {rules:?}");
    }
}

/// Distributions that are not stated are named, too; the table once had the page cache that was there before.
#[test]
fn a_plan_says_what_workloads_are_and_the_page_caches_that_they_will_have() {
    let lab = Laboratory::new();
    let text = include_str!("../../../../examples/quickstart.toml");
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
