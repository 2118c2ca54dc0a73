//! The cells of a workload.

use analysis::{CellAnalysis, Ratio, Unit};

use super::table::{Column, fitted, folded};
use crate::figures::{MISSING, bar, number, optional, percent};
use crate::labels;

const BAR_WIDTH: usize = 8;

/// What is left out first where a terminal is narrow.
const DROPPED: [&str; 11] = [
    "bar", "used", "sstables", "mean", "p99.9", "p95", "cache", "p50", "reads", "errors", "limit",
];

/// The load of all cells where it is one, for the table's title: `; 64 in flight`.
pub fn common_load(cells: &[&CellAnalysis]) -> String {
    match has_one_load(cells) {
        true => cells
            .first()
            .map_or_else(String::new, |c| format!("; {}", labels::load(c.load))),
        false => String::new(),
    }
}

fn has_one_load(cells: &[&CellAnalysis]) -> bool {
    cells.iter().all(|c| c.load == cells[0].load)
}

/// The fullest table that fits.
pub fn table(cells: &[&CellAnalysis], width: usize) -> String {
    fitted(width, &DROPPED, |name| columns(cells, name))
}

fn columns(cells: &[&CellAnalysis], name: usize) -> Vec<Column> {
    let each = |show: &dyn Fn(&CellAnalysis) -> String| cells.iter().map(|c| show(c)).collect::<Vec<String>>();
    let mut columns = vec![Column::text(
        "configuration",
        "Configuration",
        each(&|c| folded(&c.configuration, name)),
    )];
    if !has_one_load(cells) {
        columns.push(Column::text(
            "load",
            "In flight\nor rate",
            each(&|c| labels::short_load(c.load).replace(" Poisson", "\nPoisson")),
        ));
    }
    columns.push(Column::numbers(
        "throughput",
        "Operations/s\ngeo. mean",
        each(&throughput),
    ));
    let operation = |c: &CellAnalysis| by_kind(c, |kind, _| labels::operation(kind));
    columns.push(Column::text("operation", "Operation", each(&operation)));
    for percentile in ["mean", "p50", "p95", "p99", "p99.9"] {
        let show = |c: &CellAnalysis| by_kind(c, |_, latency| labels::percentile_ms(latency, percentile));
        columns.push(Column::numbers(
            percentile,
            &format!("{percentile}\nms\nmed."),
            each(&show),
        ));
    }
    let page_cache = |c: &CellAnalysis| c.page_cache_share.map_or_else(|| MISSING.to_owned(), percent);
    columns.push(Column::numbers("errors", "Errors", each(&labels::errors)));
    let reads = |c: &CellAnalysis| optional(c.device_reads_per_operation);
    columns.push(Column::numbers("reads", "Disk\nreads/op.", each(&reads)));
    if cells.iter().any(|c| c.database.sstables_per_read.is_some()) {
        let sstables = |c: &CellAnalysis| optional(c.database.sstables_per_read);
        columns.push(Column::numbers("sstables", "SSTables\n/read", each(&sstables)));
    }
    columns.push(Column::numbers("cache", "Page\ncache", each(&page_cache)));
    let limit = |c: &CellAnalysis| {
        let kind = c.limit.kind.words().replacen(' ', "\n", 1);
        match c.limit.nodes.is_empty() {
            true => kind,
            false => format!("{kind}\n{}", labels::nodes_at(&c.limit)),
        }
    };
    columns.push(Column::text("limit", "Limit", each(&limit)));
    if cells.iter().any(|c| c.delivered.is_some()) {
        columns.push(Column::text("used", "Volume\nused", each(&used)));
    }
    let slowest = |c: &CellAnalysis| {
        c.ratio_to_slowest
            .as_ref()
            .map_or_else(|| MISSING.to_owned(), to_slowest)
    };
    columns.push(Column::text("slowest", "To slowest", each(&slowest)));
    let ratios = || cells.iter().filter_map(|c| c.ratio_to_slowest.as_ref());
    let fastest = ratios().map(|r| r.median).fold(0.0, f64::max);
    let bars = |c: &CellAnalysis| {
        let ratio = c.ratio_to_slowest.as_ref();
        ratio.map_or_else(String::new, |r| bar(r.median, fastest, BAR_WIDTH))
    };
    columns.push(Column::text("bar", "", each(&bars)));
    columns
}

/// One line for each kind of operation.
fn by_kind(
    cell: &CellAnalysis,
    show: impl Fn(analysis::OperationKind, &analysis::LatencyAnalysis) -> String,
) -> String {
    match cell.latency_us.is_empty() {
        true => MISSING.to_owned(),
        false => cell
            .latency_us
            .iter()
            .map(|(kind, l)| show(*kind, l))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

/// Of what the volumes deliver to fio.
fn used(cell: &CellAnalysis) -> String {
    cell.delivered.map_or_else(
        || MISSING.to_owned(),
        |of| match of.unit {
            Unit::BytesPerS => format!("{}\nof MB/s", percent(of.share())),
            _ => format!("{}\nof IOPS", percent(of.share())),
        },
    )
}

fn throughput(cell: &CellAnalysis) -> String {
    match cell.throughput_ops_per_s {
        None if cell.trials > 0 => "no valid trial".to_owned(),
        None => MISSING.to_owned(),
        Some(t) if t.low == t.high => number(t.median),
        Some(t) => format!("{}\n({}-{})", number(t.median), number(t.low), number(t.high)),
    }
}

fn to_slowest(ratio: &Ratio) -> String {
    if let Some(reported) = labels::carried(ratio, ratio.low, ratio.high) {
        return reported.replace("least ", "least\n").replace("most ", "most\n");
    }
    let interval = match ratio.pairs < 2 || ratio.low == ratio.high {
        true => String::new(),
        false => format!("\n({}-{})", number(ratio.low), number(ratio.high)),
    };
    format!("{}x{interval}", number(ratio.median))
}
