//! Was a volume at its limit?

use evidence::VolumeRole;
use serde::{Deserialize, Serialize};

use super::nodes::worst;
use crate::fact::VolumeLimit;
use crate::limit::VOLUME_AT_CAP;
use crate::measurement::TrialMeasurement;
use crate::node::Node;
use crate::seen::Seen;

/// A volume was at its limit. Rates are means of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct VolumeAtCap {
    pub volume: VolumeRole,
    pub limited: VolumeLimit,
    /// The limit, requests or bytes per second by `limited`.
    pub limit: f64,
    /// Share of the 10 s windows in which it was at it.
    pub windows_at_cap_share: f64,
    pub read_iops: f64,
    pub write_iops: f64,
    pub read_bytes_per_s: f64,
    pub write_bytes_per_s: f64,
}

/// A volume is at its cap in a trial when it is for at least this share of the windows (practice: >= 50 %).
pub const AT_CAP_WINDOWS: f64 = 0.5;

pub(crate) fn finding(trial: &TrialMeasurement, role: VolumeRole) -> Option<Seen<VolumeAtCap>> {
    worst(trial, |node| of_node(node, role))
}

/// Whether the volume of a node was at its limit: in which share of the windows, and its figures.
pub(crate) fn of_node(node: &Node<'_>, role: VolumeRole) -> Option<(f64, VolumeAtCap)> {
    let (volume, activity) = node.volume(role)?;
    let (limits, windows) = (&volume.limits, &activity.windows);
    // Where both kinds share a limit; the throttle counts them apart.
    let together = |reads: &[f64], writes: &[f64]| -> Vec<f64> {
        let pairs = reads.iter().zip(writes).filter(|_| volume.is_combined());
        pairs.map(|(read, write)| read + write).collect()
    };
    let iops = together(&windows.read_iops, &windows.write_iops);
    let bytes_per_s = together(&windows.read_bytes_per_s, &windows.write_bytes_per_s);
    let (what, share, limit) = [
        (VolumeLimit::Iops, &iops, limits.read_iops),
        (VolumeLimit::BytesPerS, &bytes_per_s, limits.read_bytes_per_s),
        (VolumeLimit::ReadIops, &windows.read_iops, limits.read_iops),
        (VolumeLimit::WriteIops, &windows.write_iops, limits.write_iops),
        (VolumeLimit::ReadBytesPerS, &windows.read_bytes_per_s, limits.read_bytes_per_s),
        (VolumeLimit::WriteBytesPerS, &windows.write_bytes_per_s, limits.write_bytes_per_s),
    ]
    .into_iter()
    .filter_map(|(what, windows, limit)| Some((what, share_at(windows, limit)?, limit?)))
    // Of those that say the same, the first: together is what such a volume counts.
    .rev()
    .max_by(|a, b| a.1.total_cmp(&b.1))
    .filter(|(_, share, _)| *share >= AT_CAP_WINDOWS)?;
    let figures = VolumeAtCap {
        volume: role,
        limited: what,
        limit,
        windows_at_cap_share: share,
        read_iops: activity.read_iops(),
        write_iops: activity.write_iops(),
        read_bytes_per_s: activity.read_bytes_per_s(),
        write_bytes_per_s: activity.write_bytes_per_s(),
    };
    Some((share, figures))
}

/// Share of the 10 s windows in which the volume is at the given limit.
fn share_at(windows: &[f64], limit: Option<f64>) -> Option<f64> {
    let limit = limit.filter(|l| *l > 0.0)?;
    let at = windows.iter().filter(|rate| **rate >= VOLUME_AT_CAP * limit).count();
    stats::ratio(at as f64, windows.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Rule;
    use crate::rules::cases::{changed, fires, first_data, seen};

    /// 625 IOPS: 593.75 are 95 %.
    #[test]
    fn ninety_five_percent_in_half_of_the_windows() {
        let with = |windows: [f64; 4]| changed(|trial| first_data(trial).windows.read_iops = windows.to_vec());
        fires(
            Rule::VolumeAtCap,
            &[
                ([590.0; 4], false),
                ([600.0; 4], true),
                ([600.0, 600.0, 100.0, 100.0], true),
                ([600.0, 100.0, 100.0, 100.0], false),
            ],
            with,
        );
    }

    /// 320 reads and 300 writes: 620 of 625 together, half of it apart.
    #[test]
    fn a_served_volume_is_at_its_limit_with_reads_and_writes_together() {
        let with = |is_served: bool| {
            changed(|trial| {
                let volume = &mut trial.record.nodes[0].volumes[0];
                (volume.is_served, volume.combined) = (is_served, Some(is_served));
                let windows = &mut first_data(trial).windows;
                (windows.read_iops, windows.write_iops) = (vec![320.0; 4], vec![300.0; 4]);
            })
        };
        fires(Rule::VolumeAtCap, &[(true, true), (false, false)], with);
        let trial = with(true);
        assert_eq!(seen::<VolumeAtCap>(&trial).unwrap().limited, VolumeLimit::Iops);
    }
}
