//! From evidence to cells and findings.
//!
//! ```text
//! trial evidence --measure--> TrialMeasurement --analyse--> Analysis (= analysis.json)
//!   histograms, samples         figures, findings             cells: median and range of valid trials, ratios, findings
//! ```
//!
//! What is here is description: medians, ranges, ratios by paired blocks, and findings with their numbers. What is not yet
//! here says so in the document instead of guessing: `decision` and `value_of_money` are empty, `limit.kind` is
//! `not analysed`, verdicts are `not tested`, money is null.

mod cells;
mod document;
mod finding;
mod host;
mod latency;
mod measurement;
pub mod rules;

use spec::Database;

pub use document::{
    Analysis, Basis, CellAnalysis, ConfigurationFacts, Decision, InvalidTrial, LatencyAnalysis, Limit, Ratio,
    TrialCounts, ValueOfMoney, VolumeReport, WorkloadFacts,
};
pub use finding::{Finding, Scope, Severity};
pub use host::{DatabaseHost, VolumeActivity, WindowRates};
pub use latency::LatencyFigures;
pub use measurement::{TrialEvidence, TrialMeasurement, measure};
// What the document shows from other rooms, so that its reader needs no other room.
pub use evidence::{ErrorKind, ProbeResult};
pub use spec::{IoLimits, LoadLevel, OperationKind, Plan, VolumeRole, VolumeSetup};
pub use stats::Summary;

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

/// Analyses a run. The same evidence gives the same document, whatever the order of the trials.
pub fn analyse(input: &RunEvidence<'_>) -> Analysis {
    let plan = input.plan;
    let mut ordered: Vec<TrialMeasurement> = input.trials.to_vec();
    ordered.sort_by(|a, b| (&a.record.cell, a.record.block).cmp(&(&b.record.cell, b.record.block)));

    let configurations = configurations(plan, &ordered);
    // Without a stated baseline the first configuration of the file is the reference: choosing the cheapest needs prices.
    let baseline = plan
        .baseline
        .clone()
        .or_else(|| plan.setups.first().map(|s| s.configuration.clone()))
        .unwrap_or_default();

    let mut findings = rules::of_run(&input.run, &input.provider, &configurations);
    let mut cells: Vec<CellAnalysis> = plan
        .cells
        .iter()
        .map(|cell| {
            let trials: Vec<&TrialMeasurement> = ordered.iter().filter(|t| t.record.cell == cell.id).collect();
            let mut analysed = cells::of_trials(plan, cell, &trials);
            analysed.findings = rules::of_cell(&analysed);
            analysed.findings.extend(trials.iter().flat_map(|t| t.findings.clone()));
            findings.extend(analysed.findings.iter().cloned());
            analysed
        })
        .collect();
    cells::add_ratios(&mut cells, &baseline, &cells::throughput_by_block(&ordered));

    Analysis {
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
        decision: Vec::new(),
        value_of_money: Vec::new(),
        basis: Basis::default(),
        spread: "low and high are the smallest and largest value over the valid repetitions".to_owned(),
        environment: input.environment.clone(),
    }
}

/// The configurations as planned, with the probe that the trials carry.
fn configurations(plan: &Plan, trials: &[TrialMeasurement]) -> Vec<ConfigurationFacts> {
    plan.setups
        .iter()
        .map(|setup| {
            let of_setup: Vec<_> = trials
                .iter()
                .filter(|t| t.record.configuration == setup.configuration)
                .collect();
            let probe = |role| {
                of_setup
                    .iter()
                    .find_map(|t| rules::probe_of(&t.record.database.volumes, role))
            };
            let volumes = [Some(&setup.data), setup.commitlog.as_ref()].into_iter().flatten();
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
            }
        })
        .collect()
}
