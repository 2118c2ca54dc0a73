//! The directory of a run: created once, opened to read, locked to write.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evidence::{DataSetOrigin, HostId, HostSample, Interval, RateProbe, TrialRecord, Validity};
use experiment::{Job, Plan, PlannedTrial, Round, Setups};
use serde::Serialize;

use crate::files::{create_directories, plain_name, read_json, replace, sync_directory, versioned_json, write_synced};
use crate::journal::{self, JournalWriter};
use crate::manifest::{self, Verified};
use crate::stored::{self, RECORD};
use crate::{JournalEntry, JournalEvent, Result, RunError, StoredTrial, TrialLogs, files};

/// Where Terraform has its plug-ins, below its directories in a run: whoever resumes it has them fetched anew.
const PLUGINS: &str = ".terraform";
const EXPERIMENT: &str = "experiment.toml";
/// What is bought and what is measured on it.
const PLAN: &str = "plan.json";
/// What the provider makes of the configurations.
const SETUPS: &str = "setups.json";
/// Facts that limits and prices came from.
const CATALOG: &str = "catalog.json";
/// What the experiment names and is read with it.
const BESIDE: &str = "beside.json";
/// Most bytes of an experiment file.
const EXPERIMENT_MOST_BYTES: u64 = 4 << 20;
/// Permissions of the directory: nobody else's, or as the umask has it.
const PRIVATE: u32 = 0o700;
const SHARED: u32 = 0o777;
const ENVIRONMENT: &str = "environment.json";
const JOURNAL: &str = "journal.jsonl";
const TRIALS: &str = "trials";
/// Trials that are being written. On the same file system as `trials/`, so that a rename moves them.
const ASIDE: &str = ".aside";
/// Trials that were invalid and are done again.
const SET_ASIDE: &str = "set-aside";

/// One execution of an experiment, on disk.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    job: Job,
    /// Present while this process holds the lock; one for the run and its parts.
    writer: Arc<Mutex<Option<JournalWriter>>>,
}

/// Holds a run's lock; gives it back when dropped.
#[derive(Debug)]
#[must_use = "the lock is given back when this is dropped"]
pub struct RunLock<'a>(&'a RunDirectory);

impl Drop for RunLock<'_> {
    fn drop(&mut self) {
        *self.0.writer.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl RunDirectory {
    /// Makes `parent/<name>-<utc_stamp>/` with its frozen inputs, and locks it.
    ///
    /// The experiment is the text of the file, and the texts of those that it names by their names.
    ///
    /// A shared one can be read by other users, as the umask has it.
    ///
    /// The journal is opened before anything else, so that a path that cannot be written fails now and not after an
    /// hour; `plan.json` comes last, so that its presence means that the directory is complete.
    pub fn create(
        parent: &Path,
        (name, utc_stamp, is_shared): (&str, &str, bool),
        (experiment_text, beside): (&str, &BTreeMap<String, String>),
        job: &Job,
        catalog: &serde_json::Value,
        environment: &impl Serialize,
    ) -> Result<Self> {
        create_directories(parent)?;
        let path = parent.join(plain_name(&format!("{name}-{utc_stamp}"))?);
        let permissions = if is_shared { SHARED } else { PRIVATE };
        DirBuilder::new().mode(permissions).create(&path).map_err(|e| match e.kind() {
            std::io::ErrorKind::AlreadyExists => RunError::Exists { path: path.clone() },
            _ => RunError::file("create", &path, e),
        })?;
        let mut writer = JournalWriter::open(&path, &path.join(JOURNAL))?;
        create_directories(&path.join(TRIALS))?;
        let mut inputs = vec![
            (EXPERIMENT, experiment_text.as_bytes().to_vec()),
            (CATALOG, versioned_json(&path.join(CATALOG), catalog)?),
            (ENVIRONMENT, versioned_json(&path.join(ENVIRONMENT), environment)?),
            (SETUPS, versioned_json(&path.join(SETUPS), &job.setups)?),
            (PLAN, versioned_json(&path.join(PLAN), &job.plan)?),
        ];
        if !beside.is_empty() {
            let files = serde_json::json!({ "files": beside });
            inputs.insert(0, (BESIDE, versioned_json(&path.join(BESIDE), &files)?));
        }
        let hashes = inputs.iter().map(|(name, bytes)| ((*name).to_owned(), manifest::hash(bytes)));
        manifest::create(&path, &hashes.collect())?;
        for (name, bytes) in &inputs {
            write_synced(&path.join(name), bytes)?;
        }
        sync_directory(&path)?;
        sync_directory(parent)?;
        writer.append(
            &path.join(JOURNAL),
            JournalEvent::RunStarted {
                trials: job.plan.trials.len() as u64,
                iopslab: env!("CARGO_PKG_VERSION").to_owned(),
            },
        )?;
        Ok(Self { path, job: job.clone(), writer: Arc::new(Mutex::new(Some(writer))) })
    }

    /// Opens a run to read it; changes nothing. Refuses what is not a run and what another version wrote.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.join(PLAN).is_file() {
            return Err(RunError::NotARun { path: path.to_owned() });
        }
        let frozen = Self {
            path: path.to_owned(),
            job: Job { plan: read_json(&path.join(PLAN))?, setups: read_json(&path.join(SETUPS))? },
            writer: Arc::new(Mutex::new(None)),
        };
        frozen.grown()
    }

    /// The same run with the trials that searches have come to so far; itself where nothing is searched for.
    pub fn grown(&self) -> Result<Self> {
        let mut job = self.job.clone();
        if job.plan.search.is_some() {
            job.plan.grow(&self.rounds()?);
        }
        Ok(self.part(job))
    }

    /// The same run with a part of its job, as several work on parts of it at the same time: trials go to the same
    /// places, events to the same journal. The whole run is locked first ([`Self::lock`]), and stays so.
    pub fn part(&self, job: Job) -> Self {
        Self { path: self.path.clone(), job, writer: Arc::clone(&self.writer) }
    }

    /// Takes the run for this process until the guard is dropped, and mends what a kill left: the torn last line of the
    /// journal is cut off, trials half written aside are removed, trials in place but not journaled get their line.
    ///
    /// [`Self::create`], [`Self::journal`] and [`Self::write_trial`] lock by themselves, until the directory is
    /// dropped.
    ///
    /// # Errors
    /// [`RunError::Locked`] while another process holds the lock.
    pub fn lock(&self) -> Result<RunLock<'_>> {
        drop(self.writer()?);
        Ok(RunLock(self))
    }

    fn writer(&self) -> Result<MutexGuard<'_, Option<JournalWriter>>> {
        // A panic elsewhere cannot leave the writer half changed: `append` takes back what it could not write.
        let mut slot = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            let mut writer = JournalWriter::open(&self.path, &self.journal_path())?;
            self.mend(&mut writer)?;
            *slot = Some(writer);
        }
        Ok(slot)
    }

    fn mend(&self, writer: &mut JournalWriter) -> Result<()> {
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

    /// The frozen plan, with what the provider made of its configurations.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// The frozen plan.
    pub fn plan(&self) -> &Plan {
        &self.job.plan
    }

    /// What the provider made of the plan's configurations.
    pub fn setups(&self) -> &Setups {
        &self.job.setups
    }

    /// Where the run is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The last part of the path: `<name>-<UTC time>`.
    pub fn name(&self) -> String {
        let full = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        full.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
    }

    fn journal_path(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    /// `trials/<cell>/<block>`, whether or not it exists.
    pub fn trial_path(&self, cell: &str, block: u32) -> PathBuf {
        self.path.join(relative(cell, block))
    }

    /// A directory in place is a trial, even one that lost a file: it becomes an invalid trial, and is not written
    /// over.
    fn is_done(&self, trial: &PlannedTrial) -> bool {
        self.trial_path(&trial.cell, trial.block).is_dir()
    }

    /// Appends to the journal, with the present UTC time; on the device when this returns.
    pub fn journal(&self, event: JournalEvent) -> Result<()> {
        match self.writer()?.as_mut() {
            Some(writer) => writer.append(&self.journal_path(), event),
            None => Err(RunError::Locked { path: self.path.clone() }),
        }
    }

    /// All complete lines of the journal.
    pub fn journal_entries(&self) -> Result<Vec<JournalEntry>> {
        journal::read(&self.journal_path())
    }

    /// Trials to do, in the planned order: those without a directory in place, up to the block after which an adaptive
    /// run stopped.
    pub fn remaining(&self) -> Result<Vec<PlannedTrial>> {
        let last = self.enough()?.map_or(u32::MAX, |(blocks, _)| blocks);
        let missing = |t: &&PlannedTrial| t.block <= last && !self.is_done(t);
        Ok(self.job.plan.trials.iter().filter(missing).cloned().collect())
    }

    /// Whether nothing is left to do: no trial, and no search that may come to more of them.
    pub fn is_finished(&self) -> Result<bool> {
        if !self.remaining()?.is_empty() {
            return Ok(false);
        }
        let searched = self.events(|event| match event {
            JournalEvent::Searched { searches } => Some(searches),
            _ => None,
        });
        let searched = searched?.concat();
        let mut searches = self.job.plan.search.iter().flat_map(|plan| &plan.searches);
        Ok(searches.all(|search| searched.contains(&search.id)))
    }

    /// What of one kind the journal says, in its order.
    fn events<T>(&self, of: impl FnMut(JournalEvent) -> Option<T>) -> Result<Vec<T>> {
        Ok(self.journal_entries()?.into_iter().map(|entry| entry.event).filter_map(of).collect())
    }

    /// Rates that searches have come to, in the order in which they did.
    pub fn rounds(&self) -> Result<Vec<Round>> {
        self.events(|event| match event {
            JournalEvent::Round(round) => Some(round),
            _ => None,
        })
    }

    /// What searches have tried, in the order in which they did.
    pub fn probes(&self) -> Result<Vec<RateProbe>> {
        self.events(|event| match event {
            JournalEvent::Probed(probe) => Some(probe),
            _ => None,
        })
    }

    /// Where its data sets were restored from, each once.
    pub fn origins(&self) -> Result<Vec<DataSetOrigin>> {
        let mut origins = Vec::new();
        for entry in self.journal_entries()? {
            if let JournalEvent::DatasetReady { from: Some(origin), .. } = entry.event
                && !origins.contains(&origin)
            {
                origins.push(origin);
            }
        }
        Ok(origins)
    }

    /// After which block an adaptive run stopped, and why.
    pub fn enough(&self) -> Result<Option<(u32, String)>> {
        Ok(self.journal_entries()?.into_iter().find_map(|entry| match entry.event {
            JournalEvent::Enough { blocks, reason } => Some((blocks, reason)),
            _ => None,
        }))
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
        let hashes = stored::fill(aside, record, intervals, samples, logs)?;
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

    /// Compares all evidence with what was stored.
    pub fn verify(&self) -> Result<Verified> {
        manifest::verify(&self.path, &manifest::read(&self.path)?, TRIALS)
    }

    /// The trials that are in place, in planned order.
    pub fn done(&self) -> Vec<PlannedTrial> {
        self.job.plan.trials.iter().filter(|t| self.is_done(t)).cloned().collect()
    }

    /// Reads a trial that is in place.
    ///
    /// # Errors
    /// Files that are damaged, gone or of another version; [`RunError::Misplaced`] if they are those of another trial.
    pub fn trial(&self, trial: &PlannedTrial) -> Result<StoredTrial> {
        let path = self.trial_path(&trial.cell, trial.block);
        let stored = stored::read(&path)?;
        belongs(&path, trial, &stored.record)?;
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

    /// The texts of the files that the experiment names, by the names that it gives them; empty where it names
    /// none.
    pub fn beside(&self) -> Result<BTreeMap<String, String>> {
        let path = self.path.join(BESIDE);
        if !path.exists() {
            return Ok(BTreeMap::new());
        }
        let document: serde_json::Value = read_json(&path)?;
        serde_json::from_value(document["files"].clone()).map_err(|e| RunError::damaged(&path, e))
    }

    /// Refuses a run that somebody else may have put together or may still write to: a link, a file of another owner,
    /// one that everybody may write.
    ///
    /// # Errors
    /// [`RunError::Foreign`] names the first one.
    pub fn check_own(&self) -> Result<()> {
        let found =
            guarded::foreign(&self.path, Some(PLUGINS)).map_err(|e| RunError::file("examine", &self.path, e))?;
        found.map_or(Ok(()), |foreign| Err(RunError::Foreign { path: self.path.clone(), what: foreign.to_string() }))
    }

    /// The experiment file as it was when the run began.
    pub fn experiment_text(&self) -> Result<String> {
        let path = self.path.join(EXPERIMENT);
        let bytes = files::read(&path, EXPERIMENT_MOST_BYTES)?;
        String::from_utf8(bytes).map_err(|e| RunError::damaged(&path, e))
    }

    /// Adds facts of hosts that were made for the run, before its first trial; what stands there already stays.
    pub fn add_to_environment(&self, facts: serde_json::Map<String, serde_json::Value>) -> Result<()> {
        // Others add theirs at the same time.
        let _writer = self.writer()?;
        let path = self.path.join(ENVIRONMENT);
        let mut environment = self.environment()?;
        if let Some(known) = environment.as_object_mut() {
            for (host, of_host) in facts {
                known.entry(host).or_insert(of_host);
            }
        }
        let bytes = versioned_json(&path, &environment)?;
        replace(&self.path, ENVIRONMENT, &bytes)?;
        let mut hashes = manifest::read(&self.path)?;
        hashes.insert(ENVIRONMENT.to_owned(), manifest::hash(&bytes));
        manifest::create(&self.path, &hashes)
    }

    /// Host facts as they were when the run began.
    pub fn environment(&self) -> Result<serde_json::Value> {
        read_json(&self.path.join(ENVIRONMENT))
    }

    /// Facts and prices as they were when the run began.
    pub fn catalog(&self) -> Result<serde_json::Value> {
        read_json(&self.path.join(CATALOG))
    }

    /// Replaces a file made from the evidence (`analysis.json`, `report.md`); readers see the old or the new one.
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        replace(&self.path, name, bytes)
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
