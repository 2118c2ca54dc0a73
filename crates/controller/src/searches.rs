//! `rate = "find"`: the run finds the rates that its trials measure, and measures more where they do not suffice.

use archive::{JournalEvent, RunDirectory};
use experiment::{Round, Search, rounded};

use super::run::Run;
use super::run_failure::Result;
use super::trial;
use super::wished::heed;
use crate::measured::Measured;

/// Does what is missing of all searches. Returns the run with the trials that they came to.
pub(super) fn through(run: &mut Run<'_>) -> Result<RunDirectory> {
    let (directory, plan) = (run.directory, run.plan());
    let rounds = directory.rounds()?;
    let left = plan.expected_trials().len() + directory.remaining()?.len();
    let searches = plan.search.as_ref().map_or(&[][..], |search| &search.searches);
    for (number, search) in searches.iter().enumerate() {
        if rounds.iter().any(|round| round.search == search.id) {
            continue;
        }
        heed(run, left)?;
        run.check_money(plan.seconds_of_search(search), left)?;
        let label = format!("[search {} of {}] {}", number + 1, searches.len(), search.id);
        let round = trial::search(run, search, &label)?;
        run.say(&format!("{label}: {}", reported(&round)));
        run.note(JournalEvent::Round(round))?;
    }
    Ok(directory.grown()?)
}

/// After all trials: the run with another round, where an end of a capacity is not shown. `None` where nothing is left
/// to show.
pub(super) fn more(run: &Run<'_>) -> Result<Option<RunDirectory>> {
    let (directory, plan) = (run.directory, run.plan());
    let Some(search) = &plan.search else { return Ok(None) };
    let measured = Measured::read(directory)?;
    let analysis = analysis::judge(&measured.evidence(directory));
    let mut any = false;
    for (search, capacity) in search.searches.iter().zip(&analysis.capacities) {
        let had = analysis::rounds_of(plan, search);
        let rates = analysis::another_round(capacity, had);
        if rates.is_empty() {
            continue;
        }
        let round = next(search, had + 1, &rates);
        run.say(&format!("{}: {}", search.id, reported(&round)));
        run.note(JournalEvent::Round(round))?;
        any = true;
    }
    if any {
        return Ok(Some(directory.grown()?));
    }
    let searches = search.searches.iter().map(|search| search.id.clone()).collect();
    run.note(JournalEvent::Searched { searches })?;
    Ok(None)
}

fn next(search: &Search, round: u32, rates: &[f64]) -> Round {
    Round { search: search.id.clone(), round, rates: rates.iter().map(|rate| rounded(*rate)).collect() }
}

fn reported(round: &Round) -> String {
    let rates: Vec<String> = round.rates.iter().map(|rate| format!("{rate}/s")).collect();
    match rates.is_empty() {
        true => "nothing meets the objective".to_owned(),
        false => format!("whole trials at {}", rates.join(", ")),
    }
}
