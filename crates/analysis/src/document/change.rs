//! Two runs against each other, and the gates on them.

use std::collections::BTreeMap;

use experiment::LoadLevel;
use serde::{Deserialize, Serialize};
use stats::{Contrast, Estimate};

use super::ratio::{Metric, Verdict};
use super::withheld::Withheld;

/// `compare`'s document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Version of this document's shape.
    pub format_version: u32,
    /// Name of the first run: the reference.
    pub a: String,
    /// Name of the second run.
    pub b: String,
    /// Both are one run, or one and a copy of it: nothing can have changed.
    pub same_run: bool,
    /// Both are simulations of one truth with one seed: what differs between them was changed in the experiment, and
    /// no noise is.
    pub same_seed: bool,
    /// N of the 1:N models of the first run and the second, where they differ: figures are those of different models.
    pub scales_differ: Option<(f64, f64)>,
    /// What is known to differ between the runs: settings, machine.
    pub differences: Vec<String>,
    /// Facts by which the two machines differ: their difference is part of every change. Empty where they are alike as
    /// far as is known.
    pub hosts_differ: Vec<String>,
    /// Cells that only one of the runs has, with the reason.
    pub not_compared: Vec<String>,
    /// Cells that both have.
    pub cells: Vec<CellChange>,
    /// How gates were decided; empty without gates.
    pub gates: Vec<GateResult>,
}

impl Comparison {
    /// What of `differences` makes other work of the same cell: data, requests, copies that are kept and waited for,
    /// the database's version. Where scales differ data follow from that.
    pub fn unlike(&self) -> Vec<String> {
        let is_other_work = |line: &&String| {
            let mut keys = line.split(": ").next().unwrap_or_default().split('.');
            match keys.next() {
                Some("dataset") => self.scales_differ.is_none(),
                Some("provider") => true,
                Some("target") => keys.any(|key| matches!(key, "consistency" | "version")),
                // What one run alone has is not compared.
                Some("workloads") => keys.nth(1).is_some(),
                Some("configurations") => {
                    keys.skip(1).any(|key| matches!(key, "consistency" | "placement" | "version"))
                }
                _ => false,
            }
        };
        self.differences.iter().filter(is_other_work).cloned().collect()
    }
}

/// A cell in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct CellChange {
    /// Cell identity.
    pub cell: String,
    pub configuration: String,
    pub workload: String,
    pub load: LoadLevel,
    /// By metric: `throughput` (operations/s), `mean`, `p50`, `p95`, `p99`, `p999` (microseconds, of the worst
    /// operation kind).
    pub metrics: BTreeMap<Metric, Change>,
    /// What was measured instead of its storage in its sustained state: in the first run, ...
    pub withheld_a: Option<Withheld>,
    /// ... and in the second.
    pub withheld_b: Option<Withheld>,
}

/// A metric in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// In the first run.
    pub a: Estimate,
    /// In the second run.
    pub b: Estimate,
    /// (b / a - 1) x 100, per cent, from the ratio of geometric means.
    pub change_percent: f64,
    /// Lower end of its interval, adjusted for all cells of this metric (Holm); the change itself where nothing could
    /// be tested.
    pub low_percent: f64,
    /// Upper end.
    pub high_percent: f64,
    /// The interval misses the truth in this share of comparisons; 0 where nothing was tested.
    pub level: f64,
    /// p-value of "nothing changed"; `None` with fewer than three trials on a side.
    pub p_value: Option<f64>,
    /// The same, adjusted by Holm for all cells of this metric.
    pub p_adjusted: Option<f64>,
    /// Smallest change upwards that these repetitions show in 80 of 100 comparisons at that level, per cent.
    pub smallest_detectable_percent: Option<f64>,
    /// For the second run against the first: `faster`, `slower`, ... For latencies lower is faster.
    pub verdict: Verdict,
    /// The difference of logarithms that the above is made from.
    #[serde(skip)]
    pub(crate) contrast: Option<Contrast>,
}

/// How a gate ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// Every cell is shown to lie on the good side of the threshold.
    Passed,
    /// Something could not be decided, and nothing failed.
    Inconclusive,
    /// A cell is shown to lie beyond the threshold.
    Failed,
}

/// How a gate was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateResult {
    /// As it was written.
    pub expression: String,
    /// How it ended.
    pub outcome: GateOutcome,
    /// The cells that did not pass, with their numbers.
    pub cells: Vec<GateCell>,
    /// Why nothing could be decided, beyond single cells.
    pub obstacles: Vec<Obstacle>,
    /// Repetitions of each cell, in both runs, that would decide; the least that let it be tested, where a cell has
    /// fewer than that. `None` where it is decided, where obstacles keep it from that, or where no affordable number
    /// would.
    pub would_decide_repetitions: Option<u32>,
}

/// A cell that did not pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct GateCell {
    pub cell: String,
    pub metric: Metric,
    pub outcome: GateOutcome,
    pub change: Change,
}

/// What keeps a gate from deciding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum Obstacle {
    /// The two runs have no valid cell in common that has this metric.
    NothingCompared,
    /// Both are one run.
    SameRun,
    /// The runs measured models of different scales.
    DifferentScales,
    /// Cells that only one of the runs has, or has valid trials of.
    CellsMissing { cells: u64 },
    /// Cells that have no such figure in one of the runs, or in both: a loss would not have shown.
    FiguresMissing { cells: u64 },
    /// Cells of which something else was measured than their storage, in one of the runs or in both: a loss of it would
    /// not have shown.
    Withheld { cells: u64 },
    /// The runs did other work: another data set, workload or version, other nodes, replicas or consistency levels.
    DifferentWork { facts: Vec<String> },
    /// The runs were made on different machines: their difference is part of every change.
    DifferentHosts { facts: Vec<String> },
}
