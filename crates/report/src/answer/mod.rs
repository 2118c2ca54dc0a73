//! The answer in words: which configuration to run and why, or what keeps that from being decided.
//!
//! `analysis` decides and yields values; here they are only worded. Every number of a sentence is read from the
//! document and rounded, never computed anew, so that a sentence cannot contradict the tables below it.

mod advice;
mod baseline;
mod basis;
mod capacity;
mod carries_over;
mod disk_room;
mod doubts;
mod durability;
mod everywhere;
mod exchange;
mod free;
mod gains;
mod headline;
mod judged;
mod objective;
mod places;
mod ratio;
mod repetitions;
mod settings;
mod steps;
mod undecided;
mod unused;

use analysis::{
    Analysis, AnswerOutcome, CellAnalysis, Check, Criterion, Doubt, Meets, MissesInModel, OfThisMachine, Status,
    Withheld,
};

pub use exchange::Exchange;

pub(crate) use basis::{caution, cautions, spread};
pub(crate) use doubts::{doubt, not_judged};
pub(crate) use places::{cell as cell_name, name as place_name};
pub(crate) use repetitions::chance;
pub(crate) use steps::reason as step_reason;

use crate::cache_curve;
use crate::figures::given;

/// The answer of a run, for its first screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What must stand before the answer; `None` where the evidence was measured.
    pub banner: Option<&'static str>,
    /// `Run gp3-6000`, `Run gp3-6000, with any of 6 settings`, `Not decided`, `No answer yet`.
    pub verdict: String,
    /// Why, with the numbers that decide: the rest of the headline, without a full stop.
    pub because: String,
    /// The step of money that decides, in few words; `None` where none does.
    pub exchange: Option<Exchange>,
    /// A handful of sentences: other places, the next step up, alternatives, what limits the configuration to run, and
    /// what was not tried.
    pub sentences: Vec<String>,
    /// What was not considered, and what a reader must know before believing the answer.
    pub doubts: Vec<String>,
    /// How money is counted, where something has a price, and what page caches rest on besides the data's size.
    pub basis: Vec<String>,
}

impl Answer {
    /// The headline: `Run X: because.`
    pub fn headline(&self) -> String {
        format!("{}: {}.", self.verdict, self.because)
    }

    /// Everything in the order in which it is read: banner, headline, sentences.
    pub fn lines(&self) -> Vec<String> {
        let banner = self.banner.map(str::to_owned);
        banner.into_iter().chain([self.headline()]).chain(self.details().cloned()).collect()
    }

    /// What follows the headline.
    pub fn details(&self) -> impl Iterator<Item = &String> {
        self.sentences.iter().chain(&self.doubts).chain(&self.basis)
    }
}

/// Words the recommendation of a run.
pub fn answer(analysis: &Analysis) -> Answer {
    let recommendation = &analysis.recommendation;
    let verdict = match (&recommendation.run, recommendation.status) {
        (Some(run), Status::Decided) => match &recommendation.any_of {
            Some(any) => format!("Run {run}, with any of {} settings", any.configurations.len()),
            None => format!("Run {run}"),
        },
        (_, Status::NoAnswerYet) => "No answer yet".to_owned(),
        _ => "Not decided".to_owned(),
    };
    let mut headline = headline::headline(analysis);
    headline.because.push_str(&burst_ends(analysis, &headline.because));
    headline.because.push_str(&of_the_model(analysis));
    if let Some(lost) = doubts::losers(analysis) {
        headline.because.push_str(&format!("; {lost}"));
    }
    let mut sentences = Vec::new();
    if cache_curve::is_with_answer(analysis) {
        sentences.extend(cache_curve::sentences(analysis));
    }
    if recommendation.status != Status::NoAnswerYet {
        sentences.extend(settings::sentences(analysis));
        sentences.extend(free::sentences(analysis));
        sentences.extend(undecided::sentences(analysis));
        sentences.extend(capacity::sentences(analysis));
        sentences.extend(steps::sentences(analysis, &headline.reported));
        sentences.extend(objective::alternatives(analysis));
        if analysis.capacities.is_empty() {
            sentences.extend(doubts::limits_of(analysis));
        }
        sentences.extend(unused::sentences(analysis));
        sentences.extend(advice::sentences(analysis));
    }
    // The banner and the sentences on places tell two of them.
    let worth_telling =
        recommendation.doubts.iter().filter(|d| !matches!(d, Doubt::Simulated | Doubt::PlacesUndecided { .. }));
    let mut doubted = doubts::not_considered(analysis);
    doubted.extend(worth_telling.map(|d| doubt(analysis, d)));
    Answer {
        banner: is_simulated(analysis).then_some(doubts::SIMULATED),
        verdict,
        because: headline.because,
        exchange: exchange::exchange(analysis, &headline.reported),
        sentences,
        doubts: doubted,
        basis: basis::basis(analysis),
    }
}

/// Configurations that burst credits carried, each with the time after which a full bucket is empty, as clauses behind
/// a headline that does not tell them yet. Beside a decision for other places, the sentences on these tell it.
fn burst_ends(analysis: &Analysis, headline: &str) -> String {
    let recommendation = &analysis.recommendation;
    let is_of_others = |cell: &CellAnalysis| {
        let mut withheld = recommendation.places.iter().filter(|p| matches!(p.outcome, AnswerOutcome::Withheld { .. }));
        recommendation.status == Status::Decided && withheld.any(|place| place.is_of(cell))
    };
    let mut shortest: Vec<(&str, Withheld)> = Vec::new();
    let cells = analysis.cells.iter().filter(|cell| !is_of_others(cell));
    let cells = cells.filter_map(|c| Some((&c.configuration, c.withheld?)));
    for (name, why) in cells {
        let Some(lasts) = lasts_s(why) else { continue };
        match shortest.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) if lasts_s(*known).is_some_and(|known| known > lasts) => *known = why,
            Some(_) => {}
            None => shortest.push((name, why)),
        }
    }
    let reported = |name: &str| headline.contains(&format!("burst credits carried {name} "));
    let clauses = shortest.iter().filter(|(name, _)| !reported(name));
    clauses.map(|(name, why)| format!("; {}", doubts::withheld(analysis, &[((*name).to_owned(), *why)]))).collect()
}

/// What of the model keeps the answer open, and what to change about it, as clauses behind a headline.
fn of_the_model(analysis: &Analysis) -> String {
    let recommendation = &analysis.recommendation;
    let is_open = recommendation.status == Status::NotDecided;
    let bounds = || analysis.value_of_money.iter().filter_map(|step| step.throughput_ratio.bound.as_ref());
    let is_missed = bounds().any(|bound| bound.by.iter().any(|limited| limited.by == OfThisMachine::PageCache));
    let open_demand =
        |check: &Check| matches!(check.what, Criterion::Throughput { .. }) && check.meets == Meets::NotDecided;
    let is_demanded = |all: &[MissesInModel]| {
        let mut candidates = recommendation.places.iter().flat_map(|place| &place.candidates);
        candidates.any(|candidate| {
            all.iter().any(|of| of.configuration == candidate.configuration) && candidate.checks.iter().any(open_demand)
        })
    };
    let clause = |doubt: &Doubt| match doubt {
        Doubt::CpusRaised { most_scale, .. } => Some(format!(
            "; scale = {} or less in [provider.local] gives each configuration its part of the CPUs",
            given(*most_scale)
        )),
        Doubt::ModelMisses { all, can_be_kept, .. } if is_missed || is_demanded(all) => Some(format!(
            "; page caches here do not miss as often as at full scale: {} would be nearer to it",
            doubts::what_keeps_misses(*can_be_kept)
        )),
        _ => None,
    };
    recommendation.doubts.iter().filter(|_| is_open).filter_map(clause).collect()
}

fn lasts_s(why: Withheld) -> Option<f64> {
    match why {
        Withheld::Burst { lasts_s, .. } | Withheld::BurstOfBytes { lasts_s, .. } => lasts_s,
        _ => None,
    }
}

fn is_simulated(analysis: &Analysis) -> bool {
    analysis.recommendation.doubts.contains(&Doubt::Simulated)
}
