//! Did the hypervisor leave the host its CPUs?

use super::nodes::worst;
use super::scope::scope;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::remark::machine::CpuSteal;

/// CPU time taken by the hypervisor: mean of the window (practice: > 1 %) ...
const STEAL_MAX: f64 = 0.01;
/// ... or of any 10 s (practice: > 3 %).
const STEAL_WORST_MAX: f64 = 0.03;

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    worst(trial, |node| {
        let mean = node.host.steal_share?;
        // Windows that are not whole are left out of the worst, so that it may be below the mean.
        let window = node.host.steal_share_worst.unwrap_or(mean).max(mean);
        (mean > STEAL_MAX || window > STEAL_WORST_MAX).then(|| {
            let figures = CpuSteal {
                steal_share: mean,
                steal_share_worst_10_s: window,
                threshold: STEAL_MAX,
                threshold_10_s: STEAL_WORST_MAX,
            };
            let beyond = (mean / STEAL_MAX).max(window / STEAL_WORST_MAX);
            (beyond, Finding::new(scope(trial), figures))
        })
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
