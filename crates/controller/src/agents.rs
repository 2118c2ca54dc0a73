//! The agents of a run: started, asked, ended.

pub mod conversation;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use evidence::{HostId, Role};
use process::failure;
use provider::{Agent, Ending, HostAddress, Incoming, Provider};
use storage::{Ledger, StorageError, WorkDirectory};

use super::run_failure::{Failure, Result};
use super::silence::{SILENCE, Work};
use crate::progress::Screen;

/// How long an agent that has ended may take to be noticed.
const LAST_WORDS_PATIENCE: Duration = Duration::from_secs(2);

/// Both ends of what the agents say, and of the user's Ctrl-C.
pub type Channel = (Sender<Incoming>, Receiver<Incoming>);

/// The agents of a run, by host, with the one inbox that they and the user's Ctrl-C share.
pub struct Agents {
    provider: Box<dyn Provider>,
    agents: BTreeMap<HostId, Box<dyn Agent>>,
    /// Clients that are gone; another one is started before it is asked for something.
    lost: BTreeSet<HostId>,
    inbox: Receiver<Incoming>,
    /// What others have said while one was waited for.
    unheard: VecDeque<Incoming>,
    to: Sender<Incoming>,
    /// Hosts that were given up while they were silent: what their agents still say belongs to nothing.
    silent: BTreeSet<HostId>,
    /// How long an agent may be silent while it works.
    silence: Duration,
    /// How long it may take, whatever it says.
    work: Work,
    /// Work directories of hosts that are on this machine.
    work_here: BTreeMap<HostId, PathBuf>,
    /// Whether a database host that is lost costs what it was asked for alone, and no conversation with others.
    pub(crate) each_for_itself: bool,
    /// What the user sees of their work.
    pub screen: Screen,
    /// Whether the user wants an end.
    interrupted: Arc<AtomicBool>,
}

impl Agents {
    /// No agents yet. `inbox` is where the signal handler sends its [`Incoming::Interrupt`].
    pub fn new(
        provider: Box<dyn Provider>,
        (to, inbox): Channel,
        screen: &Screen,
        interrupted: &Arc<AtomicBool>,
    ) -> Self {
        Self {
            provider,
            agents: BTreeMap::new(),
            lost: BTreeSet::new(),
            inbox,
            unheard: VecDeque::new(),
            to,
            silent: BTreeSet::new(),
            silence: SILENCE,
            work: Work::default(),
            work_here: BTreeMap::new(),
            each_for_itself: false,
            screen: screen.clone(),
            interrupted: Arc::clone(interrupted),
        }
    }

    /// From now on they work on this.
    pub(super) fn work_on(&mut self, work: Work) {
        self.work = work;
    }

    /// Whether its agent is gone.
    pub(crate) fn is_lost(&self, host: HostId) -> bool {
        self.lost.contains(&host)
    }

    /// Whether the user wants an end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// The machines are there from here on, until [`Self::release`].
    pub fn provide(&mut self) -> Result<()> {
        let (screen, interrupted) = (&self.screen, &self.interrupted);
        let is_called_off = || interrupted.load(Ordering::Relaxed);
        let made = self.provider.provide(&mut |what| screen.say(what), &is_called_off);
        made.map_err(|error| match () {
            () if error.has_no_room() => Failure::NoRoom(error.to_string()),
            () if is_called_off() => failure::Failure::interrupted(error).into(),
            () => Failure::work(error),
        })
    }

    /// Machines that were made for the run are taken away.
    pub fn release(&mut self) -> Result<()> {
        let screen = &self.screen;
        self.provider.release(&mut |what| screen.say(what)).map_err(Failure::work)
    }

    /// Starts the agents of hosts that have none.
    pub(crate) fn start(&mut self, hosts: &[HostId]) -> Result<()> {
        for host in hosts {
            if self.lost.remove(host) {
                self.agents.remove(host);
                self.forget_words_of(*host);
            }
        }
        let missing = hosts.iter().filter(|host| !self.agents.contains_key(host));
        let missing: Vec<HostId> = missing.copied().collect();
        let prepared = self.provider.prepare(&missing);
        prepared.map_err(|error| self.out_of_reach(error.to_string()))?;
        for host in missing {
            let agent = self.provider.start(host, self.to.clone());
            let agent = agent.map_err(|error| self.out_of_reach(error.to_string()))?;
            self.agents.insert(host, agent);
        }
        Ok(())
    }

    /// The agent of a host that was silent has been ended: what it has said before that is passed over, up to its end.
    fn forget_words_of(&mut self, host: HostId) {
        let until = Instant::now() + LAST_WORDS_PATIENCE;
        while self.silent.contains(&host) {
            match self.inbox.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Incoming::Lost(lost, _)) if lost == host => drop(self.silent.remove(&host)),
                Ok(Incoming::Event(from, ..)) if from == host => {}
                Ok(other) => self.unheard.push_back(other),
                Err(_) => drop(self.silent.remove(&host)),
            }
        }
    }

    /// What is said next.
    fn next(&mut self, wait: Duration) -> Result<Incoming, RecvTimeoutError> {
        self.unheard.pop_front().map_or_else(|| self.inbox.recv_timeout(wait), Ok)
    }

    /// An agent that is needed cannot be had; where only the way to its machine may be cut, it may be there again.
    fn out_of_reach(&self, how: String) -> Failure {
        Failure::HostLost { how, help: None, may_come_back: self.provider.may_come_back() }
    }

    /// Ends all agents and forgets them with what they still say; the next request starts others.
    pub(crate) fn dismiss(&mut self) {
        self.close();
        let mut speaking: BTreeSet<HostId> = self.agents.keys().copied().collect();
        speaking.retain(|host| !self.lost.contains(host));
        self.agents.clear();
        // The last that each one says is that it is lost.
        while !speaking.is_empty() {
            match self.inbox.recv_timeout(LAST_WORDS_PATIENCE) {
                Ok(Incoming::Lost(host, _)) => drop(speaking.remove(&host)),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        self.lost.clear();
        self.unheard.clear();
        self.silent.clear();
    }

    /// What a database host's machine is used for.
    pub(super) fn machine_use(&self, host: HostId) -> Option<wire::MachineUse> {
        self.provider.machine_use(host)
    }

    /// The volumes of EBS that a database host has its data on.
    pub(super) fn data_volumes(&self, host: HostId) -> Option<provider::EbsVolumes> {
        self.provider.data_volumes(host)
    }

    /// Where a host is.
    pub(super) fn place(&self, host: HostId) -> HostAddress {
        self.provider.place(host)
    }

    /// Ends all agents: clients first, so that nothing loads a database that is being stopped. What one that was
    /// killed, or lost, has left on this machine is undone here.
    pub fn close(&mut self) {
        self.screen.about(None, "");
        self.screen.doing("cleaning up", "");
        // Nobody waits with a database that runs for what is cleaned up after another one.
        let endings: Vec<(HostId, Option<u32>, Ending)> =
            self.agents.iter_mut().rev().map(|(host, agent)| (*host, agent.pid(), agent.close())).collect();
        for (host, pid, ending) in &endings {
            let here = self.work_here.get(host).map(|directory| (directory.as_path(), *pid));
            let is_elsewhere = self.provider.may_come_back();
            let said = match ending {
                Ending::InOrder => None,
                // Elsewhere it cleans up by itself, once it is out of reach.
                Ending::Lost if here.is_none() => None,
                Ending::Lost => undone_after(*host, here, false).map(|what| format!("has not cleaned up; {what}")),
                Ending::Killed => {
                    let what = undone_after(*host, here, is_elsewhere);
                    let what = what.map_or_else(String::new, |what| format!("; {what}"));
                    Some(format!("does not end and was killed{what}"))
                }
            };
            if let Some(said) = said {
                self.screen.say(&format!("the {host} agent {said}"));
            }
        }
    }

    /// A database host has this work directory, which is on this machine.
    pub(super) fn works_here(&mut self, host: HostId, directory: &Path) {
        self.work_here.insert(host, directory.to_owned());
    }
}

/// Undoes what an agent that was killed, or lost, has left on this machine; says what that was, and what is to be done
/// about the rest. `work_here` is its work directory with the number that its process had. One that has made nothing
/// leaves nothing: a client's never does. Nor is anything left for us where another process has taken the directory
/// since: who takes one undoes first what its ledger has.
fn undone_after(host: HostId, work_here: Option<(&Path, Option<u32>)>, is_elsewhere: bool) -> Option<String> {
    if host.role == Role::Client {
        return None;
    }
    let Some((directory, pid)) = work_here else {
        let elsewhere = "what its machine keeps goes with: iopslab clean --hosts";
        return is_elsewhere.then(|| elsewhere.to_owned());
    };
    let ledger = WorkDirectory::ledger_path_in(directory);
    if Ledger::outstanding(&ledger).is_ok_and(|left| left.is_empty()) {
        return None;
    }
    let mut is_anothers = false;
    let mut undo = || -> Result<(Vec<String>, Vec<String>), StorageError> {
        // Free once its process has ended, for which the kernel may still be waiting.
        let _work = WorkDirectory::lock_when_free(directory, |_| {
            is_anothers = WorkDirectory::holder(directory).is_some_and(|holder| Some(holder.pid) != pid);
            !is_anothers
        })?;
        let cleaned = storage::clean(&ledger)?;
        let left = cleaned.left().collect();
        Ok((cleaned.removed, left))
    };
    let undone = undo();
    if is_anothers {
        return None;
    }
    let (removed, left) = undone.unwrap_or_else(|error| (Vec::new(), vec![error.to_string()]));
    let removed = (!removed.is_empty()).then(|| format!("what it had left is removed:\n  {}", removed.join("\n  ")));
    let rest = (!left.is_empty()).then(|| {
        let (left, directory) = (left.join("; "), guarded::shell_path(directory));
        format!("what it leaves goes with: iopslab clean --work-directory {directory} ({left})")
    });
    let said: Vec<String> = removed.into_iter().chain(rest).collect();
    (!said.is_empty()).then(|| said.join("\n"))
}
