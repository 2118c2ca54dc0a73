//! Was what was bought there? A machine, or one node of a cluster, that was sick has measured its sickness: half of a disk, a CPU
//! quota that nobody asked for, CPU time that the hypervisor took, pauses for much of the time, nodes of unlike work. That supports
//! no verdict on the configuration.
//!
//! A sickness counts where it has to do with what limited the cell, and took more of it than the margin of practical importance.
//! The finding is reported all the same where it does not.

use crate::document::limit::{GC_DOMINATES, Limit, LimitKind};
use crate::document::{CellAnalysis, ConfigurationFacts, OfThisMachine, Sickness, VolumeReport, Withheld};
use crate::fact::{NodeFigure, VolumeLimit};
use crate::finding::{Finding, Scope};
use crate::measurement::TrialMeasurement;
use crate::rule::Rule;
use crate::rules;
use crate::withheld::{SHARE, limits};

/// A volume of which less than this share is used limits nothing, whatever is left of it (threshold: ours; half of a volume that
/// is used by a fifth is enough).
const IN_USE: f64 = 0.5;

/// What a machine had in half of a cell's `valid` trials, or what its nodes had over all of them.
pub fn of_cell(cell: &CellAnalysis, valid: &[Vec<Finding>], margin: f64) -> Option<Withheld> {
    let sick = |finding: &Finding| of_finding(finding, cell, margin);
    let is_own = |finding: &&Finding| matches!(finding.scope, Scope::Cell(_));
    let of_all = cell.findings.iter().filter(is_own).filter_map(sick);
    let of_trials: Vec<Sick> = valid
        .iter()
        .filter_map(|trial| worst(trial.iter().filter_map(sick)))
        .collect();
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
    let number = |name| finding.number(name);
    let took = |sickness, share: Option<f64>, least: f64| Some((sickness, share.filter(|share| *share > least)?));
    let limit = &cell.limit;
    match finding.rule {
        Rule::EmulationOffLimit => {
            let left = 1.0 + number("off_by")?;
            (left < 1.0 && is_of_its_volume(finding, cell)).then_some((Sickness::Disk, left))
        }
        Rule::CpuThrottled if !limits::is_volume(limit) => {
            took(Sickness::Quota, number("throttled_periods_share"), margin)
        }
        Rule::CpuSteal if !limits::is_volume(limit) => took(Sickness::Steal, number("steal_share"), margin),
        // Where this machine's own CPU is known to be the limit, the ratio is a bound already, and slower is on its safe side.
        Rule::OtherWork if !limits::is_volume(limit) && cell.limited_here != Some(OfThisMachine::Cpu) => {
            took(Sickness::OtherWork, number("other_cpus"), 0.0)
        }
        Rule::GcPauses => took(Sickness::Pauses, number("gc_pause_share"), GC_DOMINATES),
        Rule::UnequalNodes if is_of_its_work(finding, limit) => {
            let less = number("less_by_share")?;
            Some((Sickness::Nodes, stats::ratio(1.0, 1.0 - less).unwrap_or(f64::MAX)))
        }
        _ => None,
    }
}

/// Whether the volume that fio found off its limit has to do with what limited the cell. Where this machine's own disk is known
/// to be the limit, ratios are bounds already.
fn is_of_its_volume(finding: &Finding, cell: &CellAnalysis) -> bool {
    use LimitKind::{BurstSpent, CommitLog, InstanceEbsBandwidth, VolumeIops, VolumeThroughput};
    if limits::is_cpu(&cell.limit) || cell.limited_here == Some(OfThisMachine::Disk) {
        return false;
    }
    let is_log = finding.fact("volume") == Some(spec::VolumeRole::Commitlog.name());
    let kinds: &[LimitKind] = match finding.fact("probed").and_then(VolumeLimit::named) {
        _ if is_log => &[CommitLog],
        Some(VolumeLimit::ReadIops) => &[VolumeIops, BurstSpent, InstanceEbsBandwidth],
        _ => &[VolumeThroughput, InstanceEbsBandwidth],
    };
    let mut uses = cell.limit.uses.iter().filter(|used| kinds.contains(&used.kind));
    uses.any(|used| used.share() >= IN_USE)
}

/// Whether unequal nodes are unequal in what limited the cell.
fn is_of_its_work(finding: &Finding, limit: &Limit) -> bool {
    match finding.fact("figure").and_then(NodeFigure::named) {
        Some(NodeFigure::Cpus) => !limits::is_volume(limit),
        Some(NodeFigure::DeviceReads | NodeFigure::DeviceWrites) => !limits::is_cpu(limit),
        // Data alone costs nothing, and what fio measured is judged trial by trial.
        Some(NodeFigure::BytesOnDisk | NodeFigure::ProbedReads | NodeFigure::ProbedWrites) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::{job, run, trials};

    fn cell(kind: LimitKind) -> CellAnalysis {
        let mut cell = crate::analyse(&run(&job(), &trials())).cells.swap_remove(0);
        cell.findings.clear();
        cell.limit.kind = kind;
        cell.limit.also.clear();
        cell
    }

    fn finding(rule: Rule, name: &str, value: f64) -> Finding {
        Finding::new(rule, Scope::Trial("c/1".into()), [(name, value)])
    }

    /// (finding, what limits the cell, whether it counts), on both sides of each threshold.
    #[test]
    fn a_sickness_counts_by_how_much_it_took_of_what_limits() {
        use LimitKind::{Cpu, NoneFound, VolumeIops};
        let cases = [
            (finding(Rule::CpuThrottled, "throttled_periods_share", 0.04), Cpu, false),
            (finding(Rule::CpuThrottled, "throttled_periods_share", 0.06), Cpu, true),
            (
                finding(Rule::CpuThrottled, "throttled_periods_share", 0.6),
                VolumeIops,
                false,
            ),
            (finding(Rule::CpuSteal, "steal_share", 0.04), Cpu, false),
            (finding(Rule::CpuSteal, "steal_share", 0.06), NoneFound, true),
            (finding(Rule::CpuSteal, "steal_share", 0.3), VolumeIops, false),
            (finding(Rule::OtherWork, "other_cpus", 0.3), Cpu, true),
            (finding(Rule::OtherWork, "other_cpus", 0.3), VolumeIops, false),
            (finding(Rule::GcPauses, "gc_pause_share", 0.19), Cpu, false),
            (finding(Rule::GcPauses, "gc_pause_share", 0.21), VolumeIops, true),
        ];
        for (found, kind, counts) in cases {
            let judged = of_cell(&cell(kind), &[vec![found.clone()]], 0.05);
            assert_eq!(judged.is_some(), counts, "{found:?} {kind:?}");
        }
    }

    #[test]
    fn half_of_the_trials_stand_for_the_cell() {
        let sick = || vec![finding(Rule::GcPauses, "gc_pause_share", 0.4)];
        let of = |trials: &[Vec<Finding>]| of_cell(&cell(LimitKind::Cpu), trials, 0.05).is_some();
        assert!(!of(&[sick(), vec![], vec![]]));
        assert!(of(&[sick(), sick(), vec![]]));
        assert!(!of(&[]), "nothing was measured");
    }

    /// fio found half; the volume was used by more or less than half of that.
    #[test]
    fn half_of_a_disk_counts_where_the_disk_is_used() {
        let half = || {
            finding(Rule::EmulationOffLimit, "off_by", -0.5)
                .with("volume", "data")
                .with("probed", VolumeLimit::ReadIops.name())
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
