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
            let why = explained(together, cell, other);
            let figures = GainAboveResource {
                over: other.configuration.clone(),
                resource: more.kind,
                gain: gain.median,
                gain_low: gain.low,
                gain_high: gain.high,
                resource_ratio: ratio,
                threshold: most,
                device_reads_per_operation: why.reads.map(|(mine, _)| mine),
                device_reads_per_operation_over: why.reads.map(|(_, theirs)| theirs),
                device_writes_per_operation: why.writes.map(|(mine, _)| mine),
                device_writes_per_operation_over: why.writes.map(|(_, theirs)| theirs),
                because: why.because,
                explained_by: why.explained_by,
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

/// What the evidence has to say about a gain: what an operation needed less of, on this side and on the other, and
/// whether that was bought or asked for.
struct Explanation {
    reads: Option<(f64, f64)>,
    writes: Option<(f64, f64)>,
    because: GainBecause,
    explained_by: Option<GainExplained>,
}

fn explained(together: &ComparedCells<'_>, cell: &CellAnalysis, over: &CellAnalysis) -> Explanation {
    let less = |figure: fn(&CellAnalysis) -> Option<f64>| {
        let (of_cell, of_other) = (figure(cell)?, figure(over)?);
        (of_cell < of_other * (1.0 - DIFFERS)).then_some((of_cell, of_other))
    };
    let reads = less(|c| c.device_reads_per_operation);
    let writes = less(|c| c.device_writes_per_operation);
    let ran_on_credits = cell.findings.iter().any(|f| matches!(f.rule(), Rule::BurstOnly | Rule::BurstChanged));
    let explained_by = if ran_on_credits {
        Some(GainExplained::Credits)
    } else if reads.is_some() && !together.has_same_page_cache(cell, over) {
        Some(GainExplained::Memory)
    } else if reads.is_some() && together.is_cold_by_plan(cell) {
        Some(GainExplained::ColdStart)
    } else {
        None
    };
    let because = match (reads, writes) {
        (Some(_), _) => GainBecause::PageCache,
        (None, Some(_)) => GainBecause::Compaction,
        (None, None) => GainBecause::Nothing,
    };
    Explanation { reads, writes, because, explained_by }
}
