//! The controller: drives the agents through a plan and keeps the evidence. The order of a run:
//!
//! open the database hosts -> load the data set (once) -> for each trial in the plan's order: prepare the
//! configuration's volumes (once each), start a restored database, load it, stop it, store the trial -> analysis and
//! reports. It is the same loop for every provider.

mod adaptive;
mod agents;
mod bucket;
mod dataset;
mod hosts;
mod journal;
mod left_behind;
mod machines;
mod position;
mod process;
mod reconnect;
mod searches;
mod silence;
pub mod sites;
mod store;
mod target;
mod trial;
mod watched;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use archive::{JournalEvent, RunDirectory};
use evidence::{Environment, HostId};
use experiment::{Job, Plan, PlannedTrial};
use wire::{DatabaseRequest, MachineUse, Problem, Reply, Request, UnderTest};

use crate::failure::Failure;
use crate::progress::Screen;
pub use agents::Agents;
use agents::unexpected;
use journal::note;
pub use machines::take_as_they_are;
use position::Position;
use store::Store;
use target::Target;
use trial::Completion;

/// Simulated trials between two lines of progress.
const SIMULATED_TRIALS_A_LINE: usize = 50;

/// A clock that is further off than this is worth a word, milliseconds.
const CLOCK_WARNING_MS: f64 = 50.0;

/// So many trials that could not be carried out, one after the other, end the run.
const FAILURES_IN_A_ROW: u32 = 3;

/// Where the second and later nodes of a machine live, below its work directory: `node-2` and so on.
pub const NODE_DIRECTORY: &str = "node-";

/// Whether there is money for so many seconds more.
pub type Affords = Arc<dyn Fn(f64) -> bool + Send + Sync>;

/// Everything a run needs that is not in its plan.
pub struct Settings {
    /// Where volumes, snapshots and the ledger live.
    pub work_directory: PathBuf,
    /// Where downloads are kept.
    pub cache_directory: PathBuf,
    /// Whether a trial of so many seconds may be begun: then the run would not cost more than it may.
    pub affords: Affords,
}

impl Settings {
    /// The work directory of a machine's nth database host, from 0: each has its own lock, ledger and snapshots.
    fn work_directory_of(&self, on_machine: usize) -> PathBuf {
        match on_machine {
            0 => self.work_directory.clone(),
            n => self.work_directory.join(format!("{NODE_DIRECTORY}{}", n + 1)),
        }
    }
}

/// Runs what is missing of `directory`; at the end every planned trial has its evidence.
pub fn run(
    directory: &RunDirectory,
    agents: &mut Agents,
    settings: &Settings,
    screen: &mut Screen,
    interrupted: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    begins(directory, screen);
    let result = work_through(directory, agents, settings, screen, interrupted);
    ended(directory, result, interrupted)
}

/// Scrapers are told which run this is.
pub fn begins(directory: &RunDirectory, screen: &Screen) {
    let (planned, done) = (directory.plan().trials.len(), directory.done().len());
    screen.publish(|live| live.begin(directory.name(), planned, done));
}

/// Does what is missing of a run, or of a part of one.
pub fn work_through(
    directory: &RunDirectory,
    agents: &mut Agents,
    settings: &Settings,
    screen: &mut Screen,
    interrupted: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let greeting = |agents: &mut Agents, screen: &mut Screen| greet(agents, directory.job(), screen).map(drop);
    let work = |agents: &mut Agents, screen: &mut Screen| run_trials(directory, agents, settings, screen);
    let result = reconnect::through_losses(directory, agents, interrupted, screen, &greeting, &work);
    agents.close(screen);
    screen.clear();
    result
}

/// The journal says how the whole run ended.
pub fn ended(
    directory: &RunDirectory,
    result: Result<(), Failure>,
    interrupted: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    if interrupted.load(Ordering::Relaxed) {
        note(directory, JournalEvent::Interrupted)?;
        return Err(interrupted_failure(directory));
    }
    result?;
    note(directory, JournalEvent::RunDone)
}

/// There is no more money, and so many trials are left.
pub fn spent(directory: &RunDirectory, left: usize) -> Failure {
    Failure::work(format!("the run has spent what it may cost: {left} trials are left")).help(format!(
        "continue with more: iopslab run --resume {} --max-cost USD",
        directory.path().display()
    ))
}

/// Ctrl-C: what is kept and how to go on.
fn interrupted_failure(directory: &RunDirectory) -> Failure {
    let run = directory.path().display();
    Failure::interrupted("interrupted; every finished trial is kept").help(format!(
        "continue with: iopslab run --resume {run}; what is there so far: iopslab report {run}"
    ))
}

fn run_trials(
    directory: &RunDirectory,
    agents: &mut Agents,
    settings: &Settings,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let is_searched = directory.plan().search.is_some();
    if directory.is_finished().map_err(Failure::work)? {
        return Ok(());
    }
    let remaining = directory.remaining().map_err(Failure::work)?;
    let target = Target::of(directory.plan())?;
    open(directory, &target, agents, settings, screen)?;
    if !is_searched {
        return measure(directory, remaining, &target, agents, settings, screen);
    }
    let left = directory.plan().expected_trials().len() + remaining.len();
    let may_take = |seconds: f64| match (settings.affords)(seconds) {
        true => Ok(()),
        false => Err(spent(directory, left)),
    };
    let mut grown = searches::through(directory, agents, &target, &may_take, screen)?;
    loop {
        let remaining = grown.remaining().map_err(Failure::work)?;
        measure(&grown, remaining, &target, agents, settings, screen)?;
        match searches::more(&grown, screen)? {
            Some(more) => grown = more,
            None => return Ok(()),
        }
    }
}

/// One trial after the other.
fn measure(
    directory: &RunDirectory,
    remaining: Vec<PlannedTrial>,
    target: &Target,
    agents: &mut Agents,
    settings: &Settings,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let plan = directory.plan();
    let began = Instant::now();
    let mut took_s = Vec::new();
    let mut failures_in_a_row = 0;
    let mut last_reason = String::new();
    let remaining = process::by_process(directory.job(), remaining);
    for (done, planned) in remaining.iter().enumerate() {
        let eta = remaining_time(plan, &took_s, &remaining[done..]);
        let progress = Position {
            number: plan.trials.len() - remaining.len() + done + 1,
            of: plan.trials.len(),
            eta_s: eta,
        };
        if !(settings.affords)(plan.seconds_of(planned)) {
            return Err(spent(directory, remaining.len() - done));
        }
        // A database that cannot be started, or a client that is lost, will fail the next time too: stop before hours
        // are wasted.
        let trial_began = Instant::now();
        let completion = trial::run(
            directory,
            agents,
            (planned, remaining.get(done + 1)),
            target,
            progress,
            screen,
        )?;
        took_s.push(trial_began.elapsed().as_secs_f64());
        match completion {
            Completion::Completed => failures_in_a_row = 0,
            Completion::Failed(reason) => {
                failures_in_a_row += 1;
                last_reason = reason;
            }
        }
        if failures_in_a_row == FAILURES_IN_A_ROW {
            return Err(Failure::work(format!(
                "{FAILURES_IN_A_ROW} trials in a row could not be carried out; the last one: {last_reason}"
            ))
            .help(format!(
                "remove the cause, then: iopslab run --resume {}, which repeats what did not start (with --retry-invalid: every invalid trial)",
                directory.path().display()
            )));
        }
        let done = done + 1;
        let spent_s = if agents.is_simulated() {
            if done.is_multiple_of(SIMULATED_TRIALS_A_LINE) || done == remaining.len() {
                screen.say(&format!("[{done} of {}] simulated", remaining.len()));
            }
            done as f64 * (plan.shape.warmup_s + plan.shape.duration_s)
        } else {
            began.elapsed().as_secs_f64()
        };
        if adaptive::enough(directory, planned, spent_s, screen)? {
            break;
        }
    }
    Ok(())
}

/// Trials after which what they took says more than the plan: the first one of a process makes volumes and compiles code.
const TRIALS_KNOWN: usize = 4;

/// Seconds that remain: what the plan expects of each trial, or what one took in the mean so far.
fn remaining_time(plan: &Plan, took_s: &[f64], remaining: &[PlannedTrial]) -> f64 {
    match took_s.len() >= TRIALS_KNOWN {
        true => took_s.iter().sum::<f64>() / took_s.len() as f64 * remaining.len() as f64,
        false => remaining.iter().map(|trial| plan.seconds_of(trial)).sum(),
    }
}

/// Takes the database hosts and makes sure that they have the data set.
fn open(
    directory: &RunDirectory,
    target: &Target,
    agents: &mut Agents,
    settings: &Settings,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let Job { plan, setups } = directory.job();
    let version = match &plan.target.database {
        experiment::Database::Cassandra { version } => version,
        experiment::Database::Hosts { .. } => {
            watched::find(setups, agents, screen)?;
            return dataset::provide_existing(directory.job(), target, agents, screen);
        }
    };
    let machines = hosts::by_machine(setups, agents);
    let beside = goes_beside(directory)?;
    let open = |on_machine: usize, host: HostId, nodes: &[HostId], machine_use: Option<MachineUse>, agents: &Agents| {
        UnderTest {
            needed_bytes: hosts::needed_bytes(directory.job(), host, hosts::is_restored(machine_use.as_ref())),
            run: directory.name(),
            work_directory: match &machine_use {
                Some(machine_use) => machine_use.work_directory.clone().unwrap_or_default(),
                None => settings.work_directory_of(on_machine).display().to_string(),
            },
            addresses: nodes.iter().map(|node| agents.place(*node).address).collect(),
            index: nodes.iter().position(|node| *node == host).unwrap_or(0) as u32,
            on_machine: on_machine as u32,
            cache_directory: match machine_use {
                Some(_) => String::new(),
                None => settings.cache_directory.display().to_string(),
            },
            machine_use,
            version: version.clone(),
            dataset: plan.dataset,
            patience: plan.patience,
            beside,
        }
    };
    for hosts in machines.values() {
        for (number, host) in hosts.iter().enumerate() {
            if agents.machine_use(*host).is_none() {
                agents.works_here(*host, &settings.work_directory_of(number));
            }
        }
    }
    let mut software = BTreeSet::new();
    // All machines at the same time, the hosts of one machine in turn: what the first fetches, the next one finds.
    let most = machines.values().map(Vec::len).max().unwrap_or(0);
    for number in 0..most {
        let of_turn = machines.values().filter_map(|hosts| hosts.get(number));
        let requests = of_turn.map(|host| {
            let nodes = hosts::companions(setups, *host);
            let task = open(number, *host, &nodes, agents.machine_use(*host), agents);
            (*host, Request::Database(DatabaseRequest::Open(task)))
        });
        let requests: Vec<_> = requests.collect();
        for reply in agents.call_all(requests, screen)?.into_values() {
            let Reply::Opened {
                cleaned,
                software: runs,
            } = reply
            else {
                return Err(unexpected(&reply));
            };
            for what in cleaned {
                screen.say(&format!("cleaned up after an earlier run: {what}"));
            }
            software.extend(runs);
        }
    }
    if software.is_empty() {
        // There is nothing to load into where the database is only simulated.
        return Ok(());
    }
    software.iter().for_each(|line| screen.say(line));
    dataset::provide(directory, target, agents, screen)
}

/// Of a run's environment: who measured on this machine when a run began that may go on beside others.
pub const BESIDE: &str = "beside";

/// Whether a run may go on beside others.
pub fn goes_beside(directory: &RunDirectory) -> Result<bool, Failure> {
    let environment = directory.environment().map_err(Failure::work)?;
    Ok(environment.get(BESIDE).is_some())
}

/// Bytes that a run needs below one work directory where all of its nodes share a machine.
pub fn needed_bytes(job: &Job) -> u64 {
    let nodes = hosts::databases(&job.setups).into_iter();
    nodes.map(|host| hosts::needed_bytes(job, host, false)).sum()
}

/// Starts and greets the agents; returns the facts about their hosts and what their clocks show beside the
/// controller's.
pub fn greet(agents: &mut Agents, job: &Job, screen: &mut Screen) -> Result<Vec<(HostId, Environment)>, Failure> {
    let hosts = hosts::all(job);
    agents.start(&hosts)?;
    let hello = |host: &HostId| {
        let protocol = wire::PROTOCOL;
        (*host, Request::Hello { protocol })
    };
    let replies = agents.call_all(hosts.iter().map(hello).collect(), screen)?;
    let mut facts = Vec::new();
    for (host, reply) in replies {
        match reply {
            Reply::Hello { environment, .. } => facts.push((host, *environment)),
            other => return Err(unexpected(&other)),
        }
    }
    for (host, clock) in agents.clocks(&hosts)? {
        if clock.offset_ms.abs() > CLOCK_WARNING_MS + clock.round_trip_ms / 2.0 {
            screen.say(&format!(
                "warning: the clock of {host} is {:.0} ms off this machine's; its samples are placed by the difference",
                clock.offset_ms
            ));
        }
    }
    Ok(facts)
}

/// Refuses a store of data sets that could not be used; asks no host.
pub fn check_store(plan: &Plan) -> Result<(), Failure> {
    Store::of(plan)?.map_or(Ok(()), |store| store.check())
}

/// What stands in the way of this run, asked of the machines that would do the work; nothing is created before.
pub fn check(job: &Job, agents: &mut Agents, settings: &Settings, screen: &mut Screen) -> Result<(), Failure> {
    Target::of(&job.plan)?;
    check_store(&job.plan)?;
    watched::find_and_tell(&job.setups, agents, screen)?;
    let mut problems = Vec::new();
    for on_machine in hosts::by_machine(&job.setups, agents).into_values() {
        let Some(host) = on_machine.first() else { continue };
        let machine_use = agents.machine_use(*host);
        let (work_directory, whose) = match &machine_use {
            Some(machine_use) => {
                let stated = machine_use.work_directory.clone().unwrap_or_default();
                (stated, format!("{}: ", agents.place(*host).machine))
            }
            None => (settings.work_directory.display().to_string(), String::new()),
        };
        let needs = hosts::needs(job, work_directory, machine_use, &on_machine);
        let reply = agents.call(*host, Request::Database(DatabaseRequest::Check(needs)), screen)?;
        let Reply::Checked(found) = reply else {
            return Err(unexpected(&reply));
        };
        problems.extend(found.into_iter().map(|problem| Problem {
            what: format!("{whose}{}", problem.what),
            ..problem
        }));
    }
    match problems.into_iter().next() {
        Some(problem) if problem.is_in_the_experiment => Err(Failure::input(problem.what).help(problem.fix)),
        Some(problem) => Err(Failure::work(problem.what).help(problem.fix)),
        None => Ok(()),
    }
}
