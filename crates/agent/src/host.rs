//! What the database agent owns on its host: the work directory with its lock, and the ledger of everything that must
//! be undone.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use database::{Account, Temporary};
use evidence::SnapshotFacts;
use experiment::MachineStorage;
use storage::{Disk, Ledger, LedgerItem, Measuring, Problem, StorageError, WorkDirectory};
use wire::{MachineUse, RequestError, Result, UnderTest};

use super::backing::is_limited;
use super::logs::KeptLog;
use super::outbox::Outbox;
use super::volumes::CGROUP_ROOT;

/// For logs and the ledger, where no data set is in the work directory.
const LEAST_WORK_BYTES: u64 = 1 << 30;
/// Below a work directory: snapshots of data sets, each in a directory of the name of its key.
pub(super) const SNAPSHOTS: &str = "snapshots";
/// What says which data set a snapshot is, beside its `data/`.
pub(super) const MANIFEST: &str = "snapshot.json";
pub(super) const MANIFEST_MOST_BYTES: u64 = 1 << 20;

/// Random bytes in the names of an agent's cgroups.
const CGROUP_BYTES: usize = 4;

/// The host, taken for one run.
pub(super) struct Host {
    work: WorkDirectory,
    /// Held by the first node of this machine for all of them.
    _machine: Option<Measuring>,
    /// What must be undone.
    pub ledger: Arc<Ledger>,
    /// Whom the database runs as; `None`: whoever runs this.
    pub account: Option<Account>,
    /// The run's name.
    pub run: String,
    /// The way to the controller.
    pub outbox: Outbox,
}

/// Takes the work directory and cleans what an earlier run has left there; gives what that was, for people. Refused
/// where the machine lacks something that a run needs, such as so many bytes for the data, and for logs that have a
/// disk of their own.
pub(super) fn take(
    path: &Path,
    needed_bytes: (u64, u64),
    machine_use: Option<&MachineUse>,
    outbox: &Outbox,
) -> Result<(WorkDirectory, Vec<String>)> {
    let (work, cleaned) = take_clean(path, outbox)?;
    let problems = missing(work.path(), needed_bytes, machine_use);
    // Only here: what an earlier run had left on a device is gone now.
    let stated = machine_use.into_iter().flat_map(|machine_use| machine_use.data.iter().chain(&machine_use.commitlog));
    for storage in stated {
        if let MachineStorage::Device(device) = storage {
            Disk::check(Path::new(device))?;
        }
    }
    match problems.into_iter().next() {
        Some(problem) => Err(RequestError::new(problem.what).help(problem.fix)),
        None => Ok((work, cleaned)),
    }
}

/// The same whatever the machine lacks.
pub(super) fn take_clean(path: &Path, outbox: &Outbox) -> Result<(WorkDirectory, Vec<String>)> {
    let work = lock(path, outbox)?;
    let cleaned = storage::clean(&work.ledger_path())?;
    cleaned.left().for_each(|left| tracing::warn!("of an earlier run: {left}"));
    Ok((work, cleaned.removed))
}

/// Takes this machine for a run: the first of its nodes does so for all. What goes on beside others waits for nobody.
pub(super) fn take_machine(task: &UnderTest, outbox: &Outbox) -> Result<Option<Measuring>> {
    let lock = process::paths::machine_lock().filter(|_| task.on_machine == 0);
    let taken = lock.map(|lock| Measuring::take(&lock, &task.run, task.beside, |what| outbox.waits(what)));
    taken.transpose().map_err(RequestError::new)
}

/// The directory that is meant: where none is stated, the default of this machine.
pub(super) fn stated_or(stated: &str, usual: impl FnOnce() -> PathBuf) -> PathBuf {
    match stated {
        "" => usual(),
        stated => PathBuf::from(stated),
    }
}

/// The work directory that is meant.
pub(super) fn work_directory(stated: &str) -> PathBuf {
    stated_or(stated, process::paths::work_directory)
}

/// What stands in the way of a node on this ground, which needs so many bytes for its data, and for its logs where they
/// have a disk of their own.
pub(super) fn missing(
    work: &Path,
    (needed_bytes, log_bytes): (u64, u64),
    machine_use: Option<&MachineUse>,
) -> Vec<Problem> {
    if is_limited(machine_use) {
        return storage::preflight(work, needed_bytes, Path::new(CGROUP_ROOT));
    }
    let data = machine_use.and_then(|machine_use| directory(machine_use.data.as_ref()?));
    let commitlog = machine_use.and_then(|machine_use| directory(machine_use.commitlog.as_ref()?));
    let absent = data.iter().chain(&commitlog).filter(|directory| !directory.is_dir()).map(|directory| Problem {
        what: format!("{} is no directory", directory.display()),
        fix: "mount the disk that is to be measured, or name another directory in [provider.hosts]".to_owned(),
    });
    let mut problems: Vec<Problem> = absent.collect();
    problems.extend(storage::changed_by_others(work));
    // From a snapshot nothing is loaded: the data set is on its volume.
    let is_restored = machine_use.is_some_and(|machine_use| machine_use.snapshot.is_some());
    let of_work = if is_restored { LEAST_WORK_BYTES } else { needed_bytes };
    let needed = [(Some(work), of_work), (data, needed_bytes), (commitlog, log_bytes)];
    let needed: Vec<(&Path, u64)> = needed.into_iter().filter_map(|(path, bytes)| Some((path?, bytes))).collect();
    problems.extend(storage::preflight_without_limits(&needed));
    problems
}

/// The directory that is stated, where it is no device.
fn directory(stated: &MachineStorage) -> Option<&Path> {
    match stated {
        MachineStorage::Directory(directory) => Some(Path::new(directory)),
        MachineStorage::Device(_) => None,
    }
}

/// The work directory. The agent of a run that was killed a moment ago may still be cleaning up, so it gets some time.
fn lock(path: &Path, outbox: &Outbox) -> Result<WorkDirectory> {
    WorkDirectory::lock_when_free(path, |what| outbox.waits(what)).map_err(RequestError::new)
}

impl Host {
    /// Opens the ledger of a work directory that was taken.
    pub fn open(work: WorkDirectory, machine: Option<Measuring>, run: String, outbox: Outbox) -> Result<Self> {
        let ledger = Arc::new(Ledger::open(&work.ledger_path())?);
        let account = Account::of_this_machine()?;
        if let Some(account) = &account {
            account.let_through(work.path())?;
        }
        Ok(Self { work, _machine: machine, ledger, account, run, outbox })
    }

    /// Where this run's volumes are.
    pub fn run_directory(&self) -> PathBuf {
        self.work.path().join("runs").join(&self.run)
    }

    /// Where a trial's node has what is its own; what an earlier trial has left there is gone.
    pub fn node_directory(&self) -> Result<PathBuf> {
        let directory = self.run_directory().join("node");
        storage::remove_tree(&directory)?;
        Ok(directory)
    }

    /// Logs of nodes whose lives planned faults have ended.
    fn earlier_logs(&self) -> PathBuf {
        self.run_directory().join("earlier-logs")
    }

    /// Moves a log to where the node's next start leaves it; `None` where there is none.
    pub fn keep_earlier_log(&self, log: &Path, name: String) -> Result<Option<KeptLog>> {
        if !log.exists() {
            return Ok(None);
        }
        let path = self.earlier_logs().join(&name);
        std::fs::create_dir_all(self.earlier_logs())
            .and_then(|()| std::fs::rename(log, &path))
            .map_err(|e| RequestError::new(format!("cannot keep {} as {}: {e}", log.display(), path.display())))?;
        Ok(Some(KeptLog { name, path, from: 0 }))
    }

    /// Removes what earlier trials have kept.
    pub fn forget_earlier_logs(&self) -> Result<()> {
        storage::remove_tree(&self.earlier_logs()).map_err(RequestError::new)
    }

    /// Where a snapshot is kept, or will be.
    pub fn snapshot_directory(&self, key: &str) -> PathBuf {
        self.work.path().join(SNAPSHOTS).join(key)
    }

    /// The snapshot, if it is there and whole.
    pub fn snapshot(&self, key: &str) -> Option<SnapshotFacts> {
        let text = guarded::text(&self.snapshot_directory(key).join(MANIFEST), MANIFEST_MOST_BYTES).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Where it is written down that the blocks of a device were read.
    pub fn initialised_file(&self, device: &str) -> PathBuf {
        self.work.path().join("initialised").join(format!("{device}.json"))
    }

    /// Moves a data directory to where the snapshot is kept.
    pub fn keep_snapshot(&self, data: &Path, facts: &SnapshotFacts) -> Result<()> {
        let target = self.snapshot_directory(&facts.key);
        let keep = || -> std::io::Result<()> {
            guarded::if_there(std::fs::remove_dir_all(&target))?;
            std::fs::create_dir_all(&target)?;
            std::fs::rename(data, target.join("data"))?;
            // Written last: a snapshot without this file is not one.
            process::paths::keep_json(&target.join(MANIFEST), facts, 0o644)
        };
        keep().map_err(|e| RequestError::new(format!("cannot keep the snapshot in {}: {e}", target.display())))
    }

    /// An empty directory in which a data set is loaded.
    pub fn loading_directory(&self, key: &str) -> Result<PathBuf> {
        let directory = self.work.path().join("loading").join(key);
        storage::remove_tree(&directory)?;
        self.claim_directory(&directory)?;
        Ok(directory)
    }

    /// A directory that the ledger knows.
    pub fn claim_directory(&self, path: &Path) -> Result<()> {
        self.ledger.intend(LedgerItem::Directory { path: path.to_owned() })?;
        std::fs::create_dir_all(path).map_err(|e| RequestError::new(format!("cannot create {}: {e}", path.display())))
    }

    /// Writes a process into the ledger, so that it does not outlive this agent.
    pub fn remember_process(&self, pid: u32, name: &str) -> Result<()> {
        match LedgerItem::process(pid, name) {
            Some(item) => self.ledger.intend(item).map(|_| ()).map_err(RequestError::new),
            // It has ended already: nothing is left to be undone, and who waits for it says why.
            None => Ok(()),
        }
    }

    /// Writes down what an installation leaves if this agent is killed in the middle of it.
    pub fn remember(&self, temporary: Temporary<'_>) -> Result<(), StorageError> {
        let item = match temporary {
            Temporary::Directory(path) => Some(LedgerItem::Directory { path: path.to_owned() }),
            Temporary::Process(pid) => LedgerItem::process(pid, "a database for a moment"),
        };
        item.map_or(Ok(()), |item| self.ledger.intend(item).map(drop))
    }

    /// Name of this agent's cgroup for a purpose: nobody else's, though agents in containers may have the same number.
    pub fn cgroup_name(purpose: &str) -> String {
        static OF_THIS_AGENT: OnceLock<String> = OnceLock::new();
        let own = OF_THIS_AGENT.get_or_init(|| match guarded::random_word(CGROUP_BYTES) {
            Ok(word) => format!("-{word}"),
            // Its number alone distinguishes it from the other agents of one machine.
            Err(_) => String::new(),
        });
        format!("iopslab-{}{own}-{purpose}", std::process::id())
    }

    /// Undoes whatever is still in the ledger: directories, images, anything that could not be undone before.
    pub fn close(self) {
        let ledger_path = self.work.ledger_path();
        drop(self.ledger);
        match storage::clean(&ledger_path) {
            Ok(cleaned) => cleaned.left().for_each(|left| tracing::warn!("left behind: {left}")),
            Err(error) => tracing::warn!("{error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    #[ignore = "the next one asks it, as an agent that is number 1 of its container"]
    fn says_its_cgroup() {
        println!("{}", Host::cgroup_name("database"));
    }

    /// It may be on a volume that is much smaller than the one of the data.
    #[test]
    fn a_commit_log_needs_room_of_its_own_and_none_for_the_data_set() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let directory = root.path().join(name);
            std::fs::create_dir(&directory).unwrap();
            directory
        };
        let (work, data, log) = (at("work"), at("data"), at("log"));
        let stated = |directory: &Path| Some(MachineStorage::Directory(directory.display().to_string()));
        let machine_use = MachineUse { data: stated(&data), commitlog: stated(&log), ..MachineUse::default() };
        let have_no_room = |bytes: (u64, u64)| {
            let said = missing(&work, bytes, Some(&machine_use));
            [&work, &data, &log].map(|directory| {
                let about = format!("{} has ", directory.display());
                said.iter().any(|one| one.what.starts_with(&about) && one.what.ends_with("needs 1073741824.0 GiB"))
            })
        };
        assert_eq!(have_no_room((1 << 60, 1 << 20)), [true, true, false]);
        assert_eq!(have_no_room((1 << 20, 1 << 60)), [false, false, true]);
    }

    /// Agents in two containers have the same number, and one tree of cgroups.
    #[test]
    fn agents_of_the_same_number_have_cgroups_of_their_own() {
        assert_eq!(Host::cgroup_name("probe"), Host::cgroup_name("probe"), "an agent finds its own again");
        if !rustix::process::geteuid().is_root() {
            println!("skipped: needs root for containers");
            return;
        }
        let name = || {
            let mut container = Command::new("unshare");
            container.args(["--pid", "--fork"]).arg(std::env::current_exe().unwrap());
            let asked = ["--exact", "host::tests::says_its_cgroup", "--ignored", "--nocapture"];
            let output = container.args(asked).output().unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            let name = said.split_whitespace().find(|word| word.starts_with("iopslab-"));
            name.unwrap_or_else(|| panic!("{said}")).to_owned()
        };
        let (first, second) = (name(), name());
        assert!([&first, &second].iter().all(|name| name.starts_with("iopslab-1-")), "{first} {second}");
        assert_ne!(first, second);
    }
}
