//! Do the two clocks of an imported file agree: the seconds that a tool counts, and the time of day that it prints?

use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// They do not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedClocks {
    /// Seconds by the tool's own count.
    pub elapsed_s: f64,
    /// Seconds by the time of day.
    pub of_day_s: f64,
    /// Allowed difference, seconds.
    pub threshold_s: f64,
}

/// Seconds by which lines may be off: a tool prints whole seconds, up to one late ...
const APART_S: f64 = 2.0;
/// ... and a clock that is being set right runs fast or slow by up to 500 ppm (adjtimex(2)); ten times that is no such
/// thing.
const APART_SHARE: f64 = 0.005;

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<ImportedClocks>> {
    let clocks = trial.imported()?.clocks?;
    let threshold_s = APART_S + APART_SHARE * clocks.elapsed_s;
    let apart = (clocks.elapsed_s - clocks.of_day_s).abs() > threshold_s;
    let figures = ImportedClocks { elapsed_s: clocks.elapsed_s, of_day_s: clocks.of_day_s, threshold_s };
    apart.then_some(figures.into())
}

#[cfg(test)]
mod tests {
    use evidence::TwoClocks;

    use super::*;
    use crate::rules::imported::tests::imported;

    #[test]
    fn an_hour_of_summer_time_is_seen_and_a_late_line_is_not() {
        for (of_day_s, is_reported) in [(600.0, false), (601.5, false), (598.0, false), (4_200.0, true), (590.0, true)]
        {
            let trial = imported(|of| of.clocks = Some(TwoClocks { elapsed_s: 600.0, of_day_s }));
            assert_eq!(finding(&trial).is_some(), is_reported, "{of_day_s}");
        }
    }
}
