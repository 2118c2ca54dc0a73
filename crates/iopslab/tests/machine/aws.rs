//! Machines that are made on AWS and taken away: real Terraform against an API server of this machine. The story in
//! which a database runs on them is `bought`.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::cloud::Cloud;
use crate::support::{Laboratory, wait_for};

pub const EXPERIMENT: &str = r#"
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
rate = [200]
rest_max_s = 0
warmup_s = 1
duration_s = 3
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

/// For a run from its start to its end.
const PATIENCE: Duration = Duration::from_secs(900);

pub struct Story {
    /// Dropped after its machines.
    pub lab: Laboratory,
    pub cloud: Cloud,
    /// The last run that was started.
    run: Option<Child>,
    /// Whether credentials come from profiles.
    has_profiles: bool,
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
    pub fn new(lab: Laboratory) -> Self {
        Self::of(lab, EXPERIMENT)
    }

    /// With this as `own.toml`.
    pub fn of(lab: Laboratory, experiment: &str) -> Self {
        let cloud = Cloud::new(lab.path());
        lab.write("own.toml", experiment);
        Self { lab, cloud, run: None, has_profiles: false }
    }

    /// Profiles of accounts of these numbers; from here on credentials come from them.
    pub fn profiles(&mut self, accounts: &[(&str, &str)]) {
        let profile = |(name, id): &(&str, &str)| {
            let keys = self.cloud.ask(&json!({ "ask": "account", "id": id }));
            let word = |key: &str| keys[key].as_str().unwrap().to_owned();
            let (key, secret) = (word("access_key"), word("secret"));
            format!("[{name}]\naws_access_key_id = {key}\naws_secret_access_key = {secret}\n")
        };
        let text: String = accounts.iter().map(profile).collect();
        self.lab.write("credentials", &text);
        self.has_profiles = true;
    }

    pub fn start(&mut self, arguments: &[&str]) {
        let said = std::fs::File::create(self.lab.path().join("stderr.txt")).unwrap();
        let mut command = self.cloud.within(env!("CARGO_BIN_EXE_iopslab"));
        if std::env::var_os("IOPSLAB_TERRAFORM_PLUGINS").is_none() && std::path::Path::new("/opt/tf-plugins").exists() {
            command.env("IOPSLAB_TERRAFORM_PLUGINS", "/opt/tf-plugins");
        }
        command
            .args(arguments)
            .current_dir(self.lab.path())
            // Less time in garbage collection: Terraform starts its provider again for each step.
            .env("GOGC", "400")
            .env("XDG_CONFIG_HOME", self.lab.path().join("no-configuration"))
            .stdout(Stdio::null())
            .stderr(said);
        if self.has_profiles {
            command
                .env("AWS_SHARED_CREDENTIALS_FILE", self.lab.path().join("credentials"))
                .env_remove("AWS_ACCESS_KEY_ID")
                .env_remove("AWS_SECRET_ACCESS_KEY");
        }
        self.run = Some(command.spawn().unwrap());
    }

    /// The last run is killed: it can do nothing more.
    pub fn kill(&mut self) {
        let run = self.run.as_mut().unwrap();
        run.kill().unwrap();
        run.wait().unwrap();
    }

    /// The public keys of the run's machines, as far as there are.
    fn keys(&self) -> Vec<PathBuf> {
        let below = |directory: PathBuf| std::fs::read_dir(directory).into_iter().flatten().flatten();
        let runs = ["runs", "elsewhere"].map(|of| below(self.lab.path().join(of)));
        let runs = runs.into_iter().flatten().map(|run| run.path().join("terraform"));
        let each = runs.flat_map(|terraform| below(terraform.clone()).map(|batch| batch.path()).chain([terraform]));
        each.map(|directory| directory.join("id_ed25519.pub")).filter(|key| key.exists()).collect()
    }

    /// Machines come and go as the run asks for them, until this is so.
    pub fn follows_until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            self.follow();
            assert!(began.elapsed() < PATIENCE, "{what}: {}", self.lab.stderr_so_far());
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Whether a Terraform works for the run.
    pub fn terraform_is_at_work(&self) -> bool {
        let lock = self.lab.run_directory().join("terraform/.terraform.tfstate.lock.info");
        lock.exists()
    }

    /// What the API was asked for until now.
    fn follow(&mut self) {
        if self.cloud.is_simulated && self.cloud.simulated.is_none() {
            self.cloud.simulated = self.lab.run_so_far();
        }
        self.cloud.follow(&self.keys());
    }

    /// Machines come and go as the run asks for them, until it has ended; gives whether it succeeded.
    pub fn ends_well(&mut self) -> bool {
        let began = Instant::now();
        loop {
            self.follow();
            if let Some(status) = self.run.as_mut().unwrap().try_wait().unwrap() {
                println!("--- {status}\n{}", self.lab.stderr_so_far());
                return status.success();
            }
            assert!(began.elapsed() < PATIENCE, "{}", self.lab.stderr_so_far());
            std::thread::sleep(Duration::from_millis(500));
        }
    }
}

#[test]
fn what_a_killed_controller_had_made_is_taken_away() {
    let mut story = Story::new(Laboratory::new());
    story.start(&["run", "own.toml", "--provider", "aws", "--yes"]);
    wait_for("the first machine", Duration::from_secs(300), || !story.cloud.left_of("instance").is_empty());
    story.kill();
    let run = story.lab.run_directory();
    story.start(&["destroy", run.to_str().unwrap()]);
    assert!(story.ends_well());
    assert_eq!(story.cloud.left(), Vec::<String>::new());
    for (key, why) in [("id_ed25519", "opens"), ("host_ed25519", "shows")] {
        assert!(!run.join("terraform").join(key).exists(), "it {why} nothing any more");
    }
    // Again is no mistake.
    story.start(&["destroy", run.to_str().unwrap()]);
    assert!(story.ends_well());
}
