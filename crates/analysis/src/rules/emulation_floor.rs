//! Was this machine slower than the volume that it serves?

use evidence::VolumeRole;
use serde::{Deserialize, Serialize};

use super::nodes::worst;
use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// A served volume was slower than its model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct EmulationFloor {
    pub volume: VolumeRole,
    /// Share of the time in which answers came late for this machine's disk.
    pub disk_floor_share: f64,
    /// The same for its CPUs.
    pub cpu_floor_share: f64,
    pub threshold: f64,
}

/// Share of the time in which answers of a served volume came later than its model says (practice: > 5 %).
const FLOOR_MAX: f64 = 0.05;

pub(crate) fn finding(trial: &TrialMeasurement, role: VolumeRole) -> Option<Seen<EmulationFloor>> {
    worst(trial, |node| {
        let (_, activity) = node.volume(role)?;
        let (disk, cpu) = (activity.disk_floor_share?, activity.cpu_floor_share?);
        let share = Some(disk.max(cpu)).filter(|share| *share > FLOOR_MAX)?;
        let figures =
            EmulationFloor { volume: role, disk_floor_share: disk, cpu_floor_share: cpu, threshold: FLOOR_MAX };
        Some((share, figures))
    })
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{changed, fires, first_data};

    #[test]
    fn five_percent_of_the_time_by_disk_or_by_cpu_and_only_where_a_volume_is_served() {
        fires(
            Rule::EmulationFloor,
            &[
                ((None, None), false),
                ((Some(0.04), Some(0.04)), false),
                ((Some(0.06), Some(0.0)), true),
                ((Some(0.0), Some(0.06)), true),
            ],
            |(disk, cpu)| {
                changed(|trial| {
                    let data = first_data(trial);
                    (data.disk_floor_share, data.cpu_floor_share) = (disk, cpu);
                })
            },
        );
    }
}
