//! The ledger: everything that iopslab creates on a machine is written down *before* it is created.
//!
//! A run can be killed at any instant. Whatever order things happen in, one of two states is found afterwards: an entry
//! without a thing (cleaning it does nothing) or an entry with its thing (cleaning removes it). A thing without an
//! entry cannot occur, because the entry reaches the disk (append, fsync) first. The one exception is a process, whose
//! number is known only once it runs; it is started inside a cgroup that has an entry already, and cleaning a cgroup
//! ends its members.
//!
//! The file holds one JSON object per line: `{"intend":{"id":7,"item":{...}}}` and `{"done":7}`. A last line that was
//! cut off by a crash is ignored: its thing had not been created yet.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::error::{Result, StorageError, io_error};
use crate::process::start_time_ticks;

/// Something on the machine that must be gone when a run is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LedgerItem {
    /// The loop device whose backing file is this image, whichever number it got.
    LoopDevice {
        /// Absolute path of the image.
        image: PathBuf,
    },
    /// The array (md) of which the loop devices of these files are the members, whichever number it got.
    Array {
        /// Absolute paths of the files.
        members: Vec<PathBuf>,
    },
    /// Whatever is mounted here.
    Mount {
        /// Mount point.
        path: PathBuf,
    },
    /// One cgroup directory and the processes in it.
    Cgroup {
        /// Its directory; the last part of the name starts with `iopslab-`.
        path: PathBuf,
    },
    /// A process.
    Process {
        /// Its number.
        pid: u32,
        /// Field 22 of `/proc/PID/stat`, so that a process that got the same number later is never ended.
        start_time_ticks: u64,
        /// For people: `Cassandra node 1`.
        what: String,
    },
    /// A directory with everything in it.
    Directory {
        /// Which.
        path: PathBuf,
    },
    /// A file.
    File {
        /// Which.
        path: PathBuf,
    },
    /// A file that a process of ours serves over FUSE; [`LedgerItem::Mount`] is its mount.
    ServedFile {
        /// Number of its connection below `/sys/fs/fuse/connections`.
        connection: u32,
        /// The server.
        pid: u32,
        /// As in [`LedgerItem::Process`].
        start_time_ticks: u64,
    },
    /// The read-ahead of a block device, which was otherwise before.
    ReadAhead {
        /// Kernel name of the device: `loop3`.
        device: String,
        /// What it was, KiB.
        kb: u32,
    },
    /// Packets that are dropped.
    NetworkCut {
        /// Name of nftables' table of rules, of the family `inet`.
        table: String,
    },
    /// The file system that was made on a whole device.
    FileSystem {
        /// The device.
        device: PathBuf,
        /// The file system's identity, so that no other one is ever wiped.
        uuid: String,
    },
}

impl LedgerItem {
    /// Entry for a running process; `None` when it has ended already.
    pub fn process(pid: u32, what: impl Into<String>) -> Option<Self> {
        Some(Self::Process {
            pid,
            start_time_ticks: start_time_ticks(pid)?,
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

/// Identity of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LedgerId(u64);

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Intend { id: LedgerId, item: LedgerItem },
    Done(LedgerId),
}

/// The append-only list of what exists.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    last_id: u64,
}

impl Ledger {
    /// Opens or creates the ledger at `path`. What it holds stays outstanding: call [`crate::clean()`] first to undo
    /// it.
    pub fn open(path: &Path) -> Result<Self> {
        // A line cut off by a crash would spoil the next one; end it.
        let cut_off = match fs::read(path) {
            Ok(bytes) => bytes.last().is_some_and(|last| *last != b'\n'),
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(error) => return Err(io_error("read", path)(error)),
        };
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(io_error("open the ledger", path))?;
        if cut_off {
            file.write_all(b"\n").map_err(io_error("write to the ledger", path))?;
        }
        // The new file's name must survive a crash as well as its content.
        if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
            File::open(parent)
                .and_then(|d| d.sync_all())
                .map_err(io_error("fsync", parent))?;
        }
        Ok(Self {
            path: path.to_owned(),
            state: Mutex::new(State { file, last_id: 0 }),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes down that `item` is about to be created; returns once that is on the disk.
    pub fn intend(&self, item: LedgerItem) -> Result<LedgerId> {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // Ids follow the clock, so that they differ between openings of a file that `clean` may have emptied.
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| d.as_nanos() as u64);
        state.last_id = now.max(state.last_id + 1);
        let id = LedgerId(state.last_id);
        append(&mut state.file, &self.path, &Line::Intend { id, item })?;
        Ok(id)
    }

    /// Writes down that the entry needs no cleaning any more: its thing is gone, or is meant to stay (a finished
    /// snapshot).
    pub fn done(&self, id: LedgerId) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        append(&mut state.file, &self.path, &Line::Done(id))
    }

    /// What may still exist, oldest first. A missing ledger holds nothing.
    pub fn outstanding(path: &Path) -> Result<Vec<LedgerItem>> {
        Ok(outstanding_entries(path)?.into_values().collect())
    }
}

pub(crate) fn append(file: &mut File, path: &Path, line: &Line) -> Result<()> {
    let mut text = serde_json::to_string(line).map_err(|error| StorageError::Ledger {
        path: path.to_owned(),
        line: 0,
        reason: error.to_string(),
    })?;
    text.push('\n');
    // One write call, so that a concurrent reader or a crash sees whole lines except perhaps the last.
    file.write_all(text.as_bytes())
        .map_err(io_error("write to the ledger", path))?;
    file.sync_data().map_err(io_error("fsync the ledger", path))
}

/// Entries without `done`, by id, which is the order of creation.
pub(crate) fn outstanding_entries(path: &Path) -> Result<BTreeMap<LedgerId, LedgerItem>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(io_error("read", path)(error)),
    };
    let mut entries = BTreeMap::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(Line::Intend { id, item }) => {
                entries.insert(id, item);
            }
            Ok(Line::Done(id)) => {
                entries.remove(&id);
            }
            // Only a write cut off by a crash ends before the object does; what it announced was never created.
            Err(error) if error.is_eof() => {}
            Err(error) => {
                return Err(StorageError::Ledger {
                    path: path.to_owned(),
                    line: index + 1,
                    reason: error.to_string(),
                });
            }
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> LedgerItem {
        LedgerItem::File { path: name.into() }
    }

    #[test]
    fn entries_stay_until_done_and_survive_reopening() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.jsonl");
        assert!(
            Ledger::outstanding(&path).unwrap().is_empty(),
            "a missing ledger holds nothing"
        );
        let ledger = Ledger::open(&path).unwrap();
        let a = ledger.intend(file("a")).unwrap();
        ledger.intend(file("b")).unwrap();
        ledger.done(a).unwrap();
        drop(ledger);
        Ledger::open(&path).unwrap().intend(file("c")).unwrap();
        assert_eq!(Ledger::outstanding(&path).unwrap(), [file("b"), file("c")]);
    }

    #[test]
    fn a_line_cut_off_by_a_crash_is_ignored_and_does_not_spoil_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.jsonl");
        Ledger::open(&path).unwrap().intend(file("a")).unwrap();
        OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(br#"{"intend":{"id":9,"it"#)
            .unwrap();
        assert_eq!(Ledger::outstanding(&path).unwrap(), [file("a")]);
        Ledger::open(&path).unwrap().intend(file("b")).unwrap();
        assert_eq!(Ledger::outstanding(&path).unwrap(), [file("a"), file("b")]);
    }

    #[test]
    fn an_unknown_entry_is_refused_rather_than_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.jsonl");
        fs::write(&path, "{\"intend\":{\"id\":1,\"item\":{\"spaceship\":{}}}}\n").unwrap();
        assert!(Ledger::outstanding(&path).unwrap_err().to_string().contains("line 1"));
    }
}
