//! Did a volume run on burst credits, and for how long could it?
//!
//! `burst_changed`: credits ran out inside the window, so that the trial mixes two speeds. `burst_only`: they fell,
//! however little of a full bucket that was: the mean demand was above the baseline, so that what was measured does not
//! last. Of a volume of an existing cluster nobody sees the credits: one that does more than its baseline spends them.
//! Both carry how long it lasts: see [`Bucket::full_lasts_s`].

use evidence::VolumeFacts;
use experiment::{Setups, VolumeRole};
use serde::{Deserialize, Serialize};

use super::nodes::{first_named, worst};
use crate::activity::VolumeActivity;
use crate::burst::Bucket;
use crate::dimension::Dimension;
use crate::measurement::TrialMeasurement;
use crate::node::Node;
use crate::seen::{Seen, SeenOn};

/// Credits of a bucket, in its own unit: in the window, so that what was spent while the trial was still starting is no
/// matter. Where faults were planned, or nobody saw the window's, in the whole measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct CreditsSpent {
    pub credits_start: f64,
    pub credits_end: f64,
}

/// How long a full bucket lasts, in its own unit. Rates and credits are those of this machine, `scale` times smaller
/// than those of the real volume; times are the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BucketLasts {
    /// Mean of the window, a second, in credits: a large request costs several.
    pub measured_per_s: f64,
    /// While credits last: the demand, at most the burst rate.
    pub burst_per_s: f64,
    /// Afterwards.
    pub baseline_per_s: f64,
    /// Credits of a full bucket.
    pub credits_full: f64,
    /// The model is 1 : `scale`.
    pub scale: f64,
    /// Seconds until a full bucket is empty; `None`: never, the demand is not above the baseline.
    pub full_bucket_lasts_s: Option<f64>,
}

/// Burst credits ran out inside the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct BurstChanged {
    pub volume: VolumeRole,
    /// Unit of credits and rates.
    pub unit: Dimension,
    pub spent: CreditsSpent,
    /// How long the bucket lasts; `None` until the setup is known.
    pub lasts: Option<BucketLasts>,
}

/// The volume ran on burst credits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BurstOnly {
    /// Which volume.
    pub volume: VolumeRole,
    /// Unit of credits and rates.
    pub unit: Dimension,
    /// What was spent; `None`: of a volume of an existing cluster nobody sees the credits.
    pub spent: Option<CreditsSpent>,
    /// How long the bucket lasts; `None` until the setup is known.
    pub lasts: Option<BucketLasts>,
}

/// Credits spent matter from this share of the volume's requests on: an empty bucket holds a few ticks' worth at any
/// time.
const CREDITS_SHARE: f64 = 0.02;
/// The unit of credits of bytes.
const MIB: f64 = 1_048_576.0;
/// Credits that fell in each of so many windows fell by no chance: of five readings in any order one in 120 does.
const STEADY_WINDOWS: usize = 4;
/// What does more than this share of the burst rate is not the volume that is stated.
const MOST: f64 = 1.02;

/// A bucket with no more credits than this is empty: those of one request, which hard disks count by the MiB.
const fn empty(unit: Dimension) -> f64 {
    match unit {
        Dimension::Requests => 1.0,
        Dimension::Bytes => MIB,
    }
}

/// Credits of the whole measurement.
fn credits(unit: Dimension, volume: &VolumeFacts) -> Option<(f64, f64)> {
    match unit {
        Dimension::Requests => volume.burst_credits,
        Dimension::Bytes => volume.byte_credits,
    }
}

/// Those of the window, which with planned faults is only a part of what was measured.
fn in_window(unit: Dimension, trial: &TrialMeasurement, activity: Option<&VolumeActivity>) -> Option<(f64, f64)> {
    activity.filter(|_| trial.before.is_none())?.credits(unit)
}

/// Read and written together.
fn done(unit: Dimension, activity: &VolumeActivity) -> f64 {
    let (read, written) = activity.done(unit);
    read + written
}

/// Credits ran out. The buckets of two nodes may end in different states.
pub(crate) fn changed(trial: &TrialMeasurement, role: VolumeRole) -> Option<Seen<BurstChanged>> {
    worst(trial, |node| {
        let (amount, unit, spent) = spent(trial, node, role, true)?;
        let figures = BurstChanged { volume: role, unit, spent, lasts: None };
        Some((amount, figures))
    })
}

/// Credits fell, and some are left.
pub(crate) fn only(trial: &TrialMeasurement, role: VolumeRole) -> Option<Seen<BurstOnly>> {
    worst(trial, |node| {
        let (amount, unit, spent) = spent(trial, node, role, false)?;
        let figures = BurstOnly { volume: role, unit, spent: Some(spent), lasts: None };
        Some((amount, figures))
    })
}

/// What a node's volume spent of a bucket that had credits and is empty at the end, or is not.
fn spent(
    trial: &TrialMeasurement,
    node: &Node<'_>,
    role: VolumeRole,
    ran_out: bool,
) -> Option<(f64, Dimension, CreditsSpent)> {
    let volume = node.facts.volumes.iter().find(|v| v.role == role)?;
    // With planned faults credits are those of the whole trial, and requests were counted in a part of it alone.
    let part = match &trial.before {
        Some(before) => stats::ratio(before.window_s(), trial.window_s()).unwrap_or(1.0),
        None => 1.0,
    };
    Dimension::ALL.into_iter().find_map(|unit| {
        let activity = node.activity(role);
        let (start, end) = in_window(unit, trial, activity).or_else(|| credits(unit, volume))?;
        let done = activity.map(|v| done(unit, v) / part);
        let amount = start - end;
        let is_much = amount > 0.0 && done.is_none_or(|n| amount >= CREDITS_SHARE * n);
        let is_empty = end <= empty(unit);
        let is_asked = is_empty == ran_out && (!ran_out || start > empty(unit));
        let spent = CreditsSpent { credits_start: start, credits_end: end };
        (is_much && is_asked).then_some((amount, unit, spent))
    })
}

/// How long a bucket lasts under a demand, beside what was measured.
fn of_bucket(bucket: &Bucket, measured: f64, demand: f64, scale: f64) -> BucketLasts {
    BucketLasts {
        measured_per_s: measured,
        burst_per_s: demand.min(bucket.burst),
        baseline_per_s: bucket.baseline,
        credits_full: bucket.full,
        scale,
        full_bucket_lasts_s: bucket.full_lasts_s(demand),
    }
}

/// Volumes that are watched and not ours, and did more than the baseline that is stated of them.
pub(crate) fn unseen(trial: &TrialMeasurement, setups: &Setups, scale: f64) -> Vec<Seen<BurstOnly>> {
    let Some(setup) = setups.of(&trial.record.configuration).filter(|setup| setup.has_real_volumes()) else {
        return Vec::new();
    };
    let of_role = |role| {
        let bucket = Bucket::from(setup.volume(role)?.burst?);
        worst(trial, |node| {
            let activity = node.activity(role)?;
            let iops = activity.iops();
            let spent = iops - bucket.baseline;
            let spends = spent >= CREDITS_SHARE * iops && iops <= MOST * bucket.burst;
            let lasts = Some(of_bucket(&bucket, iops, iops, scale));
            let figures = BurstOnly { volume: role, unit: Dimension::Requests, spent: None, lasts };
            spends.then_some((spent, figures))
        })
    };
    VolumeRole::ALL.into_iter().filter_map(of_role).collect()
}

/// What a run knows of the bucket of a finding that its trial came with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    pub trial: &'a TrialMeasurement,
    pub setups: &'a Setups,
    pub scale: f64,
    pub nodes: Option<&'a SeenOn>,
}

impl<'a> Known<'a> {
    /// The bucket, and what its volume did.
    fn bucket(&self, role: VolumeRole, unit: Dimension) -> Option<(Bucket, &'a VolumeActivity)> {
        let setup = self.setups.of(&self.trial.record.configuration)?;
        let bucket = unit.bucket(setup.volume(role)?)?;
        Some((bucket, first_named(self.trial, self.nodes)?.activity(role)?))
    }
}

/// Adds rates, a full bucket, and how long it lasts. Where the bucket ran empty inside the window, the mean rate is not
/// the demand: that was what emptied it, the burst rate.
pub(crate) fn complete_changed(found: &mut BurstChanged, known: &Known<'_>) {
    if let Some((bucket, activity)) = known.bucket(found.volume, found.unit) {
        let measured = done(found.unit, activity) / activity.seconds;
        found.lasts = Some(of_bucket(&bucket, measured, bucket.burst, known.scale));
    }
}

/// The same, under the demand; `false` where its mean was not above the baseline after all.
pub(crate) fn complete_only(found: &mut BurstOnly, known: &Known<'_>) -> bool {
    let Some((bucket, activity)) = known.bucket(found.volume, found.unit) else { return true };
    let trial = known.trial;
    let is_of_window = in_window(found.unit, trial, Some(activity)).is_some();
    let seconds = match is_of_window {
        true => activity.credits_s,
        false => trial.record.client.as_ref().map(|client| client.measured_s),
    };
    let seconds = seconds.unwrap_or_else(|| trial.window_s());
    let demand = demand(found, &bucket, activity, seconds);
    found.lasts = Some(of_bucket(&bucket, demand, demand, known.scale));
    demand > bucket.baseline
}

/// What was asked of a bucket in `seconds`, a second. Credits know it better than the requests that were counted: a
/// large one costs several (gp2 counts an I/O for each 256 KiB). What fell came on top of what the bucket earned,
/// the baseline; but one that may have been full meanwhile, and earned nothing, shows no more than what fell. (So a
/// demand below the baseline that comes in bursts leaves a bucket a little less than full. Between them it rises: one
/// that fell in each window was full at the start alone.)
fn demand(found: &BurstOnly, bucket: &Bucket, activity: &VolumeActivity, seconds: f64) -> f64 {
    let measured = done(found.unit, activity) / activity.seconds;
    let Some(CreditsSpent { credits_start, credits_end }) = found.spent else { return measured };
    let fell = stats::ratio(credits_start - credits_end, seconds).unwrap_or(0.0);
    let of_each = activity.windows.fell(found.unit);
    let is_steady = of_each.len() >= STEADY_WINDOWS && of_each.iter().all(|fell| *fell > 0.0);
    let may_be_full = !is_steady && credits_start + bucket.baseline * seconds >= bucket.full;
    measured.max(if may_be_full { fell } else { fell + bucket.baseline })
}

#[cfg(test)]
mod tests {
    use experiment::{Burst, ByteBurst};

    use super::*;
    use crate::analyse;
    use crate::finding::Finding;
    use crate::rule::Rule;
    use crate::rules::cases::{first_data, found, recorded, sound};
    use crate::story::{existing, job, run};

    /// gp2 with a full bucket.
    fn gp2(baseline_iops: f64) -> Burst {
        Burst { baseline_iops, burst_iops: 3000.0, credits_max: 5.4e6, credits_start: 5.4e6 }
    }

    /// The sound trial with credits at its start and at its end.
    fn with_credits(credits: (f64, f64)) -> TrialMeasurement {
        recorded(|r| r.nodes[0].volumes[0].burst_credits = Some(credits))
    }

    /// Whether they ended, and whether they fell.
    fn fired(trial: &TrialMeasurement) -> [bool; 2] {
        [Rule::BurstChanged, Rule::BurstOnly].map(|rule| found(trial, rule).is_some())
    }

    /// What is found of a trial whose volume has this bucket.
    fn only(burst: Burst, trial: TrialMeasurement) -> Option<BurstOnly> {
        let mut job = job();
        job.setups[1].data.burst = Some(burst);
        analyse(&run(&job, &[trial])).findings.iter().find_map(Finding::figures::<BurstOnly>).cloned()
    }

    /// The sound trial made 9,720 requests, so that 194 credits are the least that matters.
    #[test]
    fn credits_that_fall_and_credits_that_end_are_two_things() {
        let with = |start: f64, end: f64| fired(&with_credits((start, end)));
        assert_eq!(with(5000.0, 0.0), [true, false]);
        assert_eq!(with(5000.0, 3000.0), [false, true]);
        assert_eq!(with(5000.0, 4900.0), [false, false], "100 credits for 9,720 requests");
        assert_eq!(with(5000.0, 4750.0), [false, true]);
        assert_eq!(with(337_500.0, 336_000.0), [false, true], "0.4 % of a bucket, 15 % of the requests");
        assert_eq!(with(337_500.0, 337_400.0), [false, false]);
        assert_eq!(with(150.0, 0.0), [false, false], "what an empty bucket holds");
        assert_eq!(with(5000.0, 5000.0), [false, false]);
        assert_eq!(with(0.0, 0.0), [false, false]);
    }

    /// A trial that spent credits while it was still starting, whose window begins later: of 9,720 requests in it 194
    /// credits are the least that matters.
    #[test]
    fn what_was_spent_before_the_window_is_no_matter_of_it() {
        let with = |credits: (f64, f64), window: (f64, f64)| {
            let mut trial = with_credits(credits);
            first_data(&mut trial).request_credits = Some(window);
            fired(&trial)
        };
        // They ended before it: it is at the baseline all the time.
        assert_eq!(with((54_000.0, 0.0), (0.5, 0.0)), [false, false]);
        assert_eq!(with((54_000.0, 0.0), (190.0, 0.0)), [false, false]);
        assert_eq!(with((54_000.0, 0.0), (200.0, 0.0)), [true, false]);
        // They fell before it, and rise in it.
        assert_eq!(with((5e6, 4.9e6), (4.89e6, 4.9e6)), [false, false]);
        assert_eq!(with((5e6, 4.9e6), (4.9e6 + 190.0, 4.9e6)), [false, false]);
        assert_eq!(with((5e6, 4.9e6), (4.9e6 + 200.0, 4.9e6)), [false, true]);
    }

    /// By how much they fell there is what the demand is reckoned from, not what fell before: 30 a second, not 1,667.
    /// What is known of all that was measured is spread over that: 100,000 in 60 s, however long the window is.
    #[test]
    fn the_demand_on_a_bucket_is_that_of_the_window() {
        let demand = |in_window: Option<(f64, f64)>, from_s: f64| {
            let mut trial = with_credits((5.1e6, 5.0e6));
            trial.window.from_s = from_s;
            first_data(&mut trial).request_credits = in_window;
            only(gp2(200.0), trial).and_then(|found| found.lasts).unwrap().burst_per_s
        };
        assert_eq!(demand(Some((5.0e6 + 1800.0, 5.0e6)), 0.0), 230.0);
        assert_eq!(demand(Some((5.0e6 + 1800.0, 5.0e6)), 30.0), 260.0);
        assert_eq!([demand(None, 0.0), demand(None, 30.0)], [200.0 + 100_000.0 / 60.0; 2]);
        // The first and the last sample of a window of 60 s are 59 s apart.
        let apart = |seconds: f64| {
            let mut trial = with_credits((5.1e6, 5.0e6));
            let data = first_data(&mut trial);
            (data.request_credits, data.credits_s) = (Some((5.0e6 + 59.0 * 30.0, 5.0e6)), Some(seconds));
            only(gp2(200.0), trial).and_then(|found| found.lasts).unwrap().burst_per_s
        };
        assert_eq!([apart(59.0), apart(60.0)], [230.0, 200.0 + 59.0 * 30.0 / 60.0]);
    }

    /// st1 of 500 GiB at 1:16, whose credits are MiB. The sound trial moved the bytes of its requests.
    #[test]
    fn credits_of_bytes_are_reported_in_bytes() {
        let mut job = job();
        job.setups[1].data.byte_burst = Some(
            ByteBurst {
                baseline_bytes_per_s: 20.0 * MIB,
                burst_bytes_per_s: 125.0 * MIB,
                credits_max: 512_000.0 * MIB,
                credits_start: 512_000.0 * MIB,
            }
            .scaled(16.0),
        );
        let reported = |credits: (f64, f64)| {
            let credits = (credits.0 * MIB, credits.1 * MIB);
            let trial = recorded(|r| r.nodes[0].volumes[0].byte_credits = Some(credits));
            let findings = analyse(&run(&job, &[trial])).findings.into_iter();
            findings.filter(|f| matches!(f.rule(), Rule::BurstOnly | Rule::BurstChanged)).collect::<Vec<_>>()
        };
        let only = reported((32_000.0, 26_000.0)).remove(0);
        assert_eq!(only.rule(), Rule::BurstOnly);
        let figures = only.figures::<BurstOnly>().unwrap();
        assert_eq!(figures.unit, Dimension::Bytes);
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
        let reported = only(gp2(300.0).scaled(16.0), with_credits((337_500.0, 328_000.0))).unwrap();
        let lasts = reported.lasts.unwrap();
        assert_eq!((lasts.baseline_per_s, lasts.burst_per_s), (18.75, 162.0));
        let seconds = lasts.full_bucket_lasts_s.unwrap();
        assert!((seconds - 337_500.0 / (162.0 - 18.75)).abs() < 1e-6, "{seconds}");
    }

    /// The same volume, on which 162 requests a second cost more credits than there were requests; and the sound trial
    /// beside a baseline that is above its requests and below their credits.
    #[test]
    fn requests_that_cost_several_credits_are_demand_of_so_many() {
        let lasts = |baseline: f64, credits: (f64, f64)| only(gp2(baseline), with_credits(credits))?.lasts;
        let of = |baseline, fell: f64| lasts(baseline, (5.0e6, 5.0e6 - fell * 60.0)).map(|lasts| lasts.burst_per_s);
        assert_eq!(of(200.0, 30.0), Some(230.0), "162 requests");
        assert_eq!(of(150.0, 12.0), Some(162.0));
        assert_eq!(of(150.0, 9.0), Some(162.0), "credits that fell by less than requests say: the larger");
        let seconds = lasts(200.0, (5.0e6, 5.0e6 - 1800.0)).unwrap().full_bucket_lasts_s.unwrap();
        assert!((seconds - 5.4e6 / 30.0).abs() < 1e-6, "{seconds}");
        // A full bucket that earns nothing: 30 a second may be all that was asked of it, in bursts.
        assert_eq!(lasts(200.0, (5.4e6, 5.4e6 - 1800.0)), None);
        assert_eq!(lasts(200.0, (5.4e6, 5.4e6 - 12_060.0)).map(|lasts| lasts.burst_per_s), Some(201.0));
    }

    /// A full bucket whose credits fell by 1,800 in a minute, on which 162 requests a second are below the baseline: by
    /// 300 in each window that is a steady demand of 230; in bursts it rises between them.
    #[test]
    fn from_a_full_bucket_a_steady_demand_is_distinguished_from_one_in_bursts() {
        let demand = |of_each: &[f64]| {
            let mut trial = with_credits((5.4e6, 5.4e6 - 1800.0));
            first_data(&mut trial).windows.credits_fell = of_each.to_vec();
            only(gp2(200.0), trial)?.lasts
        };
        let steady = demand(&[300.0; 6]).unwrap();
        assert_eq!((steady.burst_per_s, steady.full_bucket_lasts_s), (230.0, Some(5.4e6 / 30.0)));
        assert_eq!(demand(&[1200.0, -900.0, 900.0, -900.0, 900.0, 600.0]), None);
        assert_eq!(demand(&[900.0, 900.0]), None, "two windows are too few to tell");
        assert_eq!(demand(&[]), None, "nobody saw them fall");
    }

    /// The sound trial did 162 IOPS.
    #[test]
    fn a_volume_of_an_existing_cluster_above_its_baseline_spends_credits_that_nobody_sees() {
        let reported = |baseline_iops: f64, burst_iops: f64, exists: bool| {
            let mut job = job();
            if exists {
                job.setups[1].at = existing(Vec::new());
            }
            job.setups[1].data.burst = Some(Burst { burst_iops, credits_start: 0.0, ..gp2(baseline_iops) });
            analyse(&run(&job, &[sound()])).findings.iter().find_map(Finding::figures::<BurstOnly>).cloned()
        };
        let found = reported(100.0, 3000.0, true).unwrap();
        let lasts = found.lasts.unwrap();
        assert_eq!((lasts.measured_per_s, found.spent), (162.0, None));
        assert_eq!(lasts.full_bucket_lasts_s, Some(5.4e6 / 62.0));
        assert_eq!(reported(160.0, 3000.0, true), None, "1 % above is how a rate breathes");
        assert_eq!(reported(300.0, 3000.0, true), None, "below its baseline");
        assert_eq!(reported(100.0, 150.0, true), None, "more than the volume that is stated can do");
        assert_eq!(reported(100.0, 3000.0, false), None, "of our own volumes the credits are known");
    }
}
