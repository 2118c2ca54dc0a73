//! Settings of a configuration, and those for several.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Value;

use super::instance::WeightingWord;
use crate::spanned::Spanned;

/// Keys of somebody else, each with its place.
pub(crate) type Keys = BTreeMap<Spanned<String>, Spanned<Value, serde_json::Value>>;

/// A set of settings for all configurations, or for the named ones: each of them is measured with these settings too,
/// as a configuration of its own called `CONFIGURATION_VARIANT`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variant {
    /// Unique name. Letters, digits, `-` and `_`.
    pub name: Spanned<String>,
    /// Names of the configurations that get it. Default: all.
    pub configurations: Option<Vec<Spanned<String>>>,
    /// What is otherwise. It comes after the configuration's own settings, and wins where both state the same.
    pub settings: Option<Spanned<Settings>>,
    /// Instead of the configuration's own.
    pub bandwidth_weighting: Option<Spanned<String, WeightingWord>>,
}

/// What of a configuration is otherwise than iopslab has it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Options of its JVM, after iopslab's own, such as `-XX:TieredStopAtLevel=1`. Refused are those that iopslab
    /// keeps to itself: memory, CPUs, files, logs, ports, start and end.
    pub jvm: Option<Vec<Spanned<String>>>,
    /// Keys of `cassandra.yaml`, such as `concurrent_reads = 64` or `compaction_throughput = "16MiB/s"`. Refused are
    /// those that iopslab keeps to itself: directories, addresses, place in the cluster, security.
    pub cassandra: Option<Keys>,
    /// Options of the data set's table (`WITH` of CQL), such as `compression = { chunk_length_in_kb = 4 }`. The data
    /// set is loaded with them and kept apart.
    pub table: Option<Keys>,
    /// Of the machine: `read_ahead_kb` of the configuration's volumes.
    #[schemars(with = "Option<Host>")]
    pub host: Option<Keys>,
}

/// Settings of a machine.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes the keys for the schema; the check reads them with their places")]
pub(crate) struct Host {
    /// Read-ahead of the configuration's volumes, KiB: whole pages of 4.
    pub read_ahead_kb: Option<u32>,
}
