//! Time above a limit as Amazon EBS counts it.

use evidence::{EbsFigures, HostSample};
use experiment::VolumeRole;
use serde::{Deserialize, Serialize};

/// Shares of a time in which more was asked of a volume than it gives, or than its instance lets through, as EBS counts
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct EbsExceeded {
    /// More requests than the volume's IOPS.
    pub volume_iops: f64,
    /// More bytes than the volume's throughput.
    pub volume_bytes: f64,
    /// More requests than the instance's path to EBS lets through.
    pub instance_iops: f64,
    /// More bytes than the instance's path to EBS lets through.
    pub instance_bytes: f64,
}

impl EbsExceeded {
    /// Between two samples; `None` where one of them lacks a counter, or where a counter went backwards (the volume was
    /// attached anew).
    pub fn between(from: &HostSample, to: &HostSample, role: VolumeRole) -> Option<Self> {
        let (before, after) = (from.ebs.get(&role)?, to.ebs.get(&role)?);
        let share = |figure: fn(&EbsFigures) -> Option<f64>| {
            let grown = figure(after)? - figure(before)?;
            stats::ratio(grown, to.t_s - from.t_s).filter(|share| *share >= 0.0)
        };
        Some(Self {
            volume_iops: share(|ebs| ebs.volume_iops_exceeded_s)?,
            volume_bytes: share(|ebs| ebs.volume_bytes_exceeded_s)?,
            instance_iops: share(|ebs| ebs.instance_iops_exceeded_s)?,
            instance_bytes: share(|ebs| ebs.instance_bytes_exceeded_s)?,
        })
    }

    /// All four.
    pub fn shares(&self) -> [f64; 4] {
        [self.volume_iops, self.volume_bytes, self.instance_iops, self.instance_bytes]
    }

    /// The mean of several times of the same length; `None` of none.
    pub fn mean(all: &[Self]) -> Option<Self> {
        let mean = |share: fn(&Self) -> f64| stats::ratio(all.iter().map(share).sum(), all.len() as f64);
        Some(Self {
            volume_iops: mean(|one| one.volume_iops)?,
            volume_bytes: mean(|one| one.volume_bytes)?,
            instance_iops: mean(|one| one.instance_iops)?,
            instance_bytes: mean(|one| one.instance_bytes)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn sample(t_s: f64, [volume_iops, volume_bytes, instance_iops, instance_bytes]: [f64; 4]) -> HostSample {
        let figures = EbsFigures {
            volume_iops_exceeded_s: Some(volume_iops),
            volume_bytes_exceeded_s: Some(volume_bytes),
            instance_iops_exceeded_s: Some(instance_iops),
            instance_bytes_exceeded_s: Some(instance_bytes),
            ..EbsFigures::default()
        };
        HostSample { t_s, ebs: BTreeMap::from([(VolumeRole::Data, figures)]), ..HostSample::default() }
    }

    #[test]
    fn shares_are_differences_of_counters_over_the_time_between() {
        let from = sample(5.0, [100.0, 7.0, 0.0, 3.0]);
        let of = |to: [f64; 4]| EbsExceeded::between(&from, &sample(15.0, to), VolumeRole::Data);
        assert_eq!(of([110.0, 9.5, 0.0, 3.0]).unwrap().shares(), [1.0, 0.25, 0.0, 0.0]);
        assert_eq!(of([0.5, 9.5, 0.0, 3.0]), None, "attached anew");
        assert_eq!(EbsExceeded::between(&from, &HostSample::default(), VolumeRole::Data), None);
        assert_eq!(EbsExceeded::between(&from, &sample(15.0, [100.0; 4]), VolumeRole::Commitlog), None);
    }

    #[test]
    fn the_mean_of_none_is_not_known() {
        let of = |volume_iops: f64| EbsExceeded { volume_iops, ..EbsExceeded::default() };
        assert_eq!(EbsExceeded::mean(&[of(1.0), of(0.5)]), Some(of(0.75)));
        assert_eq!(EbsExceeded::mean(&[]), None);
    }
}
