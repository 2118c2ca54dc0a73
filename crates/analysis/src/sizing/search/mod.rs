//! The search: for each machine the fewest nodes that meet the target, then the cheapest first.

mod caution;
mod error;
mod p99;
mod proposal;

pub use error::SizingError;

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use catalog::{Basis, Catalog, ClusterRequest, InstanceType, Lifecycle, MIB, VolumeType};
use evidence::FORMAT_VERSION;
use spec::{Configuration, Distribution, PageCache};

use super::candidate::{self, MADE_TO_MEASURE, Need, NodeError, made_to_measure};
use super::demand::{Demand, Machine, Work, held_out};
use super::document::{EvidenceFacts, FleetUse, Label, LeftOut, Proposal, Range, Sizing, Utilisation};
use super::fleet::compare_fleets;
use super::observation::{CHUNK_BYTES, Observation, SizingRun, observe};
use super::target::Target;

/// What to search.
#[derive(Debug, Clone, Default)]
pub struct SizingOptions {
    /// Only evidence of these workloads; all when empty.
    pub workloads: Vec<String>,
    /// Only these machines, one node each: how many it takes is what is asked. The whole catalog when empty.
    pub candidates: Vec<ClusterRequest>,
    /// Only these families, such as `i4i`; all when empty.
    pub families: Vec<String>,
    /// Only this architecture; `x86_64` when the whole catalog is searched and nothing is stated.
    pub architecture: Option<String>,
    /// How many proposals.
    pub most: usize,
    /// The fleet of today, to put the first proposal beside.
    pub current: Vec<ClusterRequest>,
}

/// More nodes are not proposed.
const MOST_NODES: u32 = 3000;
/// Where only measured machines count, so many nodes of a zone are tried.
const MOST_NODES_MEASURED: u32 = 300;
/// After the fewest nodes this many larger clusters are priced too: smaller volumes may pay for them.
const LARGER_CLUSTERS: u32 = 4;
/// Cells that are held at a volume's limit repeat themselves more exactly than a real machine would (practice).
const LEAST_HALF_WIDTH: f64 = 0.01;
/// Read shares this near count as equal.
const SAME_MIX: f64 = 0.02;
/// Ratios of memory to data this near count as equal, as a share of the measured one.
const SAME_CACHE: f64 = 0.1;

/// Proposes clusters for a target, from what runs have measured.
///
/// # Errors
///
/// When the target cannot be, the evidence does not carry an answer, or nothing in the catalog meets the target.
pub fn size(
    catalog: &Catalog,
    runs: &[SizingRun<'_>],
    target: &Target,
    options: &SizingOptions,
    basis: &Basis,
) -> Result<Sizing, SizingError> {
    target.check()?;
    basis
        .check(catalog)
        .map_err(|error| SizingError::Input(error.to_string()))?;
    check_options(catalog, options).map_err(SizingError::Input)?;
    // Capacities of old types are those of a path of their own to EBS, so it is paid for.
    let basis = &Basis {
        ebs_optimised: true,
        ..basis.clone()
    };
    let observations = observe(runs, &options.workloads);
    let search = Search::new(catalog, runs, &observations, target, options, basis)?;
    let (mut proposals, left_out) = search.all();
    if proposals.is_empty() {
        let held = &search.facts.held_out;
        if !held.is_accepted() {
            return Err(SizingError::ModelRefused {
                median_percent: held.median_error.unwrap_or(0.0) * 100.0,
                p90_percent: held.p90_error.unwrap_or(0.0) * 100.0,
                worst: held
                    .worst
                    .as_ref()
                    .map_or_else(String::new, |(cell, error)| format!("{cell} ({:+.0} %)", error * 100.0)),
            });
        }
        return Err(SizingError::NothingFound { left_out });
    }
    proposals.sort_by(order);
    proposals.truncate(options.most.max(1));
    let comparison = (!options.current.is_empty())
        .then(|| {
            let best = ClusterRequest::parse(catalog, &proposals[0].configuration).map_err(|e| e.to_string())?;
            let mut comparison = compare_fleets(catalog, &options.current, &[best], search.usable(), basis)?;
            if let [only] = options.current.as_slice() {
                comparison.current_use = search.use_of(only);
            }
            Ok(comparison)
        })
        .transpose()
        .map_err(SizingError::Input)?;
    let notes = search.notes();
    let price_date = basis.price_date.clone().or_else(|| {
        proposals
            .iter()
            .flat_map(|p| &p.cost)
            .filter_map(|line| line.price_date.clone())
            .max()
    });
    Ok(Sizing {
        format_version: FORMAT_VERSION,
        target: target.clone(),
        evidence: search.facts,
        proposals,
        left_out,
        comparison,
        basis: Basis {
            price_date,
            ..basis.clone()
        },
        notes,
    })
}

/// Whether families and architecture exist, and candidates leave the number of nodes open.
fn check_options(catalog: &Catalog, options: &SizingOptions) -> Result<(), String> {
    let family = |instance: &InstanceType| instance.name.split('.').next().unwrap_or_default().to_owned();
    for wanted in &options.families {
        if !catalog.instances().iter().any(|instance| family(instance) == *wanted) {
            let near = catalog.nearest_instances(&format!("{wanted}.large"));
            let near: Vec<&str> = near.iter().filter_map(|name| name.split('.').next()).collect();
            let near = if near.is_empty() {
                String::new()
            } else {
                format!("; nearest: {}", near.join(", "))
            };
            return Err(format!("no instance type is of a family `{wanted}`{near}"));
        }
    }
    let known: BTreeSet<&str> = catalog.instances().iter().map(|i| i.architecture.as_str()).collect();
    if let Some(wanted) = options.architecture.as_deref().filter(|wanted| !known.contains(wanted)) {
        let known: Vec<&str> = known.into_iter().collect();
        return Err(format!(
            "no instance type has the architecture `{wanted}`; known: {}",
            known.join(", ")
        ));
    }
    match options.candidates.iter().find(|candidate| candidate.nodes > 1) {
        Some(stated) => Err(format!(
            "the candidate {stated} states its nodes, which is what is to be found; leave out `*{}`",
            stated.nodes
        )),
        None => Ok(()),
    }
}

/// The fewer reasons to doubt it the better, then the cheaper one.
fn order(a: &Proposal, b: &Proposal) -> Ordering {
    let doubts = |p: &Proposal| p.beyond_evidence.len();
    (doubts(a).cmp(&doubts(b))).then(a.usd_per_month.total_cmp(&b.usd_per_month))
}

struct Search<'a> {
    catalog: &'a Catalog,
    runs: &'a [SizingRun<'a>],
    observations: &'a [Observation<'a>],
    target: &'a Target,
    options: &'a SizingOptions,
    basis: &'a Basis,
    facts: EvidenceFacts,
    distribution: Distribution,
    record_bytes: f64,
    /// The most of each resource that may be used with all nodes up, ...
    busiest: f64,
    /// ... and with a part down.
    busiest_when_down: f64,
    caches: RefCell<BTreeMap<i32, PageCache>>,
}

/// A node of a cluster of so many, under the target.
struct Loaded {
    work: Work,
    data_bytes: f64,
    cache_share: f64,
}

/// A cluster that meets the target.
struct Found {
    request: ClusterRequest,
    loaded: Loaded,
    utilisation: Utilisation,
    /// How full the fullest resource is, by measurement or by the model.
    fullest: f64,
    limit: String,
    label: Label,
    half_width: Option<f64>,
}

impl<'a> Search<'a> {
    fn new(
        catalog: &'a Catalog,
        runs: &'a [SizingRun<'a>],
        observations: &'a [Observation<'a>],
        target: &'a Target,
        options: &'a SizingOptions,
        basis: &'a Basis,
    ) -> Result<Self, SizingError> {
        let all: Vec<&Observation<'_>> = observations.iter().collect();
        let names = |list: Vec<String>| {
            if list.is_empty() {
                "any workload".to_owned()
            } else {
                list.join(", ")
            }
        };
        let Some(demand) = Demand::fit(&all) else {
            return Err(SizingError::NoEvidence {
                runs: runs
                    .iter()
                    .map(|r| r.evidence.run.clone())
                    .collect::<Vec<_>>()
                    .join(", "),
                workloads: names(options.workloads.clone()),
            });
        };
        let first = &observations[0];
        if observations.iter().any(|o| o.distribution != first.distribution) {
            let mut found: Vec<String> = observations.iter().map(|o| format!("{:?}", o.distribution)).collect();
            found.sort();
            found.dedup();
            return Err(SizingError::Distributions {
                found: found.join(", "),
            });
        }
        let median = |figure: fn(&Observation<'_>) -> f64| {
            stats::median(&observations.iter().map(figure).collect::<Vec<_>>()).unwrap_or(1.0)
        };
        let mut search = Self {
            catalog,
            runs,
            observations,
            target,
            options,
            basis,
            facts: EvidenceFacts {
                runs: runs.iter().map(|r| r.evidence.run.clone()).collect(),
                cells: observations.len() as u64,
                capacity_cells: observations.iter().filter(|o| o.is_capacity()).count() as u64,
                trials: observations.iter().map(|o| o.trials).sum(),
                suspect_trials: observations.iter().map(|o| o.suspect_trials).sum(),
                read_share: Range::of(observations.iter().map(Observation::read_share)),
                replica_read_share: target.replica_read_share(),
                cache_share: Range::of(observations.iter().map(|o| o.cache_share)),
                vcpus: Range::of(observations.iter().map(|o| o.configuration.instance.vcpus)),
                data_bytes_per_node: Range::of(observations.iter().map(|o| o.data_bytes)),
                on_disk: median(|o| o.on_disk),
                demand,
                held_out: held_out(observations),
                p99_utilisation: None,
            },
            distribution: first.distribution,
            record_bytes: median(|o| o.record_bytes),
            busiest: target.busiest(),
            busiest_when_down: target.busiest_when_down(),
            caches: RefCell::default(),
        };
        search.hold_p99()?;
        Ok(search)
    }

    /// The most that may be used with all nodes up, so that there is enough with a part down.
    fn allowed(&self, nodes: u32) -> f64 {
        self.busiest
            .min(self.busiest_when_down / self.target.load_when_down(nodes))
    }

    /// Share of the disks that holds distinct data.
    fn usable(&self) -> f64 {
        self.target.disk_fill_percent / 100.0 / f64::from(self.target.replication_factor)
    }

    fn era(&self) -> Option<&str> {
        self.basis.price_date.as_deref()
    }

    /// Every machine of the search: the best cluster of each type, or why there is none.
    fn all(&self) -> (Vec<Proposal>, Vec<LeftOut>) {
        let mut best: BTreeMap<String, Proposal> = BTreeMap::new();
        let mut why: BTreeMap<String, String> = BTreeMap::new();
        let mut tried = |name: &str, result: Result<Proposal, String>| match result {
            Ok(proposal) => {
                if best.get(name).is_none_or(|known| order(known, &proposal).is_gt()) {
                    best.insert(name.to_owned(), proposal);
                }
            }
            Err(reason) => {
                why.entry(name.to_owned()).or_insert(reason);
            }
        };
        if self.options.candidates.is_empty() {
            for instance in self.catalog.instances() {
                match self.is_searched(instance) {
                    Err(None) => {}
                    Err(Some(reason)) => tried(&instance.name, Err(reason)),
                    Ok(()) => {
                        if instance.local_disks.is_some() {
                            tried(&instance.name, self.best_of(&request_of(instance)));
                        }
                        if instance.ebs.is_some() {
                            for kind in self.kinds_sold() {
                                let with = |need| ClusterRequest {
                                    volumes: vec![made_to_measure(kind, need)],
                                    ..request_of(instance)
                                };
                                tried(&instance.name, self.cheapest(&with));
                            }
                        }
                    }
                }
            }
        } else {
            for request in &self.options.candidates {
                tried(&request.to_string(), self.best_of(request));
            }
        }
        let mut left_out: BTreeMap<String, LeftOut> = BTreeMap::new();
        for (name, reason) in why.into_iter().filter(|(name, _)| !best.contains_key(name)) {
            let group = left_out.entry(reason.clone()).or_insert_with(|| LeftOut {
                why: reason,
                count: 0,
                example: name,
            });
            group.count += 1;
        }
        let mut left_out: Vec<LeftOut> = left_out.into_values().collect();
        left_out.sort_by(|a, b| b.count.cmp(&a.count).then(a.why.cmp(&b.why)));
        (best.into_values().collect(), left_out)
    }

    /// Types of volumes that have rules and a price on the basis.
    fn kinds_sold(&self) -> Vec<VolumeType> {
        let is_sold = |kind: &VolumeType| {
            let rules = self.era().is_none_or(|era| catalog::rules_in(*kind, era).is_ok());
            rules && self.catalog.volume_price(*kind, &self.basis.region, self.era()).is_ok()
        };
        MADE_TO_MEASURE.into_iter().filter(is_sold).collect()
    }

    /// `Err(None)`: nobody asked for it.
    fn is_searched(&self, instance: &InstanceType) -> Result<(), Option<String>> {
        let family = instance.name.split('.').next().unwrap_or_default();
        if !self.options.families.is_empty() && !self.options.families.iter().any(|f| f == family) {
            return Err(None);
        }
        let architecture = self.options.architecture.as_deref().unwrap_or("x86_64");
        if instance.architecture != architecture {
            return Err(None);
        }
        let retired = instance.lifecycle == Lifecycle::Retired && self.basis.price_date.is_none();
        if retired && self.options.families.is_empty() {
            return Err(None);
        }
        if family.len() <= 3 && family.starts_with('t') {
            return Err(Some("its CPUs work on credits".to_owned()));
        }
        if instance.memory_gib < 8.0 || instance.vcpus < 2 {
            return Err(Some("less than 8 GiB of memory or 2 vCPUs".to_owned()));
        }
        Ok(())
    }

    fn best_of(&self, request: &ClusterRequest) -> Result<Proposal, String> {
        self.cheapest(&|_| request.clone())
    }

    /// The cheapest cluster of a machine; `with` gives it the volumes for a need.
    fn cheapest(&self, with: &dyn Fn(Need) -> ClusterRequest) -> Result<Proposal, String> {
        let zones = self.target.zones;
        let most = MOST_NODES / zones;
        let alone = self.target.nodes_down(zones) >= zones;
        let least = self
            .target
            .replication_factor
            .div_ceil(zones)
            .max(if alone { 2 } else { 1 });
        let meets = |per_zone: u32| self.cluster(with, per_zone * zones);
        if !self.facts.held_out.is_accepted() {
            // Only clusters whose ratio of memory to data was measured count: any number of nodes may be one.
            let mut failed = None;
            for per_zone in least..=most.min(MOST_NODES_MEASURED) {
                match meets(per_zone).and_then(|found| self.priced(found)) {
                    Ok(proposal) => return Ok(proposal),
                    Err(reason) => failed = Some(reason),
                }
            }
            return Err(failed.unwrap_or_default());
        }
        let (mut low, mut high) = (least, least);
        while let Err(reason) = meets(high) {
            if high >= most {
                return Err(reason);
            }
            low = high + 1;
            high = (high * 2).min(most);
        }
        while low < high {
            let middle = u32::midpoint(low, high);
            if meets(middle).is_ok() {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let mut best: Option<Proposal> = None;
        let mut failed = None;
        for per_zone in high..=high + LARGER_CLUSTERS {
            match meets(per_zone).and_then(|found| self.priced(found)) {
                Ok(proposal) if best.as_ref().is_none_or(|known| order(known, &proposal).is_gt()) => {
                    best = Some(proposal);
                }
                Ok(_) => {}
                Err(reason) => {
                    failed.get_or_insert(reason);
                }
            }
        }
        best.ok_or_else(|| failed.unwrap_or_default())
    }

    /// What each of so many nodes does and holds at the target.
    fn loaded(&self, memory_gib: f64, nodes: u32) -> Loaded {
        let n = f64::from(nodes);
        let copies = f64::from(self.target.replication_factor);
        let payload = self.target.data_at_the_end() * copies / n;
        let data_bytes = payload * self.facts.on_disk;
        let page_cache = spec::page_cache_at_full_scale((memory_gib * 1024.0 * MIB) as u64).unwrap_or(0.0);
        let cache_share = (page_cache / data_bytes).min(1.0);
        let (reads, writes) = self.target.replica_operations();
        Loaded {
            work: Work {
                reads: reads * self.target.operations_per_s / n,
                writes: writes * self.target.operations_per_s / n,
                hit_ratio: self.hit_ratio(payload, cache_share),
                record_bytes: self.record_bytes,
            },
            data_bytes,
            cache_share,
        }
    }

    /// Che on the chunks of so much payload; tables are kept in steps of a tenth in size.
    fn hit_ratio(&self, payload: f64, cache_share: f64) -> f64 {
        let step = (payload.log(1.1)).round() as i32;
        let mut caches = self.caches.borrow_mut();
        let cache = caches.entry(step).or_insert_with(|| {
            let records = (1.1_f64.powi(step) / self.record_bytes).max(1.0) as u64;
            PageCache::new(self.distribution, records, self.record_bytes, CHUNK_BYTES)
        });
        cache.hit_ratio(cache_share)
    }

    /// A cluster of so many nodes, if it meets the target.
    fn cluster(&self, with: &dyn Fn(Need) -> ClusterRequest, nodes: u32) -> Result<Found, String> {
        // The instance is the same whatever the need.
        let nothing = Need {
            gib: 0.0,
            iops: 0.0,
            mib_per_s: 0.0,
        };
        let name = with(nothing).instance;
        let instance = self.catalog.instance(&name).ok_or("unknown instance type")?;
        let loaded = self.loaded(instance.memory_gib, nodes);
        let alone = self.facts.demand.utilisation(&Machine::UNLIMITED, &loaded.work);
        let down = self.target.nodes_down(nodes);
        if down >= nodes {
            return Err("no node would be left".to_owned());
        }
        let allowed = self.allowed(nodes);
        let fill = self.target.disk_fill_percent / 100.0;
        let need = Need {
            gib: loaded.data_bytes / fill / 1024.0 / MIB,
            iops: alone.device_iops / allowed,
            mib_per_s: alone.device_bytes_per_s / allowed / MIB,
        };
        let mut request = with(need);
        request.nodes = nodes;
        let node = candidate::node(self.catalog, &request, self.era()).map_err(|error| match error {
            NodeError::Volume(_) if self.options.candidates.is_empty() => {
                "no volume is sold that is large or fast enough".to_owned()
            }
            other => other.to_string(),
        })?;
        if node.disk_bytes == 0.0 {
            return Err(format!(
                "no disks for the data; add a volume, for example {name}+gp3:1000GiB"
            ));
        }
        if loaded.data_bytes > fill * node.disk_bytes {
            return Err(format!("its disks are too small even with {MOST_NODES} nodes"));
        }
        let Some(machine) = node.machine else {
            return Err("what its disks can do is not known".to_owned());
        };
        let utilisation = self.facts.demand.utilisation(&machine, &loaded.work);
        let measured = self.measured(&request, &loaded);
        let (fullest, limit, label, half_width) = match measured {
            Some(observation) => (
                (loaded.work.reads + loaded.work.writes)
                    / ((observation.reads + observation.writes) * observation.throughput * observation.scale),
                observation.limit.words().to_owned(),
                Label::Measured,
                observation.half_width.map(|half| half.max(LEAST_HALF_WIDTH)),
            ),
            None if self.facts.held_out.is_accepted() => {
                let (resource, fullest) = utilisation.busiest();
                let label = if self.is_between(instance, &loaded) {
                    Label::Interpolated
                } else {
                    Label::Modelled
                };
                (fullest, resource.to_owned(), label, self.facts.held_out.p90_error)
            }
            None => return Err("not measured under this target, and the model fails its held-out test".to_owned()),
        };
        if fullest > allowed {
            return Err(format!("{limit} is too small even with {MOST_NODES} nodes"));
        }
        Ok(Found {
            request,
            loaded,
            utilisation,
            fullest,
            limit,
            label,
            half_width,
        })
    }

    /// How full a fleet of one kind would be at the target, by the model.
    fn use_of(&self, request: &ClusterRequest) -> Option<FleetUse> {
        let node = candidate::node(self.catalog, request, self.era()).ok()?;
        let loaded = self.loaded(node.instance.memory_gib, request.nodes);
        let (limit, used) = self.facts.demand.utilisation(&node.machine?, &loaded.work).busiest();
        Some(FleetUse {
            limit: limit.to_owned(),
            used,
            disk_fill: loaded.data_bytes / node.disk_bytes,
        })
    }

    /// The cell that measured this very machine, mix and ratio of memory to data, once it had come to rest.
    fn measured(&self, request: &ClusterRequest, loaded: &Loaded) -> Option<&Observation<'a>> {
        self.observations
            .iter()
            .filter(|o| o.is_capacity() && !o.suspicions.contains(&crate::Rule::NoSteadyState))
            .filter(|o| is_order(o.configuration, request))
            .filter(|o| (o.read_share() - self.facts.replica_read_share).abs() <= SAME_MIX)
            .filter(|o| (loaded.cache_share / o.cache_given.min(1.0) - 1.0).abs() <= SAME_CACHE)
            .max_by(|a, b| a.throughput.total_cmp(&b.throughput))
    }
}

/// Whether a configuration is what this order buys: its data volume, then its commit log's, or the local disks for both.
fn is_order(configuration: &Configuration, request: &ClusterRequest) -> bool {
    let volumes = [
        Some(&configuration.data_volume),
        configuration.commitlog_volume.as_ref(),
    ];
    let volumes: Vec<_> = volumes.into_iter().flatten().filter(|v| v.kind != "local").collect();
    let bought: Option<Vec<_>> = volumes.iter().map(|v| v.order).collect();
    configuration.instance.from_catalog
        && configuration.instance.label == request.instance
        && bought.is_some_and(|bought| bought == request.volumes)
}

fn request_of(instance: &InstanceType) -> ClusterRequest {
    ClusterRequest {
        instance: instance.name.clone(),
        volumes: Vec::new(),
        nodes: 1,
    }
}
