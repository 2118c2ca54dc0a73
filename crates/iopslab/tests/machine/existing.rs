//! Stories of a cluster that somebody else owns: it is loaded once, measured from outside, and otherwise left as it is.

use std::collections::BTreeSet;
use std::process::Command;

use database::cassandra::{Management, load_library};
use rustix::thread::{Gid, Uid, set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use serde_json::Value;

use super::profile;
use crate::cql;
use crate::support::{Laboratory, databases, has_no_rights, lane::Share};

pub(super) const THEIRS: &str = r#"
name = "theirs"

[target]
hosts = ["127.0.0.1:9042"]
keyspace = "lab"

[dataset]
records = 5_000

[[configuration]]
name = "as-it-stands"
instance = { vcpus = 2, memory_gib = 8 }
data_volume = { iops = 3000 }
price_usd_per_month = 400.0

[[workload]]
name = "mixed"
read = 0.8
update = 0.2

[load]
concurrency = [1]
warmup_s = 1
duration_s = 2
repetitions = 2
"#;

/// The cluster of `iopslab db`, stopped at the end whatever happens.
struct Theirs<'a>(&'a Laboratory);

impl<'a> Theirs<'a> {
    fn start(lab: &'a Laboratory) -> Self {
        let theirs = Self(lab);
        let output = theirs.db("start");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        theirs
    }

    fn db(&self, verb: &str) -> std::process::Output {
        let directory = self.0.path().join("db").display().to_string();
        self.0.output(&["db", "--directory", &directory, verb])
    }
}

impl Drop for Theirs<'_> {
    fn drop(&mut self) {
        self.db("stop");
    }
}

/// Does it as a user of this machine who owns nothing: on a thread that becomes `nobody`, in the network of the story.
fn as_nobody<T: Send>(attack: impl FnOnce() -> T + Send) -> T {
    let become_nobody = || -> rustix::io::Result<()> {
        let (user, group) = (Uid::from_raw(65_534), Gid::from_raw(65_534));
        set_thread_groups(&[])?;
        set_thread_res_gid(group, group, group)?;
        set_thread_res_uid(user, user, user)
    };
    std::thread::scope(|scope| {
        let attacker = scope.spawn(|| {
            become_nobody().unwrap();
            assert!(std::fs::File::open("/etc/shadow").is_err(), "it has the rights of root");
            attack()
        });
        attacker.join().unwrap()
    })
}

/// What root started is nobody who has rights; it is at the addresses that it was given, and whoever would manage it
/// needs its password: without one, any user of the machine had it load a library, which then ran as root.
fn is_shut_in(lab: &Laboratory) {
    let pids = databases(lab.path().join("db").to_str().unwrap());
    let &[pid] = pids.as_slice() else { panic!("one node is one process: {pids:?}") };
    has_no_rights(pid);

    let listening = Command::new("ss").args(["-Hltnp"]).output().unwrap();
    let listening = String::from_utf8_lossy(&listening.stdout).into_owned();
    let own = listening.lines().filter(|line| line.contains(&format!("pid={pid},")));
    let address = |line: &str| {
        let address = line.split_whitespace().nth(3).unwrap();
        address.trim_start_matches("[::ffff:").replace(']', "")
    };
    let addresses: BTreeSet<String> = own.map(address).collect();
    assert!(addresses.iter().all(|address| address.starts_with("127.0.0.1:")), "{listening}");
    for port in [9042, 7199] {
        assert!(addresses.contains(&format!("127.0.0.1:{port}")), "{port}: {listening}");
    }
    for stranger in [Management::without_password(7199), Management::with_password(7199, "guessed")] {
        let answer = as_nobody(|| load_library(&stranger, "/tmp/evil.so").map_err(|error| error.to_string()));
        let refused = answer.unwrap_err();
        assert!(refused.contains("SecurityException") && refused.contains("Authentication failed"), "{refused}");
    }
}

#[test]
fn a_cluster_of_somebody_else_is_loaded_once_and_measured_and_watched_from_outside() {
    let lab = Laboratory::on_machine(Share::Half);
    let theirs = Theirs::start(&lab);
    is_shut_in(&lab);
    lab.write("theirs.toml", THEIRS);
    let run = |file: &str| {
        let output = lab.output(&["run", file, "--format", "json"]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), output.stdout, stderr)
    };
    let (status, stdout, stderr) = run("theirs.toml");
    assert_eq!(status, Some(0), "{stderr}");
    assert!(stderr.contains("loaded 5000 records"), "{stderr}");
    assert!(!stderr.contains("no connection to node"), "{stderr}");
    let analysis: Value = serde_json::from_slice(&stdout).unwrap();
    let cell = &analysis["cells"][0];
    assert_eq!(cell["valid_trials"], 2, "{cell:#}");
    assert!(cell["throughput_ops_per_s"]["median"].as_f64().unwrap() > 0.0);
    // Nothing was seen of its hosts, and nothing is made up: no limit by use, no figure of a host.
    let trial = lab.run_directory().join("trials/as-it-stands.mixed.c1/1");
    let record: Value = serde_json::from_slice(&std::fs::read(trial.join("trial.json")).unwrap()).unwrap();
    assert_eq!(record["nodes"], serde_json::json!([]));
    assert!(!trial.join("host-database.parquet").exists());
    assert!(trial.join("host-client.parquet").exists());
    assert_eq!(cell["limit"]["kind"], "not_watched", "{:#}", cell["limit"]);
    assert_eq!(cell["device_reads_per_operation"], Value::Null, "{cell:#}");
    assert_eq!(analysis["configurations"][0]["exists_at"], serde_json::json!(["127.0.0.1:9042"]));
    assert!(stderr.contains("exists: 127.0.0.1:9042"), "{stderr}");
    assert!(!stderr.contains("here nothing") && !stderr.contains("Emulated"), "{stderr}");

    // The second run finds the data set, and a node that the cluster names and nobody answers at.
    let peer = "INSERT INTO system.peers (peer, rpc_address, data_center, rack, host_id, tokens) VALUES \
                ('127.0.0.9', '127.0.0.9', 'datacenter1', 'rack1', 6ba7b810-9dad-11d1-80b4-00c04fd430c8, {'0'})";
    cql::execute("127.0.0.1:9042", peer);
    std::fs::rename(lab.path().join("runs"), lab.path().join("first")).unwrap();
    let (status, stdout, stderr) = run("theirs.toml");
    assert_eq!(status, Some(0), "{stderr}");
    assert!(stderr.contains("5000 records, loaded before"), "{stderr}");
    assert!(stderr.contains("warning: no connection to node 127.0.0.9:9042: the other nodes get its load"), "{stderr}");
    let analysis: Value = serde_json::from_slice(&stdout).unwrap();
    assert_eq!(analysis["cells"][0]["valid_trials"], 2, "{:#}", analysis["cells"][0]);
    cql::execute("127.0.0.1:9042", "DELETE FROM system.peers WHERE peer = '127.0.0.9'");

    // A run that would have a database of its own at that address is refused, with what to do, and makes nothing.
    let target = "database = \"cassandra\"\nversion = \"5.0.9\"";
    let own = THEIRS.replace("hosts = [\"127.0.0.1:9042\"]\nkeyspace = \"lab\"", target);
    let own = own.replace("vcpus = 2, memory_gib = 8", "vcpus = 0.7, memory_gib = 16");
    let own =
        own.replace("data_volume = { iops = 3000 }", "data_volume = { iops = 3000, mib_per_s = 200, size_gib = 2 }");
    let own = own.replace("price_usd_per_month = 400.0", "memory_limit_gib = 8");
    lab.write("own.toml", &format!("{own}[provider.local]\nheap_mib = 512\npage_cache_mib = 64\n"));
    let (status, _, stderr) = run("own.toml");
    assert_eq!(status, Some(1), "{stderr}");
    assert!(stderr.contains("port 9042 on 127.0.0.1") && stderr.contains("iopslab db stop"), "{stderr}");
    assert_eq!(lab.leftovers(), Vec::<String>::new());
    is_shut_in(&lab);

    // What the keyspace keeps is what the experiment must state.
    let three = THEIRS.replace("price_usd", "nodes = 3\nprice_usd");
    lab.write("three.toml", &three);
    let (status, _, stderr) = run("three.toml");
    assert_eq!(status, Some(1), "{stderr}");
    assert!(stderr.contains("keyspace lab keeps 1 replicas of each record, the experiment states 3"), "{stderr}");

    // Another data set is not put over it, and records of somebody else are not touched.
    lab.write("other.toml", &THEIRS.replace("5_000", "6_000"));
    let (status, _, stderr) = run("other.toml");
    assert_eq!(status, Some(1), "{stderr}");
    assert!(stderr.contains("lab.usertable holds another data set: 5000 records of 10 x 100 B"), "{stderr}");
    let foreign = ["load", "--hosts", "127.0.0.1:9042", "--load-data", "--keyspace", "foreign", "--records", "100"];
    let flags = ["--workload", "read=1", "--duration", "1s"];
    lab.exits(0, &[foreign.as_slice(), &flags].concat());
    lab.write("foreign.toml", &THEIRS.replace("\"lab\"", "\"foreign\""));
    let (status, _, stderr) = run("foreign.toml");
    assert_eq!(status, Some(1), "{stderr}");
    assert!(stderr.contains("foreign.usertable holds records that iopslab has not loaded"), "{stderr}");
    assert!(stderr.contains("name another keyspace"), "{stderr}");

    // Stopped, and started again at once: nothing of the first has its ports any more.
    assert!(theirs.db("stop").status.success());
    let again = theirs.db("start");
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    profile::a_planted_mix_comes_back_and_who_stops_early_gets_what_was_seen(&lab);

    // Nobody answers.
    assert!(theirs.db("stop").status.success());
    let (status, _, stderr) = run("theirs.toml");
    assert_eq!(status, Some(1), "{stderr}");
    assert!(stderr.contains("cannot connect to 127.0.0.1:9042"), "{stderr}");
}
