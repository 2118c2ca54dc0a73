//! The story's numbers, worked out by hand, and the document as a whole.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod story;

use analysis::{Analysis, analyse};
use evidence::OperationKind;
use story::{plan, run, trials};

fn analysis() -> Analysis {
    analyse(&run(&plan(), &trials()))
}

#[test]
fn a_cell_is_the_median_and_range_of_its_trials() {
    let analysis = analysis();
    let gp2 = &analysis.cells[0];
    let throughput = gp2.throughput_ops_per_s.unwrap();
    assert_eq!(
        (throughput.median, throughput.low, throughput.high),
        (525.0, 500.0, 550.0)
    );
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
    assert_eq!((ratio.to.as_str(), ratio.high, ratio.pairs), ("gp2-320", 4.0, 2));
    assert!((ratio.low - 126.0 / 33.0).abs() < 1e-12);
    assert_eq!(ratio.verdict, "not tested");
    assert_eq!(
        analysis.cells[0].ratio_to_baseline.clone().unwrap().verdict,
        "reference"
    );
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
