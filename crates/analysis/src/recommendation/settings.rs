//! What is paid for is decided first, then which of the settings of that hardware to run: the best where it is shown to
//! be better than the others, else any of those that nothing distinguishes.
//!
//! Only intervals of all pairs are read, which are adjusted together. So it does no harm that the leader is the one
//! that looks best: each of the others that may be run as well is itself shown to be better than all other hardware.

use super::Answer;
use super::agreement::{Stance, says};
use crate::document::{
    AnswerOutcome, AnyOf, Candidate, CellAnalysis, DecidedBy, Meets, OtherSettings, OverallCandidate, Ratio, Verdict,
    WorkloadAnswer, WorseSettings,
};
use crate::value::kept_its_writes;

impl Answer<'_> {
    pub(super) fn is_of_one_hardware(&self, one: usize, other: usize) -> bool {
        let name = |i: usize| &self.cells[i].configuration;
        self.hardware.is_same(name(one), name(other))
    }

    /// Runs what is on the hardware of `pick`: all contenders give the same throughput, or they all have this hardware
    /// and some other was judged. `None` where that is not so. The first of the experiment is named of those that are
    /// as good: to name the luckiest would promise what its next trials need not keep.
    pub(super) fn run_of(
        &self,
        judged: &[usize],
        contenders: &[usize],
        pick: usize,
        by: DecidedBy,
    ) -> Option<AnswerOutcome> {
        let name = |i: usize| self.cells[i].configuration.clone();
        let is_own = |i: &usize| self.is_of_one_hardware(*i, pick);
        let is_same = |i: usize, than: usize| {
            let ratio = self.throughput.ratio(i, than);
            i == than || ratio.is_some_and(|r| r.verdict == Verdict::Same)
        };
        let are_same = contenders.iter().all(|i| is_same(*i, pick));
        let is_one_hardware = contenders.iter().all(is_own);
        let (mut own, others): (Vec<usize>, Vec<usize>) = judged.iter().copied().partition(is_own);
        if !are_same && (!is_one_hardware || others.is_empty()) {
            return None;
        }
        // Cells stand in the order of the experiment.
        own.sort_unstable();
        let slower = |i: usize, than: &[usize]| {
            let mut ratios = than.iter().filter_map(|other| self.throughput.ratio(i, *other));
            ratios.find(|r| r.verdict == Verdict::Slower)
        };
        let is_best = |i: usize| {
            contenders.contains(&i)
                && slower(i, &own).is_none()
                && others.iter().all(|other| self.is_no_worse(i, *other, by))
        };
        // Where the leader is not shown to be the best, another of its settings may be.
        let pick = if are_same || is_best(pick) { pick } else { contenders.iter().copied().find(|i| is_best(*i))? };
        let is_worse = |i: usize| {
            let mut all = others.iter().filter_map(|other| self.advantage(i, *other, by));
            all.any(|r| r.verdict == Verdict::Slower)
        };
        let is_as_good = |i: usize| is_best(i) || (is_same(i, pick) && slower(i, &own).is_none() && !is_worse(i));
        let mut any = vec![pick];
        for i in own.iter().copied().filter(|i| *i != pick && contenders.contains(i)) {
            let is_tested = |other: &usize| {
                let ratio = self.throughput.ratio(i, *other);
                ratio.is_some_and(|r| r.verdict.is_tested())
            };
            if is_as_good(i) && any.iter().all(is_tested) {
                any.push(i);
            }
        }
        any.sort_unstable();
        let first = any.iter().copied().find(|i| is_best(*i)).filter(|_| is_one_hardware);
        let run = first.unwrap_or(pick);
        let mut settings = OtherSettings {
            any: any.iter().copied().filter(|i| *i != run).map(name).collect(),
            ..OtherSettings::default()
        };
        for i in own.iter().copied().filter(|i| !any.contains(i)) {
            match slower(i, &any).or_else(|| slower(i, &own)) {
                None => settings.open.push(name(i)),
                ratio => settings.worse.push(WorseSettings { configuration: name(i), throughput_ratio: ratio }),
            }
        }
        let same = contenders.iter().copied().filter(|i| *i != run && is_same(*i, run));
        Some(AnswerOutcome::Run {
            configuration: name(run),
            same: same.map(name).collect(),
            settings: (own.len() > 1).then_some(settings),
        })
    }

    /// Shown to be the better choice, or to be as fast for no more money.
    fn is_no_worse(&self, one: usize, other: usize, by: DecidedBy) -> bool {
        let price = |i: usize| self.cells[i].usd_per_month.unwrap_or(f64::INFINITY);
        let costs_no_more = by != DecidedBy::Value || price(one) <= price(other);
        let is_better = self.advantage(one, other, by).is_some_and(|r| r.verdict == Verdict::Faster);
        let is_as_fast = |r: Ratio| matches!(r.verdict, Verdict::Same | Verdict::Faster);
        is_better || (costs_no_more && self.throughput.ratio(one, other).is_some_and(is_as_fast))
    }

    /// How the other candidates of the hardware of `run` stand against the objective.
    pub(super) fn settings_that_meet(&self, candidates: &[Candidate], run: &str) -> Option<OtherSettings> {
        let is_other = |c: &&Candidate| c.configuration != run && self.hardware.is_same(&c.configuration, run);
        let others: Vec<&Candidate> = candidates.iter().filter(is_other).collect();
        let of = |meets: Meets| -> Vec<String> {
            let all = others.iter().filter(|c| c.meets == meets);
            all.map(|c| c.configuration.clone()).collect()
        };
        let worse =
            of(Meets::No).into_iter().map(|configuration| WorseSettings { configuration, throughput_ratio: None });
        (!others.is_empty()).then(|| OtherSettings {
            any: of(Meets::Yes),
            worse: worse.collect(),
            open: of(Meets::NotDecided),
        })
    }

    /// What may be run as well as `run`: of its hardware, accepted in every place, and nowhere shown to differ.
    pub(super) fn any_of(&self, all: &[WorkloadAnswer], everywhere: &[OverallCandidate], run: &str) -> Option<AnyOf> {
        let offered = |name: &str| match everywhere.iter().find(|one| one.configuration == name) {
            Some(one) => one.meets == Meets::Yes,
            None => all.iter().all(|place| says(place, name) == Stance::Run && !is_only_as_fast(place, name)),
        };
        let mut any = vec![run];
        for name in self.setups.iter().map(|s| s.configuration.as_str()) {
            let is_accepted = name != run && self.hardware.is_same(name, run) && offered(name);
            let differs = |other: &&str| {
                let mut ratios = self.ratios(name, other).into_iter();
                ratios.any(|r| matches!(r.verdict, Verdict::Faster | Verdict::Slower))
                    || self.does_more(name, other)
                    || self.does_more(other, name)
            };
            if is_accepted && !any.iter().any(differs) {
                any.push(name);
            }
        }
        let pairs = any.iter().enumerate().flat_map(|(i, one)| {
            let others = any.iter().skip(i + 1);
            others.flat_map(|other| self.ratios(one, other)).collect::<Vec<Ratio>>()
        });
        let tested: Vec<Ratio> = pairs.filter(|r| r.verdict.is_tested()).collect();
        let carries_over = tested.iter().all(|r| r.bound.is_none());
        let apart = tested.iter().filter(|_| carries_over).map(|r| r.high.max(1.0 / r.low));
        let apart = apart.max_by(f64::total_cmp);
        let in_order = self.setups.iter().map(|s| s.configuration.as_str());
        let configurations: Vec<String> = in_order.filter(|n| any.contains(n)).map(str::to_owned).collect();
        (configurations.len() > 1).then_some(AnyOf { configurations, apart })
    }

    /// One configuration against another in each place where both have a figure.
    fn ratios(&self, one: &str, other: &str) -> Vec<Ratio> {
        let cells = |name: &str| -> Vec<usize> {
            let all = 0..self.cells.len();
            all.filter(|i| self.cells[*i].configuration == name).collect()
        };
        let (ones, others) = (cells(one), cells(other));
        let of = |i: &usize| others.iter().filter_map(|j| self.throughput.ratio(*i, *j)).collect::<Vec<Ratio>>();
        ones.iter().flat_map(of).collect()
    }

    /// The hardware that is decided, with all its configurations; empty where it is not, or where one alone has it.
    pub(super) fn decided_hardware(&self, all: &[WorkloadAnswer], run: Option<&str>) -> Vec<String> {
        let Some(of) = run.or_else(|| self.hardware_in_all(all)) else { return Vec::new() };
        let names = self.setups.iter().map(|s| &s.configuration);
        let names: Vec<String> = names.filter(|n| self.hardware.is_same(n, of)).cloned().collect();
        if names.len() > 1 { names } else { Vec::new() }
    }

    /// A configuration of the hardware on which each place has all that it leaves open, where other hardware was
    /// judged.
    fn hardware_in_all<'a>(&self, all: &'a [WorkloadAnswer]) -> Option<&'a str> {
        // What two trials of each leave is no answer, of hardware neither.
        let is_early =
            |place: &WorkloadAnswer| self.cells.iter().filter(|c| place.is_of(c)).all(CellAnalysis::has_few_trials);
        let mut names: Vec<&str> = Vec::new();
        for place in all {
            match (&place.outcome, place.by) {
                (AnswerOutcome::Run { configuration, .. }, _) => names.push(configuration),
                (AnswerOutcome::Between { configurations, .. }, DecidedBy::Value | DecidedBy::Throughput)
                    if !is_early(place) =>
                {
                    names.extend(configurations.iter().map(String::as_str));
                }
                _ => return None,
            }
        }
        let first = names.first().copied()?;
        let priced = |name: &str| {
            let mut cells = self.cells.iter().filter(|c| c.configuration == name);
            cells.any(|c| c.usd_per_month.is_some())
        };
        let is_rival = |i: &usize| {
            let cell = &self.cells[*i];
            let is_judged = cell.valid_trials > 0 && cell.withheld.is_none() && kept_its_writes(self.cells, *i);
            is_judged
                && self.hardware.is_choice(&cell.configuration)
                && priced(&cell.configuration) == priced(first)
                && !self.hardware.is_same(&cell.configuration, first)
        };
        let is_one = names.iter().all(|name| self.hardware.is_same(name, first));
        (is_one && (0..self.cells.len()).any(|i| is_rival(&i))).then_some(first)
    }
}

/// Whether a place runs something else, and this is only as fast: for as much money, or more.
fn is_only_as_fast(place: &WorkloadAnswer, name: &str) -> bool {
    matches!(place.outcome, AnswerOutcome::Run { .. }) && !place.outcome.may_run(name)
}
