//! The story of machines by SSH: a cluster of two and a client, each with its own network and its own sshd. One
//! function, because starting them and loading the data set is what takes time.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "support/network.rs"]
mod network;
mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use network::{CONTROLLER, Network};
use serde_json::Value;
use support::{Laboratory, conformance, wait_for};

fn experiment(repetitions: u32) -> String {
    format!(
        r#"
name = "pair"
question = "Does a run by SSH end with a report and without a trace?"

[dataset]
records = 5_000

[[configuration]]
name = "two"
instance = {{ vcpus = 2, memory_gib = 16 }}
data_volume = {{ iops = 3000, mib_per_s = 125, size_gib = 2 }}
nodes = 2
replication_factor = 2
consistency = "quorum"

[[workload]]
name = "mixed"
read = 0.5
update = 0.5
distribution = "uniform"

[load]
concurrency = [4]
warmup_s = 2
duration_s = 10
repetitions = {repetitions}

[provider.local]
heap_mib = 512

[provider.hosts]
ssh_config = "ssh_config"
client = ["load1"]
database = [
    {{ ssh = "db1", work_directory = "@/hosts/db1/work", data = "@/hosts/db1/data" }},
    {{ ssh = "db2", work_directory = "@/hosts/db2/work", data = "@/hosts/db2/data" }},
]
"#
    )
}

const CUT: &str = r#"
[[fault]]
kind = "host-cut"
node = 2
at_s = 6
for_s = 4

[[fault]]
kind = "node-stop"
node = 1
at_s = 15
"#;

struct Story {
    network: Network,
    lab: Laboratory,
    program: PathBuf,
}

impl Story {
    fn new() -> Self {
        let lab = Laboratory::new();
        let network = Network::new(lab.path());
        // Without what debuggers need it is brought to three hosts in a moment.
        let program = lab.path().join("iopslab");
        let own = env!("CARGO_BIN_EXE_iopslab");
        let stripped = Command::new("strip").arg("-o").arg(&program).arg(own).status();
        if !stripped.is_ok_and(|status| status.success()) {
            std::fs::copy(own, &program).unwrap();
        }
        for name in ["db1", "db2"] {
            std::fs::create_dir_all(network.of_host(name).join("data")).unwrap();
        }
        let place = lab.path().display().to_string();
        // The network of one node is cut in mid-trial, as planned, and the other one is stopped near the end.
        let cut = experiment(1)
            .replace("duration_s = 10", "duration_s = 18")
            .replace("\"quorum\"", "{ read = \"one\", update = \"quorum\" }")
            .replace('@', &place)
            + CUT;
        lab.write("one.toml", &cut);
        lab.write("plain.toml", &experiment(1).replace('@', &place));
        lab.write("two.toml", &experiment(2).replace('@', &place));
        Self { network, lab, program }
    }

    /// iopslab where the controller is; what it says goes to a file.
    fn start(&self, arguments: &[&str]) -> Child {
        let said = std::fs::File::create(self.lab.path().join("stderr.txt")).unwrap();
        let mut command = self.network.within(CONTROLLER, self.program.to_str().unwrap());
        command
            .args(arguments)
            .current_dir(self.lab.path())
            .env("XDG_CONFIG_HOME", self.lab.path().join("no-configuration"))
            .stdout(Stdio::null())
            .stderr(said);
        command.spawn().unwrap()
    }

    fn said(&self) -> String {
        self.lab.stderr_so_far()
    }

    /// Runs to the end; gives whether it succeeded.
    fn run(&self, arguments: &[&str]) -> bool {
        let status = self.start(arguments).wait().unwrap();
        println!("--- {arguments:?}: {status}\n{}", self.said());
        status.success()
    }

    fn run_directory(&self, out: &str) -> PathBuf {
        let mut runs = std::fs::read_dir(self.lab.path().join(out)).unwrap();
        runs.next().unwrap().unwrap().path()
    }

    /// Waits until a trial is being measured.
    fn in_mid_trial(&self) {
        wait_for("a trial under load", Duration::from_secs(180), || {
            self.network.has_connections("load1") && self.said().contains("data set of")
        });
        std::thread::sleep(Duration::from_secs(6));
    }
}

fn trial(run: &Path, block: u32) -> Value {
    let path = run.join(format!("trials/two.mixed.c4/{block}/trial.json"));
    serde_json::from_slice(&std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))).unwrap()
}

#[test]
fn machines_by_ssh_from_the_first_key_to_the_last_trace() {
    let mut story = Story::new();
    hosts_that_cannot_be_used_are_refused_before_anything_starts(&mut story);
    a_run_ends_with_a_report_and_leaves_nothing(&story);
    a_host_that_is_cut_off_costs_its_trial_and_the_run_goes_on(&story);
    hosts_of_a_killed_controller_clean_themselves_and_the_run_resumes(&story);
}

fn hosts_that_cannot_be_used_are_refused_before_anything_starts(story: &mut Story) {
    let arguments = ["run", "one.toml", "--provider", "hosts", "--out", "refused"];
    story.network.trust(&BTreeMap::from([("db2", "db1"), ("load1", "")]));
    assert!(!story.run(&arguments));
    let said = story.said();
    assert!(
        said.contains("cannot connect to db2") && said.contains("HOST IDENTIFICATION HAS CHANGED"),
        "{said}"
    );
    assert!(
        said.contains("cannot connect to load1") && said.contains("Host key verification failed"),
        "{said}"
    );
    assert!(!story.lab.path().join("refused").exists());
    story.network.trust_all();

    story.network.fill("db2");
    assert!(!story.run(&arguments));
    let said = story.said();
    assert!(
        said.contains("db2: cannot bring iopslab there") && said.contains("No space left on device"),
        "{said}"
    );
    assert!(!story.lab.path().join("refused").exists());
    story.network.empty();
    assert_eq!(story.network.leftovers(), Vec::<String>::new());
}

fn a_run_ends_with_a_report_and_leaves_nothing(story: &Story) {
    assert!(story.run(&["run", "one.toml", "--provider", "hosts", "--out", "whole"]));
    let run = story.run_directory("whole");
    conformance::is_whole(&story.lab, &run, "hosts");
    let record = trial(&run, 1);
    let nodes = record["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 2);
    for node in nodes {
        // Nothing is limited, and nothing says so: the machine's own CPUs, and no limit of the stated volume.
        let limits = &node["volumes"][0]["limits"];
        assert!(limits["read_iops"].is_null(), "{limits}");
        assert!(node["volumes"][0]["probe"]["read_iops"].as_f64().unwrap() > 0.0);
    }
    // Two replicas, written at QUORUM: while one is cut off no write is acknowledged, and each that was is on both.
    let fault = &record["faults"][0];
    assert_eq!(
        (&fault["kind"], &fault["host"]),
        (&"host-cut".into(), &"database-2".into())
    );
    let at = |key: &str| fault[key].as_f64().unwrap_or_else(|| panic!("{key} in {fault:#}"));
    assert!(
        (6.0..8.0).contains(&at("began_s")) && (10.0..14.0).contains(&at("back_s")),
        "{fault:#}"
    );
    // The other one stays away: what is read back comes from the one that was cut off.
    let stopped = &record["faults"][1];
    assert_eq!(
        (&stopped["kind"], &stopped["host"], &stopped["problem"]),
        (&"node-stop".into(), &"database".into(), &Value::Null)
    );
    assert!(stopped["gone_s"].as_f64() > stopped["began_s"].as_f64(), "{stopped:#}");
    let analysis: Value = serde_json::from_slice(&std::fs::read(run.join("analysis.json")).unwrap()).unwrap();
    let phases = &analysis["cells"][0]["faults"]["phases"];
    let of = |phase: &str| {
        phases
            .as_array()
            .unwrap()
            .iter()
            .find(|p| p["phase"] == phase)
            .unwrap()
            .clone()
    };
    let per_second = |phase: &str| of(phase)["throughput_ops_per_s"]["median"].as_f64();
    println!("{phases:#}");
    assert!(
        per_second("during").unwrap() < 0.5 * per_second("before").unwrap(),
        "{phases:#}"
    );
    let writes = &record["writes"];
    assert!(writes["acknowledged"].as_u64().unwrap() > 0, "{writes:#}");
    assert_eq!(writes["intact"], writes["values"], "{writes:#}");
    wait_for("the end of all processes", Duration::from_secs(10), || {
        story.network.leftovers().is_empty()
    });
    assert!(story.run(&["clean", "--hosts", "one.toml"]));
}

fn a_host_that_is_cut_off_costs_its_trial_and_the_run_goes_on(story: &Story) {
    let mut run = story.start(&["run", "two.toml", "--provider", "hosts", "--out", "cut"]);
    story.in_mid_trial();
    story.network.link("db2", "down");
    // Long enough for the agent there to give up, and for the controller to try in vain.
    std::thread::sleep(Duration::from_secs(20));
    story.network.link("db2", "up");
    let status = run.wait().unwrap();
    println!("--- cut: {status}\n{}", story.said());
    assert!(status.success());
    let directory = story.run_directory("cut");
    let (first, second) = (trial(&directory, 1), trial(&directory, 2));
    assert_eq!(
        (first["status"].as_str(), first["cause"].as_str()),
        (Some("invalid"), Some("host_lost")),
        "{first:#}"
    );
    assert!(first["reason"].as_str().unwrap().contains("db2"), "{first:#}");
    assert_eq!(second["status"], "valid", "{second:#}");
    wait_for("the end of all processes", Duration::from_secs(10), || {
        story.network.leftovers().is_empty()
    });
}

fn hosts_of_a_killed_controller_clean_themselves_and_the_run_resumes(story: &Story) {
    let mut run = story.start(&["run", "plain.toml", "--provider", "hosts", "--out", "killed"]);
    story.in_mid_trial();
    run.kill().unwrap();
    run.wait().unwrap();
    let began = Instant::now();
    wait_for("hosts that clean themselves", Duration::from_secs(20), || {
        story.network.leftovers().is_empty()
    });
    println!(
        "--- killed: hosts were clean after {:.1} s",
        began.elapsed().as_secs_f64()
    );
    let directory = story.run_directory("killed");
    assert!(story.run(&["run", "--resume", directory.to_str().unwrap()]));
    conformance::is_whole(&story.lab, &directory, "hosts");
    wait_for("the end of all processes", Duration::from_secs(10), || {
        story.network.leftovers().is_empty()
    });
}
