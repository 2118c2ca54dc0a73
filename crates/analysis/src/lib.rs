//! From evidence to an answer.
//!
//! ```text
//! trial evidence --measure--> TrialMeasurement --analyse--> Analysis (= analysis.json)
//!   histograms, samples         steady window,               cells: figures with intervals, findings,
//!                               figures                      what limited them; decision, value of money, answer
//!                                     |
//!                                     +--charts--> Charts: what a report draws
//!                                     +--compare--> Comparison of two runs
//! ```
//!
//! What cannot be said is absent or says so in words (`not comparable`, `none found`): an absent answer, never a
//! guessed one.

mod activity;
mod adaptive;
mod advice;
mod backlog;
mod burst;
mod cache;
mod cache_curve;
mod cache_machines;
mod cache_prediction;
mod cache_tier;
mod capacity;
mod carried;
mod cells;
mod charts;
mod comparisons;
mod decision;
mod delivered;
mod dimension;
mod document;
mod ebs;
mod fact;
mod faults;
mod figures;
mod finding;
mod free;
mod gate;
mod hardware;
mod host;
mod latencies;
mod latency;
mod limit;
mod lists;
mod measure;
mod measurement;
mod money;
mod needs;
mod node;
mod objective;
mod panels;
mod phases;
mod physics;
mod precision;
mod progress;
mod recommendation;
mod rest;
mod rule;
pub mod rules;
mod run_evidence;
mod scaling;
mod score;
mod search;
mod seen;
mod sickness;
mod steady;
mod stretch;
mod two_runs;
mod value;
mod waking;
mod withheld;
mod work;

#[cfg(test)]
extern crate self as analysis;
#[cfg(test)]
#[path = "../tests/stories/story/mod.rs"]
mod story;

use std::collections::BTreeSet;

use carried::CarriedOver;
use cassandra_model::CASSANDRA;
use comparisons::Comparisons;
use figures::Figures;
use hardware::Hardware;
use recommendation::Answer;
use rules::imported::windows::Length;

pub use activity::{VolumeActivity, WindowRates};
pub use adaptive::{Budget, Next, StopsBecause, spent};
pub use backlog::CompactedBacklog;
pub use cache_tier::request_cpu_us as cache_request_cpu_us;
pub use capacity::{another_round, rounds_of};
pub use cells::{CONFIDENCE, nodes_of_cell};
pub use charts::{Charts, LatencyCurve, TrialCharts, charts};
pub use decision::UNTESTED_SHARE;
pub use dimension::Dimension;
pub use document::{
    Analysis, AnswerOutcome, AnyOf, BestOfAlike, Bound, BoundIs, CacheCurve, CacheEffect, CachePoint, CachePrediction,
    CacheTierAnalysis, Candidate, Capacity, CapacityLevel, CapacityLimit, CapacityOutcome, Caution, CellAnalysis,
    CellChange, Change, Check, Comparison, ConfigurationFacts, Criterion, DataVolumeAnalysis, DatabaseFigures,
    DecidedBy, Decision, Delivered, Doubt, Durability, FaultAnalysis, FaultsAnalysis, FleetOf, FreeStep, GateCell,
    GateOutcome, GateResult, HintFiles, InvalidTrial, LONGEST, LatencyAnalysis, LimitedHere, Meets, Metric, Missed,
    MissesInModel, Need, NodeAnalysis, NotConsidered, NotJudged, NotTried, Obstacle, OfThisMachine, OtherSettings,
    OverallCandidate, PhaseAnalysis, PhaseKind, Range, Ranked, Ratio, Reason, Recommendation, RecoveryAnalysis,
    Replaced, ResidualSpread, Scaling, ScalingPoint, Sickness, SkippedCell, Spending, SpendingChange, Status,
    TrialCounts, Unrest, Untried, ValueOfMoney, ValueVerdict, Verdict, VolumeReport, Withheld, WorkloadAnswer,
    WorkloadFacts, WorseSettings, WouldDecide, WritesAnalysis, prices_decide, workload_facts,
};
pub use ebs::EbsExceeded;
pub use fact::{CpuTakenBy, HostFact, NodeFigure, Trajectory, VolumeLimit};
pub use finding::{Finding, Scope};
pub use gate::{Gate, GateError};
pub use hardware::is_one_price;
pub use host::{DatabaseHost, HostWindow};
pub use latencies::Latencies;
pub use latency::SeriesLatency;
pub use limit::{
    Counted, Intervention, InterventionOutcome, Limit, LimitKind, Resource, ResourceChange, ResourceUse, SpreadKind,
    Unit, of_cell as limit_of_cell,
};
pub use lists::{each_once, grouped};
pub use measure::measure;
pub use measurement::{Background, TrialEvidence, TrialMeasurement};
pub use node::Node;
pub use panels::{Line, Panel, averaged};
pub use phases::{Aftermath, Phase, PhaseMeasurement, RECOVERED_SECONDS, RECOVERED_SHARE, Recovery};
pub use physics::figures::{CpuPerOperation, GainAboveResource, GainBecause, GainExplained, ReadsPerOperation};
pub use precision::{Precision, Widest, precision};
pub use progress::Second;
pub use rest::{
    cache_is_recalled, cache_is_settled, cache_tier_is_settled, code_is_warm, compilers_are_quiet,
    rounds_of_a_turnover, settled_reads_per_operation,
};
pub use rule::{Remark, Rule, RuleFigures, Severity};
pub use run_evidence::RunEvidence;
pub use search::{Step, next_step};
pub use seen::SeenOn;
pub use steady::Window;
pub use work::{Course, DatabaseWork};
// What the document shows from other rooms, so that its reader needs no other room.
pub use evidence::{
    CacheAnswer, DataSetOrigin, ErrorKind, HostId, Initialised, LatencyFigures, ModifiedVolume, ProbeResult, Runtime,
    runtimes,
};
pub use experiment::{
    Arrivals, AwsPair, BandwidthWeighting, Basis, Burst, BurstStart, CPU_REFERENCE, Consistency, ConsistencyLevels,
    CostKind, CostLine, CpuShare, DataSetPlace, DataSetStore, Database, Dataset, DiskTooSmall, FaultAction, IoLimits,
    Job, LEAST_MISSES, LatencyFigure, LatencyObjective, LoadLevel, NodeFault, NodeFaultKind, Objective, OperationKind,
    Own, PageCacheKeeps, Place, Placement, Plan, Provider, Rested, RestsBecause, Section, Setting, Settings, Setup,
    SetupAt, Setups, TrialShape, VolumeRole, VolumeSetup, price_days,
};
pub use stats::{Estimate, IntervalMethod, POWER, Summary};

/// Compares run `b` with run `a`, cell by cell.
pub fn compare(a: &RunEvidence<'_>, b: &RunEvidence<'_>) -> Comparison {
    two_runs::compare((a, &judge(a).cells), (b, &judge(b).cells))
}

/// What a run whose cells may rest does next, after trials of so many seconds, where the user skips these cells; `None`
/// where none may rest.
pub fn next_block(input: &RunEvidence<'_>, trials_s: f64, skipped: &BTreeSet<String>) -> Option<Next> {
    let adaptive = input.plan.adaptive.as_ref().filter(|adaptive| adaptive.rests_cells())?;
    Some(adaptive::SoFar { plan: input.plan, adaptive, trials_s, skipped }.next(|| analysed(input)))
}

/// Analyses a run. The same evidence gives the same document, whatever the order of the trials.
pub fn analyse(input: &RunEvidence<'_>) -> Analysis {
    let mut analysis = judge(input);
    cache_prediction::add(input.plan, input.setups, &mut analysis.cells);
    analysis
}

/// The same without hit ratios that are predicted: each takes a simulation, and nothing is decided by them.
pub fn judge(input: &RunEvidence<'_>) -> Analysis {
    analysed(input).0
}

/// The document, and the comparisons of throughput that it is made from.
fn analysed(input: &RunEvidence<'_>) -> (Analysis, Comparisons) {
    let (plan, setups) = (input.plan, input.setups);
    let mut ordered: Vec<&TrialMeasurement> = input.trials.iter().collect();
    ordered.sort_by(|a, b| (&a.record.cell, a.record.block).cmp(&(&b.record.cell, b.record.block)));

    let configurations = configurations(plan, setups, &ordered);
    let baseline = baseline(plan, setups);
    let together = rules::RunContext::of(plan, setups, &ordered);
    // The least that tables of the user's own take is not known.
    let dataset = Some(&plan.dataset).filter(|_| plan.own.is_none());
    // Each cell, with the findings on each of its valid trials.
    let (mut cells, of_valid): (Vec<CellAnalysis>, Vec<Vec<Vec<Finding>>>) = plan
        .cells
        .iter()
        .map(|cell| {
            let first = ordered.partition_point(|t| t.record.cell < cell.id);
            let length = ordered[first..].partition_point(|t| t.record.cell == cell.id);
            let trials = &ordered[first..first + length];
            let setup = setups.of(&cell.configuration);
            let mut analysed = cells::of_trials(plan, setup, cell, trials);
            money::add_to_cell(plan, &mut analysed);
            let of_trials: Vec<Vec<Finding>> = trials.iter().map(|t| rules::of_trial_in_run(t, &together)).collect();
            let valid = || trials.iter().zip(&of_trials).filter(|(t, _)| t.is_valid());
            let replicas = setup.map_or(1, |s| s.placement.replication_factor);
            let measured: Vec<&TrialMeasurement> = valid().map(|(t, _)| t.undisturbed()).collect();
            let facts = configurations.iter().find(|c| c.name == cell.configuration);
            analysed.delivered = facts.and_then(|facts| delivered::of_cell(facts, &measured));
            analysed.findings = rules::of_cell(&analysed, &measured, dataset, replicas);
            let disks = |t: &TrialMeasurement| facts.map_or_else(Vec::new, |facts| sickness::disks(facts, t));
            let of_valid: Vec<Vec<Finding>> = valid().map(|(t, found)| [found.clone(), disks(t)].concat()).collect();
            analysed.findings.extend(of_trials.into_iter().flatten());
            (analysed, of_valid)
        })
        .unzip();
    let figures = Figures::new(plan, ordered.iter().copied());
    let margin = plan.decision.margin;
    let mut throughput = Comparisons::new(Metric::Throughput, &cells, &figures, margin);
    for outlier in throughput.outliers() {
        let found = rules::repetitions_spread(&cells[outlier.cell], outlier);
        cells[outlier.cell].findings.extend(found);
    }
    let lengths: Vec<Option<Length>> = cells.iter().map(|c| Length::of(figures.trials(&c.id))).collect();
    for (cell, found) in rules::unlike_windows(&cells, &lengths) {
        cells[cell].findings.extend(found);
    }
    by_intervention(plan, setups, &mut cells, &throughput);
    let misses = plan.misses().all(setups);
    throughput.carry_over(CarriedOver::of(plan, setups, &configurations, &misses, &mut cells));
    comparisons::add(&mut cells, &baseline, &throughput);
    let impossible = physics::findings(&physics::ComparedCells {
        plan,
        setups,
        cells: &cells,
        trials: &ordered,
        throughput: &throughput,
    });
    for ((cell, impossible), of_valid) in cells.iter_mut().zip(impossible).zip(&of_valid) {
        cell.findings.extend(impossible);
        let of_cell: Vec<Finding> =
            cell.findings.iter().filter(|f| matches!(f.scope, Scope::Cell(_))).cloned().collect();
        cell.withheld = withheld::of_cell(&of_cell, of_valid, plan.objective.as_ref(), &cell.limit);
        withheld::unname_cpu(&mut cell.limit, cell.withheld);
        withheld::weigh_code(&mut cell.findings, &cell.limit, plan.objective.as_ref());
        cell.withheld = cell.withheld.or_else(|| sickness::of_cell(cell, of_valid, margin));
    }
    let p99 = Comparisons::new(Metric::P99, &cells, &figures, margin);
    let capacities = capacity::capacities(plan, &cells, &figures, input.probes);
    let hardware = Hardware::of(&configurations, plan.baseline.as_deref());
    // Rates that were found are each configuration's own: there is nothing beside them to compare.
    let (decision, free_steps) = match plan.search {
        Some(_) => (Vec::new(), Vec::new()),
        None => (
            decision::decisions(plan, &cells, &figures, &throughput, &p99),
            free::Measured {
                plan,
                configurations: &configurations,
                cells: &cells,
                figures: &figures,
                throughput: &throughput,
            }
            .steps(),
        ),
    };
    let scaling = scaling::scalings(plan, setups, &figures, &throughput);
    let cache_effects = cache::effects(plan, &cells, &figures, margin);
    let cache_curves = cache_curve::curves(plan, &cells, &configurations, &figures, margin);
    let mut findings = rules::of_configurations(&configurations);
    findings.extend(rules::unequal_hosts(setups, &input.environment, &ordered));
    findings.extend(rules::table_bloat(setups, &ordered));
    findings.extend(rules::of_setups(setups, plan.scale()));
    findings.extend(rules::faults_of_plan(&input.run, plan));
    findings.extend(rules::several_volumes(&input.run, plan, &ordered));
    findings.extend(cells.iter().flat_map(|c| c.findings.iter().cloned()));
    let trials = TrialCounts {
        planned: plan.trials.len() as u64,
        done: ordered.len() as u64,
        valid: ordered.iter().filter(|t| t.is_valid()).count() as u64,
    };
    let recommendation = Answer {
        plan,
        setups,
        configurations: &configurations,
        cells: &cells,
        hardware: &hardware,
        figures: &figures,
        throughput: &throughput,
        misses: &misses,
        trials,
        findings: &findings,
        environment: &input.environment,
        capacities: &capacities,
        skipped: input.skipped,
    }
    .recommendation();
    let value_of_money = match plan.search {
        Some(_) => Vec::new(),
        None => value::of_money(plan, &cells, &hardware, &throughput, &p99, &recommendation.places),
    };
    let not_tried = advice::Seen { plan, configurations: &configurations, cells: &cells }
        .not_tried(recommendation.run.as_ref().unwrap_or(&baseline));

    let analysis = Analysis {
        format_version: Analysis::VERSION,
        run: input.run.clone(),
        experiment: plan.experiment.clone(),
        question: plan.question.clone(),
        provider: plan.place.provider(),
        baseline,
        is_baseline_stated: plan.baseline.is_some(),
        scale: plan.scale(),
        page_cache: plan.place.model().page_cache,
        database: database(plan, setups, &ordered),
        dataset: plan.dataset,
        stands_for_records: plan.stands_for_records,
        origins: input.origins.to_vec(),
        shared_volumes: plan.place.aws().map_or_else(Vec::new, |aws| aws.pairs.clone()),
        modifications: input.modifications.to_vec(),
        shape: plan.shape,
        left_out: plan.left_out.clone(),
        trials,
        trial_s: seconds_of_a_trial(&ordered),
        configurations,
        workloads: document::workload_facts(plan),
        cells,
        findings,
        decision,
        value_of_money,
        free_steps,
        not_tried,
        objective: plan.objective.clone(),
        capacities,
        scaling,
        cache_effects,
        cache_curves,
        stopped: plan.adaptive.as_ref().and_then(|a| a.stopped.clone()),
        rested: plan.adaptive.as_ref().map_or_else(Vec::new, experiment::Adaptive::rested),
        recommendation,
        margin,
        seed: plan.seed,
        residual_spreads: throughput.spreads().collect(),
        basis: plan.money.basis.clone(),
        environment: input.environment.clone(),
    };
    (analysis, throughput)
}

/// Seconds of a trial with all that goes around its load, in the mean; of another tool's that is not known.
fn seconds_of_a_trial(trials: &[&TrialMeasurement]) -> Option<f64> {
    let of = |trial: &&TrialMeasurement| {
        let client = trial.record.client.as_ref().filter(|client| client.imported.is_none())?;
        let around = trial.record.overhead.map_or(0.0, |overhead| overhead.seconds());
        Some(around + client.warmup_s + client.measured_s)
    };
    let all: Vec<f64> = trials.iter().filter_map(of).collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// What was under test, in words.
fn database(plan: &Plan, setups: &[Setup], trials: &[&TrialMeasurement]) -> String {
    match (&plan.target.database, &plan.place) {
        (Database::Started(started), _) => {
            let all = experiment::versions(&started.version, setups.iter().map(|setup| &setup.version));
            format!("{} {}", started.product.title, all.join(", "))
        }
        (Database::Existing(product), Place::Existing(cluster)) => {
            let how = if cluster.tls.is_some() { ", over TLS" } else { "" };
            let what = if **product == CASSANDRA { "CQL cluster" } else { product.title };
            format!("existing {what} at {}{how}", cluster.hosts.join(", "))
        }
        (Database::Existing(_), _) => {
            let tools = each_once(trials.iter().filter_map(|t| t.imported()).map(|imported| imported.tool.name()));
            format!("what {} loaded", tools.join(" and "))
        }
    }
}

/// What more of a resource gave, where the matrix holds it, confirms or contradicts the limits named by use.
fn by_intervention(plan: &Plan, setups: &[Setup], cells: &mut [CellAnalysis], throughput: &Comparisons) {
    let place = |id: &str| cells.iter().position(|c| c.id == id);
    let gain = |from: &str, to: &str| throughput.ratio(place(to)?, place(from)?);
    let limited: Vec<_> = cells.iter().map(CellAnalysis::limited).collect();
    let found = limit::interventions(plan, setups, &limited, &gain);
    for (cell, found) in cells.iter_mut().zip(found) {
        cell.limit = limit::by_intervention(std::mem::take(&mut cell.limit), found);
        cell.locate_limit();
    }
}

/// The stated baseline; else the cheapest configuration; else, without prices for all, the first of the file.
fn baseline(plan: &Plan, setups: &[Setup]) -> String {
    plan.baseline
        .clone()
        .or_else(|| money::cheapest(plan))
        .or_else(|| setups.first().map(|s| s.configuration.clone()))
        .unwrap_or_default()
}

/// Consistency levels, where they say something: of clusters, where a configuration has its own, and where that of all
/// is not the usual one.
fn stated_levels(plan: &Plan, setup: &Setup) -> Option<ConsistencyLevels> {
    let of_all = plan.target.consistency;
    let is_usual = of_all == ConsistencyLevels::all(Consistency::One);
    let of_all = (setup.placement.is_cluster() || !is_usual).then_some(of_all);
    setup.consistency.or(of_all)
}

/// How a volume was made from a snapshot: again on each machine that took its place.
fn initialised<'a>(trials: impl Iterator<Item = &'a TrialMeasurement>, role: VolumeRole) -> Vec<Initialised> {
    let volumes = trials.flat_map(TrialMeasurement::nodes).flat_map(|node| &node.facts.volumes);
    each_once(volumes.filter(|volume| volume.role == role).filter_map(|volume| volume.initialised.clone()))
}

/// The configurations as planned, with the probe that the trials carry and what they cost.
fn configurations(plan: &Plan, setups: &[Setup], trials: &[&TrialMeasurement]) -> Vec<ConfigurationFacts> {
    let usual = plan.target.database.version().unwrap_or_default();
    let are_several = experiment::versions(usual, setups.iter().map(|setup| &setup.version)).len() > 1;
    setups
        .iter()
        .map(|setup| {
            let of_setup = || trials.iter().filter(|t| t.record.configuration == setup.configuration);
            let probes = |role| rules::probes_of(of_setup().copied(), role);
            let slowest = |role| probes(role).into_values().min_by(|a, b| a.read_iops.total_cmp(&b.read_iops));
            let cost = money::of_configuration(plan, &setup.configuration);
            ConfigurationFacts {
                name: setup.configuration.clone(),
                exists_at: match &setup.at {
                    SetupAt::Existing { contact_points, .. } => contact_points.clone(),
                    // Only its name says where it was.
                    SetupAt::Imported { .. } => vec![setup.configuration.clone()],
                    SetupAt::Shared | SetupAt::Bought { .. } => Vec::new(),
                },
                is_bought: setup.at.is_bought(),
                cpus: setup.cpus,
                stands_for: setup.stands_for.clone(),
                memory_limit_bytes: setup.memory_limit_bytes,
                heap_bytes: setup.heap_bytes,
                page_cache_budget_bytes: setup.page_cache_budget_bytes,
                nodes: setup.placement.nodes,
                placement: setup.placement,
                consistency: stated_levels(plan, setup),
                version: are_several.then(|| setup.version.as_deref().unwrap_or(usual).to_owned()),
                settings: setup.settings.clone(),
                backlog: setup.backlog,
                layout: setup.layout,
                bandwidth_weighting: plan
                    .configuration(&setup.configuration)
                    .and_then(|configuration| configuration.instance.bandwidth_weighting),
                instance_limits: setup.instance_limits,
                cache_tier: plan
                    .configuration(&setup.configuration)
                    .and_then(|configuration| Some(configuration.cache_tier.as_ref()?.label())),
                volumes: setup
                    .volumes()
                    .map(|v| VolumeReport {
                        role: v.role,
                        label: v.label.clone(),
                        size_bytes: v.size_bytes,
                        card: v.card,
                        limits: v.limits,
                        burst: v.burst,
                        byte_burst: v.byte_burst,
                        is_served: v.served.is_some(),
                        combined: v.combined,
                        probe: slowest(v.role),
                        probes: Some(probes(v.role)).filter(|p| p.len() > 1).unwrap_or_default(),
                        initialised: initialised(of_setup().copied(), v.role),
                    })
                    .collect(),
                usd_per_month: cost.and_then(|c| c.usd_per_month),
                cost_lines: cost.map_or_else(Vec::new, |cost| cost.lines.clone()),
                cost_missing: match cost {
                    Some(cost) => cost.missing.clone(),
                    None => Some("not priced when this run was planned".to_owned()),
                },
            }
        })
        .collect()
}
