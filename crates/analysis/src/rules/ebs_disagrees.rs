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
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct EbsDisagrees {
    pub volume: VolumeRole,
    pub windows: u64,
    /// Windows in which the volume did all that we take for a limit of it, and it counts hardly any time above one.
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
    if ours.path_is_full || ours.share_of(ebs) >= NOT_EXCEEDED {
        return None;
    }
    if !ours.allow(ebs, EXCEEDED) {
        return Some(if ours.is_none() { Difference::OnlyEbs } else { Difference::AnotherLimit });
    }
    let counts_none = ebs.shares().into_iter().all(|share| share < NOT_EXCEEDED);
    (counts_none && ours.is_full()).then_some(Difference::OnlyOurs)
}

#[cfg(test)]
mod tests {
    use evidence::VolumeFacts;
    use experiment::{Burst, IoLimits, Job};

    use super::*;
    use crate::activity::WindowRates;
    use crate::rules::cases::{changed, first_data, first_host};
    use crate::story::job;

    fn of_volume(volume_iops: f64) -> EbsExceeded {
        EbsExceeded { volume_iops, ..EbsExceeded::default() }
    }

    /// A volume of 625 IOPS with so many reads a second in each window, and what EBS counts there.
    fn counted(windows: &[(f64, EbsExceeded)]) -> TrialMeasurement {
        changed(|trial| {
            let data = of_data(trial);
            data.read_iops = windows.iter().map(|(reads, _)| *reads).collect();
            data.write_iops = vec![2.0; windows.len()];
            data.read_bytes_per_s = vec![1e6; windows.len()];
            data.write_bytes_per_s = vec![1e5; windows.len()];
            data.ebs_exceeded = windows.iter().map(|(_, ebs)| *ebs).collect();
        })
    }

    fn of_data(trial: &mut TrialMeasurement) -> &mut WindowRates {
        &mut first_data(trial).windows
    }

    fn judged(trial: &TrialMeasurement, job: &Job) -> Option<EbsDisagrees> {
        let mut found = finding(trial, &job.setups);
        assert!(found.len() <= 1, "one volume counts: {found:?}");
        found.pop().map(|seen| seen.figures)
    }

    fn seen(windows: &[(f64, EbsExceeded)]) -> Option<EbsDisagrees> {
        judged(&counted(windows), &job())
    }

    #[test]
    fn a_window_is_judged_by_both() {
        let of_instance = EbsExceeded { instance_iops: 0.9, ..EbsExceeded::default() };
        let cases = [
            (160.0, of_volume(0.0), None),
            (160.0, of_volume(0.49), None),
            (160.0, of_volume(0.5), Some([0, 1, 0])),
            // 0.47 and 0.48 of the limit: it was at it for half of the window.
            (290.0, of_volume(0.5), Some([0, 1, 0])),
            (294.0, of_volume(0.5), None),
            (160.0, of_instance, Some([0, 1, 0])),
            (610.0, of_volume(1.0), None),
            (610.0, of_volume(0.1), None),
            // 0.9984 and 0.9992 of the limit: what comes evenly need not wait below it.
            (622.0, of_volume(0.0), None),
            (622.5, of_volume(0.0), Some([1, 0, 0])),
            (622.5, of_volume(0.09), Some([1, 0, 0])),
            (622.5, of_volume(0.1), None),
            (610.0, of_instance, Some([0, 0, 1])),
        ];
        for (reads, ebs, expected) in cases {
            let found = seen(&[(reads, ebs); 6]);
            let counts = found.map(|it| [it.only_ours, it.only_ebs, it.another_limit].map(|windows| windows / 6));
            assert_eq!(counts, expected, "{reads} reads a second, {ebs:?}");
        }
    }

    /// 0.43 of the limit where each request counts as one; of 9.8 MB up to 37 may be parts of large ones: 0.49.
    #[test]
    fn large_requests_among_small_ones_may_count_several_times() {
        let mut trial = counted(&[(265.0, of_volume(0.5)); 6]);
        assert_eq!(judged(&trial, &job()).map(|it| it.only_ebs), Some(6));
        of_data(&mut trial).read_bytes_per_s.fill(9.7e6);
        assert_eq!(judged(&trial, &job()), None);
    }

    /// 302 IOPS, for half of the window at the baseline of 200, for the other under 3,000.
    #[test]
    fn a_bucket_that_ran_empty_holds_back_for_the_rest_of_its_window() {
        let mut job = job();
        let burst = Burst { baseline_iops: 200.0, burst_iops: 3000.0, credits_max: 1e6, credits_start: 1e6 };
        job.setups[1].data.burst = Some(burst);
        let mut trial = counted(&[(300.0, of_volume(0.5)); 6]);
        of_data(&mut trial).iops_limit = vec![3000.0; 6];
        assert_eq!(judged(&trial, &job).map(|it| it.only_ebs), Some(6), "it never ran empty");
        of_data(&mut trial).iops_limit = vec![1600.0; 6];
        assert_eq!(judged(&trial, &job), None);
    }

    /// An instance that lets 400 IOPS through, 250 of them to another volume: together they are at it for most of a
    /// window, and at 0.88 of it.
    #[test]
    fn what_other_volumes_do_on_the_path_explains_what_is_counted_of_it() {
        let mut job = job();
        let mut trial = counted(&[(100.0, EbsExceeded { instance_iops: 0.8, ..EbsExceeded::default() }); 6]);
        let alone = judged(&trial, &job).map(|it| it.only_ebs);
        assert_eq!(alone, Some(6), "nothing is known of a path");
        job.setups[1].instance_limits = Some(IoLimits::symmetric(Some(400.0), None));
        let other = VolumeFacts { role: VolumeRole::Commitlog, ..trial.record.nodes[0].volumes[0].clone() };
        trial.record.nodes[0].volumes.push(other);
        let mut activity = first_data(&mut trial).clone();
        activity.windows.read_iops.fill(248.0);
        activity.windows.ebs_exceeded.clear();
        first_host(&mut trial).volumes.insert(VolumeRole::Commitlog, activity);
        assert_eq!(judged(&trial, &job), None);
        of_data(&mut trial).ebs_exceeded.fill(of_volume(0.8));
        assert_eq!(judged(&trial, &job).map(|it| it.only_ebs), Some(6), "its own limit is another one");
    }

    /// 160 reads a second of 62 KiB are 623 of the 16 KiB in which AWS states the IOPS of an instance.
    #[test]
    fn what_is_served_counts_requests_as_a_volume_does_where_its_instance_is_narrower() {
        let mut job = job();
        job.setups[1].data.own_limits = Some(IoLimits::symmetric(Some(5000.0), None));
        let mut trial = counted(&[(160.0, of_volume(0.0)); 6]);
        of_data(&mut trial).read_bytes_per_s.fill(10.2e6);
        trial.record.nodes[0].volumes[0].limits = IoLimits::symmetric(Some(625.0), None);
        assert_eq!(judged(&trial, &job).map(|it| it.only_ours), Some(6), "as EBS would count");
        trial.record.nodes[0].volumes[0].is_served = true;
        assert_eq!(judged(&trial, &job), None);
    }

    #[test]
    fn one_window_of_fifty_may_differ() {
        let windows = |differing: usize| {
            let mut windows = vec![(623.0, of_volume(1.0)); 50];
            windows[..differing].fill((623.0, of_volume(0.0)));
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
        let trial = changed(|trial| of_data(trial).read_iops = vec![610.0; 6]);
        assert_eq!(finding(&trial, &job().setups), Vec::new());
    }
}
