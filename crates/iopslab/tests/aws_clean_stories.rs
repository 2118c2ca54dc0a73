//! `iopslab clean --aws` against an AWS API server on this machine (moto), which has things of several runs and of
//! somebody else.

#![cfg(feature = "aws")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support::account::{Aws, IOPSLAB};
use crate::support::{Laboratory, Said};
use serde_json::{Value, json};

const PAST: &str = "2020-11-23T18:00:00Z";
const FUTURE: &str = "2120-11-23T18:00:00Z";
/// Things of one run: 2 instances, 3 volumes (one each, and one alone), 3 network interfaces, key
/// pair, placement group, security group, route table, 2 subnets, internet gateway, network.
const OF_A_RUN: usize = 16;

/// Another user's access key.
const PROFILE: &str = "PROFILE0000000000000";

impl Aws {
    /// Somebody who is not iopslab makes all that these runs would make; without tags of a run for `null`.
    fn make(&self, region: &str, runs: &Value) {
        self.account.ask(&json!({ "ask": "make", "region": region, "runs": runs }));
    }

    /// All that there is, by id, with the name of its run.
    fn list(&self, region: &str) -> BTreeMap<String, Option<String>> {
        let reported = self.account.ask(&json!({ "ask": "list", "region": region }));
        serde_json::from_value(reported).unwrap()
    }

    /// `protect` or `release` an instance.
    fn protection(&self, verb: &str, instance: &str) {
        let question = json!({ "ask": verb, "region": "eu-west-1", "instance": instance });
        self.account.ask(&question);
    }

    /// `iopslab clean --aws` as a user of this AWS.
    fn clean(&self, more: &[&str]) -> Said {
        Said::of(&mut self.command(&[&["clean", "--aws"], more].concat()))
    }

    /// What was asked of the server: action and who asked.
    fn requests(&self) -> Vec<(String, String)> {
        let asked = self.account.requests().into_iter().map(|line| {
            let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            (format!("{}:{}", word("service"), word("action")), word("access_key"))
        });
        asked.collect()
    }
}

fn count(document: &Value, key: &str) -> usize {
    document[key].as_array().unwrap().len()
}

/// Things without those of a run.
fn without(things: &BTreeMap<String, Option<String>>, run: &str) -> BTreeMap<String, Option<String>> {
    let mut things = things.clone();
    things.retain(|_, of| of.as_deref() != Some(run));
    things
}

#[test]
fn a_run_is_removed_by_its_tags_and_nothing_else_is() {
    let aws = Aws::start();
    let region = "us-east-1";
    aws.make(region, &json!({ "gp3": PAST, "gp3-2": FUTURE, "somebody": null }));
    let before = aws.list(region);
    assert_eq!(before.len(), without(&before, "gp3").len() + OF_A_RUN);

    // Nobody said whose.
    let reported = aws.clean(&[]);
    assert_eq!(reported.code, Some(2), "{}", reported.stderr);
    for part in [
        "gp3, expired 2020-11-23T18:00:00Z: 2 instances, 3 volumes, 3 network interfaces, 1 key pair",
        "gp3-2, expires 2120-11-23T18:00:00Z: 2 instances",
        "--run NAME",
        "--expired",
        "--all",
    ] {
        assert!(reported.stderr.contains(part), "{part}: {}", reported.stderr);
    }

    // Lists, and removes nothing.
    let reported = aws.clean(&["--run", "gp3", "--dry-run"]).well();
    assert_eq!(reported.matches("would remove ").count(), OF_A_RUN, "{reported}");
    assert!(reported.contains("nothing was removed") && reported.contains("kept: gp3-2"), "{reported}");
    let reported = aws.clean(&["--all", "--dry-run", "--format", "json"]).json();
    assert_eq!(count(&reported, "would_remove"), 2 * OF_A_RUN);
    assert_eq!((count(&reported, "removed"), reported["dry_run"].as_bool()), (0, Some(true)));
    assert_eq!(aws.list(region), before);
    let by_iopslab = |(action, who): (String, String)| (who == IOPSLAB).then_some(action);
    let asked: BTreeSet<String> = aws.requests().into_iter().filter_map(by_iopslab).collect();
    assert!(asked.iter().all(|action| action.starts_with("ec2:Describe")), "{asked:?}");

    // What has expired, which is all of that run and only that.
    let reported = aws.clean(&["--expired", "--format", "json"]);
    assert_eq!(reported.code, Some(0), "{}{}", reported.stdout, reported.stderr);
    let reported = reported.json();
    assert_eq!((count(&reported, "removed"), count(&reported, "failed")), (OF_A_RUN, 0), "{reported}");
    assert_eq!(reported["kept"][0]["run"], "gp3-2");
    assert_eq!(aws.list(region), without(&before, "gp3"));

    // Safe to repeat.
    let reported = aws.clean(&["--expired"]).well();
    assert!(reported.contains("nothing has expired in us-east-1"), "{reported}");
    let reported = aws.clean(&["--run", "gp3"]).well();
    assert!(reported.contains("nothing is left of gp3 in us-east-1") && reported.contains("kept: gp3-2"), "{reported}");

    // By its name, though it goes on.
    let reported = aws.clean(&["--run", "gp3-2"]).well();
    assert_eq!(
        reported.matches("removed ").count() + reported.matches("gone by itself: ").count(),
        OF_A_RUN,
        "{reported}"
    );
    assert!(reported.contains("removed key pair iopslab-gp3-2 of gp3-2 (us-east-1)"), "{reported}");
    assert_eq!(aws.list(region), without(&without(&before, "gp3"), "gp3-2"));
    let reported = aws.clean(&[]).well();
    assert_eq!(reported, "nothing carries the tag iopslab:run in us-east-1\n");

    // All that it asked may be asked by docs/aws-policy.json.
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/aws-policy.json");
    let policy: Value = serde_json::from_str(&std::fs::read_to_string(policy).unwrap()).unwrap();
    let statements = policy["Statement"].as_array().unwrap().iter();
    let allowed: BTreeSet<&str> = statements
        .flat_map(|statement| statement["Action"].as_array().into_iter().flatten())
        .filter_map(Value::as_str)
        .collect();
    let asked: BTreeSet<String> = aws.requests().into_iter().filter_map(by_iopslab).collect();
    assert!(asked.len() > 20, "{asked:?}");
    let more: Vec<&String> = asked.iter().filter(|action| !allowed.contains(action.as_str())).collect();
    assert!(more.is_empty(), "docs/aws-policy.json lacks {more:?}");
}

#[test]
fn what_cannot_be_removed_is_reported_and_the_rest_goes() {
    let aws = Aws::start();
    for region in ["eu-west-1", "us-west-2"] {
        aws.make(region, &json!({ "r1": PAST }));
    }
    let before = aws.list("eu-west-1");
    let instance =
        before.iter().find_map(|(id, run)| (id.starts_with("i-") && run.is_some()).then_some(id.as_str())).unwrap();
    aws.protection("protect", instance);

    // A profile that is named comes before the variables; its region is taken.
    let config = aws.lab.write(
        "aws-config",
        &format!(
            "[profile tests]\nregion = eu-west-1\naws_access_key_id = {PROFILE}\naws_secret_access_key = secret\n"
        ),
    );
    let by_profile = |more: &[&str]| {
        let arguments = [&["clean", "--aws", "--run", "r1", "--profile", "tests"], more].concat();
        let mut command = aws.command(&arguments);
        command.env("AWS_CONFIG_FILE", &config);
        Said::of(&mut command)
    };
    let reported = by_profile(&[]);
    assert_eq!(reported.code, Some(1), "{}{}", reported.stdout, reported.stderr);
    assert!(
        reported
            .stdout
            .contains(&format!("could not remove instance {instance} of r1 (eu-west-1): OperationNotPermitted")),
        "{}",
        reported.stdout
    );
    assert!(reported.stdout.contains("removed key pair iopslab-r1"), "{}", reported.stdout);
    assert!(reported.stderr.contains("things could not be removed"), "{}", reported.stderr);
    let asked = |as_whom: &str| aws.requests().iter().filter(|(_, who)| who == as_whom).count();
    assert!(asked(PROFILE) > 20 && asked(IOPSLAB) == 0);
    let after = aws.list("eu-west-1");
    assert!(after.contains_key(instance) && after.len() < before.len(), "{after:?}");

    // Both regions, one after the other.
    aws.protection("release", instance);
    let reported = by_profile(&["--region", "eu-west-1", "--region", "us-west-2"]).well();
    assert!(reported.contains("(eu-west-1)") && reported.contains("(us-west-2)"), "{reported}");
    for region in ["eu-west-1", "us-west-2"] {
        let left = aws.list(region);
        assert!(left.values().all(Option::is_none), "{region}: {left:?}");
    }
}

#[test]
fn an_aws_that_does_not_answer_is_no_empty_account() {
    let lab = Laboratory::new();
    let clean = |arguments: &[&str]| {
        let mut command = lab.iopslab(&[&["clean", "--aws"], arguments].concat());
        command
            // Nobody listens there.
            .env("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_CONFIG_FILE", "/nonexistent")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env_remove("AWS_PROFILE");
        Said::of(&mut command)
    };
    for choice in [&["--region", "eu-west-1"][..], &["--all", "--region", "eu-west-1"]] {
        let reported = clean(choice);
        let said = reported.all();
        assert_eq!(reported.code, Some(1), "{said}");
        assert!(said.contains("EC2 did not list what runs have in eu-west-1"), "{said}");
        assert!(!reported.stdout.contains("nothing"), "{said}");
    }
    let reported = clean(&["--all", "--region", "eu-west-1.example.org/"]);
    assert!(reported.code == Some(2) && reported.stderr.contains("no name of a region"), "{}", reported.stderr);
    let reported = clean(&["--all", "--profile", "nobody"]);
    assert!(reported.code == Some(1) && reported.stderr.contains("credentials"), "{}", reported.stderr);
}

#[test]
fn flags_that_do_not_fit_are_refused() {
    let lab = Laboratory::new();
    for arguments in [
        &["clean", "--dry-run"][..],
        &["clean", "--all"],
        &["clean", "--aws", "--snapshots", "--all"],
        &["clean", "--aws", "--hosts", "x.toml", "--all"],
        &["clean", "--aws", "--all", "--expired"],
        &["clean", "--aws", "--run", "r1", "--expired"],
    ] {
        lab.exits(2, arguments);
    }
}
