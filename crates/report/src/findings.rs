//! Findings grouped by rule: one rule that fired on twenty trials is one thing to know.

use analysis::{Analysis, Finding, Rule, Severity};

use crate::wording;

/// Examples shown of each rule; the rest are in `analysis.json`.
const EXAMPLES: usize = 3;

/// One rule and where it fired.
pub struct Group<'a> {
    /// The rule.
    pub rule: Rule,
    /// Its severity here.
    pub severity: Severity,
    /// All its findings.
    pub findings: Vec<&'a Finding>,
}

impl Group<'_> {
    /// `served_from_page_cache (6 findings)`.
    pub fn title(&self) -> String {
        match self.findings.len() {
            1 => self.rule.name().to_owned(),
            n => format!("{} ({n} times)", self.rule.name()),
        }
    }

    /// `scope: message` of the first ones, then how many more.
    pub fn examples(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .findings
            .iter()
            .take(EXAMPLES)
            .map(|f| format!("{}: {}", f.scope.name(), wording::message(f)))
            .collect();
        if self.findings.len() > EXAMPLES {
            lines.push(format!(
                "and {} more, see findings in analysis.json",
                self.findings.len() - EXAMPLES
            ));
        }
        lines
    }

    /// What to do: the advice of each kind of case, once.
    pub fn advice(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for finding in &self.findings {
            let advice = wording::advice(finding);
            if !all.contains(&advice) {
                all.push(advice);
            }
        }
        all
    }
}

/// Groups by rule, the gravest first, then in the order of the document.
pub fn grouped(analysis: &Analysis) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for finding in &analysis.findings {
        match groups
            .iter_mut()
            .find(|g| g.rule == finding.rule() && g.severity == finding.severity)
        {
            Some(group) => group.findings.push(finding),
            None => groups.push(Group {
                rule: finding.rule(),
                severity: finding.severity,
                findings: vec![finding],
            }),
        }
    }
    groups.sort_by_key(|g| std::cmp::Reverse(g.severity));
    groups
}
