//! No configuration is preferred to one that keeps more when a node is lost: no speed makes up for data that is gone.

use experiment::DurabilityRule;

use super::Answer;
use crate::document::{AnswerOutcome, BestOfAlike, Candidate, Durability, Meets, OverallCandidate, WorkloadAnswer};

impl Answer<'_> {
    /// The answer of a place among these configurations. `answer` gives it of those that it is asked to keep.
    pub(super) fn across(
        &self,
        names: &[&str],
        answer: impl Fn(&dyn Fn(&str) -> bool) -> WorkloadAnswer,
    ) -> WorkloadAnswer {
        let whole = answer(&|_| true);
        let groups = self.alike(names);
        if groups.len() < 2 || self.plan.decision.durability == DurabilityRule::Ignore {
            return whole;
        }
        if !self.gives_up(&whole.outcome, &groups) {
            return whole;
        }
        let best = groups.iter().map(|(durability, names)| BestOfAlike {
            durability: *durability,
            configurations: best_of(answer(&|name| names.contains(&name)).outcome, names),
        });
        let best: Vec<BestOfAlike> = best.filter(|best| !best.configurations.is_empty()).collect();
        match best.len() {
            0 | 1 => whole,
            _ => WorkloadAnswer { outcome: AnswerOutcome::Unlike { best }, ..whole },
        }
    }

    /// The answer where an objective must be met in every place.
    pub(super) fn of_everywhere(&self, all: &[WorkloadAnswer], everywhere: &[OverallCandidate]) -> AnswerOutcome {
        let candidate = |one: &OverallCandidate| Candidate {
            configuration: one.configuration.clone(),
            usd_per_month: one.usd_per_month,
            meets: one.meets,
            checks: Vec::new(),
            fleet: one.fleet,
        };
        let candidates: Vec<Candidate> = everywhere.iter().map(candidate).collect();
        let fewest = |name: &str| {
            let each = all.iter().map(|place| self.trials_under(&place.workload, name));
            each.min().unwrap_or(0)
        };
        self.cheapest(&candidates, &fewest)
    }

    /// The same of all places together, among those that might meet the objective in each.
    pub(super) fn gives_up_everywhere(&self, outcome: &AnswerOutcome, everywhere: &[OverallCandidate]) -> bool {
        let might = everywhere.iter().filter(|one| one.meets != Meets::No);
        let names: Vec<&str> = might.map(|one| one.configuration.as_str()).collect();
        self.plan.decision.durability == DurabilityRule::Separate && self.gives_up(outcome, &self.alike(&names))
    }

    /// Configurations by what they keep, in the order of the experiment.
    fn alike<'n>(&self, names: &[&'n str]) -> Vec<(Durability, Vec<&'n str>)> {
        let mut groups: Vec<(Durability, Vec<&str>)> = Vec::new();
        for facts in self.configurations {
            let Some(name) = names.iter().find(|name| **name == facts.name) else { continue };
            let durability = Durability::of(facts);
            match groups.iter_mut().find(|(known, _)| known.keeps_like(&durability)) {
                Some((_, names)) => names.push(name),
                None => groups.push((durability, vec![name])),
            }
        }
        groups
    }

    /// Whether it prefers, or might prefer, a configuration to one that keeps something more.
    fn gives_up(&self, outcome: &AnswerOutcome, groups: &[(Durability, Vec<&str>)]) -> bool {
        let chosen: Vec<&String> = match outcome {
            AnswerOutcome::Run { configuration, .. } => vec![configuration],
            AnswerOutcome::Between { configurations, .. } => configurations.iter().collect(),
            _ => return false,
        };
        let keeps_all = |name: &String| {
            let own = groups.iter().find(|(_, names)| names.contains(&name.as_str()));
            own.is_some_and(|(own, _)| groups.iter().all(|(other, _)| own.keeps_what(other)))
        };
        !chosen.iter().all(|name| keeps_all(name))
    }
}

/// What would be chosen of configurations that keep alike.
fn best_of(outcome: AnswerOutcome, names: &[&str]) -> Vec<String> {
    match outcome {
        AnswerOutcome::Run { configuration, .. } => vec![configuration],
        AnswerOutcome::Between { configurations, .. } => configurations,
        AnswerOutcome::NoneMeets | AnswerOutcome::AllLostWrites => Vec::new(),
        // A single one is the best of its kind.
        _ => names.iter().map(|name| (*name).to_owned()).collect(),
    }
}
