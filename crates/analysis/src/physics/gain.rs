//! A gain is at most the ratio of what limits both sides.

use super::pair::Together;
use crate::document::CellAnalysis;
use crate::document::limit::{LimitKind, ResourceUse};
use crate::fact::EXPLAINED_BY_PURCHASE;
use crate::finding::{Finding, Scope};
use crate::rule::Rule;

/// A gain may be above the ratio by this share: a volume counts as full from 95 % of its limit on, and the margin of practical importance is
/// the same.
const ABOVE_MAX: f64 = 0.05;
/// What an operation needs differs where it does by this share: half of that, so that several small differences are seen.
const DIFFERS: f64 = 0.025;

/// The finding on a cell that gained too much over another; over the one where most is too much.
pub fn finding(together: &Together<'_>, at: usize) -> Option<Finding> {
    let cell = &together.cells[at];
    let of_other = |(from, other): (usize, &CellAnalysis)| {
        let (more, less) = (limiting(cell)?, limiting(other).filter(|_| cell.load == other.load)?);
        let ratio =
            stats::ratio(more.capacity, less.capacity).filter(|ratio| *ratio >= 1.0 && more.unit == less.unit)?;
        let gain = together.throughput.ratio(at, from)?;
        let most = ratio * (1.0 + ABOVE_MAX);
        (gain.verdict.is_tested() && more.kind == less.kind && gain.low > most).then(|| {
            let numbers = [
                ("gain", gain.median),
                ("gain_low", gain.low),
                ("gain_high", gain.high),
                ("resource_ratio", ratio),
                ("threshold", most),
            ];
            let found = Finding::new(Rule::GainAboveResource, Scope::Cell(cell.id.clone()), numbers)
                .with("over", other.configuration.clone())
                .with("resource", more.kind.words());
            (gain.low / ratio, explained(together, cell, other, found))
        })
    };
    let found = together.others(at).filter_map(of_other);
    found.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, found)| found)
}

/// The volume, or the way to it, that is named as the limit. What an operation costs of the CPU is held against other cells by
/// `cpu_per_operation`, with room for processors of other speeds.
fn limiting(cell: &CellAnalysis) -> Option<&ResourceUse> {
    use LimitKind::{InstanceEbsBandwidth, VolumeIops, VolumeThroughput};
    let kind = cell.limit.kind;
    let is_volume = matches!(kind, VolumeIops | VolumeThroughput | InstanceEbsBandwidth);
    let mut uses = cell.limit.uses.iter();
    uses.find(|used| is_volume && used.kind == kind && used.at_cap)
}

/// The finding with what the evidence has to say about it: what an operation needed less of, and whether that was bought or asked for.
fn explained(together: &Together<'_>, cell: &CellAnalysis, over: &CellAnalysis, mut found: Finding) -> Finding {
    let less = |figure: fn(&CellAnalysis) -> Option<f64>| {
        let (of_cell, of_other) = (figure(cell)?, figure(over)?);
        (of_cell < of_other * (1.0 - DIFFERS)).then_some((of_other, of_cell))
    };
    let mut needs_less = |name: &str, needed: Option<(f64, f64)>| {
        if let Some((before, now)) = needed {
            found.numbers.insert(format!("{name}_over"), before);
            found.numbers.insert(name.to_owned(), now);
        }
        needed.is_some()
    };
    let reads = needs_less("device_reads_per_operation", less(|c| c.device_reads_per_operation));
    let writes = needs_less("device_writes_per_operation", less(|c| c.device_writes_per_operation));
    let ran_on_credits = cell
        .findings
        .iter()
        .any(|f| matches!(f.rule, Rule::BurstOnly | Rule::BurstChanged));
    let by_purchase = if ran_on_credits {
        Some("credits")
    } else if reads && !together.has_same_page_cache(cell, over) {
        Some("memory")
    } else if reads && together.is_cold_by_plan(cell) {
        Some("cold_start")
    } else {
        None
    };
    let because = match (reads, writes) {
        (true, _) => "page_cache",
        (false, true) => "compaction",
        (false, false) => "nothing",
    };
    found = found.with("because", because);
    match by_purchase {
        Some(why) => found.with(EXPLAINED_BY_PURCHASE, why),
        None => found,
    }
}
