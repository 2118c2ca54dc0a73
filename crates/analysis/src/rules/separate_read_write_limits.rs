//! Did a throttled volume give more than EBS would have? cgroups limit reads and writes apart, EBS counts them
//! together. Not asked where one limit is divided between them, or a process answers for the volume.

use evidence::VolumeRole;
use serde::{Deserialize, Serialize};

use super::nodes::worst;
use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Reads and writes together got more than EBS gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct SeparateReadWriteLimits {
    pub volume: VolumeRole,
    pub read_iops: f64,
    pub write_iops: f64,
    /// What EBS gives to both, requests per second.
    pub limit_iops: f64,
    /// Both, as a share of that.
    pub combined_share: f64,
    pub threshold: f64,
}

/// Reads and writes together this much above the limit.
const COMBINED_MAX: f64 = 1.05;

pub(crate) fn finding(trial: &TrialMeasurement, role: VolumeRole) -> Option<Seen<SeparateReadWriteLimits>> {
    worst(trial, |node| {
        let (volume, activity) = node.volume(role).filter(|(volume, _)| !volume.is_combined() && !volume.is_served)?;
        // EBS has one number for both kinds; only then is the sum comparable with it.
        let limit = volume.limits.read_iops.filter(|l| Some(*l) == volume.limits.write_iops)?;
        let combined = activity.read_iops() + activity.write_iops();
        let share = stats::ratio(combined, limit).filter(|share| *share > COMBINED_MAX)?;
        let figures = SeparateReadWriteLimits {
            volume: role,
            read_iops: activity.read_iops(),
            write_iops: activity.write_iops(),
            limit_iops: limit,
            combined_share: share,
            threshold: COMBINED_MAX,
        };
        Some((share, figures))
    })
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{fires, sound_record};
    use crate::story::measured;

    /// The limit is 625, and 2 writes a second come beside the reads.
    #[test]
    fn five_percent_above_the_common_limit_are_allowed() {
        fires(Rule::SeparateReadWriteLimits, &[(650.0, false), (660.0, true), (1200.0, true)], |reads_per_s: f64| {
            measured(&sound_record(), reads_per_s * 60.0)
        });
    }

    #[test]
    fn a_served_volume_and_one_whose_limit_is_divided_count_both_together_anyway() {
        fires(Rule::SeparateReadWriteLimits, &[(false, true), (true, false)], |is_served: bool| {
            let mut record = sound_record();
            record.nodes[0].volumes[0].is_served = is_served;
            measured(&record, 700.0 * 60.0)
        });
        fires(
            Rule::SeparateReadWriteLimits,
            &[(Some(false), true), (None, true), (Some(true), false)],
            |combined: Option<bool>| {
                let mut record = sound_record();
                record.nodes[0].volumes[0].combined = combined;
                measured(&record, 700.0 * 60.0)
            },
        );
    }
}
