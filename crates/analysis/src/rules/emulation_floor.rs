//! Was this machine slower than the volume that it serves?

use evidence::VolumeRole;

use super::nodes::worst;
use super::scope::scope;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::remark::storage::EmulationFloor;

/// Share of the time in which answers of a served volume came later than its model says (practice: > 5 %).
const FLOOR_MAX: f64 = 0.05;

pub fn finding(trial: &TrialMeasurement, role: VolumeRole) -> Option<Finding> {
    worst(trial, |node| {
        let (_, activity) = node.volume(role)?;
        let (disk, cpu) = (activity.disk_floor_share?, activity.cpu_floor_share?);
        let share = Some(disk.max(cpu)).filter(|share| *share > FLOOR_MAX)?;
        let figures = EmulationFloor {
            volume: role,
            disk_floor_share: disk,
            cpu_floor_share: cpu,
            threshold: FLOOR_MAX,
        };
        Some((share, Finding::new(scope(trial), figures)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Rule;
    use crate::rules::cases::{changed_host, fires};

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
                changed_host(|h| {
                    let data = h.volumes.get_mut(&VolumeRole::Data).unwrap();
                    (data.disk_floor_share, data.cpu_floor_share) = (disk, cpu);
                })
            },
        );
    }
}
