//! Which configuration to run: the answer of each place, and one answer of all.

use spec::{LoadLevel, Plan};

use crate::comparisons::{Comparisons, is_open, places};
use crate::document::{
    By, Candidate, CellAnalysis, Doubt, FleetOf, Meets, NotConsidered, NotJudged, Outcome, Place, Reason,
    Recommendation, Status, TrialCounts, Verdict, Withheld, WouldDecide,
};
use crate::figures::Figures;
use crate::finding::Finding;
use crate::objective::{self, Objectives};
use crate::rule::Rule;
use crate::rule::Severity;
use crate::value::priced;

/// What the answer is made from.
pub struct Answer<'a> {
    /// The frozen plan.
    pub plan: &'a Plan,
    /// Where the evidence comes from.
    pub provider: &'a str,
    /// All cells.
    pub cells: &'a [CellAnalysis],
    /// Their valid trials.
    pub figures: &'a Figures<'a>,
    /// Comparisons of throughput.
    pub throughput: &'a Comparisons,
    /// How many trials there are.
    pub trials: TrialCounts,
    /// All findings of the run.
    pub findings: &'a [Finding],
}

impl Answer<'_> {
    /// The answer.
    pub fn recommendation(&self) -> Recommendation {
        let not_considered = self.not_considered();
        let all = self.places();
        let (status, run, reason) = self.verdict(&all);
        let repetitions = match reason {
            Reason::TooFewRepetitions => Some(u32::try_from(stats::REPETITIONS_MIN).unwrap_or(u32::MAX)),
            Reason::Undecided | Reason::Depends | Reason::Agreement => more_would_decide(&all),
            _ => None,
        };
        Recommendation {
            doubts: self.doubts(&all, run.as_deref()),
            would_decide: repetitions
                .filter(|_| status == Status::NotDecided)
                .map(|repetitions| WouldDecide { repetitions }),
            status,
            run,
            reason,
            places: all,
            not_considered,
        }
    }

    fn verdict(&self, all: &[Place]) -> (Status, Option<String>, Reason) {
        let trials = self.trials;
        if trials.done == 0 {
            return (Status::NoAnswerYet, None, Reason::NothingMeasured);
        }
        // Half of the matrix is missing: what is there leads astray.
        if trials.valid == 0 || trials.valid * 2 < trials.planned {
            return (Status::NoAnswerYet, None, Reason::TooFewValidTrials);
        }
        let runs: Vec<(&String, &Vec<String>)> = all
            .iter()
            .filter_map(|p| match &p.outcome {
                Outcome::Run { configuration, same } => Some((configuration, same)),
                _ => None,
            })
            .collect();
        let every = |is: fn(&Outcome) -> bool| !all.is_empty() && all.iter().all(|p| is(&p.outcome));
        if runs.is_empty() {
            let reason = if every(|o| matches!(o, Outcome::TooFew { .. })) {
                Reason::TooFewRepetitions
            } else if every(|o| matches!(o, Outcome::Nothing)) || all.is_empty() {
                Reason::OneConfiguration
            } else if every(|o| matches!(o, Outcome::NoObjective)) {
                Reason::NoObjective
            } else {
                Reason::Undecided
            };
            return (Status::NotDecided, None, reason);
        }
        // A configuration that every place accepts, the most often chosen first.
        let mut names: Vec<&String> = runs.iter().map(|(name, _)| *name).collect();
        names.sort_by_key(|name| std::cmp::Reverse(runs.iter().filter(|(n, _)| n == name).count()));
        let accepts = |place: &Place, name: &String| match &place.outcome {
            Outcome::Run { configuration, same } => configuration == name || same.contains(name),
            Outcome::Between { configurations, .. } => configurations.contains(name),
            Outcome::NoneMeets => false,
            Outcome::Withheld { .. } | Outcome::TooFew { .. } | Outcome::Nothing | Outcome::NoObjective => true,
        };
        match names
            .into_iter()
            .find(|name| all.iter().all(|place| accepts(place, name)))
        {
            Some(name) => (Status::Decided, Some(name.clone()), Reason::Agreement),
            None => (Status::NotDecided, None, Reason::Depends),
        }
    }

    fn places(&self) -> Vec<Place> {
        let objectives = Objectives::new(self.plan, self.cells, self.figures);
        let groups = places(self.cells);
        if let Some((objectives, demand)) = objectives.as_ref().and_then(|o| Some((o, o.demand()?))) {
            let mut workloads: Vec<String> = groups.iter().map(|(w, _, _)| w.clone()).collect();
            workloads.dedup();
            return workloads
                .into_iter()
                .map(|workload| {
                    let members: Vec<usize> = groups
                        .iter()
                        .filter(|(w, _, _)| *w == workload)
                        .flat_map(|(_, _, m)| m.clone())
                        .collect();
                    let candidates = self.carrying(objectives, demand, &members);
                    self.cheapest_that_meets(workload, None, candidates)
                })
                .collect();
        }
        groups
            .into_iter()
            .map(|(workload, load, members)| match &objectives {
                Some(objectives) if is_open(load) => {
                    let candidates = self.candidates(objectives, &members);
                    self.cheapest_that_meets(workload, Some(load), candidates)
                }
                None if is_open(load) => place(workload, load, By::Objective, Outcome::NoObjective),
                Some(objectives) if objectives.has_bounds() => {
                    self.by_value_within(objectives, workload, load, &members)
                }
                _ => self.by_value(workload, load, &members),
            })
            .collect()
    }

    /// Closed loop without an objective: throughput for money, or throughput alone where no two configurations have a price.
    fn by_value(&self, workload: String, load: LoadLevel, members: &[usize]) -> Place {
        let with_figure: Vec<usize> = members
            .iter()
            .copied()
            .filter(|i| self.throughput.figure(*i).is_some())
            .collect();
        let priced = priced(self.cells, &with_figure, self.throughput);
        let by = if priced.len() >= 2 { By::Value } else { By::Throughput };
        let judged: Vec<usize> = match by {
            By::Value => priced.iter().map(|p| p.cell).collect(),
            _ => with_figure,
        };
        let withheld: Vec<(String, Withheld)> = judged
            .iter()
            .filter_map(|i| Some((self.cells[*i].configuration.clone(), self.cells[*i].withheld?)))
            .collect();
        let outcome = if judged.len() < 2 {
            Outcome::Nothing
        } else if !withheld.is_empty() {
            Outcome::Withheld {
                configurations: withheld,
            }
        } else {
            self.best_of(&judged, by)
        };
        place(workload, load, by, outcome)
    }

    /// How much better a is than b: throughput, or throughput for money.
    fn advantage(&self, a: usize, b: usize, by: By) -> Option<crate::document::Ratio> {
        let factor = match by {
            By::Value => self.cells[b].usd_per_month? / self.cells[a].usd_per_month?,
            _ => 1.0,
        };
        self.throughput.scaled(a, b, factor)
    }

    fn best_of(&self, judged: &[usize], by: By) -> Outcome {
        let name = |i: usize| self.cells[i].configuration.clone();
        let score = |i: usize| {
            let figure = self.throughput.figure(i).unwrap_or(0.0);
            match by {
                By::Value => figure / self.cells[i].usd_per_month.unwrap_or(f64::INFINITY),
                _ => figure,
            }
        };
        let Some(leader) = judged.iter().copied().max_by(|a, b| score(*a).total_cmp(&score(*b))) else {
            return Outcome::Nothing;
        };
        let mut contenders = vec![leader];
        let mut most_pairs = 0;
        let mut tested = false;
        for other in judged.iter().copied().filter(|i| *i != leader) {
            let advantage = self.advantage(leader, other, by);
            most_pairs = most_pairs.max(advantage.as_ref().map_or(0, |r| r.pairs));
            let is_tested = advantage.as_ref().is_some_and(|r| r.verdict.is_tested());
            tested |= is_tested;
            // Shown to be better, and by more than the margin of practical importance.
            if advantage.is_none_or(|r| r.verdict != Verdict::Faster) {
                contenders.push(other);
            }
        }
        if !tested {
            return Outcome::TooFew { pairs: most_pairs };
        }
        // Several that give the same throughput: the cheapest of them; without prices, the leader.
        let price = |i: usize| self.cells[i].usd_per_month.unwrap_or(f64::INFINITY);
        let pick = contenders
            .iter()
            .copied()
            .min_by(|a, b| price(*a).total_cmp(&price(*b)))
            .unwrap_or(leader);
        let pick = if by == By::Value { pick } else { leader };
        let same_throughput = |i: usize| {
            self.throughput
                .ratio(i, pick)
                .is_some_and(|r| r.verdict == Verdict::Same)
        };
        let others = || contenders.iter().copied().filter(move |i| *i != pick);
        if others().all(same_throughput) {
            return Outcome::Run {
                configuration: name(pick),
                same: others().map(name).collect(),
            };
        }
        let margin = self.plan.decision.margin;
        let even = |r: crate::document::Ratio| r.low >= 1.0 / (1.0 + margin) && r.high <= 1.0 + margin;
        let rivals = || contenders.iter().copied().filter(|i| *i != leader);
        let break_even = by == By::Value && rivals().all(|i| self.advantage(leader, i, by).is_some_and(even));
        let needed = |i: usize| {
            let cost = match by {
                By::Value => price(leader) / price(i),
                _ => 1.0,
            };
            self.throughput.repetitions_to_refute(leader, i, cost)
        };
        let repetitions: Option<Vec<u32>> = rivals().map(needed).collect();
        Outcome::Between {
            configurations: contenders.iter().copied().map(name).collect(),
            break_even,
            repetitions: repetitions
                .filter(|_| !break_even)
                .and_then(|all| all.into_iter().max()),
        }
    }

    /// Closed loop with bounds: throughput for money among the configurations that are not shown to miss them.
    fn by_value_within(
        &self,
        objectives: &Objectives<'_>,
        workload: String,
        load: LoadLevel,
        members: &[usize],
    ) -> Place {
        let candidates = self.candidates(objectives, members);
        let meets = |i: usize| {
            let of = |c: &&Candidate| c.configuration == self.cells[i].configuration;
            candidates.iter().find(of).map_or(Meets::NotDecided, |c| c.meets)
        };
        let left: Vec<usize> = members.iter().copied().filter(|i| meets(*i) != Meets::No).collect();
        let outcome = match left.as_slice() {
            [] => Outcome::NoneMeets,
            [only] if meets(*only) == Meets::Yes && members.len() > 1 => Outcome::Run {
                configuration: self.cells[*only].configuration.clone(),
                same: Vec::new(),
            },
            left => match self.by_value(workload.clone(), load, left).outcome {
                Outcome::Run { configuration, same } => {
                    let undecided: Vec<String> = left
                        .iter()
                        .filter(|i| meets(**i) != Meets::Yes)
                        .map(|i| self.cells[*i].configuration.clone())
                        .collect();
                    if undecided.contains(&configuration) {
                        let all = left.iter().map(|i| self.cells[*i].configuration.clone());
                        Outcome::Between {
                            configurations: all.collect(),
                            break_even: false,
                            repetitions: None,
                        }
                    } else {
                        Outcome::Run { configuration, same }
                    }
                }
                other => other,
            },
        };
        Place {
            candidates,
            ..place(workload, load, By::Objective, outcome)
        }
    }

    fn candidates(&self, objectives: &Objectives<'_>, members: &[usize]) -> Vec<Candidate> {
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

    /// What was measured on credit, from memory or by a slow client is no proof that an objective is met; a rate that was not held is one that it is not.
    fn unless_withheld(&self, cell: usize, meets: Meets) -> Meets {
        match self.cells[cell].withheld {
            Some(Withheld::Rate) | None => meets,
            Some(_) => Meets::NotDecided,
        }
    }

    /// Against a demand: for each configuration its best load level that meets the bounds.
    fn carrying(&self, objectives: &Objectives<'_>, demand: f64, members: &[usize]) -> Vec<Candidate> {
        let mut by_configuration: Vec<(String, Vec<Candidate>)> = Vec::new();
        for &i in members.iter().filter(|i| self.cells[**i].valid_trials > 0) {
            let capacity = objectives.capacity(i);
            let mut checks = objectives.checks(i);
            checks.push(objectives.demand_check(i, demand, capacity));
            let meets = self.unless_withheld(i, objective::all(&checks));
            let bounds_hold = checks
                .iter()
                .all(|c| c.meets == Meets::Yes || matches!(c.what, crate::document::Criterion::Throughput { .. }));
            let usd = self.cells[i].usd_per_month;
            let fleet = capacity
                .zip(usd)
                .filter(|((range, _), _)| bounds_hold && range.median > 0.0)
                .map(|((range, _), usd)| {
                    let count = (demand / range.median).ceil().clamp(1.0, 1e6) as u32;
                    FleetOf {
                        count,
                        usd_per_month: f64::from(count) * usd,
                    }
                });
            let candidate = Candidate {
                configuration: self.cells[i].configuration.clone(),
                usd_per_month: usd,
                meets,
                checks,
                fleet,
            };
            match by_configuration
                .iter_mut()
                .find(|(name, _)| *name == candidate.configuration)
            {
                Some((_, all)) => all.push(candidate),
                None => by_configuration.push((candidate.configuration.clone(), vec![candidate])),
            }
        }
        // The level that counts: one that carries it; else one that might; else the one with the most capacity.
        let rank = |c: &Candidate| {
            let capacity = c
                .checks
                .last()
                .and_then(|c| c.measured)
                .map_or(0.0, |m: crate::document::Range| m.median);
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

    /// The cheapest that meets the objective, if no cheaper one might.
    fn cheapest_that_meets(&self, workload: String, load: Option<LoadLevel>, candidates: Vec<Candidate>) -> Place {
        let priced: Vec<&Candidate> = candidates.iter().filter(|c| c.usd_per_month.is_some()).collect();
        // Without prices the question is only who meets it: decided where one alone does.
        let pool: Vec<&Candidate> = if priced.is_empty() {
            candidates.iter().collect()
        } else {
            priced.clone()
        };
        let might: Vec<&&Candidate> = pool.iter().filter(|c| c.meets != Meets::No).collect();
        let first_sure = pool.iter().position(|c| c.meets == Meets::Yes);
        let names = |all: &[&&Candidate]| all.iter().map(|c| c.configuration.clone()).collect::<Vec<_>>();
        let trials = |c: &&Candidate| {
            let of = |cell: &&CellAnalysis| cell.configuration == c.configuration && cell.workload == workload;
            self.cells
                .iter()
                .filter(of)
                .map(|cell| cell.valid_trials)
                .max()
                .unwrap_or(0)
        };
        let most = pool.iter().map(trials).max().unwrap_or(0);
        let outcome = match first_sure {
            _ if pool.is_empty() => Outcome::Nothing,
            _ if most < stats::REPETITIONS_MIN => Outcome::TooFew { pairs: most },
            _ if might.is_empty() => Outcome::NoneMeets,
            Some(sure) if !priced.is_empty() => {
                let cheaper: Vec<&&Candidate> = pool[..sure].iter().filter(|c| c.meets == Meets::NotDecided).collect();
                match cheaper.is_empty() {
                    true => Outcome::Run {
                        configuration: pool[sure].configuration.clone(),
                        same: Vec::new(),
                    },
                    false => Outcome::Between {
                        configurations: names(&cheaper)
                            .into_iter()
                            .chain([pool[sure].configuration.clone()])
                            .collect(),
                        break_even: false,
                        repetitions: None,
                    },
                }
            }
            Some(sure) if might.len() == 1 && pool.len() > 1 => Outcome::Run {
                configuration: pool[sure].configuration.clone(),
                same: Vec::new(),
            },
            _ => Outcome::Between {
                configurations: names(&might),
                break_even: false,
                repetitions: None,
            },
        };
        Place {
            workload,
            load,
            by: By::Objective,
            outcome,
            candidates,
        }
    }

    /// Configurations that could not be judged.
    fn not_considered(&self) -> Vec<NotConsidered> {
        let any_priced = self.cells.iter().any(|c| c.usd_per_month.is_some());
        let mut all = Vec::new();
        for setup in &self.plan.setups {
            let name = &setup.configuration;
            let cells: Vec<usize> = (0..self.cells.len())
                .filter(|i| self.cells[*i].configuration == *name)
                .collect();
            let measured = cells.iter().filter(|i| self.cells[**i].valid_trials > 0).count();
            let why = if measured == 0 {
                Some(NotJudged::NoValidTrial)
            } else if any_priced && cells.iter().all(|i| self.cells[*i].usd_per_month.is_none()) {
                Some(if cells.iter().any(|i| self.beats_all_priced(*i)) {
                    NotJudged::NoPriceThoughFaster
                } else {
                    NotJudged::NoPrice
                })
            } else if measured < cells.len() {
                Some(NotJudged::NotEverywhere)
            } else {
                None
            };
            all.extend(why.map(|why| NotConsidered {
                configuration: name.clone(),
                why,
            }));
        }
        all
    }

    fn beats_all_priced(&self, cell: usize) -> bool {
        let ours = &self.cells[cell];
        let mut ratios = (0..self.cells.len())
            .filter(|i| {
                let other = &self.cells[*i];
                other.usd_per_month.is_some() && other.workload == ours.workload && other.load == ours.load
            })
            .filter_map(|i| self.throughput.ratio(cell, i))
            .peekable();
        ratios.peek().is_some() && ratios.all(|r| r.verdict == Verdict::Faster)
    }

    fn doubts(&self, all: &[Place], run: Option<&str>) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        if self.provider == "simulated" {
            doubts.push(Doubt::Simulated);
        }
        if self.trials.done < self.trials.planned {
            doubts.push(Doubt::Missing {
                trials: self.trials.planned - self.trials.done,
                planned: self.trials.planned,
            });
        }
        if self.trials.valid < self.trials.done {
            doubts.push(Doubt::Invalid {
                trials: self.trials.done - self.trials.valid,
                done: self.trials.done,
            });
        }
        let bursting: Vec<String> = self
            .plan
            .setups
            .iter()
            .filter(|s| {
                let started = |v: &spec::VolumeSetup| v.burst_start().is_some_and(|b| b != spec::BurstStart::Baseline);
                started(&s.data) || s.commitlog.as_ref().is_some_and(started)
            })
            .map(|s| s.configuration.clone())
            .collect();
        if !bursting.is_empty() {
            doubts.push(Doubt::BurstStart {
                configurations: bursting,
            });
        }
        let open = all.iter().filter(|p| !matches!(p.outcome, Outcome::Run { .. })).count() as u64;
        if run.is_some() && open > 0 {
            doubts.push(Doubt::PlacesUndecided { places: open });
        }
        if let Some(run) = run {
            doubts.extend(all.iter().filter_map(|p| fleet_cheaper(p, run)));
        }
        let mut rules: Vec<(Rule, u64)> = Vec::new();
        for finding in self.findings.iter().filter(|f| f.severity == Severity::Suspect) {
            match rules.iter_mut().find(|(rule, _)| *rule == finding.rule) {
                Some((_, n)) => *n += 1,
                None => rules.push((finding.rule, 1)),
            }
        }
        rules.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        if !rules.is_empty() {
            doubts.push(Doubt::Findings { rules });
        }
        if self.plan.scale != 1.0 {
            doubts.push(Doubt::Scale { scale: self.plan.scale });
        }
        if let Some(why) = self.plan.adaptive.as_ref().and_then(|a| a.stopped.clone()) {
            doubts.push(Doubt::Stopped { why });
        }
        doubts
    }
}

fn place(workload: String, load: LoadLevel, by: By, outcome: Outcome) -> Place {
    Place {
        workload,
        load: Some(load),
        by,
        outcome,
        candidates: Vec::new(),
    }
}

/// Cheapest first; those without a price last.
fn by_price(candidates: &mut [Candidate]) {
    let price = |c: &Candidate| c.usd_per_month.unwrap_or(f64::INFINITY);
    candidates.sort_by(|a, b| price(a).total_cmp(&price(b)));
}

/// More of a cheaper configuration that carries the demand for less than the one to run.
fn fleet_cheaper(place: &Place, run: &str) -> Option<Doubt> {
    let chosen = place.candidates.iter().find(|c| c.configuration == run)?;
    let (of_chosen, ours) = (chosen.fleet?, chosen.usd_per_month?);
    let cheaper = place.candidates.iter().filter(|c| c.configuration != run);
    let best = cheaper
        .filter_map(|c| Some((c.configuration.clone(), c.fleet?)))
        .min_by(|a, b| a.1.usd_per_month.total_cmp(&b.1.usd_per_month))?;
    (best.1.usd_per_month < ours.max(of_chosen.usd_per_month)).then_some(Doubt::FleetCheaper {
        configuration: best.0,
        fleet: best.1,
    })
}

/// Repetitions that would decide every place that repetitions can decide.
fn more_would_decide(all: &[Place]) -> Option<u32> {
    all.iter()
        .filter_map(|p| match p.outcome {
            Outcome::Between { repetitions, .. } => repetitions,
            Outcome::TooFew { .. } => u32::try_from(stats::REPETITIONS_MIN).ok(),
            _ => None,
        })
        .max()
}
