//! Workload and load level in words, and the answer of each place where places differ.

use analysis::{Analysis, LoadLevel, Outcome, Place, Reason, Status};

use super::{doubts, headline, listed};
use crate::labels;

/// Places that are told one by one; the rest stands in `analysis.json`.
const SHOWN: usize = 4;

/// Names a place by what tells it from the others: `read-heavy`, `64 in flight`, `read-heavy at 64 in flight`; empty
/// where there is only one.
pub fn name(analysis: &Analysis, workload: &str, load: Option<LoadLevel>) -> String {
    let has_other_workloads = analysis.workloads.len() > 1;
    let load = load.filter(|load| analysis.cells.iter().any(|c| c.load != *load));
    match (has_other_workloads, load) {
        (false, None) => String::new(),
        (true, None) => workload.to_owned(),
        (false, Some(load)) => labels::load(load),
        (true, Some(load)) => format!("{workload} at {}", labels::load(load)),
    }
}

/// The same behind a clause: ` under read-heavy`, ` at 64 in flight`; empty where there is only one place.
pub fn at(analysis: &Analysis, workload: &str, load: Option<LoadLevel>) -> String {
    let name = name(analysis, workload, load);
    match (name.is_empty(), analysis.workloads.len() > 1) {
        (true, _) => name,
        (false, true) => format!(" under {name}"),
        (false, false) => format!(" at {name}"),
    }
}

/// The places that the headline does not tell: those that are not decided, where others are, or where the headline
/// tells the first of them.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    let recommendation = &analysis.recommendation;
    let skipped = match (recommendation.status, recommendation.reason) {
        (Status::Decided, _) | (Status::NotDecided, Reason::Depends) => 0,
        (Status::NotDecided, Reason::Undecided | Reason::Agreement) => 1,
        // The headline tells them all.
        _ => return Vec::new(),
    };
    let all = open(analysis);
    let left = all.len().saturating_sub(skipped + SHOWN);
    let told = all.into_iter().skip(skipped).take(SHOWN);
    let mut sentences: Vec<String> = told
        .map(|(names, why)| format!("Not decided for {}: {why}.", listed(&names)))
        .collect();
    if left > 0 {
        sentences.push(format!(
            "{left} more are not decided: recommendation.places in analysis.json."
        ));
    }
    sentences
}

/// The places that are not decided, those with the same reason together.
pub fn open(analysis: &Analysis) -> Vec<(Vec<String>, String)> {
    let places = analysis.recommendation.places.iter();
    let open = places.filter(|p| !matches!(p.outcome, Outcome::Run { .. }));
    grouped(
        open.map(|p| (name(analysis, &p.workload, p.load), undecided(analysis, p)))
            .collect(),
    )
}

/// Entries with the same text, under the names of all of them.
pub fn grouped(entries: Vec<(String, String)>) -> Vec<(Vec<String>, String)> {
    let mut groups: Vec<(Vec<String>, String)> = Vec::new();
    for (name, text) in entries {
        match groups.iter_mut().find(|(_, t)| *t == text) {
            Some((names, _)) => names.push(name),
            None => groups.push((vec![name], text)),
        }
    }
    groups
}

/// Why a place is not decided.
pub fn undecided(analysis: &Analysis, place: &Place) -> String {
    match &place.outcome {
        Outcome::Run { configuration, .. } => format!("run {configuration}"),
        Outcome::Between { .. } => headline::between(analysis, place),
        Outcome::Withheld { configurations } => {
            format!(
                "what was measured is not the storage: {}",
                doubts::withheld(analysis, configurations)
            )
        }
        Outcome::TooFew { .. } => headline::TOO_FEW.to_owned(),
        Outcome::Nothing => headline::one_configuration(analysis),
        Outcome::NoneMeets => headline::none_meets(analysis, place),
        Outcome::NoObjective => headline::NO_OBJECTIVE.to_owned(),
    }
}
