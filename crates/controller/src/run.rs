//! A run under way: what is to be done, where its evidence goes, and who does it.

use std::path::PathBuf;
use std::sync::Arc;

use archive::{JournalEvent, RunDirectory};
use experiment::{Job, Plan, Setup};

use super::agents::Agents;
use super::run_failure::{Failure, Result};
use super::target::Target;

/// Where the second and later nodes of a machine live, below its work directory: `node-2` and so on.
pub const NODE_DIRECTORY: &str = "node-";

/// Whether there is money for so many seconds more.
pub type Affords = Arc<dyn Fn(f64) -> bool + Send + Sync>;

/// What is done with a run when it has more evidence than before; nothing measures meanwhile.
pub type EvidenceGrew = Arc<dyn Fn(&RunDirectory) + Send + Sync>;

/// Everything a run needs that is not in its plan.
pub struct Settings {
    /// Where volumes, snapshots and the ledger live.
    pub work_directory: PathBuf,
    /// Where downloads are kept.
    pub cache_directory: PathBuf,
    /// Whether a trial of so many seconds may be begun: then the run would not cost more than it may.
    pub affords: Affords,
    /// Called after each trial.
    pub evidence_grew: EvidenceGrew,
}

impl Settings {
    /// The work directory of a machine's nth database host, from 0: each has its own lock, ledger and snapshots.
    pub(super) fn work_directory_of(&self, on_machine: usize) -> PathBuf {
        match on_machine {
            0 => self.work_directory.clone(),
            n => self.work_directory.join(format!("{NODE_DIRECTORY}{}", n + 1)),
        }
    }
}

/// A run, or a part of one, under way.
pub(super) struct Run<'r> {
    /// What is planned, and what has been done.
    pub directory: &'r RunDirectory,
    /// Who does it.
    pub agents: &'r mut Agents,
    pub settings: &'r Settings,
    /// Where its database answers.
    pub target: Target,
}

impl<'r> Run<'r> {
    pub fn job(&self) -> &'r Job {
        self.directory.job()
    }

    pub fn plan(&self) -> &'r Plan {
        self.directory.plan()
    }

    pub fn setups(&self) -> &'r [Setup] {
        self.directory.setups()
    }

    /// The same hands on a plan that has grown.
    pub fn on<'s>(&'s mut self, directory: &'s RunDirectory) -> Run<'s> {
        Run { directory, agents: self.agents, settings: self.settings, target: self.target.clone() }
    }

    /// A line that stays.
    pub fn say(&self, line: &str) {
        self.agents.screen.say(line);
    }

    /// Writes an event into the journal.
    pub fn note(&self, event: JournalEvent) -> Result<()> {
        Ok(self.directory.journal(event)?)
    }

    /// Refuses what would take so many seconds, where there is no money for it; `left` trials are left then.
    pub fn check_money(&self, seconds: f64, left: usize) -> Result<()> {
        match (self.settings.affords)(seconds) {
            true => Ok(()),
            false => Err(Failure::Spent { left, run: self.directory.path().to_owned() }),
        }
    }
}
