//! The answer in a few sentences, most important first. Every number in it stands elsewhere in the document, with its interval.

use std::collections::BTreeMap;

use spec::LoadLevel;

use crate::decision::UNTESTED_SHARE;
use crate::document::{Analysis, Decision, Ratio, ValueOfMoney, Verdict};
use crate::finding::Severity;
use crate::limit::LimitKind;
use crate::value::{NOT_COMPARABLE, WORTH_IT};

/// Writes the answer from an otherwise finished document.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    if analysis.trials.done == 0 {
        return vec!["No trial has been measured yet.".to_owned()];
    }
    if analysis.trials.valid == 0 {
        return vec![format!(
            "No answer: none of the {} trials in place is valid. The findings say why.",
            analysis.trials.done
        )];
    }
    let mut answer = money(analysis);
    if answer.is_empty() {
        answer.extend(best(analysis));
    }
    answer.extend(limits(analysis));
    answer.extend(reservations(analysis));
    answer
}

/// What the money buys: one sentence a configuration that has a price.
fn money(analysis: &Analysis) -> Vec<String> {
    let values = &analysis.value_of_money;
    let Some(first) = values.first() else {
        return Vec::new();
    };
    let mut configurations: Vec<&str> = values.iter().map(|v| v.to.as_str()).collect();
    configurations.sort_unstable();
    configurations.dedup();
    // What pays most comes first: the smallest gain in throughput over the gain in cost.
    let pays = |name: &str| {
        let steps = values.iter().filter(|v| v.to == name);
        steps
            .map(|v| v.throughput_ratio.median / v.cost_ratio)
            .fold(f64::MAX, f64::min)
    };
    configurations.sort_by(|a, b| pays(b).total_cmp(&pays(a)));
    let knees: Vec<String> = values
        .iter()
        .filter(|v| v.knee)
        .map(|v| format!("{} for {} at {}", v.to, v.workload, load(v.load)))
        .collect();
    let knee = match knees.as_slice() {
        [] => None,
        knees => Some(format!(
            "Beyond the knee dearer configurations are not worth their extra money: {}.",
            knees.join("; ")
        )),
    };
    configurations
        .into_iter()
        .map(|name| {
            let steps: Vec<&ValueOfMoney> = values.iter().filter(|v| v.to == name).collect();
            let worth = steps.iter().filter(|v| v.verdict == WORTH_IT).count();
            let of_all = match (worth, steps.len()) {
                (0, 1) => match steps[0].verdict.as_str() {
                    NOT_COMPARABLE => "in single repetitions, not tested".to_owned(),
                    verdict => format!("is {}", shown(verdict)),
                },
                (0, all) if steps.iter().all(|v| v.verdict == NOT_COMPARABLE) => {
                    format!("in single repetitions of {all} loads, not tested")
                }
                (0, all) => format!("is not shown to be worth it under any of {all} loads"),
                (1, 1) => "is worth it".to_owned(),
                (worth, all) if worth == all => format!("is worth it under all {all} loads"),
                (worth, all) => format!("is worth it under {worth} of {all} loads"),
            };
            format!(
                "{name} {of_all}: {} the throughput of {} for {} times its cost ({} more a month).",
                factors(steps.iter().map(|v| &v.throughput_ratio)),
                first.from,
                two(steps[0].cost_ratio),
                usd(steps[0].extra_usd_per_month),
            )
        })
        .chain(knee)
        .collect()
}

fn shown(verdict: &str) -> String {
    match verdict {
        "no difference shown" => "not shown to differ".to_owned(),
        other => other.to_owned(),
    }
}

/// Without prices: who is best by throughput, loads with the same best set together.
fn best(analysis: &Analysis) -> Vec<String> {
    let mut groups: Vec<(Vec<String>, Vec<&Decision>)> = Vec::new();
    let decisions = analysis
        .decision
        .iter()
        .filter(|d| d.metric == "throughput" && d.ranking.len() > 1);
    for decision in decisions {
        let mut set = decision.indistinguishable.clone();
        set.sort();
        set.insert(0, decision.best.clone());
        match groups.iter_mut().find(|(known, _)| *known == set) {
            Some((_, group)) => group.push(decision),
            None => groups.push((set, vec![decision])),
        }
    }
    let all: usize = groups.iter().map(|(_, group)| group.len()).sum();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.len()));
    groups
        .iter()
        .map(|(_, group)| {
            let leads: Vec<&Ratio> = group
                .iter()
                .filter_map(|d| analysis.cell(&d.best, &d.workload, d.load)?.ratio_to_slowest.as_ref())
                .collect();
            let mut slowest: Vec<&str> = leads.iter().map(|r| r.to.as_str()).collect();
            slowest.sort_unstable();
            slowest.dedup();
            let others = match group[0].indistinguishable.as_slice() {
                [] => String::new(),
                others => format!(", not told apart from {}", others.join(", ")),
            };
            let place = match group.as_slice() {
                [only] => format!("for {} at {}", only.workload, load(only.load)),
                several if several.len() == all => format!("under all {all} loads"),
                several => format!("under {} of {all} loads ({})", several.len(), places(several)),
            };
            format!(
                "{} is best by throughput {place}{others}; {} {}.",
                group[0].best,
                factors(leads.into_iter()),
                if slowest.len() == 1 { slowest[0] } else { "the slowest" }
            )
        })
        .collect()
}

fn places(decisions: &[&Decision]) -> String {
    let names: Vec<String> = decisions
        .iter()
        .map(|d| format!("{} at {}", d.workload, load(d.load)))
        .collect();
    names.join(", ")
}

/// How many cells each resource bounded.
fn limits(analysis: &Analysis) -> Option<String> {
    let mut by_kind: BTreeMap<LimitKind, usize> = BTreeMap::new();
    for cell in analysis.cells.iter().filter(|c| c.valid_trials > 0) {
        *by_kind.entry(cell.limit.kind).or_default() += 1;
    }
    let all: usize = by_kind.values().sum();
    let mut counts: Vec<(LimitKind, usize)> = by_kind.into_iter().collect();
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let parts: Vec<String> = counts
        .iter()
        .map(|(kind, n)| format!("{} in {n}", kind.words()))
        .collect();
    match all {
        0 => None,
        1 => Some(format!("What limited the only cell: {}.", counts[0].0.words())),
        _ => Some(format!("What limited the {all} cells: {}.", parts.join(", "))),
    }
}

/// What a reader must know before believing the above.
fn reservations(analysis: &Analysis) -> Vec<String> {
    let mut all = Vec::new();
    if analysis.cells.iter().all(|c| c.valid_trials < 2) {
        all.push(format!(
            "One repetition of each cell: no difference was tested, and less than {:.0} % may be nothing but noise. Repeat with \
             [load] repetitions = 6 or more.",
            UNTESTED_SHARE * 100.0
        ));
    }
    if let Some(reason) = &analysis.stopped {
        all.push(format!("Repeating stopped by itself: {reason}."));
    }
    if analysis.invalid_trials() > 0 {
        all.push(format!(
            "{} of {} trials were refused and enter no figure.",
            analysis.invalid_trials(),
            analysis.trials.done
        ));
    }
    if analysis.trials.done < analysis.trials.planned {
        all.push(format!(
            "{} of {} planned trials are missing.",
            analysis.trials.planned - analysis.trials.done,
            analysis.trials.planned
        ));
    }
    let mut suspect: Vec<&str> = analysis
        .findings
        .iter()
        .filter(|f| f.severity == Severity::Suspect)
        .map(|f| f.rule.name())
        .collect();
    let n = suspect.len();
    suspect.sort_unstable();
    suspect.dedup();
    if n > 0 {
        all.push(format!(
            "{n} findings cast doubt on figures: {}.",
            suspect.join(", ").replace('_', " ")
        ));
    }
    if analysis.scale != 1.0 {
        all.push(format!(
            "Measured on a 1:{} model: ratios between configurations carry over, absolute figures do not.",
            analysis.scale
        ));
    }
    all
}

/// `2.81 times (2.50 to 3.12)` for one ratio, `0.98 to 2.81 times` for several.
fn factors<'a>(ratios: impl Iterator<Item = &'a Ratio>) -> String {
    let ratios: Vec<&Ratio> = ratios.collect();
    if let [only] = ratios.as_slice() {
        return match only.verdict {
            Verdict::NotComparable => format!("{} times", two(only.median)),
            _ => format!("{} times ({} to {})", two(only.median), two(only.low), two(only.high)),
        };
    }
    let medians = || ratios.iter().map(|r| r.median);
    let (least, most) = (medians().fold(f64::MAX, f64::min), medians().fold(f64::MIN, f64::max));
    format!("{} to {} times", two(least), two(most))
}

fn two(value: f64) -> String {
    format!("{value:.2}")
}

fn usd(value: f64) -> String {
    format!("${value:.2}")
}

fn load(level: LoadLevel) -> String {
    match level {
        LoadLevel::Concurrency(n) => format!("{n} requests in flight"),
        LoadLevel::Rate { operations_per_s, .. } => format!("{operations_per_s} operations/s"),
    }
}
