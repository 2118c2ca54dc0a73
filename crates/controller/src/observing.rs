//! Nodes of an existing cluster that are watched outside of any run: their agents look, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use evidence::HostId;
use experiment::WatchedNode;
use profile::{HostSeen, Moment};
use wire::{DatabaseRequest, Event, GivenByMachine, Reply, Request, WatchTask};

use super::agents::Agents;
use super::greeting::greet_each;
use super::progress::Screen;
use super::run_failure::{Failure, Result, answer};

/// Nodes that are watched, with what was seen of them so far.
pub struct Observing {
    agents: Agents,
    seen: BTreeMap<HostId, HostSeen>,
    /// Those that were lost: they are asked nothing more.
    gone: BTreeSet<HostId>,
}

/// Says that machines are not watched any more, on the screen and in what was seen of each.
pub fn not_watched_any_more(failure: &Failure, seen: &mut [HostSeen], screen: &Screen) {
    let (names, why): (Vec<&str>, String) = (seen.iter().map(|of| of.host.as_str()).collect(), failure.message());
    screen.say(&format!("warning: not watched any more: {}: {why}; what was seen until then counts", names.join(", ")));
    for host in seen {
        let at = |sample: Option<&Moment>| sample.map_or(0, |sample| sample.unix_ms);
        let minutes = (at(host.samples.last()) - at(host.samples.first())) as f64 / 60_000.0;
        host.missing.push(format!("its device after {minutes:.1} minutes: {why}"));
    }
}

impl Observing {
    /// Starts the agents, finds the node of each machine, and has it sampled once a second. Its database listens on one
    /// of these ports. Errors: a machine cannot be reached, or its node cannot be found.
    pub fn begin(mut agents: Agents, nodes: &[WatchedNode], ports: &[u16]) -> Result<Self> {
        let hosts: Vec<HostId> = nodes.iter().map(|node| HostId::database(node.host)).collect();
        greet_each(&mut agents, &hosts)?;
        let task = |node: &WatchedNode| WatchTask { node: node.clone(), ports: ports.to_vec(), commitlog: false };
        let watch = |node| Request::Database(DatabaseRequest::Watch(task(node)));
        let requests = nodes.iter().map(|node| (HostId::database(node.host), watch(node))).collect();
        let found = agents.call_all(requests, answer!(Reply::Watched(facts) => facts))?;
        let names: BTreeMap<HostId, &String> =
            nodes.iter().map(|node| (HostId::database(node.host), &node.ssh)).collect();
        let nothing = |(host, facts): (HostId, wire::WatchedFacts)| {
            let seen = HostSeen {
                host: names.get(&host).map_or_else(String::new, |name| (*name).clone()),
                what: facts.what,
                missing: facts.missing,
                cpus: facts.cpus,
                memory_bytes: 0,
                samples: Vec::new(),
                agent_cpu: None,
            };
            (host, seen)
        };
        let seen = found.into_iter().map(nothing).collect();
        let mut observing = Self { seen, agents, gone: BTreeSet::new() };
        let given = observing.ask(&Request::Database(DatabaseRequest::Observe))?;
        // From here on one that is lost is no reason to look at no other.
        observing.agents.each_for_itself = true;
        let read = answer!(Reply::Observing(given) => given);
        for (host, reply) in given {
            let GivenByMachine { cpus, memory_bytes } = read(reply)?;
            if let Some(seen) = observing.seen.get_mut(&host) {
                (seen.cpus, seen.memory_bytes) = (cpus, memory_bytes);
            }
        }
        Ok(observing)
    }

    /// What is watched, for people.
    pub fn hosts(&self) -> impl Iterator<Item = &HostSeen> {
        self.seen.values()
    }

    /// Takes what was sampled until now. A machine that was lost meanwhile is named, and the others are watched on.
    /// Errors: an agent says what nobody has asked for; what was seen before stays.
    pub fn take(&mut self) -> Result<()> {
        self.ask(&Request::Clock).map(drop)
    }

    /// Ends the agents, and gives what they saw; with why that is not all of any of them.
    pub fn end(mut self) -> (Vec<HostSeen>, Option<Failure>) {
        let ended = self.ask(&Request::Database(DatabaseRequest::EndObservation));
        let read = answer!(Reply::Observed(observed) => observed);
        let failure = match ended {
            Ok(replies) => {
                for (host, reply) in replies {
                    let (Ok(observed), Some(seen)) = (read(reply), self.seen.get_mut(&host)) else { continue };
                    seen.agent_cpu = observed.agent_cpu_s.map(|cpu_s| (cpu_s, observed.seconds));
                }
                None
            }
            Err(failure) => Some(failure),
        };
        self.agents.close();
        self.agents.screen.clear();
        (self.seen.into_values().collect(), failure)
    }

    /// Ends the agents after one was lost, and gives what they saw.
    pub fn given_up(mut self) -> Vec<HostSeen> {
        self.agents.close();
        self.agents.screen.clear();
        self.seen.into_values().collect()
    }

    /// Asks every agent the same, and keeps what they say meanwhile and have said before.
    fn ask(&mut self, request: &Request) -> Result<BTreeMap<HostId, Reply>> {
        // Asked once more, a lost one would have a new agent, which watches nothing.
        for (host, of) in &mut self.seen {
            if self.agents.is_lost(*host) && self.gone.insert(*host) {
                let how = "its agent is gone".to_owned();
                let failure = Failure::HostLost { how, help: None, may_come_back: true };
                not_watched_any_more(&failure, std::slice::from_mut(of), &self.agents.screen);
            }
        }
        let watched = self.seen.keys().filter(|host| !self.gone.contains(host));
        let requests = watched.map(|host| (*host, request.clone())).collect();
        let seen = &mut self.seen;
        let answers = self.agents.converse(requests, &mut |host, event| {
            let Some(of) = seen.get_mut(&host) else { return Ok(()) };
            match event {
                Event::Sample(sample) => of.samples.push(Moment::from(&*sample)),
                Event::DatabaseDied { how, .. } => of.missing.push(format!("its CPU time from then on: {how}")),
                _ => {}
            }
            Ok(())
        })?;
        let mut replies = BTreeMap::new();
        for (host, answer) in answers {
            match (answer, self.seen.get_mut(&host)) {
                (Ok(reply), _) => drop(replies.insert(host, reply)),
                (Err(failure @ Failure::HostLost { .. }), Some(of)) if self.agents.each_for_itself => {
                    not_watched_any_more(&failure, std::slice::from_mut(of), &self.agents.screen);
                    self.gone.insert(host);
                }
                (Err(failure), _) => return Err(failure),
            }
        }
        Ok(replies)
    }
}
