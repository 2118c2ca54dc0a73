//! What limited each cell: a map, configurations beside each other and a row for each workload and load, on which a
//! cell without a valid trial, or without any, is seen as such; then the numbers, and nodes and data volumes side by
//! side.

use analysis::{Analysis, CellAnalysis, LimitKind, NodeAnalysis, ResourceUse};
use serde_json::json;

use super::columns::{place, placed};
use crate::csv::iops;
use crate::document::html::escaped;
use crate::document::section::Section;
use crate::document::table::{Cell, Form, Rows, rows};
use crate::document::text::{Text, small, strong};
use crate::figures::{MIB, several};
use crate::labels;
use crate::wording::limits;

/// Different reasons of one cell that are printed; all of them stand with its trials.
const REASONS: usize = 2;

/// The whole section.
pub fn section(analysis: &Analysis) -> Section<'_> {
    let section = Section::new("limits", "What limited it").mostly(Form::ROOMY);
    if analysis.cells.is_empty() {
        return section.paragraph("No cell has been planned.");
    }
    let numbers = placed("", &analysis.cells, |c| place(c))
        .text("Limit", |c| strong(labels::limit_here(analysis, &c.limit)))
        .text("Numbers", |c| limits::of_cell(analysis, c));
    let without = analysis.cells.iter().filter(|c| c.trials > 0 && c.valid_trials == 0);
    let without = without.map(|c| format!("{}: no valid trial of {}: {}", c.id, c.trials, reasons(c)));
    let used = "Used: of what was really there, in the middle window of a trial. Confirmed: a configuration of this \
                matrix with more of this resource alone, on volumes of the same kind, was faster; not confirmed: more \
                of it alone showed no gain, or its repetitions do not say.";
    section
        .table(map(analysis))
        .on(Form::PAGE)
        .drawn(move || legend(analysis))
        .key(used)
        .on(Form::PAGE)
        .list(without)
        .table(numbers)
        .folded("The numbers of each cell", false)
        .table(nodes(analysis))
        .table(data_volumes(analysis))
}

fn map(analysis: &Analysis) -> Rows<(&str, analysis::LoadLevel)> {
    let map = rows("", labels::places(analysis))
        .class("map lims")
        .text("Workload", |(workload, _)| (*workload).to_owned())
        .text("Load", |(_, load)| labels::load(*load));
    let configurations = analysis.configurations.iter();
    configurations.fold(map, |map, c| {
        map.text(&*c.name, |(workload, load)| cell(analysis, analysis.cell(&c.name, workload, *load)))
    })
}

fn cell(analysis: &Analysis, cell: Option<&CellAnalysis>) -> Cell {
    let Some(cell) = cell else { return Cell::styled("-", "lim none", "not part of the experiment") };
    match (cell.valid_trials, cell.trials) {
        (0, 0) => return Cell::styled("not measured", "lim hatch", "no trial of this cell is in place"),
        (0, _) => return Cell::styled("no valid trial", "lim hatch bad", reasons(cell)),
        _ => {}
    }
    let limit = &cell.limit;
    let used = limits::fullest(limit, limit.kind).map(|u| format!("{:.0} % used", u.share().min(9.99) * 100.0));
    let confirmed = limits::is_confirmed(limit).map(|is| if is { "confirmed" } else { "not confirmed" }.to_owned());
    let also: Vec<&str> = limit.also.iter().map(|kind| kind.words()).collect();
    let also = (!also.is_empty()).then(|| format!("also {}", also.join(", ")));
    let invalid = (cell.valid_trials < cell.trials).then(|| {
        let invalid = cell.trials - cell.valid_trials;
        format!("{invalid} of {} invalid", several(cell.trials, "trial"))
    });
    let below: Vec<String> = [used, confirmed, also, invalid].into_iter().flatten().collect();
    let words = Text::from(labels::limit_here(analysis, limit)).then(small(below.join(", ")));
    Cell::styled(words, format!("lim {}", class(limit.kind)), limits::message(limit))
}

/// `k-volume_iops`.
fn class(kind: LimitKind) -> String {
    format!("k-{}", json!(kind).as_str().unwrap_or_default())
}

/// The kinds on the map; hatched is what has no figure.
fn legend(analysis: &Analysis) -> String {
    let valid = analysis.cells.iter().filter(|c| c.valid_trials > 0);
    let kinds: std::collections::BTreeSet<LimitKind> = valid.map(|c| c.limit.kind).collect();
    let kinds = kinds.into_iter().map(|kind| (class(kind), kind.words()));
    let has = |of: fn(&CellAnalysis) -> bool| analysis.cells.iter().any(of);
    let invalid = has(|c| c.valid_trials == 0 && c.trials > 0).then_some(("hatch bad".to_owned(), "no valid trial"));
    let missing = has(|c| c.trials == 0).then_some(("hatch".to_owned(), "not measured"));
    let item = |(class, words): (String, &str)| format!("<li><i class=\"sw {class}\"></i>{}", escaped(words));
    let items: String = kinds.chain(invalid).chain(missing).map(item).collect();
    format!("<ul class=\"legend\">{items}</ul>\n")
}

fn reasons(cell: &CellAnalysis) -> String {
    let mut reasons: Vec<&str> = cell.trials_invalid.iter().map(|t| t.reason.as_str()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let more = reasons.len().saturating_sub(REASONS);
    reasons.truncate(REASONS);
    match (reasons.is_empty(), more) {
        (true, _) => "the reasons are in its trial.json files".to_owned(),
        (false, 0) => reasons.join("; "),
        (false, more) => format!("{}; and {} more", reasons.join("; "), several(more as u64, "reason")),
    }
}

/// The nodes of a cell side by side, where its database has several.
fn nodes(analysis: &Analysis) -> Rows<(&CellAnalysis, &NodeAnalysis)> {
    let label = "The nodes of each cell, medians over repetitions; shares are of what the node really had, in the \
                 middle window of a trial";
    let nodes = analysis.cells.iter().flat_map(|cell| cell.nodes.iter().map(move |node| (cell, node)));
    let percent = |used: Option<&ResourceUse>| used.map(|u| u.share() * 100.0);
    placed(label, nodes, |(cell, _)| place(cell))
        .class("dense")
        .text("Node", |(_, node)| node.host.to_string())
        .number("CPUs", |(_, node)| node.cpus_used)
        .number("CPU, %", |(_, node)| percent(node.fullest(LimitKind::Cpu)))
        .number("Read IOPS", |(_, node)| node.device_read_iops)
        .number("Write IOPS", |(_, node)| node.device_write_iops)
        .number("of IOPS limit, %", |(_, node)| percent(iops(node)))
        .number("Page cache, MiB", |(_, node)| node.page_cache_bytes.map(|bytes| bytes / MIB))
        .number("Data on disk, MiB", |(_, node)| node.bytes_on_disk / MIB)
        .text("At the cell's limit", |(cell, node)| {
            cell.limit.nodes.contains(&node.host).then(|| cell.limit.kind.words())
        })
}

/// The data volumes of a node side by side, where it has several.
fn data_volumes(analysis: &Analysis) -> Rows<(&CellAnalysis, &analysis::DataVolumeAnalysis)> {
    let label = "The data volumes of each cell, medians over repetitions; a request's time is the kernel's, from its \
                 queue to its end; requests of a RAID 0 are those of its members, split where chunks end";
    let cells = analysis.cells.iter();
    let volumes = cells.flat_map(|cell| cell.data_volumes.iter().map(move |volume| (cell, volume)));
    placed(label, volumes, |(cell, _)| place(cell))
        .class("dense")
        .text("Node", |(_, volume)| volume.host.to_string())
        .text("Volume", |(_, volume)| volume.volume.name())
        .number("Read IOPS", |(_, volume)| volume.read_iops)
        .number("Write IOPS", |(_, volume)| volume.write_iops)
        .number("MB/s read", |(_, volume)| volume.read_bytes_per_s.map(|bytes| bytes / 1e6))
        .number("MB/s written", |(_, volume)| volume.write_bytes_per_s.map(|bytes| bytes / 1e6))
        .number("A request, ms", |(_, volume)| volume.await_us.map(|us| us / 1e3))
        .number("Busy, %", |(_, volume)| volume.busy_share.map(|share| share * 100.0))
}
