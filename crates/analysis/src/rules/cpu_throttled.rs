//! Did a CPU quota hold the database back that nobody asked for?

use serde::{Deserialize, Serialize};

use super::nodes::worst;
use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// A CPU quota that nobody asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CpuThrottled {
    /// Share of its periods in which the database was held back.
    pub throttled_periods_share: f64,
    /// Allowed share.
    pub threshold: f64,
}

/// Share of the quota's periods in which the database was held back, where the quota is not the configuration's own
/// (practice: > 1 %).
const THROTTLED_MAX: f64 = 0.01;

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<CpuThrottled>> {
    worst(trial, |node| {
        // A fraction of a CPU can only be given by a quota: then being held back is the configuration.
        let share = node.host.cpu_throttled_share?;
        let is_whole = node.facts.cpus.fract() == 0.0;
        let figures = CpuThrottled { throttled_periods_share: share, threshold: THROTTLED_MAX };
        (is_whole && share > THROTTLED_MAX).then_some((share, figures))
    })
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{changed, fires, first_host};

    #[test]
    fn a_quota_of_its_own_is_the_configuration() {
        fires(
            Rule::CpuThrottled,
            &[((0.009, 1.0), false), ((0.011, 1.0), true), ((0.5, 0.5), false), ((0.5, 2.0), true)],
            |(share, cpus)| {
                changed(|t| {
                    t.record.nodes[0].cpus = cpus;
                    first_host(t).cpu_throttled_share = Some(share);
                })
            },
        );
    }
}
