//! A directory in the work directory in which a command makes volumes for itself.

use std::path::Path;
use std::sync::Arc;

use process::failure::Failure;
use process::paths::{machine_lock, work_directory};
use storage::{Ledger, LedgerItem, Measuring, WorkDirectory};

/// Beginning of the names of such directories.
pub(super) const DIRECTORY: &str = "volume-";

/// Takes this machine for `what`, until it is dropped: nobody else measures on it meanwhile.
pub(super) fn alone(what: &str) -> Result<Option<Measuring>, Failure> {
    let lock = machine_lock();
    lock.map(|lock| Measuring::begin(&lock, what)).transpose().map_err(Failure::work)
}

/// One that is this process's, with its ledger.
pub(super) struct ByHand {
    work: WorkDirectory,
    pub ledger: Arc<Ledger>,
}

impl ByHand {
    /// That of a name; what an earlier `volume` or `probe` has left there is gone.
    pub fn open(name: &str, what: &str) -> Result<Self, Failure> {
        let directory = work_directory().join(format!("{DIRECTORY}{name}"));
        let work = WorkDirectory::lock(&directory).map_err(Failure::work)?;
        let left = storage::clean(&work.ledger_path()).map_err(Failure::work)?;
        if let Some(left) = left.left().next() {
            return Err(Failure::work(format!("what an earlier {what} left cannot be removed: {left}")));
        }
        let ledger = Arc::new(Ledger::open(&work.ledger_path()).map_err(Failure::work)?);
        let path = work.path().to_owned();
        ledger.intend(LedgerItem::Directory { path }).map_err(Failure::work)?;
        Ok(Self { work, ledger })
    }

    pub fn path(&self) -> &Path {
        self.work.path()
    }

    /// Nothing of it stays.
    pub fn close(self) -> Result<(), Failure> {
        drop(self.ledger);
        let cleaned = storage::clean(&self.work.ledger_path()).map_err(Failure::work)?;
        match cleaned.failed.first() {
            Some((what, why)) => Err(Failure::work(format!("cannot remove {what}: {why}")).help("iopslab clean")),
            None => Ok(()),
        }
    }
}
