//! Sites that are held to what Service Quotas grants: `plan` and `run` against an AWS API server on this machine
//! (moto), whose account already has machines and volumes of somebody else.

#![cfg(feature = "aws")]

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::account::Aws;
use crate::support::{Exits, Said};
use serde_json::{Value, json};

/// Two machines of 2 vCPUs, and a client of 2 beside each batch; 64 GiB of gp3 as root of each.
const EXPERIMENT: &str = r#"
name = "quotas"
[dataset]
records = 5_000
[[configuration]]
name = "gp3"
instance = "m7i.large"
data_volume = { type = "gp3", size_gib = 100 }
[[configuration]]
name = "io2"
instance = "m7i.large"
data_volume = { type = "io2", size_gib = 100, iops = 3000 }
[[workload]]
name = "mixed"
read = 0.5
update = 0.5
[load]
concurrency = [4]
warmup_s = 1
duration_s = 10
repetitions = 3
[provider.aws]
controller_cidr = "203.0.113.7/32"
public_address = true
client = "c7i.large"
[[provider.aws.site]]
name = "home"
region = "us-east-1"
limits = "quotas"
"#;

const PLAN: [&str; 4] = ["plan", "own.toml", "--provider", "aws"];

/// Somebody has two m5.large there, with volumes.
fn aws() -> Aws {
    let aws = Aws::start();
    aws.account.ask(&json!({ "ask": "make", "region": "us-east-1", "runs": { "somebody": null } }));
    aws.lab.write("own.toml", EXPERIMENT);
    aws
}

impl Aws {
    fn quota(&self, service: &str, code: &str, value: Option<f64>) {
        let question =
            json!({ "ask": "quota", "region": "us-east-1", "service": service, "code": code, "value": value });
        self.account.ask(&question);
    }

    /// What a plan says that ends so.
    fn planned(&self, code: i32) -> String {
        self.command(&PLAN).exits(code).all()
    }

    /// Questions to the API, as the policy calls them.
    fn actions(&self) -> Vec<String> {
        let asked = self.account.requests().into_iter().map(|line| {
            let word = |key: &str| line[key].as_str().unwrap_or_default().replace("service-quotas", "servicequotas");
            format!("{}:{}", word("service"), word("action"))
        });
        asked.collect()
    }
}

/// The text as one line, whatever its width was.
fn flat(said: &str) -> String {
    let words = said.split_whitespace().filter(|word| !matches!(*word, "│" | "|"));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_plan_is_held_to_what_the_account_has_left() {
    let aws = aws();
    // Four of eight vCPUs are left: a machine and a client at a time.
    aws.quota("ec2", "L-1216C47A", Some(8.0));
    aws.quota("ebs", "L-7A658B76", None);
    let said = aws.planned(0);
    for part in [
        "in 2 batches",
        "Service Quotas of home:",
        "L-1216C47A: 8 vCPUs, on demand, of standard types (A, C, D, H, I, M, R, T, Z), 4 in use",
        "L-7A658B76: 51200 GiB of gp3 by AWS's default, ",
        "L-09BD8365: 20480 GiB of io2, 0 in use",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let document = Said::of(aws.command(&PLAN).args(["--format", "json"])).json();
    let quotas = &document["plan"]["place"]["bought"]["sites"][0]["limits"]["quotas"];
    assert_eq!(
        quotas["vcpus"]["standard"],
        json!({ "code": "L-1216C47A", "granted": 8, "in_use": 4, "is_default": false })
    );
    // Roots of somebody's machines are gp2 there; two volumes of 8 GiB and one alone are not.
    assert_eq!(
        quotas["volume_gib"]["gp3"],
        json!({ "code": "L-7A658B76", "granted": 51_200, "in_use": 24, "is_default": true })
    );

    // One less is none.
    aws.quota("ec2", "L-1216C47A", Some(7.0));
    let said = flat(&aws.planned(2));
    let why = "home: 4 vCPUs of 3 that are left: L-1216C47A grants 7, 4 are in use";
    assert!(said.contains("no site has room for `gp3`") && said.contains(why), "{said}");
    // Volumes: 228 GiB of gp3 and 24 of somebody's are more than a quarter of a TiB less 5 GiB.
    aws.quota("ec2", "L-1216C47A", Some(1_000.0));
    aws.quota("ebs", "L-7A658B76", Some(0.245));
    let said = flat(&aws.planned(2));
    assert!(said.contains("home: 228 GiB of gp3 of 226 that are left"), "{said}");

    // What may not be asked is reported with its permission, at its place; nothing is taken for unlimited.
    let line = EXPERIMENT.lines().position(|line| line.starts_with("limits")).unwrap() + 1;
    let place = format!("own.toml:{line}:");
    let denied = [
        ("GetServiceQuota", "AccessDeniedException", "servicequotas:GetServiceQuota"),
        ("DescribeInstances", "UnauthorizedOperation", "ec2:DescribeInstances"),
        ("DescribeVolumes", "UnauthorizedOperation", "ec2:DescribeVolumes"),
    ];
    for (action, code, permission) in denied {
        aws.account.ask(&json!({
            "ask": "refuse", "action": action, "region": "us-east-1",
            "code": code, "status": 400, "after": 0, "times": -1,
        }));
        let said = flat(&aws.planned(2));
        aws.account.ask(&json!({ "ask": "allow" }));
        assert!(said.contains("the quotas of home cannot be read:"), "{said}");
        assert!(said.contains(code) && said.contains(permission) && said.contains(&place), "{said}");
    }

    let policy: Value = serde_json::from_str(include_str!("../../../docs/aws-policy.json")).unwrap();
    let policy = policy.to_string();
    let asked: BTreeSet<String> = aws.actions().into_iter().collect();
    let missing: Vec<&String> = asked.iter().filter(|one| !policy.contains(&format!("\"{one}\""))).collect();
    assert!(asked.len() == 5 && missing.is_empty(), "{asked:?} {missing:?}");
}

#[test]
fn a_run_keeps_the_limits_that_it_was_planned_with() {
    let aws = aws();
    aws.quota("ec2", "L-1216C47A", Some(8.0));
    let script = "#!/bin/sh\nif test $1 = version; then echo '{\"terraform_version\":\"1.9.0\"}'; else exit 1; fi\n";
    let terraform = aws.lab.write("terraform", script);
    std::fs::set_permissions(&terraform, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = |arguments: &[&str]| aws.command(arguments).env("IOPSLAB_TERRAFORM", &terraform).exits(1).stderr;
    let said = run(&["run", "own.toml", "--provider", "aws", "--yes"]);
    assert!(said.contains("in 2 batches") && said.contains("L-1216C47A: 8 vCPUs"), "{said}");
    let directory = aws.lab.run_directory();
    let asked = aws.actions().len();
    // All could stand together now; the run goes on as it was begun, and nobody is asked again.
    aws.quota("ec2", "L-1216C47A", Some(1_000.0));
    let said = run(&["run", "--resume", directory.to_str().unwrap(), "--yes"]);
    assert!(said.contains("in 2 batches") && said.contains("L-1216C47A: 8 vCPUs"), "{said}");
    assert_eq!(aws.actions().len(), asked);
}
