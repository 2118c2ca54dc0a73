//! What can go wrong with volumes and limits: every message says what failed, where, and what to do now.

use std::io;
use std::path::{Path, PathBuf};

/// Why a volume, a cgroup or the ledger could not be made, used or removed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum StorageError {
    /// A system call on a path failed.
    #[error("cannot {doing} {}: {source}{}", path.display(), full(path, source))]
    Io { doing: String, path: PathBuf, source: io::Error },
    #[error("{program} is not installed; install the package {package} (Debian, Ubuntu: apt-get install {package})")]
    NotInstalled { program: String, package: &'static str },
    /// A program failed.
    #[error("`{command}` failed ({how}){}", tail(stderr_tail))]
    Command { command: String, how: String, stderr_tail: String },
    #[error(
        "the work directory {} is in use by process {}; wait for it, end it, or choose another one with \
         `work_directory` in [provider.local]",
        path.display(), pid.map_or_else(|| "(unknown)".to_owned(), |pid| pid.to_string())
    )]
    Locked { path: PathBuf, pid: Option<u32> },
    #[error(
        "{holder} measures on this machine: two at the same time would each find a slower machine; wait for that one, \
         or end it; `iopslab run --beside` goes on all the same, and its report says so"
    )]
    Measuring { holder: String },
    /// Somebody else could change what is in a directory of ours.
    #[error(transparent)]
    NotPrivate(#[from] guarded::NotPrivate),
    /// Something that would be undone where nothing of ours can be.
    #[error("{what} is left alone: {reason}")]
    NotOurs { what: String, reason: String },
    #[error(
        "{} is not empty ({found}); if nobody needs what is on it: wipefs --all {}",
        device.display(),
        device.display()
    )]
    DeviceInUse { device: PathBuf, found: String },
    #[error(
        "line {line} of the ledger {} cannot be understood ({reason}); it may have been written by another version of \
         iopslab: run `iopslab clean` of that version, or remove what the line names by hand and delete the line",
        path.display()
    )]
    Ledger { path: PathBuf, line: usize, reason: String },
    /// The host's file system cannot do direct I/O, so the host's page cache would answer for the volume.
    #[error(
        "/dev/{device} cannot use direct I/O on {}: the file system below it does not support it, so the host's page \
         cache would answer instead of the disk; put the work directory on ext4 or XFS",
        image.display()
    )]
    NoDirectIo { device: String, image: PathBuf },
    #[error(
        "{} is attached to /dev/{device} already, probably by a run that was killed; run `iopslab clean`",
        image.display()
    )]
    AlreadyAttached { image: PathBuf, device: String },
    /// A volume cannot be served.
    #[error(transparent)]
    Served(#[from] served::ServedError),
    #[error("cannot unmount {}: {holders}; stop them and try again", path.display())]
    Busy { path: PathBuf, holders: String },
    /// A limit was asked for that this machine cannot set.
    #[error("cannot limit {resource}: {reason}")]
    NoController { resource: &'static str, reason: String },
    #[error(
        "processes {pids:?} in cgroup {} survive SIGKILL (uninterruptible I/O?); see /proc/PID/stack",
        path.display()
    )]
    Unkillable { path: PathBuf, pids: Vec<u32> },
    #[error("fio's result for {} cannot be used: {reason}", path.display())]
    Probe { path: PathBuf, reason: String },
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, StorageError>;

/// Names the action and the path of a failed system call: `fs::remove_file(p).map_err(io_error("remove", p))`.
pub fn io_error<E: Into<io::Error>>(doing: impl Into<String>, path: &Path) -> impl FnOnce(E) -> StorageError {
    let (doing, path) = (doing.into(), path.to_owned());
    move |source| StorageError::Io { doing, path, source: source.into() }
}

/// Where a disk is full: which one, and what is free there.
fn full(path: &Path, source: &io::Error) -> String {
    let is_full = matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    if !is_full {
        return String::new();
    }
    let directory = path.parent().unwrap_or(path);
    let free = rustix::fs::statvfs(directory).map(|facts| facts.f_bavail.saturating_mul(facts.f_frsize));
    let free = free.map_or(0.0, |bytes| bytes as f64 / f64::from(1 << 30));
    format!(
        "; {free:.2} GiB are free on the disk of {}: free some space there, or name a larger disk (`work_directory` or \
         `data` of the provider, IOPSLAB_WORK)",
        directory.display()
    )
}

fn tail(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(":\n{stderr}") }
}
