//! Which configuration of the catalog would be worth measuring next: what the model says of those that a run has not
//! measured, and what a measurement could change in its decision.
//!
//! What is decided is which configuration gives most for its money. So a proposal is worth what it would save for the
//! throughput of what leads, where it is the better choice everywhere by more than the margin. How sure that is the
//! model's own held-out errors say, each as likely as the others, and one more that speaks against it: the next error
//! exceeds all that were seen in one of n + 1 cases. Each is tried with what leads in the middle and at either end of
//! its interval. Where the model claims no error, nothing is claimed of the chance.
//!
//! The chance and the saving of one proposal are those of its prediction alone. Who takes the best of many predictions
//! takes those that are too high more often, and nothing here corrects that: the answer says out of how many.

use std::collections::BTreeMap;

use analysis::{RunEvidence, judge};
use catalog::{Basis, Catalog, ClusterRequest, GIB, Lifecycle, TODAY, VolumeRequest};
use evidence::FORMAT_VERSION;
use experiment::{Configuration, Plan, memory_limit_gib};
use workload::Distribution;

use super::error::SizingError;
use super::lead::{Lead, lead};
use super::learned::{cache_budget, parts, share_of_cache, target};
use super::machines::{Order, by_reason};
use super::options::SizingOptions;
use super::question::{CacheBudget, Search};
use super::worth::{InPlace, NOT_OFF, order_of, saves, saves_as_predicted, worth};
use crate::document::{
    Doubt, HeldOut, NextToMeasure, NotPredicted, Note, NothingBecause, Obstacle, Predicted, Unmeasured,
};
use crate::market::is_order;
use crate::target::Target;

/// Proposes what to measure next, from what a run has measured. All that may be worth it are proposed, the best first;
/// families and architecture of the options bound the search, all else of them says nothing here.
///
/// # Errors
/// When families, architecture or the basis of the money cannot be.
pub fn next_to_measure(
    catalog: &Catalog,
    run: &RunEvidence<'_>,
    options: &SizingOptions,
) -> Result<NextToMeasure, SizingError> {
    let (plan, basis) = (run.plan, &run.plan.money.basis);
    basis.check(catalog).map_err(|error| SizingError::Input(error.to_string()))?;
    options.check(catalog).map_err(SizingError::Input)?;
    let mut leads: Vec<Lead<'_>> = Vec::new();
    let mut not_predicted = Vec::new();
    for place in &judge(run).recommendation.places {
        match lead(run, place) {
            Ok(lead) => leads.push(lead),
            Err(why) => not_predicted.push(NotPredicted { workload: place.workload.clone(), load: place.load, why }),
        }
    }
    let mut answer = NextToMeasure {
        format_version: FORMAT_VERSION,
        run: run.run.clone(),
        is_simulated: plan.place.is_simulated(),
        places: leads.iter().map(|lead| lead.place.clone()).collect(),
        not_predicted,
        margin: plan.decision.margin,
        basis: basis.clone(),
        ..NextToMeasure::default()
    };
    let Some(like) = leads.first().map(|lead| lead.configuration) else {
        answer.because = Some(NothingBecause::NoPlace);
        return Ok(answer);
    };
    let targets: Vec<Target> = leads.iter().map(|lead| target(plan, lead.workload, like, &lead.observations)).collect();
    let mut places = Vec::new();
    for (lead, target) in leads.iter().zip(&targets) {
        let runs = std::slice::from_ref(run);
        let mut search = Search::new(catalog, runs, &lead.observations, target, options, basis)?;
        search.misses_as_in(plan, &like.name, &lead.place.workload);
        if let Some(setup) = run.setups.of(&like.name) {
            search.cache_budget = cache_budget(plan, &lead.place.workload, setup, like);
        }
        places.push(Asked { lead, search });
    }
    let errors = errors(&places);
    answer.held_out = Some(held_out(&places, &errors));
    let errors = errors.into_iter().map(|(_, error)| error).collect();
    Question { catalog, plan, basis, like, errors, has_families: !options.families.is_empty(), places }
        .answer(&mut answer);
    Ok(answer)
}

/// A place, and the model of it.
struct Asked<'a> {
    lead: &'a Lead<'a>,
    search: Search<'a>,
}

/// The held-out errors of all places, with their cells: of those whose workloads choose keys alike once.
fn errors(places: &[Asked<'_>]) -> Vec<(String, f64)> {
    let (mut seen, mut errors): (Vec<Distribution>, Vec<(String, f64)>) = Default::default();
    for asked in places {
        if !seen.contains(&asked.lead.workload.distribution) {
            seen.push(asked.lead.workload.distribution);
            errors.extend(asked.search.errors.iter().cloned());
        }
    }
    errors
}

/// How well the model predicts: the errors of all places together, or those for which it is refused in one.
fn held_out(places: &[Asked<'_>], errors: &[(String, f64)]) -> HeldOut {
    let each = || places.iter().map(|asked| &asked.search.facts.held_out);
    let refused = each().find(|held| !held.is_accepted());
    refused.cloned().unwrap_or_else(|| HeldOut::of(errors, each().all(|held| held.whole_configurations)))
}

/// What is asked of each configuration of the catalog.
struct Question<'a> {
    catalog: &'a Catalog,
    plan: &'a Plan,
    basis: &'a Basis,
    /// What a proposal is like in everything but its machine.
    like: &'a Configuration,
    /// Predicted / measured - 1, of all places.
    errors: Vec<f64>,
    /// Whether somebody named what is searched.
    has_families: bool,
    /// At least one.
    places: Vec<Asked<'a>>,
}

impl Question<'_> {
    fn answer(&self, answer: &mut NextToMeasure) {
        let first = &self.places[0].search;
        let notes = first.notes().into_iter();
        // A closed loop uses what limits it in full: that is how it was measured.
        answer.notes = notes.filter(|note| !matches!(note, Note::BeyondCredible { .. })).collect();
        if self.places.iter().any(|asked| !asked.search.facts.held_out.is_accepted()) {
            answer.because = Some(NothingBecause::ModelRefused);
            return;
        }
        let mut why_not: BTreeMap<String, Obstacle> = BTreeMap::new();
        let is_retired = |name: &str| self.catalog.instance(name).is_some_and(|i| i.lifecycle == Lifecycle::Retired);
        let has_retired = self.has_families || self.plan.configurations.iter().any(|c| is_retired(&c.instance.label));
        for instance in self.catalog.instances() {
            let is_offered = has_retired || instance.lifecycle != Lifecycle::Retired;
            match first.is_searched(instance) {
                Ok(()) if is_offered => {}
                Err(Some(why)) => {
                    why_not.insert(instance.name.clone(), why);
                    continue;
                }
                Ok(()) | Err(None) => continue,
            }
            let mut best: Option<Unmeasured> = None;
            let (before, mut refused) = (answer.predicted, None);
            for one in first.orders(instance).iter().flat_map(|order| self.of_order(order)) {
                match one {
                    Ok(one) => {
                        answer.predicted += 1;
                        if self.may_be_better(&one) && best.as_ref().is_none_or(|best| order_of(&one, best).is_lt()) {
                            best = Some(one);
                        }
                    }
                    Err(why) => drop(refused.get_or_insert(why)),
                }
            }
            // What is predicted with one volume is not left out because of another one.
            if let Some(why) = refused.filter(|_| answer.predicted == before) {
                why_not.insert(instance.name.clone(), why);
            }
            answer.proposals.extend(best);
        }
        answer.proposals.sort_by(order_of);
        answer.left_out = by_reason(why_not);
        answer.because = answer.proposals.is_empty().then_some(NothingBecause::NothingBetter);
    }

    /// Configurations of an order that were not measured: with local disks one, with volumes one for each place, made
    /// for what is asked for there.
    fn of_order(&self, order: &Order<'_>) -> Vec<Result<Unmeasured, Obstacle>> {
        let nodes = self.like.placement.nodes;
        let mut requests: Vec<ClusterRequest> = Vec::new();
        let mut all = Vec::new();
        for asked in &self.places {
            match asked.search.at_limit(order, nodes) {
                Ok(at) if !requests.contains(&at.request) => requests.push(at.request),
                Ok(_) => {}
                Err(why) => all.push(Err(why)),
            }
        }
        let is_measured = |request: &ClusterRequest| self.plan.configurations.iter().any(|c| is_order(c, request));
        requests.retain(|request| !is_measured(request));
        all.extend(requests.into_iter().map(|request| self.judged(request)));
        all
    }

    /// What the model says of a configuration in all places.
    fn judged(&self, request: ClusterRequest) -> Result<Unmeasured, Obstacle> {
        let cost = self.catalog.cost(&request, self.basis).map_err(|_| Obstacle::PriceUnknown)?;
        let usd = cost.usd_per_month;
        let mut predicted = Vec::new();
        let mut beyond_evidence: Vec<Doubt> = Vec::new();
        let mut error: Option<f64> = Some(0.0);
        for asked in &self.places {
            let at = asked.search.at_limit(&Order::Given(&request), request.nodes)?;
            if !at.holds_its_data {
                return Err(Obstacle::Rule("less room on its disks than any node of the experiment has".to_owned()));
            }
            let operations_per_s = at.operations_per_s / parts(asked.lead.workload);
            let ratio = operations_per_s / asked.lead.place.operations_per_s;
            predicted.push(Predicted { operations_per_s, ratio, limit: at.limit });
            for doubt in at.doubts {
                if !beyond_evidence.contains(&doubt) {
                    beyond_evidence.push(doubt);
                }
            }
            error = error.zip(asked.search.facts.held_out.p90_error).map(|(one, other)| one.max(other));
        }
        let error = error.filter(|_| beyond_evidence.is_empty());
        let places = self.in_places(&predicted);
        let worth = error.map(|_| worth(&places, usd, self.plan.decision.margin, &self.errors));
        let saves_usd_per_month = saves_as_predicted(&places, usd);
        Ok(Unmeasured {
            configuration: request.to_string(),
            storage: self.storage(&request),
            like: self.like.name.clone(),
            era: self.era(&request),
            memory_limit_gib: self.memory_limit_gib(&request),
            usd_per_month: usd,
            error,
            beyond_evidence,
            saves_usd_per_month,
            worth,
            predicted,
            measuring: None,
            request,
        })
    }

    /// Whether it is the better choice at any error that was seen; where none is known, if the model is right.
    fn may_be_better(&self, one: &Unmeasured) -> bool {
        let as_predicted = || {
            let places = self.in_places(&one.predicted);
            saves(&places, one.usd_per_month, self.plan.decision.margin, NOT_OFF).is_some()
        };
        one.worth.map_or_else(as_predicted, |worth| worth.chance > 0.0)
    }

    /// All places, with what is predicted there.
    fn in_places(&self, predicted: &[Predicted]) -> Vec<InPlace<'_>> {
        let leads = self.places.iter().map(|asked| &asked.lead.place);
        leads.zip(predicted).map(|(place, at)| (place, at.operations_per_s)).collect()
    }

    fn storage(&self, request: &ClusterRequest) -> String {
        let local = || {
            let disks = self.catalog.instance(&request.instance).and_then(|instance| instance.local_disks.as_ref());
            disks.map_or_else(String::new, |disks| disks.label())
        };
        request.volumes.first().map_or_else(local, VolumeRequest::label)
    }

    /// The day of the prices, where volumes had other rules then.
    fn era(&self, request: &ClusterRequest) -> Option<String> {
        let (day, volume) = (self.basis.price_date.as_ref()?, request.volumes.first()?);
        let rules = |era: &str| catalog::rules_in(volume.kind, era).ok().map(|rules| &rules.era);
        (rules(day)? != rules(TODAY)?).then(|| day.clone())
    }

    /// The memory limit that leaves the page cache the part that it has on the other machines.
    fn memory_limit_gib(&self, request: &ClusterRequest) -> Option<f64> {
        let is_by_memory = |asked: &Asked<'_>| matches!(asked.search.cache_budget, CacheBudget::OfMemory(_));
        let share = share_of_cache(self.plan, self.like).filter(|_| self.places.iter().any(is_by_memory))?;
        let memory = self.catalog.instance(&request.instance)?.memory_gib * GIB;
        memory_limit_gib(&self.plan.target.database.product().memory, memory as u64, share)
    }
}
