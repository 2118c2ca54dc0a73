//! What all places say together.
//!
//! An objective, or a demand, must be met in every place by what is run, so that the cheapest that meets it everywhere
//! is run. Throughput for money asks each place by itself: what is run is shown to be the choice in each that could be
//! judged. A place that is open agrees with nothing: with less noise it may want something else.

use experiment::LoadLevel;

use crate::document::{
    AnswerOutcome, Candidate, Check, Criterion, DecidedBy, FleetOf, Meets, OverallCandidate, WorkloadAnswer,
};
use crate::lists::each_once;

/// What a place says of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stance {
    /// It may be run; or nothing is said at all, because storage was not measured there, or nothing stands beside it.
    Run,
    /// Run something else.
    Another,
    /// Neither is shown.
    Open,
}

/// What a place says of running `name`.
pub(super) fn says(place: &WorkloadAnswer, name: &str) -> Stance {
    let is_one = |names: &[String]| names.iter().any(|one| one == name);
    let candidate = place.candidates.iter().find(|c| c.configuration == name);
    match (&place.outcome, candidate.map(|c| c.meets)) {
        (AnswerOutcome::Run { .. }, _) if place.outcome.may_run(name) => Stance::Run,
        // As fast as what is run, which says nothing of the bounds.
        (AnswerOutcome::Run { same, .. }, None | Some(Meets::Yes)) if is_one(same) => Stance::Run,
        (AnswerOutcome::Run { same, .. }, Some(Meets::NotDecided)) if is_one(same) => Stance::Open,
        (AnswerOutcome::Run { .. } | AnswerOutcome::NoneMeets | AnswerOutcome::AllLostWrites, _)
        | (_, Some(Meets::No)) => Stance::Another,
        (_, Some(Meets::NotDecided)) => Stance::Open,
        (AnswerOutcome::Between { configurations, break_even, .. }, _) => match (is_one(configurations), break_even) {
            (true, true) => Stance::Run,
            (true, false) => Stance::Open,
            (false, _) => Stance::Another,
        },
        (AnswerOutcome::Unlike { best }, _) => match best.iter().any(|best| is_one(&best.configurations)) {
            true => Stance::Open,
            false => Stance::Another,
        },
        (AnswerOutcome::TooFew { .. }, _) => Stance::Open,
        (AnswerOutcome::Withheld { .. } | AnswerOutcome::Nothing | AnswerOutcome::NoObjective, _) => Stance::Run,
    }
}

/// How each configuration stands in all places, where the cheapest that meets an objective in each is run; empty where
/// there are no several such places.
pub(super) fn everywhere(all: &[WorkloadAnswer]) -> Vec<OverallCandidate> {
    let is_closed = |place: &WorkloadAnswer| matches!(place.load, Some(LoadLevel::Concurrency(_)));
    let asks = |place: &WorkloadAnswer| {
        matches!(place.by, DecidedBy::Objective | DecidedBy::Capacity) && !place.candidates.is_empty()
    };
    if all.len() < 2 || !all.iter().all(|place| asks(place) && !is_closed(place)) {
        return Vec::new();
    }
    let names = each_once(all.iter().flat_map(|place| &place.candidates).map(|c| c.configuration.as_str()));
    let mut stand: Vec<OverallCandidate> = names.into_iter().filter_map(|name| of_all(all, name)).collect();
    let price = |one: &OverallCandidate| one.usd_per_month.unwrap_or(f64::INFINITY);
    stand.sort_by(|a, b| price(a).total_cmp(&price(b)));
    stand
}

fn of_all(all: &[WorkloadAnswer], name: &str) -> Option<OverallCandidate> {
    let of = |place: &'_ WorkloadAnswer| place.candidates.iter().find(|c| c.configuration == name).cloned();
    let own: Vec<(&WorkloadAnswer, Candidate)> = all.iter().filter_map(|p| Some((p, of(p)?))).collect();
    let (worst, first) = own.iter().max_by(|a, b| strain(&a.1).total_cmp(&strain(&b.1)))?;
    let is_everywhere = own.len() == all.len();
    let meets = match own.iter().any(|(_, c)| c.meets == Meets::No) {
        true => Meets::No,
        false if is_everywhere && own.iter().all(|(_, c)| c.meets == Meets::Yes) => Meets::Yes,
        false => Meets::NotDecided,
    };
    let counts: Option<Vec<u32>> = own.iter().map(|(_, c)| Some(c.fleet?.count)).collect();
    let count = counts.filter(|_| is_everywhere).and_then(|all| all.into_iter().max());
    Some(OverallCandidate {
        configuration: name.to_owned(),
        usd_per_month: first.usd_per_month,
        meets,
        worst_workload: worst.workload.clone(),
        worst_load: worst.load,
        fleet: count.zip(first.usd_per_month).map(|(count, usd)| FleetOf::carrying(f64::from(count), usd)),
    })
}

/// How near a candidate is to its bounds: above 1 it misses one; what misses comes before what is open, and that before
/// what meets.
fn strain(candidate: &Candidate) -> f64 {
    let of_check = |check: &Check| {
        let figure = check.measured.as_ref();
        let share = match check.what {
            Criterion::Latency { limit_us, .. } => figure.map(|range| range.high / limit_us),
            Criterion::ErrorShare { limit } => figure.and_then(|range| stats::ratio(range.high, limit)),
            Criterion::Throughput { demand } => figure.and_then(|range| stats::ratio(demand, range.low)),
            Criterion::RateHeld => None,
        };
        share.filter(|share| share.is_finite()).unwrap_or(0.0)
    };
    let nearest = candidate.checks.iter().map(of_check).fold(0.0, f64::max);
    let rank = match candidate.meets {
        Meets::Yes => 0.0,
        Meets::NotDecided => 1.0,
        Meets::No => 2.0,
    };
    // A share of 1, so that ranks come first.
    rank + nearest / (1.0 + nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two workloads one runs a, and b is as fast; the other runs b: that b keeps the bound of the first is to be
    /// shown before it is the answer to both.
    #[test]
    fn what_is_as_fast_is_run_only_where_it_is_shown_to_keep_the_bounds() {
        let place = |meets: Option<Meets>| {
            let candidate = |meets: Meets| Candidate {
                configuration: "b".to_owned(),
                usd_per_month: None,
                meets,
                checks: Vec::new(),
                fleet: None,
            };
            let same = vec!["b".to_owned()];
            WorkloadAnswer {
                workload: "w".to_owned(),
                load: Some(LoadLevel::Concurrency(64)),
                by: DecidedBy::Objective,
                by_money: false,
                outcome: AnswerOutcome::Run { configuration: "a".to_owned(), same, settings: None },
                candidates: meets.map(candidate).into_iter().collect(),
            }
        };
        let says_of_b = |meets: Option<Meets>| says(&place(meets), "b");
        assert_eq!([says_of_b(None), says_of_b(Some(Meets::Yes))], [Stance::Run; 2], "no bound, or one that is kept");
        assert_eq!(says_of_b(Some(Meets::NotDecided)), Stance::Open);
        assert_eq!(says_of_b(Some(Meets::No)), Stance::Another);
        assert_eq!(says(&place(Some(Meets::NotDecided)), "a"), Stance::Run);
    }
}
