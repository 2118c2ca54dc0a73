//! By the highest rates that meet the objective: the cheapest that carries a demand, or the most for the money.

use super::Answer;
use crate::document::{
    AnswerOutcome, Candidate, Capacity, CapacityOutcome, Check, Criterion, DecidedBy, FleetOf, Meets, OtherSettings,
    Range, Withheld, WorkloadAnswer, WorseSettings,
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
                        outcome: most_for_money(self.hardware, &own),
                        candidates: Vec::new(),
                    },
                }
            })
        };
        workloads.into_iter().map(each).collect()
    }

    /// The cheapest whose capacity less headroom is shown to be no less than the demand.
    fn carrying_by_capacity(&self, workload: &str, own: &[&Capacity], demand: f64) -> WorkloadAnswer {
        let headroom = self.plan.objective.as_ref().map_or(0.0, |objective| objective.headroom);
        let left = 1.0 - headroom;
        let is_model = self.plan.scale() > 1.0;
        let candidate = |capacity: &&Capacity| {
            let low = capacity.low_ops_per_s.unwrap_or(0.0) * left;
            let high = capacity.high_ops_per_s.unwrap_or(f64::INFINITY) * left;
            let estimate = capacity.ops_per_s.map(|rate| rate * left);
            let meets = match capacity.outcome {
                CapacityOutcome::Floor => Meets::No,
                CapacityOutcome::Withheld { .. } | CapacityOutcome::NotMeasured => Meets::NotDecided,
                _ if low >= demand => Meets::Yes,
                // Under its bound on latency a model carries less than what it is a model of, whose queues are shorter;
                // its throughput is that of full scale.
                _ if is_model => match capacity.closed_loop_ops_per_s {
                    Some(most) if most * left <= demand => Meets::No,
                    _ => Meets::NotDecided,
                },
                _ if high <= demand => Meets::No,
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
                    meets,
                }],
                fleet,
            }
        };
        let mut candidates: Vec<Candidate> = own.iter().map(candidate).collect();
        super::by_objective::by_price(&mut candidates);
        WorkloadAnswer { by: DecidedBy::Capacity, ..self.cheapest_that_meets(workload.to_owned(), None, candidates) }
    }
}

/// Operations per second under the objective for a dollar; under it alone where no two have a price. One configuration
/// leads where the least it is shown to carry is worth more than the most that any other may; one hardware, where that
/// is so of all others.
fn most_for_money(hardware: &Hardware, own: &[&Capacity]) -> AnswerOutcome {
    let known = |capacity: &&&Capacity| !matches!(capacity.outcome, CapacityOutcome::NotMeasured);
    let judged: Vec<&Capacity> = own.iter().filter(known).copied().collect();
    let priced: Vec<&Capacity> = judged.iter().filter(|c| c.usd_per_month.is_some()).copied().collect();
    let judged = if priced.len() >= 2 { &priced } else { &judged };
    let by_money = priced.len() >= 2;
    if judged.iter().all(|c| c.outcome == CapacityOutcome::Floor) && !judged.is_empty() {
        return AnswerOutcome::NoneMeets;
    }
    let judged: Vec<&Capacity> = judged.iter().filter(|c| c.outcome != CapacityOutcome::Floor).copied().collect();
    if own.len() < 2 || judged.is_empty() {
        return AnswerOutcome::Nothing;
    }
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
    let utmost = |c: &Capacity| c.high_ops_per_s.unwrap_or(f64::INFINITY) / price(c);
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
