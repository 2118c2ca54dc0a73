//! AWS says no, at one moment or another: each time the run ends (or goes on) with words that help, and nothing is
//! left. The API server of this machine refuses what the story has it refuse. Each story spends half a minute of CPU in
//! Terraform.

use std::time::Duration;

use serde_json::json;

use crate::aws::Story;
use crate::sites::{experiment, profiles};
use crate::support::{Laboratory, wait_for};

/// One configuration at one site, with simulated evidence.
fn story(settings: &str) -> Story {
    let text = experiment(1, &[("a", "one", "us-east-1")]);
    let text = text.replace("[provider.aws]\n", &format!("[provider.aws]\n{settings}"));
    let mut story = Story::of(Laboratory::new(), &text);
    story.cloud.is_simulated = true;
    profiles(&mut story);
    story
}

fn refuse(story: &Story, action: &str, (code, status): (&str, u32), after: u32, times: i32) {
    let question = json!({
        "ask": "refuse", "action": action, "code": code, "status": status, "after": after, "times": times,
    });
    story.cloud.ask(&question);
}

const RUN: [&str; 5] = ["run", "own.toml", "--provider", "aws", "--yes"];

#[test]
#[ignore = "make test-all"]
fn throttled_requests_are_repeated_and_the_run_goes_on() {
    let mut story = story("");
    refuse(&story, "*", ("RequestLimitExceeded", 503), 3, 5);
    story.start(&RUN);
    assert!(story.ends_well());
    assert_eq!(story.cloud.left(), Vec::<String>::new());
    let refused = story.cloud.requests().iter().filter(|r| !r["refused"].is_null()).count();
    assert_eq!(refused, 5);
}

#[test]
#[ignore = "make test-all"]
fn where_a_zone_has_no_machine_the_next_one_is_taken() {
    let mut story = story("");
    let question = json!({
        "ask": "refuse", "action": "RunInstances", "zone": "us-east-1a",
        "code": "InsufficientInstanceCapacity", "status": 500, "after": 1, "times": -1,
    });
    story.cloud.ask(&question);
    story.start(&RUN);
    assert!(story.ends_well());
    assert_eq!(story.cloud.left(), Vec::<String>::new());
    let said = story.lab.stderr_so_far();
    let part = "InsufficientInstanceCapacity";
    assert!(said.contains(part) && said.contains("trying another availability zone"), "{said}");
}

#[test]
#[ignore = "make test-all"]
fn an_error_in_the_middle_of_apply_leaves_nothing() {
    let mut story = story("");
    refuse(&story, "CreateKeyPair", ("UnauthorizedOperation", 403), 0, -1);
    refuse(&story, "ImportKeyPair", ("UnauthorizedOperation", 403), 0, -1);
    story.start(&RUN);
    assert!(!story.ends_well());
    let said = story.lab.stderr_so_far();
    assert!(said.contains("UnauthorizedOperation") && said.contains("terraform.log"), "{said}");
    assert!(said.contains("--resume"), "{said}");
    assert_eq!(story.cloud.left(), Vec::<String>::new());
    // What was wrong is mended: the same run goes on.
    story.cloud.ask(&json!({ "ask": "allow" }));
    let run = story.lab.run_directory();
    story.start(&["run", "--resume", run.to_str().unwrap(), "--yes"]);
    assert!(story.ends_well());
    assert_eq!(story.cloud.left(), Vec::<String>::new());
}

#[test]
#[ignore = "make test-all"]
fn credentials_that_expire_void_no_result_and_fresh_ones_take_the_machines_away() {
    let mut story = story("");
    story.start(&RUN);
    story.follows_until("the first trial", |story| {
        story.lab.stderr_so_far().contains("block 1 connecting") || !story.lab.trials_so_far().is_empty()
    });
    refuse(&story, "*", ("ExpiredToken", 403), 0, -1);
    assert!(!story.ends_well());
    let said = story.lab.stderr_so_far();
    let run = story.lab.run_directory();
    for part in ["ExpiredToken", "iopslab destroy ", "iopslab clean --aws --run ", "they cost money"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(run.join("report.html").exists(), "results are results");
    assert!(!story.cloud.left().is_empty(), "nobody could remove them");
    story.cloud.ask(&json!({ "ask": "allow" }));
    story.start(&["destroy", run.to_str().unwrap()]);
    assert!(story.ends_well());
    assert_eq!(story.cloud.left(), Vec::<String>::new());
}

#[test]
#[ignore = "make test-all"]
fn a_machine_that_never_answers_is_named_and_goes() {
    let mut story = story("ready_timeout_s = 60\n");
    story.cloud.is_deaf = true;
    story.start(&RUN);
    assert!(!story.ends_well());
    let said = story.lab.stderr_so_far();
    assert!(said.contains("does not answer by SSH after 60 s"), "{said}");
    assert!(said.contains("gp3-1.database-1") && said.contains("controller_cidr"), "{said}");
    assert_eq!(story.cloud.left(), Vec::<String>::new());
}

/// Whoever answers at the address of a machine, and does not know the key of the run, learns nothing: not who asks, nor
/// what.
#[test]
#[ignore = "make test-all"]
fn a_machine_that_shows_another_host_key_is_named_and_nobody_logs_in() {
    let mut story = story("ready_timeout_s = 60\n");
    story.cloud.is_impostor = true;
    story.start(&RUN);
    assert!(!story.ends_well());
    let said = story.lab.stderr_so_far();
    assert!(said.contains("gp3-1.database-1") && said.contains("Host key verification failed"), "{said}");
    let heard = story.cloud.heard();
    assert!(heard.contains("Server listening") && !heard.contains("Accepted"), "{heard}");
    assert_eq!(story.cloud.left(), Vec::<String>::new());
}

/// The controller is killed at a point; what it had made goes by its state, or by its tags where that is lost.
fn killed_when(point: &str, is_there: impl Fn(&Story) -> bool, is_lost: bool) {
    let mut story = story("");
    story.start(&RUN);
    story.follows_until(point, is_there);
    story.kill();
    let run = story.lab.run_directory();
    let name = run.file_name().unwrap().to_str().unwrap().to_owned();
    if is_lost {
        // Terraform goes on to its end without us.
        wait_for("the end of terraform", Duration::from_secs(120), || !story.terraform_is_at_work());
        let _ = std::fs::remove_file(run.join("terraform/terraform.tfstate"));
        let profile = ["--profile", "one", "--region", "us-east-1"];
        story.start(&[&["clean", "--aws", "--run", &name], &profile[..]].concat());
    } else {
        story.start(&["destroy", run.to_str().unwrap()]);
    }
    assert!(story.ends_well(), "{point}");
    assert_eq!(story.cloud.left(), Vec::<String>::new(), "{point}");
}

#[test]
#[ignore = "make test-all"]
fn a_controller_killed_between_any_two_steps_leaves_what_can_be_found() {
    let below = |story: &Story, file: &str| story.lab.run_so_far().is_some_and(|run| run.join(file).exists());
    killed_when("variables", |story| below(story, "terraform/iopslab.auto.tfvars.json"), false);
    killed_when("init", |story| below(story, "terraform/.terraform.lock.hcl"), true);
    killed_when("apply", |story| !story.cloud.left_of("network").is_empty(), true);
    killed_when("machines", |story| below(story, "terraform/ssh_config"), false);
    killed_when("trials", |story| !story.lab.trials_so_far().is_empty(), true);
}
