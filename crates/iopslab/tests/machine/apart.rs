//! The story of machines by SSH: clusters of two and of three, and two clients, each with its own network and its own
//! sshd. One function, because starting them and loading the data set is what takes time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::network::{CONTROLLER, Network};
use crate::support::{Laboratory, conformance, has_no_rights, json, lane::Share, wait_for};

fn experiment(repetitions: u32) -> String {
    format!(
        r#"
name = "pair"
question = "Does a run by SSH end with a report and without a trace?"

[dataset]
records = 5_000

[[configuration]]
name = "cluster"
instance = {{ vcpus = 2, memory_gib = 16 }}
data_volume = {{ iops = 3000, mib_per_s = 125, size_gib = 2 }}
nodes = 2
replication_factor = 2
consistency = "quorum"

[[workload]]
name = "mixed"
read = 0.2
update = 0.8
distribution = "uniform"

[load]
rate = [100]
clients = 2
rest_max_s = 0
warmup_s = 1
duration_s = 8
repetitions = {repetitions}

[provider.local]
heap_mib = 512

[provider.hosts]
ssh_config = "ssh_config"
client = ["load1", "load2"]
database = [
    {{ ssh = "db1", work_directory = "@/hosts/db1/work", data = "@/hosts/db1/data" }},
    {{ ssh = "db2", work_directory = "@/hosts/db2/work", data = "@/hosts/db2/data" }},
    {{ ssh = "db3", work_directory = "@/hosts/db3/work", data = "@/hosts/db3/data" }},
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

pub(super) struct Story {
    pub network: Network,
    pub lab: Laboratory,
    program: PathBuf,
}

impl Story {
    pub fn new() -> Self {
        let lab = Laboratory::on_machine(Share::Half);
        let network = Network::new(lab.path());
        // Without what debuggers need it is brought to three hosts in a moment.
        let program = lab.path().join("iopslab");
        let own = env!("CARGO_BIN_EXE_iopslab");
        let stripped = Command::new("strip").arg("-o").arg(&program).arg(own).status();
        if !stripped.is_ok_and(|status| status.success()) {
            std::fs::copy(own, &program).unwrap();
        }
        for name in ["db1", "db2", "db3"] {
            std::fs::create_dir_all(network.of_host(name).join("data")).unwrap();
        }
        let place = lab.path().display().to_string();
        // The network of one node is cut in mid-trial, as planned, and the other one is stopped near the end.
        let cut = experiment(1)
            .replace("duration_s = 8", "duration_s = 18")
            // The client that sends a write has to read it back.
            .replace("clients = 2\n", "")
            .replace("\"quorum\"", "{ read = \"one\", update = \"quorum\" }")
            .replace('@', &place)
            + CUT;
        lab.write("one.toml", &cut);
        let two = experiment(2).replace('@', &place);
        lab.write("two.toml", &two);
        lab.write("three.toml", &two.replace("nodes = 2", "nodes = 3"));
        Self { network, lab, program }
    }

    /// iopslab where the controller is; what it says goes to a file.
    pub fn start(&self, arguments: &[&str]) -> Child {
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

    pub fn said(&self) -> String {
        self.lab.stderr_so_far()
    }

    /// Runs to the end; gives whether it succeeded.
    pub fn run(&self, arguments: &[&str]) -> bool {
        let status = self.start(arguments).wait().unwrap();
        println!("--- {arguments:?}: {status}\n{}", self.said());
        status.success()
    }

    /// The second client sends in trials alone: a database is brought to rest by the first one.
    fn is_under_load(&self) -> bool {
        self.network.has_measured_node("db1") && self.network.has_connections("load2")
    }

    /// Waits until a trial is being measured.
    fn in_mid_trial(&self) {
        wait_for("a trial under load", Duration::from_secs(300), || self.is_under_load());
        std::thread::sleep(Duration::from_secs(3));
    }

    /// `kill -9` to the controller at the moment at which `moment` holds. Its hosts clean themselves.
    fn killed_when(&self, what: &str, mut run: Child, mut moment: impl FnMut() -> bool) {
        let began = Instant::now();
        while !moment() {
            let ended = run.try_wait().unwrap();
            let in_time = ended.is_none() && began.elapsed() < Duration::from_secs(300);
            assert!(in_time, "no moment {what}; {ended:?}\n{}", self.said());
            std::thread::sleep(Duration::from_millis(10));
        }
        run.kill().unwrap();
        run.wait().unwrap();
        let killed = Instant::now();
        let waited = killed - began;
        wait_for("hosts that clean themselves", Duration::from_secs(120), || self.network.leftovers().is_empty());
        println!(
            "--- killed {what} after {:.1} s: hosts were clean after {:.1} s\n{}",
            waited.as_secs_f64(),
            killed.elapsed().as_secs_f64(),
            self.said()
        );
    }
}

fn trial(run: &Path, block: u32) -> Value {
    json(&run.join(format!("trials/cluster.mixed.p100/{block}/trial.json")))
}

#[test]
fn machines_by_ssh_from_the_first_key_to_the_last_trace() {
    let mut story = Story::new();
    hosts_that_cannot_be_used_are_refused_before_anything_starts(&mut story);
    let run = a_controller_that_is_killed_before_the_trial_begins_goes_on(&story);
    a_run_ends_with_a_report_and_leaves_nothing(&story, &run);
    a_work_directory_that_another_user_has_made_first_is_refused(&story);
}

/// Five minutes of a lane.
#[test]
#[ignore = "make test-all"]
fn hosts_that_are_lost_cost_their_trials_and_runs_go_on() {
    let mut story = Story::new();
    a_host_that_is_cut_off_costs_its_trial_and_the_run_goes_on(&story);
    a_host_without_sshd_costs_its_trial_and_the_run_goes_on(&mut story);
}

fn hosts_that_cannot_be_used_are_refused_before_anything_starts(story: &mut Story) {
    let arguments = ["run", "one.toml", "--provider", "hosts", "--out", "refused"];
    story.network.trust(&BTreeMap::from([("db2", "db1"), ("load1", "")]));
    assert!(!story.run(&arguments));
    let said = story.said();
    assert!(said.contains("cannot connect to db2") && said.contains("HOST IDENTIFICATION HAS CHANGED"), "{said}");
    assert!(said.contains("cannot connect to load1") && said.contains("Host key verification failed"), "{said}");
    assert!(!story.lab.path().join("refused").exists());
    story.network.trust_all();

    story.network.fill("db2");
    assert!(!story.run(&arguments));
    let said = story.said();
    assert!(said.contains("db2: cannot bring iopslab there") && said.contains("No space left on device"), "{said}");
    assert!(!story.lab.path().join("refused").exists());
    story.network.empty();
    // A shell that a refused connection has ended may still be on its way out.
    wait_for("nothing left", Duration::from_secs(60), || story.network.leftovers().is_empty());
}

fn a_controller_that_is_killed_before_the_trial_begins_goes_on(story: &Story) -> PathBuf {
    let first = ["run", "one.toml", "--provider", "hosts", "--out", "whole"];
    let network = &story.network;
    story.killed_when("while it brings the program", story.start(&first), || network.is_bringing("db2"));
    assert!(!story.lab.path().join("whole").exists(), "nothing was planned yet");
    story.killed_when("while it loads the data set", story.start(&first), || network.has_connections("load1"));
    let run = story.lab.run_in("whole");
    let resume = ["run", "--resume", run.to_str().unwrap()];
    let volumes = network.of_host("db2").join("data/iopslab");
    story.killed_when("while it copies the data set", story.start(&resume), || {
        volumes.read_dir().is_ok_and(|mut entries| entries.next().is_some())
    });
    story.killed_when("while Cassandra starts", story.start(&resume), || network.has_measured_node("db1"));
    assert!(!run.join("trials/cluster.mixed.p100").exists(), "no trial was finished yet");
    run
}

fn a_run_ends_with_a_report_and_leaves_nothing(story: &Story, run: &Path) {
    let resume = ["run", "--resume", run.to_str().unwrap()];
    let mut resumed = story.start(&resume);
    let network = &story.network;
    wait_for("databases that are asked", Duration::from_secs(300), || {
        ["db1", "db2"].iter().all(|name| network.has_measured_node(name)) && network.has_connections("load1")
    });
    for name in ["db1", "db2"] {
        let nodes = network.measured_nodes(name);
        assert_eq!(nodes.len(), 1, "{name}: {nodes:?}");
        has_no_rights(nodes[0]);
    }
    let status = resumed.wait().unwrap();
    println!("--- {resume:?}: {status}\n{}", story.said());
    assert!(status.success());
    conformance::is_whole(&story.lab, run, "hosts");
    let record = trial(run, 1);
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
    assert_eq!((&fault["kind"], &fault["host"]), (&"host-cut".into(), &"database-2".into()));
    let at = |key: &str| fault[key].as_f64().unwrap_or_else(|| panic!("{key} in {fault:#}"));
    assert!(
        // Clocks of two hosts, read within some milliseconds.
        (5.9..8.0).contains(&at("began_s")) && (9.9..14.0).contains(&at("back_s")),
        "{fault:#}"
    );
    // The other one stays away: what is read back comes from the one that was cut off.
    let stopped = &record["faults"][1];
    assert_eq!(
        (&stopped["kind"], &stopped["host"], &stopped["problem"]),
        (&"node-stop".into(), &"database".into(), &Value::Null)
    );
    assert!(stopped["gone_s"].as_f64() > stopped["began_s"].as_f64(), "{stopped:#}");
    let analysis = json(&run.join("analysis.json"));
    let phases = &analysis["cells"][0]["faults"]["phases"];
    let of = |phase: &str| phases.as_array().unwrap().iter().find(|p| p["phase"] == phase).unwrap().clone();
    let per_second = |phase: &str| of(phase)["throughput_ops_per_s"]["median"].as_f64();
    println!("{phases:#}");
    assert!(per_second("during").unwrap() < 0.5 * per_second("before").unwrap(), "{phases:#}");
    let writes = &record["writes"];
    assert!(writes["acknowledged"].as_u64().unwrap() > 0, "{writes:#}");
    assert_eq!(writes["intact"], writes["values"], "{writes:#}");
    wait_for("the end of all processes", Duration::from_secs(60), || story.network.leftovers().is_empty());
    assert!(story.run(&["clean", "--hosts", "one.toml"]));
}

/// Its ledger names a file of root's, and the lock is a link to it.
fn a_work_directory_that_another_user_has_made_first_is_refused(story: &Story) {
    let (work, precious) = (story.network.of_host("db2").join("work"), story.lab.write("precious", "kept"));
    std::fs::remove_dir_all(&work).unwrap();
    std::fs::create_dir(&work).unwrap();
    let item = format!(r#"{{"file":{{"path":"{}"}}}}"#, precious.display());
    std::fs::write(work.join("ledger.jsonl"), format!("{{\"intend\":{{\"id\":1,\"item\":{item}}}}}\n")).unwrap();
    std::os::unix::fs::symlink(&precious, work.join("lock")).unwrap();
    std::os::unix::fs::chown(&work, Some(65_534), Some(65_534)).unwrap();
    assert!(!story.run(&["run", "one.toml", "--provider", "hosts", "--out", "hostile"]));
    let said = story.said();
    assert!(said.contains("db2: ") && said.contains("can be changed by others than user 0"), "{said}");
    assert!(!story.lab.path().join("hostile").exists());
    assert!(!story.run(&["clean", "--hosts", "one.toml"]));
    assert_eq!(std::fs::read_to_string(precious).unwrap(), "kept");
}

/// What a finished trial is, file by file: no later run of the same directory may touch it.
fn evidence(run: &Path, block: u32) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(run.join(format!("trials/cluster.mixed.p100/{block}"))).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// The first trial was lost with `db2`; the second one, which was begun twice, is whole, and nothing is left.
fn goes_on_to_the_second_trial(story: &Story, run: &Path) {
    let first = trial(run, 1);
    assert_eq!((first["status"].as_str(), first["cause"].as_str()), (Some("invalid"), Some("host_lost")), "{first:#}");
    assert!(first["reason"].as_str().unwrap().contains("db2"), "{first:#}");
    let kept = evidence(run, 1);
    assert!(story.run(&["run", "--resume", run.to_str().unwrap()]));
    assert_eq!(evidence(run, 1), kept, "a finished trial is not repeated");
    let second = trial(run, 2);
    assert_eq!(second["status"], "valid", "{second:#}");
    story.lab.exits(0, &["report", run.to_str().unwrap(), "--verify"]);
    wait_for("the end of all processes", Duration::from_secs(60), || story.network.leftovers().is_empty());
}

fn a_host_that_is_cut_off_costs_its_trial_and_the_run_goes_on(story: &Story) {
    // Somebody has put another program where this one was brought to, and an older one is long out of use.
    assert!(story.run(&["clean", "--hosts", "three.toml"]));
    story.network.alter_program("db1");
    let (old, young) = (story.network.old_version("db1", 40), story.network.old_version("db1", 20));
    let run = story.start(&["run", "three.toml", "--provider", "hosts", "--out", "cut"]);
    story.in_mid_trial();
    let said = story.said();
    assert!(said.contains("db1: another program than the one that was brought there is at"), "{said}");
    assert!(!old.exists() && young.exists(), "{said}");
    assert!(said.contains(&format!("db1: removed {}", old.display())), "{said}");
    story.network.link("db2", "down");
    // Long enough for the controller to try in vain; the agent there has given up.
    std::thread::sleep(Duration::from_secs(20));
    wait_for("a host that cleans itself", Duration::from_secs(120), || !story.network.has_measured_node("db2"));
    story.network.link("db2", "up");
    let directory = story.lab.run_in("cut");
    let mut was_under_load = false;
    story.killed_when("while it collects the second trial", run, || {
        let is_under_load = story.said().contains("all hosts are there again") && story.is_under_load();
        was_under_load |= is_under_load;
        was_under_load && !is_under_load
    });
    let is_stored = directory.join("trials/cluster.mixed.p100/2").exists();
    assert!(!is_stored, "it was killed when everything was over");
    goes_on_to_the_second_trial(story, &directory);
}

fn a_host_without_sshd_costs_its_trial_and_the_run_goes_on(story: &mut Story) {
    let run = story.start(&["run", "two.toml", "--provider", "hosts", "--out", "without-sshd"]);
    story.in_mid_trial();
    story.network.kill_sshd("db2");
    wait_for("a host that cleans itself", Duration::from_secs(120), || !story.network.has_measured_node("db2"));
    std::thread::sleep(Duration::from_secs(3));
    story.network.start_sshd("db2");
    let directory = story.lab.run_in("without-sshd");
    wait_for("a run that goes on", Duration::from_secs(180), || story.said().contains("all hosts are there again"));
    story.in_mid_trial();
    story.killed_when("in mid-trial", run, || true);
    goes_on_to_the_second_trial(story, &directory);
}
