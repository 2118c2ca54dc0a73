//! What is in the tables and what requests ask for, as it is stated.

mod check;
mod generator;
mod size;
mod unfit;
mod weighted;

pub use generator::{Generator, MOST_ELEMENTS};
pub use size::Size;
pub(crate) use size::Sizes;
pub use unfit::{At, Unfit};
pub(crate) use weighted::Weighted;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use workload::Distribution;

/// What is in the tables and what requests ask for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Data {
    /// Of all values: the same seed makes the same rows.
    pub seed: u64,
    /// Each table that is loaded or written.
    pub tables: Vec<TableData>,
    /// What requests ask for, by name of the statement; of one that is not here the default.
    pub statements: BTreeMap<String, StatementData>,
}

/// The rows of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableData {
    /// Its name, as the server spells it.
    pub table: String,
    /// How many are loaded. With 0 the table begins empty.
    pub partitions: u64,
    /// Rows of each partition, at least 1; one in a table without clustering columns.
    pub rows: Size,
    /// How requests choose a partition, where their statement does not say otherwise.
    pub population: Population,
    /// How values are made, by column; others have what is usual for their type.
    pub columns: BTreeMap<String, Generator>,
}

/// How requests choose a partition.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Population {
    /// As YCSB chooses records.
    Of(Distribution),
    /// A few partitions get a share of the requests, all others the rest; within each all are equally likely.
    HotSet {
        /// So many are hot.
        hot_partitions: u64,
        /// Share of the requests that goes to them, 0..=1.
        share: f64,
    },
}

impl Default for Population {
    /// Zipfian with YCSB's constant.
    fn default() -> Self {
        Self::Of(Distribution::Zipfian { constant: 0.99 })
    }
}

/// What requests of one statement ask for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StatementData {
    /// How partitions are chosen; `None`: as their table says.
    pub population: Option<Population>,
    /// Share of the requests, 0..=1, whose partition was not loaded. What is read or deleted there does not exist; an
    /// `INSERT` or `UPDATE` makes the next new partition, which `latest` then chooses as well.
    pub missing: f64,
    /// Which row of the partition.
    pub rows: RowChoice,
    /// For `LIMIT ?` and `PER PARTITION LIMIT ?`.
    pub limit: Option<u32>,
    /// Keys in the list of `IN ?`. (`IN (?, ?)` has as many as it has markers.)
    pub in_keys: Option<u32>,
    /// Rows from the lower to the upper end of a range (`ck >= ? AND ck < ?`).
    pub range_rows: Option<u64>,
    /// For `USING TTL ?`, seconds.
    pub ttl_s: Option<u32>,
}

/// Which row of a partition a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowChoice {
    /// Each equally likely.
    #[default]
    Uniform,
    /// The first.
    Oldest,
    /// The last of those that were loaded.
    Newest,
    /// A new one: its number follows those of all loaded rows. For writes.
    New,
}

impl Data {
    /// The rows of a table.
    pub fn table(&self, name: &str) -> Option<&TableData> {
        self.tables.iter().find(|table| table.table == name)
    }

    /// A model of 1:`scale`: partitions, and those of a hot set, divided by it (at least 1) and rounded up; everything
    /// else as it is.
    #[must_use]
    pub fn scaled(&self, scale: f64) -> Self {
        let smaller = |partitions: u64| (partitions as f64 / scale.max(1.0)).ceil() as u64;
        let scaled = |population: Population| match population {
            Population::HotSet { hot_partitions, share } => {
                Population::HotSet { hot_partitions: smaller(hot_partitions), share }
            }
            other @ Population::Of(_) => other,
        };
        let mut data = self.clone();
        for table in &mut data.tables {
            table.partitions = smaller(table.partitions);
            table.population = scaled(table.population);
        }
        for statement in data.statements.values_mut() {
            statement.population = statement.population.map(scaled);
        }
        data
    }
}

impl TableData {
    /// One row in each partition, what is usual otherwise.
    pub fn new(table: &str, partitions: u64) -> Self {
        let (rows, population) = (Size::fixed(1), Population::default());
        Self { table: table.to_owned(), partitions, rows, population, columns: BTreeMap::new() }
    }

    /// Rows that are loaded, as many as are expected of their distribution.
    pub fn expected_rows(&self) -> f64 {
        self.partitions as f64 * self.rows.mean().max(1.0)
    }
}
