//! The work directory: volumes, snapshots and the ledger, owned by one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use guarded::{open_private, private_directory};

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

/// Who holds a work directory, as the system has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// Its number.
    pub pid: u32,
    /// What it was started as: its program and its words.
    pub command: String,
    /// How long it has held the directory.
    pub held: Duration,
    /// Whether it stands still (SIGSTOP, a debugger).
    pub is_stopped: bool,
}

impl WorkDirectory {
    /// How long whoever holds it may take to leave where that is waited for.
    pub const PATIENCE: Duration = LOCK_PATIENCE;

    /// Who holds the work directory `path` now; takes and creates nothing. `None`: nobody, or nobody whom this process
    /// can see, such as one in another container.
    pub fn holder(path: &Path) -> Option<LockHolder> {
        let lock = fs::canonicalize(path.join(LOCK)).ok()?;
        let pid = held(&lock)?.pid()?;
        let started_at_ticks = guarded::start_time_ticks(pid)?;
        // A number of another container is another process here.
        let mut files = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
        files.find(|file| fs::read_link(file.path()).is_ok_and(|open| open == lock))?;
        let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words).trim_end_matches('\0').replace('\0', " ");
        // Whoever takes it writes its number there.
        let taken = fs::metadata(&lock).and_then(|about| about.modified()).ok()?;
        Some(LockHolder {
            pid,
            command: words.chars().take(COMMAND_CHARS).collect(),
            held: SystemTime::now().duration_since(taken).unwrap_or_default(),
            is_stopped: guarded::is_stopped(pid, started_at_ticks),
        })
    }

    /// Creates the directory if it is missing, and locks it. Errors: [`StorageError::Locked`] names the process that
    /// holds it, [`StorageError::NotPrivate`] who else could write there.
    pub fn lock(path: &Path) -> Result<Self> {
        // Absolute and without symbolic links, because the ledger's entries must mean the same from anywhere.
        let path = private_directory(path)?;
        match take(&path.join(LOCK), "")? {
            Ok(lock) => Ok(Self { path, _lock: lock }),
            Err(holder) => Err(StorageError::Locked { path, pid: holder.pid() }),
        }
    }

    /// Like [`WorkDirectory::lock`], but gives whoever holds it up to [`LOCK_PATIENCE`] to leave. `waiting` gets what
    /// is waited for, as a sentence, five times a second, and ends the waiting by returning `false`. Errors:
    /// [`StorageError::Locked`] when it is still taken then.
    pub fn lock_when_free(path: &Path, waiting: impl FnMut(&str) -> bool) -> Result<Self> {
        in_time(waiting, || Self::lock(path))
    }

    /// Waits in the same way until nobody holds it; takes and creates nothing. Errors: [`StorageError::Locked`] when it
    /// is still taken then.
    pub fn wait_until_free(path: &Path, waiting: impl FnMut(&str) -> bool) -> Result<()> {
        in_time(waiting, || Self::taken(path).map_or(Ok(()), Err))
    }

    /// That another process holds the work directory `path` now; takes and creates nothing.
    fn taken(path: &Path) -> Option<StorageError> {
        held(&path.join(LOCK)).map(|holder| StorageError::Locked { path: path.to_owned(), pid: holder.pid() })
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
            Err(error @ (StorageError::Locked { .. } | StorageError::Measuring { .. })) => {
                let go_on = waiting(&reported(&error));
                if !go_on || began.elapsed() >= LOCK_PATIENCE {
                    return Err(error);
                }
                std::thread::sleep(Duration::from_millis(200));
            }
            other => return other,
        }
    }
}

/// What is waited for.
fn reported(taken: &StorageError) -> String {
    match taken {
        StorageError::Locked { path, pid } => {
            let whom = pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
            format!("waiting for {whom} to leave {}", path.display())
        }
        StorageError::Measuring { holder } => format!("waiting for {holder}, which measures on this machine"),
        other => other.to_string(),
    }
}

/// Of what a process was started as, so much is said.
const COMMAND_CHARS: usize = 120;
/// File of the lock, with the process that holds it.
const LOCK: &str = "lock";
/// Of what a lock file says, so much is read.
const HOLDER_BYTES: u64 = 256;

/// What a lock file says of who holds it: the number of the process, and what it is for.
struct Holder(String);

impl Holder {
    fn of(lock: &mut File) -> Self {
        let mut text = String::new();
        // An unreadable holder is still a holder.
        let _ = lock.take(HOLDER_BYTES).read_to_string(&mut text);
        Self(text.trim().to_owned())
    }

    fn pid(&self) -> Option<u32> {
        self.0.split_whitespace().next()?.parse().ok()
    }

    /// For people: `process 4711, run gp3`.
    fn reported(&self) -> String {
        match self.0.split_once(' ') {
            _ if self.0.is_empty() => "an unknown process".to_owned(),
            Some((pid, what)) => format!("process {pid}, {what}"),
            None => format!("process {}", self.0),
        }
    }
}

/// Locks a file, which is made if it is missing, for something; or says who holds it.
fn take(path: &Path, what: &str) -> Result<std::result::Result<File, Holder>> {
    let how = &mut OpenOptions::new();
    let mut lock =
        open_private(path, how.read(true).write(true).create(true).truncate(false)).map_err(io_error("open", path))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Err(Holder::of(&mut lock))),
        Err(TryLockError::Error(error)) => return Err(io_error("lock", path)(error)),
    }
    let text = format!("{} {what}", std::process::id());
    lock.set_len(0)
        .and_then(|()| lock.rewind())
        .and_then(|()| writeln!(lock, "{}", text.trim_end()))
        .map_err(io_error("write to", path))?;
    Ok(Ok(lock))
}

/// This machine, taken by whoever measures on it; dropping it (or dying) gives it free. Two that measure at the same
/// time would each find a slower machine, and want the same ports.
///
/// Who goes beside another all the same takes a further lock, so that whoever comes next finds it there as well.
#[derive(Debug)]
pub struct Measuring {
    _lock: File,
}

/// So many may measure beside the first one.
const MOST_BESIDE: usize = 8;

impl Measuring {
    /// Takes the machine whose lock is this file, for `what`, in a directory that is made if it is missing. Errors:
    /// [`StorageError::Measuring`] says who has it.
    pub fn begin(path: &Path, what: &str) -> Result<Self> {
        if let Some(directory) = path.parent() {
            private_directory(directory)?;
        }
        let taken = |holder: Holder| StorageError::Measuring { holder: holder.reported() };
        let lock = take(path, what)?.map_err(taken)?;
        match beside_of(path).find_map(|path| held(&path)) {
            Some(holder) => Err(taken(holder)),
            None => Ok(Self { _lock: lock }),
        }
    }

    /// For a run: goes beside others where that was asked for; else whoever has it gets up to [`LOCK_PATIENCE`] to be
    /// done, as in [`WorkDirectory::lock_when_free`]. Errors: [`StorageError::Measuring`] when it is still taken then.
    pub fn take(path: &Path, run: &str, goes_beside: bool, waiting: impl FnMut(&str) -> bool) -> Result<Self> {
        let what = format!("run {run}");
        if goes_beside { Self::begin_beside(path, &what) } else { in_time(waiting, || Self::begin(path, &what)) }
    }

    /// Others may measure here meanwhile: whoever has the machine is not waited for, but more than anybody can want are
    /// refused.
    fn begin_beside(path: &Path, what: &str) -> Result<Self> {
        if let Some(directory) = path.parent() {
            private_directory(directory)?;
        }
        let mut others = Vec::new();
        for path in locks_of(path) {
            match take(&path, what)? {
                Err(holder) => others.push(holder.reported()),
                Ok(lock) => return Ok(Self { _lock: lock }),
            }
        }
        let holder = others.join("; ");
        Err(StorageError::Measuring { holder })
    }

    /// Who measures on the machine whose lock is this file, in words; takes and creates nothing.
    pub fn going_on(path: &Path) -> Vec<String> {
        let holders = locks_of(path).filter_map(|path| held(&path));
        holders.map(|holder| holder.reported()).collect()
    }
}

/// The lock of a machine, and those of who measures beside whoever has it.
fn locks_of(path: &Path) -> impl Iterator<Item = PathBuf> {
    std::iter::once(path.to_owned()).chain(beside_of(path))
}

/// Those of the latter alone.
fn beside_of(path: &Path) -> impl Iterator<Item = PathBuf> {
    let name = path.file_name().unwrap_or_default().to_os_string();
    let path = path.to_owned();
    (1..=MOST_BESIDE).map(move |number| {
        let mut name = name.clone();
        name.push(format!("-beside-{number}"));
        path.with_file_name(name)
    })
}

/// Who holds a lock now; takes and creates nothing.
fn held(path: &Path) -> Option<Holder> {
    let mut lock = open_private(path, OpenOptions::new().read(true)).ok()?;
    match lock.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(Holder::of(&mut lock)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_measured_on_by_one_at_a_time_and_who_that_is_is_said() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run/measuring");
        let first = Measuring::begin(&path, "run gp3").unwrap();
        let refusal = Measuring::begin(&path, "a database").unwrap_err().to_string();
        assert!(refusal.contains(&format!("process {}, run gp3", std::process::id())), "{refusal}");
        let mut first = Some(first);
        let second = Measuring::take(&path, "gp2", false, |said| {
            assert!(said.contains("run gp3, which measures on this machine"), "{said}");
            first = None;
            true
        });
        drop(second.unwrap());
    }

    #[test]
    fn who_goes_beside_another_is_seen_by_those_who_come_next() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run/measuring");
        assert!(Measuring::going_on(&path).is_empty());
        let first = Measuring::begin(&path, "run gp3").unwrap();
        let second = Measuring::take(&path, "gp2", true, |_| false).unwrap();
        let reported = |what: &str| format!("process {}, {what}", std::process::id());
        assert_eq!(Measuring::going_on(&path), [reported("run gp3"), reported("run gp2")]);
        drop(first);
        let refusal = Measuring::begin(&path, "a database").unwrap_err().to_string();
        assert!(refusal.contains("run gp2 measures on this machine"), "{refusal}");
        drop(second);
        drop(Measuring::begin(&path, "a database").unwrap());
        drop(Measuring::take(&path, "gp3", true, |_| false).unwrap());
        assert!(Measuring::going_on(&path).is_empty());
    }

    #[test]
    fn the_second_owner_is_told_who_is_the_first() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("work");
        assert!(WorkDirectory::taken(&path).is_none() && !path.exists(), "asking creates nothing");
        let first = WorkDirectory::lock(&path).unwrap();
        let asked = WorkDirectory::taken(&path).unwrap();
        for refusal in [WorkDirectory::lock(&path).unwrap_err(), asked] {
            let message = refusal.to_string();
            assert!(message.contains(&format!("process {}", std::process::id())), "{message}");
        }
        let asked = WorkDirectory::lock_when_free(&path, |said| {
            assert!(said.contains(&format!("waiting for process {} to leave", std::process::id())), "{said}");
            false
        });
        assert!(matches!(asked, Err(StorageError::Locked { .. })));
        let holder = WorkDirectory::holder(&path).unwrap();
        assert_eq!((holder.pid, holder.is_stopped), (std::process::id(), false));
        assert!(!holder.command.is_empty() && holder.held < Duration::from_secs(600), "{holder:?}");
        let asked = WorkDirectory::wait_until_free(&path, |_| false);
        assert!(matches!(asked, Err(StorageError::Locked { .. })));
        let mut first = Some(first);
        let leaves = WorkDirectory::lock_when_free(&path, |_| {
            first = None;
            true
        });
        drop(leaves.unwrap());
        assert!(WorkDirectory::taken(&path).is_none());
        assert_eq!(WorkDirectory::holder(&path), None);
        WorkDirectory::lock(&path).unwrap();
    }
}
