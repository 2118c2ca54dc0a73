//! Two runs against each other: as Markdown, for a comment on a pull request, and in a terminal.

mod words;

use analysis::{CellChange, Change, Comparison};

use crate::document::section::Section;
use crate::document::table::{column, rows};
use crate::document::text::{Text, code, strong};
use crate::document::{markdown, terminal};
use crate::labels;
use crate::neutral::neutral;
use words::{DIFFERENCES_SHOWN, SHOWN};

/// As Markdown.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let section = markdown::section(&compared(comparison));
    neutral(section.trim_end()) + "\n"
}

/// For a terminal, at most `width` columns wide.
pub fn comparison_terminal(comparison: &Comparison, width: usize) -> String {
    terminal::plain([compared(comparison)], width)
}

fn compared(comparison: &Comparison) -> Section<'_> {
    let mut section = Section::new("compared", format!("{} against {}", comparison.b, comparison.a));
    if comparison.same_run {
        section = section.paragraph(format!("Note: {}.", words::SAME_RUN));
    } else if comparison.same_seed {
        section = section.paragraph(format!("Note: {}.", words::SAME_SEED));
    }
    if let Some((a, b)) = comparison.scales_differ {
        section = section.paragraph(format!("Note: {}.", words::scales(a, b)));
    }
    if let Some(other_work) = words::other_work(comparison) {
        section = section.paragraph(format!("Note: {other_work}."));
    }
    if let Some(withheld) = words::withheld(comparison) {
        section = section.paragraph(format!("Note: {withheld}."));
    }
    for gate in &comparison.gates {
        let outcome = Text::from("Gate ").then(code(&*gate.expression)).then(": ").then(strong(words::outcome(gate)));
        section = section.paragraph(outcome).list(words::reasons(gate));
    }
    for metric in SHOWN {
        let cells = comparison.cells.iter().filter_map(|cell| Some((cell, cell.metrics.get(&metric)?)));
        let unit = words::unit(metric);
        let table = rows(labels::metric(metric), cells.collect::<Vec<(&CellChange, &Change)>>())
            .text("Configuration", |(cell, _)| cell.configuration.clone())
            .text(column("Workload").varies(), |(cell, _)| cell.workload.clone())
            .text(column("Load").varies(), |(cell, _)| labels::load(cell.load))
            .number(column(format!("A, {unit}")).drop(2), |(_, change)| words::value(metric, change.a.median))
            .number(column(format!("B, {unit}")).drop(1), |(_, change)| words::value(metric, change.b.median))
            .number("Change", |(_, change)| format!("{:+.1} %", change.change_percent))
            .number("Interval", |(_, change)| change.p_value.map(|_| words::range(change)))
            .text("Shown", |(_, change)| words::shown(change));
        section = section.table(table);
    }
    section = section.key(words::KEY);
    for (title, entries) in
        [("Not compared", &comparison.not_compared), ("What else differs between the runs", &comparison.differences)]
    {
        if !entries.is_empty() {
            let entries = entries.iter().map(|entry| &**entry);
            section = section.heading(title).first(entries, DIFFERENCES_SHOWN, "--format json");
        }
    }
    section
}
