//! Findings, gravest first, each with its numbers and a link to what it is about.

use analysis::{Analysis, Charts, Finding, Scope, Severity};

use super::element::{id, text};
use crate::figures::{number, several};
use crate::findings::grouped;

/// Findings of one rule shown before the rest is folded.
const OPEN: usize = 3;

/// All findings by severity and rule.
pub fn findings(analysis: &Analysis, charts: &Charts) -> String {
    let groups = grouped(analysis);
    if groups.is_empty() {
        return "<p>None.</p>\n".to_owned();
    }
    let mut out = String::from(
        "<p class=\"soft\"><b>invalid</b> trials enter no figure; <b>suspect</b> figures may not mean what they seem to; a <b>note</b> is worth knowing.</p>\n",
    );
    if groups.iter().any(|g| g.severity == Severity::Failed) {
        out.push_str(
            "<p class=\"soft\"><b>failed</b>: a configuration did not do what a database must, and is not recommended.</p>\n",
        );
    }
    for group in groups {
        out.push_str(&format!(
            "<h3 id=\"{}\"><span class=\"tag {1}\">{1}</span> {2}</h3>\n",
            id(&["finding", group.severity.name(), group.rule.name()]),
            group.severity.name(),
            text(&group.title().replace('_', " ")),
        ));
        for advice in group.advice() {
            out.push_str(&format!("<p>{}</p>\n", text(&advice)));
        }
        let item = |f: &&&Finding| format!("<li>{}</li>\n", one(analysis, charts, f));
        let first: String = group.findings.iter().take(OPEN).map(|f| item(&f)).collect();
        out.push_str(&format!("<ul>{first}</ul>\n"));
        if group.findings.len() > OPEN {
            let rest: String = group.findings.iter().skip(OPEN).map(|f| item(&f)).collect();
            out.push_str(&format!(
                "<details><summary>{} more</summary><ul>{rest}</ul></details>\n",
                group.findings.len() - OPEN
            ));
        }
    }
    out
}

/// Number of findings by severity, for the head of the page: `0 invalid, 5 suspect, 23 notes`.
pub fn summary(analysis: &Analysis) -> String {
    [Severity::Failed, Severity::Invalid, Severity::Suspect, Severity::Note]
        .into_iter()
        .filter_map(|severity| {
            let n = analysis.findings.iter().filter(|f| f.severity == severity).count() as u64;
            match severity {
                Severity::Note => Some(several(n, "note")),
                Severity::Failed if n == 0 => None,
                _ => Some(format!("{n} {}", severity.name())),
            }
        })
        .collect::<Vec<_>>()
        .join(", ")
}

fn one(analysis: &Analysis, charts: &Charts, finding: &Finding) -> String {
    let numbers: Vec<String> = finding
        .numbers()
        .iter()
        .map(|(name, value)| format!("{} {}", text(name), number(*value)))
        .collect();
    let numbers = if numbers.is_empty() {
        String::new()
    } else {
        format!(" <small>{}</small>", numbers.join(" &middot; "))
    };
    let name = text(finding.scope.name());
    // Only what is on the page is linked to.
    let has_cell = |cell: &str| analysis.cells.iter().any(|c| c.id == cell);
    let has_trial = |cell: &str, block: &str| {
        let drawn = |block: u32| charts.trials.iter().any(|t| t.cell == cell && t.block == block);
        has_cell(cell) && block.parse().is_ok_and(drawn)
    };
    let place = match &finding.scope {
        Scope::Trial(of) => match of.rsplit_once('/') {
            Some((cell, block)) if has_trial(cell, block) => {
                format!("<a href=\"#{}\">{name}</a>", id(&["trial", cell, block]))
            }
            _ => name,
        },
        Scope::Cell(cell) if has_cell(cell) => format!("<a href=\"#{}\">{name}</a>", id(&["cell", cell])),
        Scope::Configuration(_) => format!("<a href=\"#configurations\">{name}</a>"),
        Scope::Cell(_) | Scope::Run(_) => name,
    };
    format!("{place}: {}{numbers}", text(&crate::wording::message(finding)))
}
