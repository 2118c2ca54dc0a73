//! How large a change could hide in a trial that was called steady?
//!
//! "No trend was shown" is no statement about its size: noise of 5 % hides a fall of 5 % over two minutes, and a decay
//! slower than the trial cannot be seen by it at all. In a public six-node series of Cassandra 5.0.3 the first five
//! minutes overstate the last tenth by 29 to 42 %.

use serde::{Deserialize, Serialize};
use stats::SteadyVerdict;

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// No trend was shown, but a large one could hide. Shares are of the mean.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct SlowChangePossible {
    pub window_s: f64,
    pub change_over_window_share: f64,
    /// Its 95 % interval: low end.
    pub change_low_share: f64,
    pub change_high_share: f64,
    /// Independent batches of five seconds that the window is worth.
    pub independent_batches: f64,
    /// Largest change that may hide without a word.
    pub threshold: f64,
}

/// Change over the window, as a share of the mean, that the 95 % interval may reach without a word. Below the 5 % that
/// count as practically the same, because the interval is itself an estimate: with this bound, 5 % over the window go
/// without a word in less than 5 % of trials (`cargo test -p stats -- --nocapture`), and 60 s with 1 % noise are quiet
/// in nine of ten.
pub const CHANGE_HIDDEN_MAX: f64 = 0.04;

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<SlowChangePossible>> {
    let judged = trial.window.judged.filter(|j| j.verdict == SteadyVerdict::Steady)?;
    let hidden = judged.change_high.max(-judged.change_low);
    let figures = SlowChangePossible {
        window_s: trial.window_s(),
        change_over_window_share: judged.change,
        change_low_share: judged.change_low,
        change_high_share: judged.change_high,
        independent_batches: judged.effective_batches,
        threshold: CHANGE_HIDDEN_MAX,
    };
    (hidden > CHANGE_HIDDEN_MAX).then_some(figures.into())
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{changed, fires};
    use crate::rules::of_trial;

    #[test]
    fn the_end_of_the_interval_decides_in_either_direction() {
        fires(
            Rule::SlowChangePossible,
            &[((-0.01, 0.01), false), ((-0.035, 0.039), false), ((-0.041, 0.01), true), ((-0.01, 0.06), true)],
            |(low, high)| {
                changed(|t| {
                    let mut judged = t.window.judged.unwrap();
                    (judged.change_low, judged.change_high) = (low, high);
                    t.window.judged = Some(judged);
                })
            },
        );
    }

    /// 35 % with a time constant of ten minutes, seen for two with 5 % noise: found, or said to be possible.
    #[test]
    fn a_decay_that_the_trial_does_not_show_is_said_to_be_possible() {
        let decay: Vec<f64> = (0..120_u32)
            .map(|t| {
                // Deterministic noise of about 5 %.
                let noise = f64::from(t.wrapping_mul(2_654_435_761) >> 16) / 65_536.0 - 0.5;
                1000.0 * (0.65 + 0.35 * (-f64::from(t) / 600.0).exp()) * (1.0 + 0.17 * noise)
            })
            .collect();
        let trial = changed(|t| t.window = crate::steady::window(&decay, 120.0));
        let reported = [Rule::NoSteadyState, Rule::TooShortToJudge, Rule::SlowChangePossible];
        assert!(of_trial(&trial).iter().any(|f| reported.contains(&f.rule())), "{:?}", trial.window);
    }
}
