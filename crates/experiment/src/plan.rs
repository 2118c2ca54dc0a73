//! The matrix and the order in which it is executed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use workload::Definition;

use crate::judged::ROOMY_S;
use crate::model_misses::{Misses, caches_of};
use crate::order::{orders, to_and_fro};
use crate::scale::scaled_dataset;
use crate::search::LEVELS;
use crate::warming::{CacheOf, settling_s, warming_s};
use crate::{
    Adaptive, BacklogFiles, CacheState, Caches, Configuration, DataSetFiles, DataSetStore, Dataset, DecisionRules,
    Experiment, FORMAT_VERSION, LeftOut, LoadLevel, Money, NodeFault, Objective, Own, Patience, Place, Search,
    SearchPlan, Target, TrialShape,
};

/// What is bought and what is measured on it, frozen into `plan.json` before a run starts. What a provider makes of the
/// configurations is another document: [`Setups`](crate::Setups).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of this file's shape.
    pub format_version: u32,
    /// Experiment name.
    pub experiment: String,
    /// The question asked.
    pub question: Option<String>,
    /// Configuration that ratios refer to, if stated.
    pub baseline: Option<String>,
    /// Database and consistency.
    pub target: Target,
    /// Where configurations run.
    pub place: Place,
    /// How long the database may take.
    pub patience: Patience,
    /// The data set on this machine (records divided by scale).
    pub dataset: Dataset,
    /// Records of the real data set, where that has more than the experiment states.
    pub stands_for_records: Option<u64>,
    /// Schema, data (its partitions divided by scale) and statements of the user's own, instead of YCSB's.
    pub own: Option<Own>,
    /// Where data sets are kept; `None`: nowhere but on their hosts.
    pub data_set_store: Option<DataSetStore>,
    /// What money buys, checked, at full scale.
    pub configurations: Vec<Configuration>,
    /// Workloads.
    pub workloads: Vec<Definition>,
    /// How the page cache stands before trials of each workload.
    pub caches: Caches,
    /// Names of configurations whose trials in a block one process of the database serves, each process's together.
    pub processes: Vec<Vec<String>>,
    /// Processes that share out the trials of a block, at least.
    pub forks: u32,
    /// What the file states and this run leaves out; `None`: nothing.
    pub left_out: Option<LeftOut>,
    /// All cells: configuration x workload x load level.
    pub cells: Vec<Cell>,
    /// All trials in planned order; the controller brings those together that one process can serve.
    pub trials: Vec<PlannedTrial>,
    /// What is found out in the run, where the experiment gives no load level: cells and trials come with it.
    pub search: Option<SearchPlan>,
    /// Clients that share the load of each trial.
    pub clients: u32,
    /// The shape of each trial.
    pub shape: TrialShape,
    /// What is done to nodes in every trial, in order of time.
    pub faults: Vec<NodeFault>,
    /// When to stop before all trials are done.
    pub adaptive: Option<Adaptive>,
    /// What good enough means; `None`: the experiment does not say.
    pub objective: Option<Objective>,
    /// How the answer is made.
    pub decision: DecisionRules,
    /// Seed of orders and key choosers.
    pub seed: u64,
    /// What the configurations cost.
    pub money: Money,
    /// Estimated seconds for the whole run on this machine.
    pub estimated_s: f64,
}

/// Configuration x workload x load level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// File-name-safe identity: `gp2-320.read-heavy.c100`.
    pub id: String,
    /// Configuration name.
    pub configuration: String,
    /// Workload name.
    pub workload: String,
    /// Load level.
    pub load: LoadLevel,
}

/// One trial of the plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlannedTrial {
    /// Pass over all cells in an order of its own, from 1.
    pub block: u32,
    /// Which cell.
    pub cell: String,
}

/// Seconds of a trial besides warm-up and measurement: the data is taken in again, the page cache filled. Measured at
/// 4.8 to 7.0 on two quiet cores. What the first trial of a workload takes more is in [`Caches::settling_s`].
pub(crate) const OVERHEAD_PER_TRIAL_S: f64 = 6.0;
/// Seconds until a new process has settled. Measured at 4.0 on two quiet cores; more on busy ones.
const START_S: f64 = 6.0;
/// Seconds until the code of Cassandra 5.0 is compiled: measured at 21 to 27 on two quiet cores.
const CODE_IS_WARM_S: f64 = 25.0;
/// Seconds until throughput has stabilised, where that decides: the shortest series that can be judged, and half as
/// much again.
const UNTIL_REST_S: f64 = ROOMY_S;
/// Records loaded per second on two cores (measured 15,000 to 30,000 with 10 x 100 B), without compaction.
const LOAD_RATE: f64 = 15_000.0;
/// Fetching, starting and stopping the loader, creating and measuring volumes.
const FIXED_S: f64 = 40.0;

/// Load levels that a search takes the time of: the probes like one, and a round of rates.
const SEARCH_LEVELS: usize = 1 + LEVELS.len();

impl TrialShape {
    /// Seconds until a new process is expected to answer with its code compiled.
    pub(crate) fn until_code_is_warm_s(&self) -> f64 {
        START_S + self.rest_max_s.min(CODE_IS_WARM_S)
    }

    /// Seconds at most from the first filling of a cache to the end of the window: what lives as long does not expire.
    pub fn longest_s(&self) -> f64 {
        self.rest_max_s + self.warmup_max_s.unwrap_or(self.warmup_s) + self.duration_s
    }
}

/// Estimated seconds of a trial, of a configuration with so many nodes.
fn trial_s(shape: &TrialShape, nodes: u32) -> f64 {
    let until_rest = shape.warmup_max_s.map_or(0.0, |most| most.min(UNTIL_REST_S));
    until_rest + shape.warmup_s + shape.duration_s + OVERHEAD_PER_TRIAL_S * f64::from(nodes)
}

impl Experiment {
    /// Estimated seconds of all trials of a configuration on machines that are bought.
    pub(crate) fn seconds_of(&self, configuration: &Configuration) -> f64 {
        let load = &self.load;
        let levels = if load.find.is_some() { SEARCH_LEVELS } else { load.levels.len() };
        let each = levels * load.repetitions as usize;
        let placement = configuration.placement;
        let held = self.dataset.bytes_on_disk() * placement.share_per_node();
        let memory = &self.target.database.product().memory;
        let budget = memory.page_cache_bytes(configuration.memory_limit_bytes, &configuration.settings).unwrap_or(0.0);
        let warm = self.workloads.iter().filter(|w| self.caches.state(&w.name) == CacheState::Warm).count();
        let warming = warm as f64 * warming_s(&configuration.data_volume, true, held, budget);
        let trials = self.workloads.len() as f64 * trial_s(&load.shape, placement.nodes);
        each as f64 * (trials + warming)
    }
}

/// The plan of an experiment: cells in the file's order, trials in blocks, in counterbalanced orders that the seed
/// decides (after the randomised multiple interleaved trials of Abedi and Brecht, ICPE 2017), so that a slow hour of
/// the machine hits all cells alike.
pub fn plan(experiment: &Experiment) -> Plan {
    let scale = experiment.place.scale();
    let dataset = scaled_dataset(experiment);
    let mut cells = Vec::new();
    for configuration in &experiment.configurations {
        for workload in &experiment.workloads {
            for level in &experiment.load.levels {
                // A rate in the file is for the full-size system; requests in flight are not divided.
                let load = level.map_rate(|rate| rate / scale);
                cells.push(Cell {
                    id: format!("{}.{}.{}", configuration.name, workload.name, level.slug()),
                    configuration: configuration.name.clone(),
                    workload: workload.name.clone(),
                    load,
                });
            }
        }
    }
    let trials = trials(experiment, &cells);
    let load = &experiment.load;
    let processes = processes(experiment);
    let operations = load.shape.operations.map(|n| (n as f64 / scale).round().max(1.0) as u64);
    let mut shape = TrialShape { operations, ..load.shape };
    if processes.is_empty() {
        // Nobody starts a database for it.
        shape.rest_max_s = 0.0;
    }
    let mut plan = Plan {
        format_version: FORMAT_VERSION,
        experiment: experiment.name.clone(),
        question: experiment.question.clone(),
        baseline: experiment.baseline.clone(),
        target: experiment.target.clone(),
        place: place(experiment, &cells, &trials),
        patience: experiment.patience,
        estimated_s: 0.0,
        dataset,
        stands_for_records: experiment.stands_for_records,
        own: experiment.own.as_ref().map(|own| own.scaled(scale)),
        data_set_store: experiment.data_set_store.clone(),
        configurations: experiment.configurations.clone(),
        workloads: experiment.workloads.clone(),
        caches: caches(experiment, !processes.is_empty()),
        processes,
        forks: load.forks,
        left_out: experiment.left_out.clone(),
        cells,
        trials,
        search: search(experiment),
        clients: experiment.load.clients,
        shape,
        faults: experiment.faults.clone(),
        adaptive: load.adaptive.clone(),
        objective: experiment.objective.clone(),
        decision: experiment.decision,
        seed: load.seed,
        money: experiment.money.clone(),
    };
    plan.estimated_s = plan.estimate();
    plan
}

/// Names of configurations whose trials one process of the database can serve; none where nobody starts one.
fn processes(experiment: &Experiment) -> Vec<Vec<String>> {
    if experiment.place.is_simulated() {
        return Vec::new();
    }
    let setups = crate::setups(experiment);
    let mut groups: Vec<Vec<&crate::Setup>> = Vec::new();
    for setup in setups.iter().filter(|setup| setup.at.is_started()) {
        match groups.iter_mut().find(|group| group[0].shares_process_with(setup)) {
            Some(group) => group.push(setup),
            None => groups.push(vec![setup]),
        }
    }
    let names = |group: Vec<&crate::Setup>| group.iter().map(|setup| setup.configuration.clone()).collect();
    groups.into_iter().map(names).collect()
}

/// The trials that are planned from the start. Where configurations share a volume that is modified between them,
/// blocks go to and fro: it is modified as seldom as may be.
fn trials(experiment: &Experiment, cells: &[Cell]) -> Vec<PlannedTrial> {
    let (blocks, seed) = (1..experiment.load.repetitions + 1, experiment.load.seed);
    let ids: Vec<String> = cells.iter().map(|cell| cell.id.clone()).collect();
    if experiment.place.aws().is_none_or(|aws| aws.pairs.is_empty()) {
        return in_blocks(&ids, blocks, seed);
    }
    let number = |cell: &Cell| experiment.configurations.iter().position(|c| c.name == cell.configuration);
    let configuration_of: Vec<usize> = cells.iter().filter_map(number).collect();
    let each = to_and_fro(&configuration_of, blocks.len(), seed);
    laid_out(&ids, blocks, each)
}

/// The experiment's place. Volumes that are modified are made as the first of these trials needs them.
fn place(experiment: &Experiment, cells: &[Cell], trials: &[PlannedTrial]) -> Place {
    let mut place = experiment.place.clone();
    if let Place::Bought(aws) = &mut place {
        let cell_of = |trial: &PlannedTrial| cells.iter().find(|cell| cell.id == trial.cell);
        let in_order = trials.iter().filter_map(cell_of).map(|cell| cell.configuration.as_str());
        aws.begin_with(&in_order.collect::<Vec<_>>());
    }
    place
}

/// Trials of these cells in blocks, in counterbalanced order.
pub(crate) fn in_blocks(cells: &[String], blocks: Range<u32>, seed: u64) -> Vec<PlannedTrial> {
    let each = orders(cells.len(), blocks.len(), seed);
    laid_out(cells, blocks, each)
}

/// Trials of these cells, each block's in an order of its own.
fn laid_out(cells: &[String], blocks: Range<u32>, each: Vec<Vec<usize>>) -> Vec<PlannedTrial> {
    let trials = blocks.zip(each).flat_map(|(block, order)| {
        order.into_iter().map(move |cell| PlannedTrial { block, cell: cells[cell].clone() })
    });
    trials.collect()
}

/// Which trials begin with a warm page cache, and how long filling it is expected to take, where that is done.
fn caches(experiment: &Experiment, are_filled: bool) -> Caches {
    let dataset = scaled_dataset(experiment);
    let setups = crate::setups(experiment);
    let mut caches = caches_of(experiment, &dataset, &setups);
    if !are_filled {
        return caches;
    }
    let bytes = dataset.bytes_on_disk();
    let each = experiment.configurations.iter().zip(setups.iter()).map(|(configuration, setup)| {
        let held = bytes * configuration.placement.share_per_node();
        // The largest page cache of a sweep takes the longest; what is expected may be too much for the others.
        let of = |workload: &Definition| caches.setup(setup, &workload.name, &dataset).page_cache_budget_bytes;
        let budget = experiment.workloads.iter().map(of).max().unwrap_or_default() as f64;
        let seconds = warming_s(&configuration.data_volume, setup.at.is_bought(), held, budget);
        (configuration.name.clone(), seconds)
    });
    caches.warming_s = each.collect();
    let mut settling: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for workload in experiment.workloads.iter().map(|workload| &workload.name) {
        let kind = |setup: &crate::Setup| (setup.at.first_host(), CacheOf::new(setup));
        let begun: Vec<crate::Setup> = setups.iter().map(|setup| caches.setup(setup, workload, &dataset)).collect();
        for setup in &begun {
            let held = bytes * setup.placement.share_per_node();
            let budget = setup.page_cache_budget_bytes as f64;
            let alike = begun.iter().filter(|other| kind(other) == kind(setup)).count();
            let seconds = settling_s(setup.at.is_bought(), held, budget, experiment.load.shape.rest_max_s);
            let of_setup = settling.entry(setup.configuration.clone()).or_default();
            of_setup.insert(workload.clone(), seconds / alike as f64);
        }
    }
    caches.settling_s = settling;
    caches
}

/// What is to be found, where the rates are.
fn search(experiment: &Experiment) -> Option<SearchPlan> {
    let arrivals = experiment.load.find?.arrivals;
    let each = |configuration: &Configuration| {
        let name = configuration.name.clone();
        experiment.workloads.iter().map(move |workload| Search {
            id: format!("{name}.{}.find", workload.name),
            configuration: name.clone(),
            workload: workload.name.clone(),
        })
    };
    Some(SearchPlan {
        arrivals,
        repetitions: experiment.load.repetitions,
        searches: experiment.configurations.iter().flat_map(each).collect(),
    })
}

impl Plan {
    /// N of its model of 1:N.
    pub fn scale(&self) -> f64 {
        self.place.scale()
    }

    /// How often its configurations miss their page caches in the model, and at full scale.
    pub fn misses(&self) -> Misses<'_> {
        Misses {
            place: &self.place,
            database: &self.target.database,
            dataset: &self.dataset,
            full_records: self.full_records(),
            caches: &self.caches,
            configurations: &self.configurations,
            workloads: &self.workloads,
        }
    }

    /// Seconds until all of its trials are done: fetching, loading and everything else included.
    pub(crate) fn estimate(&self) -> f64 {
        let expected = self.expected_trials();
        let trials = self.trials.iter().chain(&expected).map(|trial| self.seconds_of(trial));
        FIXED_S + self.seconds_of_loading() + self.seconds_of_searches() + trials.sum::<f64>()
    }

    /// Seconds until all data sets are loaded, one after another: one for all configurations that differ in nothing
    /// that shapes its files, and one for each cluster that exists.
    pub fn seconds_of_loading(&self) -> f64 {
        let records = self.dataset.records;
        let seconds_of = |records: u64| records as f64 / LOAD_RATE;
        if self.processes.is_empty() {
            let theirs = self.place.existing().map_or(1, |cluster| {
                let points = self.configurations.iter().map(|c| c.hosts.as_ref().unwrap_or(&cluster.hosts));
                points.collect::<BTreeSet<_>>().len()
            });
            return seconds_of(records) * theirs as f64;
        }
        let mut all: Vec<DataSetFiles> =
            self.configurations.iter().map(|c| DataSetFiles::planned(c, records)).collect();
        all.sort_unstable();
        all.dedup();
        let written = |files: &DataSetFiles| records + files.backlog.map_or(0, BacklogFiles::all_records);
        // The first loader's start is in what is fixed.
        let starts_s = START_S * (all.len() as f64 - 1.0).max(0.0);
        starts_s + all.iter().map(|files| seconds_of(written(files))).sum::<f64>()
    }

    /// The configuration of this name.
    pub fn configuration(&self, name: &str) -> Option<&Configuration> {
        self.configurations.iter().find(|c| c.name == name)
    }

    /// Estimated seconds of a trial, restore and start of the database included:
    /// nodes that share a machine start at its speed.
    pub fn seconds_of(&self, trial: &PlannedTrial) -> f64 {
        let configuration = self.configuration_of(trial).and_then(|name| self.configuration(name));
        let nodes = configuration.map_or(1, |configuration| configuration.placement.nodes);
        trial_s(&self.shape, nodes) + self.starting_s_of(trial) + self.warming_s_of(trial) + self.settling_s_of(trial)
    }

    /// A trial's part of the seconds until the page cache has settled for its workload for the first time. Where rates
    /// are searched for that is a part of the search.
    fn settling_s_of(&self, trial: &PlannedTrial) -> f64 {
        let Some(cell) = self.cells.iter().find(|cell| cell.id == trial.cell).filter(|_| self.search.is_none()) else {
            return 0.0;
        };
        let is_alike = |other: &&Cell| (&other.configuration, &other.workload) == (&cell.configuration, &cell.workload);
        let cells = self.cells.iter().filter(is_alike).count();
        let trials = self.trials.iter().filter(|other| other.cell == trial.cell).count() * cells;
        self.caches.first_seconds_of(&cell.configuration, &cell.workload) / trials.max(1) as f64
    }

    /// Which of the processes that share out its block serves a trial, from 0: each has trials that follow one another.
    pub fn fork_of(&self, trial: &PlannedTrial) -> usize {
        let block: Vec<&PlannedTrial> = self.trials.iter().filter(|other| other.block == trial.block).collect();
        let place = block.iter().position(|other| *other == trial).unwrap_or_default();
        place * (self.forks as usize).min(block.len()) / block.len().max(1)
    }

    /// A trial's part of the seconds until the process that serves it in its block is expected to be ready.
    fn starting_s_of(&self, trial: &PlannedTrial) -> f64 {
        let cells_of = |configuration: &str| self.cells.iter().filter(|c| c.configuration == configuration).count();
        let Some(configuration) = self.configuration_of(trial) else { return 0.0 };
        let sharers = self.processes.iter().find(|sharers| sharers.iter().any(|name| name == configuration));
        let planned = self.configuration(configuration);
        let nodes = planned.map_or(1, |c| c.placement.nodes);
        let is_behind = planned.is_some_and(|c| c.backlog.is_some());
        sharers.map_or(0.0, |sharers| {
            let shared = match self.faults.is_empty() && !is_behind {
                true => {
                    let forks = self.forks as usize;
                    sharers.iter().map(|name| cells_of(name)).sum::<usize>().div_ceil(forks).max(1)
                }
                // What was done to a node ends its process, and so does a backlog that was compacted.
                false => 1,
            };
            (self.shape.until_code_is_warm_s() + START_S * f64::from(nodes - 1)) / shared as f64
        })
    }

    /// Expected seconds of warming the page cache before a trial, planned or expected.
    fn warming_s_of(&self, trial: &PlannedTrial) -> f64 {
        let cell = self.cells.iter().find(|c| c.id == trial.cell);
        let of_cell = cell.map(|c| (c.configuration.as_str(), c.workload.as_str()));
        let of_search = || {
            let mut searches = self.search.iter().flat_map(|plan| &plan.searches);
            let search = searches.find(|s| s.id == trial.cell)?;
            Some((search.configuration.as_str(), search.workload.as_str()))
        };
        let place = of_cell.or_else(of_search);
        place.map_or(0.0, |(configuration, workload)| self.caches.seconds_of(configuration, workload))
    }

    /// What trials cost at full scale: each configuration by the hour for its own trials. `None` where any of them has
    /// no price.
    pub fn usd_of<'t>(&self, trials: impl Iterator<Item = &'t PlannedTrial>) -> Option<f64> {
        let money = &self.money;
        trials
            .map(|trial| {
                let configuration = self.configuration_of(trial)?;
                let mut priced = money.configurations.iter();
                let usd = priced.find(|m| m.configuration == configuration)?.usd_per_month?;
                Some(usd / money.basis.hours_per_month * self.seconds_of(trial) / 3600.0)
            })
            .sum()
    }
}
