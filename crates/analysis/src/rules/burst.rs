//! Did a volume run on burst credits, and for how long could it?
//!
//! `burst_changed`: credits ran out inside the window, so that the trial mixes two speeds. `burst_only`: they fell, so
//! that what was measured does not last. Of a volume of an existing cluster nobody sees the credits: one that does more
//! than its baseline spends them. Both carry what tells how long it lasts: see [`crate::burst::lasts`].

use spec::{Burst, Setup, Setups, VolumeRole};

use super::nodes::{first_named, worst};
use super::scope::scope;
use crate::burst::lasts;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::node::Node;
use crate::rule::Rule;

/// Credits spent matter from this share of the volume's requests on: an empty bucket holds a few ticks' worth at any
/// time.
const CREDITS_SHARE: f64 = 0.02;
/// A bucket with no more credits than this is empty.
const EMPTY: f64 = 1.0;
/// Credits that fall by less than this share of those at the start are how a bucket breathes.
const FALLEN: f64 = 0.99;

/// What does more than this share of the burst rate is not the volume that is stated.
const MOST: f64 = 1.02;

/// One finding of each rule: the buckets of two nodes may end in different states.
pub fn findings(trial: &TrialMeasurement, role: VolumeRole) -> impl Iterator<Item = Finding> {
    let of_rule = move |rule| worst(trial, |node| of_node(trial, node, role).filter(|(_, f)| f.rule == rule));
    [Rule::BurstChanged, Rule::BurstOnly].into_iter().filter_map(of_rule)
}

fn of_node(trial: &TrialMeasurement, node: &Node<'_>, role: VolumeRole) -> Option<(f64, Finding)> {
    let volume = node.facts.volumes.iter().find(|v| v.role == role)?;
    let (start, end) = volume.burst_credits?;
    // Credits are those of the whole trial; with planned faults requests were counted in a part of it alone.
    let part = match &trial.before {
        Some(before) => stats::ratio(before.window_s(), trial.window_s()).unwrap_or(1.0),
        None => 1.0,
    };
    let requests = node.activity(role).map(|v| (v.reads + v.writes) / part);
    if requests.is_some_and(|n| start - end < CREDITS_SHARE * n) {
        return None;
    }
    let rule = if start > EMPTY && end <= EMPTY {
        Rule::BurstChanged
    } else if end > EMPTY && end < FALLEN * start {
        // Falling credits mean demand above the baseline.
        Rule::BurstOnly
    } else {
        return None;
    };
    let numbers = [("credits_start", start), ("credits_end", end)];
    let found = Finding::new(rule, scope(trial), numbers).with("volume", role.name());
    Some((start - end, found))
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
        let bucket = bucket(setup, role)?;
        worst(trial, |node| {
            let activity = node.activity(role)?;
            let iops = activity.read_iops() + activity.write_iops();
            let spent = iops - bucket.baseline_iops;
            let spends = spent >= CREDITS_SHARE * iops && iops <= MOST * bucket.burst_iops;
            let found = Finding::new(Rule::BurstOnly, scope(trial), [("measured_iops", iops)]);
            spends.then(|| (spent, found.with("volume", role.name())))
        })
    };
    let roles = [VolumeRole::Data, VolumeRole::Commitlog].into_iter();
    let found = roles.filter_map(of_role);
    found.map(|finding| completed(finding, trial, setups, scale)).collect()
}

fn bucket(setup: &Setup, role: VolumeRole) -> Option<Burst> {
    match role {
        VolumeRole::Data => setup.data.burst,
        VolumeRole::Commitlog => setup.commitlog.as_ref()?.burst,
    }
}

/// The finding with what the setup knows of the bucket: rates, a full bucket, and how long it lasts under the measured
/// demand. IOPS and credits are those of this machine, `scale` times smaller than those of the real volume; times are
/// the same.
pub fn completed(mut finding: Finding, trial: &TrialMeasurement, setups: &Setups, scale: f64) -> Finding {
    if !matches!(finding.rule, Rule::BurstOnly | Rule::BurstChanged) {
        return finding;
    }
    let role = match finding.fact("volume") {
        Some(name) if name == VolumeRole::Commitlog.name() => VolumeRole::Commitlog,
        _ => VolumeRole::Data,
    };
    let setup = setups.of(&trial.record.configuration);
    let bucket = setup.and_then(|setup| bucket(setup, role));
    let node = first_named(trial, &finding);
    let (Some(bucket), Some(activity)) = (bucket, node.and_then(|n| n.activity(role))) else {
        return finding;
    };
    // Where the bucket ran empty inside the window, the mean rate is not the demand: that was what emptied it, the
    // burst rate.
    let measured = activity.read_iops() + activity.write_iops();
    let demand = match finding.rule {
        Rule::BurstChanged => bucket.burst_iops,
        _ => measured,
    };
    let lasts = lasts(&bucket, demand);
    let mut add = |name: &str, value: f64| finding.numbers.insert(name.to_owned(), value);
    add("measured_iops", measured);
    add("burst_iops", lasts.burst_iops);
    add("baseline_iops", lasts.baseline_iops);
    add("credits_full", lasts.credits_full);
    add("scale", scale);
    if let Some(seconds) = lasts.from_full_s {
        add("full_bucket_lasts_s", seconds);
    }
    finding
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
        assert_eq!(with(150.0, 0.0), [false, false], "what an empty bucket holds");
        assert_eq!(with(5000.0, 5000.0), [false, false]);
        assert_eq!(with(0.0, 0.0), [false, false]);
    }

    /// gp2 of 100 GiB at 1:16: 18.75 IOPS and 187.5 while credits last. The trial did 162, so that a full bucket lasts
    /// 5.4e6 / 16 / (162 - 18.75) s.
    #[test]
    fn a_reader_learns_how_long_the_burst_lasts() {
        let mut job = job();
        job.setups[1].data.burst = Some(
            spec::Burst {
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
        let told = analysis.findings.iter().find(|f| f.rule == Rule::BurstOnly).unwrap();
        assert_eq!(
            (told.number("baseline_iops"), told.number("burst_iops")),
            (Some(18.75), Some(162.0))
        );
        let seconds = told.number("full_bucket_lasts_s").unwrap();
        assert!((seconds - 337_500.0 / (162.0 - 18.75)).abs() < 1e-6, "{seconds}");
    }

    /// The sound trial did 162 IOPS.
    #[test]
    fn a_volume_of_an_existing_cluster_above_its_baseline_spends_credits_that_nobody_sees() {
        let told = |baseline_iops: f64, burst_iops: f64, exists: bool| {
            let mut job = job();
            job.setups[1].existing = exists.then(|| vec!["h:9042".to_owned()]);
            job.setups[1].data.burst = Some(spec::Burst {
                baseline_iops,
                burst_iops,
                credits_max: 5.4e6,
                credits_start: 0.0,
            });
            let trials = [measured(&sound_record(), 160.0 * 60.0)];
            let analysis = analyse(&run(&job, &trials));
            analysis.findings.into_iter().find(|f| f.rule == Rule::BurstOnly)
        };
        let found = told(100.0, 3000.0, true).unwrap();
        assert_eq!(
            (found.number("measured_iops"), found.number("credits_start")),
            (Some(162.0), None)
        );
        assert_eq!(found.number("full_bucket_lasts_s"), Some(5.4e6 / 62.0));
        assert_eq!(told(160.0, 3000.0, true), None, "1 % above is how a rate breathes");
        assert_eq!(told(300.0, 3000.0, true), None, "below its baseline");
        assert_eq!(
            told(100.0, 150.0, true),
            None,
            "more than the volume that is stated can do"
        );
        assert_eq!(
            told(100.0, 3000.0, false),
            None,
            "of our own volumes the credits are known"
        );
    }
}
