//! `journal.jsonl`: what happened to a run, one JSON object a line, each on the device before the next step is taken.
//!
//! A process killed in the middle of an append leaves a last line without its newline. Readers skip such a line; the
//! next writer cuts it off before it appends.

use std::fs::{File, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use evidence::{DataSetOrigin, ModifiedVolume, RateProbe};
use experiment::{NextBlock, Resting, Round};
use serde::{Deserialize, Serialize};

use crate::{Result, RunError, files};

/// Most bytes of a journal: a trial leaves two lines of about 150 bytes.
const MOST_BYTES: u64 = 64 << 20;

/// A change of state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum JournalEvent {
    /// A new run: its frozen inputs are in place.
    RunStarted { trials: u64, iopslab: String },
    /// Writing goes on after an interruption.
    Resumed,
    /// The data set exists as a snapshot.
    DatasetReady {
        records: u64,
        /// Bytes on disk.
        bytes: u64,
        /// The store that it was restored from; `None`: it was loaded, or was there.
        from: Option<DataSetOrigin>,
    },
    /// Work on a trial began.
    TrialStarted { cell: String, block: u32 },
    /// A trial's directory is in place; a valid one may enter comparisons.
    TrialDone { cell: String, block: u32, valid: bool },
    /// A trial left no evidence and remains to be done.
    TrialFailed { cell: String, block: u32, reason: String },
    /// A trial's evidence was taken out of the run; it remains to be done again.
    TrialSetAside { cell: String, block: u32, reason: String },
    /// An adaptive run goes on with a block of the cells that still matter.
    NextBlock(NextBlock),
    /// An adaptive run needs no more blocks than these.
    Enough {
        /// Blocks that count; later ones are not begun.
        blocks: u32,
        /// Why: precise enough, decided, or which budget is spent.
        reason: String,
        /// Cells that rest for a reason of their own, where cells may rest.
        resting: Vec<Resting>,
    },
    /// The user wants no more trials of a cell.
    CellSkipped { cell: String },
    /// The user wants them after all.
    CellTakenUp { cell: String },
    /// A search for the highest rate has tried one.
    Probed(RateProbe),
    /// A search has come to rates that whole trials measure.
    Round(Round),
    /// These searches need no more rounds.
    Searched { searches: Vec<String> },
    /// Another level of a volume of EBS was asked for; once more when it was seen to be in force.
    VolumeModified(ModifiedVolume),
    /// Stopped before the end, on request.
    Interrupted,
    /// Nothing remains.
    RunDone,
    /// Anything else worth knowing later.
    Note { text: String },
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// UTC, RFC 3339.
    pub at: String,
    /// What happened.
    #[serde(flatten)]
    pub event: JournalEvent,
}

/// The journal open for appending; exists only while the lock is held.
#[derive(Debug)]
pub struct JournalWriter {
    file: File,
    end: u64,
}

impl JournalWriter {
    /// Locks the journal, cuts off a torn last line and goes to the end.
    pub fn open(run: &Path, path: &Path) -> Result<Self> {
        let file = guarded::open_to_append(path, 0o666).map_err(|e| RunError::file("open", path, e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(RunError::Locked { path: run.to_owned() }),
            Err(TryLockError::Error(e)) => return Err(RunError::file("lock", path, e)),
        }
        let bytes = files::read(path, MOST_BYTES)?;
        let end = complete_length(&bytes) as u64;
        if end < bytes.len() as u64 {
            file.set_len(end).map_err(|e| RunError::file("cut the torn last line of", path, e))?;
            file.sync_all().map_err(|e| RunError::file("fsync", path, e))?;
        }
        Ok(Self { file, end })
    }

    /// Appends a line and waits until it is on the device. A line that could not be written whole is taken back.
    pub fn append(&mut self, path: &Path, event: JournalEvent) -> Result<()> {
        let entry = JournalEntry { at: jiff::Timestamp::now().to_string(), event };
        let mut line = serde_json::to_vec(&entry).map_err(|e| RunError::damaged(path, e))?;
        line.push(b'\n');
        let written = self
            .file
            .seek(SeekFrom::End(0))
            .and_then(|_| self.file.write_all(&line))
            .and_then(|()| self.file.sync_data());
        if let Err(e) = written {
            // If this fails too the torn line is cut off at the next open.
            let _ = self.file.set_len(self.end);
            return Err(RunError::file("append to", path, e));
        }
        self.end += line.len() as u64;
        Ok(())
    }
}

/// Bytes up to and including the last newline.
fn complete_length(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1)
}

/// All complete lines.
pub fn read(path: &Path) -> Result<Vec<JournalEntry>> {
    parse(path, &files::read(path, MOST_BYTES)?)
}

/// The same of what a file has.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<JournalEntry>> {
    bytes[..complete_length(bytes)]
        .split(|&b| b == b'\n')
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
        .map(|(i, line)| {
            serde_json::from_slice(line).map_err(|e| RunError::damaged(path, format!("line {}: {e}", i + 1)))
        })
        .collect()
}
