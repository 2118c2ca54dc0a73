//! Planned faults: each cell before, during and after them, with what caches answered where there are some, a
//! compaction with configurations side by side, what happened in sentences, and throughput and tail latency over time
//! with the fault's seconds shaded.

use analysis::{Analysis, CellAnalysis, Charts, FaultAnalysis, NodeFaultKind, PhaseAnalysis, PhaseKind, Summary};

use super::columns::{place, placed};
use crate::answer::cell_name;
use crate::charts::faults::drawn;
use crate::document::section::Section;
use crate::document::table::{Cell, Form, Rows, between, column, range};
use crate::figures::{MIB, count, number, percent};
use crate::wording::faults::{CACHE_TITLE, METHOD_OF_CACHES, kinds, method, phase, sentences, title};

/// Empty where no fault was planned.
pub fn section<'a>(analysis: &'a Analysis, charts: &'a Charts) -> Section<'a> {
    let faults = analysis.cells.iter().filter_map(|c| c.faults.as_ref());
    let any = |of: fn(NodeFaultKind) -> bool| faults.clone().flat_map(|f| &f.faults).any(|f| of(f.kind));
    let title = match any(|kind| kind == NodeFaultKind::CacheKill) {
        true => CACHE_TITLE,
        false => title(
            any(|kind| kind.takes_node_away()),
            any(|kind| kind.is_of_disk()),
            any(|kind| kind == NodeFaultKind::Compaction),
        ),
    };
    let section = Section::new("away", title);
    if analysis.cells.iter().all(|c| c.faults.is_none() && c.writes.is_none()) {
        return section;
    }
    let method = if asks_caches(analysis) { format!("{} {METHOD_OF_CACHES}", method()) } else { method() };
    let section = section.table(phases(analysis)).key(method).table(compactions(analysis));
    let section = analysis.cells.iter().fold(section, |section, cell| match sentences(cell) {
        none if none.is_empty() => section,
        sentences => section.heading(cell_name(analysis, cell)).list(sentences),
    });
    section.drawn(move || drawn(analysis, charts))
}

/// A cell in one of its phases, and the phase's name.
type Phase<'a> = (&'a CellAnalysis, &'a PhaseAnalysis, String);

/// Whether reads asked caches in front of a database first.
fn asks_caches(analysis: &Analysis) -> bool {
    analysis.cells.iter().flat_map(phases_of).any(|(_, p, _)| p.hit_ratio.is_some())
}

fn phases(analysis: &Analysis) -> Rows<Phase<'_>> {
    let label =
        "Before, during and after: medians over repetitions with the lowest and highest; errors of all repetitions";
    let table = placed(label, analysis.cells.iter().flat_map(phases_of), |(cell, ..)| place(cell))
        .class("dense")
        .text("Phase", |(.., name)| name.clone())
        .middle(column("Seconds").drop(2), |(_, p, _)| with_ends(p.seconds, 1.0))
        .range("Operations/s, median", |(_, p, _)| with_ends(p.throughput_ops_per_s, 1.0))
        .middle(column("p50, ms").drop(1), |(_, p, _)| with_ends(p.p50_us, 1e3))
        .middle(column("p95, ms").drop(3), |(_, p, _)| with_ends(p.p95_us, 1e3))
        .range("p99, ms", |(_, p, _)| with_ends(p.p99_us, 1e3));
    let table = match asks_caches(analysis) {
        true => table
            .middle(column("Hits, % of reads").drop(1), |(_, p, _)| with_ends(p.hit_ratio, 0.01))
            .middle(column("Device reads/s").drop(2), |(_, p, _)| with_ends(p.device_reads_per_s, 1.0)),
        false => table,
    };
    table
        .number(column("Errors").on(Form::MARKDOWN), |(_, p, _)| errors(p))
        .text(column("Errors").on(Form::TERMINAL), |(_, p, _)| {
            let all = errors(p).map(|all| std::iter::once(all).chain(kinds(p)));
            all.map(|lines| lines.collect::<Vec<String>>().join("\n"))
        })
        .number(column("Errors").on(Form::PAGE), |(_, p, _)| (p.operations > 0).then(|| p.failed()))
        .number(column("Errors, %").on(Form::PAGE), |(_, p, _)| p.error_share.map(|share| share.median * 100.0))
        .text(column("Errors by kind").on(Form::ROOMY), |(_, p, _)| {
            let kinds = kinds(p).join(", ");
            (!kinds.is_empty()).then_some(kinds)
        })
}

fn phases_of(cell: &CellAnalysis) -> Vec<Phase<'_>> {
    let faults = cell.faults.iter();
    let phases = faults.flat_map(|of| of.phases.iter().map(|p| (cell, p, phase(p, of.faults.len()))));
    phases.collect()
}

/// Failed operations with their share: `1,203 (2.1 %)`; nothing is known where nothing ended.
fn errors(phase: &PhaseAnalysis) -> Option<String> {
    match (phase.operations, phase.failed(), phase.error_share) {
        (0, ..) => None,
        (_, 0, _) | (_, _, None) => Some(count(phase.failed())),
        (_, failed, Some(share)) => Some(format!("{} ({})", count(failed), percent(share.median))),
    }
}

/// A figure with its lowest and highest over repetitions.
fn with_ends(figure: Option<Summary>, unit: f64) -> Option<Cell> {
    figure.map(|s| range(s.median / unit, s.low / unit, s.high / unit))
}

/// A cell in which a node compacted, and its phases before, during and after that.
struct Compaction<'a> {
    cell: &'a CellAnalysis,
    fault: &'a FaultAnalysis,
    phases: [Option<&'a PhaseAnalysis>; 3],
}

/// How long it took, and what it left of throughput and latency: the effect of a setting in one table. None where there
/// is nothing to set beside another.
fn compactions(analysis: &Analysis) -> Rows<Compaction<'_>> {
    let mut all: Vec<Compaction<'_>> = analysis.cells.iter().filter_map(compaction).collect();
    if all.len() < 2 {
        all.clear();
    }
    let label = "The compaction, configurations side by side; medians (lowest to highest) over valid repetitions";
    let ops = |of: &Compaction<'_>, at: usize| with_ends(of.phases[at]?.throughput_ops_per_s, 1.0);
    let p99 = |of: &Compaction<'_>, at: usize| with_ends(of.phases[at]?.p99_us, 1e3);
    let table = placed(label, all, |of| place(of.cell))
        .class("dense")
        .middle("Took, s", took)
        .middle(column("Written, MiB").drop(5), |of| with_ends(of.fault.compacted_bytes, MIB))
        .number(column("MiB/s").drop(1), |of| {
            let written = of.fault.compacted_bytes?.median / MIB;
            over(written, of.fault.away_s?.median)
        });
    table
        .middle("Op/s before", |of| ops(of, 0))
        .middle("Op/s during", |of| ops(of, 1))
        .number("during / before", |of| {
            let during = of.phases[1]?.throughput_ops_per_s?.median;
            over(during, of.phases[0]?.throughput_ops_per_s?.median)
        })
        .middle(column("Op/s after").drop(2), |of| ops(of, 2))
        .middle(column("p99 before, ms").drop(4), |of| p99(of, 0))
        .middle("p99 during, ms", |of| p99(of, 1))
        .middle(column("p99 after, ms").drop(3), |of| p99(of, 2))
}

fn over(of: f64, to: f64) -> Option<f64> {
    (to > 0.0).then(|| of / to)
}

fn took(of: &Compaction<'_>) -> Cell {
    let fault = of.fault;
    match (fault.away_s, fault.not_back) {
        (None, _) => "not done".into(),
        (took, 0) => with_ends(took, 1.0).into(),
        (Some(took), n) => {
            let middle = format!("{}; not done in {n} of {}", number(took.median), fault.trials);
            between(middle, Some((took.low, took.high)))
        }
    }
}

fn compaction(cell: &CellAnalysis) -> Option<Compaction<'_>> {
    let faults = cell.faults.as_ref()?;
    let index = faults.faults.iter().position(|f| f.kind == NodeFaultKind::Compaction)?;
    let of_fault = |p: &&PhaseAnalysis| p.fault.is_some_and(|n| n as usize == index + 1);
    let phase = |kind: PhaseKind| faults.phases.iter().filter(of_fault).find(|p| p.phase == kind);
    // Before it is after the fault before it, if there was one.
    let start = faults.phases.iter().position(|p| of_fault(&p))?;
    Some(Compaction {
        cell,
        fault: &faults.faults[index],
        phases: [faults.phases[..start].last(), phase(PhaseKind::During), phase(PhaseKind::After)],
    })
}
