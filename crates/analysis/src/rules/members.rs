//! Do the data volumes of a node share its work, and does each take as long as the others?
//!
//! A database with several data directories keeps each of its ranges in one of them, so that a request waits for the
//! volume that has its key: the node is as fast as the volume that is asked most, or answers slowest. Members of a RAID
//! 0 have its chunks by turns; findings say where volumes are such members.

use experiment::VolumeRole;
use serde::{Deserialize, Serialize};

use super::nodes::worst;
use crate::activity::VolumeActivity;
use crate::dimension::Dimension;
use crate::measurement::TrialMeasurement;
use crate::node::Node;
use crate::seen::Seen;

/// A figure by which the data volumes of a node are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemberFigure {
    /// Requests per second.
    Iops,
    /// Mean time of a request, microseconds.
    AwaitUs,
}

/// One of several data volumes does more than another, or takes longer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct UnbalancedMembers {
    pub figure: MemberFigure,
    pub most_of: VolumeRole,
    /// How much, by `figure`.
    pub most: f64,
    pub least_of: VolumeRole,
    pub least: f64,
    pub less_by_share: f64,
    /// Data volumes of the node.
    pub members: u64,
    /// From so many times on they are unbalanced.
    pub threshold: f64,
    /// Whether they are the members of a RAID 0.
    pub is_striped: bool,
}

/// One of several data volumes takes longer than the others at no more requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct SlowMember {
    pub volume: VolumeRole,
    /// Mean time of a request to it, microseconds.
    pub await_us: f64,
    /// Mean time of a request to the others, microseconds.
    pub others_await_us: f64,
    /// Their ratio.
    pub times: f64,
    pub iops: f64,
    pub others_iops: f64,
    /// Data volumes of the node.
    pub members: u64,
    /// From so many times on it is slow.
    pub threshold: f64,
    /// Whether they are the members of a RAID 0.
    pub is_striped: bool,
}

/// Members are unbalanced where the one that is asked most has more than so many times the requests of the one that is
/// asked least (ours) ...
const REQUESTS_APART: f64 = 1.2;
/// ... or where a request to one takes more than so many times as long as to another. One is slow where that is so
/// beside the others together, and what it is asked for does not explain it (ours).
const AWAIT_APART: f64 = 1.5;
/// What it is asked for explains it from [`REQUESTS_APART`] times the requests of the others on; and where it has more
/// than so many times theirs, which is what chance alone moves ...
const AS_MANY: f64 = 1.03;
/// ... and uses at least this share of its limit, where requests wait: the one that is asked a little more is at its
/// limit first (ours; a queue with one server at 90 and at 80 % of its capacity takes 1.8 times as long).
const BUSY: f64 = 0.75;
/// At least so many requests to the member that is asked most, of which chance alone moves 3 % (Poisson: 1 / root n).
const REQUESTS: f64 = 1000.0;

/// Judged by all measured seconds: a member that is slowed by plan is one that is slow.
pub(crate) fn slow_member(trial: &TrialMeasurement) -> Option<Seen<SlowMember>> {
    worst(trial, |node| slow(trial, node))
}

/// Judged by all measured seconds.
pub(crate) fn unbalanced_members(trial: &TrialMeasurement) -> Option<Seen<UnbalancedMembers>> {
    worst(trial, |node| unbalanced(trial, node))
}

/// Whether data volumes are the members of a RAID 0.
fn is_striped(trial: &TrialMeasurement) -> bool {
    let mut volumes = trial.record.nodes.iter().flat_map(|node| &node.volumes);
    volumes.any(|volume| volume.array.is_some())
}

/// A data volume with what it did.
type Member<'a> = (VolumeRole, &'a VolumeActivity);

/// The data volumes of a node, where there are several that were asked for enough.
fn members<'a>(node: &Node<'a>) -> Vec<Member<'a>> {
    let members: Vec<Member<'a>> = node.host.members.iter().map(|(role, activity)| (*role, activity)).collect();
    let most = members.iter().map(|(_, activity)| activity.requests()).fold(0.0, f64::max);
    if most >= REQUESTS { members } else { Vec::new() }
}

/// The member whose requests took longest, beside the others together.
fn slow(trial: &TrialMeasurement, node: &Node<'_>) -> Option<(f64, SlowMember)> {
    let members = members(node);
    let (role, slowest, await_s) = members
        .iter()
        .filter_map(|(role, activity)| Some((*role, *activity, activity.await_s()?)))
        .max_by(|a, b| a.2.total_cmp(&b.2))?;
    let others: Vec<&VolumeActivity> =
        members.iter().filter(|(other, _)| *other != role).map(|(_, activity)| *activity).collect();
    let waited: f64 = others.iter().map(|other| other.wait_s).sum::<Option<f64>>()?;
    let requests: f64 = others.iter().map(|other| other.requests()).sum();
    let others_await_s = stats::ratio(waited, requests)?;
    let others_iops = stats::ratio(others.iter().map(|other| other.iops()).sum(), others.len() as f64)?;
    let times = stats::ratio(await_s, others_await_s)?;
    let more = stats::ratio(slowest.iops(), others_iops)?;
    let is_busy = share_of_limit(node, role, slowest).is_none_or(|share| share >= BUSY);
    let is_explained = more > REQUESTS_APART || (more > AS_MANY && is_busy);
    let figures = SlowMember {
        volume: role,
        await_us: await_s * 1e6,
        others_await_us: others_await_s * 1e6,
        times,
        iops: slowest.iops(),
        others_iops,
        members: members.len() as u64,
        threshold: AWAIT_APART,
        is_striped: is_striped(trial),
    };
    (times > AWAIT_APART && !is_explained).then_some((times, figures))
}

/// How much of its limit a member used; `None` where it has none.
fn share_of_limit(node: &Node<'_>, role: VolumeRole, activity: &VolumeActivity) -> Option<f64> {
    let volume = node.facts.volumes.iter().find(|volume| volume.role == role)?;
    let shares = Dimension::ALL.into_iter().flat_map(|dimension| {
        let ((reads, writes), (of_reads, of_writes)) = (activity.done(dimension), dimension.limits(&volume.limits));
        let share = |done: f64, limit: Option<f64>| stats::ratio(done / activity.seconds, limit?);
        match volume.is_combined() {
            true => [share(reads + writes, of_reads), None],
            false => [share(reads, of_reads), share(writes, of_writes)],
        }
    });
    shares.flatten().max_by(f64::total_cmp)
}

/// The members that are asked most and least; or, where all are asked alike and none is slow by itself, those whose
/// requests take longest and shortest.
fn unbalanced(trial: &TrialMeasurement, node: &Node<'_>) -> Option<(f64, UnbalancedMembers)> {
    let members = members(node);
    let finding = |figure: MemberFigure, most: (VolumeRole, f64), least: (VolumeRole, f64), threshold: f64| {
        // Nothing at all is not a multiple of anything.
        let less = 1.0 - least.1 / most.1;
        let is_apart = most.1 > 0.0 && most.1 > threshold * least.1;
        let figures = UnbalancedMembers {
            figure,
            most_of: most.0,
            most: most.1,
            least_of: least.0,
            least: least.1,
            less_by_share: less,
            members: members.len() as u64,
            threshold,
            is_striped: is_striped(trial),
        };
        is_apart.then_some((less, figures))
    };
    let extremes = |values: Vec<(VolumeRole, f64)>| {
        let most = *values.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let least = *values.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        (values.len() == members.len()).then_some((most, least))
    };
    let iops = extremes(members.iter().map(|(role, activity)| (*role, activity.iops())).collect());
    if let Some(found) = iops.and_then(|(most, least)| finding(MemberFigure::Iops, most, least, REQUESTS_APART)) {
        return Some(found);
    }
    if slow(trial, node).is_some() {
        return None;
    }
    let await_us = |(role, activity): &Member<'_>| Some((*role, activity.await_s()? * 1e6));
    let (most, least) = extremes(members.iter().filter_map(await_us).collect())?;
    finding(MemberFigure::AwaitUs, most, least, AWAIT_APART)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Rule;
    use crate::rules::cases::{changed_host, fires, found, seen};

    /// Members with so many requests in 60 s, each of which takes so many microseconds.
    fn with(members: &[(f64, f64)]) -> TrialMeasurement {
        changed_host(|host| {
            let of = |(requests, await_us): &(f64, f64)| VolumeActivity {
                seconds: 60.0,
                reads: *requests,
                wait_s: Some(requests * await_us / 1e6),
                ..VolumeActivity::default()
            };
            host.members = VolumeRole::DATA.into_iter().zip(members.iter().map(of)).collect();
        })
    }

    #[test]
    fn members_are_unbalanced_from_a_fifth_more_requests_on() {
        fires(
            Rule::UnbalancedMembers,
            &[
                ([(6000.0, 500.0), (6000.0, 500.0)], false),
                ([(7140.0, 500.0), (6000.0, 500.0)], false),
                ([(6000.0, 500.0), (7260.0, 500.0)], true),
                // Few requests differ by chance.
                ([(900.0, 500.0), (600.0, 500.0)], false),
                // One that is asked more may be slower: it is not slow by itself.
                ([(7260.0, 900.0), (6000.0, 500.0)], true),
                // Of the second no limit is known: it may be at it.
                ([(6000.0, 500.0), (6800.0, 900.0)], true),
                ([(6000.0, 500.0), (6800.0, 740.0)], false),
            ],
            |members| with(&members),
        );
        let trial = with(&[(6000.0, 500.0), (9000.0, 500.0), (7000.0, 500.0)]);
        let reported = seen::<UnbalancedMembers>(&trial).unwrap();
        assert_eq!((reported.most_of, reported.most), (VolumeRole::Data2, 150.0));
        assert_eq!((reported.least_of, reported.least), (VolumeRole::Data, 100.0));
        assert_eq!(reported.figure, MemberFigure::Iops);
        assert!(found(&trial, Rule::SlowMember).is_none());
    }

    #[test]
    fn a_member_is_slow_that_takes_longer_without_being_asked_more() {
        fires(
            Rule::SlowMember,
            &[
                ([(6000.0, 500.0), (6000.0, 740.0)], false),
                ([(6000.0, 500.0), (6000.0, 760.0)], true),
                ([(6000.0, 500.0), (3000.0, 5000.0)], true),
                // It is asked for more, and at its limit first.
                ([(6000.0, 500.0), (9000.0, 1500.0)], false),
                ([(6000.0, 500.0), (6800.0, 1500.0)], false),
                ([(6000.0, 500.0), (6100.0, 1500.0)], true),
                ([(600.0, 500.0), (600.0, 5000.0)], false),
            ],
            |members| with(&members),
        );
        let trial = with(&[(6000.0, 500.0), (6000.0, 500.0), (6100.0, 1000.0)]);
        let reported = seen::<SlowMember>(&trial).unwrap();
        assert_eq!(reported.volume, VolumeRole::Data3);
        assert_eq!([reported.await_us, reported.others_await_us, reported.times].map(f64::round), [1000.0, 500.0, 2.0]);
        // One finding for one cause.
        assert!(found(&trial, Rule::UnbalancedMembers).is_none());
    }

    /// 113 requests a second against 100, three times as slow.
    #[test]
    fn a_member_that_is_asked_a_little_more_is_slow_unless_it_is_at_its_limit() {
        let is_slow = |limit: f64| {
            let mut trial = with(&[(6000.0, 500.0), (6800.0, 1500.0)]);
            let mut second = trial.record.nodes[0].volumes[0].clone();
            second.role = VolumeRole::Data2;
            second.limits.read_iops = Some(limit);
            trial.record.nodes[0].volumes.push(second);
            slow_member(&trial).is_some()
        };
        assert_eq!([115.0, 150.0, 152.0, 625.0].map(is_slow), [false, false, true, true]);
    }

    #[test]
    fn members_of_a_raid_0_are_said_to_be_such() {
        let is_striped = |array: Option<&str>| {
            let mut trial = with(&[(6000.0, 500.0), (6000.0, 5000.0)]);
            trial.record.nodes[0].volumes[0].array = array.map(str::to_owned);
            slow_member(&trial).unwrap().figures.is_striped
        };
        assert!(is_striped(Some("md900")) && !is_striped(None));
    }

    #[test]
    fn what_is_not_known_is_not_judged() {
        let mut trial = with(&[(6000.0, 500.0), (6000.0, 5000.0)]);
        for host in trial.hosts.values_mut() {
            host.members.values_mut().for_each(|member| member.wait_s = None);
        }
        for trial in [trial, with(&[])] {
            assert!(slow_member(&trial).is_none() && unbalanced_members(&trial).is_none());
        }
    }
}
