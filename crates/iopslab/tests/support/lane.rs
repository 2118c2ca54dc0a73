//! Two lanes for stories with a real database: each has a network of its own, in which a database is at 127.0.0.1:9042,
//! and a work directory of its own, to which what the other one has loaded is copied. They share the machine's CPUs and
//! disk.

use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::software;

const LANES: usize = 2;
static TAKEN: Mutex<[bool; LANES]> = Mutex::new([false; LANES]);
static CHANGED: Condvar = Condvar::new();

/// What a story needs of this machine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// One lane: another story goes on in the other one.
    Half,
    /// Both: its nodes use all CPUs, and have to answer in time.
    Whole,
}

/// A lane, from its taking to its drop. The thread that took it is in its network, and so is what it starts.
pub struct Lane {
    taken: Vec<usize>,
    since: Instant,
    network: String,
}

impl Lane {
    pub fn take(share: Share) -> Self {
        software::fetch();
        let mut lanes = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = loop {
            let free: Vec<usize> = (0..LANES).filter(|lane| !lanes[*lane]).collect();
            match share {
                Share::Half if !free.is_empty() => break vec![free[0]],
                Share::Whole if free.len() == LANES => break free,
                _ => lanes = CHANGED.wait(lanes).unwrap_or_else(PoisonError::into_inner),
            }
        };
        taken.iter().for_each(|lane| lanes[*lane] = true);
        drop(lanes);
        let network = format!("iopslab-{}-lane-{}", std::process::id(), taken[0]);
        let lane = Self { taken, since: Instant::now(), network };
        ip(&["netns", "add", &lane.network]);
        let link = std::fs::File::open(Path::new("/run/netns").join(&lane.network)).unwrap();
        move_into_link_name_space(link.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
        ip(&["link", "set", "lo", "up"]);
        share_data_sets(lane.taken[0]);
        lane
    }

    pub fn work(&self) -> PathBuf {
        work(self.taken[0])
    }
}

/// What the runs of lanes other than `own` have made and will undo.
pub fn ledgers_except(own: Option<&Lane>) -> String {
    let others = (0..LANES).filter(|lane| own.is_none_or(|own| !own.taken.contains(lane)));
    let ledger = |lane| std::fs::read_to_string(work(lane).join("ledger.jsonl")).unwrap_or_default();
    others.map(ledger).collect()
}

impl Drop for Lane {
    fn drop(&mut self) {
        // What still runs in it keeps it alive, without a name.
        let _ = Command::new("ip").args(["netns", "del", &self.network]).status();
        // In one piece, and not kept with what a test says: lanes are the longest way through the tests.
        let (story, took_s) = (std::thread::current(), self.since.elapsed().as_secs());
        let said = format!("lane {:?}: {took_s} s for {}\n", self.taken, story.name().unwrap_or_default());
        let _ = std::io::stderr().write_all(said.as_bytes());
        let mut lanes = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        self.taken.iter().for_each(|lane| lanes[*lane] = false);
        CHANGED.notify_all();
    }
}

fn work(lane: usize) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("work-{lane}"))
}

/// What another lane has loaded need not be loaded again.
fn share_data_sets(own: usize) {
    let snapshots = |lane| work(lane).join("snapshots");
    let half = work(own).join("half");
    // No run may have made it yet: stories by SSH and on AWS have work directories of their own.
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(snapshots(own)).unwrap();
    for lane in (0..LANES).filter(|lane| *lane != own) {
        for kept in std::fs::read_dir(snapshots(lane)).into_iter().flatten().flatten() {
            let here = snapshots(own).join(kept.file_name());
            if here.exists() || !kept.path().join("snapshot.json").exists() {
                continue;
            }
            let _ = std::fs::remove_dir_all(&half);
            let copied = Command::new("cp").args(["-a", "--reflink=auto"]).arg(kept.path()).arg(&half).output();
            // A story there may be taking it away.
            if copied.unwrap().status.success() {
                std::fs::rename(&half, here).unwrap();
            }
        }
    }
    let _ = std::fs::remove_dir_all(half);
}

fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {arguments:?}: {error}");
}
