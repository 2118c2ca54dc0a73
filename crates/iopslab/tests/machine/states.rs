//! Terraform's state in a backend of the user's: whoever has a copy of the run directory without it can take machines
//! away and go on. Real Terraform, an API server of this machine (EC2 and S3), simulated evidence.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::aws::Story;
use crate::sites::{experiment, profiles};
use crate::support::{Laboratory, conformance};

const S3: &str = "{ type = \"s3\", bucket = \"states\", region = \"us-east-1\", prefix = \"lab\", use_lockfile = true, \
                  use_path_style = true }";
const ACCOUNT: &str = "111111111111";

/// A run has begun.
fn begun(configurations: usize, backend: &dyn Fn(&Path) -> String) -> Story {
    begun_at(&[("a", "one", "us-east-1")], configurations, backend, false)
}

/// A run has begun; where the first region refuses machines, it has them elsewhere.
fn begun_at(
    sites: &[(&str, &str, &str)],
    configurations: usize,
    backend: &dyn Fn(&Path) -> String,
    refuses: bool,
) -> Story {
    let lab = Laboratory::new();
    let stated = format!("capacity_wait_min = 0\nbackend = {}\n", backend(lab.path()));
    let text = experiment(configurations, sites).replace("capacity_wait_min = 0\n", &stated);
    assert!(text.contains("backend"));
    let mut story = Story::of(lab, &text);
    story.cloud.is_simulated = true;
    profiles(&mut story);
    story.cloud.ask(&json!({ "ask": "bucket", "account": ACCOUNT, "name": "states" }));
    if refuses {
        story.cloud.ask(&json!({
            "ask": "refuse", "action": "RunInstances", "region": sites[0].2,
            "code": "VcpuLimitExceeded", "status": 400, "after": 0, "times": -1,
        }));
    }
    story.start(&["run", "own.toml", "--provider", "aws", "--yes"]);
    story
}

/// A run that has machines when its controller is killed.
fn killed(configurations: usize, backend: &dyn Fn(&Path) -> String) -> Story {
    let mut story = begun(configurations, backend);
    story.follows_until("a machine", |story| !story.cloud.left_of("instance").is_empty());
    story.kill();
    story
}

/// The run's directory under another name, without all that Terraform has.
fn copy(story: &Story) -> PathBuf {
    let to = story.lab.path().join("elsewhere/copied");
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    let copied = Command::new("cp").arg("-r").args([&story.lab.run_directory(), &to]).status();
    assert!(copied.unwrap().success());
    std::fs::remove_dir_all(to.join("terraform")).unwrap();
    to
}

/// Files of this name below a directory.
fn files(directory: &Path, name: &str) -> Vec<PathBuf> {
    let output = Command::new("find").arg(directory).args(["-name", name, "-size", "+0"]).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    // What Terraform keeps of its backend's configuration is no state.
    let lines = text.lines().filter(|line| !line.contains("/.terraform/"));
    lines.map(PathBuf::from).collect()
}

/// Destroyed from a copy, right after the kill; gives what was said.
fn destroyed_from_a_copy(story: &mut Story) -> String {
    assert_eq!(files(&story.lab.run_directory(), "terraform.tfstate"), Vec::<PathBuf>::new());
    let copy = copy(story);
    story.start(&["destroy", copy.to_str().unwrap(), "--format", "human"]);
    assert!(story.ends_well());
    assert_eq!(story.cloud.left(), Vec::<String>::new());
    let run = story.lab.run_directory().file_name().unwrap().to_str().unwrap().to_owned();
    // Again is no mistake.
    story.start(&["destroy", copy.to_str().unwrap()]);
    assert!(story.ends_well());
    format!("{run}/batch-1/site-1-us-east-1/terraform.tfstate")
}

#[test]
#[ignore = "make test-all"]
fn a_bucket_that_is_not_there_is_reported_before_anything_is_made() {
    let mut story = begun(1, &|_| S3.replace("\"states\"", "\"others\""));
    assert!(!story.ends_well());
    assert_eq!(story.cloud.left(), Vec::<String>::new());
    let said = story.lab.stderr_so_far();
    assert!(said.contains("terraform init failed") && said.contains("S3 bucket \"others\" does not exist"), "{said}");
    assert!(!said.contains("could not be taken away"), "{said}");
}

#[test]
#[ignore = "make test-all"]
fn a_copy_without_the_state_takes_away_what_a_state_in_s3_knows_of() {
    let mut story = killed(1, &|_| S3.to_owned());
    let key = destroyed_from_a_copy(&mut story);
    let there = story.cloud.ask(&json!({ "ask": "objects", "account": ACCOUNT, "name": "states" }));
    assert_eq!(there, json!([format!("lab/{key}")]), "the state stays, its lock does not");
    // Who looks for states that remain finds their addresses.
    let kept = std::fs::read_to_string(story.lab.run_directory().join("terraform/states.txt")).unwrap();
    assert_eq!(kept, format!("s3://states/lab/{key}\n"));
}

#[test]
#[ignore = "make test-all"]
fn a_copy_without_the_state_takes_away_what_a_state_in_a_directory_knows_of() {
    let mut story = killed(1, &|lab| format!("{{ type = \"local\", path = \"{}/states\" }}", lab.display()));
    let key = destroyed_from_a_copy(&mut story);
    let states = story.lab.path().join("states");
    assert_eq!(files(&states, "terraform.tfstate"), [states.join(key)]);
}

#[test]
#[ignore = "make test-all"]
fn a_copy_without_the_state_finds_what_stands_at_another_site() {
    let sites = [("a", "one", "us-east-1"), ("b", "one", "us-west-2")];
    let mut story = begun_at(&sites, 1, &|_| S3.to_owned(), true);
    let went_on = |story: &Story| story.lab.stderr_so_far().contains("goes to b");
    story.follows_until("the other site", went_on);
    story.follows_until("a machine there", |story| !story.cloud.left_of("instance").is_empty());
    story.kill();
    story.cloud.ask(&json!({ "ask": "allow" }));
    let name = story.lab.run_directory().file_name().unwrap().to_str().unwrap().to_owned();
    let key = |site: &str| format!("lab/{name}/batch-1/site-{site}/terraform.tfstate");
    let both = json!([key("1-us-east-1"), key("2-us-west-2")]);
    let there = |story: &Story| story.cloud.ask(&json!({ "ask": "objects", "account": ACCOUNT, "name": "states" }));
    // Terraform goes on by itself, and its lock goes at its end.
    story.follows_until("a state there", |story| there(story) == both);
    let copy = copy(&story);
    story.start(&["run", "--resume", copy.to_str().unwrap(), "--yes"]);
    assert!(story.ends_well());
    assert_eq!(story.cloud.left(), Vec::<String>::new());
    conformance::is_whole(&story.lab, &copy, "aws");
    let said = story.lab.stderr_so_far();
    assert!(said.contains("0 of 3 trials are done"), "{said}");
    let taken_away = said.find("us-west-2/terraform.tfstate").unwrap();
    let made = said.find("Apply complete").unwrap();
    assert!(taken_away < made, "{said}");
    assert_eq!(there(&story), both);
}

#[test]
#[ignore = "make test-all"]
fn a_copy_without_the_state_goes_on_and_each_batch_has_a_state_of_its_own() {
    let mut story = killed(3, &|_| S3.to_owned());
    let run = story.lab.run_directory();
    let name = run.file_name().unwrap().to_str().unwrap().to_owned();
    // Terraform writes it at its end at the latest.
    story.follows_until("a state with machines", |story| {
        let there = story.cloud.ask(&json!({ "ask": "objects", "account": ACCOUNT, "name": "states" }));
        there == json!([format!("lab/{name}/batch-1/site-1-us-east-1/terraform.tfstate")])
    });
    let copy = copy(&story);
    story.start(&["run", "--resume", copy.to_str().unwrap(), "--yes"]);
    assert!(story.ends_well());
    let said = story.lab.stderr_so_far();
    assert!(said.contains("has no key to machines that stand: they are taken away first"), "{said}");
    assert_eq!(story.cloud.left(), Vec::<String>::new());
    conformance::is_whole(&story.lab, &copy, "aws");
    let there = story.cloud.ask(&json!({ "ask": "objects", "account": ACCOUNT, "name": "states" }));
    let key = |batch: usize| format!("lab/{name}/batch-{batch}/site-1-us-east-1/terraform.tfstate");
    assert_eq!(there, json!([key(1), key(2)]));
    for batch in 1..=2 {
        let kept = std::fs::read_to_string(copy.join(format!("terraform/{batch}/states.txt"))).unwrap();
        assert_eq!(kept, format!("s3://states/{}\n", key(batch)));
    }
    assert_eq!(files(&copy, "terraform.tfstate"), Vec::<PathBuf>::new());
}
