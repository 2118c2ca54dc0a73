//! Nodes of an existing cluster that are watched outside of any run: their agents look, and nothing else.

use std::collections::BTreeMap;

use evidence::HostId;
use experiment::WatchedNode;
use profile::{HostSeen, Moment};
use wire::{DatabaseRequest, Event, GivenByMachine, Reply, Request, WatchTask};

use super::agents::Agents;
use super::failure::{Failure, answer};
use super::greeting::greet_each;

/// Nodes that are watched, with what was seen of them so far.
pub struct Observing {
    agents: Agents,
    seen: BTreeMap<HostId, HostSeen>,
}

impl Observing {
    /// Starts the agents, finds the node of each machine, and has it sampled once a second. Its database listens on one
    /// of these ports.
    ///
    /// # Errors
    /// A machine cannot be reached, or its node cannot be found.
    pub fn begin(mut agents: Agents, nodes: &[WatchedNode], ports: &[u16]) -> Result<Self, Failure> {
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
        let mut observing = Self { seen: found.into_iter().map(nothing).collect(), agents };
        let given = observing.ask(&Request::Database(DatabaseRequest::Observe))?;
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

    /// Takes what was sampled until now.
    ///
    /// # Errors
    /// An agent is lost; what was seen before stays.
    pub fn take(&mut self) -> Result<(), Failure> {
        self.ask(&Request::Clock).map(drop)
    }

    /// Ends the agents, and gives what they saw; with why that is not all.
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
    fn ask(&mut self, request: &Request) -> Result<BTreeMap<HostId, Reply>, Failure> {
        let requests = self.seen.keys().map(|host| (*host, request.clone())).collect();
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
        answers.into_iter().map(|(host, answer)| Ok((host, answer?))).collect()
    }
}
