//! Workloads as they are typed.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;

use super::own::{Distribution, SpeedWord, StatementData, TableData};
use crate::spanned::{Form, Spanned, place};

/// In which language a workload's own statements are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Cql,
    Sql,
}

impl Language {
    /// The key of a workload that names its file.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Cql => "cql",
            Self::Sql => "sql",
        }
    }

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cql => "CQL",
            Self::Sql => "SQL",
        }
    }
}

/// What is asked of the database. Proportions sum to 1; or `ycsb` names a property file; or `cql` or `sql` a file with
/// schema and statements of your own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Workload {
    /// Unique name. Default for a YCSB file: the file's name.
    pub name: Option<Spanned<String>>,
    /// Path of a YCSB CoreWorkload property file, relative to this file. Excludes all other keys but `name`.
    pub ycsb: Option<Spanned<String>>,
    /// Path of a file of CQL with schema and statements of your own, relative to this file; or, with the ending `.yaml`
    /// or `.yml`, of a user profile of cassandra-stress. Excludes the keys of YCSB, and goes with `weights`, `tables`
    /// and `statements`.
    pub cql: Option<Spanned<String>>,
    /// The same in SQL, for PostgreSQL: tables and indexes, statements and transactions whose markers are `:column` or
    /// `:table.column`.
    pub sql: Option<Spanned<String>>,
    /// Path of a recording, relative to this file: JSON Lines, a `.cq4` file of Cassandra's full query log, or a
    /// directory of `.cq4` files or of a folder with them for each node. What was asked then is asked again. Goes with
    /// `cql`, whose file then has the schema alone, and `tables`.
    pub replay: Option<Spanned<String>>,
    /// With `replay`: how much faster than recorded. Default 1. Or `"as_fast_as_order_allows"`: `[load] concurrency` in
    /// flight, those of a partition one after the other.
    pub speed: Option<Form<f64, SpeedWord>>,
    /// With `cql` or `sql`: weights of statements by name, instead of those of the file; 0 leaves one out. Of a profile
    /// of cassandra-stress the operations that are asked: as `ops(insert=1,read1=3)`, must be stated.
    #[serde(default)]
    pub weights: BTreeMap<Spanned<String>, Spanned<f64>>,
    /// With `cql` or `sql`: what each table holds. Of several workloads of one file the first states it.
    #[serde(default)]
    pub tables: BTreeMap<Spanned<String>, Spanned<TableData>>,
    /// With `cql` or `sql`: what requests of a statement ask for, by name.
    #[serde(default)]
    pub statements: BTreeMap<Spanned<String>, Spanned<StatementData>>,
    /// Share of reads, 0 to 1.
    pub read: Option<Spanned<f64>>,
    /// Share of updates.
    pub update: Option<Spanned<f64>>,
    /// Share of inserts of new records.
    pub insert: Option<Spanned<f64>>,
    /// Share of scans.
    pub scan: Option<Spanned<f64>>,
    /// Share of read-modify-writes.
    pub read_modify_write: Option<Spanned<f64>>,
    /// `uniform`, `zipfian` (the default), `latest`, `hotspot`, `exponential`, `sequential`; or a table with `kind` and
    /// parameters.
    pub distribution: Option<Form<String, Distribution>>,
    /// Read all fields (default) or one at random. For workloads that read or read-modify-write.
    pub read_all_fields: Option<Spanned<bool>>,
    /// Update all fields, or one at random (default). For workloads that update or read-modify-write.
    pub write_all_fields: Option<Spanned<bool>>,
    /// Fewest records of a scan. Default 1.
    pub min_scan_length: Option<Spanned<i64, u32>>,
    /// Most records of a scan. Default 1000.
    pub max_scan_length: Option<Spanned<i64, u32>>,
    /// `uniform` (default) or `zipfian`.
    pub scan_length_distribution: Option<Spanned<String>>,
}

impl Workload {
    /// The file of statements of the user's own in this language.
    pub fn stated(&self, language: Language) -> Option<&Spanned<String>> {
        match language {
            Language::Cql => self.cql.as_ref(),
            Language::Sql => self.sql.as_ref(),
        }
    }

    /// The file of statements of the user's own, and their language.
    pub fn own(&self) -> Option<(Language, &Spanned<String>)> {
        let mut languages = [Language::Cql, Language::Sql].into_iter();
        languages.find_map(|language| Some((language, self.stated(language)?)))
    }

    /// What a property file states as well: each key with its place, if it is stated.
    pub fn keys(&self) -> [(&'static str, Option<Range<usize>>); 11] {
        [
            ("read", place(&self.read)),
            ("update", place(&self.update)),
            ("insert", place(&self.insert)),
            ("scan", place(&self.scan)),
            ("read_modify_write", place(&self.read_modify_write)),
            ("distribution", place(&self.distribution)),
            ("read_all_fields", place(&self.read_all_fields)),
            ("write_all_fields", place(&self.write_all_fields)),
            ("min_scan_length", place(&self.min_scan_length)),
            ("max_scan_length", place(&self.max_scan_length)),
            ("scan_length_distribution", place(&self.scan_length_distribution)),
        ]
    }
}
