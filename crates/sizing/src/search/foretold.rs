//! How right the model was: configurations that a run measured, predicted from an earlier run's evidence alone.

use analysis::{RunEvidence, each_once};
use catalog::Catalog;
use evidence::FORMAT_VERSION;

use super::error::SizingError;
use super::learned::{learned, page_cache_bytes, parts, target};
use super::machines::Order;
use super::options::SizingOptions;
use super::question::{CacheBudget, Search};
use crate::document::{Doubt, Foretold, ForetoldCell, HeldOut, Obstacle};
use crate::market::ordered;
use crate::observation::{Observation, observe};

/// Predicts the closed-loop cells of a run whose configurations an earlier one did not measure from the evidence of
/// that alone, and puts what was measured beside it.
///
/// # Errors
/// When no trial of the run says what an operation costs, or the basis of its money cannot be.
pub fn foretold(catalog: &Catalog, run: &RunEvidence<'_>, earlier: &RunEvidence<'_>) -> Result<Foretold, SizingError> {
    run.plan.money.basis.check(catalog).map_err(|error| SizingError::Input(error.to_string()))?;
    let observed = observe(std::slice::from_ref(run), &[]);
    if observed.is_empty() {
        let workloads = "any workload".to_owned();
        return Err(SizingError::NoEvidence { runs: run.run.clone(), workloads });
    }
    let mut answer = Foretold {
        format_version: FORMAT_VERSION,
        run: run.run.clone(),
        against: earlier.run.clone(),
        is_simulated: run.plan.place.is_simulated() || earlier.plan.place.is_simulated(),
        ..Foretold::default()
    };
    let is_observed = |id: &String| observed.iter().any(|one| one.cell == id);
    answer.not_observed = run.plan.cells.iter().map(|cell| cell.id.clone()).filter(|id| !is_observed(id)).collect();
    let (mut by_both, mut all) = (Vec::new(), Vec::new());
    for one in &observed {
        if one.is_open_loop {
            answer.given_rate.push(one.cell.to_owned());
            continue;
        }
        let learned = learned(earlier, one.distribution);
        if learned.iter().any(|known| known.is_like(one)) {
            by_both.push(one.configuration.name.clone());
        } else if !one.is_capacity() {
            answer.not_at_limit.push(one.cell.to_owned());
        } else {
            let predicted = Earlier { catalog, run, earlier, learned: &learned }.of(one);
            all.push((one, predicted));
        }
    }
    answer.measured_by_both = each_once(by_both);
    for (one, predicted) in all {
        let measured_operations_per_s = one.throughput * one.scale;
        let (said, why_not) = match predicted {
            Ok(said) => (Some(said), None),
            Err(why) => (None, Some(why)),
        };
        let predicted_operations_per_s = said.as_ref().map(|said| said.operations_per_s);
        answer.cells.push(ForetoldCell {
            cell: one.cell.to_owned(),
            predicted_operations_per_s,
            why_not,
            error: said.as_ref().filter(|said| said.doubts.is_empty()).and_then(|said| said.held_out.p90_error),
            beyond_evidence: said.as_ref().map_or_else(Vec::new, |said| said.doubts.clone()),
            measured_operations_per_s,
            off: predicted_operations_per_s.map(|predicted| predicted / measured_operations_per_s - 1.0),
        });
        answer.held_out = answer.held_out.or(said.map(|said| said.held_out));
    }
    answer.median_off = stats::median(answer.cells.iter().filter_map(|cell| cell.off).map(f64::abs));
    Ok(answer)
}

/// What is said of a cell.
struct Said {
    operations_per_s: f64,
    doubts: Vec<Doubt>,
    held_out: HeldOut,
}

/// The evidence from which cells are predicted.
struct Earlier<'a> {
    catalog: &'a Catalog,
    run: &'a RunEvidence<'a>,
    earlier: &'a RunEvidence<'a>,
    learned: &'a [Observation<'a>],
}

impl Earlier<'_> {
    fn of(&self, one: &Observation<'_>) -> Result<Said, Obstacle> {
        let rule = |words: &str| Obstacle::Rule(words.to_owned());
        let (plan, like) = (self.run.plan, one.configuration);
        let known =
            self.learned.first().ok_or_else(|| rule("no workload of the earlier run chooses keys like this one"))?;
        if known.configuration.settings != like.settings || known.version != one.version {
            return Err(rule("the earlier run has not learned from a database of these settings and this version"));
        }
        if like.commitlog_volume.is_some() {
            return Err(rule("its commit log is on a volume of its own, and the model takes one volume"));
        }
        let request = ordered(like).map_err(rule)?;
        let of_cell = plan.cells.iter().find(|cell| cell.id == one.cell);
        let named = |name: &str| plan.workloads.iter().find(|workload| workload.name == name);
        let workload =
            of_cell.and_then(|cell| named(&cell.workload)).ok_or_else(|| rule("its plan has no such cell"))?;
        let target = target(plan, workload, like, self.learned);
        let (runs, options) = (std::slice::from_ref(self.earlier), SizingOptions::default());
        let search = Search::new(self.catalog, runs, self.learned, &target, &options, &plan.money.basis);
        let mut search = search.map_err(|error| Obstacle::Rule(error.to_string()))?;
        if !search.facts.held_out.is_accepted() {
            return Err(rule(
                "the model misses cells of the earlier run by more than it may, so that it predicts nothing",
            ));
        }
        search.misses_as_in(plan, &like.name, &workload.name);
        search.cache_budget = CacheBudget::Stated(page_cache_bytes(plan, &workload.name, one.setup));
        // The CPUs of an emulated machine are in proportion to the fastest of its own experiment.
        search.cpus = (!one.setup.at.is_bought()).then_some(one.setup.cpus * one.scale);
        let at = search.at_limit(&Order::Given(&request), like.placement.nodes)?;
        Ok(Said {
            operations_per_s: at.operations_per_s / parts(workload),
            doubts: at.doubts,
            held_out: search.facts.held_out.clone(),
        })
    }
}
