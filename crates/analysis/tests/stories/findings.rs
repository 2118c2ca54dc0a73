//! Findings among the trials of a run; each rule's own cases stand beside it.

use std::collections::BTreeMap;

use crate::story::{job, measured, record, run, trials};
use analysis::rules::burst::BurstOnly;
use analysis::{Finding, Rule, Scope, Severity, TrialEvidence, Withheld, analyse, measure, rules};
use evidence::{Interval, OperationKind, Series, Validity, empty_histogram};
use experiment::{Arrivals, LoadLevel};

#[test]
fn an_invalid_trial_is_reported_with_its_reason_and_never_counted() {
    let mut all = trials();
    all[0].record.validity = Validity::Invalid {
        cause: evidence::Cause::DatabaseEnded,
        reason: "the database died".into(),
        log_tail: vec!["OOM".into()],
    };
    all[0].forbidden = rules::forbidden(&all[0]);
    let job = job();
    let analysis = analyse(&run(&job, &all));
    assert_eq!(analysis.invalid_trials(), 1);
    let gp2 = &analysis.cells[0];
    assert_eq!((gp2.trials, gp2.valid_trials), (2, 1));
    assert_eq!(gp2.trials_invalid[0].reason, "the database died");
    assert!((gp2.throughput_ops_per_s.unwrap().median - 550.0).abs() < 1e-9);
    assert_eq!(analysis.cells[1].ratio_to_slowest.clone().unwrap().pairs, 1, "block 1 has lost its pair");
    assert!(analysis.findings.iter().any(|f| f.rule() == Rule::TrialInvalid && f.severity == Severity::Invalid));
}

/// Burst credits make a trial's value worth nothing for the sustained state, and its finding carries what a full bucket
/// gives.
#[test]
fn a_trial_on_burst_credits_withholds_its_cells_value() {
    let mut job = job();
    job.setups[1].data.burst = Some(experiment::Burst {
        baseline_iops: 20.0,
        burst_iops: 187.5,
        credits_max: 337_500.0,
        credits_start: 337_500.0,
    });
    let mut all = trials();
    // Its reads do reach the volume.
    for (trial, block) in all[2..].iter_mut().zip(1..) {
        let reported = crate::story::Reported {
            configuration: "io1-10000",
            block,
            operations: 120_000,
            device_reads: 12_000.0,
            probe_read_iops: 500.0,
        };
        *trial = measured(&record(reported), 12_000.0);
    }
    all[2].record.nodes[0].volumes[0].burst_credits = Some((337_500.0, 330_000.0));
    let analysis = analyse(&run(&job, &all));
    assert_eq!(analysis.cells[0].withheld, None);
    assert!(
        matches!(analysis.cells[1].withheld, Some(Withheld::Burst { baseline_iops: 20.0, .. })),
        "{:?}",
        analysis.cells[1].withheld
    );
    let mut reported = analysis.cells[1].findings.iter().filter_map(Finding::figures::<BurstOnly>);
    let lasts = reported.next().unwrap().lasts.unwrap();
    assert!(lasts.full_bucket_lasts_s.unwrap() > 1000.0, "{lasts:?}");
}

/// A finding is about the trial's directory; suspect is shown, not excluded.
#[test]
fn a_suspect_trial_names_its_directory_and_still_counts() {
    let reported = crate::story::Reported {
        configuration: "io1-10000",
        block: 1,
        operations: 120_000,
        device_reads: 100.0,
        probe_read_iops: 625.0,
    };
    let trial = measured(&record(reported), 100.0);
    let findings = rules::of_trial(&trial);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].scope, Scope::Trial("io1-10000.read-heavy.c100/1".into()));
    assert!(trial.is_valid());
}

/// A real client sends all that is due and waits for the answers: what had queued by the end is answered after it, and
/// is no throughput of the measured minute.
#[test]
fn a_backlog_answered_after_the_end_is_no_rate_held() {
    let with = |drained_s: f64| {
        let mut record = record(crate::story::Reported {
            configuration: "io1-10000",
            block: 1,
            operations: 60_000,
            device_reads: 12_000.0,
            probe_read_iops: 625.0,
        });
        record.load = LoadLevel::Rate { operations_per_s: 1000.0, arrivals: Arrivals::Constant };
        // 60,000 requests were due in 60 s; they were answered evenly until `drained_s` later.
        let each = 60_000.0 / (60.0 + drained_s);
        let intervals: Vec<Interval> = (0..60)
            .map(|second| {
                let length_s = if second == 59 { 1.0 + drained_s } else { 1.0 };
                let mut histogram = empty_histogram();
                histogram.record_n(5_000, (each * length_s).round() as u64).unwrap();
                Interval {
                    series: Series::Response(OperationKind::Read),
                    start_s: f64::from(second),
                    length_s,
                    histogram,
                }
            })
            .collect();
        let trial = measure(&TrialEvidence { record: &record, intervals: &intervals, samples: &BTreeMap::new() });
        (
            trial.throughput().unwrap().round(),
            rules::of_trial(&trial).iter().any(|f| f.rule() == Rule::OfferedNotAchieved),
        )
    };
    assert_eq!(with(0.0), (1000.0, false));
    assert_eq!(with(0.3), (995.0, false), "within 1 %");
    assert_eq!(with(3.0), (952.0, true));
    assert_eq!(with(20.0), (750.0, true));
}

/// 250 requests in flight at 88 a second: the last of those sent within the measured time are answered 3.8 s after it.
/// As many were under way at its start and do not count, so that nothing is to be taken away.
#[test]
fn what_a_closed_loop_has_under_way_at_the_end_is_throughput() {
    let record = record(crate::story::Reported {
        configuration: "gp2-320",
        block: 1,
        operations: 5_280,
        device_reads: 3_600.0,
        probe_read_iops: 60.0,
    });
    let mut intervals = crate::story::intervals(&record);
    for interval in intervals.iter_mut().filter(|i| i.start_s == 59.0) {
        interval.length_s = 4.8;
    }
    let trial = measure(&TrialEvidence { record: &record, intervals: &intervals, samples: &BTreeMap::new() });
    assert!((trial.throughput().unwrap() - 88.0).abs() < 0.01, "{:?}", trial.throughput());
}
