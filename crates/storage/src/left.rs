//! What is left to be undone, and whether it becomes less.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::ledger::{Ledger, LedgerItem};
use crate::loops;

/// What a ledger names, and what the block devices of that have done: as long as one of them changes, undoing goes on.
/// An unmount may write for minutes what memory still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Things that may still exist.
    pub things: usize,
    /// Sectors that their devices have read and written.
    pub sectors: u64,
}

impl Left {
    /// By the ledger at this path; nothing is left where there is none.
    pub fn of(ledger_path: &Path) -> Result<Self> {
        let left = Ledger::outstanding(ledger_path)?;
        let devices = left.iter().flat_map(devices);
        Ok(Self { things: left.len(), sectors: devices.filter_map(|name| sectors(&name)).sum() })
    }
}

/// Kernel names of the block devices that something is now.
fn devices(item: &LedgerItem) -> Vec<String> {
    match item {
        LedgerItem::LoopDevice { image } => loops::find(image),
        LedgerItem::FileSystem { device, .. } => {
            device.file_name().map(|name| name.to_string_lossy().into_owned()).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// What a device has read and written since it is there (Documentation/block/stat.rst: fields 3 and 7).
fn sectors(name: &str) -> Option<u64> {
    let stat = fs::read_to_string(PathBuf::from("/sys/class/block").join(name).join("stat")).ok()?;
    let fields: Vec<u64> = stat.split_ascii_whitespace().filter_map(|field| field.parse().ok()).collect();
    Some(fields.get(2)? + fields.get(6)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_becomes_less_with_each_thing_that_is_done() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.jsonl");
        assert_eq!(Left::of(&path).unwrap(), Left { things: 0, sectors: 0 });
        let ledger = Ledger::open(&path).unwrap();
        let file = |name: &str| LedgerItem::File { path: directory.path().join(name) };
        let first = ledger.intend(file("a")).unwrap();
        ledger.intend(file("b")).unwrap();
        assert_eq!(Left::of(&path).unwrap().things, 2);
        ledger.done(first).unwrap();
        assert_eq!(Left::of(&path).unwrap().things, 1);
    }
}
