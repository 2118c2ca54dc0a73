//! Which configuration to run: the answer of each place, and one answer of all.

mod across;
mod agreement;
mod by_capacity;
mod by_objective;
mod by_value;
mod doubts;
mod settings;
mod writes;

use experiment::{LoadLevel, ModelMisses, Plan, Setups};

use crate::comparisons::{Comparisons, is_open, places};
use crate::document::{
    AnswerOutcome, Capacity, CapacityOutcome, CellAnalysis, ConfigurationFacts, DecidedBy, OverallCandidate, Reason,
    Recommendation, SkippedCell, Status, TrialCounts, WorkloadAnswer, WouldDecide,
};
use crate::figures::Figures;
use crate::finding::Finding;
use crate::hardware::Hardware;
use crate::objective::Objectives;
use agreement::{Stance, says};

/// What the answer is made from.
pub struct Answer<'a> {
    pub plan: &'a Plan,
    /// What the provider made of its configurations.
    pub setups: &'a Setups,
    pub configurations: &'a [ConfigurationFacts],
    pub cells: &'a [CellAnalysis],
    /// Which configurations differ in settings alone.
    pub hardware: &'a Hardware,
    /// Their valid trials.
    pub figures: &'a Figures<'a>,
    pub throughput: &'a Comparisons,
    /// How often page caches miss in the model, and at full scale.
    pub misses: &'a [ModelMisses],
    pub trials: TrialCounts,
    pub findings: &'a [Finding],
    /// The run's `environment.json`.
    pub environment: &'a serde_json::Value,
    pub capacities: &'a [Capacity],
    pub skipped: &'a [SkippedCell],
}

impl Answer<'_> {
    /// The answer.
    pub fn recommendation(&self) -> Recommendation {
        let all = self.places();
        let everywhere = agreement::everywhere(&all);
        let not_considered = self.not_considered(&all, &everywhere);
        let (status, run, reason) = self.verdict(&all, &everywhere);
        let repetitions = match reason {
            Reason::TooFewRepetitions => Some(u32::try_from(stats::REPETITIONS_MIN).unwrap_or(u32::MAX)),
            Reason::Undecided | Reason::Depends | Reason::Agreement => more_would_decide(&all),
            _ => None,
        };
        Recommendation {
            doubts: self.doubts(&all, &everywhere, run.as_deref()),
            would_decide: repetitions
                .filter(|_| status == Status::NotDecided)
                .map(|repetitions| WouldDecide { repetitions }),
            status,
            any_of: run.as_deref().and_then(|run| self.any_of(&all, &everywhere, run)),
            hardware: self.decided_hardware(&all, run.as_deref()),
            run,
            reason,
            places: all,
            everywhere,
            not_considered,
        }
    }

    fn verdict(&self, all: &[WorkloadAnswer], everywhere: &[OverallCandidate]) -> (Status, Option<String>, Reason) {
        let trials = self.trials;
        // Probes alone have shown it, and no trial was planned.
        let is_floor = |c: &Capacity| c.outcome == CapacityOutcome::Floor;
        let is_known = trials.planned == 0 && self.capacities.iter().any(is_floor);
        if trials.done == 0 && !is_known {
            return (Status::NoAnswerYet, None, Reason::NothingMeasured);
        }
        // Half of the matrix is missing: what is there leads astray.
        if !is_known && (trials.valid == 0 || trials.valid * 2 < trials.planned) {
            return (Status::NoAnswerYet, None, Reason::TooFewValidTrials);
        }
        let is_run = |place: &WorkloadAnswer| matches!(place.outcome, AnswerOutcome::Run { .. });
        if !everywhere.is_empty() {
            return match self.of_everywhere(all, everywhere) {
                outcome if self.gives_up_everywhere(&outcome, everywhere) => (Status::NotDecided, None, open(all)),
                AnswerOutcome::Run { configuration, .. } => (Status::Decided, Some(configuration), Reason::Agreement),
                // Each misses it somewhere.
                AnswerOutcome::NoneMeets if all.iter().any(is_run) => (Status::NotDecided, None, Reason::Depends),
                _ => (Status::NotDecided, None, open(all)),
            };
        }
        let runs: Vec<(&String, &AnswerOutcome)> = all
            .iter()
            .filter_map(|p| match &p.outcome {
                AnswerOutcome::Run { configuration, .. } => Some((configuration, &p.outcome)),
                _ => None,
            })
            .collect();
        if runs.is_empty() {
            return (Status::NotDecided, None, open(all));
        }
        // A configuration that no place speaks against, the most often chosen first.
        let any = runs.iter().flat_map(|(_, outcome)| outcome.any());
        let mut names: Vec<&String> = runs.iter().map(|(name, _)| *name).chain(any).collect();
        let chosen = |name: &str| runs.iter().filter(|(_, outcome)| outcome.may_run(name)).count();
        names.sort_by_key(|name| std::cmp::Reverse(chosen(name)));
        let all_say = |name: &str, is: fn(Stance) -> bool| all.iter().all(|place| is(says(place, name)));
        let sure = names.iter().find(|name| all_say(name, |says| says == Stance::Run));
        match sure {
            Some(name) => (Status::Decided, Some((*name).clone()), Reason::Agreement),
            None if names.iter().any(|name| all_say(name, |says| says != Stance::Another)) => {
                (Status::NotDecided, None, Reason::Undecided)
            }
            None => (Status::NotDecided, None, Reason::Depends),
        }
    }

    /// The configurations of these cells.
    fn names(&self, members: &[usize]) -> Vec<&str> {
        let names = members.iter().map(|i| self.cells[*i].configuration.as_str());
        names.collect()
    }

    /// The cells whose configurations are kept.
    fn kept(&self, members: &[usize], keeps: &dyn Fn(&str) -> bool) -> Vec<usize> {
        let members = members.iter().copied();
        members.filter(|i| keeps(&self.cells[*i].configuration)).collect()
    }

    /// Cells by workload and load level, without those that nobody chooses.
    fn places_of_choices(&self) -> Vec<(String, LoadLevel, Vec<usize>)> {
        let mut groups = places(self.cells);
        for (_, _, members) in &mut groups {
            members.retain(|i| self.hardware.is_choice(&self.cells[*i].configuration));
        }
        groups
    }

    fn places(&self) -> Vec<WorkloadAnswer> {
        if !self.capacities.is_empty() {
            return self.by_capacity();
        }
        let objectives = Objectives::new(self.plan, self.cells, self.figures);
        let groups = self.places_of_choices();
        if let Some((objectives, demand)) = objectives.as_ref().and_then(|o| Some((o, o.demand()?))) {
            let mut workloads: Vec<String> = groups.iter().map(|(w, _, _)| w.clone()).collect();
            workloads.dedup();
            return workloads
                .into_iter()
                .map(|workload| {
                    let members: Vec<usize> =
                        groups.iter().filter(|(w, _, _)| *w == workload).flat_map(|(_, _, m)| m.clone()).collect();
                    let (members, lost) = self.without_losers(&members);
                    if members.is_empty() && lost {
                        return WorkloadAnswer {
                            load: None,
                            ..place(workload, groups[0].1, DecidedBy::Writes, AnswerOutcome::AllLostWrites)
                        };
                    }
                    self.across(&self.names(&members), |keeps| {
                        let candidates = self.carrying(objectives, demand, &self.kept(&members, keeps));
                        self.cheapest_that_meets(workload.clone(), None, candidates)
                    })
                })
                .collect();
        }
        groups
            .into_iter()
            .map(|(workload, load, members)| {
                let (members, lost) = self.without_losers(&members);
                match (&objectives, members.as_slice()) {
                    (_, []) if lost => place(workload, load, DecidedBy::Writes, AnswerOutcome::AllLostWrites),
                    (Some(objectives), members) if is_open(load) => self.across(&self.names(members), |keeps| {
                        let candidates = self.candidates(objectives, &self.kept(members, keeps));
                        self.cheapest_that_meets(workload.clone(), Some(load), candidates)
                    }),
                    (None, _) if is_open(load) => {
                        place(workload, load, DecidedBy::Objective, AnswerOutcome::NoObjective)
                    }
                    (Some(objectives), members) if objectives.has_bounds() => {
                        self.across(&self.names(members), |keeps| {
                            let members = self.kept(members, keeps);
                            self.by_value_within(objectives, workload.clone(), load, &members)
                        })
                    }
                    (_, [only]) if lost => self.only_one_left(workload, load, *only),
                    (_, members) => self.across(&self.names(members), |keeps| {
                        self.by_value(workload.clone(), load, &self.kept(members, keeps))
                    }),
                }
            })
            .collect()
    }
}

fn place(workload: String, load: LoadLevel, by: DecidedBy, outcome: AnswerOutcome) -> WorkloadAnswer {
    let by_money = by == DecidedBy::Value;
    WorkloadAnswer { workload, load: Some(load), by, by_money, outcome, candidates: Vec::new() }
}

/// Why nothing is decided, where no place says what to run, or none that counts.
fn open(all: &[WorkloadAnswer]) -> Reason {
    let every = |is: fn(&AnswerOutcome) -> bool| !all.is_empty() && all.iter().all(|p| is(&p.outcome));
    if every(|o| matches!(o, AnswerOutcome::TooFew { .. })) {
        Reason::TooFewRepetitions
    } else if every(|o| matches!(o, AnswerOutcome::Nothing)) || all.is_empty() {
        Reason::OneConfiguration
    } else if every(|o| matches!(o, AnswerOutcome::NoObjective)) {
        Reason::NoObjective
    } else {
        Reason::Undecided
    }
}

/// Repetitions that would decide every place that repetitions can decide.
fn more_would_decide(all: &[WorkloadAnswer]) -> Option<u32> {
    all.iter()
        .filter_map(|p| match p.outcome {
            AnswerOutcome::Between { repetitions, .. } => repetitions,
            AnswerOutcome::TooFew { .. } => u32::try_from(stats::REPETITIONS_MIN).ok(),
            _ => None,
        })
        .max()
}
