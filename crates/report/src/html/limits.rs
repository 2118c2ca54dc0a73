//! What limited each cell, as a heat map: configurations beside each other, a row for each workload and load. A cell
//! without a valid trial, or without any, is seen as such.

use analysis::{Analysis, CellAnalysis, LimitKind, LoadLevel};
use serde_json::json;

use super::element::{Table, text};
use crate::figures::several;
use crate::labels;
use crate::wording::limits;
use crate::{data_volumes, nodes};

/// Different reasons of one cell that are told; all of them stand with its trials.
const REASONS: usize = 2;

/// The map, its colours, what is invalid, and the numbers behind it.
pub fn limits(analysis: &Analysis) -> String {
    if analysis.cells.is_empty() {
        return "<p>No cell has been planned.</p>\n".to_owned();
    }
    format!(
        "{}{}{}<details><summary>The numbers of each cell</summary>\n{}</details>\n",
        map(analysis),
        key(analysis),
        invalid(analysis),
        numbers(analysis)
    ) + &side_by_side(
        "Node by node",
        Table::new(nodes::LABEL, &nodes::HEAD, nodes::TEXTS),
        nodes::rows(analysis),
    ) + &side_by_side(
        "Data volume by data volume",
        Table::new(data_volumes::LABEL, &data_volumes::HEAD, data_volumes::TEXTS),
        data_volumes::rows(analysis),
    )
}

/// What each cell has several of side by side, where one has any.
fn side_by_side(title: &str, table: Table, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return String::new();
    }
    let mut table = table.class("dense");
    for row in rows {
        table.row(&row.iter().map(|cell| text(cell)).collect::<Vec<_>>());
    }
    format!("<h3>{title}</h3>\n{}", table.html())
}

/// Workload and load of the cells, in the order of the experiment.
pub fn rows(analysis: &Analysis) -> Vec<(&str, LoadLevel)> {
    let mut rows = Vec::new();
    for cell in &analysis.cells {
        if !rows.contains(&(cell.workload.as_str(), cell.load)) {
            rows.push((cell.workload.as_str(), cell.load));
        }
    }
    rows
}

fn map(analysis: &Analysis) -> String {
    let configurations = || analysis.configurations.iter().map(|c| c.name.as_str());
    let head: Vec<&str> = ["Workload", "Load"].into_iter().chain(configurations()).collect();
    let mut table =
        Table::new("What limited each configuration under each workload and load", &head, 2).class("map lims");
    for (workload, load) in rows(analysis) {
        let mut row = vec![text(workload), text(&labels::load(load))];
        row.extend(configurations().map(|name| cell(analysis.cell(name, workload, load))));
        table.row(&row);
    }
    table.html()
}

fn cell(cell: Option<&CellAnalysis>) -> String {
    let Some(cell) = cell else {
        return "<td class=\"lim none\" title=\"not part of the experiment\">-</td>".to_owned();
    };
    if cell.valid_trials == 0 {
        let (words, why) = match cell.trials {
            0 => ("not measured", "no trial of this cell is in place".to_owned()),
            _ => ("no valid trial", reasons(cell)),
        };
        let tag = if cell.trials == 0 { "" } else { " bad" };
        return format!("<td class=\"lim hatch{tag}\" title=\"{}\">{words}</td>", text(&why));
    }
    let limit = &cell.limit;
    let used = limits::fullest(limit, limit.kind).map(|u| format!("{:.0} % used", u.share().min(9.99) * 100.0));
    let confirmed = match limits::is_confirmed(limit) {
        Some(true) => Some("confirmed".to_owned()),
        Some(false) => Some("not confirmed".to_owned()),
        None => None,
    };
    let also = (!limit.also.is_empty()).then(|| {
        let kinds: Vec<&str> = limit.also.iter().map(|kind| kind.words()).collect();
        format!("also {}", kinds.join(", "))
    });
    let invalid = (cell.valid_trials < cell.trials).then(|| {
        let invalid = cell.trials - cell.valid_trials;
        format!("{invalid} of {} invalid", several(cell.trials, "trial"))
    });
    let below: Vec<String> = [used, confirmed, also, invalid].into_iter().flatten().collect();
    format!(
        "<td class=\"lim {}\" title=\"{}\">{}<small>{}</small></td>",
        class(limit.kind),
        text(&limits::message(limit)),
        text(&labels::limit(limit)),
        text(&below.join(", "))
    )
}

/// `k-volume_iops`.
fn class(kind: LimitKind) -> String {
    format!("k-{}", json!(kind).as_str().unwrap_or_default())
}

/// The kinds on the map; hatched is what has no figure.
fn key(analysis: &Analysis) -> String {
    let mut kinds: Vec<LimitKind> = Vec::new();
    for cell in analysis.cells.iter().filter(|c| c.valid_trials > 0) {
        if !kinds.contains(&cell.limit.kind) {
            kinds.push(cell.limit.kind);
        }
    }
    kinds.sort();
    let mut items: Vec<String> = kinds
        .iter()
        .map(|kind| format!("<li><i class=\"sw {}\"></i>{}", class(*kind), text(kind.words())))
        .collect();
    let has = |of: fn(&CellAnalysis) -> bool| analysis.cells.iter().any(of);
    if has(|c| c.valid_trials == 0 && c.trials > 0) {
        items.push("<li><i class=\"sw hatch bad\"></i>no valid trial".to_owned());
    }
    if has(|c| c.trials == 0) {
        items.push("<li><i class=\"sw hatch\"></i>not measured".to_owned());
    }
    format!(
        "<ul class=\"legend\">{}</ul>\n<p class=\"soft\">Used: of what was really there, in the middle window of a trial. \
         Confirmed: a configuration of this matrix with more of this resource alone was faster; not confirmed: more of it \
         alone showed no gain, or its repetitions do not say.</p>\n",
        items.concat()
    )
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

/// The reasons of cells that have trials and no figure, for those who cannot point at a cell.
fn invalid(analysis: &Analysis) -> String {
    let without = analysis.cells.iter().filter(|c| c.trials > 0 && c.valid_trials == 0);
    let items: String = without
        .map(|cell| {
            format!(
                "<li>{}: no valid trial of {}: {}</li>\n",
                text(&cell.id),
                cell.trials,
                text(&reasons(cell))
            )
        })
        .collect();
    match items.is_empty() {
        true => items,
        false => format!("<ul>{items}</ul>\n"),
    }
}

fn numbers(analysis: &Analysis) -> String {
    let mut table = Table::new(
        "The resource that bounded each cell",
        &["Configuration", "Workload", "Load", "Limit", "Numbers"],
        5,
    );
    for cell in &analysis.cells {
        table.row(&[
            text(&cell.configuration),
            text(&cell.workload),
            text(&labels::load(cell.load)),
            format!("<b>{}</b>", text(&labels::limit(&cell.limit))),
            text(&limits::of_cell(cell)),
        ]);
    }
    table.html()
}
