//! What a plan says of caches in front of a database.

use serde_json::Value;

use crate::aws::said_on_aws;
use crate::support::{Laboratory, one_line};

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
    lab.write("own.toml", include_str!("../../../../examples/quickstart.toml"));
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
    let all = include_str!("../../../../examples/quickstart.toml");
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
