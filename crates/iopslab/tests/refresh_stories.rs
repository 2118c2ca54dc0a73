//! `iopslab catalog refresh` against a real AWS API server on this machine (moto), and a user's own types.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![cfg(feature = "aws")]

mod support;

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use support::{Laboratory, wait_for};

/// moto's server, ended with the test.
struct Aws {
    server: Child,
    address: String,
}

impl Aws {
    fn start() -> Self {
        let program = std::env::var_os("IOPSLAB_MOTO_SERVER").map_or_else(installed, PathBuf::from);
        assert!(
            program.exists(),
            "{} is missing; run scripts/setup.sh --tests",
            program.display()
        );
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let aws = Self {
            server,
            address: format!("127.0.0.1:{port}"),
        };
        wait_for("moto's server", Duration::from_secs(60), || {
            std::net::TcpStream::connect(&aws.address).is_ok()
        });
        aws
    }

    /// `iopslab` as a user of this AWS.
    fn iopslab(&self, lab: &Laboratory, arguments: &[&str]) -> Output {
        lab.iopslab(arguments)
            .env("AWS_ENDPOINT_URL", format!("http://{}", self.address))
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_CONFIG_FILE", "/nonexistent")
            .env_remove("AWS_REGION")
            .output()
            .unwrap()
    }
}

impl Drop for Aws {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

fn installed() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"),
        PathBuf::from,
    );
    cache.join("iopslab/moto-5.2/bin/moto_server")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn what_aws_tells_comes_before_the_programs_own_table() {
    let (lab, aws) = (Laboratory::new(), Aws::start());
    let before = json(&lab.output(&["--format", "json", "catalog", "list"]));
    let told = json(&aws.iopslab(&lab, &["--format", "json", "catalog", "refresh"]));
    // moto 5.2 carries DescribeInstanceTypes dumps of real regions, and no price list.
    let types = told["instance_types"].as_u64().unwrap();
    assert!(types > 700, "{told}");
    assert!(
        told["prices_missing"].as_str().unwrap().contains("price list"),
        "{told}"
    );
    let file = lab.path().join("catalog/00-aws-us-east-1.toml");
    assert_eq!(told["file"], file.display().to_string());

    let after = json(&lab.output(&["--format", "json", "catalog", "list"]));
    let count = |list: &Value| list.as_array().unwrap().len() as u64;
    assert_eq!(
        count(&after),
        count(&before) + told["new_instance_types"].as_u64().unwrap(),
        "new types are added, known ones are replaced"
    );
    // What AWS does not tell stays: measured disks, prices with their days, years of introduction.
    let show = json(&lab.output(&["--format", "json", "catalog", "show", "i3.4xlarge"]));
    assert_eq!(show["instance"]["local_disks"]["read_iops"], 825_000.0);
    assert_eq!(show["instance"]["on_demand_usd_per_hour"], 1.248);
    let cost = json(&lab.output(&[
        "--format",
        "json",
        "catalog",
        "cost",
        "i3.2xlarge*3",
        "--price-date",
        "2017-11-12",
    ]));
    assert_eq!(cost["usd_per_month"], 1366.56);

    // A second refresh keeps prices that the file has and AWS does not tell.
    let text = std::fs::read_to_string(&file).unwrap();
    let priced = text.replace(
        "name = \"i3.4xlarge\"\n",
        "name = \"i3.4xlarge\"\nusd_per_hour = 1.5\nprice_date = \"2026-11-01\"\n",
    );
    assert_ne!(priced, text);
    std::fs::write(&file, priced).unwrap();
    json(&aws.iopslab(&lab, &["--format", "json", "catalog", "refresh"]));
    let show = json(&lab.output(&["--format", "json", "catalog", "show", "i3.4xlarge"]));
    assert_eq!(show["instance"]["on_demand_usd_per_hour"], 1.5);
    assert_eq!(show["instance"]["price_date"], "2026-11-01");
}

#[test]
fn an_aws_that_does_not_answer_changes_nothing() {
    let lab = Laboratory::new();
    let output = lab
        .iopslab(&["catalog", "refresh", "--region", "eu-west-1"])
        // Nobody listens there.
        .env("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .env("AWS_CONFIG_FILE", "/nonexistent")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("eu-west-1") && stderr.contains("help:"), "{stderr}");
    assert!(!lab.path().join("catalog").exists());
}
