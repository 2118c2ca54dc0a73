//! A laboratory for stories: an isolated directory, a small experiment, and a look at what a run left on the machine.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(dead_code, reason = "each file of stories uses a part of it")]

pub mod account;
pub mod browser;
pub mod by_script;
pub mod conformance;
pub mod lane;
pub mod software;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use lane::{Lane, Share};
use serde_json::Value;

/// An experiment of two equal configurations that are only read from: `$head` follows its name, `$rest` what `[load]`
/// has.
#[allow(unused_macros, reason = "each file of stories uses a part of this")]
macro_rules! two_equal {
    ($head:literal, $rest:literal) => {
        concat!(
            "name = \"story\"\n",
            $head,
            r#"[dataset]
records = 100_000
[[configuration]]
name = "a"
instance = { vcpus = 2, memory_gib = 8 }
data_volume = { iops = 100000, mib_per_s = 2000, size_gib = 100 }
[[configuration]]
name = "b"
instance = { vcpus = 2, memory_gib = 8 }
data_volume = { iops = 100000, mib_per_s = 2000, size_gib = 100 }
[[workload]]
name = "reads"
read = 1.0
[load]
concurrency = [32]
warmup_s = 5
"#,
            $rest
        )
    };
}
#[allow(unused_imports, reason = "each file of stories uses a part of this")]
pub(crate) use two_equal;

/// A JSON file.
pub fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A text as one line, wherever it was broken, without the bar before the lines of an error.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// Every file below a directory, in order; none where there is no directory.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let below = entries.flat_map(|entry| match entry.file_type().unwrap().is_dir() {
        true => files(&entry.path()),
        false => vec![entry.path()],
    });
    let mut found: Vec<PathBuf> = below.collect();
    found.sort();
    found
}

/// What a command has said, from its start to its end.
pub struct Said {
    /// How it exited.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    /// Of a command that runs to its end, whatever that is.
    pub fn of(command: &mut Command) -> Self {
        let Output { status, stdout, stderr } = command.output().unwrap();
        let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Self { code: status.code(), stdout, stderr }
    }

    /// Stdout as a document.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}", self.all()))
    }

    /// Stdout of a command that ended well.
    #[track_caller]
    pub fn well(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.all());
        self.stdout
    }

    /// Stdout, then stderr.
    pub fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// A command whose end is known before.
pub trait Exits {
    /// Runs it to its end, where it has to exit with this code.
    fn exits(&mut self, code: i32) -> Said;
}

impl Exits for Command {
    #[track_caller]
    fn exits(&mut self, code: i32) -> Said {
        let said = Said::of(self);
        assert_eq!(said.code, Some(code), "{self:?}:\n{}", said.all());
        said
    }
}

pub struct Laboratory {
    pub directory: tempfile::TempDir,
    lane: Option<Lane>,
}

impl Laboratory {
    /// For a story without a database and volumes in its own network: others may go on beside it.
    pub fn new() -> Self {
        Self::in_lane(None)
    }

    /// For a story with a real database, which has this share of the machine for itself; waits until it is free.
    pub fn on_machine(share: Share) -> Self {
        Self::in_lane(Some(Lane::take(share)))
    }

    fn in_lane(lane: Option<Lane>) -> Self {
        LEFT_BEFORE.get_or_init(cgroups_of_ended_agents);
        Self { directory: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(), lane }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Where volumes and snapshots are: that of the lane, whose data sets are loaded once for all stories.
    pub fn work(&self) -> PathBuf {
        let own = || self.path().join("work");
        self.lane.as_ref().map_or_else(own, Lane::work)
    }

    /// `iopslab` with the laboratory's directories.
    pub fn iopslab(&self, arguments: &[&str]) -> Command {
        let catalog = self.path().join("catalog");
        let mut command = Command::new(env!("CARGO_BIN_EXE_iopslab"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("IOPSLAB_WORK", self.work())
            // Lanes are machines of their own.
            .env("IOPSLAB_MACHINE_LOCK", self.work().with_extension("lock").join("measuring"))
            // Nobody's own catalog, but that of the laboratory.
            .env("XDG_CONFIG_HOME", self.path().join("no-configuration"))
            // Nor as wide as the terminal of whoever runs the tests.
            .env_remove("COLUMNS")
            .stdin(Stdio::null());
        // A catalog that is named must exist, unless it is to be made.
        if catalog.exists() || arguments.contains(&"refresh") {
            command.env("IOPSLAB_CATALOG", catalog)
        } else {
            command.env_remove("IOPSLAB_CATALOG")
        };
        command
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs to the end and returns everything.
    pub fn output(&self, arguments: &[&str]) -> Output {
        self.iopslab(arguments).output().unwrap()
    }

    /// The same where it has to exit with this code.
    #[track_caller]
    pub fn exits(&self, code: i32, arguments: &[&str]) -> Said {
        self.iopslab(arguments).exits(code)
    }

    /// The same on a machine whose `/dev/fuse` cannot be opened: in a mount namespace where it may be no device.
    pub fn iopslab_without_fuse(&self, arguments: &[&str]) -> Command {
        self.iopslab_apart("mount --bind /dev/fuse /dev/fuse && mount -o remount,bind,nodev /dev/fuse", arguments)
    }

    /// The same in a mount namespace of its own, in which a script has succeeded first.
    pub fn iopslab_apart(&self, script: &str, arguments: &[&str]) -> Command {
        self.iopslab_within("--mount", script, arguments)
    }

    /// The same in a network of its own, which leads nowhere: a database there is in nobody's way.
    pub fn iopslab_in_own_network(&self, arguments: &[&str]) -> Command {
        software::fetch();
        self.iopslab_within("--net", "ip link set lo up", arguments)
    }

    /// The same in a namespace of this kind, in which a script has succeeded first.
    fn iopslab_within(&self, namespace: &str, script: &str, arguments: &[&str]) -> Command {
        let mut command = self.iopslab(arguments);
        let mut apart = Command::new("unshare");
        apart.args([namespace, "sh", "-c", &format!("{script} && exec \"$@\""), "sh"]);
        apart.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => apart.env(name, value),
                None => apart.env_remove(name),
            };
        }
        command = apart;
        command.current_dir(self.path()).stdin(std::process::Stdio::null());
        command
    }

    /// Starts in the background; stderr goes to `stderr.txt`.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        let stderr = std::fs::File::create(self.path().join("stderr.txt")).unwrap();
        self.iopslab(arguments).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap()
    }

    pub fn stderr_so_far(&self) -> String {
        std::fs::read_to_string(self.path().join("stderr.txt")).unwrap_or_default()
    }

    /// The only run directory.
    pub fn run_directory(&self) -> PathBuf {
        let runs: Vec<_> = std::fs::read_dir(self.path().join("runs")).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0].clone()
    }

    /// The directory of the run, once there is one.
    pub fn run_so_far(&self) -> Option<PathBuf> {
        let runs = std::fs::read_dir(self.path().join("runs")).into_iter().flatten();
        runs.flatten().next().map(|run| run.path())
    }

    /// Stored trials, where a run may not have begun.
    pub fn trials_so_far(&self) -> Vec<(String, String)> {
        self.run_so_far().map_or_else(Vec::new, |_| self.trials())
    }

    /// The run that was put into this directory alone.
    pub fn run_in(&self, out: &str) -> PathBuf {
        std::fs::read_dir(self.path().join(out)).unwrap().next().unwrap().unwrap().path()
    }

    /// The record of a trial of the only run.
    pub fn record(&self, cell: &str, block: &str) -> Value {
        json(&self.run_directory().join("trials").join(cell).join(block).join("trial.json"))
    }

    /// Every stored trial as (cell, block).
    pub fn trials(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for cell in std::fs::read_dir(self.run_directory().join("trials")).into_iter().flatten() {
            let cell = cell.unwrap();
            for block in std::fs::read_dir(cell.path()).unwrap() {
                let block = block.unwrap();
                if block.path().join("trial.json").exists() {
                    let name = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
                    found.push((name(&cell), name(&block)));
                }
            }
        }
        found.sort();
        found
    }
}

/// Waits until `condition` holds; panics with `what` when it takes too long.
pub fn wait_for(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < limit, "waited {limit:?} for: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

impl Laboratory {
    /// As [`wait_for`], of a run that [`Laboratory::spawn`] started: shows what it has said if it ends or takes too
    /// long.
    pub fn wait_in(&self, run: &mut Child, what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
        let began = Instant::now();
        while !condition() {
            let ended = run.try_wait().unwrap();
            let late = began.elapsed() >= limit;
            // What was waited for may be the last thing that it did.
            assert!(
                !late && ended.is_none() || condition(),
                "no {what} after {:.0?} of at most {limit:?}; the run {}:\n{}",
                began.elapsed(),
                ended.map_or("goes on".to_owned(), |status| format!("has ended ({status})")),
                self.stderr_so_far()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Laboratory {
    /// Loop devices, mounts, cgroups and processes that this laboratory's runs left on this machine.
    pub fn leftovers(&self) -> Vec<String> {
        let work = self.work().display().to_string();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/sys/block").unwrap().flatten() {
            let backing = std::fs::read_to_string(entry.path().join("loop/backing_file")).unwrap_or_default();
            if backing.contains(&work) {
                let device = entry.file_name();
                found.push(format!("loop device {} on {}", device.display(), backing.trim()));
            }
        }
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let ours = mounts.lines().filter(|line| line.contains(&work));
        found.extend(ours.map(|line| format!("mount {line}")));
        found.extend(self.left_cgroups());
        found.extend(databases(&work).into_iter().map(|pid| format!("Cassandra, pid {pid}")));
        found
    }

    /// Those of this laboratory: not what another lane will clean, nor what somebody's killed run had left before.
    fn left_cgroups(&self) -> Vec<String> {
        let elsewhere = lane::ledgers_except(self.lane.as_ref());
        let before = LEFT_BEFORE.get().unwrap();
        let left = cgroups_of_ended_agents().into_iter();
        left.filter(|path| !before.contains(path) && !elsewhere.contains(&path.display().to_string()))
            .map(|path| format!("cgroup {}", path.display()))
            .collect()
    }
}

/// Cgroups that were on the machine before the first laboratory of this process.
static LEFT_BEFORE: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// One of an agent that lives belongs to a run that goes on.
fn cgroups_of_ended_agents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for controller in std::fs::read_dir("/sys/fs/cgroup").unwrap().flatten() {
        for group in std::fs::read_dir(controller.path()).into_iter().flatten().flatten() {
            let name = group.file_name().display().to_string();
            // iopslab-PID-WORD-database
            let pid = name
                .strip_prefix("iopslab-")
                .and_then(|rest| rest.strip_suffix("-database"))
                .and_then(|rest| rest.split('-').next());
            if pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
                found.push(group.path());
            }
        }
    }
    found
}

/// Nobody gets anywhere by taking a process over: it is not root's, it has no capability, and no program gives it one.
pub fn has_no_rights(pid: u32) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let fact = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let uids = fact("Uid:");
    assert!(uids.len() == 4 && uids.iter().all(|uid| uid != "0"), "{status}");
    assert_eq!((fact("NoNewPrivs:"), fact("Groups:")), (vec!["1".to_owned()], Vec::new()), "{status}");
    for set in ["CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        assert_eq!(fact(set), ["0".repeat(16)], "{set} {status}");
    }
}

/// Processes that run Cassandra out of `work`.
pub fn databases(work: &str) -> Vec<u32> {
    let mut pids = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        if line.contains("CassandraDaemon") && line.contains(work) {
            pids.push(pid);
        }
    }
    pids
}
