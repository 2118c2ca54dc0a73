//! Of which configurations it may be said that one is the only, the best or the cheapest of them.

use analysis::{Analysis, Candidate, Meets, OverallCandidate};

/// Behind a claim that prices do not decide, because no two configurations have one.
pub const WITHOUT_PRICES: &str = ", and prices are missing, so that cost does not count";

/// A configuration that was held against what is asked: its price, and whether it meets that.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    name: &'a str,
    usd: Option<f64>,
    meets: Meets,
}

impl<'a> From<&'a Candidate> for Judged<'a> {
    fn from(of: &'a Candidate) -> Self {
        Self { name: &of.configuration, usd: of.usd_per_month, meets: of.meets }
    }
}

impl<'a> From<&'a OverallCandidate> for Judged<'a> {
    fn from(of: &'a OverallCandidate) -> Self {
        Self { name: &of.configuration, usd: of.usd_per_month, meets: of.meets }
    }
}

impl Judged<'_> {
    /// Whether a price would say nothing new of it.
    fn is_known(&self) -> bool {
        self.usd.is_some() || self.meets == Meets::No
    }
}

/// Whether there are others, all of which miss what is asked.
pub fn is_only(judged: &[Judged<'_>], run: &str) -> bool {
    judged.len() > 1 && judged.iter().all(|one| one.name == run || one.meets == Meets::No)
}

/// Whether each configuration was held against what is asked, and has a price where that matters.
pub fn all_judged(analysis: &Analysis, judged: &[Judged<'_>], by_money: bool) -> bool {
    let is_it = |one: &Judged<'_>, name: &str| one.name == name && (!by_money || one.is_known());
    analysis.configurations.iter().all(|c| judged.iter().any(|one| is_it(one, &c.name)))
}

/// Of what is run, where all others that were judged miss what is asked: `it is the only one`. What was not measured
/// there might meet it, too.
pub fn the_only_one(analysis: &Analysis, judged: &[Judged<'_>]) -> &'static str {
    match all_judged(analysis, judged, false) {
        true => "it is the only one",
        false => "of those that were judged it is the only one",
    }
}

/// Of what is run, which costs so much: `it is the cheapest`. What was not measured there might meet what is asked for
/// less, and so might what has no price.
pub fn the_cheapest(analysis: &Analysis, usd: Option<f64>, judged: &[Judged<'_>]) -> &'static str {
    let is_no_less = |other: Option<f64>| other.zip(usd).is_some_and(|(other, usd)| other >= usd);
    let is_judged = |name: &str| judged.iter().any(|one| one.name == name && one.is_known());
    match analysis.configurations.iter().all(|c| is_no_less(c.usd_per_month) || is_judged(&c.name)) {
        true => "it is the cheapest",
        false => "of those that were judged it is the cheapest",
    }
}
