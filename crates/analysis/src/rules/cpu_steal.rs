//! Did the hypervisor leave the host its CPUs?

use serde::{Deserialize, Serialize};

use super::nodes::worst;
use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// The hypervisor took CPU time. Shares are of the host's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct CpuSteal {
    /// Mean of the window.
    pub steal_share: f64,
    pub steal_share_worst_10_s: f64,
    pub threshold: f64,
    pub threshold_10_s: f64,
}

/// CPU time taken by the hypervisor: mean of the window (practice: > 1 %) ...
const STEAL_MAX: f64 = 0.01;
/// ... or of any 10 s (practice: > 3 %).
const STEAL_WORST_MAX: f64 = 0.03;

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<CpuSteal>> {
    worst(trial, |node| {
        let mean = node.host.steal_share?;
        // Windows that are not whole are left out of the worst, so that it may be below the mean.
        let window = node.host.steal_share_worst.unwrap_or(mean).max(mean);
        let figures = CpuSteal {
            steal_share: mean,
            steal_share_worst_10_s: window,
            threshold: STEAL_MAX,
            threshold_10_s: STEAL_WORST_MAX,
        };
        let beyond = (mean / STEAL_MAX).max(window / STEAL_WORST_MAX);
        (mean > STEAL_MAX || window > STEAL_WORST_MAX).then_some((beyond, figures))
    })
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{changed_host, fires};

    #[test]
    fn the_mean_or_the_worst_ten_seconds() {
        fires(
            Rule::CpuSteal,
            &[
                ((None, None), false),
                ((Some(0.009), Some(0.029)), false),
                ((Some(0.011), None), true),
                ((Some(0.001), Some(0.031)), true),
            ],
            |(mean, worst)| changed_host(|h| (h.steal_share, h.steal_share_worst) = (mean, worst)),
        );
    }
}
