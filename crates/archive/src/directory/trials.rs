//! The trials of a run: which are done, how one is stored, set aside, mended and read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use evidence::{HostId, HostSample, Interval, TrialRecord, Validity};
use experiment::PlannedTrial;

use super::{RunDirectory, TRIALS};
use crate::files::{self, create_directories, plain_name, sync_directory};
use crate::journal::JournalWriter;
use crate::manifest;
use crate::stored::{self, RECORD};
use crate::{JournalEvent, Result, RunError, StoredTrial, TrialLogs};

/// Trials that are being written. On the same file system as `trials/`, so that a rename moves them.
const ASIDE: &str = ".aside";
/// Trials that were invalid and are done again.
const SET_ASIDE: &str = "set-aside";

impl RunDirectory {
    /// `trials/<cell>/<block>`, whether or not it exists.
    pub fn trial_path(&self, cell: &str, block: u32) -> PathBuf {
        self.path.join(relative(cell, block))
    }

    /// A directory in place is a trial, even one that lost a file: it becomes an invalid trial, and is not written
    /// over.
    fn is_done(&self, trial: &PlannedTrial) -> bool {
        self.trial_path(&trial.cell, trial.block).is_dir()
    }

    /// Trials that are to be had, in the planned order: of an adaptive run those that it was called to so far, up to
    /// the block after which it stopped.
    pub fn called_for(&self) -> Result<Vec<PlannedTrial>> {
        let last = self.enough()?.map_or(u32::MAX, |(blocks, ..)| blocks);
        let adaptive = self.adaptive()?;
        let is_called =
            |t: &&PlannedTrial| t.block <= last && adaptive.as_ref().is_none_or(|a| a.calls_for(t.block, &t.cell));
        Ok(self.job.plan.trials.iter().filter(is_called).cloned().collect())
    }

    /// Those of them that are to be done: without a directory in place, and none of a cell that the user skips.
    pub fn remaining(&self) -> Result<Vec<PlannedTrial>> {
        let skipped = self.skipped()?;
        let mut trials = self.called_for()?;
        trials.retain(|trial| !skipped.contains(&trial.cell) && !self.is_done(trial));
        Ok(trials)
    }

    /// The trials that are in place, in planned order.
    pub fn done(&self) -> Vec<PlannedTrial> {
        self.job.plan.trials.iter().filter(|t| self.is_done(t)).cloned().collect()
    }

    /// Room for a trial's logs, aside until [`Self::write_trial`] takes them.
    pub fn logs(&self, cell: &str, block: u32) -> Result<TrialLogs> {
        // Before anything is aside: the first lock removes what is.
        let _writer = self.writer()?;
        let name = format!("{}.{block}.logs", plain_name(cell)?);
        TrialLogs::aside(self.path.join(ASIDE).join(name))
    }

    /// Stores a trial atomically. The caller then journals
    /// [`JournalEvent::TrialDone`]; a kill in between is mended by the next [`Self::lock`].
    ///
    /// # Errors
    /// [`RunError::TrialExists`] for a second write; [`RunError::DiskFull`] leaves nothing of this trial behind.
    pub fn write_trial(
        &self,
        record: &TrialRecord,
        intervals: &[Interval],
        samples: &BTreeMap<HostId, Vec<HostSample>>,
        logs: TrialLogs,
    ) -> Result<PathBuf> {
        let _writer = self.writer()?;
        let target = self.trial_path(plain_name(&record.cell)?, record.block);
        if target.exists() {
            return Err(RunError::TrialExists { cell: record.cell.clone(), block: record.block, path: target });
        }
        let aside = self.path.join(ASIDE).join(format!("{}.{}", record.cell, record.block));
        if let Err(e) = self.place(&aside, &target, record, intervals, samples, logs) {
            // The first error is the one to show; what remains aside is never read and is removed by the next lock.
            let _ = fs::remove_dir_all(&aside);
            return Err(e);
        }
        Ok(target)
    }

    fn place(
        &self,
        aside: &Path,
        target: &Path,
        record: &TrialRecord,
        intervals: &[Interval],
        samples: &BTreeMap<HostId, Vec<HostSample>>,
        logs: TrialLogs,
    ) -> Result<()> {
        files::remove_directory(aside)?;
        create_directories(aside)?;
        let hashes =
            stored::fill(aside, self.plan().target.database.product().reports, record, intervals, samples, logs)?;
        sync_directory(aside)?;
        let trials = self.path.join(TRIALS);
        let cell = trials.join(&record.cell);
        create_directories(&cell)?;
        sync_directory(&trials)?;
        fs::rename(aside, target).map_err(|e| RunError::file("rename to", target, e))?;
        sync_directory(&cell)?;
        let directory = relative(&record.cell, record.block);
        let entries: Vec<_> = hashes.into_iter().map(|(name, hash)| (format!("{directory}/{name}"), hash)).collect();
        manifest::append(&self.path, &entries)
    }

    /// Takes a trial out of the run: its evidence moves to `set-aside/<cell>/<block>.<n>`, and it remains to be done
    /// again.
    pub fn set_aside(&self, trial: &PlannedTrial, reason: &str) -> Result<PathBuf> {
        let kept = self.path.join(SET_ASIDE).join(plain_name(&trial.cell)?);
        let writer = self.writer()?;
        // First the list: a trial that is in place and not listed is mended, one that is listed and gone would look
        // like a loss.
        let mut listed = manifest::read(&self.path)?;
        let directory = relative(&trial.cell, trial.block) + "/";
        listed.retain(|path, _| !path.starts_with(&directory));
        manifest::create(&self.path, &listed)?;
        create_directories(&kept)?;
        let target = (1_u32..)
            .map(|n| kept.join(format!("{}.{n}", trial.block)))
            .find(|path| !path.exists())
            .expect("one of four billion names is free");
        fs::rename(self.trial_path(&trial.cell, trial.block), &target)
            .map_err(|e| RunError::file("rename to", &target, e))?;
        sync_directory(&kept)?;
        drop(writer);
        self.journal(JournalEvent::TrialSetAside {
            cell: trial.cell.clone(),
            block: trial.block,
            reason: reason.to_owned(),
        })?;
        Ok(target)
    }

    /// What a kill left is put in order.
    pub(super) fn mend(&self, writer: &mut JournalWriter) -> Result<()> {
        files::remove_directory(&self.path.join(ASIDE))?;
        let mut journaled = BTreeSet::new();
        for entry in self.journal_entries()? {
            match entry.event {
                JournalEvent::TrialDone { cell, block, .. } => {
                    journaled.insert((cell, block));
                }
                JournalEvent::TrialSetAside { cell, block, .. } => {
                    journaled.remove(&(cell, block));
                }
                _ => {}
            }
        }
        for trial in self.done() {
            if !journaled.contains(&(trial.cell.clone(), trial.block)) {
                let event = JournalEvent::TrialDone {
                    // One that cannot be read is no valid one.
                    valid: self.record(&trial).is_ok_and(|r| r.validity == Validity::Valid),
                    cell: trial.cell,
                    block: trial.block,
                };
                writer.append(&self.journal_path(), event)?;
            }
        }
        let listed = manifest::read(&self.path)?;
        for trial in self.done() {
            let directory = relative(&trial.cell, trial.block);
            if !listed.contains_key(&format!("{directory}/{RECORD}")) {
                let mut entries = manifest::hashes_below(&self.path, &directory)?;
                entries.sort_by_key(|(path, _)| path.ends_with(RECORD));
                manifest::append(&self.path, &entries)?;
            }
        }
        Ok(())
    }

    /// Reads a trial that is in place.
    ///
    /// # Errors
    /// Files that are damaged, gone or of another version; [`RunError::Misplaced`] if they are those of another trial.
    pub fn trial(&self, trial: &PlannedTrial) -> Result<StoredTrial> {
        let path = self.trial_path(&trial.cell, trial.block);
        let mut stored = stored::read(&path)?;
        belongs(&path, trial, &stored.record)?;
        let mut workloads = self.plan().workloads.iter();
        let own = workloads.find(|workload| workload.name == stored.record.workload).into_iter();
        stored.latencies.expect_statements(own.flat_map(|workload| &workload.statements).map(|own| own.kind).collect());
        Ok(stored)
    }

    /// Reads the record alone of a trial that is in place.
    ///
    /// # Errors
    /// As [`Self::trial`].
    pub fn record(&self, trial: &PlannedTrial) -> Result<TrialRecord> {
        let path = self.trial_path(&trial.cell, trial.block);
        let record = stored::record(&path)?;
        belongs(&path, trial, &record)?;
        Ok(record)
    }

    /// All trials that are in place, read one at a time. One that cannot be read is an error in its place and does not
    /// hide the others.
    pub fn trials(&self) -> impl Iterator<Item = Result<StoredTrial>> + '_ {
        self.done().into_iter().map(|t| self.trial(&t))
    }
}

/// A trial's directory, relative to the run.
fn relative(cell: &str, block: u32) -> String {
    format!("{TRIALS}/{cell}/{block}")
}

/// A directory copied to the place of another trial must not be taken for it.
fn belongs(path: &Path, trial: &PlannedTrial, record: &TrialRecord) -> Result<()> {
    if record.cell == trial.cell && record.block == trial.block {
        return Ok(());
    }
    Err(RunError::Misplaced { path: path.to_owned(), cell: record.cell.clone(), block: record.block })
}
