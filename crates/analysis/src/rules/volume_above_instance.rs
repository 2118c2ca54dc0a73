//! Does the money buy what it says? Known before anything is measured.

use experiment::{IoLimits, Setup};
use serde::{Deserialize, Serialize};

use crate::seen::Seen;

/// More bought than the instance lets through, at full scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum VolumeAboveInstance {
    /// More requests per second than the instance lets through.
    Iops { bought_iops: f64, reachable_iops: f64 },
    /// No more requests, but more bytes.
    Bytes { bought_bytes_per_s: f64, reachable_bytes_per_s: f64 },
}

/// What an instance lets through may be this much below its volumes before it is worth a word: rounding in published
/// figures.
const SLACK: f64 = 0.001;

/// Data volumes that could do more than their instance lets through; numbers at full scale.
pub(crate) fn of_setup(setup: &Setup, scale: f64) -> Option<Seen<VolumeAboveInstance>> {
    let above = |bought: Option<f64>, reachable: Option<f64>| {
        let (bought, reachable) = (bought?, reachable?);
        (bought > reachable * (1.0 + SLACK)).then_some((bought * scale, reachable * scale))
    };
    // All data volumes of a node: they are alike.
    let count = f64::from(setup.data_volume_count());
    let bought: IoLimits = setup.data.own_limits?.scaled(1.0 / count);
    let reachable = |of: fn(&IoLimits) -> Option<f64>| match setup.more_data.is_empty() {
        true => of(&setup.data.limits),
        false => setup.together(setup.data_volumes(), |volume| of(&volume.limits), of),
    };
    let iops = above(bought.read_iops, reachable(|limits| limits.read_iops));
    let bytes = above(bought.read_bytes_per_s, reachable(|limits| limits.read_bytes_per_s));
    let figures = match (iops, bytes) {
        (Some((bought_iops, reachable_iops)), _) => VolumeAboveInstance::Iops { bought_iops, reachable_iops },
        (None, Some((bought_bytes_per_s, reachable_bytes_per_s))) => {
            VolumeAboveInstance::Bytes { bought_bytes_per_s, reachable_bytes_per_s }
        }
        (None, None) => return None,
    };
    Some(figures.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::job;

    #[test]
    fn requests_are_reported_before_bytes_and_rounding_is_not_reported() {
        let with = |iops: f64, bytes: f64| {
            let mut setups = job().setups;
            let data = &mut setups[1].data;
            let mut own = data.limits;
            own.read_iops = own.read_iops.map(|n| n * iops);
            own.read_bytes_per_s = own.read_bytes_per_s.map(|n| n * bytes);
            data.own_limits = Some(own);
            of_setup(&setups[1], 16.0).map(|seen| matches!(seen.figures, VolumeAboveInstance::Iops { .. }))
        };
        assert_eq!(with(1.0, 1.0), None);
        assert_eq!(with(1.0005, 1.0), None);
        assert_eq!(with(1.002, 1.5), Some(true));
        assert_eq!(with(1.0, 1.5), Some(false));
    }
}
