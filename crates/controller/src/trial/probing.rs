//! A search for the highest rate: one restored database, loaded for a short time at one rate after the other.

use std::collections::BTreeMap;
use std::time::Instant;

use ::evidence::{OperationKind, RateProbe, Series, empty_histogram};
use analysis::{SeriesLatency, Step};
use archive::JournalEvent;
use experiment::{Arrivals, CEILING_IN_FLIGHT, Cell, LoadLevel, PlannedTrial, Round, Search, rounded};
use hdrhistogram::Histogram;
use wire::{Event, TrialTask};

use super::clients::Measured;
use super::database::{ended, parts_of, prepare, start, stop, task};
use super::live::LiveFigures;
use super::load::{measured, requests};
use super::pieces::Pieces;
use super::rest;
use super::state::TrialState;
use crate::run::Run;
use crate::run_failure::{Failure, Next, Result};
use crate::{hosts, silence};

/// Databases that are started for one search at most: one may be lost.
const STARTS: u32 = 3;

/// Goes on with a search until it has come to rates for whole trials, or to none. What it tries stands in the journal
/// before the next is tried.
pub fn search(run: &mut Run<'_>, search: &Search, label: &str) -> Result<Round> {
    let plan = run.plan();
    let missing = || Failure::work(format!("plan.json is not whole: {} has no objective", search.id));
    let objective = plan.objective.as_ref().ok_or_else(missing)?;
    let arrivals = plan.search.as_ref().map_or(Arrivals::Poisson, |search| search.arrivals);
    let mut probes = run.directory.probes()?;
    probes.retain(|probe| probe.search == search.id);
    let mut session = None;
    let mut starts = 0;
    let rates = loop {
        let load = match analysis::next_step(objective, &probes) {
            Step::Measure(rates) => break rates,
            Step::Nothing => break Vec::new(),
            Step::Ceiling => LoadLevel::Concurrency(CEILING_IN_FLIGHT.max(plan.clients)),
            Step::Probe(operations_per_s) => LoadLevel::Rate { operations_per_s, arrivals },
        };
        run.agents.screen.about(None, label);
        starts += u32::from(session.is_none());
        let number = probes.len() as u32 + 1;
        match probe(run, search, (number, load), &mut session) {
            Ok(probe) => {
                run.say(&format!("{label}: {}", reported(&probe, plan.scale())));
                run.note(JournalEvent::Probed(probe.clone()))?;
                probes.push(probe);
            }
            Err(failure) if matches!(failure.next(), Next::TrialInvalid(_)) => {
                end(run, search)?;
                session = None;
                let last = failure.message();
                run.say(&format!("{label}: {last}; once more on a restored copy"));
                if starts == STARTS {
                    let run = run.directory.path().to_owned();
                    return Err(Failure::SearchFailed { starts, last, run });
                }
            }
            Err(failure) => return Err(failure),
        }
    };
    if session.is_some() {
        end(run, search)?;
    }
    let rates = rates.into_iter().map(|rate| rounded(rate * plan.scale())).collect();
    Ok(Round { search: search.id.clone(), round: 1, rates })
}

/// A probe for people.
fn reported(probe: &RateProbe, scale: f64) -> String {
    let offered = match probe.load {
        LoadLevel::Concurrency(n) => format!("{n} in flight"),
        LoadLevel::Rate { operations_per_s, .. } => format!("{:.0}/s", operations_per_s * scale),
    };
    let each = probe.response.iter().filter_map(|(kind, of)| Some((kind, of.p99?)));
    let worst = each.max_by(|a, b| a.1.total_cmp(&b.1));
    let p99 = worst.map_or_else(String::new, |(kind, us)| format!(", {} p99 {:.2} ms", kind.name(), us / 1e3));
    format!("{offered}: {:.0} op/s{p99}, {} errors", probe.completed_per_s() * scale, probe.failed)
}

/// Starts a database for a search.
fn begin(run: &mut Run<'_>, search: &Search, state: &mut TrialState) -> Result<()> {
    let (planned, cell) = (planned(search, 1), cell(search, LoadLevel::Concurrency(1)));
    let parts = parts_of(run.job(), &planned, &cell)?;
    prepare(run, parts.setup)?;
    state.clocks_at_start = run.agents.clocks(&hosts::of_trial(parts.plan, parts.setup))?;
    start(run, parts, state)?;
    rest::bring(run, parts, state)
}

/// Loads the database of a session for a short time; starts one where there is none.
fn probe(
    run: &mut Run<'_>,
    search: &Search,
    (number, load): (u32, LoadLevel),
    session: &mut Option<TrialState>,
) -> Result<RateProbe> {
    let is_open = session.is_some();
    let state = session.get_or_insert_with(TrialState::new);
    if !is_open {
        begin(run, search, state)?;
    }
    let (planned, cell) = (planned(search, number), cell(search, load));
    let parts = parts_of(run.job(), &planned, &cell)?;
    let (plan, setup, screen) = (parts.plan, parts.setup, run.agents.screen.clone());
    let (shape, product) = (plan.shape.of_probe(number == 1), plan.target.database.product());
    let whole =
        TrialTask { shape, seed: plan.seed.wrapping_add(u64::from(number) << 16), ..task(parts, &run.target, state) };
    let requests = requests(&whole, parts, state, run.agents);
    let mut figures = LiveFigures::default();
    // A simulation has what came before on the same database as warm-up.
    let mut pieces = Pieces::of(parts.workload, silence::longest_load(&shape).saturating_mul(number));
    let began = Instant::now();
    screen.doing("connecting the client", "");
    let answers = run.agents.converse(requests, &mut |host, event| {
        match event {
            Event::Second(second) => figures.second(host, second, &shape, &screen),
            Event::DatabaseDied { how, log_tail } => return Err(ended(product, setup, host, how, log_tail)),
            Event::Progress(progress) => screen.doing(&progress.doing, ""),
            Event::Piece(piece) => pieces.take(host, *piece)?,
            Event::Sample(_) | Event::AtWork | Event::Reply(_) => {}
        }
        Ok(())
    })?;
    tracing::info!(seconds = began.elapsed().as_secs_f64(), number, "a probe has ended");
    of(search, number, load, measured(answers, pieces, state)?)
}

/// Stops the database of a search.
fn end(run: &mut Run<'_>, search: &Search) -> Result<()> {
    let (planned, cell) = (planned(search, 1), cell(search, LoadLevel::Concurrency(1)));
    let setup = parts_of(run.job(), &planned, &cell)?.setup;
    stop(run, setup, false).map(drop)
}

fn planned(search: &Search, number: u32) -> PlannedTrial {
    PlannedTrial { block: number, cell: search.id.clone() }
}

fn cell(search: &Search, load: LoadLevel) -> Cell {
    Cell { id: search.id.clone(), configuration: search.configuration.clone(), workload: search.workload.clone(), load }
}

/// What is kept of a probe.
fn of(search: &Search, number: u32, load: LoadLevel, measured: Measured) -> Result<RateProbe> {
    let result = measured.result.ok_or_else(|| Failure::work("a client measured nothing"))?;
    let mut responses: BTreeMap<OperationKind, Histogram<u64>> = BTreeMap::new();
    for interval in &measured.intervals {
        if let Series::Response(kind) = interval.series {
            // Histograms of equal bounds always add.
            let _ = responses.entry(kind).or_insert_with(empty_histogram).add(&interval.histogram);
        }
    }
    let measured_some = responses.into_iter().filter(|(_, merged)| !merged.is_empty());
    Ok(RateProbe {
        search: search.id.clone(),
        number,
        load,
        seconds: result.measured_s,
        sent: result.operations_sent,
        completed: result.completed.values().sum(),
        failed: result.errors.values().sum(),
        response: measured_some.map(|(kind, merged)| (kind, SeriesLatency::of(&merged).figures)).collect(),
    })
}
