//! Machines for stories by SSH, without a machine: network namespaces with their own addresses and their own sshd, on a
//! bridge in a namespace of its own. They share this machine's files and CPUs. Everything is gone when it is dropped.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::Exits;

/// Hosts with their last number of 10.99.0.0/24; the first one is where the controller runs.
pub const CONTROLLER: &str = "ctl";
const HOSTS: [(&str, u8); 7] =
    [(CONTROLLER, 1), ("db1", 11), ("db2", 12), ("db3", 13), ("load1", 21), ("load2", 22), ("cache1", 31)];

/// Two stories may have one at a time.
static NETWORKS: AtomicU32 = AtomicU32::new(0);

pub struct Network {
    directory: PathBuf,
    sshds: BTreeMap<&'static str, Child>,
    /// Tells this network's namespaces from those of others.
    prefix: String,
    mounted: Vec<PathBuf>,
}

/// Runs it to its end, which is a good one; gives its stdout.
pub fn run(program: &str, arguments: &[&str]) -> String {
    Command::new(program).args(arguments).exits(0).stdout
}

/// A key, and `.pub` beside it.
pub fn make_key(path: &Path) {
    run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", path.to_str().unwrap()]);
}

/// The configuration of an sshd: `own` has its `host_key`, and keeps what a login keeps for itself.
pub fn configure_sshd(own: &Path, listen: &str, authorized: &Path) -> PathBuf {
    // Where sshd puts itself before a login; Debian makes it when the service starts.
    std::fs::create_dir_all("/run/sshd").unwrap();
    let downloads = "/var/cache/iopslab".to_owned();
    let downloads = std::env::var("IOPSLAB_CACHE").unwrap_or(downloads);
    let java = std::env::var("JAVA_HOME").map(|home| format!(" \"JAVA_HOME={home}\""));
    let config = format!(
        "ListenAddress {listen}\nHostKey \"{own}/host_key\"\nAuthorizedKeysFile \"{authorized}\"\nPidFile none\n\
         UsePAM no\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\n\
         SetEnv \"XDG_CACHE_HOME={own}/cache\" \"IOPSLAB_CACHE={downloads}\" \"IOPSLAB_WORK={own}/work\" \
         \"IOPSLAB_MACHINE_LOCK={own}/lock/measuring\"{java}\n",
        own = own.display(),
        java = java.unwrap_or_default(),
        authorized = authorized.display(),
    );
    let path = own.join("sshd_config");
    std::fs::write(&path, config).unwrap();
    path
}

/// Those of all hosts besides the controller's.
fn names() -> Vec<&'static str> {
    HOSTS[1..].iter().map(|(name, _)| *name).collect()
}

fn is_sshd(command_line: &str) -> bool {
    command_line.contains("sshd")
}

pub fn kill(pid: u32) {
    if let Some(pid) = Pid::from_raw(pid as i32) {
        // It may have ended by itself.
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Processes in network namespaces of these names: number and command line.
pub fn processes_in(namespaces: &[String]) -> Vec<(u32, String)> {
    let inode = |path: &Path| std::fs::metadata(path).map(|m| m.ino()).ok();
    let places = namespaces.iter().map(|name| Path::new("/run/netns").join(name));
    let ours: Vec<u64> = places.filter_map(|path| inode(&path)).collect();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        if inode(&entry.path().join("ns/net")).is_some_and(|of| ours.contains(&of)) {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push((pid, String::from_utf8_lossy(&line).replace('\0', " ")));
        }
    }
    found
}

impl Network {
    /// `directory` holds what hosts keep for themselves.
    pub fn new(directory: &Path) -> Self {
        let number = NETWORKS.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("iopslab-{}-ssh{number}-", std::process::id());
        let mut network = Self { directory: directory.to_owned(), sshds: BTreeMap::new(), prefix, mounted: Vec::new() };
        let switch = network.namespace("switch");
        run("ip", &["netns", "add", &switch]);
        run("ip", &["-n", &switch, "link", "add", "br0", "type", "bridge"]);
        run("ip", &["-n", &switch, "link", "set", "br0", "up"]);
        network.keys();
        for (name, number) in HOSTS {
            let namespace = network.namespace(name);
            run("ip", &["netns", "add", &namespace]);
            let (here, there) = (["-n", &switch], ["-n", &namespace]);
            let ip = |of: [&str; 2], arguments: &[&str]| run("ip", &[&of[..], arguments].concat());
            let pair = ["type", "veth", "peer", "name", "eth0", "netns", namespace.as_str()];
            ip(here, &[&["link", "add", name][..], &pair].concat());
            ip(here, &["link", "set", name, "master", "br0", "up"]);
            ip(there, &["link", "set", "lo", "up"]);
            ip(there, &["addr", "add", &format!("10.99.0.{number}/24"), "dev", "eth0"]);
            ip(there, &["link", "set", "eth0", "up"]);
            if name != CONTROLLER {
                network.start_sshd(name);
            }
        }
        network.trust_all();
        for (name, _) in &HOSTS[1..] {
            network.wait_for_sshd(name);
        }
        network
    }

    /// Starts a host's sshd, or another one after [`Self::kill_sshd`]; it answers a moment later.
    pub fn start_sshd(&mut self, name: &str) {
        let (name, number) = HOSTS.into_iter().find(|(known, _)| *known == name).unwrap();
        let sshd = self.sshd(name, number);
        self.sshds.insert(name, sshd);
    }

    fn wait_for_sshd(&self, name: &str) {
        let began = Instant::now();
        while !self.ssh(name, "true") {
            assert!(began.elapsed() < Duration::from_secs(60), "no sshd answers on {name}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Kills a host's sshd with all of its sessions; what they had started is left to itself.
    pub fn kill_sshd(&mut self, name: &str) {
        let sshds = self.processes_of(&[name]).into_iter().filter(|(_, line)| is_sshd(line));
        for (pid, _) in sshds {
            kill(pid);
        }
        self.sshds.remove(name).unwrap().wait().unwrap();
    }

    fn namespace(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// What a host keeps for itself.
    pub fn of_host(&self, name: &str) -> PathBuf {
        self.path("hosts").join(name)
    }

    fn keys(&self) {
        make_key(&self.path("id"));
        for (name, _) in &HOSTS[1..] {
            std::fs::create_dir_all(self.of_host(name).join("cache")).unwrap();
            make_key(&self.of_host(name).join("host_key"));
        }
        let mut config = format!(
            "User root\nIdentityFile \"{}\"\nIdentitiesOnly yes\nUserKnownHostsFile \"{}\"\n\
             GlobalKnownHostsFile /dev/null\n",
            self.path("id").display(),
            self.path("known_hosts").display()
        );
        for (name, number) in &HOSTS[1..] {
            config += &format!("Host {name}\n  HostName 10.99.0.{number}\n");
        }
        std::fs::write(self.path("ssh_config"), config).unwrap();
    }

    fn sshd(&self, name: &str, number: u8) -> Child {
        let own = self.of_host(name);
        let config = configure_sshd(&own, &format!("10.99.0.{number}"), &self.path("id.pub"));
        let log = std::fs::File::create(own.join("sshd.log")).unwrap();
        self.within(name, "/usr/sbin/sshd")
            .args(["-D", "-e", "-f", config.to_str().unwrap()])
            .stderr(log)
            .spawn()
            .unwrap()
    }

    /// A command on a host: only the network is its own.
    pub fn within(&self, name: &str, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.namespace(name))).arg(program).stdin(Stdio::null());
        command
    }

    fn ssh(&self, name: &str, script: &str) -> bool {
        let mut command = self.within(CONTROLLER, "ssh");
        let config = self.path("ssh_config");
        command.args(["-F", config.to_str().unwrap(), "-o", "BatchMode=yes", name, script]);
        command.output().unwrap().status.success()
    }

    /// Every host's key is known.
    pub fn trust_all(&self) {
        self.trust(&BTreeMap::new());
    }

    /// Every host's key is known, but these are those of others; an empty name: none is known.
    pub fn trust(&self, instead: &BTreeMap<&str, &str>) {
        let mut known = String::new();
        for (name, number) in &HOSTS[1..] {
            let of = instead.get(name).copied().unwrap_or(name);
            if !of.is_empty() {
                let key = std::fs::read_to_string(self.of_host(of).join("host_key.pub")).unwrap();
                known += &format!("10.99.0.{number} {key}");
            }
        }
        std::fs::write(self.path("known_hosts"), known).unwrap();
    }

    /// Cuts a host off, or brings it back: unannounced, as when a cable is pulled.
    pub fn link(&self, name: &str, state: &str) {
        run("ip", &["-n", &self.namespace("switch"), "link", "set", name, state]);
    }

    /// A file system of one MiB where the host keeps the program.
    pub fn fill(&mut self, name: &str) {
        let cache = self.of_host(name).join("cache");
        run("mount", &["-t", "tmpfs", "-o", "size=1m", "tmpfs", cache.to_str().unwrap()]);
        self.mounted.push(cache);
    }

    /// What [`Self::fill`] did is undone.
    pub fn empty(&mut self) {
        for path in self.mounted.drain(..) {
            let _ = Command::new("umount").arg(&path).status();
        }
    }

    /// Where a host keeps the versions of the program.
    fn programs(&self, name: &str) -> PathBuf {
        self.of_host(name).join("cache/iopslab/bin")
    }

    /// Paths of what stands in the directories of all versions of the program on a host.
    fn program_files(&self, name: &str) -> Vec<PathBuf> {
        let entries = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten();
        let versions = entries(self.programs(name)).map(|version| version.path());
        versions.flat_map(entries).map(|file| file.path()).collect()
    }

    /// Whether the program is on its way to a host.
    pub fn is_bringing(&self, name: &str) -> bool {
        let files = self.program_files(name);
        files.iter().any(|file| file.display().to_string().contains("/upload."))
    }

    /// Makes another program of the one that was brought to a host: it still runs.
    pub fn alter_program(&self, name: &str) {
        for file in self.program_files(name) {
            let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
            std::io::Write::write_all(&mut file, b"another version").unwrap();
        }
    }

    /// A version of the program that was last used on a host so many days ago; gives its directory.
    pub fn old_version(&self, name: &str, days: u64) -> PathBuf {
        let version = self.programs(name).join(format!("{days:064}"));
        std::fs::create_dir_all(&version).unwrap();
        std::fs::copy("/bin/sleep", version.join("iopslab")).unwrap();
        let used = SystemTime::now() - Duration::from_secs(days * 86_400);
        std::fs::File::open(&version).unwrap().set_modified(used).unwrap();
        version
    }

    /// Whether a node that is measured runs on a host: not one that loads.
    pub fn has_measured_node(&self, name: &str) -> bool {
        !self.measured_nodes(name).is_empty()
    }

    /// Processes of such nodes.
    pub fn measured_nodes(&self, name: &str) -> Vec<u32> {
        let work = self.of_host(name).join("work/runs").display().to_string();
        let of_node = |line: &str| line.contains("CassandraDaemon") && line.contains(&work);
        let processes = self.processes_of(&[name]).into_iter();
        processes.filter(|(_, line)| of_node(line)).map(|(pid, _)| pid).collect()
    }

    /// Whether a host, whose sshd runs, has connections to the database's port.
    pub fn has_connections(&self, name: &str) -> bool {
        // It is asked a hundred times a second: those of the sshd's network, without a process for each look.
        let table = std::fs::read_to_string(format!("/proc/{}/net/tcp", self.sshds[name].id())).unwrap();
        // local, remote, state: 01 is ESTABLISHED, 9042 is 2352 in hexadecimal digits.
        table.lines().any(|line| {
            let mut words = line.split_whitespace().skip(2);
            words.next().is_some_and(|remote| remote.ends_with(":2352")) && words.next() == Some("01")
        })
    }

    /// Processes on the hosts besides sshd: number and command line.
    pub fn processes(&self) -> Vec<(u32, String)> {
        let all = self.processes_of(&names());
        all.into_iter().filter(|(_, line)| !is_sshd(line)).collect()
    }

    fn processes_of(&self, hosts: &[&str]) -> Vec<(u32, String)> {
        let names: Vec<String> = hosts.iter().map(|name| self.namespace(name)).collect();
        processes_in(&names)
    }

    /// Everything that a run must not leave on the hosts.
    pub fn leftovers(&self) -> Vec<String> {
        let mut found: Vec<String> = self.processes().into_iter().map(|(pid, line)| format!("{pid} {line}")).collect();
        let own = self.path("hosts").display().to_string();
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        found.extend(mounts.lines().filter(|line| line.contains(&own)).map(str::to_owned));
        let half = HOSTS[1..].iter().flat_map(|(name, _)| self.program_files(name));
        let half = half.map(|file| file.display().to_string());
        found.extend(half.filter(|file| !file.ends_with("/iopslab")));
        let machines = ["db1", "db2", "db3", "cache1"];
        for name in machines {
            for place in ["work/runs", "work/loading", "data/iopslab"] {
                let entries = std::fs::read_dir(self.of_host(name).join(place));
                found.extend(entries.into_iter().flatten().flatten().map(|e| e.path().display().to_string()));
            }
            let ledger = std::fs::read_to_string(self.of_host(name).join("work/ledger.jsonl"));
            found.extend(ledger.ok().filter(|text| !text.is_empty()));
        }
        // It takes a process on each: none is started while something else is there.
        if found.is_empty() {
            found.extend(machines.iter().flat_map(|name| self.rules(name)));
        }
        found
    }

    /// Tables of a host's firewall.
    fn rules(&self, name: &str) -> Vec<String> {
        let rules = self.within(name, "nft").args(["list", "tables"]).output().unwrap();
        String::from_utf8_lossy(&rules.stdout).lines().map(str::to_owned).collect()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.empty();
        for (pid, _) in self.processes_of(&names()) {
            kill(pid);
        }
        for sshd in self.sshds.values_mut() {
            let _ = sshd.kill();
            let _ = sshd.wait();
        }
        for name in HOSTS.map(|(name, _)| name).into_iter().chain(["switch"]) {
            let _ = Command::new("ip").args(["netns", "del", &self.namespace(name)]).status();
        }
    }
}
