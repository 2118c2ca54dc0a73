//! `[load]` as it is typed.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::CacheState;
use crate::spanned::{Form, Spanned};
use crate::words::words;

/// Load levels and the shape of a trial.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Load {
    /// Closed loop: requests in flight, one load level each (YCSB's "threads").
    #[serde(default)]
    pub concurrency: Vec<Spanned<i64, u32>>,
    /// Open loop: operations per second at full scale, one load level each (divided by `scale`); or `"find"`: for each
    /// configuration and workload the highest rate that meets `[objective]` is searched for and then measured.
    pub rate: Option<Form<Vec<f64>, FindWord>>,
    /// Arrivals of the open loop: `poisson` (default) or `constant`.
    pub arrival: Option<Spanned<String>>,
    /// Cells that are measured, where not all are to be, each by its name in the plan: `gp3-3000.night.c64`, or all of
    /// a configuration: `gp3-3000`, `gp3-3000.night`. They have to be all that their configurations, workloads and load
    /// levels make. Default: all.
    pub only: Option<Spanned<Vec<Spanned<String>>>>,
    /// Client processes that share each level, each on a host of its own where there are several; or `"auto"`, with
    /// rates alone: as many as the highest of them takes (on AWS by the CPUs of the clients' type), or as many machines
    /// as are named for clients. Default 1.
    pub clients: Option<Form<u32, AutoWord>>,
    /// Seconds before measurement, under the same load and all limits. Default 20.
    pub warmup_s: Option<Spanned<f64>>,
    /// `"auto"`: warm up until throughput has stabilised (the report's own rule), instead of `warmup_s`.
    pub warmup: Option<Spanned<String, AutoWord>>,
    /// With `warmup = "auto"`: most seconds of warm-up. Default 300.
    pub max_warmup_s: Option<Spanned<f64>>,
    /// Most seconds of JIT warm-up of a new process of the database before a trial, by the workload's own operations
    /// and while no limit holds, until its compilers are quiet; and most seconds in which the page cache settles.
    /// Default 120; 0: neither is waited for.
    pub rest_max_s: Option<Spanned<f64>>,
    /// Processes of the database that share out the trials of a block, each brought to rest once. Default 1: what one
    /// process has compiled well or badly then cancels in the block's ratios. As many as a block has trials, or more:
    /// one for each trial.
    pub forks: Option<Spanned<i64, u32>>,
    /// How the page cache stands before the warm-up: `warm` (the default: it holds what the workload's own keys leave
    /// in it), `cold` (nothing of the data set is in it), or both, `["cold", "warm"]`, which measures each workload in
    /// both states.
    pub cache: Option<Form<CacheState, Vec<CacheState>>>,
    /// Measured seconds. Default 60; a bound on the time when `operations` is given.
    pub duration_s: Option<Spanned<f64>>,
    /// Measured operations at full scale; the trial ends at whichever comes first.
    pub operations: Option<Spanned<i64, u64>>,
    /// Trials of each cell; or `"auto"`: repeat until every ratio to the baseline is known to `precision`, or a budget
    /// is spent (at least 3); or `"adaptive"`: repeat until the answer is decided, after 3 trials of each (2 of what is
    /// beaten by far) only the cells that still matter to it. Default 3.
    pub repetitions: Option<Form<u32, RepetitionsWord>>,
    /// With `repetitions = "auto"`: half-width of the 95 % interval of each ratio, as a share. Default 0.05.
    pub precision: Option<Spanned<f64>>,
    /// With `repetitions = "auto"` or `"adaptive"`: most trials of a cell. Default 20, and 12.
    pub max_repetitions: Option<Spanned<i64, u32>>,
    /// With `repetitions = "auto"` or `"adaptive"`: no new block is begun after this many minutes of trials. Default:
    /// no bound.
    pub budget_minutes: Option<Spanned<f64>>,
    /// With `repetitions = "auto"` or `"adaptive"`: no new block is begun once the trials would have cost this much,
    /// USD, each configuration by the hour for its own trials. Needs a price for every configuration. Default: no
    /// bound.
    pub budget_usd: Option<Spanned<f64>>,
    /// With `repetitions = "adaptive"`: months for which a configuration is chosen. No new block is begun that would
    /// cost more than the present best choice is expected to lose in this time, each configuration by the hour for its
    /// own trials. Needs a price for every configuration, and closed loops without `[objective]`. Default: not weighed.
    pub horizon_months: Option<Spanned<f64>>,
    /// Seed of the order of trials and of the key choosers. Default 1.
    pub seed: Option<Spanned<i64, u64>>,
    /// Client-side timeout of a request, seconds. Default 30.
    pub request_timeout_s: Option<Spanned<f64>>,
}

words! {
    /// Instead of a number.
    pub(crate) enum AutoWord {
        /// As many as it takes.
        Auto = "auto",
    }
}

words! {
    /// Instead of a number of trials.
    pub(crate) enum RepetitionsWord {
        /// Whole blocks, until every ratio to the baseline is known.
        Auto = "auto",
        /// Blocks of the cells that matter, until the answer is decided.
        Adaptive = "adaptive",
    }
}

words! {
    /// Instead of rates.
    pub(crate) enum FindWord {
        /// The highest that meets the objective.
        Find = "find",
    }
}

impl Load {
    /// The number of clients with its place, where it is stated as one.
    pub fn stated_clients(&self) -> Option<(Range<usize>, i64)> {
        let given = self.clients.as_ref()?;
        Some((given.span(), given.as_integer()?))
    }
}
