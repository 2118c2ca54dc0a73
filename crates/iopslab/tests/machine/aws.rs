//! The story of machines that are made on AWS, used and taken away: real Terraform against an API server of this machine,
//! real Cassandra on what it was asked for.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::cloud::Cloud;
use crate::support::{Laboratory, conformance, lane::Share, wait_for};

const EXPERIMENT: &str = r#"
name = "bought"
question = "Does a run on machines that are made end with a report and without a bill?"

[dataset]
records = 5_000

[[configuration]]
name = "gp3-3000"
instance = "m7i.large"
data_volume = { type = "gp3", size_gib = 100 }

[[configuration]]
name = "gp3-3600"
instance = "m7i.large"
data_volume = { type = "gp3", size_gib = 100, iops = 3600 }
commitlog_volume = { type = "gp3", size_gib = 50 }

[[workload]]
name = "mixed"
read = 0.5
update = 0.5
distribution = "uniform"

[load]
concurrency = [4]
warmup_s = 1
duration_s = 8
repetitions = 1

[provider.local]
heap_mib = 512

[provider.aws]
region = "us-east-1"
controller_cidr = "10.80.255.254/32"
public_address = true
ssh_user = "root"
image_x86_64 = "ami-12c6146b"
tags = { team = "storage" }
"#;

struct Story {
    /// Dropped after its machines.
    lab: Laboratory,
    cloud: Cloud,
    /// The last run that was started.
    run: Option<Child>,
}

impl Drop for Story {
    fn drop(&mut self) {
        if let Some(mut run) = self.run.take() {
            // It has ended where the story went well.
            let _ = run.kill();
            let _ = run.wait();
        }
    }
}

impl Story {
    fn new() -> Self {
        let lab = Laboratory::on_machine(Share::Half);
        let cloud = Cloud::new(lab.path());
        lab.write("own.toml", EXPERIMENT);
        Self { lab, cloud, run: None }
    }

    fn start(&mut self, arguments: &[&str]) {
        let said = std::fs::File::create(self.lab.path().join("stderr.txt")).unwrap();
        let mut command = self.cloud.within(env!("CARGO_BIN_EXE_iopslab"));
        if std::env::var_os("IOPSLAB_TERRAFORM_PLUGINS").is_none() && std::path::Path::new("/opt/tf-plugins").exists() {
            command.env("IOPSLAB_TERRAFORM_PLUGINS", "/opt/tf-plugins");
        }
        command
            .args(arguments)
            .current_dir(self.lab.path())
            .env("XDG_CONFIG_HOME", self.lab.path().join("no-configuration"))
            .stdout(Stdio::null())
            .stderr(said);
        self.run = Some(command.spawn().unwrap());
    }

    /// The public key of the run's machines, once there is one.
    fn key(&self) -> PathBuf {
        let runs = std::fs::read_dir(self.lab.path().join("runs"))
            .into_iter()
            .flatten()
            .flatten();
        let key = runs.map(|run| run.path().join("terraform/id_ed25519.pub")).next();
        key.unwrap_or_else(|| self.lab.path().join("no-key"))
    }

    /// Machines come and go as the run asks for them, until it has ended; gives whether it succeeded.
    fn ends_well(&mut self) -> bool {
        let began = Instant::now();
        loop {
            let key = self.key();
            self.cloud.follow(&key);
            if let Some(status) = self.run.as_mut().unwrap().try_wait().unwrap() {
                println!("--- {status}\n{}", self.lab.stderr_so_far());
                return status.success();
            }
            assert!(
                began.elapsed() < Duration::from_secs(400),
                "{}",
                self.lab.stderr_so_far()
            );
            std::thread::sleep(Duration::from_millis(500));
        }
    }
}

/// The actions that the policy in the docs allows.
fn allowed() -> BTreeSet<String> {
    let text = include_str!("../../../../docs/aws-policy.json");
    let policy: serde_json::Value = serde_json::from_str(text).unwrap();
    let statements = policy["Statement"].as_array().unwrap().iter();
    let actions = statements.flat_map(|statement| statement["Action"].as_array().unwrap());
    actions.map(|action| action.as_str().unwrap().to_owned()).collect()
}

#[test]
fn machines_are_made_measured_and_taken_away() {
    let mut story = Story::new();

    // A controller that is killed while machines are made leaves what finds them again.
    story.start(&["run", "own.toml", "--provider", "aws", "--yes", "--out", "killed"]);
    wait_for("the first machine", Duration::from_secs(120), || {
        !story.cloud.left_of("instance").is_empty()
    });
    story.run.as_mut().unwrap().kill().unwrap();
    story.run.as_mut().unwrap().wait().unwrap();
    let killed = story.lab.path().join("killed");
    let killed = std::fs::read_dir(killed).unwrap().next().unwrap().unwrap().path();
    story.start(&["destroy", killed.to_str().unwrap()]);
    assert!(story.ends_well());
    assert_eq!(story.cloud.left(), Vec::<String>::new());
    assert!(
        !killed.join("terraform/id_ed25519").exists(),
        "it opens nothing any more"
    );

    story.start(&["run", "own.toml", "--provider", "aws", "--yes"]);
    wait_for("all machines", Duration::from_secs(120), || {
        story.cloud.left_of("instance").len() == 3
    });
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
    let asked = story.cloud.actions();
    let missing: Vec<&String> = asked
        .difference(&allowed())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    assert!(
        asked.len() > 20 && missing.is_empty(),
        "not in docs/aws-policy.json: {missing:?}"
    );
}
