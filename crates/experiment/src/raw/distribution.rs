//! How keys, or partitions, are chosen, as it is typed.

use schemars::JsonSchema;
use serde::Deserialize;

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
