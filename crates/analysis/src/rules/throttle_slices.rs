//! Does the kernel's throttle show in the tail latency?

use evidence::{OperationKind, VolumeRole};
use serde::{Deserialize, Serialize};

use super::nodes::worst;
use super::volume_at_cap;
use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// The kernel's throttle shows in the tail latency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThrottleSlices {
    /// Which operation was slowest.
    pub operation: OperationKind,
    /// Which volume was at its limit.
    pub volume: VolumeRole,
    /// 99th percentile of its response time, microseconds.
    pub p99_us: f64,
    /// Slice in which the throttle releases I/O, microseconds.
    pub slice_us: f64,
    /// From here on a percentile shows slices, microseconds.
    pub threshold_us: f64,
}

/// The cgroup throttle releases I/O in slices of about this long, microseconds (measured on kernel 6.18) ...
const SLICE_US: f64 = 100_000.0;
/// ... so that a p99 from here on, on a volume at its cap, shows the slices.
const THROTTLE_STEP_US: f64 = 80_000.0;

pub(crate) fn finding(trial: &TrialMeasurement, role: VolumeRole) -> Option<Seen<ThrottleSlices>> {
    let (kind, p99) = trial
        .response
        .iter()
        .filter_map(|(kind, f)| Some((kind, f.figures.p99?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, p99)| *p99 >= THROTTLE_STEP_US)?;
    worst(trial, |node| {
        let (volume, _) = node.volume(role)?;
        let (share, _) = volume_at_cap::of_node(node, role).filter(|_| !volume.is_served)?;
        let figures = ThrottleSlices {
            operation: *kind,
            volume: role,
            p99_us: p99,
            slice_us: SLICE_US,
            threshold_us: THROTTLE_STEP_US,
        };
        Some((share, figures))
    })
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{fires, sound_record};
    use crate::story::measured;

    /// 100 in flight: n operations in 60 s take 6,000 / n seconds each.
    #[test]
    fn slow_answers_of_a_volume_at_its_limit_show_the_slices() {
        let with = |(operations, device_reads): (u64, f64)| {
            let mut record = sound_record();
            let client = record.client.as_mut().unwrap();
            client.completed.values_mut().for_each(|n| *n = operations / 2);
            measured(&record, device_reads)
        };
        let at_limit = 620.0 * 60.0;
        fires(
            Rule::ThrottleSlices,
            &[((30_000, at_limit), true), ((90_000, at_limit), false), ((30_000, 9_600.0), false)],
            with,
        );
    }

    #[test]
    fn a_served_volume_has_no_slices() {
        let with = |is_served: bool| {
            let mut record = sound_record();
            record.nodes[0].volumes[0].is_served = is_served;
            let client = record.client.as_mut().unwrap();
            client.completed.values_mut().for_each(|n| *n = 15_000);
            measured(&record, 620.0 * 60.0)
        };
        fires(Rule::ThrottleSlices, &[(false, true), (true, false)], with);
    }
}
