//! The story's numbers, worked out by hand, and the document as a whole.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod story;

use analysis::{Analysis, IntervalMethod, LimitKind, Verdict, analyse};
use evidence::OperationKind;
use spec::{ConfigurationMoney, Money, MoneyBasis};
use story::{plan, run, trials};

fn analysis() -> Analysis {
    analyse(&run(&plan(), &trials()))
}

#[test]
fn a_cell_is_the_median_of_its_trials_with_an_interval() {
    let analysis = analysis();
    let gp2 = &analysis.cells[0];
    let throughput = gp2.throughput_ops_per_s.unwrap();
    assert_eq!(
        (throughput.median, throughput.smallest, throughput.largest),
        (525.0, 500.0, 550.0)
    );
    // Two repetitions say little: ln(550/500)/2 x 12.706 to either side of their geometric mean.
    let half = 12.706_205 * 1.1_f64.ln() / 2.0;
    assert!(
        (throughput.high / (524.404 * half.exp()) - 1.0).abs() < 1e-4,
        "{throughput:?}"
    );
    assert_eq!(throughput.method, IntervalMethod::TOnLogarithms);
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
    let analysis = analysis();
    let ratio = analysis.cells[1].ratio_to_slowest.clone().unwrap();
    // Block 1: 120/30; block 2: 126/33.
    assert_eq!((ratio.to.as_str(), ratio.pairs), ("gp2-320", 2));
    assert!((ratio.median - (4.0_f64 * 126.0 / 33.0).sqrt()).abs() < 1e-9);
    // ln 4 and ln 3.818: t = 58.6 with one degree of freedom, p = 0.0109; the only comparison of its workload.
    assert!((ratio.p_value.unwrap() - 0.010_87).abs() < 1e-4, "{ratio:?}");
    assert_eq!(ratio.verdict, Verdict::Faster);
    assert_eq!(
        analysis.cells[0].ratio_to_baseline.clone().unwrap().verdict,
        Verdict::Reference
    );
}

#[test]
fn the_decision_names_the_best_and_what_limited_the_others() {
    let analysis = analysis();
    let throughput = &analysis.decision[0];
    assert_eq!(
        (throughput.metric.as_str(), throughput.best.as_str()),
        ("throughput", "io1-10000")
    );
    assert!(throughput.indistinguishable.is_empty() && throughput.tested);
    assert_eq!(throughput.ranking[1].verdict, Verdict::Slower);
    let p99 = analysis.decision.iter().find(|d| d.metric == "p99").unwrap();
    assert!(p99.caution.as_ref().unwrap().contains("closed loop"));
    assert!(
        analysis.decision.iter().all(|d| d.metric != "operations_per_dollar"),
        "without a price there is nothing to say about money"
    );
    assert_eq!(analysis.cells[0].limit.kind, LimitKind::VolumeIops);
    // fio measured 500 of the 625 that were asked for: far from both.
    assert_eq!(analysis.cells[1].limit.kind, LimitKind::NoneFound);
}

fn priced(usd: [f64; 2]) -> Analysis {
    let mut plan = plan();
    plan.money = Some(Money {
        basis: MoneyBasis {
            hours_per_month: 730.0,
            purchase: "on-demand".into(),
            region: "us-east-1".into(),
            price_date: Some("2026-01-01".into()),
            uplift_percent: 0.0,
        },
        configurations: plan
            .setups
            .iter()
            .zip(usd)
            .map(|(setup, usd)| ConfigurationMoney {
                configuration: setup.configuration.clone(),
                usd_per_month: Some(usd),
                lines: Vec::new(),
                missing: None,
            })
            .collect(),
    });
    analyse(&run(&plan, &trials()))
}

#[test]
fn money_is_worth_it_when_throughput_grows_as_much_as_cost() {
    for (usd, verdict, knee) in [
        ([100.0, 300.0], "worth it", true),
        ([100.0, 500.0], "not worth it", false),
    ] {
        let analysis = priced(usd);
        let value = &analysis.value_of_money[0];
        assert_eq!((value.from.as_str(), value.to.as_str()), ("gp2-320", "io1-10000"));
        assert_eq!(
            (value.verdict.as_str(), value.knee),
            (verdict, knee),
            "{}",
            value.reason
        );
        // 2,050 - 525 = 1,525 operations/s more on the model, 16 times as many on the full size.
        let expected = (usd[1] - usd[0]) / (1525.0 * 16.0);
        assert!((value.usd_per_extra_op_per_s.unwrap() / expected - 1.0).abs() < 1e-9);
        // 525 x 16 operations/s for 730 h cost 100 dollars.
        let per_usd = analysis.cells[0].operations_per_usd.unwrap();
        assert!((per_usd / (525.0 * 16.0 * 730.0 * 3600.0 / 100.0) - 1.0).abs() < 1e-9);
        assert!(
            analysis.answer[0].starts_with(&format!("io1-10000 is {verdict}")),
            "{:?}",
            analysis.answer
        );
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
    assert!(
        (read.mean - f64::midpoint(200_000.0, 181_818.0)).abs() < 200.0,
        "{read:?}"
    );
}

#[test]
fn the_order_of_the_trials_does_not_matter() {
    let mut reversed = trials();
    reversed.reverse();
    let plan = plan();
    assert_eq!(analyse(&run(&plan, &reversed)), analysis());
}

#[test]
fn a_run_without_trials_has_cells_without_figures() {
    let plan = plan();
    let analysis = analyse(&run(&plan, &[]));
    assert_eq!(analysis.cells.len(), 2);
    assert!(
        analysis
            .cells
            .iter()
            .all(|c| c.trials == 0 && c.throughput_ops_per_s.is_none() && c.ratio_to_slowest.is_none())
    );
}

/// `analysis.json` as a whole: its names are a promise to scripts. `report`'s tests read this file.
#[test]
fn the_document_keeps_its_shape() {
    let text = serde_json::to_string_pretty(&analysis()).unwrap();
    assert_eq!(
        serde_json::from_str::<Analysis>(&text).unwrap(),
        analysis(),
        "it reads back"
    );
    insta::assert_snapshot!("analysis", text);
}
