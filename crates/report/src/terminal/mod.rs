//! The end of a run in a terminal: the answer, what the money buys, one table for each workload, then the findings.

mod capacity;
mod cells;
mod faults;
mod steps;
pub mod table;

use analysis::{Analysis, CellAnalysis, Severity, Status};

use crate::answer::answer;
use crate::findings::grouped;
use crate::labels;
use crate::wording::faults::method as faults_method;
use crate::wording::scaling;
use crate::wrap::wrapped;

/// How the text may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Columns of the terminal; tables leave out what does not fit.
    pub width: usize,
    /// ANSI colours.
    pub color: bool,
}

/// Tables and findings, ending with a newline.
pub fn terminal(analysis: &Analysis, options: TerminalOptions) -> String {
    let paint = Paint(options.color);
    let mut text = format!("{}\n", paint.bold(&analysis.experiment));
    let width = options.width;
    if let Some(question) = &analysis.question {
        text.push_str(&wrapped(question, width, ""));
    }
    first_screen(analysis, width, paint, &mut text);
    text.push('\n');
    for line in labels::summary(analysis).lines() {
        text.push_str(&wrapped(line, width, ""));
    }
    if crate::capacity::any(analysis) {
        text.push_str(&format!(
            "\n{}\n{}\n",
            paint.bold(crate::capacity::TITLE),
            capacity::table(analysis, width)
        ));
        text.push_str(&wrapped(&crate::capacity::method(analysis), width, ""));
    }
    if !analysis.value_of_money.is_empty() {
        text.push_str(&format!(
            "\n{}\n{}\n",
            paint.bold("What the money buys"),
            steps::table(analysis, width)
        ));
    }
    for workload in &analysis.workloads {
        let cells: Vec<&CellAnalysis> = analysis.cells.iter().filter(|c| c.workload == workload.name).collect();
        if !cells.is_empty() {
            let title = format!(
                "{}: {}{}",
                workload.name,
                workload.description,
                cells::common_load(&cells)
            );
            let title = wrapped(&title, width, "");
            text.push_str(&format!(
                "\n{}",
                title.replacen(&workload.name, &paint.bold(&workload.name), 1)
            ));
            text.push_str(&format!("{}\n", cells::table(&cells, width)));
        }
    }
    faults_section(analysis, width, paint, &mut text);
    for one in &analysis.scaling {
        let title = format!("Scaling over nodes: {}", scaling::title(one));
        text.push_str(&format!("\n{}\n", paint.bold(&title)));
        for sentence in scaling::sentences(one) {
            text.push_str(&wrapped(&format!("* {sentence}"), width, "  "));
        }
    }
    for (title, sentences) in [
        (
            crate::cache::TITLE,
            crate::cache::sentences(analysis).collect::<Vec<_>>(),
        ),
        (
            crate::cache_curve::TITLE,
            crate::cache_curve::sentences(analysis)
                .filter(|_| !crate::cache_curve::is_with_answer(analysis))
                .collect(),
        ),
    ] {
        if !sentences.is_empty() {
            text.push_str(&format!("\n{}\n", paint.bold(title)));
            sentences
                .iter()
                .for_each(|sentence| text.push_str(&wrapped(&format!("* {sentence}"), width, "  ")));
        }
    }
    text.push('\n');
    text.push_str(&wrapped(
        "Operations/s: geometric mean (95 % interval) of the cell's own valid repetitions; with fewer than three the \
         observed range. Ratios: intervals adjusted for all comparisons (97.5 % or wider), spread pooled over cells. \
         Latencies \
         (each trial's percentile), disk reads and page cache: median over repetitions.",
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

/// The answer alone, under the name of its run, for several runs after each other.
pub fn headline(analysis: &Analysis, width: usize) -> String {
    let answer = answer(analysis);
    let mut text = wrapped(&analysis.run, width, "");
    for line in answer.banner.map(str::to_owned).into_iter().chain([answer.headline()]) {
        text.push_str(&wrapped(&line, width, "  "));
    }
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
    for sentence in answer.details() {
        text.push_str(&wrapped(&format!("* {sentence}"), width, ""));
    }
}

/// Before, during and after planned faults, and what became of acknowledged writes.
fn faults_section(analysis: &Analysis, width: usize, paint: Paint, text: &mut String) {
    if !crate::faults::any(analysis) {
        return;
    }
    text.push_str(&format!("\n{}\n", paint.bold(crate::faults::title(analysis))));
    if let Some(table) = faults::table(analysis, width) {
        text.push_str(&format!("{table}\n"));
        text.push_str(&wrapped(&faults_method(), width, ""));
    }
    if let Some(table) = faults::compactions(analysis, width) {
        text.push_str(&wrapped(&format!("{}:", crate::compaction::TITLE), width, ""));
        text.push_str(&format!("{table}\n"));
    }
    for (name, sentences) in crate::faults::reported(analysis) {
        text.push_str(&format!("{}\n", paint.bold(wrapped(&name, width, "").trim_end())));
        for sentence in sentences {
            text.push_str(&wrapped(&format!("* {sentence}"), width, "  "));
        }
    }
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
            Severity::Failed | Severity::Invalid => "31",
            Severity::Suspect => "33",
            Severity::Note => "36",
        };
        self.with(code, severity.name())
    }
}
