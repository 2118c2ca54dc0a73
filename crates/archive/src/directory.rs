//! The directory of a run: created once, opened to read, locked to write.

mod adaptive;
mod environment;
mod trials;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evidence::{DataSetOrigin, ModifiedVolume, RateProbe};
use experiment::{Job, Plan, Round, Setups};
use serde::Serialize;

use crate::files::{
    create_directories, plain_name, read_document, read_json, replace, sync_directory, versioned_json, write_synced,
};
use crate::journal::{self, JournalWriter};
use crate::manifest::{self, Verified};
use crate::{JournalEntry, JournalEvent, Result, RunError, files};

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
    /// Makes `parent/<name>-<utc_stamp>/` with its frozen inputs, and locks it; `<name>-<utc_stamp>-2/` where another
    /// run began in that second.
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
        let path = make_free(parent, plain_name(&format!("{name}-{utc_stamp}"))?, is_shared)?;
        let mut writer = JournalWriter::open(&path, &path.join(JOURNAL))?;
        create_directories(&path.join(TRIALS))?;
        let mut inputs = vec![
            (EXPERIMENT, experiment_text.as_bytes().to_vec()),
            (CATALOG, versioned_json(&path.join(CATALOG), catalog)?),
            (ENVIRONMENT, versioned_json(&path.join(ENVIRONMENT), environment)?),
            (SETUPS, versioned_json(&path.join(SETUPS), &job.setups.to_json())?),
            (PLAN, versioned_json(&path.join(PLAN), &job.plan.to_json())?),
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
            job: Job {
                plan: read_document(&path.join(PLAN), Plan::from_json)?,
                setups: read_document(&path.join(SETUPS), Setups::from_json)?,
            },
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

    /// Whether nothing is left to do: no trial, no look that may call for more of them, and no search that may come to
    /// more of them.
    pub fn is_finished(&self) -> Result<bool> {
        if !self.remaining()?.is_empty() || self.is_undecided()? {
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
        let all = self.events(|event| match event {
            JournalEvent::DatasetReady { from, .. } => from,
            _ => None,
        })?;
        let mut origins = Vec::new();
        for origin in all {
            if !origins.contains(&origin) {
                origins.push(origin);
            }
        }
        Ok(origins)
    }

    /// Modifications of volumes of EBS, in the order in which they were asked for, each as far as it is known to have
    /// come.
    pub fn modifications(&self) -> Result<Vec<ModifiedVolume>> {
        let all = self.events(|event| match event {
            JournalEvent::VolumeModified(modified) => Some(modified),
            _ => None,
        })?;
        let mut modifications: Vec<ModifiedVolume> = Vec::new();
        for one in all {
            let same = |known: &&mut ModifiedVolume| (&known.volume, &known.asked_at) == (&one.volume, &one.asked_at);
            match modifications.iter_mut().find(same) {
                Some(known) => *known = one,
                None => modifications.push(one),
            }
        }
        Ok(modifications)
    }

    /// Cells that the user skips: no more of their trials are done.
    pub fn skipped(&self) -> Result<BTreeSet<String>> {
        let mut skipped = BTreeSet::new();
        for entry in self.journal_entries()? {
            match entry.event {
                JournalEvent::CellSkipped { cell } => drop(skipped.insert(cell)),
                JournalEvent::CellTakenUp { cell } => drop(skipped.remove(&cell)),
                _ => {}
            }
        }
        Ok(skipped)
    }

    /// Compares all evidence with what was stored.
    pub fn verify(&self) -> Result<Verified> {
        manifest::verify(&self.path, &manifest::read(&self.path)?, TRIALS)
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

    /// Facts and prices as they were when the run began.
    pub fn catalog(&self) -> Result<serde_json::Value> {
        read_json(&self.path.join(CATALOG))
    }

    /// Replaces a file made from the evidence (`analysis.json`, `report.md`); readers see the old or the new one.
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        replace(&self.path, name, bytes)
    }
}

/// Makes the directory of a new run by this name, or by the first free one after it.
fn make_free(parent: &Path, name: &str, is_shared: bool) -> Result<PathBuf> {
    let mut builder = DirBuilder::new();
    builder.mode(if is_shared { SHARED } else { PRIVATE });
    let mut path = parent.join(name);
    let mut nth = 1;
    loop {
        match builder.create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                nth += 1;
                path = parent.join(format!("{name}-{nth}"));
            }
            Err(error) => return Err(RunError::file("create", &path, error)),
        }
    }
}
