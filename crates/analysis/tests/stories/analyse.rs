//! The story's numbers, worked out by hand, and the document as a whole.

use crate::story::{Reported, job, measured, place, record, run, trials};
use analysis::{
    Analysis, AnswerOutcome, Caution, Doubt, IntervalMethod, LimitKind, Metric, Provider, Reason, RunEvidence, Status,
    TrialMeasurement, ValueVerdict, Verdict, analyse,
};
use evidence::{OperationKind, Runtime};
use experiment::{Basis, ConfigurationMoney, CostLine, Money};

fn analysis() -> Analysis {
    analyse(&run(&job(), &trials()))
}

/// The story with three repetitions, so that it can be tested, and an io1 whose reads do reach the volume.
fn three() -> Vec<TrialMeasurement> {
    let reported = |configuration, block, operations, device_reads| {
        let reported = Reported {
            configuration,
            block,
            operations,
            device_reads,
            probe_read_iops: if configuration == "gp2-320" { 60.1 } else { 500.0 },
        };
        measured(&record(reported), device_reads)
    };
    let of_block = |block: u32, gp2: u64, io1: u64| {
        [reported("gp2-320", block, gp2, 3_590.0), reported("io1-10000", block, io1, 12_000.0)]
    };
    [of_block(1, 30_000, 120_000), of_block(2, 33_000, 126_000), of_block(3, 31_500, 123_000)].concat()
}

#[test]
fn a_cell_is_the_median_of_its_trials_with_an_interval() {
    let analysis = analysis();
    let gp2 = &analysis.cells[0];
    let throughput = gp2.throughput_ops_per_s.unwrap();
    // Two repetitions: their geometric mean, and what was observed.
    assert!((throughput.median - (500.0_f64 * 550.0).sqrt()).abs() < 1e-9);
    assert_eq!((throughput.low, throughput.high), (500.0, 550.0));
    assert_eq!(throughput.method, IntervalMethod::Range);
    let tested = analyse(&run(&job(), &three())).cells[0].throughput_ops_per_s.unwrap();
    assert_eq!(tested.method, IntervalMethod::TOnLogarithms);
    assert!(tested.low < 500.0 && tested.high > 550.0, "{tested:?}");
    // 600,000 operations at 500/s and 550/s.
    assert!((gp2.runtime_s.unwrap().median - f64::midpoint(1200.0, 600_000.0 / 550.0)).abs() < 1e-9);
    // 3,590 / 30,000 and 3,600 / 33,000 device reads per operation.
    assert!((gp2.device_reads_per_operation.unwrap() - f64::midpoint(3590.0 / 30e3, 3600.0 / 33e3)).abs() < 1e-12);
    assert_eq!(gp2.page_cache_share, Some(0.5));
    assert!((gp2.client_cpu_us_per_operation.unwrap() - 6.0).abs() < 1e-9);
    assert_eq!(gp2.device_read_iops, Some(f64::midpoint(3590.0 / 60.0, 60.0)));
}

#[test]
fn ratios_pair_the_trials_of_a_block() {
    let ratio = analysis().cells[1].ratio_to_slowest.clone().unwrap();
    // Block 1: 120/30; block 2: 126/33. Two pairs are shown and not tested.
    assert_eq!((ratio.to.as_str(), ratio.pairs), ("gp2-320", 2));
    assert!((ratio.median - (4.0_f64 * 126.0 / 33.0).sqrt()).abs() < 1e-9);
    assert!((ratio.low - 126.0 / 33.0).abs() < 1e-9 && (ratio.high - 4.0).abs() < 1e-9, "{ratio:?}");
    assert_eq!((ratio.verdict, ratio.p_value), (Verdict::TooFew, None));

    let analysis = analyse(&run(&job(), &three()));
    let ratio = analysis.cells[1].ratio_to_slowest.clone().unwrap();
    let of_each = [[120.0_f64, 126.0, 123.0], [30.0, 33.0, 31.5]].map(|figures| {
        let logs = figures.map(f64::ln);
        let mean = logs.iter().sum::<f64>() / 3.0;
        (mean, logs.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 2.0)
    });
    let [(fast, one), (slow, other)] = of_each;
    // The only comparison of its experiment, at 97.5 %: Student's t with Satterthwaite's degrees of freedom, between
    // those of one cell (6.205) and of both (3.495).
    let t = (fast - slow - ratio.low.ln()) / ((one + other) / 3.0).sqrt();
    assert!((3.495..6.206).contains(&t), "{t} {ratio:?}");
    assert_eq!((ratio.verdict, ratio.level), (Verdict::Faster, 0.025));
    assert_eq!(analysis.cells[0].ratio_to_baseline.clone().unwrap().verdict, Verdict::Reference);
    // The ratio of the figures that are shown is the ratio that is tested.
    let shown = |i: usize| analysis.cells[i].throughput_ops_per_s.unwrap().median;
    assert!((shown(1) / shown(0) - ratio.median).abs() < 1e-9);
}

#[test]
fn the_decision_names_the_best_and_what_limited_the_others() {
    let analysis = analyse(&run(&job(), &three()));
    let throughput = &analysis.decision[0];
    assert_eq!((throughput.metric, throughput.best.as_str()), (Metric::Throughput, "io1-10000"));
    assert!(throughput.indistinguishable.is_empty() && throughput.tested);
    assert_eq!(throughput.ranking[1].verdict, Verdict::Slower);
    let p99 = analysis.decision.iter().find(|d| d.metric == Metric::P99).unwrap();
    assert!(p99.cautions.contains(&Caution::ClosedLoopLatency));
    assert!(
        analysis.decision.iter().all(|d| d.metric != Metric::OperationsPerDollar),
        "without a price there is nothing to say about money"
    );
    assert_eq!(analysis.cells[0].limit.kind, LimitKind::VolumeIops);
    // fio measured 500 of the 625 that were asked for: far from both.
    assert_eq!(analysis.cells[1].limit.kind, LimitKind::NoneFound);
}

/// With two repetitions nothing is decided, and the answer says what would be enough.
#[test]
fn two_repetitions_decide_nothing() {
    let answer = analyse(&run(&job(), &three()[..4])).recommendation;
    assert_eq!((answer.status, answer.reason, answer.run), (Status::NotDecided, Reason::TooFewRepetitions, None));
    assert_eq!(answer.would_decide.unwrap().repetitions, 3);
    assert!(matches!(answer.places[0].outcome, AnswerOutcome::TooFew { pairs: 2 }));
}

/// Production keeps copies and waits for several: one node shows nothing of what that costs.
#[test]
fn single_nodes_are_named_where_requests_could_wait_for_others() {
    let is_named =
        |job: &experiment::Job| analyse(&run(job, &three())).recommendation.doubts.contains(&analysis::Doubt::OneCopy);
    let mut job = job();
    assert!(is_named(&job));
    job.setups[0].placement = experiment::Placement { nodes: 3, racks: 3, replication_factor: 3 };
    assert!(!is_named(&job), "replicas are among what is compared");
}

fn priced(usd: [f64; 2]) -> Analysis {
    let mut job = job();
    job.plan.money = Money {
        basis: Basis { price_date: Some("2026-01-01".into()), ..Basis::default() },
        configurations: job
            .setups
            .iter()
            .zip(usd)
            .map(|(setup, usd)| ConfigurationMoney {
                configuration: setup.configuration.clone(),
                usd_per_month: Some(usd),
                lines: vec![CostLine::stated("a month", usd, "an offer of 2026-01-01")],
                missing: None,
            })
            .collect(),
    };
    // A truth of models of 1:16: whatever limits them is theirs.
    job.plan.place = place(Provider::Simulated);
    analyse(&run(&job, &three()))
}

#[test]
fn money_is_worth_it_when_throughput_grows_as_much_as_cost() {
    for (usd, verdict, run) in
        [([100.0, 300.0], ValueVerdict::WorthIt, "io1-10000"), ([100.0, 500.0], ValueVerdict::NotWorthIt, "gp2-320")]
    {
        let analysis = priced(usd);
        let value = &analysis.value_of_money[0];
        assert_eq!((value.from.as_str(), value.to.as_str()), ("gp2-320", "io1-10000"));
        assert_eq!((value.verdict, value.knee), (verdict, verdict == ValueVerdict::WorthIt), "{value:?}");
        assert_eq!(analysis.recommendation.run.as_deref(), Some(run));
        let shown = |i: usize| analysis.cells[i].throughput_ops_per_s.unwrap().median;
        let expected = (usd[1] - usd[0]) / ((shown(1) - shown(0)) * 16.0);
        assert!((value.usd_per_extra_op_per_s.unwrap() / expected - 1.0).abs() < 1e-9);
        // Throughput of the full size for 730 h costs 100 dollars.
        let per_usd = analysis.cells[0].operations_per_usd.unwrap();
        assert!((per_usd / (shown(0) * 16.0 * 730.0 * 3600.0 / 100.0) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn the_cheapest_is_the_baseline_where_none_is_stated() {
    assert_eq!(priced([300.0, 100.0]).baseline, "io1-10000");
    assert_eq!(analysis().baseline, "gp2-320", "without prices the first");
}

#[test]
fn warm_up_is_in_no_figure_and_percentiles_are_the_histograms_own() {
    let analysis = analysis();
    let read = &analysis.cells[0].latency_us[&OperationKind::Read];
    assert_eq!(read.samples, 24_000);
    // 100 in flight at 500/s: 200 ms; at 550/s: 181.8 ms. The warm-up took ten times as long.
    assert!(read.max < 201_000.0, "{read:?}");
    assert!((read.figures.mean - f64::midpoint(200_000.0, 181_818.0)).abs() < 200.0, "{read:?}");
}

#[test]
fn the_order_of_the_trials_does_not_matter() {
    let mut reversed = trials();
    reversed.reverse();
    let job = job();
    assert_eq!(analyse(&run(&job, &reversed)), analysis());
}

#[test]
fn a_run_without_trials_has_cells_without_figures() {
    let job = job();
    let analysis = analyse(&run(&job, &[]));
    assert_eq!(analysis.cells.len(), 2);
    assert!(
        analysis
            .cells
            .iter()
            .all(|c| c.trials == 0 && c.throughput_ops_per_s.is_none() && c.ratio_to_slowest.is_none())
    );
}

/// As a script in the place of a Java has them.
#[test]
fn options_that_a_runtime_adds_are_a_doubt() {
    let (job, trials) = (job(), trials());
    let mut added = run(&job, &trials);
    let doubts_of = |run: &RunEvidence<'_>| {
        let doubts = analyse(run).recommendation.doubts.into_iter();
        let is_of_runtime =
            |doubt: &Doubt| matches!(doubt, Doubt::RuntimeOptions { .. } | Doubt::RuntimesDiffer { .. });
        doubts.filter(is_of_runtime).collect::<Vec<_>>()
    };
    let options = vec!["TieredStopAtLevel=1".to_owned()];
    let java = |options: &[String]| Runtime { name: "openjdk 17".to_owned(), options: options.to_vec() };
    added.environment["runtimes"] = serde_json::json!({ "5.0.5": [java(&options)] });
    assert_eq!(doubts_of(&added), [Doubt::RuntimeOptions { options: options.clone() }]);
    // Resumed with what has none.
    let runtimes = vec![java(&options), java(&[])];
    added.environment["runtimes"] = serde_json::json!({ "5.0.5": runtimes });
    let differ = Doubt::RuntimesDiffer { version: "5.0.5".to_owned(), runtimes };
    assert_eq!(doubts_of(&added), [Doubt::RuntimeOptions { options }, differ]);
    assert_eq!(doubts_of(&run(&job, &trials)), Vec::new());
}

/// `analysis.json` as a whole: its names are a promise to scripts. `report`'s tests read this file, and see that it
/// reads back: what reads it takes long to compile, and they have it already.
#[test]
fn the_document_keeps_its_shape() {
    let text = serde_json::to_string_pretty(&analysis()).unwrap();
    insta::assert_snapshot!("analysis", text);
}
