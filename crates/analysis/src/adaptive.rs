//! `repetitions = "adaptive"`: from the evidence so far to the next block, or to the reason why there is none. The same
//! evidence gives the same block.
//!
//! At a look a cell rests where more of it would not change the answer: its place is decided, something else is shown
//! to be the better choice, or not even the most blocks would show what is open. All others make the next block, and
//! the blocks up to the next look. What intervals show already has its share of the level there ([`stats::Looks`]).
//! After two blocks there is no answer: what is beaten by far is spared the third, and nothing else is looked for.

use std::collections::BTreeSet;

use experiment::{Adaptive, Aim, LoadLevel, NextBlock, Plan, PlannedTrial, Resting, RestsBecause};
use stats::{Foreseen, REPETITIONS_MIN};

use crate::comparisons::{Comparisons, is_open};
use crate::document::{
    Analysis, AnswerOutcome, BoundIs, Candidate, CellAnalysis, Check, Criterion, Meets, OverallCandidate, Ratio,
    Status, Verdict, WorkloadAnswer,
};
use crate::figures::looks;
use crate::hardware::Hardware;

/// What a run that may rest cells does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// It goes on.
    Block(NextBlock),
    /// It ends.
    Stop {
        /// Blocks that count.
        after_block: u32,
        /// Why.
        because: StopsBecause,
        /// Cells that rest for a reason of their own; all others went on to the end.
        resting: Vec<Resting>,
    },
}

/// Why a run ends.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum StopsBecause {
    /// The answer's intervals leave nothing open that is to be decided.
    Decided,
    /// With the most blocks there would still be no configuration that is shown to be the choice in every place.
    OutOfReach { blocks_max: u32 },
    /// What is left is bounds on latency that a 1:N model does not decide, however often it is repeated.
    LatencyInModel,
    /// What they leave open is of cells that the user skips.
    Skipped,
    /// There were as many blocks as there may be.
    MostBlocks,
    /// A budget is spent.
    Spent(Budget),
    /// Another block costs more than the present best choice is expected to lose at the most in so many months.
    NotWorthIt { loss_usd: f64, horizon_months: f64, block_usd: f64 },
}

/// What a run may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// So many seconds of trials.
    Seconds(f64),
    /// So many dollars for its trials.
    Usd(f64),
}

/// Which budget is spent, if one is, after trials of so many seconds and dollars.
pub fn spent(adaptive: &Adaptive, trials_s: f64, usd: impl FnOnce() -> Option<f64>) -> Option<Budget> {
    let time = adaptive.budget_s.filter(|budget| trials_s >= *budget);
    let money = || adaptive.budget_usd.filter(|budget| usd().is_some_and(|usd| usd >= *budget));
    time.map(Budget::Seconds).or_else(|| money().map(Budget::Usd))
}

/// An adaptive run up to here.
pub struct SoFar<'a> {
    /// Its plan, with the trials that it was called to.
    pub plan: &'a Plan,
    /// The same plan's.
    pub adaptive: &'a Adaptive,
    /// Seconds that trials took.
    pub trials_s: f64,
    /// Cells of which the user wants no more trials.
    pub skipped: &'a BTreeSet<String>,
}

impl SoFar<'_> {
    /// What comes next; the evidence is analysed where it is looked at.
    pub fn next(&self, analysed: impl FnOnce() -> (Analysis, Comparisons)) -> Next {
        let (done, most) = (self.adaptive.last_block(), self.adaptive.blocks_max);
        let looks = looks(self.plan);
        let stop = |because, resting| Next::Stop { after_block: done, because, resting };
        if let Some(before) = self.adaptive.called.last().filter(|_| done < most && !looks.is_due(done)) {
            let next = self.again(before);
            let skipped = next.cells.is_empty().then_some(StopsBecause::Skipped);
            return match self.spent().map(StopsBecause::Spent).or(skipped) {
                Some(because) => stop(because, next.resting),
                None => Next::Block(next),
            };
        }
        let (analysis, throughput) = analysed();
        let seen = Seen {
            plan: self.plan,
            analysis: &analysis,
            throughput: &throughput,
            hardware: Hardware::of(&analysis.configurations, self.plan.baseline.as_deref()),
            blocks_max: most,
            is_early: u64::from(done) < REPETITIONS_MIN.min(most.into()),
            is_last: done >= most,
            last_share: looks.last_share(),
        };
        let mut why: Vec<Option<RestsBecause>> = (0..analysis.cells.len()).map(|cell| seen.rests(cell)).collect();
        let is_skipped = |cell: &usize| self.skipped.contains(&analysis.cells[*cell].id);
        let all_open = (0..why.len()).filter(|cell| why[*cell].is_none());
        let (skipped, open): (Vec<usize>, Vec<usize>) = all_open.partition(is_skipped);
        for cell in (0..why.len()).filter(is_skipped) {
            // Of one that is skipped from its beginning nobody knows more.
            if matches!(why[cell], None | Some(RestsBecause::NoValidTrial)) {
                why[cell] = Some(RestsBecause::Skipped);
            }
        }
        for cell in open.iter().copied().filter(|cell| seen.is_alone(*cell, &open, &skipped)) {
            why[cell] = Some(RestsBecause::NothingToCompare);
        }
        let (mut cells, mut resting) = (Vec::new(), Vec::new());
        for (cell, why) in analysis.cells.iter().map(|cell| cell.id.clone()).zip(why) {
            match why {
                Some(why) => resting.push(Resting { cell, why }),
                None => cells.push(cell),
            }
        }
        // What is to be run is one configuration: where one place stays open no other decides.
        let rests = |because: RestsBecause| resting.iter().any(|resting| resting.why == because);
        let because = if seen.is_early {
            cells.is_empty().then_some(StopsBecause::Skipped)
        } else if rests(RestsBecause::OutOfReach) {
            Some(StopsBecause::OutOfReach { blocks_max: most })
        } else if cells.is_empty() && rests(RestsBecause::LatencyInModel) {
            Some(StopsBecause::LatencyInModel)
        } else if cells.is_empty() {
            Some(if skipped.is_empty() { StopsBecause::Decided } else { StopsBecause::Skipped })
        } else if done >= most {
            Some(StopsBecause::MostBlocks)
        } else {
            self.spent().map(StopsBecause::Spent).or_else(|| self.not_worth_it(&seen, &cells))
        };
        match because {
            Some(because) => stop(because, resting),
            None => Next::Block(NextBlock { block: done + 1, cells, resting }),
        }
    }

    /// Between two looks: the cells of the block before, without those that the user skips meanwhile, and with those
    /// that are skipped no more. Nothing is analysed, whatever is skipped: the next look has its share of the level
    /// once.
    fn again(&self, before: &NextBlock) -> NextBlock {
        let (mut cells, mut resting) = (Vec::new(), Vec::new());
        for cell in self.plan.cells.iter().map(|cell| cell.id.clone()) {
            let rested = before.resting.iter().find(|rested| rested.cell == cell);
            match rested.filter(|rested| rested.why != RestsBecause::Skipped) {
                Some(rested) => resting.push(rested.clone()),
                None if self.skipped.contains(&cell) => resting.push(Resting { cell, why: RestsBecause::Skipped }),
                None => cells.push(cell),
            }
        }
        NextBlock { block: self.adaptive.last_block() + 1, cells, resting }
    }

    fn spent(&self) -> Option<Budget> {
        spent(self.adaptive, self.trials_s, || self.plan.usd_of(self.plan.trials.iter()))
    }

    /// Knowing everything would be worth what the present best choice is expected to lose, and a block tells less than
    /// everything: where it costs more than that it cannot pay for itself.
    fn not_worth_it(&self, seen: &Seen<'_>, cells: &[String]) -> Option<StopsBecause> {
        let Aim::Answer { horizon_months: Some(horizon_months) } = self.adaptive.aim else { return None };
        let block = self.adaptive.last_block() + 1;
        let trials: Vec<PlannedTrial> = cells.iter().map(|cell| PlannedTrial { block, cell: cell.clone() }).collect();
        let block_usd = self.plan.usd_of(trials.iter())?;
        let loss_usd = seen.loses_usd_per_month(cells)? * horizon_months;
        (loss_usd < block_usd).then_some(StopsBecause::NotWorthIt { loss_usd, horizon_months, block_usd })
    }
}

/// What is seen at a look.
struct Seen<'a> {
    plan: &'a Plan,
    analysis: &'a Analysis,
    throughput: &'a Comparisons,
    hardware: Hardware,
    blocks_max: u32,
    /// Whether there were fewer blocks than an answer takes.
    is_early: bool,
    /// Whether there were as many as there may be.
    is_last: bool,
    /// The share of the level that the last look has.
    last_share: f64,
}

impl Seen<'_> {
    /// Why a cell rests; `None` where more of it may change the answer.
    fn rests(&self, cell: usize) -> Option<RestsBecause> {
        let own = &self.analysis.cells[cell];
        let answer = &self.analysis.recommendation;
        if self.is_early {
            return self.rests_early(cell, answer.places.iter().find(|place| place.is_of(own))?);
        }
        if own.valid_trials == 0 {
            return Some(RestsBecause::NoValidTrial);
        }
        if let (Status::Decided, Some(run)) = (answer.status, &answer.run) {
            return Some(RestsBecause::Decided { run: run.clone() });
        }
        let Some(place) = answer.places.iter().find(|place| place.is_of(own)) else {
            return Some(RestsBecause::NothingToCompare);
        };
        if !answer.everywhere.is_empty() {
            return self.rests_everywhere(own, place);
        }
        match &place.outcome {
            AnswerOutcome::Run { configuration, .. } => Some(RestsBecause::Decided { run: configuration.clone() }),
            AnswerOutcome::TooFew { .. } => None,
            AnswerOutcome::Between { break_even: true, configurations, .. }
                if configurations.contains(&own.configuration) =>
            {
                match meets(place, &own.configuration) {
                    _ if self.may_be_equal(place, configurations) => None,
                    // Where it is shown to miss a bound, the others are left.
                    Some(Meets::NotDecided) => self.rests_against_bounds(own, place),
                    _ => Some(RestsBecause::Alike),
                }
            }
            AnswerOutcome::Between { configurations, .. } => self.rests_between(cell, place, configurations),
            AnswerOutcome::Unlike { best } => {
                match best.iter().find(|best| best.configurations.contains(&own.configuration)) {
                    Some(best) if best.configurations.len() == 1 => Some(RestsBecause::BestOfAlike),
                    Some(best) => self.rests_between(cell, place, &best.configurations),
                    None => Some(self.beaten(cell, place)),
                }
            }
            AnswerOutcome::Withheld { .. } => Some(RestsBecause::Withheld),
            AnswerOutcome::Nothing | AnswerOutcome::NoObjective => Some(RestsBecause::NothingToCompare),
            AnswerOutcome::NoneMeets => Some(RestsBecause::Misses),
            AnswerOutcome::AllLostWrites => Some(RestsBecause::NotConsidered),
        }
    }

    /// Nothing is answered by two trials: what is shown to be beaten rests, but never one of the two that look best in
    /// its place. Where bounds or durability count, what beats it may not be a choice.
    fn rests_early(&self, cell: usize, place: &WorkloadAnswer) -> Option<RestsBecause> {
        if !matches!(place.outcome, AnswerOutcome::Between { .. }) || !place.candidates.is_empty() {
            return None;
        }
        let looks_better = |other: &usize| self.over(place, *other, cell).is_some_and(|ratio| ratio.median > 1.0);
        let better = self.considered_at(place).into_iter().filter(looks_better);
        let why = self.beaten(cell, place);
        (better.count() >= 2 && matches!(why, RestsBecause::Beaten { .. })).then_some(why)
    }

    /// The choice is between these configurations.
    fn rests_between(&self, cell: usize, place: &WorkloadAnswer, open: &[String]) -> Option<RestsBecause> {
        let own = &self.analysis.cells[cell];
        let meets = meets(place, &own.configuration);
        match (open.contains(&own.configuration), is_by_throughput(place)) {
            (false, _) if meets == Some(Meets::No) => Some(RestsBecause::Misses),
            (false, true) => Some(self.beaten(cell, place)),
            (false, false) => Some(RestsBecause::CheaperMeets),
            (true, true) if !self.is_last && self.is_out_of_reach(place, open) => Some(RestsBecause::OutOfReach),
            (true, true) if open.len() > 1 => None,
            // One alone has nothing to be compared with.
            (true, _) => self.rests_against_bounds(own, place),
        }
    }

    /// Whether a cell is the last one of those that are open in its place, where all others of them are skipped and it
    /// would have to be compared with them.
    fn is_alone(&self, cell: usize, open: &[usize], skipped: &[usize]) -> bool {
        let own = &self.analysis.cells[cell];
        let Some(place) = self.analysis.recommendation.places.iter().find(|place| place.is_of(own)) else {
            return false;
        };
        let are_bounds_open = meets(place, &own.configuration) == Some(Meets::NotDecided);
        let is_beside = |other: &usize| *other != cell && place.is_of(&self.analysis.cells[*other]);
        let is_compared = is_by_throughput(place) && !are_bounds_open;
        is_compared && skipped.iter().any(is_beside) && !open.iter().any(is_beside)
    }

    /// An objective has to be met in every place: whoever misses it in one is out in all.
    fn rests_everywhere(&self, own: &CellAnalysis, place: &WorkloadAnswer) -> Option<RestsBecause> {
        let all = &self.analysis.recommendation.everywhere;
        let Some(overall) = all.iter().find(|one| one.configuration == own.configuration) else {
            return Some(RestsBecause::NotConsidered);
        };
        let costs_no_more = |other: &OverallCandidate| match (other.usd_per_month, overall.usd_per_month) {
            (Some(other), Some(ours)) => other <= ours,
            _ => false,
        };
        match overall.meets {
            Meets::Yes => Some(RestsBecause::Meets),
            Meets::No => Some(RestsBecause::Misses),
            Meets::NotDecided if all.iter().any(|other| other.meets == Meets::Yes && costs_no_more(other)) => {
                Some(RestsBecause::CheaperMeets)
            }
            Meets::NotDecided => self.rests_against_bounds(own, place),
        }
    }

    fn rests_against_bounds(&self, own: &CellAnalysis, place: &WorkloadAnswer) -> Option<RestsBecause> {
        let candidate = candidate(place, &own.configuration)?;
        match candidate.meets {
            Meets::Yes => Some(RestsBecause::Meets),
            Meets::No => Some(RestsBecause::Misses),
            Meets::NotDecided if own.withheld.is_some() => Some(RestsBecause::Withheld),
            Meets::NotDecided if is_left_to_full_scale(&candidate.checks, own.load, self.plan.scale()) => {
                Some(RestsBecause::LatencyInModel)
            }
            Meets::NotDecided => None,
        }
    }

    /// Something in its place is shown to be better than a cell; else it is no choice.
    fn beaten(&self, cell: usize, place: &WorkloadAnswer) -> RestsBecause {
        let is_better = |other: &usize| {
            let ratio = self.over(place, *other, cell);
            ratio.is_some_and(|ratio| ratio.verdict == Verdict::Faster)
        };
        match self.considered_at(place).into_iter().find(is_better) {
            Some(by) => RestsBecause::Beaten { by: self.analysis.cells[by].configuration.clone() },
            None => RestsBecause::NotConsidered,
        }
    }

    /// One cell over another, by what decides in their place; `None` for a cell and itself.
    fn over(&self, place: &WorkloadAnswer, one: usize, other: usize) -> Option<Ratio> {
        self.throughput.scaled(one, other, self.factor(place, one, other))
    }

    fn cells_at(&self, place: &WorkloadAnswer) -> Vec<usize> {
        (0..self.analysis.cells.len()).filter(|i| place.is_of(&self.analysis.cells[*i])).collect()
    }

    /// The same without those of configurations that are not chosen from.
    fn considered_at(&self, place: &WorkloadAnswer) -> Vec<usize> {
        let others = &self.analysis.recommendation.not_considered;
        let mut cells = self.cells_at(place);
        cells.retain(|i| !others.iter().any(|one| one.configuration == self.analysis.cells[*i].configuration));
        cells
    }

    /// What makes a ratio of throughputs, of one cell over another, one of throughput for money, where that decides.
    fn factor(&self, place: &WorkloadAnswer, one: usize, other: usize) -> f64 {
        let usd = |i: usize| self.analysis.cells[i].usd_per_month.filter(|usd| *usd > 0.0);
        match (usd(one), usd(other)) {
            (Some(one), Some(other)) if place.by_money => other / one,
            _ => 1.0,
        }
    }

    /// Whether not even the most blocks would show one of these to be the choice: there, or, since one is run in all
    /// places, in another one. The best of those that keep alike when a node is lost is not run by itself.
    fn is_out_of_reach(&self, place: &WorkloadAnswer, open: &[String]) -> bool {
        let is_one_run = matches!(place.outcome, AnswerOutcome::Between { .. });
        let may_be_run = |name: &String| {
            let mut places = self.analysis.recommendation.places.iter();
            let is_left = |other: &WorkloadAnswer| std::ptr::eq(other, place) || self.may_run(other, name);
            self.may_be_choice(place, open, name) && (!is_one_run || places.all(is_left))
        };
        !open.iter().any(may_be_run)
    }

    /// Whether a place may say, with the most blocks, to run this.
    fn may_run(&self, place: &WorkloadAnswer, name: &str) -> bool {
        let is_one_of = |names: &[String]| names.iter().any(|one| one == name);
        match &place.outcome {
            AnswerOutcome::Run { same, .. } => place.outcome.may_run(name) || is_one_of(same),
            AnswerOutcome::Between { configurations, break_even, .. } if is_by_throughput(place) => {
                is_one_of(configurations) && (*break_even || self.may_be_choice(place, configurations, name))
            }
            _ => true,
        }
    }

    /// Whether the most blocks may show this one of those that are open to be the choice there; a bound that is open
    /// may leave any of them. Settings of one hardware need not be distinguished where there is other hardware.
    fn may_be_choice(&self, place: &WorkloadAnswer, open: &[String], one: &str) -> bool {
        let mut cells = self.cells_at(place);
        cells.retain(|i| open.contains(&self.analysis.cells[*i].configuration));
        let name = |i: usize| self.analysis.cells[i].configuration.as_str();
        let is_same = |a: usize, b: usize| self.hardware.is_same(name(a), name(b));
        let are_settings = cells.iter().all(|i| is_same(*i, cells[0]));
        let may_win = |one: usize| {
            let mut rivals = cells.iter().copied().filter(|other| *other != one);
            rivals.all(|other| (!are_settings && is_same(one, other)) || self.may_win(place, one, other))
        };
        let are_bounds_open = open.iter().any(|name| meets(place, name) == Some(Meets::NotDecided));
        are_bounds_open || cells.iter().copied().filter(|i| name(*i) == one).any(may_win)
    }

    /// Whether the most blocks may show a cell to be a better choice than another, or to be as fast.
    fn may_win(&self, place: &WorkloadAnswer, one: usize, other: usize) -> bool {
        let Some(foreseen) = self.foreseen(one, other) else { return true };
        let bound = self.throughput.bound(one, other).map(|bound| bound.is);
        let carries = !matches!(bound, Some(BoundIs::AtMost | BoundIs::Nothing));
        let may_be_better = carries && foreseen.high + self.factor(place, one, other).ln() > foreseen.half;
        may_be_better || self.may_be_same(one, other)
    }

    /// Whether the most blocks may show that a cell is as fast as another.
    fn may_be_same(&self, one: usize, other: usize) -> bool {
        let Some(foreseen) = self.foreseen(one, other) else { return true };
        let apart = foreseen.low.max(-foreseen.high).max(0.0);
        let is_within = apart + foreseen.narrowest <= (1.0 + self.plan.decision.margin).ln();
        is_within && self.throughput.bound(one, other).is_none()
    }

    /// Whether more blocks may show that all of these that pay for themselves alike give the same throughput, which
    /// decides for the cheapest of them.
    fn may_be_equal(&self, place: &WorkloadAnswer, alike: &[String]) -> bool {
        let mut cells = self.cells_at(place);
        cells.retain(|i| alike.contains(&self.analysis.cells[*i].configuration));
        let most = 1.0 + self.plan.decision.margin;
        let is_left_open = |one: usize, other: usize| {
            let ratio = self.throughput.ratio(one, other);
            ratio.is_none_or(|r| r.bound.is_none() && r.low <= most && r.high >= 1.0 / most)
        };
        let may_be = |one: usize, other: usize| self.is_last || self.may_be_same(one, other);
        let mut pairs = cells.iter().enumerate().flat_map(|(at, one)| cells[at + 1..].iter().map(move |i| (*one, *i)));
        pairs.all(|(one, other)| is_left_open(one, other) && may_be(one, other))
    }

    /// One cell over another with the most blocks; `None` where nothing is tested.
    fn foreseen(&self, one: usize, other: usize) -> Option<Foreseen> {
        let (contrast, level) = self.throughput.tested(one, other, self.last_share)?;
        contrast.foreseen(self.blocks_max, level)
    }

    /// USD a month that are expected to be lost at the most by running what leads now, in the place that is worst, of
    /// those where these cells are: one of the leader, against as many of another as give its throughput. `None` where
    /// that is not known.
    fn loses_usd_per_month(&self, cells: &[String]) -> Option<f64> {
        let is_open = |place: &&WorkloadAnswer| {
            let mut here = self.cells_at(place).into_iter();
            here.any(|i| cells.contains(&self.analysis.cells[i].id))
        };
        let mut open = self.analysis.recommendation.places.iter().filter(is_open);
        open.try_fold(0.0, |worst: f64, place| Some(worst.max(self.loses_at(place)?)))
    }

    /// The sum over all others is no less than what the best of them gives more (as Bonferroni's bound), and ln of a
    /// ratio no less than the share of the price that it saves.
    fn loses_at(&self, place: &WorkloadAnswer) -> Option<f64> {
        let AnswerOutcome::Between { configurations, .. } = &place.outcome else { return None };
        let name = |i: usize| &self.analysis.cells[i].configuration;
        let mut cells = self.cells_at(place);
        cells.retain(|i| self.analysis.cells[*i].valid_trials > 0);
        let leader = cells.iter().copied().find(|i| configurations.first() == Some(name(*i)))?;
        let mut rivals = cells.iter().copied().filter(|i| *i != leader);
        let share = rivals.try_fold(0.0, |sum: f64, rival| {
            let (contrast, _) = self.throughput.tested(rival, leader, 1.0)?;
            Some(sum + contrast.expected_above(1.0 / self.factor(place, rival, leader))?)
        })?;
        Some(self.analysis.cells[leader].usd_per_month? * share)
    }
}

/// Whether a 1:`scale` model leaves open what narrower intervals would leave open, too: a bound on latency is missed by
/// less than what shows a miss at full scale, and no other part may be shown to be missed.
fn is_left_to_full_scale(checks: &[Check], load: LoadLevel, scale: f64) -> bool {
    let may_miss = |check: &Check| match check.what {
        Criterion::Latency { limit_us, .. } => check.measured.is_none_or(|range| range.high > limit_us * scale),
        // A rate that is held is the least that is carried.
        Criterion::Throughput { .. } => !is_open(load),
        Criterion::RateHeld | Criterion::ErrorShare { .. } => true,
    };
    let mut open = checks.iter().filter(|check| check.meets == Meets::NotDecided);
    let is_missed = checks.iter().any(|check| check.beyond().is_some_and(|(_, high)| high <= scale));
    is_missed && !open.any(may_miss)
}

/// Whether throughput decides there, for money or alone, perhaps within bounds.
fn is_by_throughput(place: &WorkloadAnswer) -> bool {
    place.load.is_some_and(|load| !is_open(load))
}

fn candidate<'a>(place: &'a WorkloadAnswer, configuration: &str) -> Option<&'a Candidate> {
    place.candidates.iter().find(|candidate| candidate.configuration == configuration)
}

fn meets(place: &WorkloadAnswer, configuration: &str) -> Option<Meets> {
    candidate(place, configuration).map(|candidate| candidate.meets)
}

#[cfg(test)]
mod tests;
