//! A p99 that is asked for: what checks it, and how much may be used so that it is kept.
//!
//! The rule. A bound is checked by one of
//! * the rate that a machine was found to carry under it or a lower bound (`rate = "find"`): for this very machine
//!   ([`crate::document::P99By::Found`]);
//! * the use at which cells with a given rate, and rates that were found, kept it: for any machine that is used no more
//!   ([`crate::document::P99By::Kept`]), by the model.
//!
//! Nothing else checks it. A closed loop waits for its answers and says nothing of an offered load. In a 1:N model a
//! request waits no shorter than at full scale, and no longer than N times as long: what it keeps is kept, what it
//! misses is missed beyond N times the bound only, as `analysis` judges objectives. A bound that is not checked is in
//! doubt ([`crate::document::Doubt::P99`]), so that nothing is proven under it.

use super::error::SizingError;
use super::question::{HeldP99, SAME_MIX, Search};
use crate::document::P99Unchecked;
use crate::observation::Observation;
use crate::sustained::SustainedRate;
use crate::target::CREDIBLE;

/// How a machine did at a use of what it can do at most.
struct Point<'a> {
    utilisation: f64,
    /// Whether it kept the p99 that is asked for, ...
    keeps: bool,
    /// ... and whether it shows that it is missed at full scale.
    misses: bool,
    p99_ms: f64,
    scale: f64,
    cell: &'a str,
}

impl Search<'_> {
    /// Learns the highest utilisation at which open-loop cells, and rates that were found, kept the p99.
    pub(super) fn hold_p99(&mut self) -> Result<(), SizingError> {
        let Some(asked_ms) = self.target.p99_ms else { return Ok(()) };
        let carries = self.sustained.iter().filter(|found| found.bound_ms <= asked_ms);
        self.facts.p99_carried = carries.map(|found| found.beside.configuration.name.clone()).collect();
        let points: Vec<Point<'_>> = self.cells(asked_ms).chain(self.found(asked_ms)).collect();
        let held = held(&points).map_err(|lowest| SizingError::P99 {
            asked_ms,
            lowest_ms: lowest.p99_ms,
            utilisation_percent: lowest.utilisation * 100.0,
            cell: lowest.cell.to_owned(),
        })?;
        self.facts.p99_utilisation = held.unchecked.is_none().then_some(held.most);
        self.p99 = Some(held);
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
                misses: p99_ms > asked_ms * o.scale,
                p99_ms,
                scale: o.scale,
                cell: &o.name,
            })
        })
    }

    /// The ends of the rates that were found: the lower one keeps their bound and all above it, the upper one does not,
    /// nor any below it.
    fn found(&self, asked_ms: f64) -> impl Iterator<Item = Point<'_>> {
        self.sustained.iter().flat_map(move |found| {
            let (most, scale) = (self.most_of(found.beside), found.beside.scale);
            let point = |rate: f64, keeps: bool| Point {
                utilisation: rate / most,
                keeps,
                misses: !keeps && found.bound_ms >= asked_ms * scale,
                p99_ms: found.bound_ms,
                scale,
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

/// What points say together; `Err`: all of them show that it is missed, this one by least.
fn held<'p, 'a>(points: &'p [Point<'a>]) -> Result<HeldP99, &'p Point<'a>> {
    let uses = |is: fn(&Point<'_>) -> bool| points.iter().filter(move |point| is(point)).map(|point| point.utilisation);
    let not_kept = uses(|point| !point.keeps).reduce(f64::min);
    let highest_kept = uses(|point| point.keeps).reduce(f64::max);
    // A miss at a use at which, or above which, others kept it does not show that every machine misses it there.
    let is_shown = |missed: &f64| highest_kept.is_none_or(|kept| *missed > kept);
    let missed = uses(|point| point.misses).filter(is_shown).reduce(f64::min);
    // The lowest utilisation that failed bounds the highest that held: a lucky cell above it does not count.
    let kept = uses(|point| point.keeps).filter(|kept| not_kept.is_none_or(|failed| *kept < failed));
    if let Some(most) = kept.reduce(f64::max) {
        return Ok(HeldP99 { most, missed, unchecked: None });
    }
    let lowest = points.iter().min_by(|a, b| a.p99_ms.total_cmp(&b.p99_ms));
    let unchecked = match (lowest, not_kept, highest_kept) {
        (Some(_), Some(failed), Some(kept)) => P99Unchecked::Contradicted { failed, kept },
        (Some(lowest), ..) if points.iter().all(|point| point.misses) => return Err(lowest),
        (Some(_), ..) => P99Unchecked::InModel { scale: points.iter().map(|point| point.scale).fold(1.0, f64::max) },
        (None, ..) => P99Unchecked::NoRate,
    };
    let most = uses(|point| point.misses).fold(CREDIBLE, f64::min);
    Ok(HeldP99 { most, missed, unchecked: Some(unchecked) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of a 1:`scale` model at a use and with a p99, where 20 ms are asked for.
    fn said(scale: f64, cells: &[(f64, f64)]) -> Result<HeldP99, f64> {
        let point = |(utilisation, p99_ms): &(f64, f64)| Point {
            utilisation: *utilisation,
            keeps: *p99_ms <= 20.0,
            misses: *p99_ms > 20.0 * scale,
            p99_ms: *p99_ms,
            scale,
            cell: "c",
        };
        let points: Vec<Point<'_>> = cells.iter().map(point).collect();
        held(&points).map_err(|lowest| lowest.p99_ms)
    }

    fn checked(most: f64, missed: Option<f64>) -> Result<HeldP99, f64> {
        Ok(HeldP99 { most, missed, unchecked: None })
    }

    #[test]
    fn a_p99_is_kept_up_to_the_highest_use_below_all_that_did_not_keep_it() {
        assert_eq!(said(1.0, &[(0.3, 19.9)]), checked(0.3, None));
        assert_eq!(said(1.0, &[(0.3, 20.0)]), checked(0.3, None), "at the bound it is kept");
        assert_eq!(said(1.0, &[(0.3, 20.1)]), Err(20.1), "above it is missed, and nothing else was measured");
        assert_eq!(said(1.0, &[(0.3, 9.0), (0.5, 12.0), (0.7, 40.0)]), checked(0.5, Some(0.7)));
        assert_eq!(said(1.0, &[(0.3, 9.0), (0.5, 21.0), (0.7, 12.0)]), checked(0.3, None), "one was lucky");
        assert_eq!(said(1.0, &[(0.3, 50.0), (0.5, 30.0)]), Err(30.0));
    }

    #[test]
    fn a_closed_loop_or_cells_that_contradict_each_other_check_no_p99() {
        let unchecked = |most, missed, why| Ok(HeldP99 { most, missed, unchecked: Some(why) });
        assert_eq!(said(1.0, &[]), unchecked(CREDIBLE, None, P99Unchecked::NoRate));
        let contradicted = P99Unchecked::Contradicted { failed: 0.3, kept: 0.5 };
        assert_eq!(said(1.0, &[(0.3, 30.0), (0.5, 10.0)]), unchecked(0.3, None, contradicted));
    }

    /// At 1:8 a request takes up to eight times as long as at full scale, and no less.
    #[test]
    fn a_model_shows_that_a_p99_is_kept_and_that_it_is_missed_only_beyond_n_times_the_bound() {
        assert_eq!(said(8.0, &[(0.3, 20.0)]), checked(0.3, None));
        let open = HeldP99 { most: CREDIBLE, missed: None, unchecked: Some(P99Unchecked::InModel { scale: 8.0 }) };
        for p99_ms in [20.1, 159.9, 160.0] {
            assert_eq!(said(8.0, &[(0.3, p99_ms)]), Ok(open.clone()), "{p99_ms}");
        }
        assert_eq!(said(8.0, &[(0.3, 160.1)]), Err(160.1));
        // Kept at 30 %, open at 50 %, missed at 70 %.
        assert_eq!(said(8.0, &[(0.3, 15.0), (0.5, 100.0), (0.7, 200.0)]), checked(0.3, Some(0.7)));
        assert_eq!(said(8.0, &[(0.3, 15.0), (0.5, 100.0)]), checked(0.3, None));
        let open = HeldP99 { most: 0.7, missed: Some(0.7), ..open };
        assert_eq!(said(8.0, &[(0.5, 100.0), (0.7, 200.0)]), Ok(open));
    }
}
