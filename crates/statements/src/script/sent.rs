//! What is sent for a statement of SQL, and the columns that its markers name.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cql::{Column, Table};

/// What is sent for a statement of SQL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sql {
    /// `BEGIN ...`, where it is a transaction, which `COMMIT` ends; `None`: it is one statement by itself.
    pub begin: Option<String>,
    /// At least one, sent one after another; of a statement by itself this one alone.
    pub steps: Vec<SqlStep>,
    /// Each once, in the order in which they first stand in it. One value goes to all places of a marker.
    pub markers: Vec<SqlMarker>,
}

/// One statement of SQL, as it is prepared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlStep {
    /// Of its first word in the file, from 1.
    pub line: usize,
    /// With `$1`, `$2` and so on for its markers.
    pub text: String,
    /// Which of [`Sql::markers`] each of these is.
    pub parameters: Vec<usize>,
    /// Whether it is an `INSERT` that no `ON CONFLICT` turns into something else.
    pub(crate) adds_rows: bool,
}

/// A marker of SQL: `:column` or `:table.column`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlMarker {
    /// `None`: not stated.
    pub table: Option<String>,
    /// Its column.
    pub column: String,
    /// Tables into which an `INSERT` of this statement writes it.
    pub(crate) inserted_into: Vec<String>,
}

impl fmt::Display for SqlMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.table {
            Some(table) => write!(f, ":{table}.{}", self.column),
            None => write!(f, ":{}", self.column),
        }
    }
}

impl Sql {
    /// Whether each request adds rows: one of its statements is an `INSERT` that does not give way.
    pub fn adds_rows(&self) -> bool {
        self.steps.iter().any(|step| step.adds_rows)
    }

    /// The table and the column of each marker, as the server describes the script's tables; or the first one that has
    /// none.
    pub fn columns<'t>(&self, tables: &'t [Table]) -> Result<Vec<(&'t Table, &'t Column)>, String> {
        let found: Vec<_> = self.markers.iter().map(|marker| marker.of(tables)).collect::<Result<_, _>>()?;
        let same = |(number, one): (usize, &(&Table, &Column))| {
            let before = found[..number].iter().position(|(t, c)| (&t.name, &c.name) == (&one.0.name, &one.1.name));
            before.map(|before| (&self.markers[before], &self.markers[number]))
        };
        let twice = found.iter().enumerate().find_map(same);
        match twice {
            Some((one, other)) => Err(format!("{one} and {other} are the same column: write one of them")),
            None => Ok(found),
        }
    }
}

impl SqlMarker {
    fn of<'t>(&self, tables: &'t [Table]) -> Result<(&'t Table, &'t Column), String> {
        let Self { table: stated, column, .. } = self;
        let of = |table: &'t Table| {
            let all = [&table.partition_key, &table.clustering, &table.statics, &table.regular];
            let named = all.into_iter().flatten().find(|known| known.name == *column);
            named.map(|found| (table, found))
        };
        if let Some(stated) = stated {
            let table = tables.iter().find(|table| table.name == *stated);
            let table = table.ok_or_else(|| format!("{self}: the file creates no table {stated}"))?;
            return of(table).ok_or_else(|| format!("{self}: {stated} has no such column that iopslab fills"));
        }
        let is_of_key = |(table, found): &(&Table, &Column)| {
            table.partition_key.iter().chain(&table.clustering).any(|of_key| of_key.name == found.name)
        };
        let having: Vec<(&Table, &Column)> = tables.iter().filter_map(of).collect();
        let of_key: Vec<(&Table, &Column)> = having.iter().copied().filter(is_of_key).collect();
        let several = if of_key.is_empty() { having } else { of_key };
        match several.as_slice() {
            [one] => Ok(*one),
            [] => Err(format!("{self} is a column of no table: write :table.column, whose values it is given")),
            [(first, _), ..] => {
                let names: Vec<&str> = several.iter().map(|(table, _)| table.name.as_str()).collect();
                Err(format!("{self} is a column of {}: write which, as :{}.{column}", names.join(" and "), first.name))
            }
        }
    }
}
