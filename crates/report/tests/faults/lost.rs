//! What became of the writes that a database acknowledged.

use super::{kept, reported, run};
use crate::page;
use analysis::rules::writes_lost::WritesLost;
use analysis::{
    Analysis, AnswerOutcome, Charts, Consistency, DecidedBy, Finding, LoadLevel, NotConsidered, NotJudged, Scope,
    WorkloadAnswer, WritesAnalysis,
};
use report::{answer, document, html};

fn lost() -> WritesAnalysis {
    WritesAnalysis {
        consistency: Consistency::One,
        trials_with_loss: 2,
        intact: 30_790,
        older: 200,
        missing: 14,
        unacknowledged: 0,
        ..kept()
    }
}

/// `rf1-one` lost some.
pub fn run_with_loss() -> (Analysis, Charts) {
    let (mut analysis, charts) = run();
    analysis.cells[1].writes = Some(lost());
    let scope = Scope::Cell(analysis.cells[1].id.clone());
    let figures = WritesLost {
        consistency: Consistency::One,
        values: 31_004,
        lost: 214,
        older: 200,
        missing: 14,
        foreign: 0,
        trials: 3,
        trials_with_loss: 2,
        example: Some("block 1, key user17, field 3: 105 was acknowledged, 98 was found".to_owned()),
    };
    analysis.findings = vec![Finding::new(scope, figures)];
    let recommendation = &mut analysis.recommendation;
    recommendation.run = Some("rf3-quorum".into());
    recommendation.places = vec![WorkloadAnswer {
        workload: "read-heavy".into(),
        load: Some(page::LOADS[0]),
        by: DecidedBy::Writes,
        by_money: false,
        outcome: AnswerOutcome::Run { configuration: "rf3-quorum".into(), same: Vec::new(), settings: None },
        candidates: Vec::new(),
    }];
    recommendation.not_considered = vec![NotConsidered {
        configuration: "rf1-one".into(),
        why: NotJudged::LostWrites { lost: 214, values: 31_004 },
    }];
    analysis.value_of_money.clear();
    (analysis, charts)
}

#[test]
fn who_lost_writes_is_reported_in_the_headline() {
    let (analysis, charts) = run_with_loss();
    let reported = "Run rf3-quorum: it is the only configuration that lost no acknowledged write; rf1-one lost \
                    acknowledged writes (214 of 31,004 values).";
    assert_eq!(answer(&analysis).headline(), reported);
    let doubts = answer(&analysis).doubts;
    assert!(
        doubts.contains(&"Not considered: rf1-one (it lost acknowledged writes (214 of 31,004 values)).".to_owned()),
        "{doubts:?}"
    );
    let page = html(&analysis, &charts);
    assert!(page.contains("rf1-one lost acknowledged writes (214 of 31,004 values)"));
    assert!(page.contains("1 failed, 0 invalid") && page.contains("<span class=\"tag failed\">failed</span>"));
    let document = document(&analysis);
    assert_eq!(document["cells"][1]["writes"]["older"], 200);
    assert_eq!(
        document["recommendation"]["not_considered"][0]["why"],
        "it lost acknowledged writes (214 of 31,004 values)"
    );
}

#[test]
fn where_all_lost_writes_that_is_the_answer() {
    let (mut analysis, _) = run_with_loss();
    let recommendation = &mut analysis.recommendation;
    (recommendation.run, recommendation.status) = (None, analysis::Status::NotDecided);
    recommendation.reason = analysis::Reason::Undecided;
    recommendation.places[0].outcome = AnswerOutcome::AllLostWrites;
    let headline = answer(&analysis).headline();
    assert!(
        headline.starts_with("Not decided: every configuration lost acknowledged writes; rf1-one lost"),
        "{headline}"
    );
}

#[test]
fn what_became_of_acknowledged_writes() {
    let written = |writes: WritesAnalysis| reported(|cell| cell.writes = Some(writes)).pop().unwrap();
    assert_eq!(
        written(kept()),
        "48,210 acknowledged writes (31,004 values) read back at QUORUM in 3 trials: none lost. 1,203 more had no \
         known outcome and may be there or not."
    );
    let unread = WritesAnalysis { intact: 20_670, unreadable: 10_334, unacknowledged: 0, ..kept() };
    assert_eq!(
        written(unread),
        "48,210 acknowledged writes (31,004 values) read back at QUORUM in 3 trials: none seen lost, but 10,334 values \
         could not be read."
    );
    let old = written(lost());
    assert!(
        old.contains(
            "at ONE in 3 trials: 214 of 31,004 values lost (older 200, missing 14), in 2 of 3 trials. At this level"
        ),
        "{old}"
    );
    assert!(old.contains("the workload's own reads would have seen it"), "{old}");
    let nothing = WritesAnalysis { acknowledged: 0, values: 0, intact: 0, ..kept() };
    assert_eq!(written(nothing), "No write was acknowledged in 3 trials: nothing to read back.");
    assert_eq!(reported(|cell| cell.writes = None).pop().unwrap(), "Acknowledged writes were not read back.");
}

/// Nobody buys what forgets: it has no point, and so no part in the frontier, but its name and why.
#[test]
fn what_lost_writes_is_not_drawn_on_the_frontier() {
    let (mut analysis, charts) = page::run(&["rf3-quorum", "rf1-one", "rf3-all"], &["read-heavy"], 3);
    let drawn = |analysis: &Analysis| html(analysis, &charts).split("class=\"frontier\"").nth(1).unwrap().to_owned();
    assert!(drawn(&analysis).contains("<title>rf1-one:"));
    for cell in &mut analysis.cells {
        let is_loser = cell.configuration == "rf1-one" && matches!(cell.load, LoadLevel::Concurrency(_));
        cell.writes = Some(if is_loser { lost() } else { kept() });
    }
    let page = drawn(&analysis);
    assert!(!page.contains("<title>rf1-one:"), "{page}");
    assert!(page.contains("Not drawn: rf1-one (it lost acknowledged writes)."), "{page}");
    assert!(page.contains("<title>rf3-quorum:") && page.contains("<title>rf3-all:"));
}
