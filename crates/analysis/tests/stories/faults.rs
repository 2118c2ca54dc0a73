//! Nodes taken away by plan: before, during and after stand apart, what is planned spoils nothing, and who loses
//! acknowledged writes is not recommended.

use std::collections::BTreeMap;

use crate::story::faults::{Trial, kept, kill, plan_with, planned};
use crate::story::run;
use analysis::rules::faults_planned::FaultsPlanned;
use analysis::rules::writes_lost::{WritesLost, WritesUnread};
use analysis::{
    Analysis, AnswerOutcome, Caution, CellAnalysis, DecidedBy, ErrorKind, FaultAnalysis, Finding, HostId, NotJudged,
    PhaseAnalysis, PhaseKind, Reason, Rule, Severity, Status, TrialMeasurement, analyse,
};
use evidence::{FaultRecord, LostValue, ProcessEnd, WriteCheck};
use experiment::{Consistency, FailingRequests, FaultAction, NodeFault, NodeFaultKind, VolumeRole};
use reported::cassandra::{COMPACTED_BYTES, DROPPED_MESSAGES};
use stats::Summary;

const SLOW: &str = "gp2-320";
const FAST: &str = "io1-10000";

/// One configuration, trials as given.
fn of_cell(faults: Vec<NodeFault>, trials: &[Trial]) -> CellAnalysis {
    let job = plan_with(faults, trials.len() as u32);
    let measured: Vec<TrialMeasurement> = trials.iter().map(Trial::measured).collect();
    analyse(&run(&job, &measured)).cells.into_iter().find(|c| c.configuration == FAST).unwrap()
}

fn phase(cell: &CellAnalysis, kind: PhaseKind) -> &PhaseAnalysis {
    let phases = &cell.faults.as_ref().unwrap().phases;
    phases.iter().find(|p| p.phase == kind).unwrap()
}

fn fault(cell: &CellAnalysis) -> &FaultAnalysis {
    &cell.faults.as_ref().unwrap().faults[0]
}

fn at(value: f64) -> Option<Summary> {
    Summary::of([value])
}

#[test]
fn before_during_and_after_are_told_apart() {
    let trial = Trial::new(FAST, 1, vec![kill(20.0, Some(40.0), Some(52.0))]);
    let cell = of_cell(vec![planned()], &[trial]);
    assert_eq!((cell.trials, cell.valid_trials), (1, 1), "{:?}", cell.trials_invalid);
    let [before, during, after] = [PhaseKind::Before, PhaseKind::During, PhaseKind::After].map(|k| phase(&cell, k));
    assert_eq!(
        [before, during, after].map(|p| (p.seconds, p.throughput_ops_per_s)),
        [(at(20.0), at(1000.0)), (at(32.0), at(600.0)), (at(8.0), at(950.0))]
    );
    assert_eq!((before.operations, before.failed()), (20_000, 0));
    assert_eq!(during.errors, BTreeMap::from([(ErrorKind::Unavailable, 32 * 15), (ErrorKind::WriteTimeout, 32 * 5)]));
    assert_eq!(during.operations, 32 * 620);
    let share = during.error_share.unwrap().median;
    assert!((share - 20.0 / 620.0).abs() < 1e-12, "{share}");
    // 100 in flight: 100 ms at 1000/s, 161 ms at 620/s.
    let ms = |p: &PhaseAnalysis| p.p99_us.unwrap().median / 1e3;
    assert!((ms(before) - 100.0).abs() < 0.1 && (ms(during) - 161.3).abs() < 0.2, "{before:?} {during:?}");
    let reported = fault(&cell);
    assert_eq!((reported.node, reported.planned), (HostId::database(1), Some(planned())));
    assert_eq!((reported.back_s, reported.return_took_s), (at(52.0), at(12.0)));
    assert_eq!((reported.not_back, reported.left_away), (0, 0));
    assert_eq!((reported.recovery.recovered, reported.recovery.seconds), (1, at(0.0)));
}

/// The figures of the cell are those of the whole minute.
#[test]
fn the_cell_keeps_the_figures_of_the_whole_measurement() {
    let trial = Trial::new(FAST, 1, vec![kill(20.0, Some(40.0), Some(52.0))]);
    let cell = of_cell(vec![planned()], &[trial]);
    let whole = (20.0 * 1000.0 + 32.0 * 600.0 + 8.0 * 950.0) / 60.0;
    let throughput = cell.throughput_ops_per_s.unwrap().median;
    assert!((throughput - whole).abs() < 1e-6, "{throughput} {whole}");
    assert_eq!(cell.errors.values().sum::<u64>(), 32 * 20);
}

/// Machines are looked at before the fault alone: the node that was killed counts from zero afterwards.
#[test]
fn machines_are_judged_by_the_seconds_before_the_fault() {
    let trial = Trial::new(FAST, 1, vec![kill(20.0, Some(40.0), Some(52.0))]).measured();
    let before = trial.undisturbed();
    assert_eq!((before.window.to_s, trial.window.to_s), (19.0, 60.0));
    // Operations are counted by whole seconds: so is the time that they are divided by.
    let later = Trial::new(FAST, 1, vec![kill(20.9, Some(40.0), Some(52.0))]).measured();
    let rate = later.undisturbed().throughput().unwrap();
    assert!((rate - 1000.0).abs() < 1e-9, "{rate}");
    for node in trial.nodes() {
        let cpus = node.host.cpus_used.unwrap();
        assert!((cpus - 0.5).abs() < 1e-9, "{}: {cpus}", node.id);
        assert_eq!(node.host.work.total(&DROPPED_MESSAGES), Some(0.0));
    }
    // 180 reads of the volumes for 1000 operations, not for 863.
    let reads = trial.per_operation(trial.sum_of_volumes(experiment::VolumeRole::Data, |v| v.reads)).unwrap();
    assert!((reads - 0.18).abs() < 0.01, "{reads}");
    let job = plan_with(vec![planned()], 1);
    let trials = [trial];
    let analysis = analyse(&run(&job, &trials));
    let cell = analysis.cells.iter().find(|c| c.configuration == FAST).unwrap();
    assert!((cell.database_cpus_used.unwrap() - 1.5).abs() < 1e-9);
    // 19 s are too short to judge, and this little trial has few samples; nothing else.
    let is_small = |rule: &Rule| matches!(rule, Rule::TooFewSamples | Rule::TooShortToJudge);
    let rules: Vec<Rule> = cell.findings.iter().map(Finding::rule).filter(|r| !is_small(r)).collect();
    assert_eq!(rules, [], "{:?}", cell.findings);
    let said = analysis.findings.iter().filter(|f| f.rule() == Rule::FaultsPlanned).count();
    assert_eq!(said, 1, "once, of the run");
}

/// A disk that answers with errors for 20 s: the same phases, and none of the errors spoils the trial. That the process
/// ended is reported.
#[test]
fn a_disk_that_fails_by_plan_spoils_no_trial() {
    let mut planned = planned();
    planned.action =
        FaultAction::DiskError { volume: VolumeRole::Data, requests: FailingRequests::Reads, share: 0.05, range: None };
    let mut errors = kill(20.0, Some(40.0), Some(40.1));
    (errors.kind, errors.volume) = (NodeFaultKind::DiskError, Some(VolumeRole::Data));
    errors.failed_requests = Some(12);
    errors.ended = Some(ProcessEnd { at_s: 24.5, how: "signal 7".to_owned() });
    let trial = Trial::new(FAST, 1, vec![errors]);
    let measured = trial.measured();
    assert!(measured.is_valid(), "{:?}", measured.invalid_reason());
    assert_eq!(measured.undisturbed().window.to_s, 19.0);
    let cell = of_cell(vec![planned], &[trial]);
    let reported = fault(&cell);
    assert_eq!(
        (reported.kind, reported.volume, reported.planned),
        (NodeFaultKind::DiskError, Some(VolumeRole::Data), Some(planned))
    );
    assert_eq!((reported.back_s, reported.recovery.recovered), (at(40.1), 1));
    assert_eq!(reported.failed_requests, at(12.0));
    assert_eq!(reported.ended, ["block 1: at 24.5 s, signal 7"]);
}

/// The same errors, the same stops and the same restart without a plan: nothing excuses them.
#[test]
fn what_was_not_planned_still_invalidates() {
    let reported = Trial::new(FAST, 1, vec![kill(20.0, Some(40.0), Some(52.0))]);
    assert!(reported.measured().is_valid());
    let mut unplanned = reported.clone();
    unplanned.faults.clear();
    let measured = unplanned.measured();
    assert!(!measured.is_valid());
    let reason = measured.invalid_reason().unwrap();
    assert!(reason.starts_with("errors_above: ") && reason.contains("480 unavailable"), "{reason}");
    // A process that ends once more than planned, on the node that was killed or on another one.
    for node in [0, 1, 2] {
        let died = reported.measured_with_a_death_of(node);
        assert!(died.invalid_reason().is_some_and(|r| r.starts_with("database_restarted")), "node {node}");
    }
    // Errors before the fault are not those of the fault.
    let mut early = reported;
    early.seconds[5].1 = vec![(ErrorKind::ReadTimeout, 100)];
    let reason = early.measured().invalid_reason();
    assert_eq!(reason.as_deref(), Some("errors_above: 100 read_timeout"));
}

#[test]
fn throughput_that_comes_back_late_or_never() {
    let with = |after: &dyn Fn(usize) -> u64| {
        let mut trial = Trial::new(FAST, 1, vec![kill(10.0, Some(20.0), Some(30.4))]);
        for second in 31..60 {
            trial.seconds[second].0 = after(second);
        }
        fault(&of_cell(vec![planned()], &[trial])).recovery
    };
    // 700 for ten seconds: from 41 s on five seconds have 950; from 40 s on their mean is 900 already.
    let late = with(&|s| if s < 41 { 700 } else { 950 });
    assert_eq!((late.recovered, late.never), (1, 0));
    assert!((late.seconds.unwrap().median - (40.0 - 30.4)).abs() < 1e-9, "{late:?}");
    let never = with(&|_| 890);
    assert_eq!((never.recovered, never.never, never.seconds), (0, 1, None));
    // One good second is not it.
    assert_eq!(with(&|s| if s == 45 { 1500 } else { 700 }).never, 1);
}

#[test]
fn a_node_that_does_not_come_back_has_no_afterwards() {
    for (returned, left_away, not_back) in [(None, 1, 0), (Some(40.0), 0, 1)] {
        let trial = Trial::new(FAST, 1, vec![kill(20.0, returned, None)]);
        let cell = of_cell(vec![planned()], &[trial]);
        let reported = fault(&cell);
        assert_eq!((reported.left_away, reported.not_back), (left_away, not_back));
        assert_eq!((reported.recovery.recovered, reported.recovery.never, reported.recovery.too_short), (0, 0, 0));
        assert_eq!(phase(&cell, PhaseKind::During).seconds, at(40.0));
        let phases = &cell.faults.as_ref().unwrap().phases;
        match phases.get(2) {
            // Nobody tried: there is nothing to show.
            None => assert_eq!(returned, None),
            // No second of it was measured: no figure, not a figure of 0.
            Some(after) => {
                assert_eq!((after.seconds, after.throughput_ops_per_s), (at(0.0), None));
                assert_eq!((after.p99_us, after.error_share, after.operations), (None, None, 0));
            }
        }
    }
}

#[test]
fn too_few_seconds_afterwards_tell_nothing() {
    let trial = Trial::new(FAST, 1, vec![kill(20.0, Some(50.0), Some(56.5))]);
    let cell = of_cell(vec![planned()], &[trial]);
    assert_eq!(phase(&cell, PhaseKind::After).seconds, at(3.0));
    assert_eq!((fault(&cell).recovery.too_short, fault(&cell).recovery.never), (1, 0));
}

#[test]
fn two_faults_have_an_afterwards_each() {
    let pause = NodeFault { action: FaultAction::NodePause, node: 3, at_s: 40.0, for_s: Some(5.0) };
    let mut second = kill(40.2, Some(45.0), Some(45.0));
    (second.kind, second.host) = (NodeFaultKind::NodePause, HostId::database(2));
    let trial = Trial::new(FAST, 1, vec![kill(10.0, Some(20.0), Some(25.0)), second]);
    // A file may name them in any order.
    let cell = of_cell(vec![pause, NodeFault { at_s: 10.0, for_s: Some(10.0), ..planned() }], &[trial]);
    let faults = cell.faults.as_ref().unwrap();
    let shown: Vec<_> = faults.phases.iter().map(|p| (p.phase.name(), p.fault, p.seconds.unwrap().median)).collect();
    assert_eq!(
        shown,
        [
            ("before", None, 10.0),
            ("during", Some(1), 15.0),
            ("after", Some(1), 15.0),
            ("during", Some(2), 4.0),
            ("after", Some(2), 15.0)
        ]
    );
    assert_eq!(faults.faults[1].planned, Some(pause));
    assert_eq!(faults.faults.iter().map(|f| f.recovery.recovered).collect::<Vec<_>>(), [1, 1]);
    assert!(cell.findings.iter().all(|f| f.rule() != Rule::FaultNotAsPlanned), "{:?}", cell.findings);
}

#[test]
fn hints_wait_while_the_node_is_away_and_some_are_left() {
    let mut trial = Trial::new(FAST, 1, vec![kill(20.0, Some(40.0), Some(45.0))]);
    // The others write hints until the node is back and replay them; the node itself says nothing while it is away.
    let others: Vec<Option<f64>> =
        (0..=60).map(|t: i32| Some(f64::from((t - 20).clamp(0, 25) - (2 * (t - 45)).clamp(0, 23)))).collect();
    let itself = (0..=60).map(|t: i32| (!(21..45).contains(&t)).then_some(0.0)).collect();
    trial.hints = vec![others.clone(), itself, others];
    let cell = of_cell(vec![planned()], &[trial.clone()]);
    let hints = fault(&cell).hint_files.unwrap();
    assert_eq!((hints.most.median, hints.left.median), (50.0, 4.0));
    trial.hints.clear();
    let cell = of_cell(vec![planned()], &[trial]);
    assert_eq!(fault(&cell).hint_files, None, "missing is not zero");
}

/// Three repetitions, in which the node took 5, 12 and 25 s to start again: median and range, nothing invented.
#[test]
fn repetitions_give_a_median_and_a_range() {
    let trials: Vec<Trial> = [(1, 45.0), (2, 52.0), (3, 65.0)]
        .map(|(block, back_s)| {
            let back = (back_s < 60.0).then_some(back_s);
            Trial::new(FAST, block, vec![kill(20.0 + f64::from(block) / 10.0, Some(40.0), back)])
        })
        .to_vec();
    let cell = of_cell(vec![planned()], &trials);
    let reported = fault(&cell);
    assert_eq!((reported.trials, reported.not_back), (3, 1));
    assert_eq!(reported.back_s, Summary::of([45.0, 52.0]));
    assert_eq!(reported.began_s, Summary::of([20.1, 20.2, 20.3]));
    assert_eq!(reported.return_took_s.map(|s| (s.low, s.high)), Some((5.0, 12.0)));
    assert_eq!(reported.recovery.recovered, 2);
    // The second in which the node went away is in neither.
    let seconds = |kind| phase(&cell, kind).seconds.unwrap();
    assert_eq!((seconds(PhaseKind::Before).median, seconds(PhaseKind::During).low), (20.0, 24.0));
    assert_eq!((seconds(PhaseKind::After).low, seconds(PhaseKind::After).high), (0.0, 15.0));
    assert_eq!(phase(&cell, PhaseKind::After).throughput_ops_per_s, at(950.0));
}

fn lost(older: u64, missing: u64) -> WriteCheck {
    WriteCheck {
        consistency: Consistency::One,
        intact: 10_000 - older - missing,
        older,
        missing,
        examples: vec![LostValue {
            key: "user17".into(),
            field: 3,
            acknowledged: 1_700_000_000_000_100,
            found: Some(1_700_000_000_000_000),
        }],
        ..kept()
    }
}

/// The fast configuration beats the slow one by far, and loses writes.
fn with_writes(slow: &WriteCheck, fast: &WriteCheck) -> Analysis {
    let job = plan_with(vec![planned()], 3);
    let faults = || vec![kill(20.0, Some(40.0), Some(45.0))];
    let trials: Vec<TrialMeasurement> = (1..=3)
        .flat_map(|block| {
            let mut of_slow = Trial::new(SLOW, block, faults()).with_writes(slow.clone());
            for (n, _) in &mut of_slow.seconds {
                *n /= 2;
            }
            [of_slow, Trial::new(FAST, block, faults()).with_writes(fast.clone())]
        })
        .map(|trial| trial.measured())
        .collect();
    analyse(&run(&job, &trials))
}

#[test]
fn who_keeps_its_writes_may_win() {
    let analysis = with_writes(&kept(), &kept());
    assert_eq!(analysis.recommendation.run.as_deref(), Some(FAST));
    assert_eq!(analysis.recommendation.not_considered, []);
    let writes = analysis.cells[1].writes.as_ref().unwrap();
    assert_eq!((writes.trials, writes.acknowledged, writes.values, writes.lost()), (3, 36_000, 30_000, 0));
    assert!(analysis.findings.iter().all(|f| f.severity != Severity::Failed));
}

#[test]
fn who_loses_acknowledged_writes_is_not_recommended() {
    let analysis = with_writes(&kept(), &lost(200, 14));
    let recommendation = &analysis.recommendation;
    assert_eq!((recommendation.status, recommendation.run.as_deref()), (Status::Decided, Some(SLOW)));
    assert_eq!(recommendation.places[0].by, DecidedBy::Writes);
    assert_eq!(
        recommendation.not_considered.iter().map(|n| (n.configuration.as_str(), n.why)).collect::<Vec<_>>(),
        [(FAST, NotJudged::LostWrites { lost: 642, values: 30_000 })]
    );
    let fast = analysis.cells.iter().find(|c| c.configuration == FAST).unwrap();
    // Its figures count all the same.
    assert_eq!(fast.valid_trials, 3);
    let reported = fast.findings.iter().find(|f| f.rule() == Rule::WritesLost).unwrap();
    let figures = reported.figures::<WritesLost>().unwrap();
    assert_eq!((reported.severity, figures.older, figures.missing), (Severity::Failed, 600, 42));
    let example = figures.example.as_ref().unwrap();
    assert!(example.contains("key user17, field 3"), "{example}");
    assert!(analysis.decision.iter().all(|d| d.cautions.contains(&Caution::LostWrites)));
    assert_eq!(analysis.value_of_money, []);
}

#[test]
fn where_all_lose_writes_there_is_nothing_to_recommend() {
    let analysis = with_writes(&lost(1, 0), &lost(200, 14));
    let recommendation = &analysis.recommendation;
    assert_eq!((recommendation.status, recommendation.reason), (Status::NotDecided, Reason::Undecided));
    assert_eq!(recommendation.places[0].outcome, AnswerOutcome::AllLostWrites);
    assert_eq!(recommendation.not_considered.len(), 2);
}

/// One replica, whose node stays away: a third of the values cannot be read. Nobody knows whether they are lost.
#[test]
fn what_cannot_be_read_is_a_doubt_and_no_loss() {
    let unread = WriteCheck { intact: 6_667, unreadable: 3_333, ..kept() };
    let analysis = with_writes(&kept(), &unread);
    let fast = analysis.cells.iter().find(|c| c.configuration == FAST).unwrap();
    assert_eq!(fast.writes.as_ref().unwrap().unreadable, 9_999);
    let reported = fast.findings.iter().find(|f| f.rule() == Rule::WritesUnread).unwrap();
    assert_eq!((reported.severity, reported.figures::<WritesUnread>().unwrap().unreadable), (Severity::Suspect, 9_999));
    assert_eq!(analysis.recommendation.run.as_deref(), Some(FAST));
}

/// A loss in a trial that is invalid for another reason is a loss.
#[test]
fn a_loss_counts_whatever_else_is_wrong() {
    let mut trial = Trial::new(FAST, 1, vec![kill(20.0, Some(40.0), Some(45.0))]).with_writes(lost(5, 0));
    trial.seconds[5].1 = vec![(ErrorKind::ReadTimeout, 100)];
    let cell = of_cell(vec![planned()], &[trial]);
    assert_eq!((cell.valid_trials, cell.faults), (0, None));
    assert!(cell.writes.unwrap().lost() == 5 && cell.findings.iter().any(|f| f.rule() == Rule::WritesLost));
}

#[test]
fn without_faults_a_cell_has_none_and_its_document_says_so() {
    let job = crate::story::job();
    let analysis = analyse(&run(&job, &crate::story::trials()));
    let text = serde_json::to_string_pretty(&analysis.cells).unwrap();
    assert!(text.contains("\"faults\": null") && text.contains("\"writes\": null"), "{text}");
}

/// Its node is there all the time: machines are judged before it, and what it wrote is what the node counted more.
#[test]
fn a_compaction_is_reported_with_its_time_and_the_bytes_that_it_wrote() {
    let compaction =
        FaultRecord { kind: NodeFaultKind::Compaction, gone_s: 20.0, ..kill(20.0, Some(20.0), Some(31.0)) };
    let trial = Trial::new(FAST, 1, vec![compaction]);
    let planned = NodeFault { action: FaultAction::Compaction, node: 2, at_s: 20.0, for_s: None };
    let with = |counted: &dyn Fn(f64) -> Option<f64>| {
        let mut samples = trial.samples();
        for sample in samples.get_mut(&HostId::database(1)).unwrap() {
            sample.database.set(&COMPACTED_BYTES, counted(sample.t_s));
        }
        let job = plan_with(vec![planned], 1);
        let analysis = analyse(&run(&job, &[trial.measured_with(samples)]));
        let mut said = analysis.findings.iter().filter_map(Finding::figures::<FaultsPlanned>);
        let said = said.next().unwrap();
        assert_eq!((said.compactions, said.away_s), (1, 0.0));
        analysis.cells.into_iter().find(|c| c.configuration == FAST).unwrap()
    };
    let cell = with(&|t| Some(if t < 31.0 { 5e6 } else { 95e6 }));
    assert_eq!(cell.valid_trials, 1, "{:?}", cell.trials_invalid);
    let reported = fault(&cell);
    assert_eq!((reported.kind, reported.planned), (NodeFaultKind::Compaction, Some(planned)));
    assert_eq!((reported.away_s, reported.compacted_bytes), (at(11.0), at(90e6)));
    assert_eq!(phase(&cell, PhaseKind::During).seconds, at(11.0));
    assert_eq!(fault(&with(&|_| None)).compacted_bytes, None, "missing is not zero");
}
