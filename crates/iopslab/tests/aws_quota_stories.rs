//! Sites that are held to what Service Quotas grants: `plan` and `run` against an AWS API server on this machine
//! (moto), whose account already has machines and volumes of somebody else.

#![cfg(feature = "aws")]

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

use crate::support::Laboratory;
use crate::support::account::Account;
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

/// An AWS of its own.
struct Aws {
    account: Account,
    lab: Laboratory,
    address: String,
}

impl Aws {
    /// Somebody has two m5.large there, with volumes.
    fn start() -> Self {
        let lab = Laboratory::new();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let account = Account::start(lab.path(), port, &[]);
        account.ask(&json!({ "ask": "make", "region": "us-east-1", "runs": { "somebody": null } }));
        lab.write("own.toml", EXPERIMENT);
        let address = format!("127.0.0.1:{port}");
        Self { account, lab, address }
    }

    fn quota(&self, service: &str, code: &str, value: Option<f64>) {
        let question =
            json!({ "ask": "quota", "region": "us-east-1", "service": service, "code": code, "value": value });
        self.account.ask(&question);
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.iopslab(arguments);
        command
            .env("AWS_ENDPOINT_URL", format!("http://{}", self.address))
            .env("AWS_ACCESS_KEY_ID", "IOPSLAB0000000000000")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_CONFIG_FILE", "/nonexistent")
            .env("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env_remove("AWS_PROFILE")
            .env_remove("AWS_DEFAULT_REGION")
            .env_remove("AWS_REGION");
        command
    }

    fn plan(&self, more: &[&str]) -> Output {
        let arguments = [&["plan", "own.toml", "--provider", "aws"], more].concat();
        self.command(&arguments).output().unwrap()
    }

    /// What a plan says that ends so.
    fn planned(&self, code: i32) -> String {
        let output = self.plan(&[]);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        said
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

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The text as one line, whatever its width was.
fn flat(said: &str) -> String {
    let words = said.split_whitespace().filter(|word| !matches!(*word, "│" | "|"));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_plan_is_held_to_what_the_account_has_left() {
    let aws = Aws::start();
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
    let document: Value = serde_json::from_slice(&aws.plan(&["--format", "json"]).stdout).unwrap();
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
    let aws = Aws::start();
    aws.quota("ec2", "L-1216C47A", Some(8.0));
    let script = "#!/bin/sh\nif test $1 = version; then echo '{\"terraform_version\":\"1.9.0\"}'; else exit 1; fi\n";
    let terraform = aws.lab.write("terraform", script);
    std::fs::set_permissions(&terraform, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = |arguments: &[&str]| {
        let output = aws.command(arguments).env("IOPSLAB_TERRAFORM", &terraform).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        said
    };
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
