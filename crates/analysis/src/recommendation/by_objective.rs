//! Against an objective: the cheapest configuration that meets it, at a given rate or against a demand.

use experiment::LoadLevel;

use super::{Answer, place};
use crate::comparisons;
use crate::document::{
    AnswerOutcome, Candidate, Capacity, CellAnalysis, Check, Criterion, DecidedBy, FleetOf, Meets, OtherSettings,
    Range, Verdict, Withheld, WorkloadAnswer, prices_decide,
};
use crate::hardware::is_one_price;
use crate::lists::grouped;
use crate::objective::{self, Objectives};

impl Answer<'_> {
    /// Closed loop with bounds: throughput for money among the configurations that are not shown to miss them. A single
    /// one that is left has nothing to be compared with: whether it keeps the bounds is what is left to ask.
    pub(super) fn by_value_within(
        &self,
        objectives: &Objectives<'_>,
        workload: String,
        load: LoadLevel,
        members: &[usize],
    ) -> WorkloadAnswer {
        let candidates = self.candidates(objectives, members);
        let might = |among: &[usize]| -> Vec<usize> {
            let is_it = |i: &usize| {
                let mut might = candidates.iter().filter(|c| c.meets != Meets::No);
                might.any(|c| c.configuration == self.cells[*i].configuration)
            };
            among.iter().copied().filter(is_it).collect()
        };
        // What has no price may meet them where nothing else does.
        let (by, judged) = self.judged(members);
        let of_judged = might(&judged);
        let by_money = by == DecidedBy::Value && !of_judged.is_empty();
        let left = if of_judged.is_empty() { might(members) } else { of_judged };
        let outcome = match left.as_slice() {
            [] if candidates.is_empty() => AnswerOutcome::Nothing,
            [] => AnswerOutcome::NoneMeets,
            [only] => self.one_within(&candidates, *only),
            left => match self.by_value(workload.clone(), load, left).outcome {
                AnswerOutcome::Run { configuration, same, settings } => {
                    let is_sure = |name: &String| {
                        let of = |c: &&Candidate| c.configuration == *name;
                        candidates.iter().find(of).is_some_and(|c| c.meets == Meets::Yes)
                    };
                    let (sure, mut open): (Vec<String>, Vec<String>) = std::iter::once(configuration.clone())
                        .chain(settings.iter().flat_map(|s| s.any.clone()))
                        .partition(is_sure);
                    match sure.split_first() {
                        None => {
                            let all = left.iter().map(|i| self.cells[*i].configuration.clone());
                            AnswerOutcome::between(all.collect())
                        }
                        Some((run, any)) => AnswerOutcome::Run {
                            same: if *run == configuration { same } else { Vec::new() },
                            settings: settings.map(|settings| {
                                open.extend(settings.open);
                                OtherSettings { any: any.to_vec(), open, ..settings }
                            }),
                            configuration: run.clone(),
                        },
                    }
                }
                AnswerOutcome::Between { configurations, break_even, alike, repetitions } => {
                    let mut open = candidates.iter().filter(|c| c.meets == Meets::NotDecided);
                    let bounds = to_decide(&candidates, &configurations);
                    let repetitions = match open.any(|c| configurations.contains(&c.configuration)) {
                        true => repetitions.zip(bounds).map(|(value, bounds)| value.max(bounds)),
                        false => repetitions,
                    };
                    AnswerOutcome::Between { configurations, break_even, alike, repetitions }
                }
                other => other,
            },
        };
        WorkloadAnswer { by_money, candidates, ..place(workload, load, DecidedBy::Objective, outcome) }
    }

    /// All others are shown to miss the bounds, or lost writes; or there are none.
    fn one_within(&self, candidates: &[Candidate], only: usize) -> AnswerOutcome {
        let cell = &self.cells[only];
        let name = &cell.configuration;
        let is_sure = candidates.iter().any(|c| c.configuration == *name && c.meets == Meets::Yes);
        match cell.withheld {
            _ if is_sure => AnswerOutcome::run(name, self.settings_that_meet(candidates, name)),
            Some(why) => AnswerOutcome::Withheld { configurations: vec![(name.clone(), why)] },
            None if cell.has_few_trials() => AnswerOutcome::TooFew { pairs: cell.valid_trials },
            None => between(candidates, vec![name.clone()]),
        }
    }

    pub(super) fn candidates(&self, objectives: &Objectives<'_>, members: &[usize]) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = members
            .iter()
            .filter(|i| self.cells[**i].valid_trials > 0)
            .map(|i| {
                let checks = objectives.checks(*i);
                Candidate {
                    configuration: self.cells[*i].configuration.clone(),
                    usd_per_month: self.cells[*i].usd_per_month,
                    meets: self.unless_withheld(*i, objective::all(&checks)),
                    checks,
                    fleet: None,
                }
            })
            .collect();
        by_price(&mut candidates);
        candidates
    }

    /// What was measured on credit, from memory or by a slow client is no proof that an objective is met; a rate that
    /// was not held is one that it is not. What this machine held back might meet it where it is bought.
    fn unless_withheld(&self, cell: usize, meets: Meets) -> Meets {
        match self.cells[cell].withheld {
            _ if self.cells[cell].limited_here.is_some() && meets == Meets::No => Meets::NotDecided,
            Some(Withheld::Rate) | None => meets,
            // What a sick machine does a sound one does, too.
            Some(Withheld::Sick { .. }) if meets == Meets::Yes => meets,
            Some(_) => Meets::NotDecided,
        }
    }

    /// Against a demand: for each configuration its best load level that meets the bounds.
    pub(super) fn carrying(&self, objectives: &Objectives<'_>, demand: f64, members: &[usize]) -> Vec<Candidate> {
        let candidate = |i: usize| {
            let capacity = objectives.capacity(i);
            let mut checks = objectives.checks(i);
            checks.push(objectives.demand_check(i, demand, capacity, self.throughput.carried().reach(i)));
            let meets = self.unless_withheld(i, objective::all(&checks));
            let bounds_hold =
                checks.iter().all(|c| c.meets == Meets::Yes || matches!(c.what, Criterion::Throughput { .. }));
            let usd = self.cells[i].usd_per_month;
            // More of what something else than storage answered is no more of it; what a sick machine does a sound one
            // does, too.
            let is_its_own = matches!(self.cells[i].withheld, None | Some(Withheld::Rate | Withheld::Sick { .. }));
            let is_known = bounds_hold && is_its_own;
            // By the least that is shown of one: by its estimate so many would be too few in half of the cases.
            let fleet = capacity.zip(usd).filter(|((range, _), _)| is_known && range.low > 0.0);
            let fleet = fleet.map(|((range, _), usd)| FleetOf::carrying(demand / range.low, usd));
            let configuration = self.cells[i].configuration.clone();
            (configuration.clone(), Candidate { configuration, usd_per_month: usd, meets, checks, fleet })
        };
        let measured = members.iter().copied().filter(|i| self.cells[*i].valid_trials > 0);
        let by_configuration = grouped(measured.map(candidate));
        // The level that counts: one that carries it; else one that might; else the one with the most capacity.
        let rank = |c: &Candidate| {
            let capacity = c.checks.last().and_then(|c| c.measured).map_or(0.0, |m: Range| m.median);
            let meets: f64 = match c.meets {
                Meets::Yes => 2.0,
                Meets::NotDecided => 1.0,
                Meets::No => 0.0,
            };
            (meets, capacity)
        };
        let mut best: Vec<Candidate> = by_configuration
            .into_iter()
            .filter_map(|(_, all)| {
                all.into_iter().max_by(|a, b| {
                    let ((am, ac), (bm, bc)) = (rank(a), rank(b));
                    am.total_cmp(&bm).then(ac.total_cmp(&bc))
                })
            })
            .collect();
        by_price(&mut best);
        best
    }

    /// The place whose answer is the cheapest that meets the objective.
    pub(super) fn cheapest_that_meets(
        &self,
        workload: String,
        load: Option<LoadLevel>,
        candidates: Vec<Candidate>,
    ) -> WorkloadAnswer {
        let outcome = self.cheapest(&candidates, &|name| self.trials_under(&workload, name));
        let by_money = by_money(&candidates);
        WorkloadAnswer { workload, load, by: DecidedBy::Objective, by_money, outcome, candidates }
    }

    /// The most valid trials that a configuration has of one load level under a workload.
    pub(super) fn trials_under(&self, workload: &str, name: &str) -> u64 {
        let of = |cell: &&CellAnalysis| cell.configuration == name && cell.workload == workload;
        let trials = self.cells.iter().filter(of).map(|cell| cell.valid_trials);
        trials.max().unwrap_or(0)
    }

    /// The cheapest that meets the objective, if no cheaper one might; of one price what is shown to do more. `trials`
    /// says how many a configuration has.
    pub(super) fn cheapest(&self, candidates: &[Candidate], trials: &dyn Fn(&str) -> u64) -> AnswerOutcome {
        // Where prices do not decide the question is only who meets it: decided where one alone does.
        let by_money = by_money(candidates);
        let pool: Vec<&Candidate> = candidates.iter().filter(|c| !by_money || c.usd_per_month.is_some()).collect();
        let might: Vec<&Candidate> = pool.iter().copied().filter(|c| c.meets != Meets::No).collect();
        let first_sure = pool.iter().position(|c| c.meets == Meets::Yes);
        let names = |all: &[&Candidate]| all.iter().map(|c| c.configuration.clone()).collect::<Vec<_>>();
        let most = pool.iter().map(|c| trials(&c.configuration)).max().unwrap_or(0);
        let run = |sure: usize| {
            let name = &pool[sure].configuration;
            AnswerOutcome::run(name, self.settings_that_meet(candidates, name))
        };
        // No other hardware might meet it, and some was judged; or no other configuration might.
        let is_alone = |sure: usize| {
            let is_own = |c: &Candidate| self.hardware.is_same(&c.configuration, &pool[sure].configuration);
            might.len() == 1 || (might.iter().all(|c| is_own(c)) && pool.iter().any(|c| !is_own(c)))
        };
        match first_sure {
            _ if pool.is_empty() => AnswerOutcome::Nothing,
            _ if most < stats::REPETITIONS_MIN => AnswerOutcome::TooFew { pairs: most },
            _ if might.is_empty() => AnswerOutcome::NoneMeets,
            Some(sure) if by_money => {
                let price = |c: &Candidate| c.usd_per_month.unwrap_or(f64::INFINITY);
                // Of one price, what is shown to do more, whichever the experiment names first.
                let is_as_cheap =
                    |i: &usize| pool[*i].meets == Meets::Yes && is_one_price(price(pool[*i]), price(pool[sure]));
                let name = |i: usize| pool[i].configuration.as_str();
                let more = |one: usize, other: usize| if self.does_more(name(other), name(one)) { other } else { one };
                let sure = (sure..pool.len()).filter(is_as_cheap).reduce(more).unwrap_or(sure);
                // Of one price, one that meets it is as good as another that might.
                let might_be =
                    |c: &&Candidate| c.meets == Meets::NotDecided && !is_one_price(price(c), price(pool[sure]));
                let mut cheaper: Vec<&Candidate> = pool[..sure].iter().copied().filter(might_be).collect();
                if cheaper.is_empty() {
                    return run(sure);
                }
                cheaper.push(pool[sure]);
                between(candidates, names(&cheaper))
            }
            Some(sure) if is_alone(sure) => run(sure),
            // One alone would decide it without prices: what shows that several meet it does not.
            _ if !by_money && self.look_met(&might) => AnswerOutcome::between(names(&might)),
            _ => between(candidates, names(&might)),
        }
    }

    /// Whether one configuration is shown to do more than another in some place, and less in none: in a closed loop, or
    /// by a rate that was found. At a given rate throughput says nothing.
    pub(super) fn does_more(&self, one: &str, than: &str) -> bool {
        let cells = |name: &str| -> Vec<usize> {
            let is_judged = |cell: &CellAnalysis| cell.withheld.is_none() && !comparisons::is_open(cell.load);
            let is_own = |i: &usize| self.cells[*i].configuration == name && is_judged(&self.cells[*i]);
            (0..self.cells.len()).filter(is_own).collect()
        };
        let (ones, others) = (cells(one), cells(than));
        let ratios = ones.iter().flat_map(|i| others.iter().filter_map(move |j| self.throughput.ratio(*i, *j)));
        let of =
            |name: &str| -> Vec<&Capacity> { self.capacities.iter().filter(|c| c.configuration == name).collect() };
        let (scale, found) = (self.plan.scale(), (of(one), of(than)));
        let rates = found.0.iter().flat_map(|mine| found.1.iter().map(move |other| (mine, other)));
        let rates = rates.filter(|(mine, other)| mine.workload == other.workload).map(|(mine, other)| {
            match (mine.carries_more_than(other, scale), other.carries_more_than(mine, scale)) {
                (true, _) => Verdict::Faster,
                (_, true) => Verdict::Slower,
                _ => Verdict::NoDifferenceShown,
            }
        });
        let all: Vec<Verdict> = ratios.map(|ratio| ratio.verdict).chain(rates).collect();
        all.contains(&Verdict::Faster) && !all.contains(&Verdict::Slower)
    }

    /// Whether several, of more than one hardware, meet all of it, if what was seen is the truth.
    fn look_met(&self, all: &[&Candidate]) -> bool {
        let met: Vec<&&Candidate> = all.iter().filter(|c| c.checks.iter().all(looks_met)).collect();
        met.iter().any(|c| !self.hardware.is_same(&c.configuration, &met[0].configuration))
    }
}

fn by_money(candidates: &[Candidate]) -> bool {
    prices_decide(candidates.iter().map(|c| (c.usd_per_month, c.meets)))
}

fn looks_met(check: &Check) -> bool {
    let seen = check.measured.map(|range| range.median);
    match check.what {
        _ if check.meets != Meets::NotDecided => check.meets == Meets::Yes,
        Criterion::Latency { limit_us, .. } => seen.is_some_and(|us| us <= limit_us),
        Criterion::Throughput { demand } => seen.is_some_and(|rate| rate >= demand),
        Criterion::RateHeld | Criterion::ErrorShare { .. } => false,
    }
}

/// Between these, with the repetitions that would show how each of them stands against the objective.
fn between(candidates: &[Candidate], configurations: Vec<String>) -> AnswerOutcome {
    let repetitions = to_decide(candidates, &configurations);
    AnswerOutcome::Between { configurations, break_even: false, alike: Vec::new(), repetitions }
}

/// Repetitions that would show of all these what is not shown, if what was seen is the truth; `None` where nothing is
/// open, or repetitions would not show all of it.
fn to_decide(candidates: &[Candidate], among: &[String]) -> Option<u32> {
    let is_open = |meets: Meets| meets == Meets::NotDecided;
    let open = candidates.iter().filter(|c| is_open(c.meets) && among.contains(&c.configuration));
    let most = |all: Option<Vec<u32>>| all?.into_iter().max();
    let of = |c: &Candidate| most(c.checks.iter().filter(|c| is_open(c.meets)).map(|c| c.repetitions).collect());
    most(open.map(of).collect())
}

/// Cheapest first; those without a price last.
pub fn by_price(candidates: &mut [Candidate]) {
    let price = |c: &Candidate| c.usd_per_month.unwrap_or(f64::INFINITY);
    candidates.sort_by(|a, b| price(a).total_cmp(&price(b)));
}
