//! What a ledger holds: the things on a machine that must be gone when a run is over.

use std::path::PathBuf;

use guarded::start_time_ticks;
use serde::{Deserialize, Serialize};

use crate::process;

/// Something on the machine that must be gone when a run is over. Paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum LedgerItem {
    /// The loop device whose backing file is this image, whichever number it got.
    LoopDevice { image: PathBuf },
    /// The array (md) of which the loop devices of these files are the members, whichever number it got.
    Array { members: Vec<PathBuf> },
    /// Whatever is mounted here.
    Mount { path: PathBuf },
    /// One cgroup directory, whose name starts with `iopslab-`, and the processes in it.
    Cgroup { path: PathBuf },
    /// A process.
    Process {
        pid: u32,
        /// Field 22 of `/proc/PID/stat`, so that a process that got the same number later is never ended.
        start_time_ticks: u64,
        /// The program that it runs, once it has become that.
        executable: PathBuf,
        /// For people: `Cassandra node 1`.
        what: String,
    },
    /// A directory with everything in it.
    Directory { path: PathBuf },
    /// A file.
    File { path: PathBuf },
    /// A file that a process of ours serves over FUSE; [`LedgerItem::Mount`] is its mount.
    ServedFile { connection: u32, pid: u32, start_time_ticks: u64, executable: PathBuf },
    /// The read-ahead of a block device, which was otherwise before.
    ReadAhead {
        /// Kernel name of the device: `loop3`.
        device: String,
        /// Which disk had that name, so that another one that got it later stays as it is.
        disk: String,
        /// What it was, KiB.
        kb: u32,
    },
    /// Packets that are dropped, by nftables' table of rules of this name, of the family `inet`.
    NetworkCut { table: String },
    /// The file system that was made on a whole device, by its identity, so that no other one is ever wiped.
    FileSystem { device: PathBuf, uuid: String },
}

impl LedgerItem {
    /// Entry for a running process, which may still be on its way through a shell or another program that starts it;
    /// `None` when it has ended already.
    pub fn process(pid: u32, what: impl Into<String>) -> Option<Self> {
        Some(Self::Process {
            pid,
            start_time_ticks: start_time_ticks(pid)?,
            executable: process::settled_executable(pid)?,
            what: what.into(),
        })
    }
}

impl std::fmt::Display for LedgerItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::LoopDevice { image } => write!(f, "loop device of {}", image.display()),
            Self::Array { members } => {
                let files: Vec<String> = members.iter().map(|file| file.display().to_string()).collect();
                write!(f, "array of {}", files.join(", "))
            }
            Self::Mount { path } => write!(f, "mount {}", path.display()),
            Self::Cgroup { path } => write!(f, "cgroup {}", path.display()),
            Self::Process { pid, what, .. } => write!(f, "process {pid} ({what})"),
            Self::Directory { path } => write!(f, "directory {}", path.display()),
            Self::File { path } => write!(f, "file {}", path.display()),
            Self::ServedFile { connection, pid, .. } => {
                write!(f, "FUSE connection {connection} of process {pid}")
            }
            Self::ReadAhead { device, .. } => write!(f, "read-ahead of {device}"),
            Self::NetworkCut { table } => write!(f, "network rules {table}"),
            Self::FileSystem { device, .. } => write!(f, "file system on {}", device.display()),
        }
    }
}

/// What may exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub item: LedgerItem,
    /// The directory below which its paths lie; `None`: the ledger's own.
    pub root: Option<PathBuf>,
}
