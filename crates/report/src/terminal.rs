//! The end of a run in a terminal: one table for each workload, then the findings.

use analysis::{Analysis, CellAnalysis, Severity};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::figures::{MISSING, bar, number, optional, percent};
use crate::findings::grouped;
use crate::labels;

/// How the text may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Columns of the terminal; tables leave out what does not fit.
    pub width: u16,
    /// ANSI colours.
    pub color: bool,
}

const BAR_WIDTH: usize = 8;

/// Tables and findings, ending with a newline.
pub fn terminal(analysis: &Analysis, options: TerminalOptions) -> String {
    let paint = Paint(options.color);
    let mut text = format!("{}\n", paint.bold(&analysis.experiment));
    let width = usize::from(options.width);
    let summary = labels::summary(analysis);
    for paragraph in analysis.question.iter().map(String::as_str).chain(summary.lines()) {
        text.push_str(&wrapped(paragraph, width, ""));
    }
    text.push('\n');
    for sentence in &analysis.answer {
        text.push_str(&wrapped(&format!("* {sentence}"), width, ""));
    }
    for workload in &analysis.workloads {
        let cells: Vec<&CellAnalysis> = analysis.cells.iter().filter(|c| c.workload == workload.name).collect();
        if !cells.is_empty() {
            text.push_str(&format!("\n{}: {}\n", paint.bold(&workload.name), workload.description));
            text.push_str(&format!("{}\n", table(&cells, options.width)));
        }
    }
    text.push('\n');
    text.push_str(&wrapped(
        "Throughput: median (95 % interval) over valid repetitions. Latencies in ms: median over repetitions of each trial's percentile.",
        width,
        "",
    ));
    if labels::any_unsupported(analysis) {
        text.push_str("~ fewer than 100 samples lie beyond this percentile in a trial.\n");
    }
    findings(analysis, options.width, paint, &mut text);
    text.push('\n');
    let evidence = format!(
        "Every figure: analysis.json; its evidence: trials/<cell>/<block>/ (both in {}).",
        analysis.run
    );
    text.push_str(&wrapped(&evidence, width, ""));
    text
}

/// What a table leaves out, from nothing to nearly all: columns are dropped whole, because broken words and numbers are
/// worse than missing ones (`report.md` has them all).
const LEVELS: [Columns; 5] = [
    Columns {
        percentiles: &["mean", "p50", "p95", "p99", "p99.9"],
        page_cache: true,
        limit: true,
        bar: true,
    },
    Columns {
        percentiles: &["mean", "p50", "p95", "p99", "p99.9"],
        page_cache: true,
        limit: true,
        bar: false,
    },
    Columns {
        percentiles: &["p50", "p95", "p99"],
        page_cache: true,
        limit: true,
        bar: false,
    },
    Columns {
        percentiles: &["p50", "p99"],
        page_cache: false,
        limit: true,
        bar: false,
    },
    Columns {
        percentiles: &["p99"],
        page_cache: false,
        limit: false,
        bar: false,
    },
];

/// Which columns a table has besides those that it always has.
#[derive(Clone, Copy)]
struct Columns {
    percentiles: &'static [&'static str],
    page_cache: bool,
    limit: bool,
    bar: bool,
}

/// The fullest table that fits; the smallest one where none does.
fn table(cells: &[&CellAnalysis], width: u16) -> String {
    let fits = |table: &str| table.lines().all(|line| line.chars().count() <= usize::from(width));
    let mut shown = String::new();
    for columns in LEVELS {
        shown = table_with(cells, columns);
        if fits(&shown) {
            break;
        }
    }
    shown
}

fn table_with(cells: &[&CellAnalysis], columns: Columns) -> String {
    let mut head: Vec<String> = ["Configuration", "In flight\nor rate", "Operations/s", "Operation"]
        .map(str::to_owned)
        .to_vec();
    head.extend(columns.percentiles.iter().map(|name| format!("{name}\nms")));
    head.extend(["Errors", "Disk\nreads/op."].map(str::to_owned));
    if columns.page_cache {
        head.push("Page\ncache".to_owned());
    }
    if columns.limit {
        head.push("Limit".to_owned());
    }
    head.push("To slowest".to_owned());
    let fastest = cells
        .iter()
        .filter_map(|c| c.ratio_to_slowest.as_ref())
        .map(|r| r.median)
        .fold(0.0, f64::max);

    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Disabled);
    let last = head.len() - 1;
    table.set_header(head);
    for cell in cells {
        table.add_row(row(cell, columns, fastest));
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        let is_text = i < 2 || i == 3 || i == last || (columns.limit && i + 1 == last);
        column.set_cell_alignment(if is_text {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        });
        column.set_padding((0, u16::from(i != last)));
    }
    table.to_string()
}

fn row(cell: &CellAnalysis, columns: Columns, fastest: f64) -> Vec<String> {
    let kinds: Vec<_> = cell.latency_us.iter().collect();
    let lines = |show: &dyn Fn(usize) -> String| -> String {
        match kinds.len() {
            0 => MISSING.to_owned(),
            n => (0..n).map(show).collect::<Vec<_>>().join("\n"),
        }
    };
    let mut row = vec![
        cell.configuration.clone(),
        labels::short_load(cell.load),
        throughput(cell),
        lines(&|i| labels::operation(*kinds[i].0)),
    ];
    row.extend(
        columns
            .percentiles
            .iter()
            .map(|name| lines(&|i| labels::percentile_ms(kinds[i].1, name))),
    );
    row.push(labels::errors(cell));
    row.push(optional(cell.device_reads_per_operation));
    if columns.page_cache {
        row.push(cell.page_cache_share.map_or_else(|| MISSING.to_owned(), percent));
    }
    if columns.limit {
        row.push(cell.limit.kind.words().replacen(' ', "\n", 1));
    }
    row.push(to_slowest(cell, fastest, columns.bar));
    row
}

fn throughput(cell: &CellAnalysis) -> String {
    match cell.throughput_ops_per_s {
        None if cell.trials > 0 => "no valid trial".to_owned(),
        None => MISSING.to_owned(),
        Some(t) if t.low == t.high => number(t.median),
        Some(t) => format!("{}\n({}-{})", number(t.median), number(t.low), number(t.high)),
    }
}

fn to_slowest(cell: &CellAnalysis, fastest: f64, with_bar: bool) -> String {
    let Some(ratio) = &cell.ratio_to_slowest else {
        return MISSING.to_owned();
    };
    let value = format!("{}x", number(ratio.median));
    let bar = if with_bar {
        format!(" {}", bar(ratio.median, fastest, BAR_WIDTH))
    } else {
        String::new()
    };
    let interval = if ratio.pairs < 2 || ratio.low == ratio.high {
        String::new()
    } else {
        format!("\n({}-{})", number(ratio.low), number(ratio.high))
    };
    format!("{value}{bar}{interval}")
}

fn findings(analysis: &Analysis, width: u16, paint: Paint, text: &mut String) {
    let groups = grouped(analysis);
    if groups.is_empty() {
        text.push_str("\nNo findings.\n");
        return;
    }
    text.push_str(&format!("\n{}\n", paint.bold("Findings")));
    for group in groups {
        text.push_str(&format!(
            "  {} {}\n",
            paint.severity(group.severity),
            paint.bold(&group.title())
        ));
        for example in group.examples() {
            text.push_str(&wrapped(&example, usize::from(width), "    "));
        }
        for advice in group.advice() {
            text.push_str(&wrapped(&format!("-> {advice}"), usize::from(width), "    "));
        }
    }
}

/// Breaks a paragraph between words; each line starts with `indent`.
fn wrapped(paragraph: &str, width: usize, indent: &str) -> String {
    let mut out = String::new();
    let mut line = String::from(indent);
    for word in paragraph.split_whitespace() {
        if line.len() > indent.len() && line.chars().count() + 1 + word.chars().count() > width {
            out.push_str(line.trim_end());
            out.push('\n');
            line = format!("{indent}  ");
        }
        if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
        line.push_str(word);
    }
    out.push_str(&line);
    out.push('\n');
    out
}

/// ANSI codes, or none.
#[derive(Clone, Copy)]
struct Paint(bool);

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.0 {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    fn severity(self, severity: Severity) -> String {
        let code = match severity {
            Severity::Invalid => "31",
            Severity::Suspect => "33",
            Severity::Note => "36",
        };
        self.with(code, severity.name())
    }
}
