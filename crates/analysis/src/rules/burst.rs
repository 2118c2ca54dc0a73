//! Did a volume run on burst credits, and for how long could it?
//!
//! `burst_changed`: credits ran out inside the window, so that the trial mixes two speeds. `burst_only`: they fell, so
//! that what was measured does not last. Both carry what tells how long it lasts: see [`crate::burst::lasts`].

use spec::{Plan, VolumeRole};

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

/// The finding with what the plan knows of the bucket: rates, a full bucket, and how long it lasts under the measured
/// demand. IOPS and credits are those of this machine, `scale` times smaller than those of the real volume; times are
/// the same.
pub fn completed(mut finding: Finding, trial: &TrialMeasurement, plan: &Plan) -> Finding {
    if !matches!(finding.rule, Rule::BurstOnly | Rule::BurstChanged) {
        return finding;
    }
    let setup = plan
        .setups
        .iter()
        .find(|s| s.configuration == trial.record.configuration);
    let role = match finding.fact("volume") {
        Some(name) if name == VolumeRole::Commitlog.name() => VolumeRole::Commitlog,
        _ => VolumeRole::Data,
    };
    let bucket = setup.and_then(|s| match role {
        VolumeRole::Data => s.data.burst,
        VolumeRole::Commitlog => s.commitlog.as_ref()?.burst,
    });
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
    add("scale", plan.scale);
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
    use crate::story::{measured, plan, run};

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
        let mut plan = plan();
        plan.setups[1].data.burst = Some(
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
        let analysis = analyse(&run(&plan, &trials));
        let told = analysis.findings.iter().find(|f| f.rule == Rule::BurstOnly).unwrap();
        assert_eq!(
            (told.number("baseline_iops"), told.number("burst_iops")),
            (Some(18.75), Some(162.0))
        );
        let seconds = told.number("full_bucket_lasts_s").unwrap();
        assert!((seconds - 337_500.0 / (162.0 - 18.75)).abs() < 1e-6, "{seconds}");
    }
}
