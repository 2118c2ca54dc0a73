//! An objective, or a demand, that must be met in every place: what meets it everywhere, and where it stands worst.

use analysis::{Analysis, Candidate, DecidedBy, Meets, OverallCandidate, WorkloadAnswer, prices_decide};

use super::judged::{Judged, is_only, the_cheapest, the_only_one};
use super::{capacity, doubts, objective, places};
use crate::figures::listed;

/// Configurations that are reported one by one.
const SHOWN: usize = 3;

/// Why to run this: what it keeps everywhere, the numbers of its worst place, and what cheaper ones miss.
pub fn why(analysis: &Analysis, run: &str) -> String {
    let all = &analysis.recommendation.everywhere;
    let Some(ours) = all.iter().find(|one| one.configuration == run) else {
        return "it meets the objective in every place".to_owned();
    };
    let others = || all.iter().filter(|one| one.configuration != run);
    // Cheaper than what has no price is not known.
    let is_priced = |one: &OverallCandidate| one.meets != Meets::No && one.usd_per_month.is_some();
    let by_money = ours.usd_per_month.is_some() && others().any(is_priced);
    let judged: Vec<Judged<'_>> = all.iter().map(Into::into).collect();
    let is_only = is_only(&judged, run);
    let bounds = bounds(analysis, true);
    let claim = match (is_only, by_money) {
        (true, _) => format!("{} that {bounds}", the_only_one(analysis, &judged)),
        (false, true) => the_cheapest(analysis, run, &judged, &bounds),
        (false, false) => format!("it {bounds}"),
    };
    let cost = |one: &OverallCandidate| one.usd_per_month.unwrap_or(f64::INFINITY);
    let misses = others().filter(|one| one.meets == Meets::No && (is_only || cost(one) <= cost(ours)));
    let misses = misses.rev().take(SHOWN);
    let misses = misses.filter_map(|one| {
        let (place, candidate) = worst(analysis, one)?;
        let numbers = numbers(analysis, place, candidate, &|meets| meets == Meets::No);
        Some(format!("{} does not{} ({numbers})", one.configuration, at(analysis, place)))
    });
    let own = worst(analysis, ours).map(|(place, candidate)| {
        let numbers = numbers(analysis, place, candidate, &|_| true);
        format!("at its worst{} {numbers}", at(analysis, place))
    });
    let numbers: Vec<String> = own.into_iter().chain(misses).collect();
    format!("{claim}: {}", numbers.join("; "))
}

/// What is not shown, where no cheapest one is: of each that might meet it everywhere, its worst place.
pub fn open(analysis: &Analysis) -> Option<String> {
    let all = &analysis.recommendation.everywhere;
    let sure = all.iter().position(|one| one.meets == Meets::Yes);
    // Without prices none of them is before another.
    let by_money = prices_decide(all.iter().map(|one| (one.usd_per_month, one.meets)));
    let before = &all[..sure.filter(|_| by_money).unwrap_or(all.len())];
    let open: Vec<&OverallCandidate> = before.iter().filter(|one| one.meets == Meets::NotDecided).collect();
    if open.is_empty() {
        return None;
    }
    let of = |one: &&OverallCandidate| {
        let (place, candidate) = worst(analysis, one)?;
        let reason = match objective::withheld(analysis, place, &one.configuration) {
            Some(why) => doubts::withheld(analysis, &[(one.configuration.clone(), why)]),
            None if place.by == DecidedBy::Capacity => capacity::carried(analysis, place, &one.configuration),
            None => objective::open_parts(analysis, place, candidate).join(", "),
        };
        Some(format!("{}{} ({reason})", one.configuration, at(analysis, place)))
    };
    let each: Vec<String> = open.iter().take(SHOWN).filter_map(of).collect();
    let more = sure.map_or_else(String::new, |sure| format!("; {} does", all[sure].configuration));
    let who = match open.as_slice() {
        [only] => only.configuration.clone(),
        _ => "each".to_owned(),
    };
    let of_model = match analysis.recommendation.places.first().map(|place| place.by) {
        Some(DecidedBy::Capacity) => capacity::at_full_scale(analysis),
        _ => objective::of_model(analysis, open.iter().filter_map(|one| Some(worst(analysis, one)?.1))),
    };
    Some(format!("whether {who} {} is not shown: {}{more}{of_model}", bounds(analysis, false), listed(each)))
}

/// What is asked, in all places: `keeps p99 at most 10 ms at 1,000/s under all 2 workloads`; where it was measured, if
/// it is shown.
fn bounds(analysis: &Analysis, is_shown: bool) -> String {
    let all = &analysis.recommendation.places;
    let Some(first) = all.first() else { return String::new() };
    let is_one_load = all.iter().all(|place| place.load == first.load);
    let is_one_workload = all.iter().all(|place| place.workload == first.workload);
    let n = all.len();
    let places = match (is_one_workload, is_one_load) {
        (false, true) => format!("under all {n} workloads"),
        (true, false) => format!("at all {n} rates"),
        _ => format!("in all {n} places"),
    };
    let asked = match (first.by, is_shown) {
        (DecidedBy::Capacity, _) => {
            format!("carries {} at {}", capacity::demanded(analysis), crate::capacity::bounds(analysis))
        }
        (_, true) => objective::bounds_here(analysis, first, is_one_load),
        (_, false) => objective::bounds(first, is_one_load),
    };
    format!("{asked} {places}")
}

/// The place where a configuration stands worst.
fn worst<'a>(analysis: &'a Analysis, one: &OverallCandidate) -> Option<(&'a WorkloadAnswer, &'a Candidate)> {
    let is_worst = |place: &&WorkloadAnswer| place.workload == one.worst_workload && place.load == one.worst_load;
    let place = analysis.recommendation.places.iter().find(is_worst)?;
    let candidate = place.candidates.iter().find(|c| c.configuration == one.configuration)?;
    Some((place, candidate))
}

fn at(analysis: &Analysis, place: &WorkloadAnswer) -> String {
    places::at(analysis, &place.workload, place.load)
}

fn numbers(
    analysis: &Analysis,
    place: &WorkloadAnswer,
    candidate: &Candidate,
    meets: &dyn Fn(Meets) -> bool,
) -> String {
    match place.by {
        DecidedBy::Capacity => capacity::carried(analysis, place, &candidate.configuration),
        _ => objective::parts(analysis, place, candidate, meets).join(", "),
    }
}
