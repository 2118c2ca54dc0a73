//! Schema, data and statements of the user's own, checked: what a data set is made by, and what is asked of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use statements::{Data, Population, Script, TableData};
use workload::{Definition, OperationKind};

/// What the workloads of an experiment have in common whose statements are the user's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Own {
    /// Path of the file of CQL, or of the profile of cassandra-stress, as the experiment names it.
    pub file: String,
    /// What is in it. Lines are those of the file.
    pub script: Script,
    /// What its tables hold, and what its statements ask for.
    pub data: Data,
    /// Bytes of the values of a row in the mean, by table: as stated or guessed, for estimates alone.
    pub row_bytes: BTreeMap<String, u32>,
    /// Where the statements were recorded, whose requests are sent again; `None`: requests are made.
    pub replay: Option<Replay>,
}

/// Requests that are sent again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    /// Whole path of the file or directory, on the machine that reads it.
    pub path: String,
    /// Hash of its files, so that the same is sent.
    pub sha256: String,
    /// One partition of so many is there, with its rows and its requests.
    pub thinned: u64,
}

/// A recording, as it was read for an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// As [`Replay::path`].
    pub path: String,
    /// As [`Replay::sha256`].
    pub sha256: String,
    /// What is in it.
    pub summary: query_log::Summary,
}

impl Own {
    /// Names of the tables, in the order in which they are created.
    pub fn tables(&self) -> Vec<String> {
        self.script.tables().map(str::to_owned).collect()
    }

    /// The statements of one workload alone, in the order of its shares and with them as weights.
    #[must_use]
    pub fn of_workload(&self, workload: &Definition) -> Self {
        let share = |name: &str| OperationKind::from_name(name).map_or(0.0, |kind| workload.share(kind));
        let mut own = self.clone();
        own.script.statements.retain_mut(|statement| {
            statement.weight = share(&statement.name);
            statement.weight > 0.0
        });
        own
    }

    /// Everything that decides which rows are loaded, and into which tables: what requests ask for is no part of it.
    ///
    /// # Panics
    /// Never: plain values are always written.
    pub fn identity(&self) -> String {
        let schema: Vec<&str> = self.script.schema.iter().map(|statement| statement.text.as_str()).collect();
        let rows = |table: &TableData| TableData { population: Population::default(), ..table.clone() };
        let rows: Vec<TableData> = self.data.tables.iter().map(rows).collect();
        let rows = serde_json::to_string(&rows).expect("plain values are always written");
        let thinned = match self.thinned() {
            1 => String::new(),
            of => format!("\n1 partition of {of}"),
        };
        format!("{}\nseed {}\n{rows}{thinned}", schema.join(";\n"), self.data.seed)
    }

    /// One partition of so many is there.
    fn thinned(&self) -> u64 {
        self.replay.as_ref().map_or(1, |replay| replay.thinned)
    }

    /// Whether the partition of this key is there, with its rows and with the requests that were recorded of it.
    #[inline]
    pub fn keeps(&self, key: &[u8]) -> bool {
        query_log::keeps(key, self.thinned())
    }

    /// Rows of all tables, and bytes of their values: estimates, until the data is there.
    pub fn size(&self) -> (f64, f64) {
        let each = self.data.tables.iter().map(|table| {
            let row_bytes = self.row_bytes.get(&table.table).copied().unwrap_or_default();
            (table.expected_rows(), f64::from(row_bytes))
        });
        let thinned = self.thinned() as f64;
        each.map(|(of_table, row_bytes)| (of_table / thinned, row_bytes))
            .fold((0.0, 0.0), |(rows, bytes), (of_table, row_bytes)| (rows + of_table, bytes + of_table * row_bytes))
    }

    /// On a model of 1:`scale`. What was recorded asks for keys as they are: of those one of N stays, whatever its
    /// number.
    #[must_use]
    pub(crate) fn scaled(&self, scale: f64) -> Self {
        match &self.replay {
            Some(replay) => {
                let thinned = scale.round().max(1.0) as u64;
                Self { replay: Some(Replay { thinned, ..replay.clone() }), ..self.clone() }
            }
            None => Self { data: self.data.scaled(scale), ..self.clone() },
        }
    }
}
