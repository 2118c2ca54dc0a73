//! Which configuration of the catalog would be worth measuring next: what the model says of those that a run has not
//! measured, and what a measurement could change in its decision.
//!
//! What is decided is which configuration gives most for its money. So a proposal is worth what it would save for the
//! throughput of what leads, where it is the better choice everywhere by more than the margin. How sure that is the
//! model's own held-out errors say, each as likely as the others, and one more that speaks against it: the next error
//! exceeds all that were seen in one of n + 1 cases. Where the model claims no error, nothing is claimed of the chance.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use analysis::{RunEvidence, analyse};
use catalog::{Basis, Catalog, ClusterRequest, GIB, Lifecycle, TODAY, VolumeRequest};
use evidence::FORMAT_VERSION;
use experiment::{Configuration, Plan, memory_limit_gib};
use workload::Distribution;

use super::cluster::is_order;
use super::error::SizingError;
use super::lead::{Lead, lead};
use super::learned::{cache_budget, parts, share_of_cache, target};
use super::machines::{Order, by_reason};
use super::options::SizingOptions;
use super::question::{CacheBudget, Search};
use crate::document::{
    Doubt, LeadingPlace, NextToMeasure, NotPredicted, Note, NothingBecause, Obstacle, Predicted, Unmeasured, Worth,
};
use crate::target::Target;

/// Proposes what to measure next, from what a run has measured. All that may be worth it are proposed, the best first;
/// families and architecture of the options bound the search, all else of them says nothing here.
///
/// # Errors
///
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
    for place in &analyse(run).recommendation.places {
        match lead(run, place) {
            Ok(lead) => leads.push(lead),
            Err(why) => {
                not_predicted.push(NotPredicted { workload: place.workload.clone(), load: place.load, why });
            }
        }
    }
    let mut answer = NextToMeasure {
        format_version: FORMAT_VERSION,
        run: run.run.clone(),
        is_simulated: plan.place.is_simulated(),
        places: leads.iter().map(|lead| lead.place.clone()).collect(),
        not_predicted,
        held_out: None,
        margin: plan.decision.margin,
        proposals: Vec::new(),
        because: None,
        left_out: Vec::new(),
        basis: basis.clone(),
        notes: Vec::new(),
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
        if let Some(setup) = run.setups.of(&like.name) {
            search.cache_budget = cache_budget(plan, &lead.place.workload, setup, like);
        }
        places.push(Asked { lead, search });
    }
    let question = Question { catalog, plan, basis, like, errors: errors(&places), places };
    question.answer(&mut answer);
    Ok(answer)
}

/// A place, and the model of it.
struct Asked<'a> {
    lead: &'a Lead<'a>,
    search: Search<'a>,
}

/// The held-out errors of all places: of those whose workloads choose keys alike once.
fn errors(places: &[Asked<'_>]) -> Vec<f64> {
    let (mut seen, mut errors): (Vec<Distribution>, Vec<f64>) = Default::default();
    for asked in places {
        if !seen.contains(&asked.lead.workload.distribution) {
            seen.push(asked.lead.workload.distribution);
            errors.extend(&asked.search.errors);
        }
    }
    errors
}

/// What is asked of each configuration of the catalog.
struct Question<'a> {
    catalog: &'a Catalog,
    plan: &'a Plan,
    basis: &'a Basis,
    /// What a proposal is like in everything but its machine.
    like: &'a Configuration,
    /// Predicted / measured - 1.
    errors: Vec<f64>,
    /// At least one.
    places: Vec<Asked<'a>>,
}

impl Question<'_> {
    fn answer(&self, answer: &mut NextToMeasure) {
        let first = &self.places[0].search;
        let refused = self.places.iter().map(|asked| &asked.search.facts.held_out).find(|held| !held.is_accepted());
        answer.held_out = Some(refused.unwrap_or(&first.facts.held_out).clone());
        let notes = first.notes().into_iter();
        // A closed loop uses what limits it in full: that is how it was measured.
        answer.notes = notes.filter(|note| !matches!(note, Note::BeyondCredible { .. })).collect();
        if let Some(held) = refused {
            answer.because = Some(NothingBecause::ModelRefused {
                median_error: held.median_error.unwrap_or(0.0),
                p90_error: held.p90_error.unwrap_or(0.0),
            });
            return;
        }
        let mut predicted = 0;
        let mut why_not: BTreeMap<String, Obstacle> = BTreeMap::new();
        let is_retired = |name: &str| self.catalog.instance(name).is_some_and(|i| i.lifecycle == Lifecycle::Retired);
        let has_retired = self.plan.configurations.iter().any(|c| is_retired(&c.instance.label));
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
            for one in first.orders(instance).iter().flat_map(|order| self.of_order(order)) {
                match one {
                    Ok(one) => {
                        predicted += 1;
                        if self.may_be_better(&one) && best.as_ref().is_none_or(|best| order_of(&one, best).is_lt()) {
                            best = Some(one);
                        }
                    }
                    Err(why) => drop(why_not.entry(instance.name.clone()).or_insert(why)),
                }
            }
            answer.proposals.extend(best);
        }
        answer.proposals.sort_by(order_of);
        answer.left_out = by_reason(why_not);
        answer.because = answer.proposals.is_empty().then_some(NothingBecause::NothingBetter { predicted });
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
        let places = || self.places.iter().map(|asked| &asked.lead.place).zip(&predicted);
        let saved = |place: &LeadingPlace, p: &Predicted| place.usd_per_month - spent(place, usd, p.operations_per_s);
        let saves_usd_per_month = places().map(|(place, p)| saved(place, p)).fold(f64::INFINITY, f64::min);
        let saves = |off: f64| self.saves(usd, &predicted, off);
        let worth = error.map(|_| worth(&self.errors, saves));
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
        let as_predicted = || self.saves(one.usd_per_month, &one.predicted, 0.0).is_some();
        one.worth.map_or_else(as_predicted, |worth| worth.chance > 0.0)
    }

    /// What it saves a month in the place where it saves least, where it is the better choice everywhere by more than
    /// the margin, if predictions are off by this: predicted / measured - 1.
    fn saves(&self, usd: f64, predicted: &[Predicted], off: f64) -> Option<f64> {
        let each = self.places.iter().zip(predicted).map(|(asked, predicted)| {
            let (place, operations_per_s) = (&asked.lead.place, predicted.operations_per_s / (1.0 + off));
            let spent = spent(place, usd, operations_per_s);
            (spent * (1.0 + self.plan.decision.margin) < place.usd_per_month).then_some(place.usd_per_month - spent)
        });
        each.reduce(|least, saved| Some(least?.min(saved?))).flatten()
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

/// USD a month for the throughput of what leads in a place, by as many of what costs and does so much.
fn spent(place: &LeadingPlace, usd: f64, operations_per_s: f64) -> f64 {
    usd * place.operations_per_s / operations_per_s
}

/// What a measurement may change, where the model was off by these and what it proposes saves so much if it is off by
/// so much.
fn worth(errors: &[f64], saves: impl Fn(f64) -> Option<f64>) -> Worth {
    let held: Vec<f64> = errors.iter().filter_map(|off| saves(*off)).collect();
    let of = errors.len() as f64 + 1.0;
    Worth { chance: held.len() as f64 / of, expected_usd_per_month: held.iter().sum::<f64>() / of }
}

/// What is worth most first; what is not known to be worth anything last, by what it would save.
fn order_of(one: &Unmeasured, other: &Unmeasured) -> Ordering {
    let key = |of: &Unmeasured| match of.worth {
        Some(worth) => (true, worth.expected_usd_per_month),
        None => (false, of.saves_usd_per_month),
    };
    let ((is_known, usd), (other_is_known, other_usd)) = (key(one), key(other));
    other_is_known.cmp(&is_known).then(other_usd.total_cmp(&usd))
}

#[cfg(test)]
mod tests {
    use analysis::LoadLevel;

    use super::*;

    fn place() -> LeadingPlace {
        LeadingPlace {
            workload: "reads".to_owned(),
            load: LoadLevel::Concurrency(64),
            leader: "today".to_owned(),
            operations_per_s: 10_000.0,
            usd_per_month: 1_000.0,
        }
    }

    /// Predicted: 0.94 of the throughput for 210 USD less. 840.43 USD would buy what leads.
    #[test]
    fn what_a_measurement_may_change_is_the_saving_times_the_errors_at_which_it_holds() {
        let place = place();
        assert!((spent(&place, 790.0, 9_400.0) - 840.425).abs() < 1e-3);
        let saves = |off: f64| {
            let spent = spent(&place, 790.0, 9_400.0 / (1.0 + off));
            (spent * 1.05 < 1_000.0).then_some(1_000.0 - spent)
        };
        // It holds until the prediction is 13.3 % too high: 840.425 x 1.1332 x 1.05 = 1,000.
        for (off, holds) in [(-0.2, true), (0.0, true), (0.133, true), (0.134, false), (0.3, false)] {
            assert_eq!(saves(off).is_some(), holds, "{off}");
        }
        let found = worth(&[-0.1, 0.0, 0.2], saves);
        assert_eq!(found.chance, 0.5, "two of three, and of one that was not seen");
        let expected = ((1_000.0 - 840.425 * 0.9) + (1_000.0 - 840.425)) / 4.0;
        assert!((found.expected_usd_per_month - expected).abs() < 0.01, "{found:?}, not {expected}");
        // However often it held: never certain.
        assert!((worth(&[0.0; 9], saves).chance - 0.9).abs() < 1e-12);
        assert_eq!(worth(&[0.5], saves), Worth { chance: 0.0, expected_usd_per_month: 0.0 });
    }

    #[test]
    fn what_has_no_known_error_stands_below_what_has_one() {
        let one = |usd: f64, expected: Option<f64>| Unmeasured {
            configuration: format!("{usd} {expected:?}"),
            request: ClusterRequest { instance: "i4i.large".to_owned(), volumes: Vec::new(), nodes: 1 },
            storage: String::new(),
            like: "today".to_owned(),
            era: None,
            memory_limit_gib: None,
            usd_per_month: 1.0,
            error: expected.map(|_| 0.1),
            beyond_evidence: Vec::new(),
            saves_usd_per_month: usd,
            worth: expected.map(|expected_usd_per_month| Worth { chance: 0.5, expected_usd_per_month }),
            predicted: Vec::new(),
            measuring: None,
        };
        let mut all = [one(900.0, None), one(40.0, Some(10.0)), one(950.0, None), one(30.0, Some(20.0))];
        all.sort_by(order_of);
        let saved = all.map(|one| one.saves_usd_per_month);
        assert_eq!(saved, [30.0, 40.0, 950.0, 900.0]);
    }
}
