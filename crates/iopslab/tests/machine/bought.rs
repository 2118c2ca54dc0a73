//! A run on AWS from the first request to the last: real Terraform, an API server of this machine, and a real Cassandra
//! on what it was asked for, with a cache in front of one of two databases.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use evidence::HostId;
use reported::memcached::ITEMS;

use crate::aws::{EXPERIMENT, Story};
use crate::support::{self, Laboratory, conformance, wait_for};

/// The actions that the policy in the docs allows.
pub fn allowed() -> BTreeSet<String> {
    let text = include_str!("../../../../docs/aws-policy.json");
    let policy: serde_json::Value = serde_json::from_str(text).unwrap();
    let statements = policy["Statement"].as_array().unwrap().iter();
    let actions = statements.flat_map(|statement| match &statement["Action"] {
        serde_json::Value::Array(several) => several.clone(),
        one => vec![one.clone()],
    });
    actions.map(|action| action.as_str().unwrap().to_owned()).collect()
}

#[test]
fn machines_are_made_measured_and_taken_away() {
    let last = "iops = 3600 }\n";
    let cached = format!("{last}cache_tier = {{ memory_gib = 0.0625, instance = \"c7i.large\" }}\n");
    let text = EXPERIMENT.replacen(last, &cached, 1);
    assert_ne!(text, EXPERIMENT);
    let mut story = Story::of(Laboratory::new(), &text);
    story.start(&["run", "own.toml", "--provider", "aws", "--yes"]);
    wait_for("all machines", Duration::from_secs(300), || story.cloud.left_of("instance").len() == 4);
    assert_eq!(story.cloud.untagged(), Vec::<String>::new());
    assert!(story.ends_well());
    assert_eq!(story.cloud.left(), Vec::<String>::new());
    let directory = story.lab.run_directory();
    conformance::is_whole(&story.lab, &directory, "aws");
    // Each configuration was measured on machines of its own.
    let environment = std::fs::read_to_string(directory.join("environment.json")).unwrap();
    let environment: serde_json::Value = serde_json::from_str(&environment).unwrap();
    for host in ["database", "database-2", "cache", "client"] {
        assert!(environment[host]["cpus"].is_u64(), "{host}: {environment:#}");
    }
    a_cache_has_what_clients_of_its_configuration_put_there(&directory);
    // Where nothing is left to measure nothing is made.
    let made = |story: &Story| story.cloud.actions().iter().filter(|action| *action == "ec2:RunInstances").count();
    let before = made(&story);
    story.start(&["run", "--resume", directory.to_str().unwrap()]);
    assert!(story.ends_well());
    assert_eq!((made(&story), before), (4, 4));
    let (asked, allowed) = (BTreeSet::from_iter(story.cloud.actions()), allowed());
    let missing: Vec<&String> = asked.difference(&allowed).collect();
    assert!(asked.len() > 20 && missing.is_empty(), "not in docs/aws-policy.json: {missing:?}");
}

fn a_cache_has_what_clients_of_its_configuration_put_there(run: &Path) {
    let directory = archive::RunDirectory::open(run).unwrap();
    for planned in &directory.plan().trials {
        let trial = directory.trial(planned).unwrap();
        let of_cache = trial.samples.get(&HostId::cache(0));
        assert_eq!(of_cache.is_some(), planned.cell.starts_with("gp3-3600."), "{planned:?}");
        // A hundred reads a second of 5,000 records.
        let last = of_cache.and_then(|samples| samples.last());
        assert!(last.is_none_or(|last| last.database.get(&ITEMS) > Some(50.0)), "{last:?}");
    }
    let analysis = support::json(&run.join("analysis.json"));
    let cells = analysis["cells"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["configuration"] == "gp3-3600").unwrap();
    assert!(cell["cache_tier"]["hit_ratio"].as_f64() > Some(0.0), "{:#}", cell["cache_tier"]);
}
