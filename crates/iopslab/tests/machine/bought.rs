//! A run on AWS from the first request to the last: real Terraform, an API server of this machine, and a real Cassandra
//! on what it was asked for.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::aws::Story;
use crate::support::{Laboratory, conformance, lane::Share, wait_for};

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
    let mut story = Story::new(Laboratory::on_machine(Share::Half));
    story.start(&["run", "own.toml", "--provider", "aws", "--yes"]);
    wait_for("all machines", Duration::from_secs(120), || story.cloud.left_of("instance").len() == 3);
    assert_eq!(story.cloud.untagged(), Vec::<String>::new());
    assert!(story.ends_well());
    assert_eq!(story.cloud.left(), Vec::<String>::new());
    let directory = story.lab.run_directory();
    conformance::is_whole(&story.lab, &directory, "aws");
    // Each configuration was measured on machines of its own.
    let environment = std::fs::read_to_string(directory.join("environment.json")).unwrap();
    let environment: serde_json::Value = serde_json::from_str(&environment).unwrap();
    for host in ["database", "database-2", "client"] {
        assert!(environment[host]["cpus"].is_u64(), "{host}: {environment:#}");
    }
    // Where nothing is left to measure nothing is made.
    let made = |story: &Story| story.cloud.actions().iter().filter(|action| *action == "ec2:RunInstances").count();
    let before = made(&story);
    story.start(&["run", "--resume", directory.to_str().unwrap()]);
    assert!(story.ends_well());
    assert_eq!((made(&story), before), (3, 3));
    let (asked, allowed) = (BTreeSet::from_iter(story.cloud.actions()), allowed());
    let missing: Vec<&String> = asked.difference(&allowed).collect();
    assert!(asked.len() > 20 && missing.is_empty(), "not in docs/aws-policy.json: {missing:?}");
}
