//! Why a place is not decided, and the steps that keep it open.

use analysis::{
    Analysis, AnswerOutcome, BestOfAlike, DecidedBy, Metric, Provider, Reason, Status, ValueOfMoney, ValueVerdict,
    Withheld, WorkloadAnswer,
};

use super::objective::TOO_FEW;
use super::{capacity, doubts, durability, objective, places, repetitions, steps};
use crate::figures::{given_percent, listed, number, when};
use crate::labels;

/// Places that are named one by one; the rest stands in `analysis.json`.
const SHOWN: usize = 4;

/// The places that the headline does not tell: those that are not decided, where others are, or where the headline
/// tells the first of them.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    let recommendation = &analysis.recommendation;
    let skipped = match (recommendation.status, recommendation.reason) {
        // What meets an objective in every place leaves none open.
        (Status::Decided, _) if !recommendation.everywhere.is_empty() => return Vec::new(),
        (Status::Decided, _) | (Status::NotDecided, Reason::Depends) => 0,
        (Status::NotDecided, Reason::Undecided) if is_partly(analysis) || !recommendation.everywhere.is_empty() => 0,
        (Status::NotDecided, Reason::Undecided | Reason::Agreement) => 1,
        // The headline tells them all.
        _ => return Vec::new(),
    };
    let all = open(analysis);
    let left = all.len().saturating_sub(skipped + SHOWN);
    let reported = all.into_iter().skip(skipped).take(SHOWN);
    let mut sentences: Vec<String> =
        reported.map(|(names, why)| format!("Not decided for {}: {why}.", listed(names))).collect();
    if left > 0 {
        sentences.push(format!("{left} more are not decided: recommendation.places in analysis.json."));
    }
    sentences
}

/// Whether some places say what to run, and others are open.
pub fn is_partly(analysis: &Analysis) -> bool {
    let mut places = analysis.recommendation.places.iter();
    places.any(|place| matches!(place.outcome, AnswerOutcome::Run { .. }))
}

/// The places that are not decided, those with the same reason together.
pub fn open(analysis: &Analysis) -> Vec<(Vec<String>, String)> {
    let places = analysis.recommendation.places.iter();
    let open = places.filter(|p| !matches!(p.outcome, AnswerOutcome::Run { .. }));
    places::grouped(open.map(|p| (places::name(analysis, &p.workload, p.load), undecided(analysis, p))).collect())
}

/// Why a place is not decided.
pub fn undecided(analysis: &Analysis, place: &WorkloadAnswer) -> String {
    match &place.outcome {
        AnswerOutcome::Run { configuration, .. } => format!("run {configuration}"),
        AnswerOutcome::Between { .. } | AnswerOutcome::NoneMeets if place.by == DecidedBy::Capacity => {
            capacity::open(analysis, place)
        }
        AnswerOutcome::Between { .. } => {
            format!("{}{}", between(analysis, place), objective::others_miss(analysis, place))
        }
        AnswerOutcome::Unlike { best } => unlike(analysis, place, best),
        AnswerOutcome::Withheld { configurations } => {
            let why = doubts::withheld(analysis, configurations);
            match configurations
                .iter()
                .all(|(_, why)| matches!(why, Withheld::NotAtRest { .. } | Withheld::Sick { .. }))
            {
                true => why,
                false => format!("what was measured is not the storage: {why}"),
            }
        }
        AnswerOutcome::TooFew { .. } => TOO_FEW.to_owned(),
        AnswerOutcome::Nothing => one_configuration(analysis),
        AnswerOutcome::NoneMeets => none_meets(analysis, place),
        AnswerOutcome::NoObjective if analysis.provider == Provider::Imported => RATE_ALONE.to_owned(),
        AnswerOutcome::NoObjective => format!(
            "{RATE_ALONE}; state what is good enough, such as p99_ms = 10 in [objective] of the experiment file"
        ),
        AnswerOutcome::AllLostWrites => "every configuration lost acknowledged writes".to_owned(),
    }
}

/// Why there is nothing to choose.
pub fn one_configuration(analysis: &Analysis) -> String {
    match analysis.configurations.len() {
        0 | 1 => "there is only one configuration, so that there is nothing to choose".to_owned(),
        _ => "fewer than two configurations could be judged".to_owned(),
    }
}

/// The steps of a place.
pub fn here<'a>(analysis: &'a Analysis, place: &WorkloadAnswer) -> impl Iterator<Item = &'a ValueOfMoney> {
    let (workload, load) = (place.workload.clone(), place.load);
    analysis.value_of_money.iter().filter(move |s| s.workload == workload && Some(s.load) == load)
}

/// The step that keeps a place open: between two of its contenders, one that costs money first, then one that is not
/// decided, then the leader's.
pub fn decisive<'a>(analysis: &'a Analysis, place: &WorkloadAnswer) -> Option<&'a ValueOfMoney> {
    let AnswerOutcome::Between { configurations, .. } = &place.outcome else { return None };
    let leader = configurations.first()?;
    let contends = |name: &String| configurations.contains(name);
    let mut steps: Vec<&ValueOfMoney> =
        here(analysis, place).filter(|s| s.withheld.is_none() && contends(&s.from) && contends(&s.to)).collect();
    let rank = |s: &ValueOfMoney| {
        let open = match s.verdict {
            ValueVerdict::NotDecided => 0,
            ValueVerdict::BreakEven => 1,
            _ => 2,
        };
        let is_free = s.extra_usd_per_month == 0.0;
        (is_free, open, s.from != *leader && s.to != *leader)
    };
    steps.sort_by_key(|s| rank(s));
    steps.first().copied()
}

/// Why nothing is preferred to what keeps more when a node is lost.
fn unlike(analysis: &Analysis, place: &WorkloadAnswer, best: &[BestOfAlike]) -> String {
    let is_best = |name: &String| best.iter().any(|best| best.configurations.contains(name));
    let across = |s: &&ValueOfMoney| is_best(&s.from) && is_best(&s.to) && durability::differ(analysis, &s.from, &s.to);
    let step = here(analysis, place).filter(|s| s.withheld.is_none()).find(across);
    let numbers =
        step.map_or_else(String::new, |step| format!("; {} gives {}", step.to, steps::gain(analysis, &[step], false)));
    format!(
        "what a lost node costs differs, and no speed or price weighs it: {}{numbers} ([decision] durability \
         = \"ignore\" chooses all the same)",
        durability::each(analysis, best).join("; ")
    )
}

/// Why a place lies between several configurations.
fn between(analysis: &Analysis, place: &WorkloadAnswer) -> String {
    let AnswerOutcome::Between { configurations, break_even, alike, repetitions } = &place.outcome else {
        return String::new();
    };
    let names = listed(configurations);
    let open = objective::open(analysis, place);
    let numbers = match (decisive(analysis, place), place.by) {
        _ if !open.is_empty() => format!(": {open}"),
        (Some(step), _) => format!(": {} gives {}", step.to, steps::gain(analysis, &[step], false)),
        (None, DecidedBy::Throughput) => ranking(analysis, place, configurations),
        _ => String::new(),
    };
    let is_cheapest_asked = place.by == DecidedBy::Objective && !objective::is_by_value(place);
    if is_cheapest_asked && open.is_empty() {
        let bounds = objective::bounds_here(analysis, place, true);
        return format!("each of {names} {bounds}, and what they cost is not known");
    }
    let margin = given_percent(analysis.margin);
    if *break_even {
        let more = match repetitions {
            Some(n) => repetitions::would_decide(analysis, *n),
            // One that is shown to miss a bound leaves the others.
            None if !open.is_empty() && !objective::are_at_bound(analysis, place, configurations) => String::new(),
            None if are_apart(analysis, place, configurations) => "; more repetitions would not decide".to_owned(),
            None => steps::NONE_WOULD.to_owned(),
        };
        return format!("{names} pay for themselves alike within {margin}{numbers}{more}");
    }
    let is_bound = decisive(analysis, place).is_some_and(|step| step.throughput_ratio.bound.is_some());
    let nearly = decisive(analysis, place).filter(|step| steps::looks_break_even(analysis, step));
    // Beside the numbers of one step its own repetitions, not those that a neighbour needs.
    let own = decisive(analysis, place).and_then(|step| step.repetitions_to_decide);
    let more = match (repetitions, open.is_empty(), own) {
        (Some(n), true, Some(own)) if own < *n => format!(
            "{}, and about {n} repetitions what else is open {}",
            repetitions::would_decide(analysis, own),
            repetitions::in_new_runs(analysis, *n)
        ),
        (Some(n), ..) => repetitions::would_decide(analysis, *n),
        (None, true, Some(own)) => {
            format!("{}, and no affordable number what else is open", repetitions::would_decide(analysis, own))
        }
        (None, true, None) if is_bound => String::new(),
        (None, false, _) if !objective::are_at_bound(analysis, place, configurations) => String::new(),
        (None, ..) => match nearly.filter(|_| open.is_empty()) {
            Some(step) => format!(
                "; if that is the truth, more repetitions would only show that {} and {} pay for themselves alike",
                step.to, step.from
            ),
            None => steps::NONE_WOULD.to_owned(),
        },
    };
    let alike = match (alike.as_slice(), configurations.first()) {
        ([], _) | (_, None) => String::new(),
        (alike, Some(leader)) => {
            format!("; {} pay for themselves alike within {margin}", listed(std::iter::once(leader).chain(alike)))
        }
    };
    match configurations.as_slice() {
        [_] if !open.is_empty() => format!("{open}{more}{alike}"),
        [only] => format!("{only} leads, and an answer takes more than two trials of each{more}"),
        _ => format!("the choice is between {names}{numbers}{more}{alike}"),
    }
}

/// Whether two of these are shown to differ in throughput by more than the margin, so that no repetitions show that all
/// of them are the same.
fn are_apart(analysis: &Analysis, place: &WorkloadAnswer, configurations: &[String]) -> bool {
    let most = 1.0 + analysis.margin;
    let contends = |name: &String| configurations.contains(name);
    let mut steps = here(analysis, place).filter(|s| contends(&s.from) && contends(&s.to));
    steps.any(|s| s.throughput_ratio.low > most || s.throughput_ratio.high < 1.0 / most)
}

/// Throughput against the best, where prices are missing.
fn ranking(analysis: &Analysis, place: &WorkloadAnswer, configurations: &[String]) -> String {
    let decision = analysis
        .decision
        .iter()
        .find(|d| d.workload == place.workload && Some(d.load) == place.load && d.metric == Metric::Throughput);
    let Some(decision) = decision else { return String::new() };
    let others: Vec<String> = decision
        .ranking
        .iter()
        .filter(|r| r.configuration != decision.best && configurations.contains(&r.configuration))
        .map(|r| {
            let best = labels::throughput_of(&decision.best);
            format!("{} gives {} times {best}", r.configuration, number(r.to_best))
        })
        .collect();
    when(!others.is_empty(), || format!(": {}", listed(&others)))
}

fn none_meets(analysis: &Analysis, place: &WorkloadAnswer) -> String {
    let bounds = objective::bounds_here(analysis, place, false);
    format!("no configuration {bounds}{}", objective::misses(analysis, place))
}

/// A given rate without an objective.
const RATE_ALONE: &str = "at a given rate throughput says nothing about value, because every configuration \
     that holds the rate has the same";
