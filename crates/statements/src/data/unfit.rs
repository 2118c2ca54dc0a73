//! What of the data cannot be.

use std::fmt;

/// Something of the data that cannot be, and where it is stated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// Where.
    pub at: At,
    /// What is wrong, and what to do.
    pub message: String,
}

/// What of the data something is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// A table's data.
    Table(String),
    /// The values of a column.
    Column {
        /// Its table.
        table: String,
        /// Its name.
        column: String,
    },
    /// What a statement asks for.
    Statement(String),
}

impl Unfit {
    pub(crate) fn table(table: &str, message: impl Into<String>) -> Self {
        Self { at: At::Table(table.to_owned()), message: message.into() }
    }

    pub(crate) fn column(table: &str, column: &str, message: impl Into<String>) -> Self {
        let at = At::Column { table: table.to_owned(), column: column.to_owned() };
        Self { at, message: message.into() }
    }

    pub(crate) fn statement(statement: &str, message: impl Into<String>) -> Self {
        Self { at: At::Statement(statement.to_owned()), message: message.into() }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(table) => write!(f, "table {table}"),
            Self::Column { table, column } => write!(f, "table {table}, column {column}"),
            Self::Statement(statement) => write!(f, "statement {statement}"),
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)
    }
}
