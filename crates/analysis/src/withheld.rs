//! Was it the storage of this configuration, in its sustained state, that was measured? Where not, nothing is said
//! about its value.

use spec::Objective;

use crate::document::limit::{Limit, LimitKind};
use crate::document::{Unrest, Withheld};
use crate::fact::{CODE, EXPLAINED_BY_PURCHASE, Trajectory, WARM};
use crate::finding::Finding;
use crate::rule::Rule;
use crate::rules::SEND_LAG_SHARE;

/// A reason that at least this share of the valid trials gives stands for the cell.
pub const SHARE: f64 = 0.5;

/// What a finding is judged beside.
#[derive(Debug, Clone, Copy)]
struct Beside<'a> {
    /// The lowest bound of a latency, microseconds.
    bound_us: Option<f64>,
    /// What limited the cell.
    limit: &'a Limit,
}

/// The reason to say nothing about the value of a cell, if there is one: from findings on the cell itself, or on half
/// of its `valid` trials. What the client adds to a latency is held against the bound that the latency is judged by; what was
/// not at rest, against what limited the cell.
pub fn of_cell(
    cell: &[Finding],
    valid: &[Vec<Finding>],
    objective: Option<&Objective>,
    limit: &Limit,
) -> Option<Withheld> {
    let beside = Beside {
        bound_us: objective.and_then(tightest_us),
        limit,
    };
    let mut reasons: Vec<(Withheld, f64)> = Vec::new();
    let mut add = |of: &[Finding], weight: f64| {
        let mut seen: Vec<Withheld> = Vec::new();
        for reason in of.iter().filter_map(|finding| reason(finding, &beside)) {
            let weight = match seen.iter().any(|known| is_same(known, &reason)) {
                // Several findings of one trial are one trial.
                true => 0.0,
                false => weight,
            };
            seen.push(reason);
            match reasons.iter_mut().find(|(known, _)| is_same(known, &reason)) {
                Some((known, sum)) => (*known, *sum) = (plainest(*known, reason), *sum + weight),
                None => reasons.push((reason, weight)),
            }
        }
    };
    let all = valid.len() as f64;
    add(cell, all);
    valid.iter().for_each(|trial| add(trial, 1.0));
    let enough = |weight: f64| all > 0.0 && weight >= SHARE * all;
    reasons
        .into_iter()
        .find(|(_, weight)| enough(*weight))
        .map(|(reason, _)| reason)
}

/// Whether two reasons differ in their numbers alone.
fn is_same(one: &Withheld, other: &Withheld) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Of two that are the same, the first; of what shows that a database was not at rest, what explains most.
fn plainest(known: Withheld, other: Withheld) -> Withheld {
    match (known, other) {
        (Withheld::NotAtRest { unrest: one }, Withheld::NotAtRest { unrest: other }) => {
            let unrest = one.min(other);
            Withheld::NotAtRest { unrest }
        }
        _ => known,
    }
}

/// The lowest bound of a latency, microseconds.
fn tightest_us(objective: &Objective) -> Option<f64> {
    let bounds = objective.latency.iter().map(|bound| bound.limit_us);
    bounds.min_by(f64::total_cmp)
}

/// What a finding says was measured instead; the reasons stand beside each [`Rule`].
///
/// A late client makes a response longer, never shorter. So what meets a bound meets it all the more without the
/// lateness, and near the bound a twentieth of it matters no more than a twentieth of a response does to [`Rule::SendLag`].
fn reason(finding: &Finding, beside: &Beside<'_>) -> Option<Withheld> {
    let number = |name| finding.number(name);
    let is_small = |lag: f64| beside.bound_us.is_some_and(|bound| lag <= SEND_LAG_SHARE * bound);
    match finding.rule {
        Rule::SendLag if number("send_lag_p99_us").is_some_and(is_small) => None,
        Rule::ClientSaturated | Rule::SendLag => Some(Withheld::Client),
        Rule::ServedFromPageCache | Rule::DataFitsPageCache => Some(Withheld::PageCache),
        Rule::NotFound | Rule::DataSetSmaller | Rule::CountsDisagree => Some(Withheld::Data),
        Rule::OfferedNotAchieved | Rule::BacklogDrained => Some(Withheld::Rate),
        Rule::BurstOnly | Rule::BurstChanged if number("burst_bytes_per_s").is_some() => Some(Withheld::BurstOfBytes {
            burst_bytes_per_s: number("burst_bytes_per_s").unwrap_or(0.0),
            baseline_bytes_per_s: number("baseline_bytes_per_s").unwrap_or(0.0),
            lasts_s: number("full_bucket_lasts_s"),
        }),
        Rule::BurstOnly | Rule::BurstChanged => Some(Withheld::Burst {
            burst_iops: number("burst_iops").unwrap_or(0.0),
            baseline_iops: number("baseline_iops").unwrap_or(0.0),
            lasts_s: number("full_bucket_lasts_s"),
        }),
        _ => unrest(finding, beside.limit).map(|unrest| Withheld::NotAtRest { unrest }),
    }
}

/// What a finding shows of a database that was not at rest, where what limited the cell has to do with it.
fn unrest(finding: &Finding, limit: &Limit) -> Option<Unrest> {
    let by_plan = finding.fact(Trajectory::NAME);
    let is = |why: Trajectory| by_plan == Some(why.word());
    let is_compiled = finding.fact(CODE) == Some(WARM);
    match finding.rule {
        // A volume at its limit gives what it gives, whatever the code costs.
        Rule::CodeNotWarm if !limits::is_volume(limit) => Some(Unrest::Code),
        Rule::CacheNotSettled => Some(Unrest::Cache),
        Rule::ReadsPerOperation if limits::is_volume(limit) => Some(Unrest::Cache),
        Rule::StillRising | Rule::NoSteadyState if is(Trajectory::Inserts) => None,
        // A page cache that was to be cold makes reads cheaper, not CPU.
        Rule::StillRising | Rule::NoSteadyState if is(Trajectory::ColdStart) && !limits::is_cpu(limit) => None,
        Rule::StillRising | Rule::NoSteadyState => Some(Unrest::Changing),
        Rule::TooShortToJudge if limits::is_cpu(limit) && !is_compiled => Some(Unrest::TooShort),
        Rule::GainAboveResource if finding.fact(EXPLAINED_BY_PURCHASE).is_none() => Some(Unrest::Gain),
        Rule::CpuPerOperation if limits::is_cpu(limit) && !is_compiled => Some(Unrest::Costs),
        _ => None,
    }
}

/// What limited a cell, as far as it matters here.
pub mod limits {
    use crate::document::limit::{Limit, LimitKind};

    /// Whether the CPU was full.
    pub fn is_cpu(limit: &Limit) -> bool {
        limit.kind == LimitKind::Cpu || limit.also.contains(&LimitKind::Cpu)
    }

    /// Whether a volume, or the way to it, was full and the CPU was not.
    pub fn is_volume(limit: &Limit) -> bool {
        use LimitKind::{BurstSpent, CommitLog, InstanceEbsBandwidth, VolumeIops, VolumeThroughput};
        let volumes = [
            VolumeIops,
            VolumeThroughput,
            InstanceEbsBandwidth,
            BurstSpent,
            CommitLog,
        ];
        volumes.contains(&limit.kind) && !is_cpu(limit)
    }
}

/// A CPU that was full of a database that was not at rest is no limit with a name: what it would carry is not known.
pub fn unname_cpu(limit: &mut Limit, withheld: Option<Withheld>) {
    if !matches!(withheld, Some(Withheld::NotAtRest { .. })) {
        return;
    }
    limit.also.retain(|kind| *kind != LimitKind::Cpu);
    if limit.kind == LimitKind::Cpu {
        limit.kind = LimitKind::NotAtRest;
    }
}

#[cfg(test)]
mod tests {
    use spec::{LatencyFigure, LatencyObjective};

    use super::*;
    use crate::finding::Scope;
    use crate::rule::Severity;

    fn limited(kind: LimitKind) -> Limit {
        Limit {
            kind,
            ..Limit::default()
        }
    }

    fn finding(rule: Rule) -> Finding {
        Finding::new(rule, Scope::Cell("c".into()), [])
    }

    #[test]
    fn half_of_the_trials_stand_for_the_cell_and_a_doubt_does_not() {
        let with = |rules: &[Option<Rule>]| -> Vec<Vec<Finding>> {
            rules.iter().map(|r| r.iter().map(|r| finding(*r)).collect()).collect()
        };
        let (client, any) = (Some(Rule::ClientSaturated), &Limit::default());
        assert_eq!(of_cell(&[], &with(&[client, None, None]), None, any), None);
        assert_eq!(
            of_cell(&[], &with(&[client, Some(Rule::SendLag), None]), None, any),
            Some(Withheld::Client)
        );
        let both = vec![
            vec![finding(Rule::ClientSaturated), finding(Rule::SendLag)],
            Vec::new(),
            Vec::new(),
        ];
        assert_eq!(
            of_cell(&[], &both, None, any),
            None,
            "two findings of one trial are one trial"
        );
        assert_eq!(
            of_cell(&[], &with(&[Some(Rule::SlowChangePossible); 3]), None, any),
            None
        );
        assert_eq!(
            of_cell(&[finding(Rule::DataSetSmaller)], &with(&[None, None, None]), None, any),
            Some(Withheld::Data)
        );
        assert_eq!(
            of_cell(&[finding(Rule::DataSetSmaller)], &[], None, any),
            None,
            "nothing was measured"
        );
    }

    /// 1.8 ms of lateness in answers of 20 ms are told; whether 50 ms are met does not depend on them. The bound of a
    /// median may be the tightest.
    #[test]
    fn a_late_client_counts_by_the_bound_that_its_latencies_are_judged_by() {
        let bound = |figure, limit_us| LatencyObjective {
            operation: None,
            figure,
            limit_us,
        };
        let of = |lag_us: f64, latency: &[LatencyObjective]| {
            let late = Finding::new(Rule::SendLag, Scope::Cell("c".into()), [("send_lag_p99_us", lag_us)]);
            let objective = Objective {
                latency: latency.to_vec(),
                error_share: None,
                throughput: None,
                headroom: 0.3,
            };
            of_cell(&[], &[vec![late]], Some(&objective), &Limit::default())
        };
        let p99 = bound(LatencyFigure::P99, 50_000.0);
        assert_eq!(of(1_800.0, &[p99]), None);
        assert_eq!(of(2_499.0, &[p99]), None);
        assert_eq!(of(2_501.0, &[p99]), Some(Withheld::Client));
        assert_eq!(
            of(1_800.0, &[p99, bound(LatencyFigure::P50, 10_000.0)]),
            Some(Withheld::Client)
        );
        assert_eq!(of(1_800.0, &[]), Some(Withheld::Client), "a rate alone is judged");
    }

    /// An invalid trial enters no figure, so that nothing is left to withhold.
    #[test]
    fn what_is_excluded_anyway_withholds_nothing() {
        for rule in Rule::ALL.into_iter().filter(|r| r.severity() == Severity::Invalid) {
            let beside = Beside {
                bound_us: None,
                limit: &limited(LimitKind::Cpu),
            };
            assert_eq!(reason(&finding(rule), &beside), None, "{}", rule.name());
        }
    }

    /// Code that is compiled costs CPU, and a page cache that fills costs reads: each counts where that is what the cell had least of.
    #[test]
    fn what_was_not_at_rest_counts_where_the_limit_has_to_do_with_it() {
        use LimitKind::{Cpu, NoneFound, VolumeIops};
        let with = |found: Finding, kind| match of_cell(&[], &[vec![found]], None, &limited(kind)) {
            Some(Withheld::NotAtRest { unrest }) => Some(unrest),
            None => None,
            other => panic!("{other:?}"),
        };
        let by_plan = |rule, why: Trajectory| finding(rule).with(Trajectory::NAME, why.word());
        let (plain, rising) = (finding, Rule::StillRising);
        let cases = [
            (plain(Rule::CodeNotWarm), Cpu, Some(Unrest::Code)),
            (plain(Rule::CodeNotWarm), NoneFound, Some(Unrest::Code)),
            (plain(Rule::CodeNotWarm), VolumeIops, None),
            (plain(Rule::CacheNotSettled), VolumeIops, Some(Unrest::Cache)),
            (plain(Rule::ReadsPerOperation), VolumeIops, Some(Unrest::Cache)),
            (plain(Rule::ReadsPerOperation), Cpu, None),
            (plain(rising), VolumeIops, Some(Unrest::Changing)),
            (by_plan(rising, Trajectory::Inserts), Cpu, None),
            (by_plan(rising, Trajectory::ColdStart), VolumeIops, None),
            (by_plan(rising, Trajectory::ColdStart), Cpu, Some(Unrest::Changing)),
            (plain(Rule::NoSteadyState), Cpu, Some(Unrest::Changing)),
            (plain(Rule::TooShortToJudge), Cpu, Some(Unrest::TooShort)),
            (plain(Rule::TooShortToJudge), VolumeIops, None),
            (plain(Rule::TooShortToJudge).with(CODE, WARM), Cpu, None),
            (plain(Rule::GainAboveResource), VolumeIops, Some(Unrest::Gain)),
            (
                plain(Rule::GainAboveResource).with(EXPLAINED_BY_PURCHASE, "memory"),
                VolumeIops,
                None,
            ),
            (plain(Rule::CpuPerOperation), Cpu, Some(Unrest::Costs)),
            (plain(Rule::CpuPerOperation), VolumeIops, None),
            (plain(Rule::CpuPerOperation).with(CODE, WARM), Cpu, None),
        ];
        for (found, kind, expected) in cases {
            assert_eq!(with(found.clone(), kind), expected, "{found:?} with {kind:?}");
        }
    }

    #[test]
    fn the_cpu_of_a_database_that_was_not_at_rest_is_not_named() {
        let mut limit = limited(LimitKind::Cpu);
        unname_cpu(&mut limit, Some(Withheld::Client));
        assert_eq!(limit.kind, LimitKind::Cpu);
        let unrest = Unrest::Code;
        unname_cpu(&mut limit, Some(Withheld::NotAtRest { unrest }));
        assert_eq!(limit.kind, LimitKind::NotAtRest);
    }
}
