//! The story of machines that are made on AWS, used and taken away: real Terraform against an API server of this machine,
//! real Cassandra on what it was asked for.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::cloud::Cloud;
use crate::support::{Laboratory, conformance, lane::Share};

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
            self.untagged.extend(self.cloud.untagged());
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

#[test]
fn machines_are_made_measured_and_taken_away() {
    let mut story = Story::new();
    story.start(&["run", "own.toml", "--provider", "aws", "--yes"]);
    assert!(story.ends_well());
    assert_eq!(story.cloud.left(), Vec::<String>::new());
    let directory = story.lab.run_directory();
    conformance::is_whole(&story.lab, &directory, "aws");
    assert!(directory.join("report.html").exists());
}
