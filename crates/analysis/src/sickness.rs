//! Was what was bought there? A machine, or one node of a cluster, that was sick has measured its sickness: half of a
//! disk, a CPU quota that nobody asked for, CPU time that the hypervisor took, pauses for much of the time, nodes of
//! unlike work. That supports no verdict on the configuration.
//!
//! A sickness counts where it has to do with what limited the cell, and took more of it than the margin of practical
//! importance. The finding is reported all the same where it does not.

use experiment::VolumeRole;

use crate::document::limit::{GC_DOMINATES, Limit, LimitKind};
use crate::document::{CellAnalysis, ConfigurationFacts, OfThisMachine, Sickness, VolumeReport, Withheld};
use crate::fact::{NodeFigure, VolumeLimit};
use crate::finding::{Finding, Scope};
use crate::measurement::TrialMeasurement;
use crate::rule::Remark;
use crate::rules;
use crate::rules::emulation_off_limit::EmulationOffLimit;
use crate::withheld::SHARE;

/// A volume of which less than this share is used limits nothing, whatever is left of it (threshold: ours; half of a
/// volume that is used by a fifth is enough).
const IN_USE: f64 = 0.5;

/// What a machine had in half of a cell's `valid` trials, or what its nodes had over all of them.
pub fn of_cell(cell: &CellAnalysis, valid: &[Vec<Finding>], margin: f64) -> Option<Withheld> {
    let sick = |finding: &Finding| of_finding(finding, cell, margin);
    let is_own = |finding: &&Finding| matches!(finding.scope, Scope::Cell(_));
    let of_all = cell.findings.iter().filter(is_own).filter_map(sick);
    let of_trials: Vec<Sick> = valid.iter().filter_map(|trial| worst(trial.iter().filter_map(sick))).collect();
    let is_half = !valid.is_empty() && of_trials.len() as f64 >= SHARE * valid.len() as f64;
    let enough = if is_half { of_trials } else { Vec::new() };
    let (sickness, amount) = worst(of_all.chain(enough))?;
    (!valid.is_empty()).then_some(Withheld::Sick { sickness, amount })
}

/// What fio measured of the volumes before this very trial, where that is off what was asked for.
pub fn disks(configuration: &ConfigurationFacts, trial: &TrialMeasurement) -> Vec<Finding> {
    let measured = |volume: &VolumeReport| {
        let probes = rules::probes_of(std::iter::once(trial), volume.role);
        let slowest = probes.values().min_by(|a, b| a.read_iops.total_cmp(&b.read_iops));
        VolumeReport {
            probe: slowest.copied(),
            probes: if probes.len() > 1 { probes } else { Default::default() },
            ..volume.clone()
        }
    };
    rules::off_limit(&ConfigurationFacts {
        volumes: configuration.volumes.iter().map(measured).collect(),
        ..configuration.clone()
    })
}

/// What, and how much.
type Sick = (Sickness, f64);

/// The one that explains most; of several the first.
fn worst(all: impl Iterator<Item = Sick>) -> Option<Sick> {
    all.min_by_key(|(sickness, _)| *sickness)
}

fn of_finding(finding: &Finding, cell: &CellAnalysis, margin: f64) -> Option<Sick> {
    let took = |sickness, share: f64, least: f64| (share > least).then_some((sickness, share));
    let limit = &cell.limit;
    match &finding.remark {
        Remark::EmulationOffLimit(off) => {
            let left = 1.0 + off.off_by;
            (left < 1.0 && is_of_its_volume(off, cell)).then_some((Sickness::Disk, left))
        }
        Remark::CpuThrottled(_) | Remark::CpuSteal(_) | Remark::OtherWork(_) if limit.is_volume() => None,
        Remark::CpuThrottled(quota) => took(Sickness::Quota, quota.throttled_periods_share, margin),
        Remark::CpuSteal(steal) => took(Sickness::Steal, steal.steal_share, margin),
        // Where this machine's own CPU is known to be the limit, the ratio is a bound already, and slower is on its
        // safe side.
        Remark::OtherWork(_) if cell.limited_here == Some(OfThisMachine::Cpu) => None,
        Remark::OtherWork(others) => took(Sickness::OtherWork, others.other_cpus, 0.0),
        Remark::GcPauses(pauses) => took(Sickness::Pauses, pauses.gc_pause_share, GC_DOMINATES),
        Remark::UnequalNodes(nodes) => {
            let times = stats::ratio(1.0, 1.0 - nodes.less_by_share).unwrap_or(f64::MAX);
            is_of_its_work(nodes.figure, limit).then_some((Sickness::Nodes, times))
        }
        // Whether a new rule belongs here is asked where `withheld` lists those that withhold nothing by themselves.
        _ => None,
    }
}

/// Whether the volume that fio found off its limit has to do with what limited the cell. Where this machine's own disk
/// is known to be the limit, ratios are bounds already.
fn is_of_its_volume(off: &EmulationOffLimit, cell: &CellAnalysis) -> bool {
    use LimitKind::{BurstSpent, CommitLog, InstanceEbsBandwidth, VolumeIops, VolumeThroughput};
    if cell.limit.is_cpu() || cell.limited_here == Some(OfThisMachine::Disk) {
        return false;
    }
    let kinds: &[LimitKind] = match off.probed {
        _ if off.volume == VolumeRole::Commitlog => &[CommitLog],
        VolumeLimit::ReadIops => &[VolumeIops, BurstSpent, InstanceEbsBandwidth],
        _ => &[VolumeThroughput, InstanceEbsBandwidth],
    };
    let mut uses = cell.limit.uses.iter().filter(|used| kinds.contains(&used.kind));
    uses.any(|used| used.share() >= IN_USE)
}

/// Whether nodes that are unequal in a figure are unequal in what limited the cell.
fn is_of_its_work(figure: NodeFigure, limit: &Limit) -> bool {
    match figure {
        NodeFigure::Cpus => !limit.is_volume(),
        NodeFigure::DeviceReads | NodeFigure::DeviceWrites => !limit.is_cpu(),
        // Data alone costs nothing, and what fio measured is judged trial by trial.
        NodeFigure::BytesOnDisk | NodeFigure::ProbedReads | NodeFigure::ProbedWrites => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::cassandra::gc_pauses::GcPauses;
    use crate::rules::cpu_steal::CpuSteal;
    use crate::rules::cpu_throttled::CpuThrottled;
    use crate::rules::other_work::OtherWork;
    use crate::story::{job, run, trials};

    fn cell(kind: LimitKind) -> CellAnalysis {
        let mut cell = crate::analyse(&run(&job(), &trials())).cells.swap_remove(0);
        cell.findings.clear();
        cell.limit.kind = kind;
        cell.limit.also.clear();
        cell
    }

    fn finding(remark: impl Into<Remark>) -> Finding {
        Finding::new(Scope::Trial("c/1".into()), remark)
    }

    fn throttled(throttled_periods_share: f64) -> Finding {
        finding(CpuThrottled { throttled_periods_share, threshold: 0.01 })
    }

    fn stolen(steal_share: f64) -> Finding {
        finding(CpuSteal { steal_share, steal_share_worst_10_s: steal_share, threshold: 0.01, threshold_10_s: 0.03 })
    }

    fn others(other_cpus: f64) -> Finding {
        finding(OtherWork { other_cpus, threshold: 0.25, programs: Vec::new() })
    }

    fn pauses(gc_pause_share: f64) -> Finding {
        finding(GcPauses { gc_pause_share, threshold: 0.02, longest_pause_s: 0.1, threshold_s: 0.5 })
    }

    /// (finding, what limits the cell, whether it counts), on both sides of each threshold.
    #[test]
    fn a_sickness_counts_by_how_much_it_took_of_what_limits() {
        use LimitKind::{Cpu, NoneFound, VolumeIops};
        let cases = [
            (throttled(0.04), Cpu, false),
            (throttled(0.06), Cpu, true),
            (throttled(0.6), VolumeIops, false),
            (stolen(0.04), Cpu, false),
            (stolen(0.06), NoneFound, true),
            (stolen(0.3), VolumeIops, false),
            (others(0.3), Cpu, true),
            (others(0.3), VolumeIops, false),
            (pauses(0.19), Cpu, false),
            (pauses(0.21), VolumeIops, true),
        ];
        for (found, kind, counts) in cases {
            let judged = of_cell(&cell(kind), &[vec![found.clone()]], 0.05);
            assert_eq!(judged.is_some(), counts, "{found:?} {kind:?}");
        }
    }

    #[test]
    fn half_of_the_trials_stand_for_the_cell() {
        let sick = || vec![pauses(0.4)];
        let of = |trials: &[Vec<Finding>]| of_cell(&cell(LimitKind::Cpu), trials, 0.05).is_some();
        assert!(!of(&[sick(), vec![], vec![]]));
        assert!(of(&[sick(), sick(), vec![]]));
        assert!(!of(&[]), "nothing was measured");
    }

    /// fio found half; the volume was used by more or less than half of that.
    #[test]
    fn half_of_a_disk_counts_where_the_disk_is_used() {
        let half = || {
            finding(EmulationOffLimit {
                volume: VolumeRole::Data,
                probed: VolumeLimit::ReadIops,
                expected: 1000.0,
                measured: 500.0,
                off_by: -0.5,
                threshold: 0.1,
                is_bought: false,
            })
        };
        let with = |share: f64, kind| {
            let mut cell = cell(kind);
            for used in &mut cell.limit.uses {
                used.used = share * used.capacity;
            }
            of_cell(&cell, &[vec![half()]], 0.05)
        };
        let sickness = Sickness::Disk;
        let sick = Some(Withheld::Sick { sickness, amount: 0.5 });
        assert_eq!(with(0.99, LimitKind::VolumeIops), sick);
        assert_eq!(with(0.51, LimitKind::OfferedRate), sick);
        assert_eq!(with(0.4, LimitKind::OfferedRate), None);
        assert_eq!(with(0.99, LimitKind::Cpu), None, "the CPU was the limit");
    }
}
