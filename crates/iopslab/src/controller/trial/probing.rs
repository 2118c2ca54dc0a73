//! A search for the highest rate: one restored database, loaded for a short time at one rate after the other.

use std::collections::BTreeMap;
use std::time::Instant;

use ::evidence::{OperationKind, ProbeLatency, RateProbe, Series, Validity};
use analysis::{LatencyFigures, Step};
use archive::{JournalEvent, RunDirectory};
use experiment::{CEILING_IN_FLIGHT, Cell, Job, LoadLevel, PlannedTrial, Round, Search, rounded};
use wire::{ClientRequest, Event, Reply, Request};

use super::clients::{self, Measured};
use super::database::{ended, parts_of, prepare, start, stop, task};
use super::live::LiveFigures;
use super::rest;
use super::state::TrialState;
use crate::controller::agents::{Agents, HostFailure, gravest, unexpected};
use crate::controller::hosts;
use crate::controller::journal::note;
use crate::controller::target::Target;
use crate::failure::Failure;
use crate::machine;
use crate::progress::Screen;

/// Databases that are started for one search at most: one may be lost.
const STARTS: u32 = 3;

/// Goes on with a search until it has come to rates for whole trials, or to none. What it tries stands in the journal
/// before the next is tried.
pub fn search(
    directory: &RunDirectory,
    agents: &mut Agents,
    search: &Search,
    target: &Target,
    label: &str,
    screen: &mut Screen,
) -> Result<Round, Failure> {
    let plan = directory.plan();
    let missing = || Failure::work(format!("plan.json is not whole: {} has no objective", search.id));
    let objective = plan.objective.as_ref().ok_or_else(missing)?;
    let poisson = plan.search.as_ref().is_none_or(|search| search.poisson);
    let mut probes = directory.probes().map_err(Failure::work)?;
    probes.retain(|probe| probe.search == search.id);
    let mut session: Option<Session> = None;
    let mut starts = 0;
    let rates = loop {
        let load = match analysis::next_step(objective, &probes) {
            Step::Measure(rates) => break rates,
            Step::Nothing => break Vec::new(),
            Step::Ceiling => LoadLevel::Concurrency(CEILING_IN_FLIGHT.max(plan.clients)),
            Step::Probe(operations_per_s) => LoadLevel::Rate {
                operations_per_s,
                poisson,
            },
        };
        screen.about(label);
        let mut open = match session.take() {
            Some(open) => open,
            None => {
                starts += 1;
                Session::begin(directory.job(), agents, search, target, screen)?
            }
        };
        let number = probes.len() as u32 + 1;
        match open.probe(directory.job(), agents, (search, number, load), target, screen)? {
            Ok(probe) => {
                screen.say(&format!("{label}: {}", reported(&probe, plan.scale)));
                note(directory, JournalEvent::Probed(probe.clone()))?;
                probes.push(probe);
                session = Some(open);
            }
            Err(reason) => {
                open.end(directory.job(), agents, search, screen)?;
                screen.say(&format!("{label}: {reason}; once more on a restored copy"));
                if starts == STARTS {
                    return Err(
                        Failure::work(format!("{STARTS} databases were lost in the search: {reason}")).help(format!(
                            "remove the cause, then: iopslab run --resume {}",
                            directory.path().display()
                        )),
                    );
                }
            }
        }
    };
    if let Some(open) = session {
        open.end(directory.job(), agents, search, screen)?;
    }
    let rates = rates.into_iter().map(|rate| rounded(rate * plan.scale)).collect();
    Ok(Round {
        search: search.id.clone(),
        round: 1,
        rates,
    })
}

/// A probe for people.
fn reported(probe: &RateProbe, scale: f64) -> String {
    let offered = match probe.load {
        LoadLevel::Concurrency(n) => format!("{n} in flight"),
        LoadLevel::Rate { operations_per_s, .. } => format!("{:.0}/s", operations_per_s * scale),
    };
    let worst = probe.response.iter().max_by(|a, b| a.1.p99.total_cmp(&b.1.p99));
    let p99 = worst.map_or_else(String::new, |(kind, l)| {
        format!(", {} p99 {:.2} ms", kind.name(), l.p99 / 1e3)
    });
    format!(
        "{offered}: {:.0} op/s{p99}, {} errors",
        probe.completed_per_s() * scale,
        probe.failed
    )
}

/// A database that was started for a search.
struct Session {
    state: TrialState,
}

impl Session {
    fn begin(
        job: &Job,
        agents: &mut Agents,
        search: &Search,
        target: &Target,
        screen: &mut Screen,
    ) -> Result<Self, Failure> {
        let (planned, cell) = (planned(search, 1), cell(search, LoadLevel::Concurrency(1)));
        let parts = parts_of(job, &planned, &cell)?;
        prepare(agents, job, parts.setup, screen)?;
        let mut state = TrialState::new();
        state.clocks_at_start = agents.clocks(&hosts::of_trial(parts.plan, parts.setup))?;
        start(agents, parts, &mut state, screen)?;
        rest::bring(agents, parts, target, &mut state, screen)?;
        Ok(Self { state })
    }

    /// Loads the database for a short time; or why it could not be done, which another database may do.
    fn probe(
        &mut self,
        job: &Job,
        agents: &mut Agents,
        (search, number, load): (&Search, u32, LoadLevel),
        target: &Target,
        screen: &mut Screen,
    ) -> Result<Result<RateProbe, String>, Failure> {
        let state = &mut self.state;
        if let Validity::Invalid { reason, .. } = &state.validity {
            return Ok(Err(reason.clone()));
        }
        let (planned, cell) = (planned(search, number), cell(search, load));
        let parts = parts_of(job, &planned, &cell)?;
        let shape = job.plan.shape.of_probe(number == 1);
        let whole = wire::TrialTask {
            shape,
            seed: job.plan.seed.wrapping_add(u64::from(number) << 16),
            ..task(parts, target, state)
        };
        let clients = hosts::clients_of(parts.plan, parts.setup);
        let tasks = clients::tasks(
            &whole,
            &clients,
            machine::unix_ms(),
            |client| state.offset_ms(client),
            |client| hosts::database_cpus(parts.setup, client, agents),
        );
        let request = |(client, task)| (client, Request::Client(ClientRequest::Trial(Box::new(task))));
        let mut figures = LiveFigures::default();
        let mut death = None;
        let began = Instant::now();
        screen.doing("connecting the client", "");
        let answers = agents.converse(tasks.into_iter().map(request).collect(), &mut |host, event| {
            match event {
                Event::Second(second) => figures.second(host, second, &shape, screen),
                Event::DatabaseDied { how, log_tail } => death = death.take().or(Some((host, how, log_tail))),
                Event::Progress(progress) => screen.doing(&progress.doing, ""),
                Event::Sample(_) | Event::AtWork | Event::Reply(_) => {}
            }
            death.is_none()
        })?;
        tracing::info!(seconds = began.elapsed().as_secs_f64(), number, "a probe has ended");
        if let Some((host, how, log_tail)) = death {
            ended(state, parts.setup, host, &how, log_tail);
            return Ok(Err(how));
        }
        let mut results = BTreeMap::new();
        let mut host_failures = Vec::new();
        for (client, answer) in answers {
            match answer {
                Ok(Reply::Trial(result)) => drop(results.insert(client, *result)),
                Ok(other) => return Err(unexpected(&other)),
                Err(host_failure) => host_failures.push((client, host_failure)),
            }
        }
        if let Some((client, host_failure)) = gravest(host_failures) {
            return Ok(Err(match host_failure {
                HostFailure::ClientLost(how) => how,
                HostFailure::Request(error) => format!("the {client} failed: {}", error.message),
            }));
        }
        let measured = Measured::of(results, |client| state.offset_ms(client)).map_err(Failure::work)?;
        let nothing = || Failure::work("a client agent does not answer");
        Ok(Ok(of(search, number, load, measured.ok_or_else(nothing)?)?))
    }

    fn end(self, job: &Job, agents: &mut Agents, search: &Search, screen: &mut Screen) -> Result<(), Failure> {
        let (planned, cell) = (planned(search, 1), cell(search, LoadLevel::Concurrency(1)));
        stop(agents, parts_of(job, &planned, &cell)?.setup, false, screen).map(drop)
    }
}

fn planned(search: &Search, number: u32) -> PlannedTrial {
    PlannedTrial {
        block: number,
        cell: search.id.clone(),
    }
}

fn cell(search: &Search, load: LoadLevel) -> Cell {
    Cell {
        id: search.id.clone(),
        configuration: search.configuration.clone(),
        workload: search.workload.clone(),
        load,
    }
}

/// What is kept of a probe.
fn of(search: &Search, number: u32, load: LoadLevel, measured: Measured) -> Result<RateProbe, Failure> {
    let result = measured
        .result
        .ok_or_else(|| Failure::work("a client measured nothing"))?;
    let latency = |kind: &OperationKind| {
        let own = measured
            .intervals
            .iter()
            .filter(|i| i.series == Series::Response(*kind));
        let merged = own
            .map(|interval| interval.histogram.clone())
            .reduce(|mut all, histogram| {
                // Histograms of equal bounds always add.
                let _ = all.add(&histogram);
                all
            })?;
        let figures = LatencyFigures::of(&merged);
        let latency = ProbeLatency {
            mean: figures.mean,
            p50: figures.p50,
            p95: figures.p95,
            p99: figures.p99,
            p999: figures.p999,
        };
        (!merged.is_empty()).then_some((*kind, latency))
    };
    Ok(RateProbe {
        search: search.id.clone(),
        number,
        load,
        seconds: result.measured_s,
        sent: result.operations_sent,
        completed: result.completed.values().sum(),
        failed: result.errors.values().sum(),
        response: OperationKind::ALL.iter().filter_map(latency).collect(),
    })
}
