//! Each finding fires when its fault is there, and not otherwise.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod story;

use std::collections::BTreeMap;

use analysis::{Scope, Severity, TrialMeasurement, analyse, rules};
use evidence::{ErrorKind, SendLag, TrialRecord, Validity};
use spec::LoadLevel;
use story::{Told, measured, plan, record, run, trials};

/// A trial without fault: 0.05 device reads for each operation, far below every limit.
fn sound() -> TrialRecord {
    record(Told {
        configuration: "io1-10000",
        block: 1,
        operations: 120_000,
        device_reads: 9_600.0,
        probe_read_iops: 625.0,
    })
}

fn rules_of(trial: &TrialMeasurement) -> Vec<String> {
    trial.findings.iter().map(|f| f.rule.clone()).collect()
}

/// The rules that fire on the sound trial after a change to its record.
fn after(change: impl FnOnce(&mut TrialRecord)) -> Vec<String> {
    let mut record = sound();
    change(&mut record);
    rules_of(&measured(&record, 9_600.0))
}

#[test]
fn a_sound_trial_has_no_findings() {
    assert_eq!(after(|_| {}), Vec::<String>::new());
}

#[test]
fn errors_above_one_in_a_thousand_make_a_trial_invalid() {
    let errors = |n: u64| after(|r| r.client.as_mut().unwrap().errors = BTreeMap::from([(ErrorKind::ReadTimeout, n)]));
    assert_eq!(errors(100), Vec::<String>::new());
    assert_eq!(errors(200), ["errors_above"]);
    let mut record = sound();
    record
        .client
        .as_mut()
        .unwrap()
        .errors
        .insert(ErrorKind::ReadTimeout, 200);
    let trial = measured(&record, 9_600.0);
    assert!(!trial.is_valid());
    assert!(trial.invalid_reason().unwrap().contains("200 read_timeout"));
}

#[test]
fn one_missing_row_is_told_and_is_no_timeout() {
    assert_eq!(
        after(|r| r.client.as_mut().unwrap().errors = BTreeMap::from([(ErrorKind::NotFound, 1)])),
        ["not_found"]
    );
}

#[test]
fn a_client_out_of_cpu_is_suspect() {
    assert_eq!(
        after(|r| r.client.as_mut().unwrap().client_cpu_s = 50.0),
        ["client_saturated"]
    );
    assert_eq!(
        after(|r| (
            r.client.as_mut().unwrap().client_cpu_s,
            r.client.as_mut().unwrap().threads
        ) = (50.0, 2)),
        [""; 0]
    );
}

#[test]
fn a_late_or_overrun_open_loop_is_suspect() {
    let open = |rate: f64, p99: u64| {
        after(|r| {
            r.load = LoadLevel::Rate {
                operations_per_s: rate,
                poisson: true,
            };
            r.client.as_mut().unwrap().send_lag_us = Some(SendLag { p50: 10, p99, max: p99 });
        })
    };
    assert_eq!(open(2000.0, 900), [""; 0]);
    assert_eq!(open(2000.0, 5000), ["send_lag"]);
    assert_eq!(open(2500.0, 900), ["offered_not_achieved"]);
}

#[test]
fn little_notices_requests_that_were_not_in_flight() {
    assert_eq!(after(|r| r.load = LoadLevel::Concurrency(120)), ["little"]);
}

#[test]
fn counters_and_histograms_must_agree() {
    let mut record = sound();
    let mut trial = measured(&record, 9_600.0);
    record
        .client
        .as_mut()
        .unwrap()
        .completed
        .values_mut()
        .for_each(|n| *n *= 2);
    trial.record = record;
    assert!(rules::of_trial(&trial).iter().any(|f| f.rule == "counts_disagree"));
}

#[test]
fn reads_that_never_reach_the_volume_are_suspect() {
    let trial = measured(&sound(), 100.0);
    assert_eq!(rules_of(&trial), ["served_from_page_cache"]);
    assert_eq!(
        trial.findings[0].scope,
        Scope::Trial("io1-10000.read-heavy.c100/1".into())
    );
    assert!(trial.is_valid(), "suspect is shown, not excluded");
    // A workload that does not read has nothing to serve from the cache.
    let mut writes = sound();
    let client = writes.client.as_mut().unwrap();
    let all = client.completed.values().sum();
    client.completed = BTreeMap::from([(evidence::OperationKind::Update, all)]);
    assert_eq!(rules_of(&measured(&writes, 0.0)), [""; 0]);
}

#[test]
fn a_volume_at_its_limit_is_told_with_the_throttles_steps() {
    // 620 of 625 IOPS; responses of 200 ms.
    let mut record = sound();
    record
        .client
        .as_mut()
        .unwrap()
        .completed
        .values_mut()
        .for_each(|n| *n /= 4);
    assert_eq!(
        rules_of(&measured(&record, 620.0 * 60.0)),
        ["throttle_slices", "volume_at_cap"]
    );
}

#[test]
fn more_than_ebs_would_give_is_suspect() {
    // Reads at the limit and writes beside them.
    let trial = measured(&sound(), 660.0 * 60.0);
    assert!(
        rules_of(&trial).contains(&"separate_read_write_limits".to_owned()),
        "{:?}",
        rules_of(&trial)
    );
}

#[test]
fn burst_credits_spent_inside_the_window_are_suspect() {
    let credits = |start: f64, end: f64| after(|r| r.database.volumes[0].burst_credits = Some((start, end)));
    assert_eq!(credits(5000.0, 0.0), ["burst_changed"]);
    assert_eq!(credits(5000.0, 3000.0), ["burst_only"]);
    assert_eq!(credits(5000.0, 5000.0), [""; 0]);
    assert_eq!(credits(0.0, 0.0), [""; 0]);
}

#[test]
fn an_invalid_trial_is_told_with_its_reason_and_never_counted() {
    let mut all = trials();
    all[0].record.validity = Validity::Invalid {
        reason: "the database died".into(),
        log_tail: vec!["OOM".into()],
    };
    all[0].findings = rules::of_trial(&all[0]);
    let plan = plan();
    let analysis = analyse(&run(&plan, &all));
    assert_eq!(analysis.invalid_trials(), 1);
    let gp2 = &analysis.cells[0];
    assert_eq!((gp2.trials, gp2.valid_trials), (2, 1));
    assert_eq!(gp2.trials_invalid[0].reason, "the database died");
    assert_eq!(gp2.throughput_ops_per_s.unwrap().median, 550.0);
    assert_eq!(
        analysis.cells[1].ratio_to_slowest.clone().unwrap().pairs,
        1,
        "block 1 has lost its pair"
    );
    assert!(
        analysis
            .findings
            .iter()
            .any(|f| f.rule == "trial_invalid" && f.severity == Severity::Invalid)
    );
}

#[test]
fn a_restart_of_the_database_makes_a_trial_invalid() {
    let mut trial = measured(&sound(), 9_600.0);
    trial.host.restarts = Some(1);
    trial.findings = rules::of_trial(&trial);
    assert!(!trial.is_valid());
}

/// gp2 delivered 60.1 of 60 (fine), io1 500 of 625 (-20 %).
#[test]
fn a_volume_off_its_limit_is_suspect_once_for_its_configuration() {
    let plan = plan();
    let trials = trials();
    let analysis = analyse(&run(&plan, &trials));
    let off: Vec<_> = analysis
        .findings
        .iter()
        .filter(|f| f.rule == "emulation_off_limit")
        .collect();
    assert_eq!(off.len(), 1);
    assert_eq!(off[0].scope, Scope::Configuration("io1-10000".into()));
    assert_eq!((off[0].numbers["expected"], off[0].numbers["measured"]), (625.0, 500.0));
}

/// gp2 at its baseline, in its burst, or on the way from one to the other: all as it should be.
#[test]
fn a_bursting_volume_may_be_between_baseline_and_ceiling() {
    let mut plan = plan();
    plan.setups[1].data.burst = Some(spec::Burst {
        baseline_iops: 300.0,
        burst_iops: 625.0,
        credits_max: 1e4,
        credits_start: 1e4,
    });
    let off = |probe_read_iops: f64| {
        let told = Told {
            configuration: "io1-10000",
            block: 1,
            operations: 120_000,
            device_reads: 9_600.0,
            probe_read_iops,
        };
        let analysis = analyse(&run(&plan, &[measured(&record(told), 9_600.0)]));
        analysis.findings.iter().any(|f| f.rule == "emulation_off_limit")
    };
    assert_eq!(
        [200.0, 290.0, 500.0, 640.0, 700.0].map(off),
        [true, false, false, false, true]
    );
}

#[test]
fn percentiles_want_a_hundred_samples_beyond_them() {
    let plan = plan();
    let trials = trials();
    let analysis = analyse(&run(&plan, &trials));
    // 24,000 reads support p99 (240 beyond) but not p99.9 (24); 6,000 updates do not support p99 (60).
    let needed: Vec<f64> = analysis.cells[0]
        .findings
        .iter()
        .filter(|f| f.rule == "too_few_samples")
        .map(|f| f.numbers["needed"])
        .collect();
    assert_eq!(
        needed.iter().map(|n| n.round()).collect::<Vec<_>>(),
        [100_000.0, 10_000.0]
    );
}
