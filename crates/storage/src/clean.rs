//! Undoing what a ledger says may still exist, latest first.
//!
//! Everything here can be repeated: what is gone already counts as removed, and what could not be removed stays in the
//! ledger for the next attempt.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use guarded::{if_there, open_private};

use crate::array;
use crate::cgroup;
use crate::disk;
use crate::error::{Result, StorageError, io_error};
use crate::ledger::{LedgerId, LedgerItem, Line, append, base_of, contents};
use crate::ledger_item::Entry;
use crate::loops;
use crate::mounts::{self, IfBusy};
use crate::network_cut;
use crate::permitted;
use crate::process;
use crate::read_ahead;
use crate::roots;
use crate::server;

/// How long a process gets between SIGTERM and SIGKILL. Its data is thrown away next, so it need not be long.
const TERM_PATIENCE: Duration = Duration::from_secs(5);

/// What cleaning did.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// What was there and is gone now, for people: `mount /var/lib/iopslab/data`.
    pub removed: Vec<String>,
    /// What is still there, and why.
    pub failed: Vec<(LedgerItem, StorageError)>,
    /// What cannot be understood of the ledger: what it names, if anything, is still there.
    pub bad: Vec<StorageError>,
}

impl Cleaned {
    /// Whether nothing is left.
    pub fn is_complete(&self) -> bool {
        self.failed.is_empty() && self.bad.is_empty()
    }

    /// What is left and why, for people: one sentence each.
    pub fn left(&self) -> impl Iterator<Item = String> {
        let failed = self.failed.iter().map(|(what, why)| match why {
            StorageError::NotOurs { .. } => why.to_string(),
            _ => format!("{what}: {why}"),
        });
        failed.chain(self.bad.iter().map(ToString::to_string))
    }
}

/// Undoes everything outstanding in the ledger at `ledger_path`. Hold the work directory's lock
/// ([`crate::WorkDirectory`]) while calling this, or a run that is under way loses its volumes. Errors: the ledger, or
/// its directory, is not ours alone, or is larger than any run's: then nothing is undone, and it stays as it is.
pub fn clean(ledger_path: &Path) -> Result<Cleaned> {
    if fs::symlink_metadata(ledger_path).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        return Ok(Cleaned::default());
    }
    let base = base_of(ledger_path)?;
    let found = contents(ledger_path)?;
    let mut cleaned = Cleaned { bad: found.bad, ..Cleaned::default() };
    // Where they cannot be understood, what lies elsewhere is left alone, and the rest is undone.
    let roots = roots::recorded(&base).unwrap_or_else(|error| {
        cleaned.bad.push(error);
        Vec::new()
    });
    let mut ledger =
        open_private(ledger_path, OpenOptions::new().append(true)).map_err(io_error("open the ledger", ledger_path))?;
    end_stopped_servers(&found.entries);
    let are_permitted = found.entries.values().filter(|entry| permitted::check(entry, &base, &roots).is_ok());
    lift_limits(are_permitted.map(|entry| &entry.item));
    for (id, entry) in found.entries.into_iter().rev() {
        match permitted::check(&entry, &base, &roots).and_then(|()| undo(&entry.item)) {
            Ok(was_there) => {
                if was_there {
                    cleaned.removed.push(entry.item.to_string());
                }
                append(&mut ledger, ledger_path, &Line::Done(id))?;
            }
            Err(error) => cleaned.failed.push((entry.item, error)),
        }
    }
    if cleaned.is_complete() {
        // Emptied in place: a ledger that is open elsewhere in this process goes on appending to the same file.
        ledger.set_len(0).map_err(io_error("empty the ledger", ledger_path))?;
    }
    Ok(cleaned)
}

/// A mount on a volume whose server stands still could not be unmounted: it would wait for it, without an end.
fn end_stopped_servers(entries: &BTreeMap<LedgerId, Entry>) {
    for entry in entries.values() {
        if let LedgerItem::ServedFile { connection, pid, start_time_ticks, executable } = &entry.item {
            server::abort_if_stopped(*connection, *pid, *start_time_ticks, executable);
        }
    }
}

/// A mount on a volume that is limited takes minutes to be unmounted: before the limits would be undone in their turn.
fn lift_limits<'i>(items: impl Iterator<Item = &'i LedgerItem>) {
    for item in items {
        if let LedgerItem::Cgroup { path } = item
            && permitted::is_cgroup(path).unwrap_or(false)
        {
            cgroup::lift_device_limits(path);
        }
    }
}

/// Removes one thing; returns whether it was there.
fn undo(item: &LedgerItem) -> Result<bool> {
    match item {
        LedgerItem::Process { pid, start_time_ticks, executable, .. } => {
            process::end(*pid, *start_time_ticks, executable, TERM_PATIENCE)
        }
        LedgerItem::Mount { path } => mounts::unmount_all(path, IfBusy::Detach),
        LedgerItem::LoopDevice { image } => Ok(!loops::detach_all(image)?.is_empty()),
        LedgerItem::Array { members } => Ok(!array::stop_all(members)?.is_empty()),
        LedgerItem::Cgroup { path } => cgroup::remove_directory(path),
        // It goes with its mount.
        LedgerItem::ServedFile { .. } => Ok(false),
        LedgerItem::Directory { path } => remove_tree(path),
        LedgerItem::File { path } => gone(fs::remove_file(path), path),
        LedgerItem::ReadAhead { device, disk, kb } => read_ahead::put_back(device, disk, *kb),
        LedgerItem::NetworkCut { table } => network_cut::remove(table),
        LedgerItem::FileSystem { device, uuid } => disk::wipe(device, uuid),
    }
}

/// Deletes a directory, but never through a mount that is still in it: that would empty a volume.
fn remove_tree(path: &Path) -> Result<bool> {
    let resolved = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(mounted) = mounts::at_or_below(&resolved)?.into_iter().next() {
        let holders = "it is still mounted inside a directory that is to be deleted".to_owned();
        return Err(StorageError::Busy { path: mounted, holders });
    }
    gone(fs::remove_dir_all(path), path)
}

fn gone(outcome: std::io::Result<()>, path: &Path) -> Result<bool> {
    Ok(if_there(outcome).map_err(io_error("delete", path))?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ledger;

    #[test]
    fn cleaning_undoes_what_is_there_forgives_what_is_not_and_can_be_repeated() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.jsonl");
        let ledger = Ledger::open(&path).unwrap();
        let made = directory.path().join("made");
        ledger.intend(LedgerItem::Directory { path: made.clone() }).unwrap();
        fs::create_dir_all(made.join("deep/er")).unwrap();
        ledger.intend(LedgerItem::File { path: directory.path().join("never made") }).unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        ledger.intend(LedgerItem::process(child.id(), "a sleeper").unwrap()).unwrap();

        let cleaned = clean(&path).unwrap();
        assert!(cleaned.is_complete(), "{cleaned:?}");
        assert_eq!(cleaned.removed.len(), 2, "latest first, without what never came to be: {cleaned:?}");
        assert!(cleaned.removed[0].contains("a sleeper"));
        assert!(!made.exists());
        child.wait().unwrap();

        assert!(clean(&path).unwrap().removed.is_empty());
        ledger.intend(LedgerItem::File { path: made.clone() }).unwrap();
        assert_eq!(Ledger::outstanding(&path).unwrap().len(), 1, "an open ledger goes on working after a clean");
    }

    #[test]
    fn what_cannot_be_removed_stays_in_the_ledger() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.jsonl");
        let ledger = Ledger::open(&path).unwrap();
        let item = LedgerItem::File { path: directory.path().to_owned() };
        ledger.intend(item.clone()).unwrap();
        let cleaned = clean(&path).unwrap();
        assert_eq!(cleaned.failed.len(), 1, "a directory is not deleted where a file was promised");
        assert_eq!(Ledger::outstanding(&path).unwrap(), [item]);
    }

    /// Its end may say that something at its beginning is meant to stay.
    #[test]
    fn a_ledger_that_is_too_large_to_be_read_is_named_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.jsonl");
        let made = directory.path().join("made");
        Ledger::open(&path).unwrap().intend(LedgerItem::Directory { path: made.clone() }).unwrap();
        fs::create_dir(&made).unwrap();
        let length = (64 << 20) + 1;
        OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
        for _ in 0..2 {
            let refusal = clean(&path).unwrap_err().to_string();
            assert!(refusal.contains("ledger.jsonl") && refusal.contains("more than 64 MiB"), "{refusal}");
            assert!(made.exists() && fs::metadata(&path).unwrap().len() == length);
        }
    }

    #[test]
    fn a_missing_ledger_needs_no_cleaning() {
        let directory = tempfile::tempdir().unwrap();
        assert!(clean(&directory.path().join("none")).unwrap().is_complete());
    }
}
