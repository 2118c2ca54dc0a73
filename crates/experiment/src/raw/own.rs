//! Schema, data and statements of the user's own, as they are typed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Value;

use crate::spanned::{Form, Spanned};
use crate::words::words;

/// A key distribution with its parameters.
#[derive(Debug, Default, Deserialize, JsonSchema)]
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

/// What a table holds, and which of its partitions requests ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableData {
    /// Partitions that are loaded, at full scale. 0: the table begins empty. Must be stated, unless a profile of
    /// cassandra-stress has the population of the partition key.
    pub partitions: Option<Spanned<i64, u64>>,
    /// Rows of each partition: a number (default 1), or how they are distributed. More than one needs a clustering
    /// column.
    pub rows: Option<Form<u64, Size>>,
    /// How requests choose a partition: as `distribution` of YCSB workloads. Default: zipfian.
    pub distribution: Option<Form<String, Distribution>>,
    /// Instead of `distribution`: a few partitions get a share of the requests.
    pub hot_set: Option<Spanned<HotSet>>,
    /// Bytes of the values of a row, in the mean: what the plan reckons with before the data is there. Default: what
    /// the `bytes` columns and collections below have, 100 for each column of text outside the key that is not named,
    /// and 64.
    pub row_bytes: Option<Spanned<i64, u32>>,
    /// How the values of its columns are made. A column that is not named has what is usual for its type.
    #[serde(default)]
    pub columns: BTreeMap<Spanned<String>, Spanned<Value, Column>>,
}

/// A few partitions that get a share of the requests.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HotSet {
    /// How many, at full scale.
    pub partitions: Spanned<i64, u64>,
    /// Their share of the requests, 0 to 1.
    pub share: Spanned<f64>,
}

/// A number that differs: `{ min, max }` (each equally likely), `{ median, sigma, max }` (log-normal), or `{ sizes =
/// [[100, 0.9], [5000, 0.1]] }` (each with its weight).
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Size {
    /// The least.
    pub min: Option<u64>,
    /// The greatest.
    pub max: Option<u64>,
    /// Log-normal: half are below.
    pub median: Option<f64>,
    /// Log-normal: standard deviation of the logarithm.
    pub sigma: Option<f64>,
    /// Each size with its weight.
    pub sizes: Option<Vec<(u64, f64)>>,
}

/// How the values of a column are made. Which other keys it has follows from `kind`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Column {
    /// `fixed` (`value`), `values` (`values`), `uniform` (`min`, `max`), `zipfian` (`min`, `max`, `constant`),
    /// `sequence` (`start`, `step`, `each`, `cycle`), `bytes` (`length`, `compressibility`), `advancing` (`start_ms`,
    /// `step_ms`) or `collection` (`size`, `element`, `key`).
    pub kind: String,
    /// `fixed`: as in CQL, without quotes of CQL.
    #[schemars(with = "Option<serde_json::Value>")]
    pub value: Option<Value>,
    /// `values`: each with its weight, such as `[["Berlin", 3], ["Oslo", 1]]`.
    #[schemars(with = "Option<Vec<(serde_json::Value, f64)>>")]
    pub values: Option<Vec<(Value, f64)>>,
    /// The least.
    pub min: Option<f64>,
    /// The greatest.
    pub max: Option<f64>,
    /// `zipfian`: skew. Default 0.99.
    pub constant: Option<f64>,
    /// `sequence`: the first. Default 0.
    pub start: Option<i64>,
    /// `sequence`: from one to the next. Default 1.
    pub step: Option<i64>,
    /// `sequence`: so many in a row have the same value. Default 1.
    pub each: Option<u64>,
    /// `sequence`: so many values, then the first one again.
    pub cycle: Option<u64>,
    /// `bytes`: how many; a number, or how it is distributed.
    #[schemars(with = "Option<crate::spanned::Or<u64, Size>>")]
    pub length: Option<Value>,
    /// `bytes`: the share of each value that repeats, 0 to 1. Default 0.
    pub compressibility: Option<f64>,
    /// `advancing`: the first, milliseconds since 1970.
    pub start_ms: Option<i64>,
    /// `advancing`: milliseconds from row to row. Default 1000.
    pub step_ms: Option<i64>,
    /// `collection`: how many elements; a number, or how it is distributed.
    #[schemars(with = "Option<crate::spanned::Or<u64, Size>>")]
    pub size: Option<Value>,
    /// `collection`: an element, or a value of a map.
    pub element: Option<Box<Column>>,
    /// `collection`: a key of a map.
    pub key: Option<Box<Column>>,
}

words! {
    /// Instead of a number.
    pub(crate) enum SpeedWord {
        /// Whenever the request before it of its partition has ended.
        AsFastAsOrderAllows = "as_fast_as_order_allows",
    }
}

/// What requests of one statement ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatementData {
    /// Instead of that of its table.
    pub distribution: Option<Form<String, Distribution>>,
    /// Instead of that of its table.
    pub hot_set: Option<Spanned<HotSet>>,
    /// Share of the requests, 0 to 1, whose partition was not loaded: reads find nothing, writes of a whole row make a
    /// new partition. Default 0.
    pub missing: Option<Spanned<f64>>,
    /// Which row of a partition: `uniform` (default), `oldest`, `newest`, or `new` (writes alone).
    pub rows: Option<Spanned<String>>,
    /// For `LIMIT ?` and `PER PARTITION LIMIT ?`.
    pub limit: Option<Spanned<i64, u32>>,
    /// Keys in the list of `IN ?`.
    pub in_keys: Option<Spanned<i64, u32>>,
    /// Rows between the two ends of a range (`>= ?` and `< ?`).
    pub range_rows: Option<Spanned<i64, u64>>,
    /// For `USING TTL ?`, seconds.
    pub ttl_s: Option<Spanned<i64, u32>>,
}
