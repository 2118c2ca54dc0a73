//! By the highest rates that meet the objective: the cheapest that carries a demand, or the most for the money.

use super::Answer;
use crate::document::{
    AnswerOutcome, Candidate, Capacity, CapacityOutcome, Check, Criterion, DecidedBy, FleetOf, Meets, Missed,
    OtherSettings, Range, Withheld, WorkloadAnswer, WorseSettings,
};
use crate::hardware::Hardware;
use crate::lists::each_once;

impl Answer<'_> {
    /// A place for each workload.
    pub(super) fn by_capacity(&self) -> Vec<WorkloadAnswer> {
        let workloads = each_once(self.capacities.iter().map(|capacity| capacity.workload.as_str()));
        let demand = self.plan.objective.as_ref().and_then(|objective| objective.throughput);
        let each = |workload: &str| {
            let own: Vec<&Capacity> = self.capacities.iter().filter(|c| c.workload == workload).collect();
            let names: Vec<&str> = own.iter().map(|c| c.configuration.as_str()).collect();
            self.across(&names, |keeps| {
                let own: Vec<&Capacity> = own.iter().copied().filter(|c| keeps(&c.configuration)).collect();
                match demand {
                    Some(demand) => self.carrying_by_capacity(workload, &own, demand),
                    None => WorkloadAnswer {
                        workload: workload.to_owned(),
                        load: None,
                        by: DecidedBy::Capacity,
                        by_money: has_two_prices(&own),
                        outcome: most_for_money(self.hardware, &own, self.plan.scale()),
                        candidates: Vec::new(),
                    },
                }
            })
        };
        workloads.into_iter().map(each).collect()
    }

    /// The cheapest whose capacity less headroom is shown to be no less than the demand.
    fn carrying_by_capacity(&self, workload: &str, own: &[&Capacity], demand: f64) -> WorkloadAnswer {
        let left = self.plan.objective.as_ref().map_or(1.0, experiment::Objective::usable_share);
        let scale = self.plan.scale();
        let candidate = |capacity: &&Capacity| {
            let low = capacity.low_ops_per_s.unwrap_or(0.0) * left;
            let high = capacity.high_ops_per_s.unwrap_or(f64::INFINITY) * left;
            let most = utmost(capacity, scale) * left;
            let estimate = capacity.ops_per_s.map(|rate| rate * left);
            let meets = match capacity.outcome {
                _ if is_floor(capacity, scale) => Meets::No,
                CapacityOutcome::Withheld { .. } | CapacityOutcome::NotMeasured => Meets::NotDecided,
                _ if low >= demand => Meets::Yes,
                _ if most <= demand => Meets::No,
                _ => Meets::NotDecided,
            };
            let fleet = capacity.low_ops_per_s.zip(capacity.usd_per_month);
            let fleet = fleet.map(|(rate, usd)| FleetOf::carrying(demand / (rate * left), usd));
            Candidate {
                configuration: capacity.configuration.clone(),
                usd_per_month: capacity.usd_per_month,
                meets,
                checks: vec![Check {
                    what: Criterion::Throughput { demand },
                    measured: estimate.map(|median| Range {
                        median,
                        low: low.min(median),
                        high: if high.is_finite() { high.max(median) } else { median },
                    }),
                    level: None,
                    meets,
                    repetitions: None,
                }],
                fleet,
            }
        };
        let mut candidates: Vec<Candidate> = own.iter().map(candidate).collect();
        super::by_objective::by_price(&mut candidates);
        WorkloadAnswer { by: DecidedBy::Capacity, ..self.cheapest_that_meets(workload.to_owned(), None, candidates) }
    }
}

fn utmost(capacity: &Capacity, scale: f64) -> f64 {
    capacity.utmost_ops_per_s(scale).unwrap_or(f64::INFINITY)
}

/// Those that are excluded in a model by what a closed loop did in a single probe.
pub(super) fn excluded_by_probe(place: &WorkloadAnswer, all: &[Capacity], scale: f64) -> Vec<String> {
    let is_out = |name: &str| match (place.candidates.iter().find(|c| c.configuration == name), &place.outcome) {
        (Some(candidate), _) => candidate.meets == Meets::No,
        (None, AnswerOutcome::Between { configurations, .. }) => configurations.iter().all(|other| other != name),
        (None, AnswerOutcome::Run { settings, .. }) => {
            let mut open = settings.iter().flat_map(|settings| &settings.open);
            !place.outcome.may_run(name) && open.all(|other| other != name)
        }
        (None, _) => false,
    };
    let is_by_probe = |c: &Capacity| c.closed_loop_ops_per_s >= c.high_ops_per_s.or(Some(0.0));
    let own = all.iter().filter(|c| scale > 1.0 && c.workload == place.workload);
    let out = own.filter(|c| is_by_probe(c) && !is_floor(c, scale) && is_out(&c.configuration));
    out.map(|c| c.configuration.clone()).collect()
}

/// Whether next to no load misses the objective: a bound on latency in a model by more than a factor of N, as a request
/// may take N times as long there by itself, too.
fn is_floor(capacity: &Capacity, scale: f64) -> bool {
    let is_beyond = |missed: &Missed| match (missed.of, missed.measured) {
        (Criterion::Latency { limit_us, .. }, Some(us)) => scale <= 1.0 || us > limit_us * scale,
        _ => true,
    };
    capacity.outcome == CapacityOutcome::Floor && capacity.missed.as_ref().is_none_or(is_beyond)
}

/// Whether two that have a figure have a price.
fn has_two_prices(own: &[&Capacity]) -> bool {
    let is_priced = |c: &&&Capacity| c.usd_per_month.is_some() && c.outcome != CapacityOutcome::NotMeasured;
    own.iter().filter(is_priced).count() >= 2
}

/// Operations per second under the objective for a dollar; under it alone where no two have a price. One configuration
/// leads where the least it is shown to carry is worth more than the most that any other may; one hardware, where that
/// is so of all others.
fn most_for_money(hardware: &Hardware, own: &[&Capacity], scale: f64) -> AnswerOutcome {
    let by_money = has_two_prices(own);
    let is_judged =
        |c: &&Capacity| c.outcome != CapacityOutcome::NotMeasured && (!by_money || c.usd_per_month.is_some());
    let judged: Vec<&Capacity> = own.iter().copied().filter(is_judged).collect();
    if judged.iter().all(|c| c.outcome == CapacityOutcome::Floor) && !judged.is_empty() {
        return AnswerOutcome::NoneMeets;
    }
    if judged.len() < 2 {
        return AnswerOutcome::Nothing;
    }
    let judged: Vec<&Capacity> = judged.iter().filter(|c| !is_floor(c, scale)).copied().collect();
    let withheld: Vec<(String, Withheld)> = judged
        .iter()
        .filter_map(|c| match c.outcome {
            CapacityOutcome::Withheld { why } => Some((c.configuration.clone(), why)),
            _ => None,
        })
        .collect();
    if !withheld.is_empty() {
        return AnswerOutcome::Withheld { configurations: withheld };
    }
    let most = judged.iter().flat_map(|c| &c.levels).map(|level| level.trials).max();
    if most.unwrap_or(0) < stats::REPETITIONS_MIN {
        return AnswerOutcome::TooFew { pairs: most.unwrap_or(0) };
    }
    let price = |c: &Capacity| if by_money { c.usd_per_month.unwrap_or(f64::INFINITY) } else { 1.0 };
    let least = |c: &Capacity| c.low_ops_per_s.unwrap_or(0.0) / price(c);
    let utmost = |c: &Capacity| utmost(c, scale) / price(c);
    let Some(leader) = judged.iter().copied().max_by(|a, b| least(a).total_cmp(&least(b))) else {
        return AnswerOutcome::Nothing;
    };
    let rivals = judged.iter().copied().filter(|c| c.configuration != leader.configuration);
    let open: Vec<String> = rivals.filter(|c| utmost(c) > least(leader)).map(|c| c.configuration.clone()).collect();
    let is_of_leader = |name: &str| hardware.is_same(name, &leader.configuration);
    let (of_leader, others): (Vec<&Capacity>, Vec<&Capacity>) =
        judged.iter().copied().partition(|c| is_of_leader(&c.configuration));
    if open.is_empty() || (open.iter().all(|name| is_of_leader(name)) && !others.is_empty()) {
        let leads = |c: &&Capacity| {
            let is_as_good = c.configuration == leader.configuration || open.contains(&c.configuration);
            is_as_good && others.iter().all(|other| utmost(other) <= least(c))
        };
        let any: Vec<String> = of_leader.iter().copied().filter(leads).map(|c| c.configuration.clone()).collect();
        let (worse, open): (Vec<String>, Vec<String>) = of_leader
            .iter()
            .map(|c| c.configuration.clone())
            .filter(|name| !any.contains(name))
            .partition(|name| !open.contains(name));
        let worse = worse.into_iter().map(|configuration| WorseSettings { configuration, throughput_ratio: None });
        let settings = OtherSettings { any: any.iter().skip(1).cloned().collect(), worse: worse.collect(), open };
        let run = any.first().unwrap_or(&leader.configuration);
        return AnswerOutcome::run(run, (of_leader.len() > 1).then_some(settings));
    }
    AnswerOutcome::between(std::iter::once(leader.configuration.clone()).chain(open).collect())
}

#[cfg(test)]
mod tests {
    use experiment::LatencyFigure;

    use super::*;
    use crate::document::CapacityLevel;

    /// What one carries at p99 below a bound, beside what its closed loop does.
    fn carries(configuration: &str, usd: f64, (low, high): (f64, f64), closed_loop: f64) -> Capacity {
        let level = CapacityLevel {
            cell: format!("{configuration}.w.r"),
            ops_per_s: low,
            trials: 3,
            meets: Meets::Yes,
            score: None,
        };
        Capacity {
            configuration: configuration.to_owned(),
            workload: "w".to_owned(),
            usd_per_month: Some(usd),
            outcome: CapacityOutcome::Found,
            ops_per_s: Some(low),
            low_ops_per_s: Some(low),
            high_ops_per_s: Some(high),
            missed: None,
            limit: None,
            closed_loop_ops_per_s: Some(closed_loop),
            probes: 5,
            probe_s: 50.0,
            levels: vec![level],
        }
    }

    /// A queue keeps the model of the slow one from its rate by far; at full scale it may carry all that its closed
    /// loop does.
    #[test]
    fn a_rival_in_a_model_may_carry_what_its_closed_loop_does() {
        let fast = carries("fast", 100.0, (500.0, 520.0), 600.0);
        let of = |closed_loop: f64, scale: f64| {
            let slow = carries("slow", 50.0, (100.0, 110.0), closed_loop);
            most_for_money(&Hardware::of(&[], None), &[&slow, &fast], scale)
        };
        let run = AnswerOutcome::run("fast", None);
        let between = AnswerOutcome::between(vec!["fast".to_owned(), "slow".to_owned()]);
        assert_eq!([of(300.0, 1.0), of(240.0, 8.0), of(300.0, 8.0)], [run.clone(), run, between]);
        // What was measured once, and has no interval, is said to be so where it excludes something.
        let excluded = |closed_loop: f64, scale: f64| {
            let all = [carries("slow", 50.0, (100.0, 110.0), closed_loop), fast.clone()];
            let outcome = of(closed_loop, scale);
            let place = WorkloadAnswer {
                workload: "w".to_owned(),
                load: None,
                by: DecidedBy::Capacity,
                by_money: true,
                outcome,
                candidates: Vec::new(),
            };
            excluded_by_probe(&place, &all, scale)
        };
        assert_eq!(excluded(240.0, 8.0), ["slow"]);
        assert!(excluded(300.0, 1.0).is_empty() && excluded(300.0, 8.0).is_empty());
    }

    /// One that has no valid trial leaves nothing that the other could be said to carry more than.
    #[test]
    fn beside_one_without_a_valid_trial_nothing_carries_the_most() {
        let fast = carries("fast", 100.0, (500.0, 520.0), 600.0);
        let broken = Capacity { outcome: CapacityOutcome::NotMeasured, ..carries("broken", 50.0, (0.0, 0.0), 0.0) };
        let outcome = most_for_money(&Hardware::of(&[], None), &[&broken, &fast], 1.0);
        assert_eq!(outcome, AnswerOutcome::Nothing);
    }

    /// What next to no load misses by 3 times may be met by a machine that is 8 times as fast.
    #[test]
    fn next_to_no_load_misses_a_bound_in_a_model_by_more_than_its_scale() {
        let of = Criterion::Latency { operation: None, figure: LatencyFigure::P99, limit_us: 10_000.0 };
        for (us, scale, is_missed) in [(30_000.0, 1.0, true), (30_000.0, 8.0, false), (90_000.0, 8.0, true)] {
            let slow = Capacity {
                outcome: CapacityOutcome::Floor,
                missed: Some(Missed { of, at_ops_per_s: 5.0, measured: Some(us), trials: 1, missing: 1 }),
                ops_per_s: None,
                low_ops_per_s: None,
                high_ops_per_s: None,
                levels: Vec::new(),
                ..carries("slow", 50.0, (0.0, 0.0), 300.0)
            };
            assert_eq!(is_floor(&slow, scale), is_missed, "{us} us at 1:{scale}");
            let fast = carries("fast", 100.0, (500.0, 520.0), 600.0);
            let outcome = most_for_money(&Hardware::of(&[], None), &[&slow, &fast], scale);
            assert_eq!(matches!(outcome, AnswerOutcome::Run { .. }), is_missed, "{outcome:?}");
        }
    }
}
