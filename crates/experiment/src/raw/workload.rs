//! Workloads as they are typed.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::{Spanned, Value};

/// What is asked of the database. Proportions sum to 1; or `ycsb` names a property file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Workload {
    /// Unique name. Default for a YCSB file: the file's name.
    #[schemars(with = "Option<String>")]
    pub name: Option<Spanned<String>>,
    /// Path of a YCSB CoreWorkload property file, relative to this file. Excludes all other keys but `name`.
    #[schemars(with = "Option<String>")]
    pub ycsb: Option<Spanned<String>>,
    /// Share of reads, 0 to 1.
    #[schemars(with = "Option<f64>")]
    pub read: Option<Spanned<f64>>,
    /// Share of updates.
    #[schemars(with = "Option<f64>")]
    pub update: Option<Spanned<f64>>,
    /// Share of inserts of new records.
    #[schemars(with = "Option<f64>")]
    pub insert: Option<Spanned<f64>>,
    /// Share of scans.
    #[schemars(with = "Option<f64>")]
    pub scan: Option<Spanned<f64>>,
    /// Share of read-modify-writes.
    #[schemars(with = "Option<f64>")]
    pub read_modify_write: Option<Spanned<f64>>,
    /// `uniform`, `zipfian` (the default), `latest`, `hotspot`, `exponential`, `sequential`; or a table with `kind` and
    /// parameters.
    #[schemars(with = "Option<DistributionForms>")]
    pub distribution: Option<Spanned<Value>>,
    /// Read all fields (default) or one at random. For workloads that read or read-modify-write.
    #[schemars(with = "Option<bool>")]
    pub read_all_fields: Option<Spanned<bool>>,
    /// Update all fields, or one at random (default). For workloads that update or read-modify-write.
    #[schemars(with = "Option<bool>")]
    pub write_all_fields: Option<Spanned<bool>>,
    /// Fewest records of a scan. Default 1.
    #[schemars(with = "Option<u32>")]
    pub min_scan_length: Option<Spanned<i64>>,
    /// Most records of a scan. Default 1000.
    #[schemars(with = "Option<u32>")]
    pub max_scan_length: Option<Spanned<i64>>,
    /// `uniform` (default) or `zipfian`.
    #[schemars(with = "Option<String>")]
    pub scan_length_distribution: Option<Spanned<String>>,
}

/// A name, or a table with parameters.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(
    dead_code,
    reason = "describes the file for the schema; values are read by hand to keep their places"
)]
pub(crate) enum DistributionForms {
    /// Name alone: YCSB's default parameters.
    Name(String),
    /// With parameters.
    Parameters(Distribution),
}

/// A key distribution with its parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Distribution {
    /// Name.
    pub kind: String,
    /// `zipfian`: skew. Default 0.99.
    pub constant: Option<f64>,
    /// `hotspot`: share of the records that is hot. Default 0.2.
    pub data_fraction: Option<f64>,
    /// `hotspot`: share of the operations that goes there. Default 0.8.
    pub operation_fraction: Option<f64>,
    /// `exponential`: percentile. Default 95.
    pub percentile: Option<f64>,
    /// `exponential`: fraction of the records that the percentile falls in. Default 0.8571428571.
    pub fraction: Option<f64>,
}
