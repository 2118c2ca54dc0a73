//! What a search is asked, and what the evidence says about it: the value that every part of the search reads.

use analysis::RunEvidence;
use catalog::{Basis, Catalog, ClusterRequest, CostError, InstanceType};
use experiment::Plan;
use workload::{Distribution, PageCache};

use super::error::SizingError;
use super::options::SizingOptions;
use crate::demand::held_out;
use crate::document::{
    CacheTier, Demand, EvidenceFacts, HeldOut, LeftOut, NotCandidates, Obstacle, P99Unchecked, Range,
};
use crate::market::Market;
use crate::observation::{Observation, cache_request_cpu_us};
use crate::page_cache;
use crate::sustained::{SustainedRate, sustained};
use crate::target::Target;

/// Read shares this near count as equal.
pub(super) const SAME_MIX: f64 = 0.02;
/// Ratios of memory to data this near count as equal, as a share of the measured one.
pub(super) const SAME_CACHE: f64 = 0.1;

/// What a node has for its page cache.
#[derive(Debug, Clone, Copy)]
pub(super) enum CacheBudget {
    /// This share of what all of its memory leaves.
    OfMemory(f64),
    /// So many bytes, whatever memory it has.
    Stated(f64),
}

/// A cache tier that the search puts before the database, and the database's part of the target behind it.
pub(super) struct Tier {
    pub shown: CacheTier,
    pub request: ClusterRequest,
    /// Operations per second that clients ask of both.
    pub asked_per_s: f64,
    /// What the database must do, a part of the cache being down.
    pub target: Target,
}

/// What the evidence says of a p99 that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeldP99 {
    /// The most of each resource that may be used: it was kept up to there. Where nothing checks it: up to where
    /// response times are credible.
    pub most: f64,
    /// The least use at which it is shown to be missed, above all at which it was kept; `None`: at none.
    pub missed: Option<f64>,
    /// Why nothing checks it; `None`: it is checked.
    pub unchecked: Option<P99Unchecked>,
}

/// What is asked for, and what the evidence says about it.
#[derive(Clone)]
pub(super) struct Search<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) runs: &'a [RunEvidence<'a>],
    pub(super) observations: &'a [Observation<'a>],
    pub(super) target: &'a Target,
    pub(super) options: &'a SizingOptions,
    pub(super) basis: &'a Basis,
    /// Catalog and basis, with the machines that were measured.
    pub(super) market: Market<'a>,
    pub(super) facts: EvidenceFacts,
    pub(super) distribution: Distribution,
    pub(super) record_bytes: f64,
    /// Fields of a record.
    pub(super) fields: u32,
    /// The cells that were predicted from the others, with predicted / measured - 1.
    pub(super) errors: Vec<(String, f64)>,
    /// Of every node, at the end.
    pub(super) page_cache: PageCache,
    /// What each node has for it.
    pub(super) cache_budget: CacheBudget,
    /// CPUs like those that were measured that each node has, whatever its type; `None`: as many as its vCPUs are
    /// worth.
    pub(super) cpus: Option<f64>,
    /// What machines were found to carry under a p99.
    pub(super) sustained: Vec<SustainedRate<'a>>,
    /// How a p99 is kept that was asked for; `None`: none was.
    pub(super) p99: Option<HeldP99>,
    /// What volumes that are made to measure can do more than is needed by the model, as its error: a share of it.
    pub(super) spare: f64,
    /// The cache before the database, whose part of the target is the target then.
    pub(super) tier: Option<&'a Tier>,
}

impl<'a> Search<'a> {
    /// Learns the demands and takes the target's bounds.
    pub(super) fn new(
        catalog: &'a Catalog,
        runs: &'a [RunEvidence<'a>],
        observations: &'a [Observation<'a>],
        target: &'a Target,
        options: &'a SizingOptions,
        basis: &'a Basis,
    ) -> Result<Self, SizingError> {
        let all: Vec<&Observation<'_>> = observations.iter().collect();
        let names = |list: Vec<String>| {
            if list.is_empty() { "any workload".to_owned() } else { list.join(", ") }
        };
        let Some(demand) = Demand::fit(&all) else {
            return Err(SizingError::NoEvidence {
                runs: runs.iter().map(|r| r.run.clone()).collect::<Vec<_>>().join(", "),
                workloads: names(options.workloads.clone()),
            });
        };
        let first = &observations[0];
        if observations.iter().any(|o| o.distribution != first.distribution) {
            let mut found: Vec<String> = observations.iter().map(|o| o.distribution.to_string()).collect();
            found.sort();
            found.dedup();
            return Err(SizingError::Distributions { found: found.join(", ") });
        }
        let median =
            |figure: fn(&Observation<'_>) -> f64| stats::median(observations.iter().map(figure)).unwrap_or(1.0);
        let record_bytes = median(|o| o.work.record_bytes);
        let (errors, whole_configurations) = held_out(observations);
        let mut search = Self {
            catalog,
            runs,
            observations,
            target,
            options,
            basis,
            market: Market::of(catalog, basis, runs, observations),
            facts: EvidenceFacts {
                runs: runs.iter().map(|r| r.run.clone()).collect(),
                is_simulated: runs.iter().any(|r| r.plan.place.is_simulated()),
                cells: observations.len() as u64,
                capacity_cells: observations.iter().filter(|o| o.is_capacity()).count() as u64,
                trials: observations.iter().map(|o| o.trials).sum(),
                suspect_trials: observations.iter().map(|o| o.suspect_trials).sum(),
                read_share: Range::of(observations.iter().map(Observation::read_share)),
                replica_read_share: target.replica_read_share(),
                cache_share: Range::of(observations.iter().map(|o| o.cache_share)),
                vcpus: Range::of(observations.iter().map(|o| o.configuration.instance.vcpus)),
                cpu_unit: cpu_unit(observations),
                data_bytes_per_node: Range::of(observations.iter().map(|o| o.data_bytes)),
                on_disk: median(|o| o.on_disk),
                demand,
                cache_request_cpu_us: cache_request_cpu_us(runs),
                held_out: HeldOut::of(&errors, whole_configurations),
                p99_utilisation: None,
                p99_carried: Vec::new(),
            },
            distribution: first.distribution,
            record_bytes,
            fields: median(|o| f64::from(o.fields)) as u32,
            errors,
            cache_budget: CacheBudget::OfMemory(1.0),
            cpus: None,
            page_cache: page_cache::of_cluster(
                first.distribution,
                target.data_at_the_end(),
                record_bytes,
                first.product.unit_bytes_of(&first.configuration.settings),
            ),
            sustained: target.p99_ms.map_or_else(Vec::new, |_| sustained(runs, observations)),
            p99: None,
            spare: 0.0,
            tier: None,
        };
        search.hold_p99()?;
        Ok(search)
    }

    /// Predicts what a run's own model does: it misses as often as the data that it stands for where its page caches
    /// were made so, else as its own records do.
    pub(super) fn misses_as_in(&mut self, plan: &Plan, configuration: &str, workload: &str) {
        if plan.caches.same_misses(configuration, workload).is_none() {
            let chunk_bytes = self.facts.demand.chunk_bytes;
            self.page_cache = PageCache::new(self.distribution, plan.dataset.records, self.record_bytes, chunk_bytes);
        }
    }

    /// How many of the CPUs that were measured a vCPU of an instance type is worth; `None`: its speed is not known. Of
    /// one that was measured as its experiment has it; of another one, unless it is the same, the least that its
    /// sources leave open.
    pub(super) fn cpus_worth(&self, instance: &str) -> Option<f64> {
        let Some(unit) = self.facts.cpu_unit else { return Some(1.0) };
        let mut measured = self.observations.iter().map(|o| &o.configuration.instance);
        if let Some(own) = measured.find(|measured| measured.label == instance) {
            return Some(own.cpu_speed?.speed / unit);
        }
        let known = catalog::cpu_speed(instance)?;
        let is_same = known.speed <= unit * ONE_SPEED && unit <= known.speed * ONE_SPEED;
        let doubt = if is_same { 0.0 } else { known.apart.unwrap_or(0.0) };
        Some(known.speed / (1.0 + doubt) / unit)
    }

    /// Share of the disks that holds distinct data.
    pub(super) fn usable(&self) -> f64 {
        self.target.disk_fill_percent / 100.0 / f64::from(self.target.replication_factor)
    }

    /// The era whose volumes may be bought: that of the prices.
    pub(super) fn era(&self) -> Option<&str> {
        self.basis.price_date.as_deref()
    }

    /// Why nothing is proposed.
    pub(super) fn nothing(&self, left_out: Vec<LeftOut>, not_candidates: Vec<NotCandidates>) -> SizingError {
        if self.is_nothing_priced() {
            return SizingError::NoPrice {
                purchase: self.basis.purchase.to_string(),
                region: self.basis.region.clone(),
                day: self.era().map_or_else(|| "any day".to_owned(), |day| format!("{day} or before")),
            };
        }
        // What was measured under this target, and has no price.
        let mut reasons = left_out.iter().map(|left| &left.why).chain(not_candidates.iter().map(|left| &left.why));
        let is_met = reasons.any(|why| *why == Obstacle::PriceUnknown);
        let held = &self.facts.held_out;
        match (held.median_error, held.p90_error, &held.worst) {
            (Some(median), Some(p90), Some((cell, error))) if !held.is_accepted() && !is_met => {
                SizingError::ModelRefused {
                    median_percent: median * 100.0,
                    p90_percent: p90 * 100.0,
                    p90_is: held.p90_is(),
                    worst: format!("{cell} ({:+.0} %)", error * 100.0),
                }
            }
            _ => SizingError::NothingFound { left_out, not_candidates },
        }
    }

    /// Whether there are machines to search, and the price of none of them is known on the basis.
    fn is_nothing_priced(&self) -> bool {
        let alone = |name: &str| ClusterRequest { instance: name.to_owned(), volumes: Vec::new(), nodes: 1 };
        let is_priced = |name: &str| !matches!(self.catalog.cost(&alone(name), self.basis), Err(CostError::Price(_)));
        let candidates = &self.options.candidates;
        let is_searched = |one: &&InstanceType| candidates.is_empty() && self.is_searched(one).is_ok();
        let searched = self.catalog.instances().iter().filter(is_searched).map(|one| one.name.as_str());
        let mut names = candidates.iter().map(|one| one.instance.as_str()).chain(searched).peekable();
        let mut measured = self.of_the_evidence().filter(|(_, why_not)| why_not.is_none());
        let mut is_measured_priced =
            || measured.any(|(machine, _)| self.market.total_cost(std::slice::from_ref(&machine.request)).is_ok());
        names.peek().is_some() && !names.any(is_priced) && !is_measured_priced()
    }
}

/// CPUs within this factor have one speed: rounding.
const ONE_SPEED: f64 = 1.01;

/// The speed of the CPUs that were measured: for which one of this machine stood, or those of a machine that was
/// bought. `None` where that is not known of all, or differs.
fn cpu_unit(observations: &[Observation<'_>]) -> Option<f64> {
    let of = |o: &Observation<'_>| match &o.setup.stands_for {
        Some(share) => share.unit,
        None if o.setup.at.is_bought() => Some(o.configuration.instance.cpu_speed?.speed),
        None => None,
    };
    let all: Vec<f64> = observations.iter().map(of).collect::<Option<_>>()?;
    let (least, most) = (all.iter().copied().reduce(f64::min)?, all.iter().copied().reduce(f64::max)?);
    (most <= least * ONE_SPEED).then_some(most)
}
