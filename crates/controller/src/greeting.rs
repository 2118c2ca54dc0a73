//! Agents are started and greeted.

use evidence::{Environment, HostId};
use experiment::Job;
use wire::{Reply, Request};

use super::agents::Agents;
use super::hosts;
use super::run_failure::{Result, answer};

/// A clock that is further off than this is worth a word, milliseconds.
const CLOCK_WARNING_MS: f64 = 50.0;

/// Starts and greets the agents; returns the facts about their hosts. A clock that is far off is reported.
pub fn greet(agents: &mut Agents, job: &Job) -> Result<Vec<(HostId, Environment)>> {
    agents.work_on(hosts::work(job));
    greet_each(agents, &hosts::all(job))
}

/// The same of these hosts.
pub(super) fn greet_each(agents: &mut Agents, hosts: &[HostId]) -> Result<Vec<(HostId, Environment)>> {
    agents.start(hosts)?;
    let hello = |host: &HostId| {
        let protocol = wire::PROTOCOL;
        (*host, Request::Hello { protocol })
    };
    let greeted = answer!(Reply::Hello { environment, .. } => *environment);
    let facts = agents.call_all(hosts.iter().map(hello).collect(), greeted)?;
    for (host, clock) in agents.clocks(hosts)? {
        if clock.offset_ms.abs() > CLOCK_WARNING_MS + clock.round_trip_ms / 2.0 {
            agents.screen.say(&format!(
                "warning: the clock of {host} is {:.0} ms off this machine's; its samples are placed by the difference",
                clock.offset_ms
            ));
        }
    }
    Ok(facts.into_iter().collect())
}
