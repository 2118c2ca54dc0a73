//! Steps of money in words: what a more expensive configuration gives for its price.

use analysis::{Analysis, AnswerOutcome, DecidedBy, Status, ValueOfMoney, ValueVerdict, grouped};

use super::{doubts, durability, places, ratio, repetitions};
use crate::figures::{given_percent, number, several, when};
use crate::labels;

/// Steps that are printed as sentences; the table has them all.
const SHOWN: usize = 3;
/// Places of one step that are named one by one.
const PLACES: usize = 3;
/// Said of what is open, where more repetitions than anybody makes would be needed.
pub const NONE_WOULD: &str = "; no affordable number of repetitions would decide";

/// What a step costs: `1.20 times its cost ($15.00 more a month)`.
fn cost(step: &ValueOfMoney) -> String {
    if step.extra_usd_per_month == 0.0 {
        return "the same cost".to_owned();
    }
    format!("{} times its cost ({} more a month)", number(step.cost_ratio), labels::usd(step.extra_usd_per_month))
}

/// What a step gives, in all places of a group with the same ends: `1.92 times (1.80 to 2.05) the throughput of
/// gp3-3000 for 1.20 times its cost ($15.00 more a month)`. The places are left out where the reader knows them.
pub fn gain(analysis: &Analysis, group: &[&ValueOfMoney], with_places: bool) -> String {
    factors(analysis, group, &format!(" {}", labels::throughput_of(&group[0].from)), with_places)
}

/// One step in a sentence without a full stop: `the reason` of its verdict.
pub fn reason(analysis: &Analysis, step: &ValueOfMoney) -> String {
    sentence(analysis, &[step], true)
}

/// Steps with the same ends and the same verdict, in one sentence for all their places, which are left out where the
/// reader knows them.
pub fn sentence(analysis: &Analysis, group: &[&ValueOfMoney], with_places: bool) -> String {
    let step = group[0];
    let (to, from) = (&step.to, &step.from);
    if let Some(why) = &step.withheld {
        let of = step.withheld_of.as_ref().unwrap_or(to);
        return format!(
            "Nothing is said about the value of {to}{}: {}",
            places::all(analysis, group.iter().map(|s| (&s.workload, s.load))),
            doubts::withheld(analysis, &[(of.clone(), *why)])
        );
    }
    let unlike = durability::beside(analysis, to, from);
    format!("{}{unlike}", verdict(analysis, group, with_places))
}

/// What a step shows, without what it leaves out.
fn verdict(analysis: &Analysis, group: &[&ValueOfMoney], with_places: bool) -> String {
    let step = group[0];
    let (to, from) = (&step.to, &step.from);
    let margin = given_percent(analysis.margin);
    let gain = gain(analysis, group, with_places);
    match step.verdict {
        ValueVerdict::WorthIt => format!("{to} is worth it: {gain}"),
        ValueVerdict::NotWorthIt => format!("{to} is not worth it: {gain}"),
        ValueVerdict::Dominated => {
            let gain = factors(analysis, group, " its throughput", with_places);
            format!("{to} is dominated by {from}: {gain}")
        }
        ValueVerdict::Same => {
            let gain = factors(analysis, group, "", with_places);
            let better = better_value(group);
            format!("{to} gives the same throughput as {from} within {margin}: {gain}{better}")
        }
        ValueVerdict::BreakEven => format!("{to} is break-even within {margin}: {gain}{}", better_value(group)),
        ValueVerdict::NotDecided => {
            // Of all places that the sentence names.
            let needed: Option<Vec<u32>> = group.iter().map(|step| step.repetitions_to_decide).collect();
            let needed = needed.and_then(|all| all.into_iter().max());
            let more = match (step.throughput_ratio.verdict.is_tested(), needed) {
                (false, _) => return format!("{to} against {from}, not tested: {gain}"),
                (true, Some(n)) => repetitions::would_decide(analysis, n),
                (true, None) if group.iter().any(|step| step.throughput_ratio.bound.is_some()) => String::new(),
                (true, None) if group.iter().all(|step| looks_break_even(analysis, step)) => format!(
                    "; if that is the truth, more repetitions would only show that it is break-even within {margin}"
                ),
                (true, None) => NONE_WOULD.to_owned(),
            };
            let is = match step.extra_usd_per_month == 0.0 {
                true => format!("faster than {from}"),
                false => "worth it".to_owned(),
            };
            format!("Whether {to} is {is} is not decided: {gain}{more}")
        }
    }
}

/// Whether a step that is open gives its price and no more within the margin, and not the same throughput, if what was
/// seen is the truth.
pub fn looks_break_even(analysis: &Analysis, step: &ValueOfMoney) -> bool {
    let is_within = |ratio: f64| ratio.ln().abs() <= (1.0 + analysis.margin).ln();
    let ratio = &step.throughput_ratio;
    let is_open = step.verdict == ValueVerdict::NotDecided && ratio.verdict.is_tested() && ratio.bound.is_none();
    is_open && is_within(step.value_ratio.median) && !is_within(ratio.median)
}

/// Said of what is within the margin and shown to give more for its money all the same.
fn better_value(group: &[&ValueOfMoney]) -> String {
    let is_better = |step: &&ValueOfMoney| {
        let ratio = &step.throughput_ratio;
        ratio.verdict.is_tested() && ratio.bound.is_none() && step.value_ratio.low > 1.0
    };
    when(group.iter().all(is_better), || format!("; within the margin {} is the better value", group[0].to))
}

/// The factors of a step in all places of a group, each with its place, `of` behind the first; then the cost.
fn factors(analysis: &Analysis, group: &[&ValueOfMoney], of: &str, with_places: bool) -> String {
    let at = |step: &ValueOfMoney| when(with_places, || places::at(analysis, &step.workload, Some(step.load)));
    let first = |step: &ValueOfMoney| format!("{}{of}{}", ratio::times(&step.throughput_ratio), at(step));
    let further = |step: &ValueOfMoney| format!("{}{}", ratio::times(&step.throughput_ratio), at(step));
    let beyond = ratio::beyond(group.iter().map(|step| &step.throughput_ratio));
    let cost = format!("{}{beyond}", cost(group[0]));
    match group {
        [only] => format!("{} for {cost}", first(only)),
        [one, others @ ..] if others.len() < PLACES => {
            let others: Vec<String> = others.iter().map(|s| further(s)).collect();
            format!("{}, {}, for {cost}", first(one), others.join(", "))
        }
        all => {
            let mut sorted: Vec<&ValueOfMoney> = all.to_vec();
            sorted.sort_by(|a, b| a.throughput_ratio.median.total_cmp(&b.throughput_ratio.median));
            let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
            let places = all.len();
            format!("{} up to {}, in {places} places, for {cost}", first(least), further(most))
        }
    }
}

/// Steps with the same ends and the same verdict, or the same reason for none, together.
pub fn alike(steps: Vec<&ValueOfMoney>) -> Vec<Vec<&ValueOfMoney>> {
    let said = |s: &ValueOfMoney| (s.verdict, s.withheld, s.withheld_of.clone());
    let groups = grouped(steps.into_iter().map(|step| ((&step.to, &step.from, said(step)), step)));
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The next steps up from what is recommended, cheapest first; where nothing is recommended, those that keep it open.
/// `reported` are in the headline.
pub fn sentences(analysis: &Analysis, reported: &[&ValueOfMoney]) -> Vec<String> {
    let is_reported = |step: &ValueOfMoney| reported.iter().any(|t| std::ptr::eq(*t, step));
    let all = analysis.value_of_money.iter();
    let mut groups = alike(all.filter(|s| !is_reported(s) && belongs(analysis, s)).collect());
    groups.sort_by(|a, b| price(analysis, &a[0].to).total_cmp(&price(analysis, &b[0].to)));
    let mut sentences: Vec<String> =
        groups.iter().take(SHOWN).map(|group| format!("{}.", sentence(analysis, group, true))).collect();
    if groups.len() > SHOWN {
        sentences.push(format!(
            "The table of what the money buys has {} more.",
            several((groups.len() - SHOWN) as u64, "step")
        ));
    }
    // Among what is shown to miss a bound something may give more for its money than what is run.
    let is_by_value = |s: &ValueOfMoney| {
        let mut places = analysis.recommendation.places.iter();
        places.any(|p| p.workload == s.workload && p.load == Some(s.load) && p.by == DecidedBy::Value)
    };
    let is_beaten = |s: &&ValueOfMoney| s.verdict == ValueVerdict::NotWorthIt && is_by_value(s);
    let all = || groups.iter().flatten().copied().chain(reported.iter().copied());
    if let Some(run) = &analysis.recommendation.run
        && all().any(|s| is_beaten(&s) && s.to != *run)
    {
        sentences.push(format!(
            "If {run} is too slow, more of {run} buys more for the money, provided that throughput grows with \
            their number."
        ));
    }
    sentences
}

/// Whether a step belongs to the answer of its place: above what is run there; any, where nothing is run anywhere.
fn belongs(analysis: &Analysis, step: &ValueOfMoney) -> bool {
    let recommendation = &analysis.recommendation;
    let place = recommendation.places.iter().find(|p| p.workload == step.workload && p.load == Some(step.load));
    match place.map(|p| &p.outcome) {
        // The place itself says why.
        None | Some(AnswerOutcome::Withheld { .. }) => false,
        Some(AnswerOutcome::Run { configuration, .. }) => {
            let run = recommendation.run.as_ref().unwrap_or(configuration);
            // Settings of its hardware cost nothing: sentences of their own tell them.
            let is_own = step.to == *run || recommendation.hardware.contains(&step.to);
            !is_own && price(analysis, &step.to) >= price(analysis, run)
        }
        Some(_) => recommendation.status != Status::Decided,
    }
}

/// What a configuration costs; those without a price come last.
fn price(analysis: &Analysis, configuration: &str) -> f64 {
    let mut of = analysis.cells.iter().filter(|c| c.configuration == configuration);
    of.find_map(|c| c.usd_per_month).unwrap_or(f64::INFINITY)
}
