//! A p99 that was asked for: how much may be used so that it is kept.

use super::error::SizingError;
use super::question::{SAME_MIX, Search};
use crate::observation::Observation;
use crate::sustained::SustainedRate;
use crate::target::CREDIBLE;

/// How a machine did at a use of what it can do at most.
struct Point<'a> {
    utilisation: f64,
    /// Whether it kept the p99 that is asked for.
    keeps: bool,
    p99_ms: f64,
    cell: &'a str,
}

impl Search<'_> {
    /// Learns the highest utilisation at which open-loop cells, and rates that were found, kept the p99.
    pub(super) fn hold_p99(&mut self) -> Result<(), SizingError> {
        let Some(asked_ms) = self.target.p99_ms else { return Ok(()) };
        let carries = self.sustained.iter().filter(|found| found.bound_ms <= asked_ms);
        self.facts.p99_carried = carries.map(|found| found.beside.configuration.name.clone()).collect();
        let points: Vec<Point<'_>> = self.cells(asked_ms).chain(self.found(asked_ms)).collect();
        let Some(lowest) = points.iter().min_by(|a, b| a.p99_ms.total_cmp(&b.p99_ms)) else {
            self.most_for_p99 = Some(CREDIBLE);
            return Ok(());
        };
        // The lowest utilisation that failed bounds the highest that held: a lucky cell above it does not count.
        let failed = points.iter().filter(|point| !point.keeps).map(|point| point.utilisation);
        let failed = failed.fold(f64::INFINITY, f64::min);
        let held = points.iter().filter(|point| point.keeps && point.utilisation < failed);
        let Some(held) = held.map(|point| point.utilisation).max_by(f64::total_cmp) else {
            return Err(SizingError::P99 {
                asked_ms,
                lowest_ms: lowest.p99_ms,
                utilisation_percent: lowest.utilisation * 100.0,
                cell: lowest.cell.to_owned(),
            });
        };
        self.facts.p99_utilisation = Some(held);
        self.most_for_p99 = Some(held);
        Ok(())
    }

    /// Cells with a given rate, but for those of a search for this very bound: what it found says more.
    fn cells(&self, asked_ms: f64) -> impl Iterator<Item = Point<'_>> {
        let is_searched = move |o: &&Observation<'_>| {
            let is_its = |found: &SustainedRate<'_>| {
                let beside = found.beside;
                found.bound_ms == asked_ms
                    && beside.run == o.run
                    && beside.configuration.name == o.configuration.name
                    && beside.read_share() == o.read_share()
            };
            self.sustained.iter().any(is_its)
        };
        let open = self.observations.iter().filter(|o| o.is_open_loop);
        open.filter(move |o| !is_searched(o)).filter_map(move |o| {
            let p99_ms = o.p99_us? / 1e3;
            Some(Point {
                utilisation: o.throughput / self.most_of(o),
                keeps: p99_ms <= asked_ms,
                p99_ms,
                cell: &o.name,
            })
        })
    }

    /// The ends of the rates that were found: the lower one keeps their bound and all above it, the upper one does not,
    /// nor any below it.
    fn found(&self, asked_ms: f64) -> impl Iterator<Item = Point<'_>> {
        self.sustained.iter().flat_map(move |found| {
            let most = self.most_of(found.beside);
            let point = |rate: f64, keeps| Point {
                utilisation: rate / most,
                keeps,
                p99_ms: found.bound_ms,
                cell: &found.beside.name,
            };
            let kept = (found.bound_ms <= asked_ms).then(|| point(found.low, true));
            let missed = (found.bound_ms >= asked_ms && found.is_of_p99).then(|| point(found.high, false));
            kept.into_iter().chain(missed)
        })
    }

    /// The most that a cell's machine does with its mix: what it is known to do, if that is more than the model says.
    fn most_of(&self, o: &Observation<'_>) -> f64 {
        let same = |other: &&Observation<'_>| {
            other.run == o.run
                && other.configuration.name == o.configuration.name
                && (other.read_share() - o.read_share()).abs() < SAME_MIX
        };
        let shown = self.observations.iter().filter(same).map(|other| other.throughput);
        shown.fold(self.facts.demand.capacity_of(o), f64::max)
    }
}
