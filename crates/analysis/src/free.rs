//! Free before paid: of configurations that cost the same, which is the fastest, and which more expensive one does it replace?
//!
//! Settings cost nothing, so that a configuration and its variants have one price. Verdicts are those of the comparisons
//! that every other sentence is read from.

use spec::LoadLevel;

use crate::comparisons::{Comparisons, is_open, places};
use crate::document::{CellAnalysis, FreeStep, Replaced, Spending, Spent, Verdict};
use crate::value::{Priced, kept_its_writes, priced};

/// Prices closer than this are one: half a cent.
const SAME_PRICE_USD: f64 = 0.005;

/// All of them, by workload and load level, cheapest first. Only closed loops: at a given rate throughput says nothing.
pub fn steps(cells: &[CellAnalysis], throughput: &Comparisons) -> Vec<FreeStep> {
    let mut steps = Vec::new();
    for (workload, load, members) in places(cells) {
        if is_open(load) {
            continue;
        }
        let judged: Vec<usize> = members.into_iter().filter(|i| is_judged(cells, *i)).collect();
        let all = priced(cells, &judged, throughput);
        let mut rest = all.as_slice();
        while let Some(first) = rest.first() {
            let same = |p: &Priced| (p.usd - first.usd).abs() < SAME_PRICE_USD;
            let (group, dearer) = rest.split_at(rest.iter().take_while(|p| same(p)).count());
            steps.extend(of_group(cells, throughput, (&workload, load), group, dearer));
            rest = dearer;
        }
    }
    steps
}

/// Nothing is said of what was not measured in its sustained state, or lost acknowledged writes.
fn is_judged(cells: &[CellAnalysis], cell: usize) -> bool {
    cells[cell].withheld.is_none() && kept_its_writes(cells, cell)
}

fn of_group(
    cells: &[CellAnalysis],
    throughput: &Comparisons,
    (workload, load): (&str, LoadLevel),
    group: &[Priced],
    dearer: &[Priced],
) -> Option<FreeStep> {
    // Cells stand in the order of the experiment.
    let from = group.iter().min_by_key(|p| p.cell)?;
    let others = || group.iter().filter(|p| p.cell != from.cell);
    let to = others().max_by(|a, b| a.figure.total_cmp(&b.figure))?;
    let ratio = throughput.ratio(to.cell, from.cell)?;
    let name = |p: &Priced| cells[p.cell].configuration.clone();
    let mut tried: Vec<&Priced> = others().collect();
    tried.sort_by_key(|p| p.cell);
    let is_shown = ratio.verdict == Verdict::Faster;
    let replaced = dearer.iter().filter(|_| is_shown).filter_map(|other| {
        let ratio = throughput.ratio(to.cell, other.cell)?;
        matches!(ratio.verdict, Verdict::Faster | Verdict::Same).then(|| Replaced {
            configuration: name(other),
            extra_usd_per_month: other.usd - to.usd,
            throughput_ratio: ratio,
        })
    });
    Some(FreeStep {
        workload: workload.to_owned(),
        load,
        usd_per_month: from.usd,
        from: name(from),
        to: name(to),
        tried: tried.into_iter().map(name).collect(),
        per_operation: spent(&cells[from.cell], &cells[to.cell]),
        replaces: replaced.collect(),
        throughput_ratio: ratio,
    })
}

fn spent(from: &CellAnalysis, to: &CellAnalysis) -> Vec<Spent> {
    let cpu_us = |cell: &CellAnalysis| {
        let throughput = cell.throughput_ops_per_s.as_ref()?.median;
        Some(stats::ratio(cell.database_cpus_used?, throughput)? * 1e6)
    };
    [
        (
            Spending::DeviceReads,
            from.device_reads_per_operation,
            to.device_reads_per_operation,
        ),
        (
            Spending::DeviceReadBytes,
            from.device_read_bytes_per_operation,
            to.device_read_bytes_per_operation,
        ),
        (
            Spending::DeviceWriteBytes,
            from.device_write_bytes_per_operation,
            to.device_write_bytes_per_operation,
        ),
        (Spending::DatabaseCpuUs, cpu_us(from), cpu_us(to)),
    ]
    .into_iter()
    .filter_map(|(what, before, after)| {
        Some(Spent {
            what,
            before: before?,
            after: after?,
        })
    })
    .collect()
}
