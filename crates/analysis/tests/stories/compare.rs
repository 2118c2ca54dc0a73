//! Two runs against each other.

use crate::story::{Reported, job, measured, record, run};
use analysis::{Comparison, Gate, GateOutcome, Metric, Obstacle, TrialMeasurement, Verdict, Withheld, compare};
use experiment::{Arrivals, LoadLevel};

/// Four repetitions of both cells; `io1` at `factor` times its throughput.
fn trials(factor: f64) -> Vec<TrialMeasurement> {
    (1..=4)
        .flat_map(|block| {
            let drift = 1.0 + f64::from(block) / 100.0;
            [("gp2-320", 30_000.0, 3_590.0, 60.1), ("io1-10000", 120_000.0 * factor, 12_000.0, 500.0)].map(
                |(configuration, operations, device_reads, probe_read_iops)| {
                    let operations = (operations * drift) as u64;
                    measured(
                        &record(Reported { configuration, block, operations, device_reads, probe_read_iops }),
                        device_reads,
                    )
                },
            )
        })
        .collect()
}

#[test]
fn a_loss_is_shown_and_fails_its_gate_and_only_that() {
    let job = job();
    let (before, after) = (trials(1.0), trials(0.8));
    let comparison = compare(&run(&job, &before), &run(&job, &after));
    let throughput = |cell: usize| comparison.cells[cell].metrics[&Metric::Throughput].clone();
    assert_eq!(throughput(0).verdict, Verdict::Same);
    let lost = throughput(1);
    assert_eq!(lost.verdict, Verdict::Slower);
    assert!((lost.change_percent + 20.0).abs() < 0.01 && lost.high_percent < -10.0, "{lost:?}");
    // In a closed loop, latency is the mirror image.
    assert_eq!(comparison.cells[1].metrics[&Metric::P99].verdict, Verdict::Slower);
    use GateOutcome::{Failed, Inconclusive, Passed};
    for (gate, outcome) in [
        ("throughput < -5%", Failed),
        ("throughput < -20%", Inconclusive),
        ("throughput < -30%", Passed),
        ("throughput > 30%", Passed),
        ("p99 > 10%", Failed),
    ] {
        let decided = Gate::parse(gate).unwrap().decide(&comparison);
        assert_eq!(decided.outcome, outcome, "{gate}: {decided:?}");
        assert!(decided.cells.iter().all(|c| c.cell.starts_with("io1-10000")), "{decided:?}");
    }
}

#[test]
fn a_run_against_itself_passes_every_gate() {
    let job = job();
    let trials = trials(1.0);
    let comparison = compare(&run(&job, &trials), &run(&job, &trials));
    assert!(comparison.differences.is_empty(), "{:?}", comparison.differences);
    for gate in ["throughput < 0%", "throughput > 0%", "p999 > 0%"] {
        assert_eq!(Gate::parse(gate).unwrap().decide(&comparison).outcome, GateOutcome::Passed, "{gate}");
    }
}

/// A tool may state a figure of one run and not of the other.
#[test]
fn a_gate_does_not_pass_by_figures_that_are_not_there() {
    let job = job();
    let (before, after) = (trials(1.0), trials(1.0));
    let whole = compare(&run(&job, &before), &run(&job, &after));
    let decide = |gate: &str, change: &dyn Fn(&mut Comparison)| {
        let mut comparison = whole.clone();
        change(&mut comparison);
        let decided = Gate::parse(gate).unwrap().decide(&comparison);
        (decided.outcome, decided.obstacles)
    };
    let without = |metric: Metric| {
        move |comparison: &mut Comparison| {
            comparison.cells[0].metrics.remove(&metric);
        }
    };
    assert_eq!(decide("p999 > 30%", &|_| {}), (GateOutcome::Passed, Vec::new()));
    let missing = (GateOutcome::Inconclusive, vec![Obstacle::FiguresMissing { cells: 1 }]);
    assert_eq!(decide("p999 > 30%", &without(Metric::P999)), missing);
    assert_eq!(decide("throughput < -30%", &without(Metric::Throughput)), missing);
    assert_eq!(decide("p999 > 30%", &without(Metric::P99)), (GateOutcome::Passed, Vec::new()), "another figure");
    // At a given rate nobody asks for throughput.
    let at_a_rate = |comparison: &mut Comparison| {
        comparison.cells[0].load = LoadLevel::Rate { operations_per_s: 500.0, arrivals: Arrivals::Constant };
        comparison.cells[0].metrics.remove(&Metric::Throughput);
    };
    assert_eq!(decide("throughput < -30%", &at_a_rate), (GateOutcome::Passed, Vec::new()));
}

#[test]
fn single_repetitions_decide_no_gate_and_three_would() {
    let job = job();
    let (before, after) = (trials(1.0), trials(0.8));
    let comparison = compare(&run(&job, &before[..2]), &run(&job, &after[..2]));
    assert_eq!(comparison.cells[1].metrics[&Metric::Throughput].verdict, Verdict::TooFew);
    let decided = Gate::parse("throughput < -5%").unwrap().decide(&comparison);
    assert_eq!(decided.outcome, GateOutcome::Inconclusive);
    assert_eq!(decided.would_decide_repetitions, Some(3));
}

/// A cell that the client limited in one run is compared all the same, with what is known of it.
#[test]
fn what_was_measured_instead_of_storage_stands_beside_a_change() {
    let job = job();
    let before = trials(1.0);
    let saturated = |mut trial: TrialMeasurement| {
        if trial.record.configuration == "io1-10000" {
            let client = trial.record.client.as_mut().unwrap();
            client.client_cpu_s = 0.99 * client.measured_s * f64::from(client.threads);
        }
        trial
    };
    let after: Vec<TrialMeasurement> = trials(1.0).into_iter().map(saturated).collect();
    let comparison = compare(&run(&job, &before), &run(&job, &after));
    let [of_before, of_after] = [&before, &after].map(|trials| analysis::analyse(&run(&job, trials)).cells);
    for (cell, (in_before, in_after)) in comparison.cells.iter().zip(of_before.iter().zip(&of_after)) {
        assert_eq!((cell.withheld_a, cell.withheld_b), (in_before.withheld, in_after.withheld), "{}", cell.cell);
    }
    assert_eq!([of_before[1].withheld, of_after[1].withheld], [None, Some(Withheld::Client)]);
    // That nothing is lost there is not shown; what is lost all the same is.
    let decide = |comparison: &Comparison| {
        let decided = Gate::parse("throughput < -5%").unwrap().decide(comparison);
        (decided.outcome, decided.obstacles)
    };
    let obstacles = vec![Obstacle::Withheld { cells: 1 }];
    assert_eq!(decide(&comparison), (GateOutcome::Inconclusive, obstacles.clone()));
    let slower: Vec<TrialMeasurement> = trials(0.8).into_iter().map(saturated).collect();
    // No number of repetitions makes it the storage.
    let once = compare(&run(&job, &before[..2]), &run(&job, &slower[..2]));
    let decided = Gate::parse("throughput < -5%").unwrap().decide(&once);
    assert_eq!((decided.outcome, decided.would_decide_repetitions), (GateOutcome::Inconclusive, None));
    let comparison = compare(&run(&job, &before), &run(&job, &slower));
    assert_eq!(decide(&comparison), (GateOutcome::Failed, obstacles));
}

/// What one machine does against what another did says nothing about the change alone.
#[test]
fn runs_of_different_machines_pass_no_gate() {
    let job = job();
    let trials = trials(1.0);
    let on = |cpu: &str| {
        let mut run = run(&job, &trials);
        run.environment = serde_json::json!({"provider": "local", "database": {"cpu_model": cpu, "iopslab": "0.1.0"}});
        run
    };
    let gate = Gate::parse("throughput < -50%").unwrap();
    assert_eq!(gate.decide(&compare(&on("x"), &on("x"))).outcome, GateOutcome::Passed);
    let decided = gate.decide(&compare(&on("x"), &on("y")));
    assert_eq!(decided.outcome, GateOutcome::Inconclusive);
    assert!(
        matches!(&decided.obstacles[0], Obstacle::DifferentHosts { facts } if facts[0].contains("cpu_model")),
        "{decided:?}"
    );
}

/// The same cell with more copies to keep, other data or another version is other work. What is tried in an experiment,
/// a setting or a volume, is what a gate is for. A loss that is shown fails beside what may explain it.
#[test]
fn runs_of_other_work_pass_no_gate() {
    let before = job();
    let (alike, slower) = (trials(1.0), trials(0.8));
    let gate = Gate::parse("throughput < -5%").unwrap();
    let decide = |trials: &[TrialMeasurement], change: &dyn Fn(&mut experiment::Job)| {
        let mut after = job();
        change(&mut after);
        let decided = gate.decide(&compare(&run(&before, &alike), &run(&after, trials)));
        let of_work = decided.obstacles.into_iter().find_map(|obstacle| match obstacle {
            Obstacle::DifferentWork { facts } => Some(facts.join("; ")),
            _ => None,
        });
        (decided.outcome, of_work.unwrap_or_default())
    };
    type Change = fn(&mut experiment::Job);
    let other_work: [(Change, &str); 4] = [
        (
            |job| job.setups[0].placement = experiment::Placement { nodes: 3, racks: 3, replication_factor: 3 },
            "configurations.gp2-320.placement.nodes: 1 -> 3",
        ),
        (|job| job.plan.dataset.records += 1, "dataset.records: 300000 -> 300001"),
        (|job| job.setups[1].version = Some("4.1.9".into()), "configurations.io1-10000.version: none -> 4.1.9"),
        (
            |job| job.plan.target.consistency = analysis::ConsistencyLevels::all(analysis::Consistency::LocalQuorum),
            "target.consistency",
        ),
    ];
    for (change, named) in other_work {
        let (outcome, facts) = decide(&alike, &change);
        assert_eq!(outcome, GateOutcome::Inconclusive, "{named}");
        assert!(facts.contains(named), "{named}: {facts}");
        assert_eq!(decide(&slower, &change).0, GateOutcome::Failed, "{named}");
    }
    let volume = |job: &mut experiment::Job| job.setups[0].data.limits.read_iops = Some(90.0);
    assert_eq!(decide(&alike, &volume), (GateOutcome::Passed, String::new()));
    assert_eq!(decide(&alike, &|_| {}), (GateOutcome::Passed, String::new()));
}

#[test]
fn nothing_in_common_passes_no_gate() {
    let job = job();
    let trials = trials(1.0);
    let comparison = compare(&run(&job, &trials), &run(&job, &[]));
    assert_eq!(comparison.not_compared.len(), 2);
    let decided = Gate::parse("throughput < -5%").unwrap().decide(&comparison);
    assert_eq!((decided.outcome, decided.obstacles), (GateOutcome::Inconclusive, vec![Obstacle::NothingCompared]));
}

#[test]
fn what_differs_between_the_runs_is_named() {
    let before = job();
    let mut after = job();
    let experiment::Place::Emulated { model, .. } = &mut after.plan.place else { panic!("it is emulated") };
    model.scale = 8.0;
    after.setups[0].data.limits.read_iops = Some(90.0);
    let trials = trials(1.0);
    let comparison = compare(&run(&before, &trials), &run(&after, &trials));
    assert_eq!(
        comparison.differences,
        ["scale: 16.0 -> 8.0", "configurations.gp2-320.data.limits.read_iops: 60.0 -> 90.0"],
        "what others follow from is first"
    );
    assert_eq!(comparison.scales_differ, Some((16.0, 8.0)));
    let decided = Gate::parse("throughput < -50%").unwrap().decide(&comparison);
    assert_eq!((decided.outcome, decided.obstacles), (GateOutcome::Inconclusive, vec![Obstacle::DifferentScales]));
    let alike = compare(&run(&before, &trials), &run(&before, &trials));
    assert_eq!(alike.scales_differ, None);
}

/// Two runs that have nothing to do with each other: what only one of them has is named, its whole description is not
/// printed.
#[test]
fn unrelated_runs_differ_in_words_not_in_json() {
    let before = job();
    let mut after = job();
    for setup in after.setups.iter_mut() {
        setup.configuration = format!("other-{}", setup.configuration);
    }
    after.plan.workloads[0].name = "other".into();
    let trials = trials(1.0);
    let comparison = compare(&run(&before, &trials), &run(&after, &[]));
    let reported = &comparison.differences;
    assert!(reported.iter().any(|d| d.starts_with("configurations.gp2-320: only in ")), "{reported:?}");
    assert!(reported.iter().any(|d| d.starts_with("workloads.other: only in ")), "{reported:?}");
    assert!(!reported.iter().any(|d| d.contains(['{', '[', '"'])), "{reported:?}");
}
