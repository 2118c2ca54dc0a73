//! The end of a run in a terminal: the answer, what the money buys, one table for each workload, then the findings.

use analysis::{Analysis, CellAnalysis, Ratio, Severity, Status, ValueOfMoney};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::answer::answer;
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
    if let Some(question) = &analysis.question {
        text.push_str(&wrapped(question, width, ""));
    }
    first_screen(analysis, width, paint, &mut text);
    text.push('\n');
    for line in labels::summary(analysis).lines() {
        text.push_str(&wrapped(line, width, ""));
    }
    if !analysis.value_of_money.is_empty() {
        text.push_str(&format!(
            "\n{}\n{}\n",
            paint.bold("What the money buys"),
            steps(analysis, width)
        ));
    }
    for workload in &analysis.workloads {
        let cells: Vec<&CellAnalysis> = analysis.cells.iter().filter(|c| c.workload == workload.name).collect();
        if !cells.is_empty() {
            text.push_str(&format!("\n{}: {}\n", paint.bold(&workload.name), workload.description));
            text.push_str(&format!("{}\n", table(&cells, width)));
        }
    }
    text.push('\n');
    text.push_str(&wrapped(
        "Throughput: geometric mean (95 % interval) over valid repetitions; with fewer than three the observed range. Latencies in ms: median over \
         repetitions of each trial's percentile.",
        width,
        "",
    ));
    if labels::any_unsupported(analysis) {
        text.push_str("~ fewer than 100 samples lie beyond this percentile in a trial.\n");
    }
    findings(analysis, width, paint, &mut text);
    text.push('\n');
    let evidence = format!(
        "Every figure: analysis.json; its evidence: trials/<cell>/<block>/ (both in {}).",
        analysis.run
    );
    text.push_str(&wrapped(&evidence, width, ""));
    text
}

/// Banner, headline, sentences. Only a decided answer leads with a winner in bold.
fn first_screen(analysis: &Analysis, width: usize, paint: Paint, text: &mut String) {
    let answer = answer(analysis);
    if let Some(banner) = answer.banner {
        text.push_str(&format!("\n{}", paint.banner(&wrapped(banner, width, ""))));
    }
    text.push('\n');
    let headline = wrapped(&answer.headline(), width, "");
    text.push_str(&match analysis.recommendation.status {
        Status::Decided => headline.replacen(&answer.verdict, &paint.bold(&answer.verdict), 1),
        Status::NotDecided | Status::NoAnswerYet => headline,
    });
    for sentence in &answer.sentences {
        text.push_str(&wrapped(&format!("* {sentence}"), width, ""));
    }
}

/// What a table leaves out, from nothing to nearly all: columns are dropped whole, because broken words and numbers are
/// worse than missing ones (`report.md` has them all).
const LEVELS: [Columns; 7] = [
    Columns {
        percentiles: &["mean", "p50", "p95", "p99", "p99.9"],
        page_cache: true,
        limit: true,
        bar: true,
        errors: true,
        reads: true,
    },
    Columns { bar: false, ..FULL },
    Columns {
        percentiles: &["p50", "p95", "p99"],
        bar: false,
        ..FULL
    },
    Columns {
        percentiles: &["p50", "p99"],
        page_cache: false,
        bar: false,
        ..FULL
    },
    Columns {
        percentiles: &["p99"],
        page_cache: false,
        bar: false,
        ..FULL
    },
    Columns {
        percentiles: &["p99"],
        page_cache: false,
        bar: false,
        reads: false,
        ..FULL
    },
    Columns {
        percentiles: &["p99"],
        page_cache: false,
        bar: false,
        reads: false,
        errors: false,
        limit: false,
    },
];

const FULL: Columns = Columns {
    percentiles: &["mean", "p50", "p95", "p99", "p99.9"],
    page_cache: true,
    limit: true,
    bar: true,
    errors: true,
    reads: true,
};

/// Which columns a table has besides those that it always has.
#[derive(Clone, Copy)]
struct Columns {
    percentiles: &'static [&'static str],
    page_cache: bool,
    limit: bool,
    bar: bool,
    errors: bool,
    reads: bool,
}

/// Characters of a name before it is folded into several lines: the first that makes a table fit is taken.
const NAMES: [usize; 5] = [usize::MAX, 24, 16, 12, 8];

/// The fullest table that fits: names are folded before columns are dropped, but only down to 16 characters; the smallest one where none does.
fn fitted(width: usize, tables: impl Fn(usize) -> Vec<String>) -> String {
    let fits = |table: &String| table.lines().all(|line| line.chars().count() <= width);
    let mut smallest = String::new();
    for names in [&NAMES[..3], &NAMES[3..]] {
        // By columns first: a table of all columns with folded names shows more than one without.
        let by_names: Vec<Vec<String>> = names.iter().map(|n| tables(*n)).collect();
        let levels = by_names.first().map_or(0, Vec::len);
        for level in 0..levels {
            for tables in &by_names {
                if fits(&tables[level]) {
                    return tables[level].clone();
                }
                smallest.clone_from(&tables[level]);
            }
        }
    }
    smallest
}

fn table(cells: &[&CellAnalysis], width: usize) -> String {
    fitted(width, |name| {
        LEVELS.iter().map(|columns| table_with(cells, *columns, name)).collect()
    })
}

/// A name in lines of at most `most` characters, broken behind a dash or an underscore where there is one.
fn folded(name: &str, most: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut rest: Vec<char> = name.chars().collect();
    while rest.len() > most {
        let at = rest[..most]
            .iter()
            .rposition(|c| matches!(c, '-' | '_' | '.'))
            .map_or(most, |i| i + 1);
        lines.push(rest.drain(..at).collect());
    }
    lines.push(rest.into_iter().collect());
    lines.join("\n")
}

/// A table in the style of all tables here; the columns named in `right` are numbers.
fn styled(head: &[String], rows: Vec<Vec<String>>, is_number: impl Fn(usize) -> bool) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head);
    for row in rows {
        table.add_row(row);
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_cell_alignment(if is_number(i) {
            CellAlignment::Right
        } else {
            CellAlignment::Left
        });
        column.set_padding((0, u16::from(i + 1 != head.len())));
    }
    table.to_string()
}

fn table_with(cells: &[&CellAnalysis], columns: Columns, name: usize) -> String {
    let mut head: Vec<String> = ["Configuration", "In flight\nor rate", "Operations/s", "Operation"]
        .map(str::to_owned)
        .to_vec();
    head[0] = folded("Configuration", name.max("Configuration".len()));
    head.extend(columns.percentiles.iter().map(|name| format!("{name}\nms")));
    let numbers =
        4..head.len() + usize::from(columns.errors) + usize::from(columns.reads) + usize::from(columns.page_cache);
    for (has, title) in [
        (columns.errors, "Errors"),
        (columns.reads, "Disk\nreads/op."),
        (columns.page_cache, "Page\ncache"),
        (columns.limit, "Limit"),
        (true, "To slowest"),
    ] {
        head.extend(has.then(|| title.to_owned()));
    }
    let fastest = cells
        .iter()
        .filter_map(|c| c.ratio_to_slowest.as_ref())
        .map(|r| r.median)
        .fold(0.0, f64::max);
    let rows = cells.iter().map(|cell| row(cell, columns, fastest, name)).collect();
    styled(&head, rows, |i| i == 2 || numbers.contains(&i))
}

fn row(cell: &CellAnalysis, columns: Columns, fastest: f64, name: usize) -> Vec<String> {
    let kinds: Vec<_> = cell.latency_us.iter().collect();
    let lines = |show: &dyn Fn(usize) -> String| -> String {
        match kinds.len() {
            0 => MISSING.to_owned(),
            n => (0..n).map(show).collect::<Vec<_>>().join("\n"),
        }
    };
    let mut row = vec![
        folded(&cell.configuration, name),
        labels::short_load(cell.load),
        throughput(cell),
        lines(&|i| labels::operation(*kinds[i].0).replace("read-modify-write", "r-m-w")),
    ];
    row.extend(
        columns
            .percentiles
            .iter()
            .map(|name| lines(&|i| labels::percentile_ms(kinds[i].1, name))),
    );
    if columns.errors {
        row.push(labels::errors(cell));
    }
    if columns.reads {
        row.push(optional(cell.device_reads_per_operation));
    }
    if columns.page_cache {
        row.push(cell.page_cache_share.map_or_else(|| MISSING.to_owned(), percent));
    }
    if columns.limit {
        row.push(cell.limit.kind.words().replacen(' ', "\n", 1));
    }
    row.push(to_slowest(cell, fastest, columns.bar));
    row
}

/// What more expensive configurations give: one line for each step and place.
fn steps(analysis: &Analysis, width: usize) -> String {
    let with = |name: usize, full: bool| {
        let mut head: Vec<String> = [
            "Step",
            "Workload",
            "In flight",
            "Cost",
            "Throughput",
            "Throughput\n/ cost",
            "Verdict",
        ]
        .map(str::to_owned)
        .to_vec();
        let two = |middle: f64, low: f64, high: f64| match low < high {
            true => format!("{}x\n({}-{})", number(middle), number(low), number(high)),
            false => format!("{}x", number(middle)),
        };
        let mut rows: Vec<Vec<String>> = analysis
            .value_of_money
            .iter()
            .map(|v: &ValueOfMoney| {
                let Ratio { median, low, high, .. } = v.throughput_ratio;
                vec![
                    format!("{}\n-> {}", folded(&v.from, name), folded(&v.to, name)),
                    folded(&v.workload, name),
                    labels::short_load(v.load),
                    format!("{}x\n+{}", number(v.cost_ratio), labels::usd(v.extra_usd_per_month)),
                    two(median, low, high),
                    two(v.value_ratio.median, v.value_ratio.low, v.value_ratio.high),
                    labels::value_verdict(v).replace(" (", "\n("),
                ]
            })
            .collect();
        if !full {
            for row in rows.iter_mut().chain([&mut head]) {
                row.remove(5);
            }
        }
        let last = head.len() - 1;
        styled(&head, rows, |i| i > 2 && i != last)
    };
    fitted(width, |name| vec![with(name, true), with(name, false)])
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

fn findings(analysis: &Analysis, width: usize, paint: Paint, text: &mut String) {
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
            text.push_str(&wrapped(&example, width, "    "));
        }
        for advice in group.advice() {
            text.push_str(&wrapped(&format!("-> {advice}"), width, "    "));
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

    /// Each line in yellow and bold.
    fn banner(self, lines: &str) -> String {
        lines.lines().map(|line| self.with("1;33", line) + "\n").collect()
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
