//! Objectives in words: what was asked, how each configuration stands, and what more of a cheap one would cost.

use analysis::{
    Analysis, AnswerOutcome, Candidate, Check, Criterion, DecidedBy, IntervalMethod, Meets, Metric, Range, Verdict,
    Withheld, WorkloadAnswer, each_once,
};

use super::judged::{Judged, all_judged, is_only, the_cheapest, the_only_one};
use super::{doubts, places};
use crate::figures::{given, given_percent, listed, ms, number, percent, when};
use crate::labels;

/// Why nothing is tested.
pub const TOO_FEW: &str = "fewer than three valid repetitions of each cell, so that nothing can be tested";
/// Configurations that miss the objective and are named one by one.
const MISSES: usize = 3;

/// What was asked, as something that a configuration does: `keeps p99 at most 10 ms and carries 5,000/s with headroom`.
pub fn bounds(place: &WorkloadAnswer, at_rate: bool) -> String {
    let mut parts = each_once(place.candidates.iter().flat_map(|c| &c.checks).filter_map(part));
    if parts.is_empty() {
        parts.push("meets the objective".to_owned());
    }
    let rate = place.load.filter(|_| at_rate).map_or_else(String::new, |l| format!(" at {}", labels::load(l)));
    format!("{}{rate}", listed(parts))
}

/// One part of what was asked; `None` of the rate, which is said with the load.
fn part(check: &Check) -> Option<String> {
    match check.what {
        Criterion::Latency { figure, limit_us, .. } => {
            Some(format!("keeps {} at most {} ms", labels::latency(None, figure), given(limit_us / 1e3)))
        }
        Criterion::ErrorShare { limit } => Some(format!("keeps errors at most {}", given_percent(limit))),
        Criterion::RateHeld => None,
        Criterion::Throughput { demand } => Some(format!("carries {}/s with headroom", given(demand))),
    }
}

/// The same of what is shown: a bound on latency is met or missed where it was measured, `... in the 1:16 model`.
pub fn bounds_here(analysis: &Analysis, place: &WorkloadAnswer, at_rate: bool) -> String {
    let mut checks = place.candidates.iter().flat_map(|c| &c.checks);
    let is_bounded = checks.any(|check| matches!(check.what, Criterion::Latency { .. }));
    format!("{}{}", bounds(place, at_rate), when(is_bounded, || labels::in_model(analysis.scale)))
}

/// Why a bound that these miss in the model is not decided, as a clause; empty where that is not so.
pub fn of_model<'a>(analysis: &Analysis, candidates: impl IntoIterator<Item = &'a Candidate>) -> String {
    let is_of_model = |check: &Check| check.beyond().is_some_and(|(low, _)| low <= analysis.scale);
    let mut checks = candidates.into_iter().flat_map(|c| &c.checks);
    when(checks.any(is_of_model), || {
        format!(
            "; the {} model does not decide a latency above its bound by less than a factor of {}: latency bounds need \
             scale 1:1 (or existing hosts)",
            labels::scale(analysis.scale),
            given(analysis.scale)
        )
    })
}

/// What was measured for one part: `read p99 8.10 ms (7.40 to 8.90, 98.75 % interval)`.
fn measured(analysis: &Analysis, place: &WorkloadAnswer, candidate: &Candidate, check: &Check) -> Option<String> {
    let range = check.measured?;
    let observed = is_range(analysis, place, &candidate.configuration);
    let with = |level: Option<f64>, show: &dyn Fn(f64) -> String, unit: &str| {
        let level = level.map_or_else(String::new, |level| format!(", {} interval", confidence(level)));
        interval(&range, observed, &level, show, unit)
    };
    Some(match check.what {
        Criterion::Latency { operation, figure, .. } => {
            format!("{} {}", labels::latency(operation, figure), with(check.level, &ms, " ms"))
        }
        Criterion::ErrorShare { .. } => format!("errors {}", percent(range.median)),
        Criterion::RateHeld => format!("{}/s completed", number(range.median)),
        Criterion::Throughput { demand } => {
            let is_held = |c: &Check| matches!((c.what, c.meets), (Criterion::RateHeld, Meets::Yes));
            let is_least = candidate.checks.iter().any(is_held);
            let is_open = is_least && check.meets == Meets::NotDecided && range.median < demand;
            let rate = analysis.objective.as_ref().and_then(|o| o.rate_to_offer()).filter(|_| is_open);
            let offer = rate.map(|rate| format!(", as the offered rate was held: offer {}/s or more", given(rate)));
            format!(
                "capacity less headroom {}{}{}{}",
                if is_least { "at least " } else { "" },
                with(None, &number, "/s"),
                labels::estimated(analysis),
                offer.unwrap_or_default()
            )
        }
    })
}

/// How sure an interval is that misses the truth in this share of experiments, rounded down: `98.75 %`.
fn confidence(level: f64) -> String {
    // 0.975 x 10,000 is 9,749.999...
    format!("{} %", ((1.0 - level) * 1e4 + 1e-6).floor() / 100.0)
}

/// An interval wider than this factor from end to end says no more than that it is wide.
const WIDE: f64 = 100.0;

fn interval(range: &Range, observed: bool, level: &str, show: &dyn Fn(f64) -> String, unit: &str) -> String {
    let middle = format!("{}{unit}", show(range.median));
    let (low, high) = (show(range.low), show(range.high));
    match (low == high, observed) {
        (true, _) => middle,
        _ if range.high > range.low * WIDE => format!("{middle}, not known within a factor of {}", given(WIDE)),
        (false, false) => format!("{middle} ({low} to {high}{level})"),
        (false, true) => format!("{middle} ({low} to {high} observed)"),
    }
}

/// What was measured of a configuration in a place instead of storage.
pub fn withheld(analysis: &Analysis, place: &WorkloadAnswer, configuration: &str) -> Option<Withheld> {
    let mut cells = analysis.cells_at(&place.workload, place.load).filter(|c| c.configuration == configuration);
    cells.find_map(|cell| cell.withheld)
}

/// Whether figures of a configuration carry an observed range only, because repetitions are too few.
fn is_range(analysis: &Analysis, place: &WorkloadAnswer, configuration: &str) -> bool {
    let mut cells = analysis.cells_at(&place.workload, place.load).filter(|c| c.configuration == configuration);
    cells.any(|c| c.throughput_ops_per_s.is_some_and(|t| t.method == IntervalMethod::Range))
}

/// The parts of a candidate that stand as asked, in words.
pub fn parts(
    analysis: &Analysis,
    place: &WorkloadAnswer,
    candidate: &Candidate,
    meets: &dyn Fn(Meets) -> bool,
) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for check in candidate.checks.iter().filter(|c| meets(c.meets)) {
        let text = match (check.what, check.meets) {
            (Criterion::RateHeld, Meets::Yes) => None,
            (Criterion::Throughput { .. } | Criterion::Latency { .. }, _) if check.measured.is_none() => {
                Some("no figure".to_owned())
            }
            (Criterion::RateHeld, _) => Some("it does not hold the rate".to_owned()),
            _ => measured(analysis, place, candidate, check),
        };
        all.extend(text.filter(|t| !all.contains(t)));
    }
    all
}

/// What is open of a candidate: the parts that are not decided. What it misses while this machine held it back it might
/// meet where it is bought.
pub fn open_parts(analysis: &Analysis, place: &WorkloadAnswer, candidate: &Candidate) -> Vec<String> {
    let mut cells = analysis.cells_at(&place.workload, place.load);
    let held_back = cells.find_map(|c| c.limited_here.filter(|_| c.configuration == candidate.configuration));
    match held_back.filter(|_| candidate.checks.iter().any(|check| check.meets == Meets::No)) {
        Some(by) => {
            let mut all = parts(analysis, place, candidate, &|m| m != Meets::Yes);
            all.push(format!("while this machine's {} limited it", by.words()));
            all
        }
        None => parts(analysis, place, candidate, &|m| m == Meets::NotDecided),
    }
}

/// Why a place says to run this, and the numbers that show it: `it is the cheapest that keeps p99 at most 10 ms at
/// 5,000/s`, `read p99 8.10 ms (7.40 to 8.90); gp2-960 does not (read p99 52.0 ms)`.
pub fn why(analysis: &Analysis, place: &WorkloadAnswer, run: &str) -> (String, String) {
    let Some(ours) = place.candidates.iter().find(|c| c.configuration == run) else {
        return ("it meets the objective".to_owned(), String::new());
    };
    let others: Vec<&Candidate> = place.candidates.iter().filter(|c| c.configuration != run).collect();
    let by_value = is_by_value(place);
    let judged: Vec<Judged<'_>> = place.candidates.iter().map(Into::into).collect();
    let is_only = is_only(&judged, run);
    let bounds = bounds_here(analysis, place, !by_value);
    let money = when(place.by_money, || " for its money".to_owned());
    let claim = match (is_only, by_value) {
        (true, _) => format!("{} that {bounds}", the_only_one(analysis, &judged)),
        _ if others.is_empty() => format!("it {bounds}"),
        (_, true) => {
            let bounds = bounds.replace("keeps ", "keep ").replace("carries ", "carry ").replace("meets ", "meet ");
            let of = match all_judged(analysis, &judged, place.by_money) {
                true => "of all that",
                false => "of those judged that",
            };
            match place.outcome.any().is_empty() {
                true => format!("it gives the most throughput{money} {of} {bounds}"),
                false => format!("no other hardware gives as much throughput{money} {of} {bounds}"),
            }
        }
        _ if place.has_cheapest() => the_cheapest(analysis, run, &judged, &bounds),
        _ => format!("it {bounds}"),
    };
    let cheaper = |c: &&&Candidate| is_only || cost(c) <= cost(ours);
    let misses = others.iter().filter(|c| c.meets == Meets::No).filter(cheaper).rev().take(MISSES);
    let misses: Vec<String> = misses.map(|c| missed(analysis, place, c)).collect();
    let numbers = parts(analysis, place, ours, &|_| true).join(", ");
    let both: Vec<String> = [numbers, misses.join(", ")].into_iter().filter(|t| !t.is_empty()).collect();
    (claim, both.join("; "))
}

/// A closed loop with bounds: among those that meet them, throughput for money decides.
pub fn is_by_value(place: &WorkloadAnswer) -> bool {
    place.by == DecidedBy::Objective && matches!(place.load, Some(analysis::LoadLevel::Concurrency(_)))
}

fn cost(candidate: &Candidate) -> f64 {
    candidate.usd_per_month.unwrap_or(f64::INFINITY)
}

fn missed(analysis: &Analysis, place: &WorkloadAnswer, candidate: &Candidate) -> String {
    let numbers = parts(analysis, place, candidate, &|m| m == Meets::No);
    format!("{} does not ({})", candidate.configuration, numbers.join(", "))
}

/// The nearest misses, where none meets it: the most expensive first.
pub fn misses(analysis: &Analysis, place: &WorkloadAnswer) -> String {
    let rate = place.load.map_or_else(String::new, |l| format!(" at {}", labels::load(l)));
    let all: Vec<String> = place
        .candidates
        .iter()
        .rev()
        .take(MISSES)
        .map(|c| {
            let mut numbers = parts(analysis, place, c, &|m| m == Meets::No);
            if numbers.is_empty() {
                numbers = parts(analysis, place, c, &|_| true);
            }
            format!("{} {}", c.configuration, numbers.join(", "))
        })
        .collect();
    if all.is_empty() { rate } else { format!("{rate} ({})", all.join("; ")) }
}

/// Who is no contender in a closed loop, because a bound is missed: `; gp2 misses p99 at most 10 ms (read p99 84.1 ms
/// (80.0 to 88.0))`.
pub fn others_miss(analysis: &Analysis, place: &WorkloadAnswer) -> String {
    let missed = place.candidates.iter().filter(|c| c.meets == Meets::No && is_by_value(place));
    let words = |c: &Candidate| {
        let bounds = c.checks.iter().filter(|check| check.meets == Meets::No).filter_map(part);
        let bounds = listed(each_once(bounds.map(|bound| bound.replace("keeps ", ""))));
        let numbers = parts(analysis, place, c, &|m| m == Meets::No).join(", ");
        let is_latency = |check: &Check| matches!(check.what, Criterion::Latency { .. }) && check.meets == Meets::No;
        let model = when(c.checks.iter().any(is_latency), || labels::in_model(analysis.scale));
        format!("; {} misses {bounds}{model} ({numbers})", c.configuration)
    };
    missed.take(MISSES).map(words).collect()
}

/// What is not shown of the contenders of a place: `whether each keeps p99 at most 10 ms at 5,000/s is not shown:
/// gp2-960 (read p99 9.80 ms (9.10 to 10.6)); memory answered the reads of gp2-320, not storage`.
pub fn open(analysis: &Analysis, place: &WorkloadAnswer) -> String {
    let AnswerOutcome::Between { configurations, .. } = &place.outcome else { return String::new() };
    let open: Vec<&Candidate> = place
        .candidates
        .iter()
        .filter(|c| configurations.contains(&c.configuration) && c.meets == Meets::NotDecided)
        .collect();
    let why_withheld = |c: &Candidate| withheld(analysis, place, &c.configuration);
    let withheld: Vec<(String, Withheld)> =
        open.iter().filter_map(|c| Some((c.configuration.clone(), why_withheld(c)?))).collect();
    let measured: Vec<String> = open
        .iter()
        .filter(|c| why_withheld(c).is_none())
        .take(MISSES)
        .map(|c| format!("{} ({})", c.configuration, open_parts(analysis, place, c).join(", ")))
        .collect();
    if withheld.is_empty() && !open.is_empty() && open.iter().all(|c| is_range(analysis, place, &c.configuration)) {
        return format!("{TOO_FEW}; observed: {}", listed(&measured));
    }
    let mut reasons = Vec::new();
    if !measured.is_empty() {
        reasons.push(listed(&measured));
    }
    if !withheld.is_empty() {
        reasons.push(doubts::withheld(analysis, &withheld));
    }
    let of_model = of_model(analysis, open.iter().copied());
    match (open.as_slice(), reasons.is_empty()) {
        ([], _) | (_, true) => String::new(),
        ([only], _) => {
            let reason = match withheld.is_empty() {
                true => open_parts(analysis, place, only).join(", "),
                false => reasons.join("; "),
            };
            format!("whether {} {} is not shown: {reason}{of_model}", only.configuration, bounds(place, true))
        }
        (_, _) => format!("whether each {} is not shown: {}{of_model}", bounds(place, true), reasons.join("; ")),
    }
}

/// Whether contenders of a place lie so near a bound that no affordable number of repetitions would show on which side,
/// and nothing else is missing.
pub fn are_at_bound(analysis: &Analysis, place: &WorkloadAnswer, configurations: &[String]) -> bool {
    let is_held = |c: &Candidate| c.checks.iter().any(|check| matches!(check.what, Criterion::RateHeld));
    let is_at = |c: &Candidate, check: &Check| {
        let bound = match check.what {
            Criterion::Latency { limit_us, .. } if analysis.scale == 1.0 => limit_us,
            Criterion::Throughput { demand } if !is_held(c) => demand,
            _ => return false,
        };
        let holds = check.measured.is_some_and(|range| (range.low..=range.high).contains(&bound));
        holds && check.level.is_some() && check.meets == Meets::NotDecided && check.repetitions.is_none()
    };
    let is_contender = |c: &&Candidate| c.meets == Meets::NotDecided && configurations.contains(&c.configuration);
    let is_sound = |c: &&Candidate| {
        let here = analysis.cells_at(&place.workload, place.load);
        let mut cells = here.filter(|cell| cell.configuration == c.configuration);
        cells.all(|cell| cell.withheld.is_none() && cell.limited_here.is_none())
    };
    let mut open = place.candidates.iter().filter(is_contender).filter(is_sound);
    open.any(|c| c.checks.iter().any(|check| is_at(c, check)))
}

/// More of a cheap configuration where none carries the demand; latencies where no objective was stated.
pub fn alternatives(analysis: &Analysis) -> Vec<String> {
    let mut sentences = Vec::new();
    for place in &analysis.recommendation.places {
        match place.outcome {
            AnswerOutcome::NoneMeets => sentences.extend(fleet(analysis, place)),
            AnswerOutcome::NoObjective => sentences.extend(latencies(analysis, place)),
            _ => {}
        }
    }
    sentences
}

/// The cheapest number of machines that would carry the demand.
fn fleet(analysis: &Analysis, place: &WorkloadAnswer) -> Option<String> {
    let fleets = place.candidates.iter().filter_map(|c| Some((c, c.fleet?)));
    let (candidate, fleet) = fleets.min_by(|a, b| a.1.usd_per_month.total_cmp(&b.1.usd_per_month))?;
    Some(format!(
        "{} x {} would carry the demand{} for {} a month together, provided that throughput grows with their number.",
        fleet.count,
        candidate.configuration,
        places::at(analysis, &place.workload, place.load),
        labels::usd(fleet.usd_per_month)
    ))
}

/// p99 at a given rate, best first.
fn latencies(analysis: &Analysis, place: &WorkloadAnswer) -> Option<String> {
    let load = place.load?;
    let here = |d: &&analysis::Decision| d.workload == place.workload && d.load == load && d.metric == Metric::P99;
    let decision = analysis.decision.iter().find(here)?;
    let all: Vec<String> = decision
        .ranking
        .iter()
        .map(|r| {
            let kind = r.operation.map_or_else(String::new, |k| format!(" ({})", labels::operation(k)));
            let shown = match r.verdict {
                Verdict::Reference => String::new(),
                verdict => format!(", {} times, {}", number(r.to_best), verdict.words()),
            };
            format!("{} {} ms{kind}{shown}", r.configuration, ms(r.value))
        })
        .collect();
    let withheld: Vec<(String, Withheld)> = analysis
        .cells_at(&place.workload, Some(load))
        .filter_map(|c| Some((c.configuration.clone(), c.withheld?)))
        .collect();
    let held = when(!withheld.is_empty(), || format!(" But {}.", doubts::withheld(analysis, &withheld)));
    let name = places::name(analysis, &place.workload, Some(load));
    let of = if name.is_empty() { labels::load(load) } else { name };
    Some(format!("p99 of the worst operation kind, {of}: {}.{held}", all.join("; ")))
}
