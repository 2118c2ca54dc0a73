//! The story of a cache by SSH: a real Cassandra, a node of memcached in front of it and a client, each with its own
//! network and its own sshd.

use std::path::Path;
use std::time::Duration;

use evidence::HostId;
use reported::memcached::{CPU_S, HITS, ITEMS, RECEIVED_BYTES};
use serde_json::json;

use super::apart::Story;
use crate::support::{self, conformance, wait_for};

/// One configuration, whose only cache is away for four seconds.
const EXPERIMENT: &str = r#"
name = "cached"
question = "Is a cache by SSH a host like any other?"

[dataset]
records = 5_000

[[configuration]]
name = "cached"
instance = { vcpus = 2, memory_gib = 16 }
data_volume = { iops = 3000, mib_per_s = 125, size_gib = 2 }
cache_tier = { memory_gib = 0.0625, instance = "r7g.large" }

[[workload]]
name = "popular"
read = 0.9
update = 0.1
distribution = "zipfian"

[[fault]]
kind = "cache-kill"
at_s = 10
for_s = 4

[load]
rate = [300]
rest_max_s = 0
warmup_s = 5
duration_s = 20
repetitions = 1

[provider.local]
heap_mib = 512

[provider.hosts]
ssh_config = "ssh_config"
client = ["load1"]
database = [{ ssh = "db1", work_directory = "@/hosts/db1/work", data = "@/hosts/db1/data" }]
cache = ["cache1"]
"#;

#[test]
fn a_cache_by_ssh_is_started_watched_killed_and_cleaned_on_a_machine_of_its_own() {
    let story = Story::new();
    let text = EXPERIMENT.replace('@', &story.lab.path().display().to_string());
    let arguments = |file| ["run", file, "--provider", "hosts", "--out", "cached"];
    // Nobody says where it is to be.
    story.lab.write("nowhere.toml", &text.replace("cache = [\"cache1\"]\n", ""));
    assert!(!story.run(&arguments("nowhere.toml")));
    // Drawn at its place, in lines of their own.
    let said = story.said();
    let said = said.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert!(said.contains("[provider.hosts] names no machine for caches"), "{said}");
    assert!(said.contains("[provider.hosts] cache = [\"cache1\"]"), "{said}");
    assert!(!story.lab.path().join("cached").exists());

    story.lab.write("cached.toml", &text);
    let mut run = story.start(&arguments("cached.toml"));
    wait_for("a cache on its machine", Duration::from_secs(300), || {
        let ended = run.try_wait().unwrap();
        assert!(ended.is_none(), "{ended:?}\n{}", story.said());
        story.network.processes().iter().any(|(_, line)| line.contains("memcached -l 10.99.0.31 -p 11211"))
    });
    let status = run.wait().unwrap();
    println!("--- {status}\n{}", story.said());
    assert!(status.success());
    let directory = story.lab.run_in("cached");
    conformance::is_whole(&story.lab, &directory, "hosts");
    assert!(support::json(&directory.join("environment.json"))["cache"]["cpus"].as_u64().unwrap() > 0);
    its_machine_is_in_the_evidence(&directory);
    what_it_answered_is_in_the_analysis(&directory);
    wait_for("the end of all processes", Duration::from_secs(60), || story.network.leftovers().is_empty());
    assert!(story.run(&["clean", "--hosts", "cached.toml"]));
}

fn its_machine_is_in_the_evidence(run: &Path) {
    let directory = archive::RunDirectory::open(run).unwrap();
    let trial = directory.trial(&directory.plan().trials[0]).unwrap();
    let before = |host: HostId| {
        let samples = &trial.samples[&host];
        samples.iter().filter(|sample| (0.0..10.0).contains(&sample.t_s)).cloned().collect::<Vec<_>>()
    };
    let of_cache = before(HostId::cache(0));
    assert!((8..=12).contains(&of_cache.len()), "{} samples in 10 s", of_cache.len());
    let (first, last) = (of_cache.first().unwrap(), of_cache.last().unwrap());
    for series in [&HITS, &RECEIVED_BYTES, &CPU_S] {
        assert!(last.database.get(series) > first.database.get(series), "{series:?}: {first:?} {last:?}");
    }
    assert!(last.database.get(&ITEMS) > Some(100.0), "{last:?}");
    assert!(last.host.process_rss_bytes > Some(1e6) && last.host.cpu_user_s > first.host.cpu_user_s, "{last:?}");
    // What its clients asked it and what it answered went through the network of its machine.
    let grown = last.host.network_received_bytes.unwrap() - first.host.network_received_bytes.unwrap();
    let asked = last.database.get(&RECEIVED_BYTES).unwrap() - first.database.get(&RECEIVED_BYTES).unwrap();
    assert!(grown > 0.9 * asked, "{grown} bytes, of which memcached received {asked}");
    assert!(before(HostId::DATABASE).iter().all(|sample| sample.database.get(&HITS).is_none()), "counted once");
}

fn what_it_answered_is_in_the_analysis(run: &Path) {
    let cell = support::json(&run.join("analysis.json"))["cells"][0].clone();
    let tier = &cell["cache_tier"];
    println!("{tier:#}\n{:#}", cell["faults"]);
    assert!(tier["hit_ratio"].as_f64().unwrap() > 0.1, "{tier:#}");
    assert!(tier["cpus_used"].as_f64().unwrap() > 0.0, "{tier:#}");
    assert!(tier["network_share"].as_f64().unwrap() > 0.0, "{tier:#}");
    let fault = &cell["faults"]["faults"][0];
    assert_eq!((&fault["kind"], &fault["node"]), (&json!("cache-kill"), &json!("cache")), "{fault:#}");
    assert_eq!((&fault["problems"], &fault["planned"]["cache_node"]), (&json!([]), &json!(1)), "{fault:#}");
    let phases = cell["faults"]["phases"].as_array().unwrap();
    let hits: Vec<f64> = phases.iter().map(|phase| phase["hit_ratio"]["median"].as_f64().unwrap()).collect();
    // Nobody answers while it is away; it comes back empty, and is filled again.
    assert!(hits[0] > 0.1 && hits[1] < 0.05 && hits[2] > 0.05, "{hits:?}");
    let writes = &cell["writes"];
    let count = |key: &str| writes[key].as_u64().unwrap_or_else(|| panic!("{key} in {writes:#}"));
    assert!(count("acknowledged") > 0, "{writes:#}");
    assert_eq!((count("older"), count("missing"), count("foreign")), (0, 0, 0), "{writes:#}");
}
