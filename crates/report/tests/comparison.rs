//! Two runs against each other, as Markdown and on a terminal.

use crate::page;
use analysis::{Comparison, GateOutcome, Obstacle, Verdict, Withheld};
use report::{comparison_markdown, comparison_terminal};
use serde_json::json;

/// Two cells, the second slower, with a failed gate.
fn story() -> Comparison {
    let (analysis, _) = page::run(&["a-configuration-with-quite-a-long-name-gp3-16000", "io2"], &["read-heavy"], 3);
    let change = |percent: f64, verdict: &str| {
        let estimate = analysis.cells[0].throughput_ops_per_s.unwrap();
        json!({"a": estimate, "b": estimate, "change_percent": percent, "low_percent": percent - 1.0,
            "high_percent": percent + 1.0, "level": 0.05, "p_value": 0.001, "p_adjusted": 0.002,
            "smallest_detectable_percent": 4.0,
            "verdict": verdict})
    };
    let cell = |index: usize, percent: f64, verdict: &str| {
        let cell = &analysis.cells[index];
        json!({"cell": cell.id, "configuration": cell.configuration, "workload": cell.workload, "load": cell.load,
            "metrics": {"throughput": change(percent, verdict)}})
    };
    let gate = json!({"expression": "throughput < -5%", "outcome": "failed",
        "obstacles": [{"cells_missing": {"cells": 1}}],
        "would_decide_repetitions": null, "cells": [{"cell": analysis.cells[2].id, "metric": "throughput",
            "outcome": "failed",
            "change": change(-12.0, "slower")}]});
    let differences: Vec<String> =
        (0..14).map(|i| format!("configurations.io2.data.limits.of_{i}: 960 -> 3000")).collect();
    serde_json::from_value(json!({"format_version": 1, "same_run": false, "same_seed": false,
        "a": "before-20260101T000000Z", "b": "after-20260108T000000Z",
        "differences": differences,
        "hosts_differ": [], "not_compared": ["x.y.c1 is not in after-20260108T000000Z"],
        "cells": [cell(0, 0.4, "no difference shown"), cell(2, -12.0, "slower")], "gates": [gate]}))
    .unwrap()
}

#[test]
fn both_forms_say_the_same_and_the_terminal_keeps_its_width() {
    let comparison = story();
    let markdown = comparison_markdown(&comparison);
    for width in [80, 100, 140] {
        let text = comparison_terminal(&comparison, width);
        let widest = text.lines().map(|l| l.chars().count()).max().unwrap();
        assert!(widest <= width, "{widest} of {width}:\n{text}");
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in [
            "throughput < -5%",
            "FAILED",
            "-12.0 % (-13.0 to -11.0 %): wholly beyond the threshold",
            "1 cell stands in one of the runs only",
            "x.y.c1 is not in after-20260108T000000Z",
            "configurations.io2.data.limits.of_0: 960 -> 3000",
            "and 2 more, see --format json",
        ] {
            assert!(flat.contains(said), "{said}:\n{text}");
            assert!(markdown.contains(said), "{said}:\n{markdown}");
        }
    }
    assert!(
        markdown.contains("| io2 | 1,000 | 1,000 | -12.0 % | -13.0 to -11.0 % | slower |"),
        "what all rows have in common stands above them: {markdown}"
    );
}

#[test]
fn different_scales_are_said_before_any_figure() {
    let mut comparison = story();
    let said = "Note: the scales differ (1:8 and 1:32): throughputs and latencies are those of different models";
    assert!(!comparison_markdown(&comparison).contains("the scales differ"));
    comparison.scales_differ = Some((8.0, 32.0));
    let markdown = comparison_markdown(&comparison);
    let note = markdown.find(said).unwrap_or_else(|| panic!("{markdown}"));
    assert!(note < markdown.find("-12.0 %").unwrap(), "{markdown}");
}

#[test]
fn other_work_is_said_before_any_figure() {
    let mut comparison = story();
    assert!(!comparison_markdown(&comparison).contains("different work"));
    for line in ["configurations.io2.placement.replication_factor: 1 -> 3", "target.consistency: one -> local_quorum"] {
        comparison.differences.push(line.to_owned());
    }
    let markdown = comparison_markdown(&comparison);
    let said = "Note: the runs did different work, which is part of every change: \
                configurations.io2.placement.replication_factor: 1 -> 3; target.consistency: one -> local_quorum.";
    let note = markdown.find(said).unwrap_or_else(|| panic!("{markdown}"));
    assert!(note < markdown.find("-12.0 %").unwrap(), "{markdown}");
}

/// Of cells without a test nobody knows the spread, and a large one hides a change that is far from the threshold.
#[test]
fn an_open_gate_promises_no_number_that_it_cannot_know() {
    let said = |verdict: Verdict, repetitions: Option<u32>| {
        let mut comparison = story();
        let gate = &mut comparison.gates[0];
        (gate.outcome, gate.would_decide_repetitions) = (GateOutcome::Inconclusive, repetitions);
        gate.obstacles.clear();
        gate.cells[0].outcome = GateOutcome::Inconclusive;
        gate.cells[0].change.verdict = verdict;
        comparison_markdown(&comparison)
    };
    for (verdict, repetitions, words) in [
        (Verdict::Slower, Some(7), "about 7 repetitions of each cell in both runs would decide in 80 of 100"),
        (Verdict::TooFew, Some(3), "at least 3 repetitions of each cell in both runs are needed"),
        (Verdict::Slower, None, "for how they spread, the change lies too near the threshold"),
    ] {
        let markdown = said(verdict, repetitions);
        assert!(markdown.contains(words), "{words}: {markdown}");
        assert_eq!(markdown.contains("of runs, if what was seen is the truth"), repetitions == Some(7), "{markdown}");
    }
}

/// The client was the limit of both runs: that nothing changed says nothing of the database.
#[test]
fn what_was_not_the_storage_is_said_before_any_figure() {
    let mut comparison = story();
    assert!(!comparison_markdown(&comparison).contains("not all figures"));
    comparison.cells[0].withheld_a = Some(Withheld::Client);
    comparison.cells[1].withheld_a = Some(Withheld::Client);
    comparison.cells[0].withheld_b = Some(Withheld::PageCache);
    let (first, second) = (comparison.cells[0].cell.clone(), comparison.cells[1].cell.clone());
    let text = comparison_terminal(&comparison, 400);
    let said = format!(
        "Note: not all figures are those of the storage in its sustained state, and changes of these are none of it: \
         the client was at its limit in before-20260101T000000Z ({first} and {second}); memory answered in \
         after-20260108T000000Z ({first})."
    );
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&said), "{text}");
    comparison.gates[0].obstacles.extend([Obstacle::Withheld { cells: 2 }, Obstacle::FiguresMissing { cells: 1 }]);
    let without = "1 cell has no such figure in at least one of the runs: that nothing is lost there is not shown";
    assert!(comparison_markdown(&comparison).contains(without));
    let of_gate = "of 2 cells something else was measured than the storage in its sustained state: that nothing is \
                   lost there is not shown";
    assert!(comparison_markdown(&comparison).contains(of_gate));
}
