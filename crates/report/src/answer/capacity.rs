//! The answer where the highest rates were found.

use analysis::{Analysis, AnswerOutcome, Capacity, CapacityOutcome, Criterion, Meets, Missed, WorkloadAnswer};

use super::doubts;
use super::judged::{Judged, WITHOUT_PRICES, is_only, the_cheapest, the_only_one};
use crate::capacity::{bounds, measured, rate, used};
use crate::figures::{given, given_percent, listed, number, when};
use crate::labels;

/// Why a place says to run this: its claim and the numbers that show it.
pub fn why(analysis: &Analysis, place: &WorkloadAnswer, run: &str) -> (String, String) {
    let own = |c: &&Capacity| c.workload == place.workload;
    let Some(ours) = analysis.capacities.iter().filter(own).find(|c| c.configuration == run) else {
        return ("it meets the objective".to_owned(), String::new());
    };
    let price = ours.usd_per_month.map_or_else(String::new, |usd| format!(" for {} a month", labels::usd(usd)));
    let others = analysis.capacities.iter().filter(own).filter(|c| c.configuration != run);
    let others: Vec<String> = others.map(|c| clause(analysis, c)).collect();
    let is_demand = !place.candidates.is_empty();
    let judged: Vec<Judged<'_>> = place.candidates.iter().map(Into::into).collect();
    let is_only = is_only(&judged, run);
    let does = format!("carries {} at {}", demanded(analysis), bounds(analysis));
    let claim = match (is_demand, is_only || place.has_cheapest()) {
        (true, true) => match is_only {
            true => format!("{} that {does}", the_only_one(analysis, &judged)),
            false => the_cheapest(analysis, run, &judged, &does),
        },
        (true, false) => format!("it {does}"),
        (false, _) => {
            let most = match place.outcome.any().is_empty() {
                true => "it carries the most",
                false => "no other hardware carries as much",
            };
            format!("{most}{} at {}{}", for_money(place), bounds(analysis), without_prices(place))
        }
    };
    let numbers = std::iter::once(format!("{}{price}", operations(analysis, &rate(ours)))).chain(others);
    (claim, numbers.collect::<Vec<_>>().join("; "))
}

/// Why a place is between several, or none of them.
pub fn open(analysis: &Analysis, place: &WorkloadAnswer) -> String {
    let own = analysis.capacities.iter().filter(|c| c.workload == place.workload);
    match &place.outcome {
        AnswerOutcome::Between { configurations, .. } => {
            let all: Vec<String> =
                own.filter(|c| configurations.contains(&c.configuration)).map(|c| clause(analysis, c)).collect();
            if let [only] = configurations.as_slice() {
                let what = match place.candidates.is_empty() {
                    true => "anything".to_owned(),
                    false => demanded(analysis),
                };
                return format!(
                    "whether {only} carries {what} at {} is not shown: {}{}",
                    bounds(analysis),
                    all.join("; "),
                    at_full_scale(analysis)
                );
            }
            let what = match place.candidates.is_empty() {
                true => format!("which carries more{} is not shown{}", for_money(place), without_prices(place)),
                false => whether(analysis, place, configurations),
            };
            format!(
                "the choice is between {} at {}: {}; {what}{}",
                listed(configurations),
                bounds(analysis),
                all.join("; "),
                at_full_scale(analysis)
            )
        }
        _ => {
            let all: Vec<String> = own.map(|c| clause(analysis, c)).collect();
            let what = match place.candidates.is_empty() {
                true => format!("no configuration meets {}", bounds(analysis)),
                false => format!("no configuration carries {} at {}", demanded(analysis), bounds(analysis)),
            };
            format!("{what}: {}", all.join("; "))
        }
    }
}

/// ` for its money`, where prices decide; else what is carried decides alone.
fn for_money(place: &WorkloadAnswer) -> &'static str {
    if place.by_money { " for its money" } else { "" }
}

/// That cost does not count, where prices are missing; behind what is carried without a demand.
fn without_prices(place: &WorkloadAnswer) -> &'static str {
    if place.by_money { "" } else { WITHOUT_PRICES }
}

/// What is demanded, with the capacity that this takes, beside which those of the configurations stand:
/// `1,800/s with 30 % headroom (2,572/s)`.
pub fn demanded(analysis: &Analysis) -> String {
    let objective = analysis.objective.as_ref();
    let Some((objective, demand)) = objective.and_then(|o| Some((o, o.throughput?))) else {
        return "the demand with headroom".to_owned();
    };
    let needed = objective.capacity_needed().filter(|_| objective.headroom > 0.0);
    let headroom = needed.map(|all| format!(" with {} headroom ({}/s)", given_percent(objective.headroom), given(all)));
    format!("{}/s{}", given(demand), headroom.unwrap_or_default())
}

/// Which of the contenders are not shown to carry the demand, and which are.
fn whether(analysis: &Analysis, place: &WorkloadAnswer, contenders: &[String]) -> String {
    let does = |name: &String| place.candidates.iter().any(|c| c.configuration == *name && c.meets == Meets::Yes);
    let shown: Vec<&String> = contenders.iter().filter(|name| does(name)).collect();
    let open: Vec<&String> = contenders.iter().filter(|name| !does(name)).collect();
    if open.is_empty() {
        return format!("each is shown to carry {}, and what they cost is not known", demanded(analysis));
    }
    let who = match open.as_slice() {
        [only] => (*only).clone(),
        open if !shown.is_empty() => format!("each of {}", listed(open)),
        _ => "each".to_owned(),
    };
    let besides = when(!shown.is_empty(), || format!("; that {} does is shown", listed(&shown)));
    format!("whether {who} carries {} is not shown{besides}", demanded(analysis))
}

/// Why what a model carries does not say what full scale carries at the most, as a clause; empty at 1:1.
pub fn at_full_scale(analysis: &Analysis) -> String {
    when(analysis.scale != 1.0, || {
        format!(
            "; at full scale, where queues are shorter, each may carry more than in the {} model, up to its closed \
             loop",
            labels::scale(analysis.scale)
        )
    })
}

/// A rate, such as `3,900 (3,700 to 4,100)`, with its unit: all that is found stands for full scale.
fn operations(analysis: &Analysis, rate: &str) -> String {
    format!("{rate} operations/s{}", labels::estimated(analysis))
}

/// What one carries under the workload of a place: `3,900 (3,700 to 4,100) operations/s`.
pub fn carried(analysis: &Analysis, place: &WorkloadAnswer, configuration: &str) -> String {
    let is_it = |c: &&Capacity| c.workload == place.workload && c.configuration == configuration;
    match analysis.capacities.iter().find(is_it) {
        Some(of) if of.outcome == CapacityOutcome::Floor => at_floor(analysis, of),
        Some(of) => operations(analysis, &rate(of)),
        None => "no figure".to_owned(),
    }
}

/// One configuration in a clause: `gp3-6000 carries 3,900 (3,700 to 4,100) operations/s for $91.00`.
fn clause(analysis: &Analysis, capacity: &Capacity) -> String {
    let name = &capacity.configuration;
    match capacity.outcome {
        CapacityOutcome::Floor => format!("{name} {}", at_floor(analysis, capacity)),
        CapacityOutcome::Withheld { why } => doubts::withheld(analysis, &[(name.clone(), why)]),
        CapacityOutcome::NotMeasured => format!("{name} has no valid trial"),
        _ => {
            let price =
                capacity.usd_per_month.map_or_else(String::new, |usd| format!(" for {} a month", labels::usd(usd)));
            format!("{name} carries {}{price}", operations(analysis, &rate(capacity)))
        }
    }
}

/// An objective that next to no load misses already.
fn at_floor(analysis: &Analysis, capacity: &Capacity) -> String {
    let Some(missed) = &capacity.missed else { return "answers nothing".to_owned() };
    format!("misses it at any rate: {}", at_rate(analysis, missed))
}

/// What is missed at a rate: `at 4,100 operations/s at full scale (estimated) read p99 is 14.2 ms in the 1:16 model`.
fn at_rate(analysis: &Analysis, missed: &Missed) -> String {
    let rate = operations(analysis, &number(missed.at_ops_per_s));
    let in_model = when(matches!(missed.of, Criterion::Latency { .. }), || labels::in_model(analysis.scale));
    format!("at {rate} {}{in_model}", measured(missed))
}

/// What keeps it from more: `at 4,100 operations/s read p99 is 14.2 ms; limit there: data volume IOPS`.
fn above(analysis: &Analysis, capacity: &Capacity) -> Option<String> {
    let missed = capacity.missed.as_ref().filter(|_| capacity.outcome != CapacityOutcome::Floor)?;
    let limit = capacity.limit.as_ref().map_or_else(String::new, |limit| format!("; fullest there: {}", used(limit)));
    let is_below = |end: Option<f64>| end.is_some_and(|end| end < missed.at_ops_per_s);
    let is_within =
        capacity.ops_per_s.is_some_and(|rate| rate > missed.at_ops_per_s) && is_below(capacity.low_ops_per_s);
    let together =
        when(is_within, || " (the estimate is that of all rates together, and its interval holds this one)".to_owned());
    Some(format!("{}{together}{limit}", at_rate(analysis, missed)))
}

/// Sentences below the headline: each configuration that it does not tell, and what keeps each from more.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    let several_workloads = analysis.workloads.len() > 1;
    let each = analysis.capacities.iter().map(|capacity| {
        let place = when(several_workloads, || format!(" under {}", capacity.workload));
        let more = above(analysis, capacity).map_or_else(String::new, |above| format!(": {above}"));
        let bounded = match (capacity.outcome, &capacity.missed, capacity.closed_loop_ops_per_s) {
            (CapacityOutcome::AtLeast, None, Some(closed)) => format!(
                "; no rate that was measured misses the objective (a closed loop reached {})",
                operations(analysis, &number(closed))
            ),
            _ => String::new(),
        };
        format!("{}{place}{more}{bounded}.", clause(analysis, capacity))
    });
    each.chain(steps(analysis)).collect()
}

/// What the next more expensive one carries more, and what that costs; at one price, what the next faster one does.
fn steps(analysis: &Analysis) -> Vec<String> {
    let mut sentences = Vec::new();
    for workload in &analysis.workloads {
        let own = analysis.capacities.iter().filter(|c| c.workload == workload.name);
        let mut priced: Vec<Priced<'_>> = own
            .filter(|c| c.outcome == CapacityOutcome::Found)
            .filter_map(|c| Some((c, c.usd_per_month?, c.ops_per_s?)))
            .collect();
        priced.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.2.total_cmp(&b.2)));
        let at = when(analysis.workloads.len() != 1, || format!(" under {}", workload.name));
        sentences.extend(priced.windows(2).map(|pair| step(analysis, &at, pair[0], pair[1])));
    }
    sentences
}

/// A capacity, its price in USD a month, and its operations per second.
type Priced<'a> = (&'a Capacity, f64, f64);

fn step(analysis: &Analysis, at: &str, from: Priced<'_>, to: Priced<'_>) -> String {
    let ((cheap, low_usd, low), (dear, high_usd, high)) = (from, to);
    let (usd, more) = (high_usd - low_usd, high - low);
    let step = format!("From {} to {}{at}", cheap.configuration, dear.configuration);
    let money = match usd > 0.0 {
        true => format!("{} a month more", labels::usd(usd)),
        false => "for the same cost".to_owned(),
    };
    if !dear.carries_more_than(cheap, analysis.scale) {
        let is_less = cheap.carries_more_than(dear, analysis.scale);
        let shown = if is_less { "it carries less" } else { "it is not shown to carry more" };
        return format!("{step}, {money}: {shown}.");
    }
    let gain = operations(analysis, &number(more));
    match usd > 0.0 {
        true => format!("{step}: {gain} more for {money}, {} each.", labels::usd(usd / more)),
        false => format!("{step}: {gain} more {money}."),
    }
}
