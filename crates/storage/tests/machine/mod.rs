//! A place on the real machine for one test: a directory on a disk (not tmpfs, which loop devices cannot always do
//! direct I/O on), its ledger, and the certainty that nothing is left behind, even when an assertion fails.

#![allow(dead_code, reason = "each test file uses a part")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use experiment::IoLimits;
use storage::{Ledger, ProbeFigures, clean};

pub const CGROUP_ROOT: &str = "/sys/fs/cgroup";

/// The CPUs of the machine of scripts/vm.sh are emulated, ten to thirty times slower than others: it reaches lower
/// rates, and half of them are enough.
pub fn is_emulated() -> bool {
    std::env::var_os("IOPSLAB_EMULATED_CPUS").is_some()
}

pub struct Machine {
    pub directory: PathBuf,
    pub name: String,
    pub ledger_path: PathBuf,
    pub ledger: Arc<Ledger>,
}

impl Machine {
    /// `None`, with a word why, when this user may not do what the test does.
    pub fn new() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        if !rustix::process::geteuid().is_root() {
            println!("skipped: needs root for loop devices, mounts and cgroups");
            return None;
        }
        let name = format!("iopslab-storage-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
        std::fs::create_dir_all(&directory).unwrap();
        let directory = directory.canonicalize().unwrap();
        let ledger_path = directory.join("ledger.jsonl");
        let ledger = Arc::new(Ledger::open(&ledger_path).unwrap());
        Some(Self { directory, name, ledger_path, ledger })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Devices, mounts and cgroups that carry this test's name; empty when all is well.
    pub fn leftovers(&self) -> Vec<String> {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mut found: Vec<String> =
            mounts.lines().filter(|line| line.contains(&self.name)).map(str::to_owned).collect();
        for entry in std::fs::read_dir("/sys/block").unwrap().flatten() {
            let backing = std::fs::read_to_string(entry.path().join("loop/backing_file")).unwrap_or_default();
            if backing.contains(&self.name) {
                found.push(entry.path().display().to_string());
            }
        }
        for tree in std::fs::read_dir(CGROUP_ROOT).unwrap().flatten() {
            for path in [tree.path(), tree.path().join(&self.name)] {
                if path.file_name().is_some_and(|name| name == self.name.as_str()) && path.exists() {
                    found.push(path.display().to_string());
                }
            }
        }
        found
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let cleaned = clean(&self.ledger_path);
        let left = self.leftovers();
        let _ = std::fs::remove_dir_all(&self.directory);
        if !std::thread::panicking() {
            assert!(
                left.is_empty() && cleaned.as_ref().is_ok_and(storage::Cleaned::is_complete),
                "{left:?} {cleaned:?}"
            );
        }
    }
}

/// A process with a copy of the mount at `path`, as a container that began now would have, and of no volume of other
/// tests.
pub fn with_a_copy_of_the_mount(path: &Path) -> std::process::Child {
    let script = "findmnt --raw --noheadings --types xfs --output TARGET | grep -vxF \"$0\" | tac | xargs -r umount
        echo ready
        exec sleep 60";
    let mut child = std::process::Command::new("unshare")
        .args(["--mount", "sh", "-c", script, path.to_str().unwrap()])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut ready).unwrap();
    child
}

/// Ends it.
pub fn end(mut child: std::process::Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// That nothing on what is mounted at a path is a device or runs as somebody else, as the kernel shows it.
pub fn runs_nothing(mount_point: &Path) {
    let path = mount_point.canonicalize().unwrap();
    let mountinfo = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let fields = |line: &str| line.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut mounts = mountinfo.lines().map(fields).filter(|fields| Path::new(&fields[4]) == path);
    let last = mounts.next_back().unwrap_or_else(|| panic!("nothing is mounted at {}", path.display()));
    let options: Vec<&str> = last[5].split(',').collect();
    assert!(options.contains(&"nosuid") && options.contains(&"nodev"), "{}: {options:?}", path.display());
}

/// How far a volume is off its limits, as a share of what they allow each of fio's tests, 4 KiB reads and 64 KiB
/// writes: the worse of the two.
pub fn share_off(figures: &ProbeFigures, limits: &IoLimits) -> f64 {
    let off = |measured: f64, iops: Option<f64>, bytes_per_s: Option<f64>, block: f64| {
        let allowed = iops.into_iter().chain(bytes_per_s.map(|b| b / block)).reduce(f64::min);
        // Limits below one operation per second are rounded up to one.
        allowed.map_or(0.0, |allowed| (measured / allowed.max(1.0) - 1.0).abs())
    };
    off(figures.read_iops, limits.read_iops, limits.read_bytes_per_s, 4096.0).max(off(
        figures.write_iops,
        limits.write_iops,
        limits.write_bytes_per_s,
        65_536.0,
    ))
}
