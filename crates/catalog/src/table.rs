//! The crate's own data files: comma-separated, a header line, no quotes, `#` comments.
//!
//! They are part of the program and a test reads every row, so a malformed one cannot reach a user.

use std::cell::Cell;

/// One row: values by column name. An empty value is "not known" and never 0.
pub(crate) struct Row<'a> {
    columns: &'a [&'a str],
    values: Vec<&'a str>,
    /// The place after the column that was asked for last: a column is looked for from there on, because most are asked
    /// for in their order.
    next: Cell<usize>,
}

impl<'a> Row<'a> {
    /// The value of a column, `None` when it is empty.
    pub(crate) fn text(&self, column: &str) -> Option<&'a str> {
        let next = self.next.get();
        let position = (next..self.columns.len()).chain(0..next).find(|at| self.columns[*at] == column);
        let position = position.unwrap_or_else(|| panic!("the catalog's data has no column `{column}`"));
        self.next.set(position + 1);
        self.values.get(position).copied().filter(|value| !value.is_empty())
    }

    /// The number in a column, `None` when it is empty.
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).map(|value| {
            value.parse().unwrap_or_else(|_| panic!("the catalog's data has `{value}` in column `{column}`"))
        })
    }

    /// The number in a column that every row fills.
    pub(crate) fn required(&self, column: &str) -> f64 {
        self.number(column).unwrap_or_else(|| panic!("the catalog's data lacks a value in column `{column}`"))
    }
}

/// Calls `read` for each row of a data file, in its order.
pub(crate) fn read<T>(text: &str, mut read: impl FnMut(&Row<'_>) -> T) -> Vec<T> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    lines.map(|line| read(&Row { columns: &columns, values: line.split(',').collect(), next: Cell::new(0) })).collect()
}
