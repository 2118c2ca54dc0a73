//! A PostgreSQL that somebody else owns is loaded once, brought to rest before each trial, and measured from outside.

use std::net::Ipv4Addr;
use std::time::Duration;

use database::postgresql::Admin;
use database::{Directories, NodePlan, RunningNode};
use experiment::Settings;
use serde_json::Value;

use super::existing::THEIRS;
use crate::support::{Laboratory, lane::Share, software::Software, wait_for};

const PASSWORD: &str = "correct-horse-7";
const PATIENCE: Duration = Duration::from_secs(120);

const TARGET: &str = r#"
database = "postgresql"
hosts = ["127.0.0.1:5432"]
dbname = "postgres"
schema = "lab"
user = "bench"
password_env = "BENCH_PASSWORD"
"#;

/// Their server, ended with the story.
struct Theirs {
    node: Box<dyn RunningNode>,
    admin: Admin,
    _place: tempfile::TempDir,
}

impl Drop for Theirs {
    fn drop(&mut self) {
        self.node.kill();
    }
}

impl Theirs {
    fn start(Software { server, installed, account }: &Software) -> Self {
        // Where its user comes through, as in the stories of crate `database`.
        let place = tempfile::Builder::new().prefix("iopslab-theirs-").tempdir().unwrap();
        if let Some(account) = account {
            account.let_through(place.path()).unwrap();
        }
        let plan = NodePlan {
            cluster: "theirs".to_owned(),
            index: 0,
            nodes: 1,
            seeds: vec![Ipv4Addr::LOCALHOST],
            place: None,
            address: Ipv4Addr::LOCALHOST,
            ports: server.ports(),
            directories: Directories::below(&place.path().join("node")),
            memory: server.memory(512 << 20),
            cpus: 1.0,
            commitlog_bytes: Some(1 << 30),
            maintains_itself: true,
            settings: Settings::default(),
            launch_prefix: Vec::new(),
            oom_kills: None,
        };
        let mut node = installed.start(&plan).unwrap_or_else(|error| panic!("{error}"));
        node.wait_ready(PATIENCE, &|| false).unwrap_or_else(|error| panic!("{error}"));
        let socket = plan.directories.own.join("socket");
        let connect = || Admin::connect(&socket, plan.ports.clients, "postgres", PATIENCE).unwrap();
        let theirs = Self { node, admin: connect(), _place: place };
        let rules = "local all postgres trust\nhost all bench all scram-sha-256\n";
        std::fs::write(plan.directories.own.join("conf/pg_hba.conf"), rules).unwrap();
        let role = format!("CREATE ROLE bench LOGIN PASSWORD '{PASSWORD}'");
        theirs.run(&[
            role.as_str(),
            "GRANT CREATE ON DATABASE postgres TO bench",
            "ALTER SYSTEM SET work_mem = '5MB'",
            "SELECT pg_reload_conf()",
        ]);
        let is_read = || connect().rows("SHOW work_mem", &[], PATIENCE).unwrap()[0].get::<_, String>(0) == "5MB";
        wait_for("its configuration is read again", PATIENCE, is_read);
        theirs
    }

    fn run(&self, statements: &[&str]) {
        let statements: Vec<String> = statements.iter().map(|text| (*text).to_owned()).collect();
        self.admin.run(&statements).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_postgresql_of_somebody_else_is_loaded_once_and_measured_from_outside() {
    // Before the story has a network of its own, which leads nowhere.
    let software = Software::here("postgresql").unwrap_or_else(|error| panic!("{error}"));
    let lab = Laboratory::on_machine(Share::Half);
    let theirs = Theirs::start(&software);
    let theirs_in_cassandra = "\nhosts = [\"127.0.0.1:9042\"]\nkeyspace = \"lab\"\n";
    lab.write("theirs.toml", &THEIRS.replace(theirs_in_cassandra, TARGET).replace("duration_s = 2", "duration_s = 3"));
    let run = || {
        let mut command = lab.iopslab(&["run", "theirs.toml", "--format", "json"]);
        let output = command.env("BENCH_PASSWORD", PASSWORD).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert!(!stderr.contains(PASSWORD), "{stderr}");
        (serde_json::from_slice::<Value>(&output.stdout).unwrap(), stderr)
    };
    let record = || -> Value {
        let trial = lab.run_directory().join("trials/as-it-stands.mixed.c1/1");
        assert!(trial.join("host-database.parquet").exists(), "what the database counted of itself");
        serde_json::from_slice(&std::fs::read(trial.join("trial.json")).unwrap()).unwrap()
    };

    let (analysis, stderr) = run();
    assert!(stderr.contains("loaded 5000 records"), "{stderr}");
    assert!(stderr.contains("no checkpoint before trials (permission denied"), "{stderr}");
    let cell = &analysis["cells"][0];
    assert_eq!(cell["valid_trials"], 2, "{cell:#}");
    assert_eq!(cell["limit"]["kind"], "not_watched", "{:#}", cell["limit"]);
    // Its own figures, and none of its host.
    assert!(cell["database"]["wal_bytes_per_operation"].as_f64().unwrap() > 0.0, "{:#}", cell["database"]);
    assert_eq!(cell["device_reads_per_operation"], Value::Null, "{cell:#}");
    let first = record();
    assert_eq!(first["nodes"], serde_json::json!([]));
    assert!(first["table"]["bytes"].as_u64().unwrap() > 5_000 * 1_000, "{:#}", first["table"]);
    assert!(first["table"]["no_checkpoint"].as_str().unwrap().starts_with("permission denied"));

    // The second run finds the data set, and may ask for checkpoints.
    theirs.run(&["GRANT pg_checkpoint TO bench"]);
    std::fs::rename(lab.path().join("runs"), lab.path().join("first")).unwrap();
    let (analysis, stderr) = run();
    assert!(stderr.contains("5000 records, loaded before"), "{stderr}");
    assert!(!stderr.contains("no checkpoint"), "{stderr}");
    assert_eq!(analysis["cells"][0]["valid_trials"], 2, "{:#}", analysis["cells"][0]);
    assert_eq!(record()["table"]["no_checkpoint"], Value::Null);
}
