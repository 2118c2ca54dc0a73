//! Does the money buy what it says? Rules on configurations, known before anything is measured.

use spec::{IoLimits, Plan};

use super::count;
use crate::finding::{Finding, Scope, Severity};

/// What an instance lets through may be this much below its volumes before it is worth a word: rounding in published figures.
const SLACK: f64 = 0.001;

/// Volumes that could do more than their instance lets through.
pub fn of_plan(plan: &Plan) -> Vec<Finding> {
    let above = |bought: Option<f64>, reachable: Option<f64>| {
        let (bought, reachable) = (bought?, reachable?);
        (bought > reachable * (1.0 + SLACK)).then_some((bought * plan.scale, reachable * plan.scale))
    };
    plan.setups
        .iter()
        .filter_map(|setup| {
            let bought: IoLimits = setup.data.own_limits?;
            let reachable = &setup.data.limits;
            let iops = above(bought.read_iops, reachable.read_iops);
            let bytes = above(bought.read_bytes_per_s, reachable.read_bytes_per_s);
            let (numbers, message) = match (iops, bytes) {
                (Some((bought, reachable)), _) => (
                    [("bought_iops", bought), ("reachable_iops", reachable)],
                    format!(
                        "{} IOPS are bought, {} are reachable: the instance is the limit.",
                        count(bought),
                        count(reachable)
                    ),
                ),
                (None, Some((bought, reachable))) => (
                    [("bought_bytes_per_s", bought), ("reachable_bytes_per_s", reachable)],
                    format!(
                        "The volume could move {} MB/s, the instance lets {} through.",
                        count(bought / 1e6),
                        count(reachable / 1e6)
                    ),
                ),
                (None, None) => return None,
            };
            Some(Finding::new(
                "volume_above_instance",
                Severity::Note,
                Scope::Configuration(setup.configuration.clone()),
                numbers,
                message,
                "Buy no more than the instance reaches, or an instance with more EBS bandwidth (iopslab catalog caps).",
            ))
        })
        .collect()
}
