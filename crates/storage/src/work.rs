//! The work directory: volumes, snapshots and the ledger, owned by one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::{Result, StorageError, io_error};

/// How long a killed run's agent may take to clean up before its work directory counts as taken.
const LOCK_PATIENCE: Duration = Duration::from_secs(20);

/// A locked work directory; dropping it (or dying) gives it free.
#[derive(Debug)]
pub struct WorkDirectory {
    path: PathBuf,
    // Held for its flock(2), which the kernel drops with the process, however that ends.
    _lock: File,
}

impl WorkDirectory {
    /// Creates the directory if it is missing, and locks it.
    ///
    /// # Errors
    /// [`StorageError::Locked`] names the process that holds it.
    pub fn lock(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(io_error("create the work directory", path))?;
        // Absolute and without symbolic links, because the ledger's entries must mean the same from anywhere.
        let path = fs::canonicalize(path).map_err(io_error("resolve the work directory", path))?;
        let lock_path = path.join(LOCK);
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&lock_path)
            .map_err(io_error("open", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(locked(path, &mut lock)),
            Err(TryLockError::Error(error)) => return Err(io_error("lock", &lock_path)(error)),
        }
        lock.set_len(0)
            .and_then(|()| lock.rewind())
            .and_then(|()| writeln!(lock, "{}", std::process::id()))
            .map_err(io_error("write to", &lock_path))?;
        Ok(Self { path, _lock: lock })
    }

    /// Like [`WorkDirectory::lock`], but gives whoever holds it up to [`LOCK_PATIENCE`] to leave. `waiting` is told what
    /// is waited for, as a sentence, five times a second, and ends the waiting by returning `false`.
    ///
    /// # Errors
    /// [`StorageError::Locked`] when it is still taken then.
    pub fn lock_when_free(path: &Path, waiting: impl FnMut(&str) -> bool) -> Result<Self> {
        in_time(waiting, || Self::lock(path))
    }

    /// Waits in the same way until nobody holds it; takes and creates nothing.
    ///
    /// # Errors
    /// [`StorageError::Locked`] when it is still taken then.
    pub fn wait_until_free(path: &Path, waiting: impl FnMut(&str) -> bool) -> Result<()> {
        in_time(waiting, || Self::taken(path).map_or(Ok(()), Err))
    }

    /// That another process holds the work directory `path` now; takes and creates nothing.
    fn taken(path: &Path) -> Option<StorageError> {
        let mut lock = File::open(path.join(LOCK)).ok()?;
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(locked(path.to_owned(), &mut lock)),
            _ => None,
        }
    }

    /// Where it is, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its ledger is.
    pub fn ledger_path(&self) -> PathBuf {
        Self::ledger_path_in(&self.path)
    }

    /// Where the ledger of the work directory `path` is, without locking it.
    pub fn ledger_path_in(path: &Path) -> PathBuf {
        path.join("ledger.jsonl")
    }
}

/// Attempts it until it is not refused because the work directory is taken.
fn in_time<T>(mut waiting: impl FnMut(&str) -> bool, attempt: impl Fn() -> Result<T>) -> Result<T> {
    let began = Instant::now();
    loop {
        match attempt() {
            Err(StorageError::Locked { path, pid }) => {
                let whom = pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
                let go_on = waiting(&format!("waiting for {whom} to leave {}", path.display()));
                if !go_on || began.elapsed() >= LOCK_PATIENCE {
                    return Err(StorageError::Locked { path, pid });
                }
                std::thread::sleep(Duration::from_millis(200));
            }
            other => return other,
        }
    }
}

/// File of the lock, with the process that holds it.
const LOCK: &str = "lock";

fn locked(path: PathBuf, lock: &mut File) -> StorageError {
    let mut text = String::new();
    // An unreadable holder is still a holder.
    let _ = lock.read_to_string(&mut text);
    StorageError::Locked {
        path,
        pid: text.trim().parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_owner_is_told_who_is_the_first() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("work");
        assert!(
            WorkDirectory::taken(&path).is_none() && !path.exists(),
            "asking creates nothing"
        );
        let first = WorkDirectory::lock(&path).unwrap();
        let asked = WorkDirectory::taken(&path).unwrap();
        for refusal in [WorkDirectory::lock(&path).unwrap_err(), asked] {
            let message = refusal.to_string();
            assert!(
                message.contains(&format!("process {}", std::process::id())),
                "{message}"
            );
        }
        let asked = WorkDirectory::lock_when_free(&path, |said| {
            assert!(
                said.contains(&format!("waiting for process {} to leave", std::process::id())),
                "{said}"
            );
            false
        });
        assert!(matches!(asked, Err(StorageError::Locked { .. })));
        let asked = WorkDirectory::wait_until_free(&path, |_| false);
        assert!(matches!(asked, Err(StorageError::Locked { .. })));
        let mut first = Some(first);
        let leaves = WorkDirectory::lock_when_free(&path, |_| {
            first = None;
            true
        });
        drop(leaves.unwrap());
        assert!(WorkDirectory::taken(&path).is_none());
        WorkDirectory::lock(&path).unwrap();
    }
}
