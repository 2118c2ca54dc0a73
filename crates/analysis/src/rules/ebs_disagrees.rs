//! Do a volume's own counters say of its limits what we say of them?
//!
//! We take a volume to be at a limit by what it did and what is stated of it. Amazon EBS counts the time in which more
//! was asked of it than it gives, or than its instance lets through, and so does who serves an emulated volume. Where
//! the two differ, something else is attached than what is stated, other volumes use the same path, this machine holds
//! an emulated volume back, or the limit lies elsewhere than we say.

use experiment::{Setup, Setups, VolumeRole};
use serde::{Deserialize, Serialize};

use super::nodes::worst;
use crate::ebs::EbsExceeded;
use crate::limit::{LimitsOfWindow, limits_by_window};
use crate::measurement::TrialMeasurement;
use crate::node::Node;
use crate::seen::Seen;

/// In which of the 10 s windows a volume's own counters and our judgement of a volume's limits differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EbsDisagrees {
    /// Which volume.
    pub volume: VolumeRole,
    /// Windows that were compared.
    pub windows: u64,
    /// Windows in which the volume did what we take for a limit of it, and it counts no time above one.
    pub only_ours: u64,
    /// Windows in which the volume counts time above a limit, and did less than one that it is at for that time does.
    pub only_ebs: u64,
    /// Windows in which each names another limit.
    pub another_limit: u64,
    /// Share of the windows in which they agree.
    pub agreed_share: f64,
    /// Least such share.
    pub threshold: f64,
    /// What the volume counts, mean of the windows.
    pub exceeded: EbsExceeded,
}

/// The counters and our judgement agree in at least this share of the windows (what we ask of ourselves: of a minute,
/// in all of them).
const AGREED: f64 = 0.98;
/// The counters have a volume at a limit in a window where they count at least this share of it as above that limit (as
/// [`super::AT_CAP_WINDOWS`] has a trial at its cap) ...
const EXCEEDED: f64 = 0.5;
/// ... and below this share it has not. Between the two it agrees with either (ours: what is asked for is not even
/// within ten seconds).
const NOT_EXCEEDED: f64 = 0.1;

/// What one says of a window that the other does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Difference {
    OnlyOurs,
    OnlyEbs,
    AnotherLimit,
}

/// One for each volume; of volumes without such counters, or whose limits are not known, none.
pub(crate) fn finding(trial: &TrialMeasurement, setups: &Setups) -> Vec<Seen<EbsDisagrees>> {
    let setup = setups.of(&trial.record.configuration);
    VolumeRole::ALL.into_iter().filter_map(|role| worst(trial, |node| of_node(setup, node, role))).collect()
}

fn of_node(setup: Option<&Setup>, node: &Node<'_>, role: VolumeRole) -> Option<(f64, EbsDisagrees)> {
    let (facts, activity) = node.volume(role)?;
    let counted = &activity.windows.ebs_exceeded;
    let exceeded = EbsExceeded::mean(counted)?;
    let ours = limits_by_window(setup, node, facts)?;
    let differences: Vec<Difference> =
        ours.iter().zip(counted).filter_map(|(ours, ebs)| difference(ours, ebs)).collect();
    let of = |kind| differences.iter().filter(|difference| **difference == kind).count() as u64;
    let windows = counted.len() as u64;
    let differing = stats::ratio(differences.len() as f64, windows as f64)?;
    let figures = EbsDisagrees {
        volume: role,
        windows,
        only_ours: of(Difference::OnlyOurs),
        only_ebs: of(Difference::OnlyEbs),
        another_limit: of(Difference::AnotherLimit),
        agreed_share: 1.0 - differing,
        threshold: AGREED,
        exceeded,
    };
    (figures.agreed_share < AGREED).then_some((differing, figures))
}

fn difference(ours: &LimitsOfWindow, ebs: &EbsExceeded) -> Option<Difference> {
    let most = ebs.shares().into_iter().fold(0.0, f64::max);
    if ours.path_is_full {
        return None;
    }
    if ours.is_none() {
        return (most >= EXCEEDED && !ours.allow(ebs, EXCEEDED)).then_some(Difference::OnlyEbs);
    }
    let is_counted = ours.share_of(ebs) >= NOT_EXCEEDED;
    let otherwise = if most >= EXCEEDED { Difference::AnotherLimit } else { Difference::OnlyOurs };
    (!is_counted).then_some(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::cases::changed_host;
    use crate::story::job;

    fn of_volume(volume_iops: f64) -> EbsExceeded {
        EbsExceeded { volume_iops, ..EbsExceeded::default() }
    }

    /// A volume of 625 IOPS with so many reads a second in each window, and what EBS counts there.
    fn seen(windows: &[(f64, EbsExceeded)]) -> Option<EbsDisagrees> {
        let trial = changed_host(|host| {
            let data = &mut host.volumes.get_mut(&VolumeRole::Data).unwrap().windows;
            data.read_iops = windows.iter().map(|(reads, _)| *reads).collect();
            data.write_iops = vec![2.0; windows.len()];
            data.read_bytes_per_s = vec![1e6; windows.len()];
            data.write_bytes_per_s = vec![1e5; windows.len()];
            data.ebs_exceeded = windows.iter().map(|(_, ebs)| *ebs).collect();
        });
        let mut found = finding(&trial, &job().setups);
        assert!(found.len() <= 1, "there is one volume: {found:?}");
        found.pop().map(|seen| seen.figures)
    }

    #[test]
    fn a_window_is_judged_by_both() {
        let of_instance = EbsExceeded { instance_iops: 0.9, ..EbsExceeded::default() };
        let cases = [
            (160.0, of_volume(0.0), None),
            (160.0, of_volume(0.49), None),
            (160.0, of_volume(0.5), Some([0, 1, 0])),
            // 0.47 and 0.48 of the limit: it was at it for half of the window.
            (291.0, of_volume(0.5), Some([0, 1, 0])),
            (298.0, of_volume(0.5), None),
            (160.0, of_instance, Some([0, 1, 0])),
            (610.0, of_volume(1.0), None),
            (610.0, of_volume(0.1), None),
            (610.0, of_volume(0.09), Some([1, 0, 0])),
            (610.0, of_instance, Some([0, 0, 1])),
        ];
        for (reads, ebs, expected) in cases {
            let found = seen(&[(reads, ebs); 6]);
            let counts = found.map(|it| [it.only_ours, it.only_ebs, it.another_limit].map(|windows| windows / 6));
            assert_eq!(counts, expected, "{reads} reads a second, {ebs:?}");
        }
    }

    #[test]
    fn one_window_of_fifty_may_differ() {
        let windows = |differing: usize| {
            let mut windows = vec![(610.0, of_volume(1.0)); 50];
            windows[..differing].fill((610.0, of_volume(0.0)));
            seen(&windows)
        };
        assert_eq!((windows(0), windows(1)), (None, None));
        let found = windows(2).unwrap();
        assert_eq!((found.windows, found.only_ours, found.agreed_share), (50, 2, 0.96));
        assert_eq!(found.exceeded, of_volume(0.96));
    }

    #[test]
    fn a_volume_without_these_counters_is_not_judged() {
        assert_eq!(seen(&[]), None);
        let trial = changed_host(|host| {
            host.volumes.get_mut(&VolumeRole::Data).unwrap().windows.read_iops = vec![610.0; 6];
        });
        assert_eq!(finding(&trial, &job().setups), Vec::new());
    }
}
