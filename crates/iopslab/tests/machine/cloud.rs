//! AWS on one machine: moto's server is its API, and each instance that it is asked for becomes a network namespace
//! with the addresses that were handed out, an sshd, and files of its own where a first boot would put them. Each
//! account in a region is a wire of its own, as they all hand out the same private addresses. Everything is gone when
//! it is dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::network::{configure_sshd, kill, make_key, processes_in, run};
use crate::support::{account::Account, software};

const PORT: u16 = 5000;
/// What a first boot makes; what stands there is this machine's own mount point for it.
const FIRST_BOOT: &str = "/var/lib/iopslab";

/// Clouds of this process so far.
static CLOUDS: AtomicU32 = AtomicU32::new(0);

/// An instance as the API has it.
#[derive(Debug, Deserialize)]
struct Instance {
    id: String,
    site: String,
    state: String,
    private_address: String,
    public_address: Option<String>,
    /// Those from which volumes of it were made.
    snapshots: Vec<String>,
}

/// What all accounts have.
#[derive(Debug, Deserialize)]
struct State {
    instances: Vec<Instance>,
    left: Vec<String>,
    untagged: Vec<String>,
}

/// The loop device of an image.
pub fn attach(image: &Path) -> PathBuf {
    let image = image.to_str().unwrap();
    let device = run("losetup", &["--find", "--show", "--direct-io=on", image]);
    PathBuf::from(device.trim())
}

/// Bytes that were read of a device since the machine started: a loop device had other images before.
fn read_of(device: &Path) -> u64 {
    let name = device.file_name().unwrap().to_str().unwrap();
    let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    stat.split_ascii_whitespace().nth(2).unwrap().parse::<u64>().unwrap() * 512
}

pub struct Cloud {
    directory: PathBuf,
    prefix: String,
    /// Dropped before its network.
    account: Option<Account>,
    /// sshd of each instance that runs, by its id.
    running: BTreeMap<String, Child>,
    namespaces: Vec<String>,
    /// Accounts in regions that had an instance; each has the wire of its number.
    sites: Vec<String>,
    /// What volumes that are made from snapshots hold, by their ids.
    pub snapshots: BTreeMap<String, PathBuf>,
    /// Loop device of each instance that has such a volume as its data, and bytes that were read of those that ended.
    loops: BTreeMap<String, (PathBuf, u64)>,
    pub read_bytes: Vec<u64>,
    /// Instances that were seen before: the server lists one before it has its volumes.
    seen: BTreeSet<String>,
    /// Instances of today do not answer.
    pub is_deaf: bool,
    /// Instances of today show a host key of their own.
    pub is_impostor: bool,
    /// Agents give the evidence of a run's truth: of the run in this directory, once there is one.
    pub is_simulated: bool,
    pub simulated: Option<PathBuf>,
}

impl Cloud {
    /// `directory` holds what instances keep for themselves.
    pub fn new(directory: &Path) -> Self {
        software::fetch();
        let number = CLOUDS.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("iopslab-{}-aws{number}-", std::process::id());
        let mut cloud = Self {
            directory: directory.to_owned(),
            prefix,
            account: None,
            running: BTreeMap::new(),
            namespaces: Vec::new(),
            sites: Vec::new(),
            snapshots: BTreeMap::new(),
            loops: BTreeMap::new(),
            read_bytes: Vec::new(),
            seen: BTreeSet::new(),
            is_deaf: false,
            is_impostor: false,
            is_simulated: false,
            simulated: None,
        };
        let controller = cloud.namespace("ctl");
        run("ip", &["-n", &controller, "link", "set", "lo", "up"]);
        let network = format!("--net=/run/netns/{controller}");
        cloud.account = Some(Account::start(directory, PORT, &["nsenter", &network]));
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

    /// The number of an account's wire in a region, which reaches the controller.
    fn wire(&mut self, site: &str) -> usize {
        if let Some(known) = self.sites.iter().position(|known| known == site) {
            return known;
        }
        let number = self.sites.len();
        self.sites.push(site.to_owned());
        let (controller, switch) = (self.name("ctl"), self.namespace(&format!("switch{number}")));
        run("ip", &["-n", &switch, "link", "add", "br0", "type", "bridge"]);
        run("ip", &["-n", &switch, "link", "set", "br0", "up"]);
        self.plug(number, &controller, &format!("eth{number}"), &format!("10.80.255.{}/32", 254 - number));
        number
    }

    /// A namespace is on a wire, with this address.
    fn plug(&self, wire: usize, name: &str, interface: &str, address: &str) {
        let switch = self.name(&format!("switch{wire}"));
        // Names of interfaces are short.
        let port = format!("p{}", self.namespaces.len());
        let ip = |arguments: &[&str]| run("ip", arguments);
        let pair = ["type", "veth", "peer", "name", interface, "netns", name];
        ip(&[&["-n", &switch, "link", "add", &port][..], &pair].concat());
        ip(&["-n", &switch, "link", "set", &port, "master", "br0", "up"]);
        ip(&["-n", name, "link", "set", "lo", "up"]);
        ip(&["-n", name, "addr", "add", address, "dev", interface]);
        ip(&["-n", name, "link", "set", interface, "up"]);
    }

    /// A command where the controller is, with a way to the API and nobody's own settings.
    pub fn within(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command
            .arg(format!("--net=/run/netns/{}", self.name("ctl")))
            .arg(program)
            .env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{PORT}"))
            .env("AWS_ACCESS_KEY_ID", "testing")
            .env("AWS_SECRET_ACCESS_KEY", "testing")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env_remove("AWS_PROFILE")
            .env_remove("TF_CLI_CONFIG_FILE")
            .stdin(Stdio::null());
        command
    }

    /// A request to the server: see `account.py`.
    pub fn ask(&self, question: &Value) -> Value {
        self.account.as_ref().unwrap().ask(question)
    }

    /// What sshd says on all instances there were.
    pub fn heard(&self) -> String {
        let instances = std::fs::read_dir(self.directory.join("instances")).into_iter().flatten().flatten();
        let logs = instances.map(|instance| std::fs::read_to_string(instance.path().join("sshd.log")).unwrap());
        logs.collect()
    }

    /// What there is.
    fn known(&self) -> State {
        serde_json::from_value(self.ask(&json!({ "ask": "state" }))).unwrap()
    }

    /// Starts what the API was asked for, and ends what it was asked to end. `keys` may log in.
    pub fn follow(&mut self, keys: &[PathBuf]) {
        for instance in self.known().instances {
            let is_wanted = instance.state == "running";
            let runs = self.running.contains_key(&instance.id);
            let is_known = !self.seen.insert(instance.id.clone());
            if is_wanted && is_known && !runs && !keys.is_empty() && !self.is_deaf {
                let sshd = self.boot(&instance, keys);
                self.running.insert(instance.id.clone(), sshd);
            } else if !is_wanted && runs {
                self.end(&instance.id);
            }
        }
    }

    /// Its own files stand where a first boot has them: its volumes, and that it is ready.
    fn boot(&mut self, instance: &Instance, keys: &[PathBuf]) -> Child {
        let own = self.directory.join("instances").join(&instance.id);
        for place in ["boot/volumes/data", "boot/volumes/commitlog", "work", "cache"] {
            std::fs::create_dir_all(own.join(place)).unwrap();
        }
        std::fs::write(own.join("boot/ready"), "").unwrap();
        let key = own.join("host_key");
        if self.is_impostor {
            make_key(&key)
        } else {
            std::fs::write(&key, self.host_key_of(instance)).unwrap()
        }
        std::fs::set_permissions(key, std::fs::Permissions::from_mode(0o600)).unwrap();
        if let Some(run) = &self.simulated {
            std::fs::write(own.join("boot/run"), run.to_str().unwrap()).unwrap();
        }
        let may_log_in: Vec<String> = keys.iter().map(|key| std::fs::read_to_string(key).unwrap()).collect();
        let key = own.join("may_log_in");
        std::fs::write(&key, may_log_in.concat()).unwrap();
        let wire = self.wire(&instance.site);
        let namespace = self.namespace(&instance.id);
        self.plug(wire, &namespace, "eth0", &format!("{}/16", instance.private_address));
        let reached_by = instance.public_address.as_ref().unwrap_or(&instance.private_address);
        let ip = |arguments: &[&str]| run("ip", arguments);
        if instance.public_address.is_some() {
            ip(&["-n", &namespace, "addr", "add", &format!("{reached_by}/32"), "dev", "eth0"]);
        }
        let (controller, interface) = (self.name("ctl"), format!("eth{wire}"));
        ip(&["-n", &controller, "route", "replace", reached_by, "dev", &interface]);
        let config = configure_sshd(&own, "0.0.0.0", &key);
        std::fs::create_dir_all(FIRST_BOOT).unwrap();
        let made_from = instance.snapshots.iter().find_map(|id| self.snapshots.get(id)).cloned();
        let restored = made_from.map(|image| {
            let (image, copy) = (image.to_str().unwrap(), own.join("data.img"));
            run("cp", &["--sparse=always", image, copy.to_str().unwrap()]);
            let device = attach(&copy);
            // All volumes of one snapshot have its UUID.
            let mount = format!("mount -o noatime,nouuid {} {FIRST_BOOT}/volumes/data &&", device.display());
            let before = read_of(&device);
            self.loops.insert(instance.id.clone(), (device, before));
            mount
        });
        // A copy of other stories' volumes would keep those volumes from being detached.
        let script = format!(
            "umount --all --types xfs; mount --bind {own}/boot {FIRST_BOOT} && {} exec /usr/sbin/sshd -D -e -f {}",
            restored.unwrap_or_default(),
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

    /// The key that its first script gives to its sshd.
    fn host_key_of(&self, instance: &Instance) -> String {
        let (account, region) = instance.site.split_once('/').unwrap();
        let asked = json!({ "ask": "first boot", "account": account, "region": region, "instance": instance.id });
        let script = self.ask(&asked);
        let script = script["script"].as_str().unwrap_or_else(|| panic!("{script}"));
        let (_, from) = script.split_once("ssh_host_ed25519_key <<'KEY'\n").unwrap();
        let (key, _) = from.split_once("\nKEY\n").unwrap();
        format!("{key}\n")
    }

    fn end(&mut self, id: &str) {
        let name = self.name(id);
        for (pid, _) in processes_in(std::slice::from_ref(&name)) {
            kill(pid);
        }
        if let Some(mut sshd) = self.running.remove(id) {
            let _ = sshd.wait();
        }
        if let Some((device, before)) = self.loops.remove(id) {
            self.read_bytes.push(read_of(&device) - before);
            run("losetup", &["--detach", device.to_str().unwrap()]);
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

    /// What was asked of the API, in its order.
    pub fn requests(&self) -> Vec<Value> {
        self.account.as_ref().unwrap().requests()
    }

    /// The actions of these, such as `ec2:RunInstances`.
    pub fn actions(&self) -> Vec<String> {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let requests = self.requests();
        let action = |line: &Value| format!("{}:{}", word(&line["service"]), word(&line["action"]));
        requests.iter().map(action).collect()
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        let ids: Vec<String> = self.running.keys().cloned().collect();
        ids.iter().for_each(|id| self.end(id));
        self.account = None;
        for name in &self.namespaces {
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}
