//! The controller: drives the agents through a plan and keeps the evidence. The order of a run:
//!
//! open the database hosts -> load the data set (once) -> for each trial in the plan's order: prepare the
//! configuration's volumes (once each), start a restored database, load it, stop it, store the trial -> analysis and
//! reports. It is the same loop for every provider.

mod adaptive;
mod agents;
mod bucket_snapshot;
mod dataset;
mod forks;
mod greeting;
mod hosts;
mod http;
mod live;
mod live_line;
mod live_metrics;
mod machines;
mod measured;
mod observing;
mod open;
mod own_snapshot;
mod progress;
mod reconnect;
mod run;
mod run_failure;
mod s3;
mod searches;
pub mod secrets;
mod silence;
pub mod sites;
mod standings;
mod store;
mod target;
mod time_left;
mod trial;
mod trials;
mod watch;
mod watched;
mod wished;

use archive::{JournalEvent, RunDirectory};
use evidence::HostId;
use experiment::Job;
use process::failure as command;
use wire::{DatabaseRequest, Needs, Problem, Reply, Request};

pub use agents::{Agents, Channel};
pub use bucket_snapshot::find_in_bucket;
pub use greeting::greet;
pub use live::LiveRun;
pub use live_metrics::serve_metrics;
pub use machines::take_as_they_are;
pub use measured::Measured;
pub use observing::{Observing, not_watched_any_more};
pub use open::{BESIDE, goes_beside};
pub use progress::Screen;
pub use run::{EvidenceGrew, NODE_DIRECTORY, Settings};
use run_failure::answer;
pub use run_failure::{Failure, Next};
use store::Store;
use target::Target;
pub use watch::Watch;

/// Runs what is missing of `directory`; at the end every planned trial has its evidence.
pub fn run(directory: &RunDirectory, agents: &mut Agents, settings: &Settings) -> Result<(), Failure> {
    let begun = begins(directory, &agents.screen).and_then(|()| open::machine(directory, agents));
    let result = match begun {
        Ok(_machine) => work_through(directory, agents, settings),
        Err(failure) => {
            agents.close();
            Err(failure)
        }
    };
    ended(directory, result, agents.is_interrupted())
}

/// Does what is missing of a run, or of a part of one.
pub fn work_through(directory: &RunDirectory, agents: &mut Agents, settings: &Settings) -> Result<(), Failure> {
    agents.work_on(hosts::work(directory.job()));
    let result = reconnect::through_losses(
        directory,
        agents,
        &|agents: &mut Agents| greet(agents, directory.job()).map(drop),
        &|agents: &mut Agents| trials::through(directory, agents, settings),
    );
    agents.close();
    agents.screen.clear();
    result
}

/// The journal says how the whole run ended.
pub fn ended(directory: &RunDirectory, result: Result<(), Failure>, is_interrupted: bool) -> Result<(), Failure> {
    if is_interrupted {
        directory.journal(JournalEvent::Interrupted)?;
        return Err(Failure::Interrupted(Some(directory.path().to_owned())));
    }
    let is_stopped = match &result {
        Err(Failure::Stopped { .. }) => true,
        Err(Failure::Other(failure)) => matches!(failure.kind, command::Kind::Interrupted),
        _ => false,
    };
    if is_stopped {
        directory.journal(JournalEvent::Interrupted)?;
    }
    result?;
    Ok(directory.journal(JournalEvent::RunDone)?)
}

/// Refuses a store of data sets that could not be used, or that lacks what machines of AWS, made anew for these
/// batches, can have from nowhere else; asks no host.
pub fn check_store(job: &Job, batches: &[u32]) -> Result<(), command::Failure> {
    let Some(store) = Store::of(&job.plan)? else { return Ok(()) };
    store.check()?;
    store.check_restored(job, batches)
}

/// The same of what the store lacks alone: asked again where machines that might have stood are made.
pub fn check_restored(job: &Job, batches: &[u32]) -> Result<(), command::Failure> {
    Store::of(&job.plan)?.map_or(Ok(()), |store| store.check_restored(job, batches))
}

/// What stands in the way of this run, asked of the machines that would do the work; nothing is created before.
pub fn check(job: &Job, agents: &mut Agents, settings: &Settings) -> Result<(), Failure> {
    Target::of(&job.plan)?;
    check_store(job, &[])?;
    agents.work_on(hosts::work(job));
    watched::find_and_tell(&job.setups, agents)?;
    let mut problems = Vec::new();
    for on_machine in hosts::by_machine(&job.setups, agents).into_values() {
        let Some(host) = on_machine.first() else { continue };
        let machine_use = agents.machine_use(*host);
        let work_directory = match &machine_use {
            Some(machine_use) => hosts::work_directory(Some(machine_use)),
            None => settings.work_directory.display().to_string(),
        };
        problems.extend(asked(agents, *host, hosts::needs(job, work_directory, machine_use, &on_machine))?);
    }
    for host in hosts::caches(job) {
        let needs = hosts::needs_of_cache(job, agents.machine_use(host), host);
        problems.extend(asked(agents, host, needs)?);
    }
    let Some(problem) = problems.into_iter().next() else { return Ok(()) };
    let refused = match problem.is_in_the_experiment {
        true => command::Failure::input(problem.what),
        false => command::Failure::work(problem.what),
    };
    Err(refused.help(problem.fix).into())
}

/// What a host says stands in the way, by the name of its machine where that is not this one.
fn asked(agents: &mut Agents, host: HostId, needs: Needs) -> Result<Vec<Problem>, Failure> {
    let whose = match needs.machine_use {
        Some(_) => format!("{}: ", agents.place(host).machine),
        None => String::new(),
    };
    let request = Request::Database(DatabaseRequest::Check(needs));
    let found = agents.call(host, request, answer!(Reply::Checked(found) => found))?;
    let named = |problem: Problem| Problem { what: format!("{whose}{}", problem.what), ..problem };
    Ok(found.into_iter().map(named).collect())
}

/// Watchers see which run this is, and where it stands.
pub fn begins(directory: &RunDirectory, screen: &Screen) -> Result<(), Failure> {
    let cells = standings::of(directory)?;
    screen.publish(|live| {
        live.run = directory.name();
        live.question.clone_from(&directory.plan().question);
        live.learn(cells);
    });
    Ok(())
}
