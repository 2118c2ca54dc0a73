//! Of which configurations it may be said that one is the only, the best or the cheapest of them.

use analysis::{Analysis, Candidate, ConfigurationFacts, Meets, OverallCandidate, is_one_price};

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

/// Of what is run, which does what is asked: `it is the cheapest that keeps p99 at most 10 ms`; beside one of its price
/// that might, too, `no other that keeps p99 at most 10 ms costs less`. What was not measured there might do it for
/// less, and so might what has no price.
pub fn the_cheapest(analysis: &Analysis, run: &str, judged: &[Judged<'_>], does: &str) -> String {
    let of = |name: &str| judged.iter().find(|one| one.name == name);
    let prices = |c: &ConfigurationFacts| c.usd_per_month.zip(of(run)?.usd);
    let is_no_less = |c: &ConfigurationFacts| prices(c).is_some_and(|(other, usd)| other >= usd);
    let is_as_cheap = |c: &ConfigurationFacts| {
        let might = c.name != run && of(&c.name).is_none_or(|one| one.meets != Meets::No);
        might && prices(c).is_some_and(|(other, usd)| is_one_price(other, usd))
    };
    let all = &analysis.configurations;
    let of_all = match all.iter().all(|c| is_no_less(c) || of(&c.name).is_some_and(Judged::is_known)) {
        true => "",
        false => "of those that were judged ",
    };
    match all.iter().any(is_as_cheap) {
        true => format!("{of_all}no other that {does} costs less"),
        false => format!("{of_all}it is the cheapest that {does}"),
    }
}
