//! Do the repetitions of a cell agree, besides what their blocks have in common and what noise like that of the other
//! cells explains?
//!
//! Not the raw range of a cell: it grows with the number of repetitions, and holds the drift between blocks, which
//! pairing removes.

use serde::{Deserialize, Serialize};
use stats::Outlier;

use crate::seen::Seen;

/// Repetitions lie far apart: one of them lies far from what its cell and block have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct RepetitionsSpread {
    pub block: u32,
    pub off_by: f64,
    /// How the others spread, as a share.
    pub spread_of_others: f64,
    /// What is not worth a word.
    pub threshold: f64,
}

/// Chance of a finding in a run whose repetitions are sound.
pub const LEVEL: f64 = 0.01;
/// A trial this close to what was expected is not worth a word, however quiet the others are.
const RESIDUAL_MIN: f64 = 0.05;

/// The finding on a trial that [`stats::Layout::outliers`] names.
pub(crate) fn finding(outlier: &Outlier) -> Option<Seen<RepetitionsSpread>> {
    let figures = RepetitionsSpread {
        block: outlier.block,
        off_by: outlier.residual.exp() - 1.0,
        spread_of_others: outlier.rest,
        threshold: RESIDUAL_MIN,
    };
    (outlier.residual.abs() > RESIDUAL_MIN).then(|| figures.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_close_to_what_was_expected_is_not_worth_a_word() {
        let at = |residual: f64| {
            let outlier = Outlier { cell: 0, block: 1, residual, rest: 0.001 };
            finding(&outlier).is_some()
        };
        assert_eq!([0.01, 0.049, 0.051, -0.051, -0.5].map(at), [false, false, true, true, true]);
    }
}
