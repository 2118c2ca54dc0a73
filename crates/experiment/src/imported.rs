//! A run that nobody of iopslab carried out: the plan that its results would have had, with nothing in it that they do
//! not state.

use std::collections::BTreeMap;

use catalog::{Basis, IoLimits};
use product::Settings;
use workload::{Definition, Distribution, Mix, OperationKind};

use crate::{
    Caches, Cell, Configuration, ConfigurationMoney, ConfiguredVolume, Consistency, ConsistencyLevels, Database,
    Dataset, DecisionRules, FORMAT_VERSION, Instance, Job, LoadLevel, Money, PRODUCTS, Patience, Place, Placement,
    Plan, PlannedTrial, Setup, SetupAt, Setups, Target, TrialShape, VolumeKind, VolumeRole, VolumeSetup,
};

/// What stands where something is not stated.
const NOT_STATED: &str = "not stated";

/// Results of other tools as one run.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedRun {
    /// Short name, used for the run directory.
    pub name: String,
    /// The question that they answer.
    pub question: Option<String>,
    /// Configuration that ratios refer to.
    pub baseline: Option<String>,
    /// In the order of the map.
    pub configurations: Vec<ImportedConfiguration>,
    /// Proportions of operations, as they were counted in all trials of each workload, by its name.
    pub workloads: BTreeMap<String, Mix>,
    /// In the order of the map.
    pub trials: Vec<ImportedTrial>,
}

/// What a file is of: a name, and what that costs.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedConfiguration {
    /// Unique name.
    pub name: String,
    /// Its price as the map states it.
    pub usd_per_month: Option<f64>,
}

/// One file.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct ImportedTrial {
    pub configuration: String,
    pub workload: String,
    pub load: LoadLevel,
    /// Repetition, from 1.
    pub block: u32,
    pub measured_s: f64,
}

impl ImportedTrial {
    /// Its cell.
    pub fn cell(&self) -> Cell {
        Cell {
            id: format!("{}.{}.{}", self.configuration, self.workload, self.load.slug()),
            configuration: self.configuration.clone(),
            workload: self.workload.clone(),
            load: self.load,
        }
    }
}

impl ImportedRun {
    /// The plan, and what it says of machines, which is nothing. Each configuration is a batch of its own: who measured
    /// them did not mix the order of their trials, so that none of one stands beside one of another.
    pub fn job(&self) -> Job {
        let (first, each) = ((0_u32..), &self.configurations);
        let setups = first.zip(each).map(|(batch, configuration)| setup(&configuration.name, batch));
        Job { setups: Setups::new(setups.collect()), plan: self.plan() }
    }

    fn plan(&self) -> Plan {
        let mut cells: Vec<Cell> = Vec::new();
        for cell in self.trials.iter().map(ImportedTrial::cell) {
            if !cells.iter().any(|known| known.id == cell.id) {
                cells.push(cell);
            }
        }
        let workloads = self.workloads.iter();
        let workloads = workloads.map(|(name, mix)| Definition::new(name, *mix, Distribution::Uniform)).collect();
        let planned = |trial: &ImportedTrial| PlannedTrial { block: trial.block, cell: trial.cell().id };
        let longest_s = self.trials.iter().map(|trial| trial.measured_s).fold(0.0, f64::max);
        Plan {
            format_version: FORMAT_VERSION,
            experiment: self.name.clone(),
            question: self.question.clone(),
            baseline: self.baseline.clone(),
            // No address is known, nor a level.
            target: Target {
                database: Database::Existing(PRODUCTS[0]),
                consistency: ConsistencyLevels::all(Consistency::One),
            },
            place: Place::Imported,
            patience: Patience::default(),
            dataset: Dataset { records: 0, fields: 0, field_length: 0, compressibility: 0.0, seed: 0 },
            stands_for_records: None,
            own: None,
            data_set_store: None,
            configurations: self.configurations.iter().map(configuration).collect(),
            workloads,
            caches: Caches::default(),
            processes: Vec::new(),
            forks: 1,
            left_out: None,
            cells,
            trials: self.trials.iter().map(planned).collect(),
            search: None,
            clients: 1,
            shape: TrialShape {
                warmup_s: 0.0,
                warmup_max_s: None,
                rest_max_s: 0.0,
                duration_s: longest_s,
                operations: None,
                request_timeout_s: 0.0,
            },
            faults: Vec::new(),
            adaptive: None,
            objective: None,
            decision: DecisionRules::default(),
            seed: 0,
            money: Money { basis: Basis::default(), configurations: self.configurations.iter().map(money).collect() },
            estimated_s: 0.0,
        }
    }
}

fn money(of: &ImportedConfiguration) -> ConfigurationMoney {
    ConfigurationMoney {
        configuration: of.name.clone(),
        usd_per_month: of.usd_per_month,
        lines: Vec::new(),
        missing: of.usd_per_month.is_none().then(|| "the map of the import states no price".to_owned()),
    }
}

fn configuration(of: &ImportedConfiguration) -> Configuration {
    Configuration {
        name: of.name.clone(),
        instance: Instance { label: NOT_STATED.to_owned(), ..Instance::default() },
        data_volume: ConfiguredVolume::plain(NOT_STATED.to_owned(), VolumeKind::Explicit, 0.0, IoLimits::default()),
        commitlog_volume: None,
        memory_limit_bytes: 0,
        placement: Placement::ONE_NODE,
        consistency: None,
        hosts: None,
        watched: Vec::new(),
        version: None,
        settings: Settings::default(),
        backlog: None,
        cache_tier: None,
        price_usd_per_month: of.usd_per_month,
    }
}

fn setup(name: &str, batch: u32) -> Setup {
    Setup {
        configuration: name.to_owned(),
        cpus: 0.0,
        stands_for: None,
        heap_bytes: 0,
        direct_memory_bytes: 0,
        key_cache_bytes: 0,
        memory_limit_bytes: 0,
        page_cache_budget_bytes: 0,
        data: VolumeSetup {
            role: VolumeRole::Data,
            label: NOT_STATED.to_owned(),
            size_bytes: 0,
            limits: IoLimits::default(),
            own_limits: None,
            burst: None,
            byte_burst: None,
            card: None,
            is_local: false,
            served: None,
            combined: None,
        },
        more_data: Vec::new(),
        layout: None,
        commitlog_bytes: None,
        commitlog: None,
        instance_limits: None,
        placement: Placement::ONE_NODE,
        at: SetupAt::Imported { batch },
        version: None,
        consistency: None,
        settings: Settings::default(),
        backlog: None,
        cache_tier: None,
    }
}

/// Proportions of operations by how many there were of each kind.
pub fn mix_of(counts: &BTreeMap<OperationKind, u64>) -> Mix {
    let all: u64 = counts.values().sum();
    let share = |kind| counts.get(&kind).map_or(0.0, |n| *n as f64 / all.max(1) as f64);
    Mix {
        read: share(OperationKind::Read),
        update: share(OperationKind::Update),
        insert: share(OperationKind::Insert),
        scan: share(OperationKind::Scan),
        read_modify_write: share(OperationKind::ReadModifyWrite),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Provider;

    /// Two files of one cell, and one of a configuration without a price.
    #[test]
    fn a_plan_of_what_others_measured_states_nothing_that_they_do_not() {
        let reads = BTreeMap::from([(OperationKind::Read, 30), (OperationKind::Update, 10)]);
        let trial = |configuration: &str, block| ImportedTrial {
            configuration: configuration.to_owned(),
            workload: "a".to_owned(),
            load: LoadLevel::Concurrency(64),
            block,
            measured_s: 60.0 * f64::from(block),
        };
        let configuration = |name: &str, usd_per_month| ImportedConfiguration { name: name.to_owned(), usd_per_month };
        let run = ImportedRun {
            name: "study".to_owned(),
            question: None,
            baseline: None,
            configurations: vec![configuration("gp2", Some(300.0)), configuration("io1", None)],
            workloads: BTreeMap::from([("a".to_owned(), mix_of(&reads))]),
            trials: vec![trial("gp2", 1), trial("gp2", 2), trial("io1", 1)],
        };
        let Job { plan, setups } = run.job();
        let cells: Vec<&str> = plan.cells.iter().map(|cell| cell.id.as_str()).collect();
        assert_eq!(cells, ["gp2.a.c64", "io1.a.c64"]);
        assert_eq!((plan.trials.len(), plan.shape.duration_s, plan.workloads[0].mix.read), (3, 120.0, 0.75));
        assert_eq!((plan.place.provider(), plan.scale(), plan.dataset.records), (Provider::Imported, 1.0, 0));
        let money: Vec<Option<f64>> = plan.money.configurations.iter().map(|of| of.usd_per_month).collect();
        assert_eq!(money, [Some(300.0), None]);
        let batches: Vec<u32> = setups.iter().map(|setup| setup.at.batch()).collect();
        assert_eq!(batches, [0, 1], "nobody mixed their order");
        assert!(setups.iter().all(|setup| setup.has_real_volumes() && setup.database_hosts().is_empty()));
        assert_eq!(Plan::from_json(plan.to_json()).unwrap(), plan, "plan.json is read again");
    }
}
