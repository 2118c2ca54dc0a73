//! What machines on AWS state of their path to EBS: real Terraform, an API server of this machine that keeps the launch
//! template with the bandwidth weighting, machines that are reached by SSH, and agents that give simulated evidence.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::aws::Story;
use crate::bought::allowed;
use crate::sites::{experiment, profiles};
use crate::support::{Laboratory, conformance};

#[test]
fn machines_state_the_weighting_of_their_configuration_and_the_largest_gp3() {
    let weighted = "instance = \"m8i.large\"\nbandwidth_weighting = \"ebs-1\"\n";
    let largest = "size_gib = 4000, iops = 80000, mib_per_s = 2000";
    let text = experiment(2, &[("a", "one", "us-east-1")])
        .replacen("instance = \"m7i.large\"\n", weighted, 1)
        .replacen("size_gib = 100, iops = 3200", largest, 1);
    assert!(text.contains(weighted) && text.contains(largest), "{text}");
    let mut story = Story::of(Laboratory::new(), &text);
    story.cloud.is_simulated = true;
    profiles(&mut story);
    story.start(&["run", "own.toml", "--provider", "aws", "--yes"]);
    assert!(story.ends_well());
    // The template is gone with its stack.
    assert_eq!(story.cloud.left(), Vec::<String>::new());
    conformance::is_whole(&story.lab, &story.lab.run_directory(), "aws");
    let requests = story.cloud.requests();
    let made = || requests.iter().filter(|request| request["action"] == "RunInstances");
    let stated: BTreeMap<&str, Option<&str>> =
        made().map(|request| (request["types"][0].as_str().unwrap(), request["weighting"].as_str())).collect();
    assert_eq!(stated, BTreeMap::from([("c7i.large", None), ("m7i.large", None), ("m8i.large", Some("ebs-1"))]));
    let of_largest = made().find(|request| request["types"][0] == "m7i.large").unwrap();
    assert_eq!(of_largest["performance"]["/dev/sdf"], json!([80_000, 2_000]), "{of_largest}");
    let (asked, allowed) = (BTreeSet::from_iter(story.cloud.actions()), allowed());
    assert!(asked.contains("cloudformation:DeleteStack"), "{asked:?}");
    let missing: Vec<&String> = asked.difference(&allowed).collect();
    assert!(missing.is_empty(), "not in docs/aws-policy.json: {missing:?}");
}
