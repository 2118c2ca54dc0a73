//! The progress that another tool printed: is it whole, does it go forward, and does it hold its level?
//!
//! Steadiness is judged by the second elsewhere. Lines of ten seconds are too few for that: they can show that
//! throughput went one way, never that it was at rest.

use evidence::Progress;
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Lines are missing, or it goes backwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedProgress {
    /// Lines.
    pub lines: u64,
    /// Median seconds of a line.
    pub usual_s: f64,
    /// Seconds of which no line says anything of its own, all together.
    pub missing_s: f64,
    /// Lines with fewer than no operations.
    pub backwards: u64,
    /// Seconds from the start to the first of them; `None`: there is none.
    pub first_backwards_at_s: Option<f64>,
    /// A line of this many times the usual length stands for others, too.
    pub threshold: f64,
}

/// Throughput went one way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct ImportedDrift {
    pub first_third_ops_per_s: f64,
    pub last_third_ops_per_s: f64,
    pub change_share: f64,
    pub threshold: f64,
    pub lines: u64,
}

/// A line that is half as long again as the others, or a gap of half a line, covers a part of one that is not there: a
/// tool that is late by less prints the next one early.
const LONG: f64 = 1.5;
/// Least change from the first to the last third, as for `still_rising`.
const CHANGE_MIN: f64 = 0.05;
/// A last line of less than this share of the usual length is the rest of a run, whose rate is that of few operations.
const WHOLE: f64 = 0.9;

/// Lines are missing, or it goes backwards.
pub(crate) fn broken(trial: &TrialMeasurement) -> Option<Seen<ImportedProgress>> {
    let lines = &trial.imported()?.progress;
    let usual_s = usual_s(lines)?;
    let gaps = lines.windows(2).map(|pair| pair[1].from_s - pair[0].to_s).filter(|s| *s > (LONG - 1.0) * usual_s);
    let long = lines.iter().map(Progress::seconds).filter(|s| *s > LONG * usual_s).map(|s| s - usual_s);
    let missing_s = gaps.chain(long).sum::<f64>();
    let mut backwards = lines.iter().filter(|line| line.operations < 0.0);
    let first = backwards.next();
    let figures = ImportedProgress {
        lines: lines.len() as u64,
        usual_s,
        missing_s,
        backwards: u64::from(first.is_some()) + backwards.count() as u64,
        first_backwards_at_s: first.map(|line| line.from_s),
        threshold: LONG,
    };
    // Less than a line is rounding of its times.
    (first.is_some() || missing_s > usual_s / 2.0).then_some(figures.into())
}

/// Throughput went one way by more than its noise explains.
pub(crate) fn drifts(trial: &TrialMeasurement) -> Option<Seen<ImportedDrift>> {
    let lines = &trial.imported()?.progress;
    let usual_s = usual_s(lines)?;
    let whole = lines.iter().filter(|line| line.seconds() >= WHOLE * usual_s);
    let rates: Vec<f64> = whole.map(Progress::rate).collect();
    let moved = stats::monotone_change(&rates).filter(|moved| moved.is_shown)?;
    let change = moved.change()?;
    let figures = ImportedDrift {
        first_third_ops_per_s: moved.first,
        last_third_ops_per_s: moved.last,
        change_share: change,
        threshold: CHANGE_MIN,
        lines: rates.len() as u64,
    };
    (change.abs() > CHANGE_MIN).then_some(figures.into())
}

fn usual_s(lines: &[Progress]) -> Option<f64> {
    stats::median(lines.iter().map(Progress::seconds)).filter(|seconds| *seconds > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Rule;
    use crate::rules::imported::tests::{imported, progress};

    fn of(rates: &[f64]) -> TrialMeasurement {
        imported(|of| of.progress = progress(rates))
    }

    /// A store that fills: 29 % from the first third to the last.
    #[test]
    fn a_series_that_falls_is_no_mean_and_one_that_wobbles_is() {
        let falling: Vec<f64> = (0..30).map(|i| 14_000.0 - 180.0 * f64::from(i)).collect();
        let found = drifts(&of(&falling)).unwrap().figures;
        assert!((found.change_share + 0.28).abs() < 0.03, "{found:?}");
        let wobbling: Vec<f64> = (0..30).map(|i| 14_000.0 + f64::from(i * 37 % 11) * 90.0).collect();
        assert_eq!(drifts(&of(&wobbling)), None);
        assert_eq!(drifts(&of(&falling[..4])), None, "four lines show nothing");
    }

    #[test]
    fn a_line_that_is_gone_and_one_that_goes_backwards_are_counted() {
        let mut lines = progress(&[1_000.0; 12]);
        assert_eq!(broken(&imported(|of| of.progress = lines.clone())), None);
        lines.remove(5);
        let gone = broken(&imported(|of| of.progress = lines.clone())).unwrap().figures;
        assert_eq!((gone.missing_s, gone.backwards), (10.0, 0));
        // What several threads count does not begin where it ended before.
        let ragged: Vec<Progress> = lines.iter().map(|line| Progress { to_s: line.to_s - 2.0, ..*line }).collect();
        let seen = broken(&imported(|of| of.progress = ragged)).unwrap().figures;
        assert_eq!(seen.missing_s, 12.0, "the line that is gone, and no gap of 2 s");
        lines[3].operations = -40.0;
        let back = broken(&imported(|of| of.progress = lines.clone())).unwrap().figures;
        assert_eq!((back.backwards, back.first_backwards_at_s), (1, Some(30.0)));
    }

    #[test]
    fn a_trial_of_our_own_has_no_such_findings() {
        let found = crate::rules::of_trial(&crate::rules::cases::sound());
        let ours = [Rule::ImportedProgress, Rule::ImportedDrift, Rule::ImportedClocks, Rule::CoordinatedOmission];
        assert!(!found.iter().any(|f| ours.contains(&f.rule())), "{found:?}");
    }
}
