//! A backlog of compaction: SSTables of overwritten records beside those in which a data set is at rest.

use serde::{Deserialize, Serialize};

/// A backlog as an experiment states it, whatever the number of records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Backlog {
    /// Writes of whole records / records: 0.5 writes every second one again, 3 each of them three times.
    pub overwrites: f64,
    /// SSTables that these writes are in, each as many; of each data directory.
    pub sstables: u32,
}

impl Backlog {
    /// The files that it is of a data set of so many records.
    pub fn of(self, records: u64) -> BacklogFiles {
        let each = records as f64 * self.overwrites / f64::from(self.sstables.max(1));
        BacklogFiles { sstables: self.sstables, records: (each.round() as u64).min(records) }
    }
}

/// The files of a backlog: what a data set with one differs in from the same at rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BacklogFiles {
    /// SSTables of each data directory.
    pub sstables: u32,
    /// Records that are written again for each of them, no record twice; over all nodes.
    pub records: u64,
}

impl BacklogFiles {
    /// Records that are written again, each as often as it is.
    pub fn all_records(self) -> u64 {
        self.records.saturating_mul(u64::from(self.sstables))
    }

    /// Bytes of a data set of so many records with it / bytes of the same at rest.
    pub fn growth(self, records: u64) -> f64 {
        1.0 + self.all_records() as f64 / records.max(1) as f64
    }

    /// For people.
    pub fn label(self) -> String {
        format!("{} SSTables of {} overwritten records", self.sstables, self.records)
    }

    /// Part of the name of its snapshot.
    pub fn key(self) -> String {
        format!("backlog-{}x{}", self.sstables, self.records)
    }
}
