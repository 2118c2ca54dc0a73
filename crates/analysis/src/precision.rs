//! Is it known well enough to stop? The rule of `repetitions = "auto"`.

use crate::document::{Analysis, ValueVerdict};

/// Before this many blocks only gaps that are clear end the run: with so few, a narrow interval is often luck.
const BLOCKS_FOR_NARROW: u32 = 6;

/// Whether an adaptive run may stop after the blocks that this analysis holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Precision {
    /// Every ratio to the baseline, and every step of value, is clear of its threshold or (from six blocks on) narrow
    /// enough.
    pub enough: bool,
    /// The ratio that is known worst; `None` where there is none to know.
    pub widest: Option<Widest>,
}

/// The ratio that is known worst.
#[derive(Debug, Clone, PartialEq)]
pub struct Widest {
    /// Cell identity.
    pub cell: String,
    /// (ratio to the baseline, half-width of its interval as a share); `None`: not tested.
    pub known: Option<(f64, f64)>,
}

/// Looks at the ratio of every cell to the baseline (wanted to +-`precision`, a share), and at what steps are worth. A
/// cell without a tested ratio (all its trials, or the baseline's, are invalid) is not known: more repetitions may help
/// it.
pub fn precision(analysis: &Analysis, precision: f64, blocks: u32) -> Precision {
    let narrow_counts = blocks >= BLOCKS_FOR_NARROW;
    let is_narrow = |half: f64| narrow_counts && half <= (1.0 + precision).ln();
    let mut enough = true;
    let mut widest: Option<(f64, Widest)> = None;
    for cell in analysis.cells.iter().filter(|c| c.configuration != analysis.baseline) {
        let ratio = cell.ratio_to_baseline.as_ref().filter(|r| r.verdict.is_tested());
        let half = ratio.map_or(f64::INFINITY, |r| (r.high / r.low).ln() / 2.0);
        // Clear: further repetitions will not change who is faster.
        enough &= ratio.is_some_and(|r| is_narrow(half) || r.median.ln().abs() > 2.0 * half);
        if widest.as_ref().is_none_or(|(known, _)| half > *known) {
            let of = Widest { cell: cell.id.clone(), known: ratio.map(|r| (r.median, half.exp() - 1.0)) };
            widest = Some((half, of));
        }
    }
    for step in analysis.value_of_money.iter().filter(|s| s.withheld.is_none()) {
        let half = (step.value_ratio.high / step.value_ratio.low).ln() / 2.0;
        // What this machine leaves open no repetition decides.
        let is_left_open = step.throughput_ratio.bound.is_some() && step.repetitions_to_decide.is_none();
        enough &= step.verdict != ValueVerdict::NotDecided || is_left_open || is_narrow(half);
    }
    Precision { enough, widest: widest.map(|(_, w)| w) }
}
