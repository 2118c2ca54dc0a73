//! AWS on one machine: moto's server is its API, and each instance that it is asked for becomes a network namespace with
//! the addresses that were handed out, an sshd, and files of its own where a first boot would put them. Everything is
//! gone when it is dropped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use serde_json::Value;

use crate::network::{configure_sshd, make_key, processes_in, run};
use crate::support::wait_for;

const ENDPOINT: &str = "http://127.0.0.1:5000";
/// Where the controller is: in the network that the modules make.
const CONTROLLER: &str = "10.80.255.254/16";
/// What a first boot makes; what stands there is this machine's own mount point for it.
const FIRST_BOOT: &str = "/var/lib/iopslab";
const WORK: &str = "/var/tmp/iopslab";

/// Clouds of this process so far.
static CLOUDS: AtomicU32 = AtomicU32::new(0);

/// An instance as the API has it.
#[derive(Debug, Deserialize)]
struct Instance {
    id: String,
    state: String,
    private_address: String,
    public_address: Option<String>,
}

/// What an account has.
#[derive(Debug, Deserialize)]
struct State {
    instances: Vec<Instance>,
    left: Vec<String>,
    untagged: Vec<String>,
}

/// The Python that has moto.
fn python() -> PathBuf {
    let home = || PathBuf::from(std::env::var("HOME").unwrap()).join(".cache");
    let cache = std::env::var("XDG_CACHE_HOME").map_or_else(|_| home(), PathBuf::from);
    cache.join("iopslab/moto-5.2/bin/python")
}

pub struct Cloud {
    directory: PathBuf,
    prefix: String,
    server: Option<Child>,
    /// sshd of each instance that runs, by its id.
    running: BTreeMap<String, Child>,
    namespaces: Vec<String>,
}

impl Cloud {
    /// `directory` holds what instances keep for themselves.
    pub fn new(directory: &Path) -> Self {
        let number = CLOUDS.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("iopslab-{}-aws{number}-", std::process::id());
        let mut cloud = Self {
            directory: directory.to_owned(),
            prefix,
            server: None,
            running: BTreeMap::new(),
            namespaces: Vec::new(),
        };
        let switch = cloud.namespace("switch");
        run("ip", &["-n", &switch, "link", "add", "br0", "type", "bridge"]);
        run("ip", &["-n", &switch, "link", "set", "br0", "up"]);
        cloud.host("ctl", CONTROLLER);
        // Public addresses of instances are on the same wire.
        let controller = cloud.name("ctl");
        run("ip", &["-n", &controller, "route", "add", "default", "dev", "eth0"]);
        cloud.start_server();
        cloud
    }

    fn name(&self, of: &str) -> String {
        format!("{}{of}", self.prefix)
    }

    fn namespace(&mut self, of: &str) -> String {
        let name = self.name(of);
        run("ip", &["netns", "add", &name]);
        self.namespaces.push(name.clone());
        name
    }

    /// A namespace on the wire.
    fn host(&mut self, of: &str, address: &str) -> String {
        let (switch, name) = (self.name("switch"), self.namespace(of));
        // Names of interfaces are short.
        let port = format!("p{}", self.namespaces.len());
        let ip = |arguments: &[&str]| run("ip", arguments);
        let pair = ["type", "veth", "peer", "name", "eth0", "netns", &name];
        ip(&[&["-n", &switch, "link", "add", &port][..], &pair].concat());
        ip(&["-n", &switch, "link", "set", &port, "master", "br0", "up"]);
        ip(&["-n", &name, "link", "set", "lo", "up"]);
        ip(&["-n", &name, "addr", "add", address, "dev", "eth0"]);
        ip(&["-n", &name, "link", "set", "eth0", "up"]);
        name
    }

    fn start_server(&mut self) {
        let log = std::fs::File::create(self.directory.join("moto.log")).unwrap();
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/moto_server.py");
        let started = self
            .within(python().to_str().unwrap())
            .arg(server)
            .args(["-H", "127.0.0.1", "-p", "5000"])
            .env("IOPSLAB_MOTO_LOG", self.directory.join("requests.jsonl"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.server = Some(started);
        wait_for("moto's server", Duration::from_secs(60), || self.state().is_some());
    }

    /// A command where the controller is, with a way to the API and nobody's own settings.
    pub fn within(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command
            .arg(format!("--net=/run/netns/{}", self.name("ctl")))
            .arg(program)
            .env("AWS_ENDPOINT_URL", ENDPOINT)
            .env("AWS_ACCESS_KEY_ID", "testing")
            .env("AWS_SECRET_ACCESS_KEY", "testing")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env_remove("AWS_PROFILE")
            .env_remove("TF_CLI_CONFIG_FILE")
            .stdin(Stdio::null());
        command
    }

    /// What the account has.
    fn state(&self) -> Option<State> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/cloud_state.py");
        let mut command = self.within(python().to_str().unwrap());
        let output = command.arg(script).arg("us-east-1").output().unwrap();
        serde_json::from_slice(&output.stdout).ok()
    }

    fn known(&self) -> State {
        let mut state = None;
        // A server that is busy may be late.
        wait_for("what the API knows", Duration::from_secs(60), || {
            state = self.state();
            state.is_some()
        });
        state.unwrap()
    }

    /// Starts what the API was asked for, and ends what it was asked to end. `key` may log in.
    pub fn follow(&mut self, key: &Path) {
        for instance in self.known().instances {
            let is_wanted = instance.state == "running";
            let runs = self.running.contains_key(&instance.id);
            if is_wanted && !runs && key.exists() {
                let sshd = self.boot(&instance, key);
                self.running.insert(instance.id.clone(), sshd);
            } else if !is_wanted && runs {
                self.end(&instance.id);
            }
        }
    }

    /// Its own files stand where a first boot has them: its volumes, and that it is ready.
    fn boot(&mut self, instance: &Instance, key: &Path) -> Child {
        let own = self.directory.join("instances").join(&instance.id);
        for place in ["boot/volumes/data", "boot/volumes/commitlog", "work", "cache"] {
            std::fs::create_dir_all(own.join(place)).unwrap();
        }
        std::fs::write(own.join("boot/ready"), "").unwrap();
        make_key(&own.join("host_key"));
        let namespace = self.host(&instance.id, &format!("{}/16", instance.private_address));
        if let Some(public) = &instance.public_address {
            run(
                "ip",
                &["-n", &namespace, "addr", "add", &format!("{public}/32"), "dev", "eth0"],
            );
        }
        let config = configure_sshd(&own, "0.0.0.0", key);
        for place in [FIRST_BOOT, WORK] {
            std::fs::create_dir_all(place).unwrap();
        }
        let script = format!(
            "mount --bind {own}/boot {FIRST_BOOT} && mount --bind {own}/work {WORK} && exec /usr/sbin/sshd -D -e -f {}",
            config.display(),
            own = own.display(),
        );
        let log = std::fs::File::create(own.join("sshd.log")).unwrap();
        Command::new("nsenter")
            .arg(format!("--net=/run/netns/{namespace}"))
            .args(["unshare", "--mount", "sh", "-c", &script])
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    fn end(&mut self, id: &str) {
        let name = self.name(id);
        for (pid, _) in processes_in(std::slice::from_ref(&name)) {
            if let Some(pid) = Pid::from_raw(pid as i32) {
                // It may have ended by itself.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        if let Some(mut sshd) = self.running.remove(id) {
            let _ = sshd.wait();
        }
    }

    /// Whatever still costs money, or would have to be removed by hand.
    pub fn left(&self) -> Vec<String> {
        self.known().left
    }

    /// The same of one kind, such as `instance`.
    pub fn left_of(&self, kind: &str) -> Vec<String> {
        let all = self.left().into_iter();
        all.filter(|what| what.split(' ').next() == Some(kind)).collect()
    }

    /// What could not be found again by its tags.
    pub fn untagged(&self) -> Vec<String> {
        self.known().untagged
    }

    /// Actions that were asked of the API, in their order.
    pub fn actions(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.directory.join("requests.jsonl")).unwrap_or_default();
        let action = |line: &str| {
            let line: Value = serde_json::from_str(line).ok()?;
            Some(format!("{}:{}", line["service"].as_str()?, line["action"].as_str()?))
        };
        text.lines().filter_map(action).collect()
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        let ids: Vec<String> = self.running.keys().cloned().collect();
        ids.iter().for_each(|id| self.end(id));
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
        for name in &self.namespaces {
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}
