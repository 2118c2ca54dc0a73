//! What cannot be read, and where.

use std::fmt;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// A line of text, from 1.
    Line(u64),
    /// A byte, from 0.
    Byte(u64),
    /// The recording as a whole.
    Whole,
}

/// Why a recording is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogError {
    /// Where.
    pub at: At,
    /// What is wrong, and where there is something to do, what.
    pub message: String,
}

/// Why an audit log is no recording: of a prepared statement it has the text alone (Apache Cassandra's documentation,
/// `auditlogging`, limitations).
pub(crate) const AUDIT_LOG: &str = "an audit log has no values of prepared statements, so that nobody can ask them \
    again; record a full query log instead: nodetool enablefullquerylog";

impl LogError {
    pub(crate) fn new(at: At, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            At::Line(line) => write!(f, "line {line}: {}", self.message),
            At::Byte(byte) => write!(f, "byte {byte}: {}", self.message),
            At::Whole => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for LogError {}
