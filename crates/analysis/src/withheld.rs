//! Was it the storage of this configuration, in its sustained state, that was measured? Where not, nothing is said
//! about its value.

use experiment::Objective;

use crate::dimension::Dimension;
use crate::document::limit::{Limit, LimitKind};
use crate::document::{Unrest, Withheld};
use crate::fact::Trajectory;
use crate::finding::Finding;
use crate::rule::{Remark, Severity};
use crate::rules::SEND_LAG_SHARE;
use crate::rules::burst::{BucketLasts, BurstChanged, BurstOnly};
use crate::rules::no_steady_state::NoSteadyState;
use crate::rules::still_rising::StillRising;

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
/// of its `valid` trials. What the client adds to a latency is held against the bound that the latency is judged by;
/// what was not at rest, against what limited the cell.
pub fn of_cell(
    cell: &[Finding],
    valid: &[Vec<Finding>],
    objective: Option<&Objective>,
    limit: &Limit,
) -> Option<Withheld> {
    let beside = Beside { bound_us: objective.and_then(tightest_us), limit };
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
    reasons.into_iter().find(|(_, weight)| enough(*weight)).map(|(reason, _)| reason)
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
    objective.latency.iter().map(|bound| bound.limit_us).min_by(f64::total_cmp)
}

/// What a finding says was measured instead, or shows of a database that was not at rest, where what limited the cell
/// has to do with it; the reasons stand beside each [`Rule`](crate::Rule).
///
/// A late client makes a response longer, never shorter. So what meets a bound meets it all the more without the
/// lateness, and near the bound a twentieth of it matters no more than a twentieth of a response does to the rule
/// `send_lag`.
#[deny(clippy::wildcard_enum_match_arm)]
fn reason(finding: &Finding, beside: &Beside<'_>) -> Option<Withheld> {
    let Beside { bound_us, limit } = *beside;
    let not_at_rest = |unrest| Some(Withheld::NotAtRest { unrest });
    match &finding.remark {
        Remark::SendLag(late) => {
            let is_small = |bound: f64| late.send_lag_p99_us as f64 <= SEND_LAG_SHARE * bound;
            (!bound_us.is_some_and(is_small)).then_some(Withheld::Client)
        }
        Remark::ClientSaturated(_) => Some(Withheld::Client),
        Remark::ServedFromPageCache(_) | Remark::DataFitsPageCache(_) => Some(Withheld::PageCache),
        Remark::NotFound(_) | Remark::DataSetSmaller(_) | Remark::CountsDisagree(_) => Some(Withheld::Data),
        Remark::ImportedProgress(progress) => (progress.backwards > 0).then_some(Withheld::Data),
        Remark::ImportedDrift(_) => not_at_rest(Unrest::Changing),
        Remark::OfferedNotAchieved(_) | Remark::BacklogDrained(_) => Some(Withheld::Rate),
        Remark::BurstOnly(BurstOnly { unit, lasts, .. }) | Remark::BurstChanged(BurstChanged { unit, lasts, .. }) => {
            Some(burst(*unit, *lasts))
        }
        // A volume at its limit gives what it gives, whatever the code costs.
        Remark::CodeNotWarm(_) if limit.is_volume() => None,
        Remark::CodeNotWarm(_) => not_at_rest(Unrest::Code),
        Remark::CacheNotSettled(cache) if cache.is_of_tier_alone() => not_at_rest(Unrest::CacheTier),
        Remark::CacheNotSettled(_) => not_at_rest(Unrest::Cache),
        Remark::ReadsPerOperation(_) if limit.is_volume() => not_at_rest(Unrest::Cache),
        Remark::ReadsPerOperation(_) => None,
        Remark::StillRising(StillRising { trajectory, cpu_taken_by, .. })
        | Remark::NoSteadyState(NoSteadyState { trajectory, cpu_taken_by, .. }) => match (trajectory, cpu_taken_by) {
            (Some(Trajectory::Inserts), _) => None,
            // A page cache that was to be cold makes reads cheaper, not CPU.
            (Some(Trajectory::ColdStart), _) if !limit.is_cpu() => None,
            // A volume at its limit gives what it gives, whoever uses the CPUs.
            (Some(Trajectory::ColdStart) | None, Some(_)) if !limit.is_volume() => not_at_rest(Unrest::Disturbed),
            (Some(Trajectory::ColdStart) | None, _) => not_at_rest(Unrest::Changing),
        },
        Remark::TooShortToJudge(short) => {
            (limit.is_cpu() && !short.code_is_warm).then_some(Withheld::NotAtRest { unrest: Unrest::TooShort })
        }
        Remark::GainAboveResource(gain) if gain.explained_by.is_some() => None,
        Remark::GainAboveResource(_) => not_at_rest(Unrest::Gain),
        Remark::CpuPerOperation(cost) => {
            (limit.is_cpu() && !cost.code_is_warm).then_some(Withheld::NotAtRest { unrest: Unrest::Costs })
        }
        // Nothing by themselves; what a machine or node that is sick shows counts in `sickness`.
        Remark::TrialInvalid(_)
        | Remark::DatabaseRestarted(_)
        | Remark::ErrorsAbove(_)
        | Remark::SlowChangePossible(_)
        | Remark::Stall(_)
        | Remark::ImportedClocks(_)
        | Remark::CoordinatedOmission(_)
        | Remark::ImportedPartly(_)
        | Remark::WindowsUnlike(_)
        | Remark::CacheWarmed(_)
        | Remark::VolumeAtCap(_)
        | Remark::ThrottleSlices(_)
        | Remark::SeparateReadWriteLimits(_)
        | Remark::EmulationOffLimit(_)
        | Remark::EmulationFloor(_)
        | Remark::EbsDisagrees(_)
        | Remark::UnbalancedMembers(_)
        | Remark::SlowMember(_)
        | Remark::VolumeAboveInstance(_)
        | Remark::LittlesLaw(_)
        | Remark::ClockDrift(_)
        | Remark::ClientsApart(_)
        | Remark::ThroughDriver(_)
        | Remark::CpuSteal(_)
        | Remark::CpuThrottled(_)
        | Remark::OtherWork(_)
        | Remark::GcPauses(_)
        | Remark::CompactionDebt(_)
        | Remark::CompactionBacklog(_)
        | Remark::CompactionBacklogLeft(_)
        | Remark::DroppedMessages(_)
        | Remark::CheckpointsRequested(_)
        | Remark::NetworkRetransmits(_)
        | Remark::UnequalNodes(_)
        | Remark::UnequalHosts(_)
        | Remark::SeveralVolumes(_)
        | Remark::TableBloat(_)
        | Remark::TooFewSamples(_)
        | Remark::RepetitionsSpread(_)
        | Remark::FaultsPlanned(_)
        | Remark::FaultNotAsPlanned(_)
        | Remark::WritesLost(_)
        | Remark::WritesUnread(_)
        | Remark::WritesNotFlushed(_) => None,
    }
}

/// A volume that ran on burst credits; rates of a bucket that nobody knows are 0.
fn burst(unit: Dimension, lasts: Option<BucketLasts>) -> Withheld {
    let burst = lasts.map_or(0.0, |lasts| lasts.burst_per_s);
    let baseline = lasts.map_or(0.0, |lasts| lasts.baseline_per_s);
    let lasts_s = lasts.and_then(|lasts| lasts.full_bucket_lasts_s);
    match (unit, lasts) {
        (Dimension::Bytes, Some(_)) => {
            Withheld::BurstOfBytes { burst_bytes_per_s: burst, baseline_bytes_per_s: baseline, lasts_s }
        }
        (Dimension::Bytes | Dimension::Requests, _) => {
            Withheld::Burst { burst_iops: burst, baseline_iops: baseline, lasts_s }
        }
    }
}

/// Beside a volume at its limit code that is not compiled changes no throughput: worth knowing, and a doubt only where
/// latencies are judged, which it may have made longer.
pub fn weigh_code(findings: &mut [Finding], limit: &Limit, objective: Option<&Objective>) {
    let are_latencies_judged = objective.is_some_and(|objective| !objective.latency.is_empty());
    for finding in findings.iter_mut().filter(|_| limit.is_volume()) {
        if let Remark::CodeNotWarm(code) = &mut finding.remark {
            code.volume_was_limit = true;
            if !are_latencies_judged {
                finding.severity = Severity::Note;
            }
        }
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
    use experiment::{LatencyFigure, LatencyObjective};

    use super::*;
    use crate::fact::CpuTakenBy;
    use crate::finding::Scope;
    use crate::physics::figures::{CpuPerOperation, GainAboveResource, GainBecause, GainExplained, ReadsPerOperation};
    use crate::rules::cache_not_settled::{CacheNotSettled, MissesDrift};
    use crate::rules::cassandra::code_not_warm::CodeNotWarm;
    use crate::rules::client_saturated::ClientSaturated;
    use crate::rules::data_set_smaller::DataSetSmaller;
    use crate::rules::database_restarted::DatabaseRestarted;
    use crate::rules::errors_above::ErrorsAbove;
    use crate::rules::send_lag::SendLag;
    use crate::rules::slow_change_possible::SlowChangePossible;
    use crate::rules::too_short_to_judge::TooShortToJudge;
    use crate::rules::trial_invalid::TrialInvalid;

    fn limited(kind: LimitKind) -> Limit {
        Limit { kind, ..Limit::default() }
    }

    fn finding(remark: impl Into<Remark>) -> Finding {
        Finding::new(Scope::Cell("c".into()), remark)
    }

    fn saturated() -> ClientSaturated {
        ClientSaturated { client_cpu_s: 59.0, measured_s: 60.0, threads: 1, cpu_share: 0.98, threshold: 0.8 }
    }

    fn late(send_lag_p99_us: u64) -> SendLag {
        SendLag { send_lag_p99_us, send_lag_max_us: send_lag_p99_us, response_p99_us: 20_000.0, threshold_us: 1_000.0 }
    }

    fn code_not_warm() -> CodeNotWarm {
        CodeNotWarm {
            compiler_share: Some(0.2),
            threshold: 0.05,
            preparation_ended_early: false,
            volume_was_limit: false,
        }
    }

    fn smaller() -> DataSetSmaller {
        DataSetSmaller::Others { bytes_on_disk: 1e9, median_bytes_of_the_run: 2e9, less_by_share: 0.5, threshold: 0.05 }
    }

    #[test]
    fn half_of_the_trials_stand_for_the_cell_and_a_doubt_does_not() {
        let (client, lag, none) = (vec![finding(saturated())], vec![finding(late(5_000))], Vec::new);
        let any = &Limit::default();
        assert_eq!(of_cell(&[], &[client.clone(), none(), none()], None, any), None);
        assert_eq!(of_cell(&[], &[client.clone(), lag.clone(), none()], None, any), Some(Withheld::Client));
        let both = vec![[client, lag].concat(), none(), none()];
        assert_eq!(of_cell(&[], &both, None, any), None, "two findings of one trial are one trial");
        let doubt = || vec![finding(SlowChangePossible::default())];
        assert_eq!(of_cell(&[], &[doubt(), doubt(), doubt()], None, any), None);
        assert_eq!(of_cell(&[finding(smaller())], &[none(), none(), none()], None, any), Some(Withheld::Data));
        assert_eq!(of_cell(&[finding(smaller())], &[], None, any), None, "nothing was measured");
    }

    /// 1.8 ms of lateness in answers of 20 ms are reported; whether 50 ms are met does not depend on them. The bound of
    /// a median may be the tightest.
    #[test]
    fn a_late_client_counts_by_the_bound_that_its_latencies_are_judged_by() {
        let bound = |figure, limit_us| LatencyObjective { operation: None, figure, limit_us };
        let of = |lag_us: u64, latency: &[LatencyObjective]| {
            let objective = Objective { latency: latency.to_vec(), error_share: None, throughput: None, headroom: 0.3 };
            of_cell(&[], &[vec![finding(late(lag_us))]], Some(&objective), &Limit::default())
        };
        let p99 = bound(LatencyFigure::P99, 50_000.0);
        assert_eq!(of(1_800, &[p99]), None);
        assert_eq!(of(2_499, &[p99]), None);
        assert_eq!(of(2_501, &[p99]), Some(Withheld::Client));
        assert_eq!(of(1_800, &[p99, bound(LatencyFigure::P50, 10_000.0)]), Some(Withheld::Client));
        assert_eq!(of(1_800, &[]), Some(Withheld::Client), "a rate alone is judged");
    }

    /// An invalid trial enters no figure, so that nothing is left to withhold.
    #[test]
    fn what_is_excluded_anyway_withholds_nothing() {
        let errors = ErrorsAbove {
            errors: 1,
            operations: 2,
            error_share: 0.5,
            threshold: 0.001,
            kinds: Default::default(),
            first_errors: Default::default(),
        };
        let reason_of = |found: Finding| {
            assert_eq!(found.severity, Severity::Invalid);
            let beside = Beside { bound_us: None, limit: &limited(LimitKind::Cpu) };
            reason(&found, &beside)
        };
        assert_eq!(reason_of(finding(errors)), None);
        assert_eq!(reason_of(finding(DatabaseRestarted { restarts: 1 })), None);
        assert_eq!(reason_of(finding(TrialInvalid { reason: "it died".into() })), None);
    }

    /// Code that is compiled costs CPU, and a page cache that fills costs reads: each counts where that is what the
    /// cell had least of.
    #[test]
    fn what_was_not_at_rest_counts_where_the_limit_has_to_do_with_it() {
        use LimitKind::{Cpu, NoneFound, VolumeIops};
        let with = |found: Finding, kind| match of_cell(&[], &[vec![found]], None, &limited(kind)) {
            Some(Withheld::NotAtRest { unrest }) => Some(unrest),
            None => None,
            other => panic!("{other:?}"),
        };
        let code = || finding(code_not_warm());
        let cache = finding(CacheNotSettled::default());
        let tier = finding(CacheNotSettled {
            tier: Some(MissesDrift { misses_share_first_third: 0.5, misses_share_last_third: 0.4 }),
            ..CacheNotSettled::default()
        });
        let reads = || finding(ReadsPerOperation::default());
        let rising = |trajectory| finding(StillRising { trajectory, ..StillRising::default() });
        let changing = finding(NoSteadyState::default());
        let beside_others = || {
            let cpu_taken_by = Some(CpuTakenBy::Programs);
            finding(NoSteadyState { cpu_taken_by, ..NoSteadyState::default() })
        };
        let short = |code_is_warm| finding(TooShortToJudge { code_is_warm, ..TooShortToJudge::default() });
        let gain = |explained_by| {
            finding(GainAboveResource {
                over: "b".into(),
                resource: VolumeIops,
                gain: 8.0,
                gain_low: 7.5,
                gain_high: 8.5,
                resource_ratio: 4.0,
                threshold: 4.2,
                device_reads_per_operation: None,
                device_reads_per_operation_over: None,
                device_writes_per_operation: None,
                device_writes_per_operation_over: None,
                because: GainBecause::Nothing,
                explained_by,
            })
        };
        let cost = |code_is_warm| finding(CpuPerOperation { code_is_warm, ..CpuPerOperation::default() });
        let cases = [
            (code(), Cpu, Some(Unrest::Code)),
            (code(), NoneFound, Some(Unrest::Code)),
            (code(), VolumeIops, None),
            (cache, VolumeIops, Some(Unrest::Cache)),
            (tier, VolumeIops, Some(Unrest::CacheTier)),
            (reads(), VolumeIops, Some(Unrest::Cache)),
            (reads(), Cpu, None),
            (rising(None), VolumeIops, Some(Unrest::Changing)),
            (rising(Some(Trajectory::Inserts)), Cpu, None),
            (rising(Some(Trajectory::ColdStart)), VolumeIops, None),
            (rising(Some(Trajectory::ColdStart)), Cpu, Some(Unrest::Changing)),
            (changing, Cpu, Some(Unrest::Changing)),
            (beside_others(), Cpu, Some(Unrest::Disturbed)),
            (beside_others(), NoneFound, Some(Unrest::Disturbed)),
            (beside_others(), VolumeIops, Some(Unrest::Changing)),
            (short(false), Cpu, Some(Unrest::TooShort)),
            (short(false), VolumeIops, None),
            (short(true), Cpu, None),
            (gain(None), VolumeIops, Some(Unrest::Gain)),
            (gain(Some(GainExplained::Memory)), VolumeIops, None),
            (cost(false), Cpu, Some(Unrest::Costs)),
            (cost(false), VolumeIops, None),
            (cost(true), Cpu, None),
        ];
        for (found, kind, expected) in cases {
            assert_eq!(with(found.clone(), kind), expected, "{found:?} with {kind:?}");
        }
    }

    /// It was a doubt of each trial of a volume that does 160 operations a second, of which nothing is withheld.
    #[test]
    fn code_that_is_compiled_beside_a_full_volume_is_a_doubt_of_latencies_alone() {
        let bound = LatencyObjective { operation: None, figure: LatencyFigure::P99, limit_us: 50_000.0 };
        let objective = |latency| Objective { latency, error_share: Some(0.01), throughput: None, headroom: 0.3 };
        let weighed = |kind: LimitKind, objective: Option<&Objective>| {
            let mut found = [finding(code_not_warm()), finding(late(5_000))];
            weigh_code(&mut found, &limited(kind), objective);
            assert_eq!(found[1].severity, Severity::Suspect, "another rule");
            (found[0].severity, found[0].figures::<CodeNotWarm>().unwrap().volume_was_limit)
        };
        let (errors, p99) = (objective(Vec::new()), objective(vec![bound]));
        assert_eq!(weighed(LimitKind::VolumeIops, None), (Severity::Note, true));
        assert_eq!(weighed(LimitKind::VolumeIops, Some(&errors)), (Severity::Note, true));
        assert_eq!(weighed(LimitKind::VolumeIops, Some(&p99)), (Severity::Suspect, true));
        assert_eq!(weighed(LimitKind::Cpu, None), (Severity::Suspect, false));
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
