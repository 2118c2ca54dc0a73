//! Schema, data and statements of the user's own, checked: what a data set is made by, and what is asked of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use statements::{Data, Population, Script, TableData};
use workload::{Definition, OperationKind};

use crate::{Snapshot, StatementSample};

/// What the workloads of an experiment have in common whose statements are the user's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Own {
    /// Path of the file of CQL or SQL, or of the profile of cassandra-stress, as the experiment names it.
    pub file: String,
    /// What is in it. Lines are those of the file.
    pub script: Script,
    /// What its tables hold, and what its statements ask for.
    pub data: Data,
    /// Bytes of the values of a row in the mean, by table: as stated or guessed, for estimates alone.
    pub row_bytes: BTreeMap<String, u32>,
    /// Where the statements were recorded, whose requests are sent again; `None`: requests are made.
    pub replay: Option<Replay>,
    /// What its tables hold, where that is what a cluster has had; `None`: rows are made as `data` has it.
    pub snapshot: Option<Snapshot>,
}

/// Standard errors of the share of a sample that asks for what is missing by which it may be more than is stated: one
/// sample in a thousand is further off.
const CHANCE: f64 = 3.0;

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

    /// Names of all that has files of its own: the tables, then the materialised views.
    pub fn tables_and_views(&self) -> Vec<String> {
        let views = self.script.views().map(|(view, _)| view);
        self.script.tables().chain(views).map(str::to_owned).collect()
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
        let schema = schema.join(";\n");
        match &self.snapshot {
            // Its rows are as they are, whatever requests are made of.
            Some(snapshot) => {
                let tables: Vec<&str> = snapshot.tables.iter().map(|table| table.sha256.as_str()).collect();
                format!("{schema}\nsnapshot {}", tables.join(" "))
            }
            None => format!("{schema}\nseed {}\n{rows}{thinned}", self.data.seed),
        }
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

    /// Rows of all tables, and bytes of their values: estimates, until the data is there. Of a snapshot the bytes are
    /// those of its files, the most that one node has to hold. A materialised view has at most the bytes of its table
    /// once more; indexes are not known before they are there.
    pub fn size(&self) -> (f64, f64) {
        let each = self.data.tables.iter().map(|table| {
            let row_bytes = self.row_bytes.get(&table.table).copied().unwrap_or_default();
            let views = self.script.views().filter(|(_, of)| *of == table.table).count();
            (table.expected_rows(), f64::from(row_bytes) * (views + 1) as f64)
        });
        let thinned = self.thinned() as f64;
        let (rows, bytes) = each
            .map(|(of_table, row_bytes)| (of_table / thinned, row_bytes))
            .fold((0.0, 0.0), |(rows, bytes), (of_table, row_bytes)| (rows + of_table, bytes + of_table * row_bytes));
        (rows, self.snapshot.as_ref().map_or(bytes, |snapshot| snapshot.bytes() as f64))
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

    /// Whether the requests of each statement find what they are to find in a restored snapshot.
    pub fn check_sample(&self, sample: &[StatementSample]) -> Result<(), String> {
        let Some(snapshot) = &self.snapshot else { return Ok(()) };
        let lacks = |one: &&StatementSample| {
            let missing = self.data.statements.get(&one.statement).map_or(0.0, |stated| stated.missing);
            let asked = f64::from(one.asked.max(1));
            // How many of these requests ask for what is missing is chance, which is not held against the snapshot.
            let of_chance = CHANCE * (missing * (1.0 - missing) / asked).sqrt();
            let least = snapshot.least_found * (1.0 - missing - of_chance).max(0.0);
            one.asked > 0 && f64::from(one.found) / asked < least
        };
        let lacking: Vec<String> = sample
            .iter()
            .filter(lacks)
            .map(|one| format!("{} {} of {}", one.statement, one.found, one.asked))
            .collect();
        match lacking.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "requests ask for what the snapshot does not have: of those that were tried, {} found something, and \
                 at least {:.0} % have to",
                lacking.join(", "),
                snapshot.least_found * 100.0
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use statements::StatementData;

    use super::*;
    use crate::SnapshotTable;

    fn own() -> Own {
        let text = "CREATE TABLE t (k int PRIMARY KEY);
            -- statement read weight 1
            SELECT * FROM t WHERE k = ?;
            -- statement seldom weight 1
            SELECT * FROM t WHERE k = ?;";
        let seldom = StatementData { missing: 0.75, ..StatementData::default() };
        let statements = [("seldom".to_owned(), seldom)].into();
        let sha256 = "ab".to_owned();
        let table = SnapshotTable { name: "t".to_owned(), folders: 1, sstables: 2, bytes: 7, sha256 };
        Own {
            file: "t.cql".to_owned(),
            script: Script::parse(text, &["one"]).unwrap(),
            data: Data { seed: 1, tables: Vec::new(), statements },
            row_bytes: BTreeMap::new(),
            replay: None,
            snapshot: Some(Snapshot {
                place: crate::DataSetPlace::Directory { path: "/snapshot".to_owned() },
                tables: vec![table.clone(), SnapshotTable { bytes: 5, ..table }],
                least_found: 0.9,
            }),
        }
    }

    fn sample(statement: &str, asked: u32, found: u32) -> StatementSample {
        StatementSample { statement: statement.to_owned(), asked, found }
    }

    #[test]
    fn requests_find_what_they_are_to_find_or_are_named() {
        let own = own();
        assert_eq!(own.snapshot.as_ref().map(Snapshot::bytes), Some(12));
        // Three quarters of the second one's requests are stated to find nothing: of 100 it may be 62 or 88.
        assert_eq!(own.check_sample(&[sample("read", 100, 90), sample("seldom", 100, 12)]), Ok(()));
        assert!(own.check_sample(&[sample("seldom", 10_000, 2_000)]).is_err(), "of 10,000 it may not be 8,000");
        assert_eq!(own.check_sample(&[sample("read", 0, 0)]), Ok(()), "nothing of it could be looked up");
        let refused = own.check_sample(&[sample("read", 100, 89), sample("seldom", 100, 10)]).unwrap_err();
        assert!(refused.contains("read 89 of 100, seldom 10 of 100 found something"), "{refused}");
        assert!(refused.contains("at least 90 % have to"), "{refused}");
    }

    #[test]
    fn another_snapshot_is_another_data_set() {
        let one = own();
        let mut other = own();
        assert_eq!(one.identity(), other.identity());
        other.snapshot.as_mut().unwrap().least_found = 0.5;
        other.data.seed = 2;
        assert_eq!(one.identity(), other.identity(), "what is asked of it decides no file");
        other.snapshot.as_mut().unwrap().tables[1].sha256 = "cd".to_owned();
        assert_ne!(one.identity(), other.identity());
        assert!((one.size().1 - 12.0).abs() < 1e-9, "its files, not an estimate");
        let snapshot = other.snapshot.as_mut().unwrap();
        snapshot.tables[0].bytes = u64::MAX;
        assert_eq!(snapshot.bytes(), u64::MAX, "more than can be counted is not little");
    }
}
