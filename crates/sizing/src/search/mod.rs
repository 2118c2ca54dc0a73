//! The search: for each machine the fewest nodes that meet the target, and the fewest of which nothing is in doubt;
//! then the cheapest.

mod at_limit;
mod caches;
mod cluster;
mod doubts;
mod error;
mod foretold;
mod lead;
mod learned;
mod machines;
mod next;
mod nodes;
mod notes;
mod options;
mod p99;
mod proposal;
mod question;
mod standing;
mod today;
mod worth;

pub use error::SizingError;
pub use foretold::foretold;
pub use machines::by_reason as left_out;
pub use next::next_to_measure;
pub use options::{CacheMachine, CacheOptions, SizingOptions};

use analysis::RunEvidence;
use catalog::{Basis, Catalog};
use evidence::FORMAT_VERSION;

use crate::document::{Choice, NotCandidates, Note, Obstacle, Proposal, Sizing};
use crate::observation::{
    Observation, observe, of_one_set, with_cache_tier, with_several_data_volumes, without_demand,
};
use crate::target::Target;
use machines::{Offers, by_price};
use question::Search;

/// Proposes clusters for a target, from what runs have measured.
///
/// # Errors
/// When the target cannot be, the evidence does not carry an answer, or nothing in the catalog meets the target.
pub fn size(
    catalog: &Catalog,
    runs: &[RunEvidence<'_>],
    target: &Target,
    options: &SizingOptions,
    basis: &Basis,
) -> Result<Sizing, SizingError> {
    target.check()?;
    basis.check(catalog).map_err(|error| SizingError::Input(error.to_string()))?;
    options.check(catalog).map_err(SizingError::Input)?;
    // Capacities of old types are those of a path of their own to EBS, so it is paid for.
    let basis = &Basis { ebs_optimised: true, ..basis.clone() };
    let observed = observe(runs, &options.workloads);
    let (not_learned, not_asked_for) = without_demand(runs, &options.workloads, &observed);
    let has_one_version = observed.windows(2).all(|pair| pair[0].version == pair[1].version);
    let (observations, other_settings) = of_one_set(observed);
    let several = with_several_data_volumes(runs);
    if observations.is_empty() && !several.is_empty() {
        return Err(SizingError::Input(format!(
            "sizing knows nodes with one data volume, and the evidence has others alone ({}): \
             measure one of their volumes too",
            several.join(", ")
        )));
    }
    let behind_caches = with_cache_tier(runs);
    if observations.is_empty() && !behind_caches.is_empty() {
        return Err(SizingError::Input(format!(
            "what an operation asks of a database behind caches is no demand of an operation, and the evidence has no \
             other configuration ({}): measure one without cache_tier too",
            behind_caches.join(", ")
        )));
    }
    let mut search = Search::new(catalog, runs, &observations, target, options, basis)?;
    let held = &search.facts.held_out;
    search.spare = held.p90_error.filter(|_| held.is_accepted()).unwrap_or(0.0);
    let mut offers = search.all();
    if options.candidates.is_empty() {
        let why = [(not_learned, Obstacle::NothingLearned), (not_asked_for, Obstacle::WorkloadNotAskedFor)];
        let named = why.into_iter().filter(|(configurations, _)| !configurations.is_empty());
        offers.not_candidates.extend(named.map(|(configurations, why)| NotCandidates { configurations, why }));
    }
    let of_caches = options.cache.as_ref().map(|asked| search.behind_caches(asked)).transpose()?;
    let (cached, about_caches) = of_caches.unwrap_or_default();
    offers.cheapest.extend(cached);
    offers.cheapest.sort_by(by_price);
    let Some(cheapest) = offers.cheapest.first() else {
        return Err(search.nothing(offers.left_out, offers.not_candidates));
    };
    let best = offers.best.first();
    let comparison = (!options.current.is_empty())
        .then(|| search.beside_today(cheapest, best))
        .transpose()
        .map_err(SizingError::Input)?;
    let choice = Choice {
        cheapest: cheapest.title(),
        best: best.map(Proposal::title),
        best_is_proven: best.is_some_and(Proposal::is_proven),
        best_costs_more_usd_per_month: best.map(|p| p.usd_per_month - cheapest.usd_per_month),
        cheapest_with_cache: offers.first(true).map(Proposal::title),
        cheapest_without_cache: offers.first(false).map(Proposal::title),
    };
    let mut notes = search.notes();
    notes.extend(about_caches);
    notes.extend(about_settings(&observations, other_settings, has_one_version));
    notes.extend((!several.is_empty()).then_some(Note::SeveralDataVolumes { left_out: several }));
    notes.extend((!behind_caches.is_empty()).then_some(Note::CacheTier { left_out: behind_caches }));
    let proposals = shown(&offers, options.most);
    let price_date = basis
        .price_date
        .clone()
        .or_else(|| proposals.iter().flat_map(|p| &p.cost).filter_map(|line| line.price_date.clone()).max());
    Ok(Sizing {
        format_version: FORMAT_VERSION,
        target: target.clone(),
        evidence: search.facts,
        choice,
        proposals,
        left_out: offers.left_out,
        not_candidates: offers.not_candidates,
        comparison,
        basis: Basis { price_date, ..basis.clone() },
        notes,
    })
}

/// Which settings the answer is about, and with the version if there are several; `None`: all is as iopslab starts it.
fn about_settings(observations: &[Observation<'_>], left_out: Vec<String>, has_one_version: bool) -> Option<Note> {
    let first = observations.first()?;
    let settings = first.configuration.settings.labels();
    let version = first.version.filter(|_| !has_one_version).map(str::to_owned);
    (!settings.is_empty() || !left_out.is_empty()).then_some(Note::Settings { version, settings, left_out })
}

/// The best one, the cheapest with a cache and without, then the next cheapest machines; what is in doubt below all
/// others. The cheapest is always among them.
fn shown(offers: &Offers, most: usize) -> Vec<Proposal> {
    let always = [offers.cheapest.first(), offers.best.first(), offers.first(true), offers.first(false)];
    let always: Vec<&Proposal> = always.into_iter().flatten().collect();
    let mut shown: Vec<Proposal> = Vec::new();
    for (index, proposal) in always.iter().copied().chain(&offers.cheapest).enumerate() {
        let is_shown = shown.iter().any(|p| p.title() == proposal.title());
        if !is_shown && (index < always.len() || shown.len() < most) {
            shown.push(proposal.clone());
        }
    }
    shown.sort_by_key(|p| !p.doubts.is_empty());
    shown
}
