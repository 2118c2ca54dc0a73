//! What is wrong with a YCSB property file, and where.

use std::ops::Range;

/// A property that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}; expected {expected}{}", self.hint())]
pub struct YcsbError {
    /// Line of the fault, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Bytes of the fault in the text.
    pub span: Range<usize>,
    /// The property, as written; empty when the syntax itself is wrong.
    pub property: String,
    /// What is wrong.
    pub problem: String,
    /// What may stand there.
    pub expected: String,
    /// The valid name or value that is nearest to what was written.
    pub nearest: Option<String>,
}

impl YcsbError {
    pub(super) fn new(
        text: &str,
        span: Range<usize>,
        property: &str,
        problem: String,
        expected: impl Into<String>,
    ) -> Self {
        let before = &text[..span.start];
        let line_start = before.rfind(['\n', '\r']).map_or(0, |newline| newline + 1);
        // A lone `\r` ends a line too; `\r\n` counts once.
        let line = 1 + before.matches('\n').count() + before.matches('\r').count() - before.matches("\r\n").count();
        Self {
            line: line as u32,
            column: before[line_start..].chars().count() as u32 + 1,
            span,
            property: property.to_owned(),
            problem,
            expected: expected.into(),
            nearest: None,
        }
    }

    pub(super) fn with_nearest<'a>(mut self, written: &str, valid: impl IntoIterator<Item = &'a str>) -> Self {
        self.nearest = nearest(written, valid).map(str::to_owned);
        self
    }

    fn hint(&self) -> String {
        self.nearest.as_ref().map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
    }
}

/// The valid name at most two slips away from what was written, capitals aside.
pub(super) fn nearest<'a>(written: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const MOST_SLIPS: usize = 2;
    let written = written.to_ascii_lowercase();
    valid
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&written, name), name))
        // In a short name two slips make another word.
        .filter(|(slips, name)| *slips <= MOST_SLIPS.min(name.len() / 3))
        .min()
        .map(|(_, name)| name)
}
