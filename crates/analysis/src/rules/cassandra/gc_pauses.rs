//! How long did garbage collection stop the database?

use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::rules::nodes::worst;
use crate::seen::Seen;

/// Garbage collection took long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct GcPauses {
    /// Share of the window in which it paused the database.
    pub gc_pause_share: f64,
    pub threshold: f64,
    pub longest_pause_s: f64,
    pub threshold_s: f64,
}

/// Garbage collection above this share of the window (practice: > 2 % of time).
const GC_SHARE_MAX: f64 = 0.02;
/// One pause longer than this, seconds (practice: > 500 ms).
const GC_PAUSE_MAX_S: f64 = 0.5;

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<GcPauses>> {
    worst(trial, |node| {
        let share = node.host.pause_share.unwrap_or(0.0);
        let longest = node.host.longest_pause_s.unwrap_or(0.0);
        let figures = GcPauses {
            gc_pause_share: share,
            threshold: GC_SHARE_MAX,
            longest_pause_s: longest,
            threshold_s: GC_PAUSE_MAX_S,
        };
        let beyond = (share / GC_SHARE_MAX).max(longest / GC_PAUSE_MAX_S);
        (share > GC_SHARE_MAX || longest > GC_PAUSE_MAX_S).then_some((beyond, figures))
    })
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{changed_host, fires};

    #[test]
    fn the_share_of_the_window_or_one_long_pause() {
        fires(
            Rule::GcPauses,
            &[
                ((Some(0.019), Some(0.49)), false),
                ((Some(0.021), None), true),
                ((Some(0.004), Some(0.51)), true),
                ((None, None), false),
            ],
            |(share, longest)| changed_host(|h| (h.pause_share, h.longest_pause_s) = (share, longest)),
        );
    }
}
