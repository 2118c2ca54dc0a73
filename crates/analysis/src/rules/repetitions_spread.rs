//! Do the repetitions of a cell agree, besides what their blocks have in common and what noise like that of the other
//! cells explains?
//!
//! Not the raw range of a cell: it grows with the number of repetitions, and holds the drift between blocks, which
//! pairing removes.

use stats::Outlier;

use crate::document::CellAnalysis;
use crate::finding::{Finding, Scope};
use crate::remark::trial::RepetitionsSpread;

/// Chance of a finding in a run whose repetitions are sound.
pub const LEVEL: f64 = 0.01;
/// A trial this close to what was expected is not worth a word, however quiet the others are.
const RESIDUAL_MIN: f64 = 0.05;

/// The finding on a trial that [`stats::Layout::outliers`] names.
pub fn finding(cell: &CellAnalysis, outlier: &Outlier) -> Option<Finding> {
    let figures = RepetitionsSpread {
        block: outlier.block,
        off_by: outlier.residual.exp() - 1.0,
        spread_of_others: outlier.rest,
        threshold: RESIDUAL_MIN,
    };
    (outlier.residual.abs() > RESIDUAL_MIN).then(|| Finding::new(Scope::Cell(cell.id.clone()), figures))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::story::{job, run, trials};

    #[test]
    fn a_trial_close_to_what_was_expected_is_not_worth_a_word() {
        let (job, trials) = (job(), trials());
        let cell = analyse(&run(&job, &trials)).cells.remove(0);
        let at = |residual: f64| {
            let outlier = Outlier {
                cell: 0,
                block: 1,
                residual,
                rest: 0.001,
            };
            finding(&cell, &outlier).is_some()
        };
        assert_eq!(
            [0.01, 0.049, 0.051, -0.051, -0.5].map(at),
            [false, false, true, true, true]
        );
    }
}
