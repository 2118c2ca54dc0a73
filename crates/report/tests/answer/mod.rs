//! The answer in words: one story for each thing that it can say, and no sentence against its document.

mod capacity;
mod doubts;
mod in_the_document;
mod objective;
mod settings;
mod steps_of_money;
mod this_machine;
mod undecided;

use crate::contradictions::contradictions;
use crate::page;
use crate::page::{LOADS, ratio, value};
use analysis::{Analysis, AnswerOutcome, DecidedBy, Reason, Status, ValueVerdict, WorkloadAnswer};
use report::{Answer, answer};

/// Three configurations (500, 750 and 1,000 dollars; 1, 2 and 3 times the throughput) under one workload.
fn story() -> Analysis {
    page::run(&["gp2", "gp3", "io2"], &["read-heavy"], 3).0
}

/// The story with one place.
fn with(by: DecidedBy, outcome: AnswerOutcome) -> Analysis {
    let mut analysis = story();
    analysis.cells.retain(|c| c.load == LOADS[0]);
    analysis.decision.retain(|d| d.load == LOADS[0]);
    let run = match &outcome {
        AnswerOutcome::Run { configuration, .. } => Some(configuration.clone()),
        _ => None,
    };
    let recommendation = &mut analysis.recommendation;
    recommendation.status = if run.is_some() { Status::Decided } else { Status::NotDecided };
    recommendation.reason = if run.is_some() { Reason::Agreement } else { Reason::Undecided };
    recommendation.run = run;
    recommendation.doubts.clear();
    recommendation.places = vec![WorkloadAnswer {
        workload: "read-heavy".into(),
        load: Some(LOADS[0]),
        by,
        by_money: by != DecidedBy::Throughput,
        outcome,
        candidates: Vec::new(),
    }];
    analysis
}

fn run(configuration: &str) -> AnswerOutcome {
    AnswerOutcome::Run { configuration: configuration.into(), same: Vec::new(), settings: None }
}

/// Makes a step what a test is about; factor and cost with it.
fn step(analysis: &mut Analysis, index: usize, from: &str, factor: f64, cost: f64, verdict: ValueVerdict) {
    let step = &mut analysis.value_of_money[index];
    step.from = from.into();
    step.throughput_ratio = ratio(from, factor);
    step.cost_ratio = cost;
    step.value_ratio = value(factor, cost);
    step.verdict = verdict;
    step.knee = false;
}

/// The answer, after making sure that it contradicts nothing.
fn said(analysis: &Analysis) -> Answer {
    let answer = answer(analysis);
    let found = contradictions(analysis, &answer.lines());
    assert!(found.is_empty(), "{found:#?}");
    answer
}
