//! `rate = "find"`: the run finds the rates that its trials measure, and measures more where they do not suffice.

use archive::{JournalEvent, RunDirectory};
use experiment::{Round, Search, rounded};

use super::agents::Agents;
use super::journal::note;
use super::target::Target;
use super::trial;
use crate::failure::Failure;
use crate::measured::Measured;
use crate::progress::Screen;

/// Does what is missing of all searches; `may_take` refuses one of so many seconds that there is no money for. Returns the run with the trials that they came to.
pub fn through(
    directory: &RunDirectory,
    agents: &mut Agents,
    target: &Target,
    may_take: &dyn Fn(f64) -> Result<(), Failure>,
    screen: &mut Screen,
) -> Result<RunDirectory, Failure> {
    let rounds = directory.rounds().map_err(Failure::work)?;
    let searches = directory.plan().search.as_ref().map_or(&[][..], |plan| &plan.searches);
    for (number, search) in searches.iter().enumerate() {
        if rounds.iter().any(|round| round.search == search.id) {
            continue;
        }
        may_take(directory.plan().seconds_of_search(search))?;
        let label = format!("[search {} of {}] {}", number + 1, searches.len(), search.id);
        let round = trial::search(directory, agents, search, target, &label, screen)?;
        screen.say(&format!("{label}: {}", reported(&round)));
        note(directory, JournalEvent::Round(round))?;
    }
    directory.grown().map_err(Failure::work)
}

/// After all trials: the run with another round, where an end of a capacity is not shown. `None` where nothing is left
/// to show.
pub fn more(directory: &RunDirectory, screen: &mut Screen) -> Result<Option<RunDirectory>, Failure> {
    let plan = directory.plan();
    let Some(search) = &plan.search else { return Ok(None) };
    let measured = Measured::read(directory)?;
    let analysis = analysis::analyse(&measured.evidence(directory));
    let mut any = false;
    for (search, capacity) in search.searches.iter().zip(&analysis.capacities) {
        let had = analysis::rounds_of(plan, search);
        let rates = analysis::another_round(capacity, had);
        if rates.is_empty() {
            continue;
        }
        let round = next(search, had + 1, &rates);
        screen.say(&format!("{}: {}", search.id, reported(&round)));
        note(directory, JournalEvent::Round(round))?;
        any = true;
    }
    if any {
        return directory.grown().map(Some).map_err(Failure::work);
    }
    let searches = search.searches.iter().map(|search| search.id.clone()).collect();
    note(directory, JournalEvent::Searched { searches })?;
    Ok(None)
}

fn next(search: &Search, round: u32, rates: &[f64]) -> Round {
    Round {
        search: search.id.clone(),
        round,
        rates: rates.iter().map(|rate| rounded(*rate)).collect(),
    }
}

fn reported(round: &Round) -> String {
    let rates: Vec<String> = round.rates.iter().map(|rate| format!("{rate}/s")).collect();
    match rates.is_empty() {
        true => "nothing meets the objective".to_owned(),
        false => format!("whole trials at {}", rates.join(", ")),
    }
}
