//! Every figure of every cell. Each number has a cell of its own on the page, its unit in the head, so that a table
//! pastes into a spreadsheet; a terminal has a shorter table.

use analysis::{Analysis, CellAnalysis, Charts, LONGEST, LatencyAnalysis, LatencyFigure, OperationKind, Ratio, Unit};

use super::columns::estimate;
use crate::document::html::id;
use crate::document::section::Section;
use crate::document::table::{Cell, Form, Rows, between, column, range, rows};
use crate::document::text::{Text, link};
use crate::figures::{ms, percent};
use crate::labels;

/// How the figures are made.
const KEY: &str = "Operations/s: geometric mean (95 % interval) of the cell's own valid repetitions; with fewer than \
                   three the observed range. Ratios: intervals adjusted for all comparisons (97.5 % or wider), spread \
                   pooled over cells. Latencies (each trial's percentile), disk reads and page cache: median over \
                   repetitions.";

/// The whole section.
pub fn section<'a>(analysis: &'a Analysis, charts: &'a Charts) -> Section<'a> {
    let mut section = Section::new("results", "Results").mostly(Form::ROOMY);
    for workload in &analysis.workloads {
        let cells: Vec<&CellAnalysis> = analysis.cells.iter().filter(|c| c.workload == workload.name).collect();
        if cells.is_empty() {
            continue;
        }
        section = section
            .heading(&*workload.name)
            .paragraph(&*workload.description)
            .table(throughput(analysis, charts, &cells))
            .list(excluded(charts, &cells))
            .table(latency(&cells))
            .list(conditions(&cells))
            .on(Form::ALL)
            .table(short(analysis, format!("{}: {}", workload.name, workload.description), &cells))
            .on(Form::TERMINAL);
    }
    if section.parts.is_empty() {
        return section.paragraph("No cell has been planned.");
    }
    let few = "~ before a percentile: a trial has fewer than 100 samples beyond it.";
    let few = labels::any_unsupported(analysis).then_some(few);
    std::iter::once(KEY).chain(few).fold(section, |section, key| section.key(key).on(Form::ALL))
}

/// What the cell did: throughput, against the baseline, errors, operations for a dollar.
fn throughput<'a>(analysis: &Analysis, charts: &Charts, cells: &[&'a CellAnalysis]) -> Rows<&'a CellAnalysis> {
    let interval = |ratio: Option<&Ratio>| ratio.map(|r| range(r.median, r.low, r.high));
    let baseline = |c: &&'a CellAnalysis| c.ratio_to_baseline.as_ref();
    let of_models: &'static [Form] = if analysis.scale == 1.0 { &[] } else { Form::ROOMY };
    rows(format!("Throughput, and its ratio to the baseline, {}", analysis.baseline), cells.iter().copied())
        .class("dense")
        .anchor(|c| id(&["cell", &c.id]))
        .text("Configuration", |c| {
            let is_drawn = charts.trials.iter().any(|t| t.cell == c.id);
            link(&*c.configuration, is_drawn.then(|| id(&["time", &c.id])))
        })
        .text(column("Load").varies(), |c| labels::load(c.load))
        .text("Verdict", |c| baseline(c).map(|r| r.verdict.words()))
        .number("Trials", |c| c.trials)
        .number("valid", |c| c.valid_trials)
        .range(format!("Op/s{}, geo. mean", labels::in_model(analysis.scale)), |c| estimate(c.throughput_ops_per_s))
        .number(column("Op/s at full scale, est.").on(of_models), |c| {
            Some(c.throughput_ops_per_s?.median * analysis.scale)
        })
        .range("To baseline, x", |c| interval(baseline(c)))
        .number(column("To slowest").on(Form::MARKDOWN), |c| labels::ratio(c.ratio_to_slowest.as_ref()))
        .number("Detectable, x", |c| baseline(c).and_then(|r| r.smallest_detectable))
        .number("Runtime, s, median", |c| c.runtime_s.map(|s| s.median))
        .number("Errors", |c| (c.valid_trials > 0).then(|| c.errors.values().sum::<u64>()))
        .number("Errors, %", |c| c.error_share.map(|share| share * 100.0))
        .number(format!("Op/${}", labels::at_full_scale(analysis)), |c| c.operations_per_usd)
}

/// Trials of these cells that enter no figure, and why.
fn excluded(charts: &Charts, cells: &[&CellAnalysis]) -> Vec<Text> {
    let of_cell = |cell: &CellAnalysis| -> Vec<Text> {
        let of_trial = |trial: &analysis::InvalidTrial| {
            let is_drawn = charts.trials.iter().any(|t| t.cell == cell.id && t.block == trial.block);
            let target = || id(&["trial", &cell.id, &trial.block.to_string()]);
            let name = link(format!("{}/{}", cell.id, trial.block), is_drawn.then(target));
            name.then(format!(" enters no figure: {}", trial.reason))
        };
        cell.trials_invalid.iter().map(of_trial).collect()
    };
    cells.iter().flat_map(|cell| of_cell(cell)).collect()
}

/// Above this share of conditions that are not met a statement is rather a read than a write.
const MOSTLY_UNMET: f64 = 0.5;

/// Statements of these cells that mostly wrote nothing.
fn conditions(cells: &[&CellAnalysis]) -> Vec<String> {
    let of_cell = |cell: &CellAnalysis| -> Vec<String> {
        let mostly = cell.unmet_share.iter().filter(|(_, share)| **share > MOSTLY_UNMET);
        let said = |(kind, share): (&OperationKind, &f64)| {
            format!(
                "{} of {}: the condition of {} of the requests was not met, so that these wrote nothing, which costs \
                 less. Give its table more partitions than there are requests, or choose them `uniform`, if they are \
                 to write.",
                labels::operation(*kind),
                cell.id,
                percent(*share)
            )
        };
        mostly.map(said).collect()
    };
    cells.iter().flat_map(|cell| of_cell(cell)).collect()
}

/// A cell, what its operations are called, the share of conditions that were not met, and what they took.
type Latency<'a> = (&'a CellAnalysis, String, Option<f64>, &'a LatencyAnalysis);

fn latency<'a>(cells: &[&'a CellAnalysis]) -> Rows<Latency<'a>> {
    let of_cell = |cell: &&'a CellAnalysis| {
        let cell = *cell;
        let unmet = |kind: &OperationKind| cell.unmet_share.get(kind).copied();
        let response = cell.latency_us.iter().map(|(kind, l)| (labels::operation(*kind), unmet(kind), l));
        let service = |kind: &OperationKind| format!("{}, service", labels::operation(*kind));
        let service = cell.service_us.iter().map(|(kind, l)| (service(kind), None, l));
        response.chain(service).map(|(kind, unmet, l)| (cell, kind, unmet, l)).collect::<Vec<Latency<'a>>>()
    };
    let what = match cells.iter().any(|c| !c.service_us.is_empty()) {
        true => "Response times from the moment a request was due, and service times from the moment it was sent",
        false => "Response times",
    };
    let label =
        format!("{what}, ms: medians over repetitions of each trial's figure; of p99 the smallest and the largest too");
    let table = rows(label, cells.iter().flat_map(of_cell))
        .text("Configuration", |(cell, ..)| cell.configuration.clone())
        .text(column("Load").varies(), |(cell, ..)| labels::load(cell.load))
        .text("Operation", |(_, kind, ..)| kind.clone())
        .number("Samples/trial", |(.., l)| l.samples)
        .number(column("Not applied").on(where_any(cells, |c| !c.unmet_share.is_empty())), |(.., unmet, _)| {
            unmet.map(percent)
        });
    let table = LatencyFigure::ALL.into_iter().fold(table, |table, figure| {
        if figure != LatencyFigure::P99 {
            return table.number(figure.label(), |(.., l)| labels::latency_ms(l, figure));
        }
        table.range(figure.label(), |(.., l)| {
            let ends = l.spread.get(figure.name()).map(|s| (s.low / 1e3, s.high / 1e3));
            between(labels::latency_ms(l, figure), ends)
        })
    });
    table.number(LONGEST, |(.., l)| ms(l.max))
}

/// Where a column is shown: nowhere if it is about none of these cells.
fn where_any(cells: &[&CellAnalysis], of: fn(&CellAnalysis) -> bool) -> &'static [Form] {
    if cells.iter().any(|c| of(c)) { Form::ALL } else { &[] }
}

/// For a terminal: a line for each kind of operation, and what limited the cell.
fn short<'a>(analysis: &Analysis, label: String, cells: &[&'a CellAnalysis]) -> Rows<&'a CellAnalysis> {
    let of_models: &'static [Form] = if analysis.scale == 1.0 { &[] } else { Form::ALL };
    let table = rows(label, cells.iter().copied())
        .text("Configuration", |c| c.configuration.clone())
        .text(column("Load").varies(), |c| labels::load(c.load).replacen(' ', "\n", 1))
        .number(format!("Operations/s{}, geo. mean", labels::in_model(analysis.scale)), |c| -> Cell {
            match (c.throughput_ops_per_s, c.trials) {
                (None, 1..) => "no valid trial".into(),
                (throughput, _) => estimate(throughput).into(),
            }
        })
        .number(column("at full scale, est.").drop(4).on(of_models), |c| {
            Some(c.throughput_ops_per_s?.median * analysis.scale)
        })
        .text("Operation", |c| by_kind(c, |kind, _| labels::operation(kind)));
    // In the order of the figures: when each falls away.
    let drops = [9, 5, 7, 0, 8];
    let table = LatencyFigure::ALL.into_iter().zip(drops).fold(table, |table, (figure, drop)| {
        let head = column(format!("{}, ms, med.", figure.label())).drop(drop);
        table.number(head, |c| by_kind(c, |_, latency| labels::latency_ms(latency, figure)))
    });
    let table = table
        .number(column("Errors").drop(3), |c| labels::errors(c))
        .number(column("Disk reads/op.").drop(4), |c| c.device_reads_per_operation);
    let reported = cells.iter().find_map(|c| c.database.product()).map_or(&[][..], |product| product.figures);
    let known = reported.iter().filter(|figure| cells.iter().any(|c| c.database.get(figure).is_some()));
    let table = known.fold(table, |table, figure| match figure.in_results {
        Some((head, drop)) => {
            table.number(column(head).drop(drop), |c| Some(c.database.get(figure)? * figure.shown_times))
        }
        None => table,
    });
    table
        .number(column("Page cache").drop(6), |c| c.page_cache_share.map(percent))
        .text(column("Limit").drop(2), |c| {
            let kind = c.limit.kind.words().replacen(' ', "\n", 1);
            if c.limit.nodes.is_empty() { kind } else { format!("{kind}\n{}", labels::nodes_at(&c.limit)) }
        })
        .text(column("Volume used").drop(11).on(where_any(cells, |c| c.delivered.is_some())), |c| {
            c.delivered.map(|of| match of.unit {
                Unit::BytesPerS => format!("{}\nof MB/s", percent(of.share())),
                _ => format!("{}\nof IOPS", percent(of.share())),
            })
        })
        .number("To slowest", |c| labels::ratio(c.ratio_to_slowest.as_ref()))
}

/// One line for each kind of operation.
fn by_kind(cell: &CellAnalysis, show: impl Fn(OperationKind, &LatencyAnalysis) -> String) -> Option<String> {
    let lines: Vec<String> = cell.latency_us.iter().map(|(kind, l)| show(*kind, l)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
