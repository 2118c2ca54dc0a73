//! Findings by rule, gravest first, each with its numbers and a link to what it is about: one rule that fired on twenty
//! trials is one thing to know.

use analysis::{Analysis, Charts, Finding, Scope, Severity, each_once, grouped};

use crate::document::html::{id, inside};
use crate::document::section::Section;
use crate::document::table::Form;
use crate::document::text::{Text, Tone, link, small, strong, tag};
use crate::figures::{number, several, when};
use crate::wording::{advice_in, message};

/// Findings of one rule that are shown; the rest are folded, or in `analysis.json`.
const SHOWN: usize = 3;

/// The whole section.
pub fn section<'a>(analysis: &'a Analysis, charts: &'a Charts) -> Section<'a> {
    let section = Section::new("findings", "Findings");
    // By rule, the gravest first, then in the order of the document.
    let mut groups = grouped(analysis.findings.iter().map(|f| ((f.severity, f.rule()), f)));
    groups.sort_by_key(|((severity, _), _)| std::cmp::Reverse(*severity));
    if groups.is_empty() {
        return section.paragraph("No findings.");
    }
    let mut key = strong("invalid")
        .then(" trials enter no figure; ")
        .then(strong("suspect"))
        .then(" figures may not mean what they seem to; a ")
        .then(strong("note"))
        .then(" is worth knowing.");
    if groups.iter().any(|((severity, _), _)| *severity == Severity::Failed) {
        let failed = ": a configuration did not do what a database must, and is not recommended.";
        key = key.then(" ").then(strong("failed")).then(failed);
    }
    let section = section.key(key).on(Form::PAGE);
    groups.into_iter().fold(section, |section, ((severity, rule), findings)| {
        let n = findings.len();
        let times = when(n != 1, || format!(" ({n} times)"));
        let title = tag(severity.name(), tone(severity)).then(" ").then(strong(format!("{}{times}", rule.name())));
        let advices = each_once(findings.iter().map(|finding| advice_in(analysis, finding)));
        let alike = grouped(findings.iter().map(|finding| (message(finding), *finding)));
        let section = section.anchored(title, id(&["finding", severity.name(), rule.name()])).first(
            alike.into_iter().map(|(message, of)| one(analysis, charts, &message, &of)),
            SHOWN,
            "findings in analysis.json",
        );
        advices.into_iter().fold(section, |section, words| section.advice(words))
    })
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Failed | Severity::Invalid => Tone::Bad,
        Severity::Suspect => Tone::Doubt,
        Severity::Note => Tone::Note,
    }
}

/// Number of findings by severity, for the head of the page: `0 invalid, 5 suspect, 23 notes`.
pub fn summary(analysis: &Analysis) -> String {
    let of_severity = |severity: Severity| {
        let n = analysis.findings.iter().filter(|f| f.severity == severity).count() as u64;
        match severity {
            Severity::Note => Some(several(n, "note")),
            Severity::Failed if n == 0 => None,
            Severity::Failed | Severity::Invalid | Severity::Suspect => Some(format!("{n} {}", severity.name())),
        }
    };
    let all = [Severity::Failed, Severity::Invalid, Severity::Suspect, Severity::Note];
    all.into_iter().filter_map(of_severity).collect::<Vec<_>>().join(", ")
}

/// One line for findings of which the same is said; with numbers, where they are the same too.
fn one(analysis: &Analysis, charts: &Charts, message: &str, of: &[&Finding]) -> Text {
    let names = of.iter().map(|finding| link(finding.scope.name(), place(analysis, charts, &finding.scope)));
    let words = listed(names).then(format!(": {message}"));
    let all = each_once(of.iter().map(|finding| numbers(finding)));
    match all.as_slice() {
        [numbers] if !numbers.is_empty() => words.then(small(format!(" {numbers}"))),
        _ => words,
    }
}

fn numbers(finding: &Finding) -> String {
    let numbers = finding.numbers();
    let numbers: Vec<String> = numbers.iter().map(|(name, value)| format!("{name} {}", number(*value))).collect();
    numbers.join(" · ")
}

/// `a, b and c`, `a, b and 3 others`.
fn listed(names: impl ExactSizeIterator<Item = Text>) -> Text {
    let all = names.len();
    let shown = if all > 3 { 2 } else { all };
    let listed = names.take(shown).enumerate().fold(Text::default(), |listed, (at, name)| {
        let before = match at {
            0 => "",
            at if at + 1 == all => " and ",
            _ => ", ",
        };
        if before.is_empty() { name } else { listed.then(before).then(name) }
    });
    if all > shown { listed.then(format!(" and {} others", all - shown)) } else { listed }
}

/// Where the page shows what a finding is about, if it does.
fn place(analysis: &Analysis, charts: &Charts, scope: &Scope) -> Option<String> {
    let has_cell = |cell: &str| analysis.cells.iter().any(|c| c.id == cell);
    match scope {
        Scope::Trial(of) => of.rsplit_once('/').and_then(|(cell, block)| {
            let number: u32 = block.parse().ok()?;
            let is_drawn = has_cell(cell) && charts.trials.iter().any(|t| t.cell == cell && t.block == number);
            is_drawn.then(|| id(&["trial", cell, block]))
        }),
        Scope::Cell(cell) => has_cell(cell).then(|| id(&["cell", cell])),
        Scope::Configuration(_) => Some(inside("configurations")),
        Scope::Run(_) => None,
    }
}
