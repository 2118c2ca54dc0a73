//! Did a volume run on burst credits, and for how long could it?
//!
//! `burst_changed`: credits ran out inside the window, so that the trial mixes two speeds. `burst_only`: they fell,
//! however little of a full bucket that was: the mean demand was above the baseline, so that what was measured does not
//! last. Of a volume of an existing cluster nobody sees the credits: one that does more than its baseline spends them.
//! Both carry what tells how long it lasts: see [`crate::burst::lasts`].

use evidence::VolumeFacts;
use spec::{Setups, VolumeRole, VolumeSetup};

use super::nodes::{first_named, worst};
use super::scope::scope;
use crate::burst::{Bucket, lasts};
use crate::finding::Finding;
use crate::host::VolumeActivity;
use crate::measurement::TrialMeasurement;
use crate::node::Node;
use crate::rule::Rule;

/// Credits spent matter from this share of the volume's requests on: an empty bucket holds a few ticks' worth at any
/// time.
const CREDITS_SHARE: f64 = 0.02;
/// The unit of credits of bytes.
const MIB: f64 = 1_048_576.0;
/// What does more than this share of the burst rate is not the volume that is stated.
const MOST: f64 = 1.02;

/// What a bucket counts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Counts {
    Requests,
    Bytes,
}

/// The names of a bucket's numbers in a finding.
struct Names {
    start: &'static str,
    end: &'static str,
    measured: &'static str,
    burst: &'static str,
    baseline: &'static str,
    full: &'static str,
}

impl Counts {
    const fn names(self) -> Names {
        match self {
            Self::Requests => Names {
                start: "credits_start",
                end: "credits_end",
                measured: "measured_iops",
                burst: "burst_iops",
                baseline: "baseline_iops",
                full: "credits_full",
            },
            Self::Bytes => Names {
                start: "byte_credits_start",
                end: "byte_credits_end",
                measured: "measured_bytes_per_s",
                burst: "burst_bytes_per_s",
                baseline: "baseline_bytes_per_s",
                full: "byte_credits_full",
            },
        }
    }

    /// What a finding is about.
    fn of(finding: &Finding) -> Self {
        match finding.number(Self::Bytes.names().start) {
            Some(_) => Self::Bytes,
            None => Self::Requests,
        }
    }

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
            let found = [Counts::Requests, Counts::Bytes].map(|counts| of_node(trial, node, role, counts));
            found.into_iter().flatten().find(|(_, f)| f.rule == rule)
        })
    };
    [Rule::BurstChanged, Rule::BurstOnly].into_iter().filter_map(of_rule)
}

fn of_node(trial: &TrialMeasurement, node: &Node<'_>, role: VolumeRole, counts: Counts) -> Option<(f64, Finding)> {
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
    let rule = if start > empty && end <= empty {
        Rule::BurstChanged
    } else if end > empty {
        Rule::BurstOnly
    } else {
        return None;
    };
    let names = counts.names();
    let numbers = [(names.start, start), (names.end, end)];
    let found = Finding::new(rule, scope(trial), numbers).with("volume", role.name());
    Some((spent, found))
}

/// Whether credits fell by the last few requests alone: a full bucket earns nothing while it is full, so that a demand below the
/// baseline that comes in bursts may leave it a little less than full.
fn is_breathing(finding: &Finding, counts: Counts, bucket: &Bucket, measured: f64, seconds: f64) -> bool {
    let start = finding.number(counts.names().start).unwrap_or(0.0);
    let may_be_full = start + bucket.baseline * seconds >= bucket.full;
    finding.rule == Rule::BurstOnly && may_be_full && measured <= bucket.baseline
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
        let bucket = setup.volume(role)?.burst?;
        worst(trial, |node| {
            let activity = node.activity(role)?;
            let iops = activity.read_iops() + activity.write_iops();
            let spent = iops - bucket.baseline_iops;
            let spends = spent >= CREDITS_SHARE * iops && iops <= MOST * bucket.burst_iops;
            let found = Finding::new(Rule::BurstOnly, scope(trial), [("measured_iops", iops)]);
            spends.then(|| (spent, found.with("volume", role.name())))
        })
    };
    let found = VolumeRole::ALL.into_iter().filter_map(of_role);
    found
        .filter_map(|finding| completed(finding, trial, setups, scale))
        .collect()
}

/// The finding with what the setup knows of the bucket: rates, a full bucket, and how long it lasts under the measured
/// demand. IOPS and credits are those of this machine, `scale` times smaller than those of the real volume; times are
/// the same. `None` where the mean demand was not above the baseline after all.
pub fn completed(mut finding: Finding, trial: &TrialMeasurement, setups: &Setups, scale: f64) -> Option<Finding> {
    if !matches!(finding.rule, Rule::BurstOnly | Rule::BurstChanged) {
        return Some(finding);
    }
    let role = finding
        .fact("volume")
        .and_then(VolumeRole::named)
        .unwrap_or(VolumeRole::Data);
    let setup = setups.of(&trial.record.configuration);
    let counts = Counts::of(&finding);
    let bucket = setup
        .and_then(|setup| setup.volume(role))
        .and_then(|volume| counts.bucket(volume));
    let node = first_named(trial, &finding);
    let (Some(bucket), Some(activity)) = (bucket, node.and_then(|n| n.activity(role))) else {
        return Some(finding);
    };
    // Where the bucket ran empty inside the window, the mean rate is not the demand: that was what emptied it, the
    // burst rate.
    let measured = counts.done(activity) / activity.seconds;
    if is_breathing(&finding, counts, &bucket, measured, activity.seconds) {
        return None;
    }
    let demand = match finding.rule {
        Rule::BurstChanged => bucket.burst,
        _ => measured,
    };
    let lasts = lasts(&bucket, demand);
    let names = counts.names();
    let mut add = |name: &str, value: f64| finding.numbers.insert(name.to_owned(), value);
    add(names.measured, measured);
    add(names.burst, lasts.burst);
    add(names.baseline, lasts.baseline);
    add(names.full, bucket.full);
    add("scale", scale);
    if let Some(seconds) = lasts.from_full_s {
        add("full_bucket_lasts_s", seconds);
    }
    Some(finding)
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
    fn credits_of_bytes_are_told_in_bytes() {
        let mut job = job();
        job.setups[1].data.byte_burst = Some(
            spec::ByteBurst {
                baseline_bytes_per_s: 20.0 * MIB,
                burst_bytes_per_s: 125.0 * MIB,
                credits_max: 512_000.0 * MIB,
                credits_start: 512_000.0 * MIB,
            }
            .scaled(16.0),
        );
        let told = |credits: (f64, f64)| {
            let mut record = sound_record();
            record.nodes[0].volumes[0].byte_credits = Some((credits.0 * MIB, credits.1 * MIB));
            let trials = [measured(&record, 160.0 * 60.0)];
            let findings = analyse(&run(&job, &trials)).findings.into_iter();
            findings
                .filter(|f| matches!(f.rule, Rule::BurstOnly | Rule::BurstChanged))
                .collect::<Vec<_>>()
        };
        let only = told((32_000.0, 26_000.0)).remove(0);
        assert_eq!(only.rule, Rule::BurstOnly);
        assert_eq!(only.number("byte_credits_end"), Some(26_000.0 * MIB));
        assert_eq!(only.number("baseline_bytes_per_s"), Some(1.25 * MIB));
        assert_eq!((only.number("credits_start"), only.number("burst_iops")), (None, None));
        let changed = told((6_000.0, 0.5)).remove(0);
        assert_eq!(changed.rule, Rule::BurstChanged);
        // It bursts at 125 / 16 and earns 20 / 16 MiB a second, of 512,000 / 16.
        let seconds = changed.number("full_bucket_lasts_s").unwrap();
        assert!((seconds - 512_000.0 / 105.0).abs() < 1e-6, "{seconds}");
        assert_eq!(told((0.5, 0.5)), []);
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
