//! From evidence to an answer.
//!
//! ```text
//! trial evidence --measure--> TrialMeasurement --analyse--> Analysis (= analysis.json)
//!   histograms, samples         steady window,               cells: median with interval, ratios, what limited them
//!                               figures, findings            decision, value of money, answer in words
//!                                     |
//!                                     +--charts--> Charts: what a report draws      +--compare--> Comparison of two runs
//!                                     +--sizing::size--> clusters for a target that nobody has measured
//! ```
//!
//! What cannot be said is absent or says so in words (`not comparable`, `none found`): an absent answer, never a guessed one.

mod answer;
pub mod burst;
mod cells;
mod charts;
mod comparison;
mod decision;
mod document;
mod finding;
mod gate;
mod host;
mod latencies;
mod latency;
mod limit;
mod measurement;
mod money;
mod panels;
mod precision;
mod progress;
mod ratios;
pub mod rules;
pub mod sizing;
mod steady;
mod value;

#[cfg(test)]
extern crate self as analysis;
#[cfg(test)]
#[path = "../tests/story/mod.rs"]
mod story;

use spec::Database;

pub use charts::{Charts, LatencyCurve, Line, Panel, TrialCharts, charts};
pub use comparison::{CellChange, Change, Comparison, METRICS, compare};
pub use document::{
    Analysis, Basis, CellAnalysis, ConfigurationFacts, CostLine, Decision, InvalidTrial, LatencyAnalysis, Ranked,
    Ratio, TrialCounts, ValueOfMoney, Verdict, VolumeReport, WorkloadFacts,
};
pub use finding::{Finding, Scope, Severity};
pub use gate::{Gate, GateError, GateResult};
pub use host::{DatabaseHost, VolumeActivity, WindowRates};
pub use latencies::Latencies;
pub use latency::LatencyFigures;
pub use limit::{Limit, LimitKind};
pub use measurement::{TrialEvidence, TrialMeasurement, measure};
pub use precision::{Precision, precision};
pub use progress::Second;
pub use rules::{Rule, Withheld};
pub use steady::Window;
// What the document shows from other rooms, so that its reader needs no other room.
pub use evidence::{ErrorKind, ProbeResult};
pub use spec::{Burst, Dataset, IoLimits, LoadLevel, OperationKind, Plan, TrialShape, VolumeRole, VolumeSetup};
pub use stats::{Estimate, IntervalMethod, Summary};

/// The evidence of a run, trials already measured.
#[derive(Debug, Clone)]
pub struct RunEvidence<'a> {
    /// Name of the run directory.
    pub run: String,
    /// Where the machines came from.
    pub provider: String,
    /// The frozen plan.
    pub plan: &'a Plan,
    /// The frozen host facts (`environment.json`).
    pub environment: serde_json::Value,
    /// The trials in place, in any order.
    pub trials: &'a [TrialMeasurement],
}

/// How the intervals of this document were made, for people.
const SPREAD: &str = "Intervals of a cell: 95 % for the median, exact by order statistics from six repetitions on, by Student's t on \
                      logarithms for two to five, none for one. Ratios: 95 % by the paired t test on logarithms of trials of the same \
                      block; verdicts after Holm at the 3 % level.";

/// Analyses a run. The same evidence gives the same document, whatever the order of the trials.
pub fn analyse(input: &RunEvidence<'_>) -> Analysis {
    let plan = input.plan;
    let mut ordered: Vec<&TrialMeasurement> = input.trials.iter().collect();
    ordered.sort_by(|a, b| (&a.record.cell, a.record.block).cmp(&(&b.record.cell, b.record.block)));

    let configurations = configurations(plan, &ordered);
    let baseline = baseline(plan);
    let together = rules::Together::of(plan, &ordered);
    let mut cells: Vec<CellAnalysis> = plan
        .cells
        .iter()
        .map(|cell| {
            let first = ordered.partition_point(|t| t.record.cell < cell.id);
            let length = ordered[first..].partition_point(|t| t.record.cell == cell.id);
            let trials = &ordered[first..first + length];
            let setup = plan.setups.iter().find(|s| s.configuration == cell.configuration);
            let mut analysed = cells::of_trials(plan, setup, cell, trials);
            money::add_to_cell(plan, &mut analysed);
            analysed.findings = rules::of_cell(&analysed, &plan.dataset);
            analysed
                .findings
                .extend(trials.iter().flat_map(|t| rules::of_trial_in_run(t, &together)));
            analysed
        })
        .collect();
    let measured = ratios::Measured::new(plan, &ordered);
    ratios::add(&mut cells, &baseline, &measured);
    let decision = decision::decisions(plan, &cells, &measured);
    let value_of_money = value::of_money(plan, &cells, &measured);
    let mut findings = rules::of_run(&input.run, &input.provider, &configurations);
    findings.extend(rules::of_plan(plan));
    findings.extend(cells.iter().flat_map(|c| c.findings.iter().cloned()));

    let mut analysis = Analysis {
        format_version: Analysis::VERSION,
        run: input.run.clone(),
        experiment: plan.experiment.clone(),
        question: plan.question.clone(),
        provider: input.provider.clone(),
        baseline,
        scale: plan.scale,
        database: match &plan.target.database {
            Database::Cassandra { version } => format!("Apache Cassandra {version}"),
            Database::Hosts { hosts } => format!("existing CQL cluster at {}", hosts.join(", ")),
        },
        dataset: plan.dataset,
        shape: plan.shape,
        trials: TrialCounts {
            planned: plan.trials.len() as u64,
            done: ordered.len() as u64,
            valid: ordered.iter().filter(|t| t.is_valid()).count() as u64,
        },
        configurations,
        workloads: document::workloads(plan),
        cells,
        findings,
        decision,
        value_of_money,
        stopped: plan.adaptive.as_ref().and_then(|a| a.stopped.clone()),
        answer: Vec::new(),
        basis: money::basis(plan),
        spread: SPREAD.to_owned(),
        environment: input.environment.clone(),
    };
    analysis.answer = answer::sentences(&analysis);
    analysis
}

/// The stated baseline; else the cheapest configuration; else, without prices for all, the first of the file.
fn baseline(plan: &Plan) -> String {
    plan.baseline
        .clone()
        .or_else(|| money::cheapest(plan))
        .or_else(|| plan.setups.first().map(|s| s.configuration.clone()))
        .unwrap_or_default()
}

/// The configurations as planned, with the probe that the trials carry and what they cost.
fn configurations(plan: &Plan, trials: &[&TrialMeasurement]) -> Vec<ConfigurationFacts> {
    plan.setups
        .iter()
        .map(|setup| {
            let of_setup = || trials.iter().filter(|t| t.record.configuration == setup.configuration);
            let probe = |role| of_setup().find_map(|t| rules::probe_of(&t.record.database.volumes, role));
            let volumes = [Some(&setup.data), setup.commitlog.as_ref()].into_iter().flatten();
            let cost = money::of_configuration(plan, &setup.configuration);
            ConfigurationFacts {
                name: setup.configuration.clone(),
                cpus: setup.cpus,
                memory_limit_bytes: setup.memory_limit_bytes,
                heap_bytes: setup.heap_bytes,
                page_cache_budget_bytes: setup.page_cache_budget_bytes,
                nodes: setup.nodes,
                volumes: volumes
                    .map(|v| VolumeReport {
                        role: v.role,
                        label: v.label.clone(),
                        size_bytes: v.size_bytes,
                        limits: v.limits,
                        burst: v.burst,
                        probe: probe(v.role),
                    })
                    .collect(),
                usd_per_month: cost.and_then(|c| c.usd_per_month),
                cost_lines: cost.map_or_else(Vec::new, money::lines),
                cost_missing: match cost {
                    Some(cost) => cost.missing.clone(),
                    None => Some("not priced when this run was planned".to_owned()),
                },
            }
        })
        .collect()
}
