//! Is it worth paying for more? Each configuration against the next cheaper one on the cost-performance frontier.
//!
//! The measure is throughput for money, because the alternative to a faster machine is more of the cheap one: a
//! Cassandra cluster grows by nodes. Whoever gives less per dollar than a cheaper configuration has therefore left the
//! frontier: more of the cheaper one beats it. So the step to a configuration starts at the cheaper one that gives most
//! per dollar. What decides is `gain / cost ratio` with the interval of the gain that all other sentences use, not the
//! point estimate. What is shown to miss a bound of an objective is no part of it: more of that is no alternative.
//! Against a demand all are: more of one carries it.

use experiment::Plan;

use crate::comparisons::{Comparisons, is_open, places};
use crate::document::{
    Bound, CellAnalysis, Meets, Range, Ratio, ValueOfMoney, ValueVerdict, Verdict, Withheld, WorkloadAnswer,
};
use crate::hardware::Hardware;

/// All steps, by workload and load level, cheapest first. Only closed loops: at a given rate throughput says nothing.
/// The `answers` of all places say what misses a bound.
pub fn of_money(
    plan: &Plan,
    cells: &[CellAnalysis],
    hardware: &Hardware,
    throughput: &Comparisons,
    p99: &Comparisons,
    answers: &[WorkloadAnswer],
) -> Vec<ValueOfMoney> {
    let steps = Steps { plan, cells, hardware, throughput, p99, answers };
    places(cells)
        .into_iter()
        .filter(|(_, load, _)| !is_open(*load))
        .flat_map(|(_, _, members)| steps.of_place(&steps.that_count(members)))
        .collect()
}

/// A priced cell with a figure.
#[derive(Debug, Clone, Copy)]
pub struct Priced {
    /// Its place in the document.
    pub cell: usize,
    /// USD a month, above 0.
    pub usd: f64,
    /// Operations per second.
    pub figure: f64,
}

impl Priced {
    /// Operations per second for each dollar a month.
    pub fn per_dollar(&self) -> f64 {
        self.figure / self.usd
    }
}

/// The cells of a place that have a price and a figure, cheapest first; at one price the fastest first.
pub fn priced(cells: &[CellAnalysis], members: &[usize], throughput: &Comparisons) -> Vec<Priced> {
    let mut priced: Vec<Priced> = members
        .iter()
        .filter_map(|i| {
            Some(Priced {
                cell: *i,
                usd: cells[*i].usd_per_month.filter(|usd| *usd > 0.0)?,
                figure: throughput.figure(*i)?,
            })
        })
        .collect();
    priced.sort_by(|a, b| a.usd.total_cmp(&b.usd).then(b.figure.total_cmp(&a.figure)));
    priced
}

/// Whether the configuration of a cell lost no acknowledged write in any of its cells.
pub fn kept_its_writes(cells: &[CellAnalysis], cell: usize) -> bool {
    let name = &cells[cell].configuration;
    !cells.iter().any(|c| c.configuration == *name && c.has_lost_writes())
}

/// Whether the truth may lie above the interval, because this machine limited the more expensive one.
fn may_be_more(ratio: &Ratio) -> bool {
    ratio.bound.as_ref().is_some_and(Bound::may_be_more)
}

struct Steps<'a> {
    plan: &'a Plan,
    cells: &'a [CellAnalysis],
    hardware: &'a Hardware,
    throughput: &'a Comparisons,
    p99: &'a Comparisons,
    answers: &'a [WorkloadAnswer],
}

impl Steps<'_> {
    /// Nothing is said about the value of a configuration that lost acknowledged writes, that misses a bound, or that
    /// nobody chooses.
    fn that_count(&self, members: Vec<usize>) -> Vec<usize> {
        let is_choice = |i: usize| self.hardware.is_choice(&self.cells[i].configuration);
        let members = members.into_iter();
        members.filter(|i| is_choice(*i) && kept_its_writes(self.cells, *i) && !self.misses(*i)).collect()
    }

    /// Whether a cell's configuration is shown to miss a bound there. Places of a demand have no load of their own.
    fn misses(&self, cell: usize) -> bool {
        let here = self.answers.iter().filter(|place| place.load.is_some() && place.is_of(&self.cells[cell]));
        let mut candidates = here.flat_map(|place| &place.candidates);
        candidates.any(|c| c.configuration == self.cells[cell].configuration && c.meets == Meets::No)
    }

    fn of_place(&self, members: &[usize]) -> Vec<ValueOfMoney> {
        let priced = priced(self.cells, members, self.throughput);
        let usable = |p: &&Priced| self.cells[p.cell].withheld.is_none();
        let mut steps: Vec<ValueOfMoney> = Vec::new();
        for (rank, to) in priced.iter().enumerate().skip(1) {
            let cheaper: Vec<Priced> = priced[..rank].iter().filter(usable).copied().collect();
            // What costs nothing is no step of money: it starts at other hardware, where any is cheaper.
            let others: Vec<Priced> = cheaper.iter().filter(|c| !self.is_same(c, to)).copied().collect();
            let beneath = if others.is_empty() { &cheaper } else { &others };
            let from = beneath.iter().max_by(|a, b| a.per_dollar().total_cmp(&b.per_dollar())).copied();
            // Of which of the two cells, and why.
            let reason = |p: &Priced| Some((p.cell, self.cells[p.cell].withheld?));
            let withheld = reason(to).or_else(|| from.is_none().then(|| reason(&priced[0])).flatten());
            let from = from.unwrap_or(priced[0]);
            let dominator = withheld.is_none().then(|| self.dominator(*to, &cheaper)).flatten();
            let (from, verdict) = match (withheld, dominator) {
                (Some(_), _) => (from, ValueVerdict::NotDecided),
                (None, Some((by, verdict))) => (by, verdict),
                (None, None) => (from, self.judge(from, *to)),
            };
            steps.extend(self.step(from, *to, verdict, withheld));
        }
        // The knee: of the steps that are worth it, the one that ends where a dollar buys most.
        let best = priced.iter().filter(usable).max_by(|a, b| a.per_dollar().total_cmp(&b.per_dollar()));
        if let Some(best) = best {
            let name = &self.cells[best.cell].configuration;
            for step in steps.iter_mut().filter(|s| s.to == *name && s.verdict == ValueVerdict::WorthIt) {
                step.knee = true;
            }
        }
        steps
    }

    fn is_same(&self, one: &Priced, other: &Priced) -> bool {
        let name = |p: &Priced| &self.cells[p.cell].configuration;
        self.hardware.is_same(name(one), name(other))
    }

    /// A configuration that costs no more and is at least as fast, with what that makes of `to`: shown slower, or the
    /// same, or not faster by more than the margin and shown to give less for its money. Only what is shown condemns:
    /// an interval that reaches from far below to just above 1 leaves `to` a contender, and the recommendation may
    /// offer it. Where other hardware is cheaper, settings of its own only if they are shown to be faster: `to` is no
    /// worse a choice for settings that are as good.
    fn dominator(&self, to: Priced, cheaper: &[Priced]) -> Option<(Priced, ValueVerdict)> {
        let most = 1.0 + self.plan.decision.margin;
        let has_others = cheaper.iter().any(|c| !self.is_same(c, &to));
        let counts = |c: &Priced, r: &Ratio| r.verdict == Verdict::Slower || !has_others || !self.is_same(c, &to);
        let against: Vec<(Priced, Ratio)> = cheaper
            .iter()
            .filter_map(|c| Some((*c, self.throughput.ratio(to.cell, c.cell)?)))
            .filter(|(c, r)| r.verdict.is_tested() && r.high <= most && !may_be_more(r) && counts(c, r))
            .collect();
        let slower = against.iter().filter(|(_, r)| r.verdict == Verdict::Slower);
        let slower = slower.min_by(|a, b| a.1.median.total_cmp(&b.1.median));
        let same = against.iter().find(|(_, r)| r.verdict == Verdict::Same);
        slower
            .map(|(c, _)| (*c, ValueVerdict::Dominated))
            .or_else(|| same.map(|(c, _)| (*c, ValueVerdict::Same)))
            .or_else(|| {
                let mut others = against.iter().map(|(c, _)| *c);
                let gives_less = |c: &Priced| self.value(*c, to).is_some_and(|v| v.verdict == Verdict::Slower);
                others.find(gives_less).map(|c| (c, ValueVerdict::Dominated))
            })
    }

    /// Throughput for money of `to` over that of `from`.
    fn value(&self, from: Priced, to: Priced) -> Option<Ratio> {
        self.throughput.scaled(to.cell, from.cell, from.usd / to.usd)
    }

    fn judge(&self, from: Priced, to: Priced) -> ValueVerdict {
        match self.value(from, to).map(|v| v.verdict) {
            Some(Verdict::Same) => ValueVerdict::BreakEven,
            Some(Verdict::Faster) => ValueVerdict::WorthIt,
            Some(Verdict::Slower) => ValueVerdict::NotWorthIt,
            _ => ValueVerdict::NotDecided,
        }
    }

    /// Repetitions that would show that a step gives more or less than it costs, or nothing but its price.
    fn repetitions(&self, from: Priced, to: Priced) -> Option<u32> {
        let refuted = self.throughput.repetitions_to_refute(to.cell, from.cell, to.usd / from.usd);
        refuted.into_iter().chain(self.throughput.repetitions_to_equate(to.cell, from.cell)).min()
    }

    fn step(
        &self,
        from: Priced,
        to: Priced,
        verdict: ValueVerdict,
        withheld: Option<(usize, Withheld)>,
    ) -> Option<ValueOfMoney> {
        let ratio = self.throughput.ratio(to.cell, from.cell)?;
        let value = self.value(from, to)?;
        // What it is judged by may be left open where throughput alone is not, and the other way round.
        let bound = match verdict {
            ValueVerdict::Dominated | ValueVerdict::Same => ratio.bound.clone(),
            ValueVerdict::WorthIt | ValueVerdict::NotWorthIt | ValueVerdict::BreakEven | ValueVerdict::NotDecided => {
                value.bound
            }
        };
        let cost_ratio = to.usd / from.usd;
        let gain = (to.figure - from.figure) * self.plan.scale();
        let undecided = verdict == ValueVerdict::NotDecided && withheld.is_none();
        Some(ValueOfMoney {
            workload: self.cells[to.cell].workload.clone(),
            load: self.cells[to.cell].load,
            from: self.cells[from.cell].configuration.clone(),
            to: self.cells[to.cell].configuration.clone(),
            extra_usd_per_month: to.usd - from.usd,
            cost_ratio,
            usd_per_extra_op_per_s: stats::ratio(to.usd - from.usd, gain)
                .filter(|_| bound.is_none() && ratio.low > 1.0 && gain > 0.0),
            value_ratio: Range { median: value.median, low: value.low, high: value.high },
            p99_ratio: self.p99.ratio(to.cell, from.cell).map(|r| r.median),
            repetitions_to_decide: undecided.then(|| self.repetitions(from, to)).flatten(),
            throughput_ratio: Ratio { bound, ..ratio },
            verdict,
            withheld: withheld.map(|(_, why)| why),
            withheld_of: withheld.map(|(cell, _)| self.cells[cell].configuration.clone()),
            knee: false,
        })
    }
}
