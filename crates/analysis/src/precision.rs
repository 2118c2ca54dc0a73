//! Is it known well enough to stop? The rule of `repetitions = "auto"`.

use spec::Adaptive;

use crate::document::{Analysis, Ratio, Verdict};

/// Whether an adaptive run may stop after the blocks that this analysis holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Precision {
    /// Every ratio to the baseline is narrow enough, or clear of 1.
    pub enough: bool,
    /// The ratio that is known worst, in words.
    pub widest: String,
}

/// Looks at the ratio of every cell to the baseline. A cell without a ratio (all its trials, or the baseline's, are invalid) is not
/// known: more repetitions may help it.
pub fn precision(analysis: &Analysis, adaptive: &Adaptive) -> Precision {
    let mut enough = true;
    let mut widest: Option<(f64, String)> = None;
    for cell in analysis.cells.iter().filter(|c| c.configuration != analysis.baseline) {
        let Some(ratio) = cell.ratio_to_baseline.as_ref().filter(|r| is_tested(r)) else {
            enough = false;
            widest = Some((f64::INFINITY, format!("{} has no tested ratio", cell.id)));
            continue;
        };
        enough &= stats::precise_enough(ratio.median, ratio.low, ratio.high, adaptive.precision);
        let half = (ratio.high / ratio.low).sqrt() - 1.0;
        if widest.as_ref().is_none_or(|(known, _)| half > *known) {
            let text = format!("{}: {:.2} times, +-{:.1} %", cell.id, ratio.median, half * 100.0);
            widest = Some((half, text));
        }
    }
    Precision {
        enough,
        widest: widest.map_or_else(|| "nothing to compare".to_owned(), |(_, text)| text),
    }
}

fn is_tested(ratio: &Ratio) -> bool {
    ratio.verdict != Verdict::NotComparable
}
