//! The story of a cluster of somebody else's whose node is watched by SSH, and which clients on machines of their own
//! load: a Cassandra of `iopslab db`, and an sshd in the same lane, as if they were other machines.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::network::{configure_sshd, kill, make_key};
use crate::support::{Laboratory, files, lane::Share, wait_for};

fn experiment(lines: &str, duration_s: u32) -> String {
    format!(
        r#"
name = "watched"

[target]
hosts = ["127.0.0.1:9042"]
keyspace = "lab"
ssh_config = "ssh_config"

[[target.node]]
ssh = "cass1"
{lines}

[dataset]
records = 5_000

[[configuration]]
name = "as-it-stands"
instance = {{ vcpus = 64, memory_gib = 256 }}
data_volume = {{ iops = 3000 }}
price_usd_per_month = 400.0

[[workload]]
name = "mixed"
read = 0.5
update = 0.5

[load]
rate = [500]
warmup_s = 1
duration_s = {duration_s}
repetitions = 2
"#
    )
}

/// The same with clients on machines of their own.
fn from(clients: &[&str], experiment: &str) -> String {
    let number = clients.len();
    experiment
        .replace("keyspace = \"lab\"\n", &format!("keyspace = \"lab\"\nclient = {clients:?}\n"))
        .replace("[load]\n", &format!("[load]\nclients = {number}\n"))
}

struct Story {
    lab: Laboratory,
    sshd: Option<Child>,
    pid: u32,
}

impl Story {
    fn new() -> Self {
        let lab = Laboratory::on_machine(Share::Half);
        let own = lab.path().join("cass1");
        std::fs::create_dir_all(own.join("cache")).unwrap();
        make_key(&lab.path().join("id"));
        make_key(&own.join("host_key"));
        let host_key = std::fs::read_to_string(own.join("host_key.pub")).unwrap();
        lab.write("known_hosts", &format!("[127.0.0.1]:2222 {host_key}"));
        let here = lab.path().display();
        lab.write(
            "ssh_config",
            &format!(
                "User root\nIdentityFile \"{here}/id\"\nIdentitiesOnly yes\nUserKnownHostsFile \"{here}/known_hosts\"\n\
                 GlobalKnownHostsFile /dev/null\nHost cass1 load1 load2\n  HostName 127.0.0.1\n  Port 2222\n\
                 Host nobody\n  HostName 127.0.0.1\n  Port 9\n"
            ),
        );
        let mut story = Self { lab, sshd: None, pid: 0 };
        story.db(&["start"]);
        let status: Value = serde_json::from_slice(&story.db(&["status", "--format", "json"])).unwrap();
        story.pid = status["nodes"][0]["pid"].as_u64().unwrap() as u32;
        story.start_sshd();
        story
    }

    fn db(&self, arguments: &[&str]) -> Vec<u8> {
        let directory = self.lab.path().join("db").display().to_string();
        let output = self.lab.output(&[&["db", "--directory", &directory], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    fn start_sshd(&mut self) {
        let own = self.lab.path().join("cass1");
        let config = configure_sshd(&own, "127.0.0.1:2222", &self.lab.path().join("id.pub"));
        let log = std::fs::File::create(own.join("sshd.log")).unwrap();
        let mut command = Command::new("/usr/sbin/sshd");
        command.args(["-D", "-e", "-f", config.to_str().unwrap()]);
        self.sshd = Some(command.stdin(Stdio::null()).stderr(log).spawn().unwrap());
        wait_for("an sshd", Duration::from_secs(60), || std::net::TcpStream::connect("127.0.0.1:2222").is_ok());
    }

    /// Kills the sshd with its sessions; what they had started is left to itself.
    fn kill_sshd(&mut self) {
        if let Some(mut sshd) = self.sshd.take() {
            for session in children(sshd.id()) {
                for below in children(session).into_iter().filter(|pid| is_sshd(*pid)) {
                    kill(below);
                }
                kill(session);
            }
            sshd.kill().unwrap();
            sshd.wait().unwrap();
        }
    }

    fn run(&self, text: &str) -> (Option<i32>, Vec<u8>, String) {
        self.lab.write("watched.toml", text);
        let output = self.lab.output(&["run", "watched.toml", "--format", "json"]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        println!("--- {:?}\n{stderr}", output.status);
        (output.status.code(), output.stdout, stderr)
    }

    fn trial(&self, block: u32) -> (PathBuf, Value) {
        let directory = self.lab.run_directory().join(format!("trials/as-it-stands.mixed.p500/{block}"));
        let record = std::fs::read(directory.join("trial.json")).unwrap();
        (directory, serde_json::from_slice(&record).unwrap())
    }

    /// Agents on the watched machine, and what they keep there besides the program.
    fn left_behind(&self) -> Vec<String> {
        let cache = self.lab.path().join("cass1/cache");
        let mut found = Vec::new();
        for pid in std::fs::read_dir("/proc").unwrap().flatten() {
            let line = std::fs::read(pid.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            found.extend(line.contains(cache.to_str().unwrap()).then_some(line));
        }
        let kept = files(&cache).into_iter().filter(|file| !file.ends_with("iopslab"));
        found.extend(kept.map(|file| file.display().to_string()));
        found.extend(self.lab.leftovers());
        found
    }

    fn is_clean(&self) {
        wait_for("an agent that ends itself", Duration::from_secs(120), || self.left_behind().is_empty());
    }

    /// A run in the background, two trials of which go on for longer than a busy machine may keep this process from its
    /// turn.
    fn start(&self) -> Child {
        let _ = std::fs::remove_dir_all(self.lab.path().join("runs"));
        self.lab.write("long.toml", &experiment("", 20));
        self.lab.spawn(&["run", "long.toml"])
    }

    fn in_mid_trial(&self, run: &mut Child) {
        self.lab.wait_in(run, "trial", Duration::from_secs(300), || {
            let runs = self.lab.path().join("runs");
            let journals = std::fs::read_dir(runs).into_iter().flatten().flatten();
            let mut journals = journals.map(|run| std::fs::read_to_string(run.path().join("journal.jsonl")));
            journals.any(|journal| journal.is_ok_and(|text| text.contains("trial_started")))
        });
        std::thread::sleep(Duration::from_secs(4));
    }
}

impl Drop for Story {
    fn drop(&mut self) {
        self.kill_sshd();
        let directory = self.lab.path().join("db").display().to_string();
        self.lab.output(&["db", "--directory", &directory, "stop"]);
    }
}

fn children(parent: u32) -> Vec<u32> {
    let line = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    line.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn is_sshd(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.starts_with("sshd"))
}

#[test]
fn a_node_of_somebody_else_is_watched_and_left_as_it_is() {
    let mut story = Story::new();
    what_is_not_there_is_refused_before_anything_begins(&story);
    its_use_is_evidence_as_of_our_own(&story);
    a_profile_of_it_leaves_nothing_there(&story);
    a_connection_that_is_lost_costs_its_trial_and_the_run_goes_on(&mut story);
    a_database_that_ends_makes_its_trial_invalid(&story);
}

fn what_is_not_there_is_refused_before_anything_begins(story: &Story) {
    for (text, expected) in [
        (
            experiment("process = \"no such database\"", 4),
            "cass1: no process has `no such database` in its command line",
        ),
        (experiment("data = \"/no/such\"", 4), "cass1: /no/such is no directory there"),
        (from(&["nobody"], &experiment("", 4)), "cannot connect to nobody"),
    ] {
        let (status, _, said) = story.run(&text);
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains(expected), "{said}");
        assert!(!story.lab.path().join("runs").exists(), "{said}");
    }
    story.is_clean();
}

fn its_use_is_evidence_as_of_our_own(story: &Story) {
    let data = story.lab.path().join("db");
    let text = experiment(&format!("data = \"{}\"", data.display()), 6);
    let (status, stdout, said) = story.run(&from(&["load1", "load2"], &text));
    assert_eq!(status, Some(0), "{said}");
    let watching = format!("watching cass1 as database: process {} (java)", story.pid);
    assert!(said.contains(&watching), "{said}");
    assert!(said.contains("watched: cass1 "), "in the plan's table: {said}");
    assert!(said.contains("states 64 CPUs, the database on cass1 has"), "{said}");
    let (directory, record) = story.trial(1);
    let nodes = record["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 1, "{record:#}");
    let cpus = nodes[0]["cpus"].as_f64().unwrap();
    assert!((1.0..64.0).contains(&cpus), "those of the machine, not what is stated: {cpus}");
    assert_eq!((&nodes[0]["host"], &nodes[0]["heap_bytes"]), (&"database".into(), &0.into()));
    assert!(directory.join("host-database.parquet").exists());
    assert!(directory.join("host-client.parquet").exists());
    assert_eq!(record["clients"].as_object().unwrap().len(), 2, "{record:#}");
    assert!(record["clocks"]["client-2"]["end"].is_object(), "{:#}", record["clocks"]);
    assert!(record["clocks"]["database"]["end"].is_object(), "{:#}", record["clocks"]);

    let analysis: Value = serde_json::from_slice(&stdout).unwrap();
    let cell = &analysis["cells"][0];
    assert_eq!(cell["valid_trials"], 2, "{cell:#}");
    assert_ne!(cell["limit"]["kind"], "not_watched", "{:#}", cell["limit"]);
    let uses = cell["limit"]["uses"].as_array().unwrap();
    let cpu = uses.iter().find(|used| used["kind"] == "cpu").unwrap_or_else(|| panic!("{uses:#?}"));
    assert!(cpu["used"].as_f64().unwrap() > 0.05, "it works: {cpu:#}");
    assert!(cpu["capacity"].as_f64().unwrap() <= cpus, "{cpu:#}");
    // Where its file system has no device of its own nothing is known, and nothing is said.
    let volumes = nodes[0]["volumes"].as_array().unwrap();
    let reads = &cell["device_reads_per_operation"];
    match volumes.as_slice() {
        [] => {
            assert!(said.contains("not watched on cass1: reads and writes of its data"), "{said}");
            assert_eq!(*reads, Value::Null, "{cell:#}");
        }
        volumes => {
            assert_eq!(volumes[0]["limits"]["read_iops"], Value::Null, "nothing is held: {volumes:#?}");
            assert!(reads.as_f64().is_some(), "{cell:#}");
            let iops = uses.iter().find(|used| used["kind"] == "volume_iops");
            assert_eq!(iops.unwrap()["capacity"], 3000.0, "what is stated: {uses:#?}");
        }
    }
    let environment = story.lab.run_directory().join("environment.json");
    let environment: Value = serde_json::from_slice(&std::fs::read(environment).unwrap()).unwrap();
    assert!(environment["database"]["cpus"].as_u64().unwrap() > 0, "{environment:#}");

    story.is_clean();
    let cleaned = story.lab.output(&["clean", "--hosts", "watched.toml"]);
    let cleaned = (cleaned.status.success(), String::from_utf8_lossy(&cleaned.stdout).into_owned());
    let nothing = "cass1: nothing to clean\nload1: nothing to clean\nload2: nothing to clean\n";
    assert_eq!(cleaned, (true, nothing.to_owned()));
    assert!(!files(&story.lab.path().join("cass1/cache")).is_empty(), "the program stays");
    assert!(Path::new(&format!("/proc/{}", story.pid)).exists(), "the database goes on");
}

/// Its devices are seen without any run, and what that cost.
fn a_profile_of_it_leaves_nothing_there(story: &Story) {
    let data = story.lab.path().join("db").display().to_string();
    let ssh = ["--ssh", "cass1", "--ssh-config", "ssh_config", "--data", &data];
    let flags = ["profile", "--hosts", "127.0.0.1:9042", "--minutes", "0.15", "--format", "json"];
    let output = story.lab.exits(0, &[&flags[..], &ssh].concat());
    let said = &output.stderr;
    assert!(said.contains(&format!("watching cass1: process {} (java)", story.pid)), "{said}");
    let seen: Value = output.json();
    let agent = seen["own_load"]["agent_cpus"].as_f64().unwrap();
    assert!((0.0..0.5).contains(&agent), "{agent} of a CPU, beside everything else that is done here");
    match seen["devices"].as_array().unwrap().as_slice() {
        [] => {
            let not_read = seen["not_read"].as_array().unwrap();
            assert!(not_read.iter().any(|missing| missing["what"] == "the device of cass1"), "{not_read:#?}");
        }
        [device] => {
            assert_eq!(device["host"], "cass1");
            assert!(device["seconds"].as_f64().unwrap() > 6.0, "{device:#}");
            assert!(device["cpu"]["mean"].as_f64().unwrap() >= 0.0, "{device:#}");
            assert_eq!(seen["verdict"]["withheld"]["because"], "too_short", "{:#}", seen["verdict"]);
        }
        several => panic!("one machine is watched: {several:#?}"),
    }
    story.is_clean();
}

fn a_connection_that_is_lost_costs_its_trial_and_the_run_goes_on(story: &mut Story) {
    let mut run = story.start();
    story.in_mid_trial(&mut run);
    story.kill_sshd();
    story.is_clean();
    story.start_sshd();
    let status = run.wait().unwrap();
    let said = story.lab.stderr_so_far();
    println!("--- {status}\n{said}");
    assert!(status.success(), "{said}");
    let (_, first) = story.trial(1);
    assert_eq!((&first["status"], &first["cause"]), (&"invalid".into(), &"host_lost".into()), "{first:#}");
    assert!(first["reason"].as_str().unwrap().contains("cass1"), "{first:#}");
    let (directory, second) = story.trial(2);
    assert_eq!(second["status"], "valid", "{second:#}");
    assert!(directory.join("host-database.parquet").exists());
    story.is_clean();
}

fn a_database_that_ends_makes_its_trial_invalid(story: &Story) {
    let mut run = story.start();
    story.in_mid_trial(&mut run);
    kill(story.pid);
    run.wait().unwrap();
    println!("--- {}", story.lab.stderr_so_far());
    let (_, first) = story.trial(1);
    let gone = format!("the database ended during the trial: process {} (java) on cass1 is gone", story.pid);
    assert_eq!(
        (&first["status"], &first["cause"], &first["reason"]),
        (&"invalid".into(), &"database_ended".into(), &gone.into()),
        "{first:#}"
    );
    // Nobody has started it again.
    let (_, second) = story.trial(2);
    assert_eq!(second["cause"], "did_not_start", "{second:#}");
    let why = "the database cannot be watched: cass1: no process listens on port 9042";
    assert!(second["reason"].as_str().unwrap().starts_with(why), "{second:#}");
    story.is_clean();
}
