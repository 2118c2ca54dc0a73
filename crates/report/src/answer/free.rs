//! What costs nothing, before what costs money.

use analysis::{Analysis, FreeStep, Spending, Verdict};

use super::{places, steps};
use crate::figures::{bytes, listed, number, several};
use crate::labels;

/// Groups of places that are told; the document has them all.
const SHOWN: usize = 3;
/// Places of one step that are told one by one.
const PLACES: usize = 3;

/// What to do first, at no cost: of the configurations that cost what the cheapest does, or what the recommended one
/// does.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    let cheapest = analysis.free_steps.iter().map(|s| s.usd_per_month);
    let cheapest = cheapest.fold(f64::INFINITY, f64::min);
    let run = analysis.recommendation.run.as_deref();
    let concerns = |step: &&FreeStep| {
        let is_run = run.is_some_and(|run| step.from == run || step.tried.iter().any(|t| t == run));
        step.usd_per_month == cheapest || is_run
    };
    let groups = alike(analysis.free_steps.iter().filter(concerns).collect());
    let mut sentences: Vec<String> = groups
        .iter()
        .take(SHOWN)
        .map(|group| sentence(analysis, group, group[0].usd_per_month == cheapest))
        .collect();
    if groups.len() > SHOWN {
        let more = several((groups.len() - SHOWN) as u64, "comparison");
        sentences.push(format!("At no cost, {more} more: free_steps in analysis.json."));
    }
    sentences
}

/// Steps with the same ends and the same kind of verdict together.
fn alike(all: Vec<&FreeStep>) -> Vec<Vec<&FreeStep>> {
    let mut groups: Vec<Vec<&FreeStep>> = Vec::new();
    for step in all {
        let same = |g: &&mut Vec<&FreeStep>| {
            let one = g[0];
            one.from == step.from && one.to == step.to && one.throughput_ratio.verdict == step.throughput_ratio.verdict
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(step),
            None => groups.push(vec![step]),
        }
    }
    groups
}

fn sentence(analysis: &Analysis, group: &[&FreeStep], is_cheapest: bool) -> String {
    let step = group[0];
    let (from, to) = (&step.from, &step.to);
    let factors = factors(analysis, group);
    match step.throughput_ratio.verdict {
        Verdict::Faster => format!(
            "{}: {to} instead of {from}, {factors}{}{}.",
            if is_cheapest {
                "First, at no cost"
            } else {
                "Also at no cost"
            },
            spent(group),
            replaced(group)
        ),
        Verdict::TooFew => format!("At no cost, not tested: {to} has {factors} of {from}."),
        _ => {
            let best = match step.tried.len() {
                1 => format!("{to} has {factors}"),
                _ => format!("the best of {}, {to}, has {factors}", listed(&step.tried)),
            };
            format!("At no cost, nothing that was tried is shown to be faster than {from}: {best}.")
        }
    }
}

/// `1.62 times (1.50 to 1.75) its throughput under reads, 1.20 times (...) under mixed`.
fn factors(analysis: &Analysis, group: &[&FreeStep]) -> String {
    let at = |s: &FreeStep| places::at(analysis, &s.workload, Some(s.load));
    let told = |s: &FreeStep, of: &str| format!("{}{of}{}", steps::times(&s.throughput_ratio), at(s));
    if group.len() <= PLACES {
        let all: Vec<String> = group
            .iter()
            .enumerate()
            .map(|(i, s)| told(s, if i == 0 { " its throughput" } else { "" }))
            .collect();
        return all.join(", ");
    }
    let mut sorted: Vec<&FreeStep> = group.to_vec();
    sorted.sort_by(|a, b| a.throughput_ratio.median.total_cmp(&b.throughput_ratio.median));
    let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
    format!(
        "{} up to {}, in {} places",
        told(least, " its throughput"),
        told(most, ""),
        group.len()
    )
}

/// What an operation takes then, in one place: the cause beside the effect.
fn spent(group: &[&FreeStep]) -> String {
    let [step] = group else { return String::new() };
    let told: Vec<String> = step
        .per_operation
        .iter()
        .filter_map(|s| {
            let (before, after) = match s.what {
                Spending::DeviceReads => (number(s.before), number(s.after)),
                Spending::DeviceReadBytes | Spending::DeviceWriteBytes => (bytes(s.before), bytes(s.after)),
                Spending::DatabaseCpuUs => (format!("{} us", number(s.before)), format!("{} us", number(s.after))),
            };
            let what = match s.what {
                Spending::DeviceReads => "device reads",
                Spending::DeviceReadBytes => "read from volumes",
                Spending::DeviceWriteBytes => "written to volumes",
                Spending::DatabaseCpuUs => "of the database's CPU",
            };
            (before != after).then(|| format!("{after} {what} instead of {before}"))
        })
        .collect();
    match told.is_empty() {
        true => String::new(),
        false => format!("; an operation takes {}", told.join(", ")),
    }
}

/// The more expensive configurations that it replaces in every place of the group.
fn replaced(group: &[&FreeStep]) -> String {
    let everywhere = |name: &str| group.iter().all(|s| s.replaces.iter().any(|r| r.configuration == name));
    let own = group[0].replaces.iter().filter(|r| everywhere(&r.configuration));
    let names: Vec<String> = own
        .map(|r| {
            format!(
                "{} ({} a month more)",
                r.configuration,
                labels::usd(r.extra_usd_per_month)
            )
        })
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("; it is shown not to be slower than {}", listed(&names)),
    }
}
