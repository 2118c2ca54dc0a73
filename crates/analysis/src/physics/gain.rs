//! A gain is at most the ratio of what limits both sides.

use super::pair::ComparedCells;
use crate::document::CellAnalysis;
use crate::document::limit::{LimitKind, ResourceUse};
use crate::finding::{Finding, Scope};
use crate::physics::figures::{GainAboveResource, GainBecause, GainExplained};
use crate::rule::Rule;

/// A gain may be above the ratio by this share: a volume counts as full from 95 % of its limit on, and the margin of
/// practical importance is the same.
const ABOVE_MAX: f64 = 0.05;
/// What an operation needs differs where it does by this share: half of that, so that several small differences are
/// seen.
const DIFFERS: f64 = 0.025;

/// The finding on a cell that gained too much over another; over the one where most is too much.
pub fn finding(together: &ComparedCells<'_>, at: usize) -> Option<Finding> {
    let cell = &together.cells[at];
    let of_other = |(from, other): (usize, &CellAnalysis)| {
        let (more, less) = (limiting(cell)?, limiting(other).filter(|_| cell.load == other.load)?);
        let ratio =
            stats::ratio(more.capacity, less.capacity).filter(|ratio| *ratio >= 1.0 && more.unit == less.unit)?;
        let gain = together.throughput.ratio(at, from)?;
        let most = ratio * (1.0 + ABOVE_MAX);
        (gain.verdict.is_tested() && more.kind == less.kind && gain.low > most).then(|| {
            let less = |figure: fn(&CellAnalysis) -> Option<f64>| {
                let (mine, theirs) = (figure(cell)?, figure(other)?);
                (mine < theirs * (1.0 - DIFFERS)).then_some((mine, theirs))
            };
            let reads = less(|c| c.device_reads_per_operation);
            let writes = less(|c| c.device_writes_per_operation);
            let figures = GainAboveResource {
                over: other.configuration.clone(),
                resource: more.kind,
                gain: gain.median,
                gain_low: gain.low,
                gain_high: gain.high,
                resource_ratio: ratio,
                threshold: most,
                device_reads_per_operation: reads.map(|(mine, _)| mine),
                device_reads_per_operation_over: reads.map(|(_, theirs)| theirs),
                device_writes_per_operation: writes.map(|(mine, _)| mine),
                device_writes_per_operation_over: writes.map(|(_, theirs)| theirs),
                because: match (reads, writes) {
                    (Some(_), _) => GainBecause::PageCache,
                    (None, Some(_)) => GainBecause::Compaction,
                    (None, None) => GainBecause::Nothing,
                },
                explained_by: explained(together, cell, other, reads.is_some()),
            };
            (gain.low / ratio, Finding::new(Scope::Cell(cell.id.clone()), figures))
        })
    };
    let found = together.others(at).filter_map(of_other);
    found.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, found)| found)
}

/// The volume, or the way to it, that is named as the limit. What an operation costs of the CPU is held against other
/// cells by `cpu_per_operation`, with room for processors of other speeds.
fn limiting(cell: &CellAnalysis) -> Option<&ResourceUse> {
    use LimitKind::{InstanceEbsBandwidth, VolumeIops, VolumeThroughput};
    let kind = cell.limit.kind;
    let is_volume = matches!(kind, VolumeIops | VolumeThroughput | InstanceEbsBandwidth);
    let mut uses = cell.limit.uses.iter();
    uses.find(|used| is_volume && used.kind == kind && used.at_cap)
}

/// What explains a gain that was bought or asked for; `needs_fewer_reads`: an operation read less of the volume.
fn explained(
    together: &ComparedCells<'_>,
    cell: &CellAnalysis,
    over: &CellAnalysis,
    needs_fewer_reads: bool,
) -> Option<GainExplained> {
    let ran_on_credits = cell.findings.iter().any(|f| matches!(f.rule(), Rule::BurstOnly | Rule::BurstChanged));
    if ran_on_credits {
        Some(GainExplained::Credits)
    } else if needs_fewer_reads && !together.has_same_page_cache(cell, over) {
        Some(GainExplained::Memory)
    } else if needs_fewer_reads && together.is_cold_by_plan(cell) {
        Some(GainExplained::ColdStart)
    } else {
        None
    }
}
