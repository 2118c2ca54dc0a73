//! The search: for each machine the fewest nodes that meet the target, and the fewest that the evidence carries; then
//! the cheapest.

mod cluster;
mod doubts;
mod error;
mod machines;
mod nodes;
mod notes;
mod options;
mod p99;
mod proposal;
mod today;

pub use error::SizingError;
pub use options::SizingOptions;

use catalog::{Basis, Catalog};
use evidence::FORMAT_VERSION;
use workload::{Distribution, PageCache};

use crate::demand::{Demand, held_out};
use crate::document::{Choice, EvidenceFacts, LeftOut, Proposal, Range, Sizing};
use crate::observation::{Observation, SizingRun, observe};
use crate::page_cache;
use crate::target::Target;
use machines::Offers;

/// Read shares this near count as equal.
const SAME_MIX: f64 = 0.02;
/// Ratios of memory to data this near count as equal, as a share of the measured one.
const SAME_CACHE: f64 = 0.1;
/// The provider of runs that no machine made.
const SIMULATED: &str = "simulated";

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
    options.check(catalog).map_err(SizingError::Input)?;
    // Capacities of old types are those of a path of their own to EBS, so it is paid for.
    let basis = &Basis {
        ebs_optimised: true,
        ..basis.clone()
    };
    let observations = observe(runs, &options.workloads);
    let search = Search::new(catalog, runs, &observations, target, options, basis)?;
    let (offers, left_out) = search.all();
    let Some(cheapest) = offers.cheapest.first() else {
        return Err(search.nothing(left_out));
    };
    let proven = offers.proven.first();
    let comparison = (!options.current.is_empty())
        .then(|| search.beside_today(cheapest, proven))
        .transpose()
        .map_err(SizingError::Input)?;
    let choice = Choice {
        cheapest: cheapest.configuration.clone(),
        best_proven: proven.map(|p| p.configuration.clone()),
        proof_costs_usd_per_month: proven.map(|p| p.usd_per_month - cheapest.usd_per_month),
    };
    let notes = search.notes();
    let proposals = shown(&offers, options.most);
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
        choice,
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

/// The cheapest, the best proven one, then the next cheapest machines.
fn shown(offers: &Offers, most: usize) -> Vec<Proposal> {
    let both = offers.cheapest.iter().take(1).chain(offers.proven.iter().take(1));
    let mut shown: Vec<Proposal> = Vec::new();
    for (index, proposal) in both.chain(offers.cheapest.iter().skip(1)).enumerate() {
        let is_shown = shown.iter().any(|p| p.configuration == proposal.configuration);
        if !is_shown && (index < 2 || shown.len() < most) {
            shown.push(proposal.clone());
        }
    }
    shown
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
    /// Of every node, at the end.
    page_cache: PageCache,
    /// The most of each resource that may be used with all nodes up, ...
    busiest: f64,
    /// ... and with a part down.
    busiest_when_down: f64,
    /// Whether a p99 that was asked for lowered them.
    p99_lowered: bool,
}

impl<'a> Search<'a> {
    pub(super) fn new(
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
        let record_bytes = median(|o| o.record_bytes);
        let mut search = Self {
            catalog,
            runs,
            observations,
            target,
            options,
            basis,
            facts: EvidenceFacts {
                runs: runs.iter().map(|r| r.evidence.run.clone()).collect(),
                is_simulated: runs.iter().any(|r| r.evidence.provider == SIMULATED),
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
            record_bytes,
            page_cache: page_cache::of_cluster(first.distribution, target.data_at_the_end(), record_bytes),
            busiest: target.busiest(),
            busiest_when_down: target.busiest_when_down(),
            p99_lowered: false,
        };
        search.hold_p99()?;
        Ok(search)
    }

    /// Share of the disks that holds distinct data.
    fn usable(&self) -> f64 {
        self.target.disk_fill_percent / 100.0 / f64::from(self.target.replication_factor)
    }

    fn era(&self) -> Option<&str> {
        self.basis.price_date.as_deref()
    }

    /// Why nothing is proposed.
    fn nothing(&self, left_out: Vec<LeftOut>) -> SizingError {
        let held = &self.facts.held_out;
        if held.is_accepted() {
            return SizingError::NothingFound { left_out };
        }
        let worst = |(cell, error): &(String, f64)| format!("{cell} ({:+.0} %)", error * 100.0);
        SizingError::ModelRefused {
            median_percent: held.median_error.unwrap_or(0.0) * 100.0,
            p90_percent: held.p90_error.unwrap_or(0.0) * 100.0,
            worst: held.worst.as_ref().map_or_else(String::new, worst),
        }
    }
}
