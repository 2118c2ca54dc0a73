//! Did a volume run on burst credits, and for how long could it?
//!
//! `burst_changed`: credits ran out inside the window, so that the trial mixes two speeds. `burst_only`: they fell,
//! however little of a full bucket that was: the mean demand was above the baseline, so that what was measured does not
//! last. Of a volume of an existing cluster nobody sees the credits: one that does more than its baseline spends them.
//! Both carry what tells how long it lasts: see [`crate::burst::lasts`].

use evidence::VolumeFacts;
use experiment::{Setups, VolumeRole, VolumeSetup};

use super::nodes::{first_named, worst};
use super::scope::scope;
use crate::burst::{Bucket, lasts};
use crate::finding::Finding;
use crate::host::VolumeActivity;
use crate::measurement::TrialMeasurement;
use crate::node::Node;
use crate::remark::storage::{BucketLasts, BurstChanged, BurstOnly, Credits, CreditsSpent};
use crate::rule::{Remark, Rule};

/// Credits spent matter from this share of the volume's requests on: an empty bucket holds a few ticks' worth at any
/// time.
const CREDITS_SHARE: f64 = 0.02;
/// The unit of credits of bytes.
const MIB: f64 = 1_048_576.0;
/// What does more than this share of the burst rate is not the volume that is stated.
const MOST: f64 = 1.02;

impl Credits {
    /// A bucket with no more credits than this is empty: those of one request, which hard disks count by the MiB.
    const fn empty(self) -> f64 {
        match self {
            Self::Requests => 1.0,
            Self::Bytes => MIB,
        }
    }

    fn credits(self, volume: &VolumeFacts) -> Option<(f64, f64)> {
        match self {
            Self::Requests => volume.burst_credits,
            Self::Bytes => volume.byte_credits,
        }
    }

    /// Reads and writes.
    fn done(self, activity: &VolumeActivity) -> f64 {
        match self {
            Self::Requests => activity.reads + activity.writes,
            Self::Bytes => activity.read_bytes + activity.write_bytes,
        }
    }

    fn bucket(self, volume: &VolumeSetup) -> Option<Bucket> {
        match self {
            Self::Requests => volume.burst.map(Bucket::from),
            Self::Bytes => volume.byte_burst.map(Bucket::from),
        }
    }
}

/// One finding of each rule: the buckets of two nodes may end in different states.
pub fn findings(trial: &TrialMeasurement, role: VolumeRole) -> impl Iterator<Item = Finding> {
    let of_rule = move |rule| {
        worst(trial, |node| {
            let found = [Credits::Requests, Credits::Bytes].map(|counts| of_node(trial, node, role, counts));
            found.into_iter().flatten().find(|(_, f)| f.rule() == rule)
        })
    };
    [Rule::BurstChanged, Rule::BurstOnly].into_iter().filter_map(of_rule)
}

fn of_node(trial: &TrialMeasurement, node: &Node<'_>, role: VolumeRole, counts: Credits) -> Option<(f64, Finding)> {
    let volume = node.facts.volumes.iter().find(|v| v.role == role)?;
    let (start, end) = counts.credits(volume)?;
    // Credits are those of the whole trial; with planned faults requests were counted in a part of it alone.
    let part = match &trial.before {
        Some(before) => stats::ratio(before.window_s(), trial.window_s()).unwrap_or(1.0),
        None => 1.0,
    };
    let done = node.activity(role).map(|v| counts.done(v) / part);
    let spent = start - end;
    if spent <= 0.0 || done.is_some_and(|n| spent < CREDITS_SHARE * n) {
        return None;
    }
    let empty = counts.empty();
    let (volume, unit, lasts) = (role, counts, None);
    let credits = CreditsSpent {
        credits_start: start,
        credits_end: end,
    };
    let remark = if start > empty && end <= empty {
        Remark::from(BurstChanged {
            volume,
            unit,
            spent: credits,
            lasts,
        })
    } else if end > empty {
        Remark::from(BurstOnly {
            volume,
            unit,
            spent: Some(credits),
            lasts,
        })
    } else {
        return None;
    };
    Some((spent, Finding::new(scope(trial), remark)))
}

/// How long a bucket lasts under a demand, beside what was measured.
fn of_bucket(bucket: &Bucket, measured: f64, demand: f64, scale: f64) -> BucketLasts {
    let lasts = lasts(bucket, demand);
    BucketLasts {
        measured_per_s: measured,
        burst_per_s: lasts.burst,
        baseline_per_s: lasts.baseline,
        credits_full: bucket.full,
        scale,
        full_bucket_lasts_s: lasts.from_full_s,
    }
}

/// Volumes that are watched and not ours, and did more than the baseline that is stated of them.
pub fn unseen(trial: &TrialMeasurement, setups: &Setups, scale: f64) -> Vec<Finding> {
    let Some(setup) = setups
        .of(&trial.record.configuration)
        .filter(|setup| setup.has_real_volumes())
    else {
        return Vec::new();
    };
    let of_role = |role| {
        let bucket = Bucket::from(setup.volume(role)?.burst?);
        worst(trial, |node| {
            let activity = node.activity(role)?;
            let iops = activity.read_iops() + activity.write_iops();
            let spent = iops - bucket.baseline;
            let spends = spent >= CREDITS_SHARE * iops && iops <= MOST * bucket.burst;
            let unit = Credits::Requests;
            let measured = unit.done(activity) / activity.seconds;
            spends.then(|| {
                let figures = BurstOnly {
                    volume: role,
                    unit,
                    spent: None,
                    lasts: Some(of_bucket(&bucket, measured, measured, scale)),
                };
                (spent, Finding::new(scope(trial), figures))
            })
        })
    };
    VolumeRole::ALL.into_iter().filter_map(of_role).collect()
}

/// The finding with what the setup knows of the bucket: rates, a full bucket, and how long it lasts under the measured
/// demand. `None` where the mean demand was not above the baseline after all.
pub fn completed(mut finding: Finding, trial: &TrialMeasurement, setups: &Setups, scale: f64) -> Option<Finding> {
    let (only, changed) = (finding.figures::<BurstOnly>(), finding.figures::<BurstChanged>());
    let (role, unit) = match (only, changed) {
        (Some(only), _) => (only.volume, only.unit),
        (_, Some(changed)) => (changed.volume, changed.unit),
        (None, None) => return Some(finding),
    };
    let setup = setups.of(&trial.record.configuration);
    let bucket = setup
        .and_then(|setup| setup.volume(role))
        .and_then(|volume| unit.bucket(volume));
    let node = first_named(trial, &finding);
    let (Some(bucket), Some(activity)) = (bucket, node.and_then(|n| n.activity(role))) else {
        return Some(finding);
    };
    let measured = unit.done(activity) / activity.seconds;
    if only.is_some_and(|only| is_breathing(only, &bucket, measured, activity.seconds)) {
        return None;
    }
    // Where the bucket ran empty inside the window, the mean rate is not the demand: that was what emptied it, the
    // burst rate.
    let demand = match changed {
        Some(_) => bucket.burst,
        None => measured,
    };
    let found = of_bucket(&bucket, measured, demand, scale);
    if let Remark::BurstOnly(BurstOnly { lasts, .. }) | Remark::BurstChanged(BurstChanged { lasts, .. }) =
        &mut finding.remark
    {
        *lasts = Some(found);
    }
    Some(finding)
}

/// Whether credits fell by the last few requests alone: a full bucket earns nothing while it is full, so that a demand below the
/// baseline that comes in bursts may leave it a little less than full.
fn is_breathing(found: &BurstOnly, bucket: &Bucket, measured: f64, seconds: f64) -> bool {
    let start = found.spent.map_or(0.0, |spent| spent.credits_start);
    let may_be_full = start + bucket.baseline * seconds >= bucket.full;
    may_be_full && measured <= bucket.baseline
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::rules::cases::{found, recorded, sound_record};
    use crate::story::{job, measured, run};

    /// The sound trial made 9,720 requests, so that 194 credits are the least that matters.
    #[test]
    fn credits_that_fall_and_credits_that_end_are_two_things() {
        let with = |start: f64, end: f64| {
            let trial = recorded(|r| r.nodes[0].volumes[0].burst_credits = Some((start, end)));
            [Rule::BurstChanged, Rule::BurstOnly].map(|rule| found(&trial, rule).is_some())
        };
        assert_eq!(with(5000.0, 0.0), [true, false]);
        assert_eq!(with(5000.0, 3000.0), [false, true]);
        assert_eq!(with(5000.0, 4900.0), [false, false], "100 credits for 9,720 requests");
        assert_eq!(with(5000.0, 4750.0), [false, true]);
        assert_eq!(
            with(337_500.0, 336_000.0),
            [false, true],
            "0.4 % of a bucket, 15 % of the requests"
        );
        assert_eq!(with(337_500.0, 337_400.0), [false, false]);
        assert_eq!(with(150.0, 0.0), [false, false], "what an empty bucket holds");
        assert_eq!(with(5000.0, 5000.0), [false, false]);
        assert_eq!(with(0.0, 0.0), [false, false]);
    }

    /// st1 of 500 GiB at 1:16, whose credits are MiB. The sound trial moved the bytes of its requests.
    #[test]
    fn credits_of_bytes_are_reported_in_bytes() {
        let mut job = job();
        job.setups[1].data.byte_burst = Some(
            experiment::ByteBurst {
                baseline_bytes_per_s: 20.0 * MIB,
                burst_bytes_per_s: 125.0 * MIB,
                credits_max: 512_000.0 * MIB,
                credits_start: 512_000.0 * MIB,
            }
            .scaled(16.0),
        );
        let reported = |credits: (f64, f64)| {
            let mut record = sound_record();
            record.nodes[0].volumes[0].byte_credits = Some((credits.0 * MIB, credits.1 * MIB));
            let trials = [measured(&record, 160.0 * 60.0)];
            let findings = analyse(&run(&job, &trials)).findings.into_iter();
            findings
                .filter(|f| matches!(f.rule(), Rule::BurstOnly | Rule::BurstChanged))
                .collect::<Vec<_>>()
        };
        let only = reported((32_000.0, 26_000.0)).remove(0);
        assert_eq!(only.rule(), Rule::BurstOnly);
        let figures = only.figures::<BurstOnly>().unwrap();
        assert_eq!(figures.unit, Credits::Bytes);
        assert_eq!(figures.spent.unwrap().credits_end, 26_000.0 * MIB);
        assert_eq!(figures.lasts.unwrap().baseline_per_s, 1.25 * MIB);
        let changed = reported((6_000.0, 0.5)).remove(0);
        assert_eq!(changed.rule(), Rule::BurstChanged);
        // It bursts at 125 / 16 and earns 20 / 16 MiB a second, of 512,000 / 16.
        let lasts = changed.figures::<BurstChanged>().unwrap().lasts.unwrap();
        let seconds = lasts.full_bucket_lasts_s.unwrap();
        assert!((seconds - 512_000.0 / 105.0).abs() < 1e-6, "{seconds}");
        assert_eq!(reported((0.5, 0.5)), []);
    }

    /// gp2 of 100 GiB at 1:16: 18.75 IOPS and 187.5 while credits last. The trial did 162, so that a full bucket lasts
    /// 5.4e6 / 16 / (162 - 18.75) s.
    #[test]
    fn a_reader_learns_how_long_the_burst_lasts() {
        let mut job = job();
        job.setups[1].data.burst = Some(
            experiment::Burst {
                baseline_iops: 300.0,
                burst_iops: 3000.0,
                credits_max: 5.4e6,
                credits_start: 5.4e6,
            }
            .scaled(16.0),
        );
        let mut record = sound_record();
        record.nodes[0].volumes[0].burst_credits = Some((337_500.0, 328_000.0));
        let trials = [measured(&record, 160.0 * 60.0)];
        let analysis = analyse(&run(&job, &trials));
        let reported = analysis
            .findings
            .iter()
            .find_map(Finding::figures::<BurstOnly>)
            .unwrap();
        let lasts = reported.lasts.unwrap();
        assert_eq!((lasts.baseline_per_s, lasts.burst_per_s), (18.75, 162.0));
        let seconds = lasts.full_bucket_lasts_s.unwrap();
        assert!((seconds - 337_500.0 / (162.0 - 18.75)).abs() < 1e-6, "{seconds}");
    }

    /// The sound trial did 162 IOPS.
    #[test]
    fn a_volume_of_an_existing_cluster_above_its_baseline_spends_credits_that_nobody_sees() {
        let reported = |baseline_iops: f64, burst_iops: f64, exists: bool| {
            let mut job = job();
            job.setups[1].existing = exists.then(|| vec!["h:9042".to_owned()]);
            job.setups[1].data.burst = Some(experiment::Burst {
                baseline_iops,
                burst_iops,
                credits_max: 5.4e6,
                credits_start: 0.0,
            });
            let trials = [measured(&sound_record(), 160.0 * 60.0)];
            let analysis = analyse(&run(&job, &trials));
            analysis
                .findings
                .iter()
                .find_map(Finding::figures::<BurstOnly>)
                .cloned()
        };
        let found = reported(100.0, 3000.0, true).unwrap();
        let lasts = found.lasts.unwrap();
        assert_eq!((lasts.measured_per_s, found.spent), (162.0, None));
        assert_eq!(lasts.full_bucket_lasts_s, Some(5.4e6 / 62.0));
        assert_eq!(reported(160.0, 3000.0, true), None, "1 % above is how a rate breathes");
        assert_eq!(reported(300.0, 3000.0, true), None, "below its baseline");
        assert_eq!(
            reported(100.0, 150.0, true),
            None,
            "more than the volume that is stated can do"
        );
        assert_eq!(
            reported(100.0, 3000.0, false),
            None,
            "of our own volumes the credits are known"
        );
    }
}
