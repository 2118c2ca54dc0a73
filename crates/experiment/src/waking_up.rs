//! `waking_up` of `[provider.simulated]`: what a simulated database does until it is at rest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a simulated database wakes up. Its process is new in each trial, so that the warm-up is all that it has for that.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WakingUp {
    /// CPU seconds that the compilers of a node need for the code of the workload. 0: it is compiled. (Cassandra 5.0.9 takes about
    /// 22.)
    pub compile_cpu_s: f64,
    /// Share of a node's CPUs that its compilers take at first, 0 to below 1; it falls as less is left to compile.
    pub compiler_share: f64,
    /// CPU time of an operation while nothing is compiled, against that when all is: 1 or more.
    pub cold_cost: f64,
    /// Share of the page cache that is filled when a trial begins whose page cache is to be warm, 0 to 1; device reads fill the rest.
    pub cached_share: f64,
    /// Bytes that are written to a node before it flushes for the first time: until then its data volume is not written.
    pub first_flush_bytes: f64,
}

impl Default for WakingUp {
    fn default() -> Self {
        Self {
            compile_cpu_s: 22.0,
            compiler_share: 0.35,
            cold_cost: 6.0,
            cached_share: 1.0,
            first_flush_bytes: 0.0,
        }
    }
}

impl WakingUp {
    /// What is impossible about these figures, if anything.
    pub(crate) fn problem(&self) -> Option<String> {
        let figures: [(&str, f64, bool, &str); 5] = [
            (
                "compile_cpu_s",
                self.compile_cpu_s,
                self.compile_cpu_s >= 0.0,
                "0 or more",
            ),
            (
                "compiler_share",
                self.compiler_share,
                (0.0..1.0).contains(&self.compiler_share),
                "0 or more and below 1",
            ),
            ("cold_cost", self.cold_cost, self.cold_cost >= 1.0, "1 or more"),
            (
                "cached_share",
                self.cached_share,
                (0.0..=1.0).contains(&self.cached_share),
                "0 to 1",
            ),
            (
                "first_flush_bytes",
                self.first_flush_bytes,
                self.first_flush_bytes >= 0.0,
                "0 or more",
            ),
        ];
        let is_bad = |(_, value, ok, _): &&(&str, f64, bool, &str)| !(value.is_finite() && *ok);
        let (name, value, _, expected) = figures.iter().find(is_bad)?;
        Some(format!("{name} of waking_up cannot be {value}: {expected}"))
    }
}
