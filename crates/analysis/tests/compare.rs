//! Two runs against each other.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod story;

use analysis::{Gate, TrialMeasurement, Verdict, compare};
use story::{Told, measured, plan, record, run};

/// Four repetitions of both cells; `io1` at `factor` times its throughput.
fn trials(factor: f64) -> Vec<TrialMeasurement> {
    (1..=4)
        .flat_map(|block| {
            let drift = 1.0 + f64::from(block) / 100.0;
            [("gp2-320", 30_000.0), ("io1-10000", 120_000.0 * factor)].map(|(configuration, operations)| {
                let told = Told {
                    configuration,
                    block,
                    operations: (operations * drift) as u64,
                    device_reads: 2_000.0,
                    probe_read_iops: 60.0,
                };
                measured(&record(told), 2_000.0)
            })
        })
        .collect()
}

#[test]
fn a_loss_is_shown_and_fails_its_gate_and_only_that() {
    let plan = plan();
    let (before, after) = (trials(1.0), trials(0.8));
    let comparison = compare(&run(&plan, &before), &run(&plan, &after));
    let throughput = |cell: usize| comparison.cells[cell].metrics["throughput"].clone();
    assert_eq!(throughput(0).verdict, Verdict::NoDifferenceShown);
    let lost = throughput(1);
    assert_eq!(lost.verdict, Verdict::Slower);
    assert!(
        (lost.change_percent + 20.0).abs() < 0.01 && lost.high_percent < -10.0,
        "{lost:?}"
    );
    // In a closed loop, latency is the mirror image.
    assert_eq!(comparison.cells[1].metrics["p99"].verdict, Verdict::Slower);
    for (gate, fails) in [
        ("throughput < -5%", true),
        ("throughput < -25%", false),
        ("throughput > 0%", false),
        ("p99 > 10%", true),
    ] {
        let decided = Gate::parse(gate).unwrap().decide(&comparison);
        assert_eq!(decided.failed, fails, "{gate}: {:?}", decided.reasons);
        assert!(
            decided.reasons.iter().all(|r| r.starts_with("io1-10000")),
            "{:?}",
            decided.reasons
        );
    }
}

#[test]
fn a_run_against_itself_passes_every_gate() {
    let plan = plan();
    let trials = trials(1.0);
    let comparison = compare(&run(&plan, &trials), &run(&plan, &trials));
    assert!(comparison.differences.is_empty(), "{:?}", comparison.differences);
    for gate in ["throughput < 0%", "throughput > 0%", "p999 > 0%"] {
        assert!(!Gate::parse(gate).unwrap().decide(&comparison).failed, "{gate}");
    }
}

#[test]
fn single_repetitions_are_not_tested_and_the_plain_change_decides() {
    let plan = plan();
    let (before, after) = (trials(1.0), trials(0.8));
    let comparison = compare(&run(&plan, &before[..2]), &run(&plan, &after[..2]));
    assert_eq!(
        comparison.cells[1].metrics["throughput"].verdict,
        Verdict::NotComparable
    );
    let decided = Gate::parse("throughput < -5%").unwrap().decide(&comparison);
    assert!(
        decided.failed && decided.reasons[0].contains("not tested"),
        "{:?}",
        decided.reasons
    );
}

#[test]
fn nothing_in_common_fails_a_gate() {
    let plan = plan();
    let trials = trials(1.0);
    let comparison = compare(&run(&plan, &trials), &run(&plan, &[]));
    assert_eq!(comparison.not_compared.len(), 2);
    assert!(Gate::parse("throughput < -5%").unwrap().decide(&comparison).failed);
}

#[test]
fn what_differs_between_the_runs_is_named() {
    let before = plan();
    let mut after = plan();
    after.scale = 8.0;
    after.setups[0].data.limits.read_iops = Some(90.0);
    let trials = trials(1.0);
    let comparison = compare(&run(&before, &trials), &run(&after, &trials));
    assert_eq!(
        comparison.differences,
        [
            "configurations.gp2-320.data.limits.read_iops: 60.0 -> 90.0",
            "scale: 16.0 -> 8.0"
        ]
    );
}
