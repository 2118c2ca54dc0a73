//! What is wrong with a file, and where.

use std::fmt;
use std::ops::Range;

/// One mistake of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// From 1.
    pub line: usize,
    /// Bytes of the file that it is about.
    pub span: Range<usize>,
    /// What is wrong, and what to do.
    pub message: String,
}

impl Mistake {
    pub(crate) fn new(line: usize, span: Range<usize>, message: impl Into<String>) -> Self {
        Self { line, span, message: message.into() }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}
