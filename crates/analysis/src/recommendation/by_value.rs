//! Closed loops: throughput for money, or throughput alone where no two configurations have a price.

use experiment::LoadLevel;

use super::{Answer, place};
use crate::document::{AnswerOutcome, DecidedBy, Ratio, Verdict, Withheld, WorkloadAnswer};
use crate::value::priced;

impl Answer<'_> {
    /// Closed loop without an objective: throughput for money, or throughput alone where no two configurations have a
    /// price.
    pub(super) fn by_value(&self, workload: String, load: LoadLevel, members: &[usize]) -> WorkloadAnswer {
        let (by, judged) = self.judged(members);
        let withheld: Vec<(String, Withheld)> = judged
            .iter()
            .filter_map(|i| Some((self.cells[*i].configuration.clone(), self.cells[*i].withheld?)))
            .collect();
        let outcome = if judged.len() < 2 {
            AnswerOutcome::Nothing
        } else if !withheld.is_empty() {
            AnswerOutcome::Withheld { configurations: withheld }
        } else {
            self.best_of(&judged, by)
        };
        place(workload, load, by, outcome)
    }

    /// What decides between these, and those of them that it judges: without a price none where two others have one.
    pub(super) fn judged(&self, members: &[usize]) -> (DecidedBy, Vec<usize>) {
        let with_figure: Vec<usize> =
            members.iter().copied().filter(|i| self.throughput.figure(*i).is_some()).collect();
        let priced = priced(self.cells, &with_figure, self.throughput);
        match priced.len() >= 2 {
            true => (DecidedBy::Value, priced.iter().map(|p| p.cell).collect()),
            false => (DecidedBy::Throughput, with_figure),
        }
    }

    /// How much better a is than b: throughput, or throughput for money.
    pub(super) fn advantage(&self, a: usize, b: usize, by: DecidedBy) -> Option<Ratio> {
        let factor = match by {
            DecidedBy::Value => self.cells[b].usd_per_month? / self.cells[a].usd_per_month?,
            _ => 1.0,
        };
        self.throughput.scaled(a, b, factor)
    }

    fn best_of(&self, judged: &[usize], by: DecidedBy) -> AnswerOutcome {
        let score = |i: usize| {
            let figure = self.throughput.figure(i).unwrap_or(0.0);
            match by {
                DecidedBy::Value => figure / self.cells[i].usd_per_month.unwrap_or(f64::INFINITY),
                _ => figure,
            }
        };
        let Some(leader) = judged.iter().copied().max_by(|a, b| score(*a).total_cmp(&score(*b))) else {
            return AnswerOutcome::Nothing;
        };
        let mut contenders = vec![leader];
        let mut most_pairs = 0;
        let mut tested = false;
        for other in judged.iter().copied().filter(|i| *i != leader) {
            let advantage = self.advantage(leader, other, by);
            most_pairs = most_pairs.max(advantage.as_ref().map_or(0, |r| r.pairs));
            let is_tested = advantage.as_ref().is_some_and(|r| r.verdict.is_tested());
            tested |= is_tested;
            // Shown to be better, and by more than the margin of practical importance: by the leader, or by anything
            // else. What one interval condemns is no choice, whatever is open between it and the leader.
            let is_better = |i: &usize| {
                let advantage = self.advantage(*i, other, by);
                advantage.is_some_and(|r| r.verdict == Verdict::Faster)
            };
            if !judged.iter().filter(|i| **i != other).any(is_better) {
                contenders.push(other);
            }
        }
        if !tested {
            return AnswerOutcome::TooFew { pairs: most_pairs };
        }
        // Several that give the same throughput: the cheapest of them; without prices, the leader.
        let price = |i: usize| self.cells[i].usd_per_month.unwrap_or(f64::INFINITY);
        let pick = contenders.iter().copied().min_by(|a, b| price(*a).total_cmp(&price(*b))).unwrap_or(leader);
        let pick = if by == DecidedBy::Value { pick } else { leader };
        // Of two trials of each an adaptive run learns what it need not repeat, and no answer.
        let is_early = judged.iter().all(|i| self.cells[*i].has_few_trials());
        if let Some(run) = self.run_of(judged, &contenders, pick, by).filter(|_| !is_early) {
            return run;
        }
        self.between(&contenders, by, is_early)
    }

    /// One of these contenders, the leader first, with the repetitions that would decide.
    fn between(&self, contenders: &[usize], by: DecidedBy, is_early: bool) -> AnswerOutcome {
        let leader = contenders[0];
        let name = |i: usize| self.cells[i].configuration.clone();
        let price = |i: usize| self.cells[i].usd_per_month.unwrap_or(f64::INFINITY);
        // Shown to pay for themselves like the leader: more repetitions would not show one to be the better value.
        let is_alike = |i: usize| {
            let value = self.advantage(leader, i, by);
            by == DecidedBy::Value && value.is_some_and(|r| r.verdict == Verdict::Same)
        };
        let rivals = contenders.iter().copied().filter(|i| *i != leader);
        let (alike, open): (Vec<usize>, Vec<usize>) = rivals.partition(|i| is_alike(*i));
        let to_refute = |i: usize| {
            let cost = match by {
                DecidedBy::Value => price(leader) / price(i),
                _ => 1.0,
            };
            self.throughput.repetitions_to_refute(leader, i, cost)
        };
        // What is decided by the cheapest of equals is decided once all that nothing refutes are shown to be equal.
        let stay: Vec<usize> =
            contenders.iter().copied().filter(|i| !open.contains(i) || to_refute(*i).is_none()).collect();
        let to_equate = |all: &[usize]| {
            let cheapest = all.iter().copied().min_by(|a, b| price(*a).total_cmp(&price(*b)));
            let one = cheapest.filter(|_| by == DecidedBy::Value).unwrap_or(leader);
            let others = all.iter().copied().filter(|i| *i != one);
            let each: Option<Vec<u32>> = others.map(|i| self.throughput.repetitions_to_equate(i, one)).collect();
            each?.into_iter().max()
        };
        let needed = |i: &usize| {
            let with_it: Vec<usize> = stay.iter().copied().filter(|other| other != i).chain([*i]).collect();
            to_refute(*i).into_iter().chain(to_equate(&with_it)).min()
        };
        // Settings of the leader's hardware need not be separated for its hardware to be decided.
        let others = open.iter().copied().filter(|i| !self.is_of_one_hardware(*i, leader));
        let others: Vec<usize> = others.collect();
        let deciding = if others.is_empty() { &open } else { &others };
        let break_even = open.is_empty() && !is_early;
        let repetitions: Option<Vec<u32>> = match break_even {
            true => to_equate(contenders).map(|all| vec![all]),
            false => deciding.iter().map(needed).collect(),
        };
        let fewest = u32::try_from(stats::REPETITIONS_MIN).ok().filter(|_| is_early);
        AnswerOutcome::Between {
            configurations: contenders.iter().copied().map(name).collect(),
            break_even,
            alike: alike.into_iter().filter(|_| !break_even).map(name).collect(),
            repetitions: repetitions.and_then(|all| all.into_iter().chain(fewest).max()),
        }
    }
}
