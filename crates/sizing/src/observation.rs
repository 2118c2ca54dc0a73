//! What a run says about demands: one observation a cell.
//!
//! An observation is of one node. Of a cluster it is the mean node, with the part of each of the client's operations
//! that falls to it: the replicas that the operation reads or writes / nodes. So demands come out for an operation of a
//! replica, whatever the size of the cluster that was measured; coordination is in them, spread over the replicas.

use std::collections::{BTreeMap, BTreeSet};

use analysis::{
    CONFIDENCE, Finding, LimitKind, Rule, RunEvidence, Severity, TrialMeasurement, VolumeActivity, VolumeRole,
    each_once, limit_of_cell, nodes_of_cell, rules,
};
use experiment::{
    Configuration, ConsistencyLevels, Definition, LoadLevel, OperationKind, Placement, Product, Settings, Setup,
};
use reported::cassandra::SSTABLES_PER_READ;
use workload::{Distribution, PageCache};

use crate::document::Limit;

/// What a machine is asked to do in a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Work {
    pub reads: f64,
    pub writes: f64,
    /// Of these, what it coordinates for clients.
    pub client_reads: f64,
    pub client_writes: f64,
    /// Share of the reads that the page cache answers.
    pub hit_ratio: f64,
    pub record_bytes: f64,
}

/// A cell's figures, medians of its valid trials, on the machine that ran it (scaled).
#[derive(Debug, Clone)]
pub(super) struct Observation<'a> {
    /// Run and cell, for people.
    pub name: String,
    pub cell: &'a str,
    pub run: usize,
    pub product: &'static Product,
    /// Of its database; `None` of a cluster that exists.
    pub version: Option<&'a str>,
    pub configuration: &'a Configuration,
    pub setup: &'a Setup,
    pub scale: f64,
    pub distribution: Distribution,
    /// What the node does as a replica and as coordinator for each operation of the client, work being spread evenly; a
    /// read-modify-write reads and writes.
    pub work: Work,
    pub trials: u64,
    /// Of these, trials with suspect findings, and the names of the rules that made them.
    pub suspect_trials: u64,
    pub suspicions: BTreeSet<Rule>,
    /// Whether no trial was still on its way up or down.
    pub is_at_rest: bool,
    /// Operations per second, with the half-width of its interval as a share of it.
    pub throughput: f64,
    pub half_width: Option<f64>,
    pub cpus_used: f64,
    /// Read requests of the data volume for each operation.
    pub device_reads: f64,
    pub read_request_bytes: Option<f64>,
    /// Write requests and bytes of the data volume for each operation.
    pub device_writes: f64,
    pub write_bytes: f64,
    /// The same of a commit log on a volume of its own.
    pub log_writes: f64,
    pub log_bytes: f64,
    /// Share of the data set that would fill the page cache it was given. Where the model has one that misses as often
    /// as that of the data that its own stand for, it is the share of these.
    pub cache_given: f64,
    /// Share of the data set, counted so too, that was in the page cache; the hit ratio follows from what was.
    pub cache_share: f64,
    /// SSTables that the database merged for a read, as it counted them; `None` where it was not asked, or read
    /// nothing.
    pub sstables_per_read: Option<f64>,
    pub limit: LimitKind,
    pub is_open_loop: bool,
    /// p99 of the slowest operation kind, microseconds.
    pub p99_us: Option<f64>,
    /// Data on the node's disks at full scale, bytes: of all that the data set stands for.
    pub data_bytes: f64,
    /// Bytes on disk for each byte of payload.
    pub on_disk: f64,
    pub fields: u32,
}

/// All cells that measured something under one of these workloads (all, when none is named).
pub(super) fn observe<'a>(runs: &'a [RunEvidence<'a>], workloads: &[String]) -> Vec<Observation<'a>> {
    let mut observations = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let plan = run.plan;
        for workload in &plan.workloads {
            if !workloads.is_empty() && !workloads.contains(&workload.name) {
                continue;
            }
            // By records and the length of a chunk.
            let mut caches: BTreeMap<(u64, u64), PageCache> = BTreeMap::new();
            for cell in plan.cells.iter().filter(|c| c.workload == workload.name) {
                let of_cell = |t: &&TrialMeasurement| t.record.cell == cell.id && t.is_valid();
                let trials: Vec<&TrialMeasurement> = run.trials.iter().filter(of_cell).collect();
                let setup = run.setups.of(&cell.configuration);
                let configuration = plan.configuration(&cell.configuration);
                let (Some(setup), Some(configuration)) = (setup, configuration) else { continue };
                if has_several_data_volumes(configuration) || configuration.cache_tier.is_some() {
                    continue;
                }
                let product = plan.target.database.product();
                let (dataset, chunk_bytes) = (&plan.dataset, product.unit_bytes_of(&configuration.settings));
                let keeps_misses = plan.caches.same_misses(&configuration.name, &workload.name).is_some();
                let full_records = keeps_misses.then(|| plan.full_records());
                let key = |records: u64| (records, chunk_bytes as u64);
                for records in std::iter::once(dataset.records).chain(full_records) {
                    caches.entry(key(records)).or_insert_with(|| {
                        PageCache::new(workload.distribution, records, dataset.record_bytes(), chunk_bytes)
                    });
                }
                let (cache, full) = (&caches[&key(dataset.records)], full_records.map(|all| &caches[&key(all)]));
                let built = Built { run, index, setup, configuration, workload, cache, full };
                observations.extend(of_trials(&built, cell.load, &cell.id, &trials));
            }
        }
    }
    observations
}

/// Whether its nodes spread their data over several volumes: demands are of a node with one, and so are clusters.
fn has_several_data_volumes(configuration: &Configuration) -> bool {
    configuration.data_volume.count > 1
}

/// Configurations of the evidence from which nothing is learned because their nodes have several data volumes.
pub(super) fn with_several_data_volumes(runs: &[RunEvidence<'_>]) -> Vec<String> {
    names_of(runs, has_several_data_volumes)
}

/// Those from which nothing is learned because caches are in front of their database.
pub(super) fn with_cache_tier(runs: &[RunEvidence<'_>]) -> Vec<String> {
    names_of(runs, |configuration| configuration.cache_tier.is_some())
}

/// All others of which no valid trial says what an operation costs; and those that were not measured with any of
/// `workloads` (empty: all).
pub(super) fn without_demand(
    runs: &[RunEvidence<'_>],
    workloads: &[String],
    observed: &[Observation<'_>],
) -> (Vec<String>, Vec<String>) {
    let is_observed = |own: &Configuration| observed.iter().any(|o| o.configuration.name == own.name);
    let none = names_of(runs, |own| !has_several_data_volumes(own) && own.cache_tier.is_none() && !is_observed(own));
    none.into_iter().partition(|own| {
        let mut its_own = runs.iter().flat_map(|run| &run.plan.cells).filter(|cell| cell.configuration == *own);
        its_own.any(|cell| workloads.is_empty() || workloads.contains(&cell.workload))
    })
}

/// CPU time of a request to the caches of the evidence, microseconds: the median of all valid trials with caches;
/// `None`: no run measured one.
pub(super) fn cache_request_cpu_us(runs: &[RunEvidence<'_>]) -> Option<f64> {
    let trials = runs.iter().flat_map(|run| run.trials.iter()).filter(|trial| trial.is_valid());
    stats::median(trials.filter_map(analysis::cache_request_cpu_us))
}

/// The configurations of which this is so, each once.
fn names_of(runs: &[RunEvidence<'_>], is_so: impl Fn(&Configuration) -> bool) -> Vec<String> {
    let configurations = runs.iter().flat_map(|run| &run.plan.configurations);
    each_once(configurations.filter(|configuration| is_so(configuration)).map(|c| c.name.clone()))
}

/// The observations of one set of settings and one version: those without settings, or else those with the first ones;
/// and the configurations that are left out therefore. A demand is of a database as it was set.
pub(super) fn of_one_set(observations: Vec<Observation<'_>>) -> (Vec<Observation<'_>>, Vec<String>) {
    let is_plain = |o: &Observation<'_>| o.configuration.settings.is_empty();
    let first = observations.iter().find(|o| is_plain(o)).or_else(|| observations.first());
    let learned = first.map(|o| (&o.configuration.settings, o.version));
    let is_learned = |o: &Observation<'_>| {
        let is_same =
            |settings: &Settings| o.configuration.settings == *settings || (settings.is_empty() && is_plain(o));
        learned.is_some_and(|(settings, version)| o.version == version && is_same(settings))
    };
    let (kept, others): (Vec<_>, Vec<_>) = observations.into_iter().partition(is_learned);
    (kept, each_once(others.iter().map(|other| other.configuration.name.clone())))
}

struct Built<'a, 'b> {
    run: &'a RunEvidence<'a>,
    index: usize,
    setup: &'a Setup,
    configuration: &'a Configuration,
    workload: &'a Definition,
    cache: &'b PageCache,
    /// That of the data that it stands for, where its page cache misses as often.
    full: Option<&'b PageCache>,
}

impl Built<'_, '_> {
    /// The share of the data that has to be in a page cache at full scale for as many hits.
    fn share_stood_for(&self, share: f64) -> f64 {
        self.full.map_or(share, |full| full.share_for(self.cache.hit_ratio(share)))
    }
}

fn of_trials<'a>(
    built: &Built<'a, '_>,
    load: LoadLevel,
    cell: &'a str,
    whole: &[&TrialMeasurement],
) -> Option<Observation<'a>> {
    let plan = built.run.plan;
    // Where a node was taken away, what an operation costs shows before.
    let trials: &[&TrialMeasurement] = &whole.iter().map(|t| t.undisturbed()).collect::<Vec<_>>();
    let suspicions: Vec<Vec<Rule>> = whole.iter().map(|t| suspicions(t)).collect();
    let values = |figure: &dyn Fn(&TrialMeasurement) -> Option<f64>| -> Vec<f64> {
        trials.iter().filter_map(|t| figure(t)).collect()
    };
    let median = |figure: &dyn Fn(&TrialMeasurement) -> Option<f64>| stats::median(values(figure));
    let placement = built.configuration.placement;
    let nodes = f64::from(placement.nodes);
    // A trial of which a node said nothing would look like a smaller cluster.
    if trials.iter().any(|t| t.nodes().count() != placement.nodes as usize) {
        return None;
    }
    let volume = |role: VolumeRole, figure: fn(&VolumeActivity) -> f64| {
        median(&move |t: &TrialMeasurement| t.per_operation(t.sum_of_volumes(role, figure))).map(|sum| sum / nodes)
    };
    let levels = built.configuration.consistency.unwrap_or(plan.target.consistency);
    let (reads, writes) = of_a_node(built.workload, placement, levels);
    let unequal = rules::unequal_nodes(cell, &nodes_of_cell(Some(built.setup), trials), trials);
    let throughput = stats::estimate(&values(&TrialMeasurement::throughput), CONFIDENCE)?;
    let cache_share = median(&TrialMeasurement::page_cache_share)?.min(1.0);
    let payload = plan.dataset.payload_bytes() as f64;
    let device_reads = volume(VolumeRole::Data, |v| v.reads)?;
    Some(Observation {
        name: format!("{}: {cell}", built.run.run),
        cell,
        run: built.index,
        configuration: built.configuration,
        product: plan.target.database.product(),
        version: built.setup.version.as_deref().or_else(|| plan.target.database.version()),
        setup: built.setup,
        scale: plan.scale(),
        distribution: built.workload.distribution,
        work: Work {
            reads,
            writes,
            client_reads: built.workload.mix.reads() / nodes,
            client_writes: built.workload.mix.writes() / nodes,
            hit_ratio: built.cache.hit_ratio(cache_share),
            record_bytes: plan.dataset.record_bytes(),
        },
        trials: trials.len() as u64,
        suspect_trials: suspicions.iter().filter(|found| !unequal.is_empty() || !found.is_empty()).count() as u64,
        is_at_rest: trials.iter().all(|t| t.backlog.is_none())
            && !suspicions.iter().flatten().any(|rule| *rule == Rule::NoSteadyState),
        suspicions: suspicions.into_iter().flatten().chain(unequal.iter().map(Finding::rule)).collect(),
        throughput: throughput.median,
        half_width: (trials.len() > 1).then(|| (throughput.high - throughput.low) / 2.0 / throughput.median),
        cpus_used: median(&|t| t.sum(|node| node.host.cpus_used))? / nodes,
        device_reads,
        read_request_bytes: volume(VolumeRole::Data, |v| v.read_bytes)
            .and_then(|bytes| stats::ratio(bytes, device_reads)),
        device_writes: volume(VolumeRole::Data, |v| v.writes)?,
        write_bytes: volume(VolumeRole::Data, |v| v.write_bytes)?,
        log_writes: volume(VolumeRole::Commitlog, |v| v.writes).unwrap_or(0.0),
        log_bytes: volume(VolumeRole::Commitlog, |v| v.write_bytes).unwrap_or(0.0),
        cache_given: median(&|t| {
            let budget: u64 = t.nodes().map(|node| node.facts.page_cache_budget_bytes).sum();
            stats::ratio(budget as f64, t.data_bytes_on_disk()).map(|share| built.share_stood_for(share))
        })?,
        cache_share: built.share_stood_for(cache_share),
        sstables_per_read: median(&|t| t.reported(&SSTABLES_PER_READ)),
        limit: limit_of_cell(Some(built.setup), trials).kind,
        is_open_loop: matches!(load, LoadLevel::Rate { .. }),
        p99_us: median(&|t| t.response.values().filter_map(|of| of.figures.p99).max_by(f64::total_cmp)),
        data_bytes: median(&|t| Some(t.data_bytes_on_disk() / nodes * plan.data_scale()))?,
        on_disk: median(&|t| stats::ratio(t.data_bytes_on_disk(), payload * f64::from(placement.replication_factor)))?,
        fields: plan.dataset.fields,
    })
}

/// Reads and writes of a replica that one node does for each operation of the client, work being spread evenly: a read
/// asks as many replicas as its level waits for (Cassandra sends digest requests to no more of them),
/// a write goes to all.
fn of_a_node(workload: &Definition, placement: Placement, levels: ConsistencyLevels) -> (f64, f64) {
    let mix = &workload.mix;
    let copies = placement.replication_factor;
    let asked = |level: experiment::Consistency| f64::from(level.replicas(copies).min(copies));
    let scans = mix.share(OperationKind::Scan);
    let reads = match levels.read == levels.scan {
        true => mix.reads() * asked(levels.read),
        false => (mix.reads() - scans) * asked(levels.read) + scans * asked(levels.scan),
    };
    (reads / f64::from(placement.nodes), mix.writes() * placement.share_per_node())
}

fn suspicions(trial: &TrialMeasurement) -> Vec<Rule> {
    let suspect = |finding: &Finding| (finding.severity == Severity::Suspect).then(|| finding.rule());
    rules::of_trial(trial).iter().filter_map(suspect).collect()
}

impl Observation<'_> {
    /// Operations of a replica per second, at full scale, of so many operations of clients on the machine that was
    /// measured.
    pub fn replica_operations(&self, throughput: f64) -> f64 {
        (self.work.reads + self.work.writes) * throughput * self.scale
    }

    /// Share of reads among reads and writes.
    pub fn read_share(&self) -> f64 {
        self.work.reads / (self.work.reads + self.work.writes)
    }

    /// Whether two cells are of machines that one would order alike, whatever they are called.
    pub fn is_like(&self, other: &Self) -> bool {
        let (a, b) = (self.configuration, other.configuration);
        a.instance == b.instance
            && a.data_volume == b.data_volume
            && a.commitlog_volume == b.commitlog_volume
            && a.memory_limit_bytes == b.memory_limit_bytes
    }

    /// The resources that bounded it.
    pub fn bounded_by(&self) -> &'static [Limit] {
        match self.limit {
            LimitKind::Cpu => &[Limit::Cpu],
            LimitKind::VolumeIops | LimitKind::BurstSpent => &[Limit::VolumeIops],
            LimitKind::VolumeThroughput => &[Limit::VolumeThroughput],
            LimitKind::InstanceEbsBandwidth => &[Limit::VolumeIops, Limit::VolumeThroughput],
            LimitKind::CommitLog => &[Limit::CommitLog],
            _ => &[],
        }
    }

    /// Whether a resource of the database bounded it, so that its throughput is a capacity.
    pub fn is_capacity(&self) -> bool {
        !self.bounded_by().is_empty()
    }
}
