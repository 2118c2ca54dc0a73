//! The headline: what to run and the numbers that decide it, or what keeps it from being decided.

use analysis::{
    Analysis, AnswerOutcome, ConfigurationFacts, DecidedBy, Reason, Status, ValueOfMoney, ValueVerdict, WorkloadAnswer,
    grouped,
};

use super::baseline::ToBaseline;
use super::judged::WITHOUT_PRICES;
use super::objective::TOO_FEW;
use super::undecided::{decisive, here, one_configuration};
use super::{baseline, capacity, durability, everywhere, objective, places, ratio, steps, undecided};
use crate::figures::{count, given_percent, listed};
use crate::labels;

/// Steps that are decided in an open place and printed with it; the table has them all.
const SURE: usize = 3;

/// The reason of the headline, and the steps whose numbers it tells.
pub struct Headline<'a> {
    /// What follows `Run X:`, without a full stop.
    pub because: String,
    /// Steps that need not be repeated.
    pub reported: Vec<&'a ValueOfMoney>,
}

/// Words the reason of the recommendation.
pub fn headline(analysis: &Analysis) -> Headline<'_> {
    let recommendation = &analysis.recommendation;
    let mut reported = Vec::new();
    let because = match (&recommendation.run, recommendation.reason) {
        (Some(run), _) if recommendation.status == Status::Decided => {
            let because = match recommendation.everywhere.is_empty() {
                true => {
                    let deciding: Vec<&WorkloadAnswer> =
                        recommendation.places.iter().filter(|p| runs(p, run)).collect();
                    reason(analysis, run, &deciding, true, &mut reported)
                }
                false => everywhere::why(analysis, run),
            };
            match durability::differences(analysis, run) {
                Some(differences) => format!("{because}; {differences}"),
                None => because,
            }
        }
        (_, Reason::NothingMeasured) => "no trial has been measured".to_owned(),
        (_, Reason::TooFewValidTrials) => {
            let trials = analysis.trials;
            format!("only {} of {} planned trials are valid", count(trials.valid), count(trials.planned))
        }
        (_, Reason::TooFewRepetitions) => {
            let needed = recommendation
                .would_decide
                .map_or_else(String::new, |w| format!("; {} repetitions of each cell are needed", w.repetitions));
            format!("{TOO_FEW}{needed}")
        }
        (_, Reason::OneConfiguration) => one_configuration(analysis),
        (_, Reason::Depends) => depends(analysis, &mut reported),
        _ => match everywhere::open(analysis) {
            Some(open) => open,
            None if undecided::is_partly(analysis) => by_place(analysis, &mut reported).1,
            None => open(analysis, &mut reported),
        },
    };
    Headline { because: from_cold_start(analysis, because), reported }
}

/// Where all trials began with a cold page cache, the answer is about that.
fn from_cold_start(analysis: &Analysis, because: String) -> String {
    let is_answered = analysis.recommendation.status == Status::Decided;
    let begins_cold = analysis.workloads.iter().all(|workload| workload.begins_cold);
    match is_answered && begins_cold && !analysis.workloads.is_empty() {
        true => format!("from a cold start, {because}"),
        false => because,
    }
}

/// Whether a place says to run this.
pub fn runs(place: &WorkloadAnswer, run: &str) -> bool {
    match &place.outcome {
        AnswerOutcome::Run { same, .. } => place.outcome.may_run(run) || same.iter().any(|s| s == run),
        _ => false,
    }
}

/// A reason with its numbers; places that share a reason share its words.
struct Clause {
    claim: String,
    numbers: String,
    at: String,
}

/// Why these places say to run this.
fn reason<'a>(
    analysis: &'a Analysis,
    run: &str,
    places: &[&WorkloadAnswer],
    with_places: bool,
    reported: &mut Vec<&'a ValueOfMoney>,
) -> String {
    let mut gains: Vec<&ValueOfMoney> = Vec::new();
    let mut above: Vec<&ValueOfMoney> = Vec::new();
    let mut others: Vec<Clause> = Vec::new();
    for place in places {
        let clause = |(claim, numbers): (String, String)| Clause {
            claim,
            numbers,
            at: places::at(analysis, &place.workload, place.load),
        };
        match (place.by, &place.outcome) {
            (DecidedBy::Capacity, _) => others.push(clause(capacity::why(analysis, place, run))),
            (DecidedBy::Objective, _) => others.push(clause(objective::why(analysis, place, run))),
            (_, AnswerOutcome::Run { configuration, .. }) if !place.outcome.may_run(run) => {
                let margin = given_percent(analysis.margin);
                let claim = format!("it gives the same throughput as {configuration} within {margin}");
                others.push(clause((claim, String::new())));
            }
            (DecidedBy::Writes, _) => others.push(clause((ONLY_ONE.to_owned(), String::new()))),
            (DecidedBy::Throughput, _) => others.push(clause(fastest(analysis, place, run))),
            (DecidedBy::Value, _) => match step_to(analysis, place, run) {
                Some(step) => gains.push(step),
                None => match step_above(analysis, place, run) {
                    Some(step) => above.push(step),
                    None => others.push(clause((
                        format!("{}, and {}", cheapest(analysis, run), nothing_dearer(analysis, place, run)),
                        String::new(),
                    ))),
                },
            },
        }
    }
    reported.extend(gains.iter().chain(&above).copied());
    // A step from the baseline says it already.
    let is_from_baseline = |place: &ToBaseline<'_>| {
        let is_here = |step: &&ValueOfMoney| step.workload == *place.workload && step.load == place.load;
        gains.iter().any(|step| step.from == analysis.baseline && is_here(step))
    };
    let mut beside = baseline::ratios(analysis, run, places.iter().copied());
    beside.retain(|place| !is_from_baseline(place));
    let mut clauses: Vec<String> = baseline::clause(analysis, run, &beside, with_places).into_iter().collect();
    clauses.extend(steps::alike(gains).iter().map(|group| steps::gain(analysis, group, with_places)));
    if !above.is_empty() {
        let next: Vec<String> =
            steps::alike(above).iter().map(|group| steps::sentence(analysis, group, with_places)).collect();
        clauses.push(format!("{}, and {}", cheapest(analysis, run), next.join("; ")));
    }
    clauses.extend(joined(others, with_places && places.len() > 1));
    clauses.join("; ")
}

/// Said where no other is left.
const ONLY_ONE: &str = "it is the only configuration that lost no acknowledged write";

/// Said of the cheapest of those that were judged; what another without a price costs is not known.
fn cheapest(analysis: &Analysis, run: &str) -> &'static str {
    let usd = baseline::usd(analysis, run).unwrap_or(0.0);
    match analysis.configurations.iter().any(|c| c.usd_per_month.is_none_or(|other| other < usd)) {
        true => "no other that was judged costs less",
        false => "no other costs less",
    }
}

/// Said where no step up from what is run has a verdict. What was not judged may give more.
fn nothing_dearer(analysis: &Analysis, place: &WorkloadAnswer, run: &str) -> &'static str {
    let usd = baseline::usd(analysis, run).unwrap_or(0.0);
    let is_judged = |c: &&ConfigurationFacts| {
        let cell = place.load.and_then(|load| analysis.cell(&c.name, &place.workload, load));
        c.usd_per_month.is_some() && cell.is_some_and(|cell| cell.valid_trials > 0 && cell.withheld.is_none())
    };
    let is_dearer = |c: &&ConfigurationFacts| c.usd_per_month.is_none_or(|other| other > usd);
    let (judged, left): (Vec<&ConfigurationFacts>, Vec<&ConfigurationFacts>) =
        analysis.configurations.iter().filter(is_dearer).partition(is_judged);
    match (judged.is_empty(), left.is_empty()) {
        (true, _) => "nothing more expensive was judged",
        (false, true) => "nothing more expensive gives more for its money",
        (false, false) => "nothing more expensive that was judged gives more for its money",
    }
}

/// One text for each claim, with the numbers of its places.
fn joined(clauses: Vec<Clause>, with_places: bool) -> Vec<String> {
    let groups = grouped(clauses.into_iter().map(|clause| (clause.claim.clone(), clause)));
    let is_only = groups.len() == 1;
    groups
        .into_iter()
        .map(|(claim, members)| {
            let at = |c: &Clause| if with_places { c.at.clone() } else { String::new() };
            let numbers: Vec<String> =
                members.iter().filter(|c| !c.numbers.is_empty()).map(|c| format!("{}{}", c.numbers, at(c))).collect();
            match (numbers.is_empty(), is_only) {
                (false, _) => format!("{claim}: {}", numbers.join("; ")),
                (true, true) => claim,
                (true, false) => format!("{claim}{}", listed(members.iter().map(at))),
            }
        })
        .collect()
}

fn step_to<'a>(analysis: &'a Analysis, place: &WorkloadAnswer, run: &str) -> Option<&'a ValueOfMoney> {
    // Settings cost nothing: what they give is no reason to pay for their hardware.
    let hardware = &analysis.recommendation.hardware;
    here(analysis, place).find(|s| s.to == run && !hardware.contains(&s.from))
}

/// The first step above the cheapest: one that is not worth it tells more than one that is dominated; one to other
/// hardware more than one of its settings.
fn step_above<'a>(analysis: &'a Analysis, place: &WorkloadAnswer, run: &str) -> Option<&'a ValueOfMoney> {
    let rank = |s: &ValueOfMoney| match s.verdict {
        ValueVerdict::NotWorthIt | ValueVerdict::BreakEven => Some(0),
        ValueVerdict::Same => Some(1),
        ValueVerdict::Dominated => Some(2),
        ValueVerdict::WorthIt | ValueVerdict::NotDecided => None,
    };
    let hardware = &analysis.recommendation.hardware;
    let is_run = |name: &str| name == run || place.outcome.may_run(name);
    let above = here(analysis, place).filter(|s| is_run(&s.from) && !is_run(&s.to) && s.withheld.is_none());
    above.filter_map(|s| Some(((hardware.contains(&s.to), rank(s)?), s))).min_by_key(|(rank, _)| *rank).map(|(_, s)| s)
}

/// Without prices: the fastest.
fn fastest(analysis: &Analysis, place: &WorkloadAnswer, run: &str) -> (String, String) {
    let cell = place.load.and_then(|load| analysis.cell(run, &place.workload, load));
    let ratio = cell.and_then(|c| {
        let other = |r: &&analysis::Ratio| r.to != run;
        let to_slowest = || c.ratio_to_slowest.as_ref().filter(other);
        c.ratio_to_baseline.as_ref().filter(other).or_else(to_slowest)
    });
    let factor = ratio.map_or_else(String::new, |r| {
        format!("{} {}{}", ratio::times(r), labels::throughput_of(&r.to), ratio::beyond([r]))
    });
    let same = match &place.outcome {
        AnswerOutcome::Run { configuration, same, .. } if configuration == run && !same.is_empty() => {
            let give = if same.len() == 1 { "gives" } else { "give" };
            format!(" ({} {give} the same within {})", listed(same), given_percent(analysis.margin))
        }
        _ => String::new(),
    };
    let any = place.outcome.any();
    let is_other = |name: &String| !any.contains(name);
    let fastest = match &place.outcome {
        _ if any.is_empty() && same.is_empty() => "it has the highest throughput",
        _ if any.is_empty() => "no other is shown to have a higher throughput",
        AnswerOutcome::Run { same, .. } if same.iter().any(is_other) => "no other hardware has a higher throughput",
        _ => "no other hardware has its throughput",
    };
    (format!("{fastest}{WITHOUT_PRICES}"), format!("{factor}{same}"))
}

/// Different answers for different places.
fn depends<'a>(analysis: &'a Analysis, reported: &mut Vec<&'a ValueOfMoney>) -> String {
    let (on, answers) = by_place(analysis, reported);
    match analysis.recommendation.everywhere.is_empty() {
        true => format!("it depends on {on}: {answers}"),
        false => format!("no configuration meets the objective in every place: {answers}"),
    }
}

/// What the answer differs by, and that of each place.
fn by_place<'a>(analysis: &'a Analysis, reported: &mut Vec<&'a ValueOfMoney>) -> (&'static str, String) {
    let all = &analysis.recommendation.places;
    let answer = |p: &WorkloadAnswer| match &p.outcome {
        AnswerOutcome::Run { configuration, .. } => match p.outcome.any() {
            [] => format!("run {configuration}"),
            any => format!("run {configuration} or {}", any.join(" or ")),
        },
        _ => undecided::undecided(analysis, p),
    };
    let uniform = |same: fn(&WorkloadAnswer, &WorkloadAnswer) -> bool| {
        let pairs = || all.iter().flat_map(|a| all.iter().map(move |b| (a, b)));
        pairs().filter(|(a, b)| same(a, b)).all(|(a, b)| answer(a) == answer(b))
    };
    let by_workload = uniform(|a, b| a.workload == b.workload);
    let on = if by_workload {
        "the workload"
    } else if uniform(|a, b| a.load == b.load) {
        "the load"
    } else {
        "workload and load"
    };
    let groups = grouped(all.iter().map(|place| (answer(place), place)));
    let mut clauses: Vec<String> = Vec::new();
    let mut undecided: Vec<String> = Vec::new();
    for (text, members) in groups {
        let mut names: Vec<String> =
            members.iter().map(|p| places::name(analysis, &p.workload, p.load.filter(|_| !by_workload))).collect();
        names.dedup();
        match &members[0].outcome {
            AnswerOutcome::Run { configuration, .. } => {
                let with_places = !by_workload || members.len() > 1;
                let why = reason(analysis, configuration, &members, with_places, reported);
                clauses.push(format!("for {} {text} ({why})", listed(&names)));
            }
            // The reason stands below.
            _ => {
                reported.extend(members.iter().filter_map(|p| decisive(analysis, p)));
                undecided.extend(names);
            }
        }
    }
    if !undecided.is_empty() {
        clauses.push(format!("for {} it is not decided", listed(&undecided)));
    }
    (on, format!("{}{}", clauses.join("; "), hardware(analysis)))
}

/// What is decided where settings are not: the hardware.
fn hardware(analysis: &Analysis) -> String {
    let first = analysis.recommendation.hardware.first();
    first.map_or_else(String::new, |first| {
        format!("; the hardware is decided, that of {first}: which of its settings is not")
    })
}

/// No place is decided: the first reason here, others in sentences of their own.
fn open<'a>(analysis: &'a Analysis, reported: &mut Vec<&'a ValueOfMoney>) -> String {
    let all = &analysis.recommendation.places;
    reported.extend(all.iter().filter_map(|p| decisive(analysis, p)));
    match undecided::open(analysis).as_slice() {
        [] => "nothing could be judged".to_owned(),
        [(_, only)] if all.len() == 1 => {
            let sure = sure(analysis, &all[0]);
            reported.extend(sure.iter().take(SURE).copied());
            let sure = sure.iter().take(SURE);
            let sure: Vec<String> = sure.map(|s| steps::sentence(analysis, &[*s], false)).collect();
            let sure = if sure.is_empty() { String::new() } else { format!(". Decided is: {}", sure.join("; ")) };
            format!("{only}{}{sure}", hardware(analysis))
        }
        [(_, only)] => format!("{only}{}", hardware(analysis)),
        [(names, first), ..] => format!("for {} {first}{}", listed(names), hardware(analysis)),
    }
}

/// Steps into the contenders of an open place that are decided all the same: whichever of them it will be, this much is
/// worth it.
fn sure<'a>(analysis: &'a Analysis, place: &WorkloadAnswer) -> Vec<&'a ValueOfMoney> {
    let AnswerOutcome::Between { configurations, .. } = &place.outcome else { return Vec::new() };
    here(analysis, place)
        .filter(|s| {
            s.verdict == ValueVerdict::WorthIt && configurations.contains(&s.to) && !configurations.contains(&s.from)
        })
        .collect()
}
