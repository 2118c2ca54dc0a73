//! Why a file is not read.

use std::fmt;

/// Most characters of a line that are repeated.
const SHOWN: usize = 80;

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Line, from 1; `None`: the file as a whole.
    pub line: Option<usize>,
    /// What was found and what was expected, in one sentence.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Refusal {
    /// Of the file as a whole.
    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into(), help: None }
    }

    /// At a line, from 1.
    pub(crate) fn at(line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), message: message.into(), help: None }
    }

    /// At a line that says this, where something else was expected.
    pub(crate) fn expected(line: usize, expected: &str, found: &str) -> Self {
        let shown: String = found.trim().chars().take(SHOWN).collect();
        Self::at(line, format!("expected {expected}, found `{shown}`"))
    }

    /// The same with what to do.
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)
    }
}
