//! `[sweep]` as it is typed.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// What is varied beside configurations, workloads and load levels.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sweep {
    /// Data set over page cache, such as `[0.5, 1, 2, 5, 10]`: each workload is measured with page caches of these sizes,
    /// the data set being the same. 0.05 to 1000. Trials begin warm unless `cache` in `[load]` says otherwise.
    #[schemars(with = "Vec<f64>")]
    pub cache_ratio: Spanned<Vec<Spanned<f64>>>,
    /// What makes the ratios: `"memory"`, the page cache, beside the one data set. `"records"` is refused: each ratio would need a
    /// data set of its own, and an experiment has one. Default: `"memory"`.
    #[schemars(with = "Option<String>")]
    pub cache_ratio_by: Option<Spanned<String>>,
}
