//! Ratios in words, and why one is only a bound.

use analysis::{Bound, BoundIs, LimitedHere, OfThisMachine, Ratio, each_once};

use crate::figures::{listed, number, when};

/// A ratio: `1.92 times (1.80 to 2.05)`; where nothing was tested the observed range says that it is one. Ends
/// that are equal to three digits are left out. Where this machine limited one side, what carries over: `at least 1.80
/// times`.
pub fn times(ratio: &Ratio) -> String {
    let factor = format!("{} times", number(ratio.median));
    let (low, high) = (number(ratio.low), number(ratio.high));
    let is_tested = ratio.verdict.is_tested();
    match ratio.bound.as_ref().map(|bound| bound.is).filter(|_| is_tested) {
        Some(BoundIs::AtLeast) => return format!("at least {low} times"),
        Some(BoundIs::AtMost) => return format!("at most {high} times"),
        Some(BoundIs::Nothing) | None => {}
    }
    match (is_tested, low != high) {
        (_, false) => factor,
        (true, true) => format!("{factor} ({low} to {high})"),
        (false, true) => format!("{factor} ({low} to {high} observed)"),
    }
}

/// Why ratios are bounds, behind a clause that gives them; empty where all of them carry over.
pub fn beyond<'a>(ratios: impl IntoIterator<Item = &'a Ratio>) -> String {
    let tested = ratios.into_iter().filter(|ratio| ratio.verdict.is_tested());
    let bounds: Vec<&Bound> = tested.filter_map(|ratio| ratio.bound.as_ref()).collect();
    let of = |is: BoundIs| -> Vec<&LimitedHere> {
        bounds.iter().filter(|bound| bound.is == is).flat_map(|bound| &bound.by).collect()
    };
    let nothing = of(BoundIs::Nothing);
    let of_model = |by: OfThisMachine| -> Vec<&LimitedHere> {
        nothing.iter().copied().filter(|limited| limited.by == by).collect()
    };
    let of_machine =
        |limited: &&LimitedHere| !matches!(limited.by, OfThisMachine::LeastCpus | OfThisMachine::PageCache);
    let held_back: Vec<&LimitedHere> = nothing.iter().copied().filter(of_machine).collect();
    let clauses = [
        reported(&of(BoundIs::AtLeast), |here, names| {
            let whose = each(names, "'s", "that of ");
            format!("beyond that this machine's {here} was measured, not {whose}")
        }),
        reported(&of(BoundIs::AtMost), |here, names| {
            format!("this machine's {here} held {} back, which may do more", listed(names))
        }),
        reported(&held_back, |here, names| {
            format!("this machine's {here} held {} back, so that this is not carried over", listed(names))
        }),
        reported(&of_model(OfThisMachine::LeastCpus), |_, names| {
            format!(
                "a database cannot be given as little CPU as the part of {} is in this model, so that this is not \
                 carried over",
                listed(names)
            )
        }),
        reported(&of_model(OfThisMachine::PageCache), |_, names| {
            format!(
                "reads of {} do not miss the page cache as often at full scale as in this model, so that this is not \
                 carried over",
                listed(names)
            )
        }),
    ];
    let clauses: Vec<String> = clauses.into_iter().flatten().collect();
    when(!clauses.is_empty(), || format!(": {}", clauses.join("; ")))
}

/// One name with its ending, or several behind their beginning: `gp3's`, `that of gp3 and io2`.
fn each(names: &[String], ending: &str, beginning: &str) -> String {
    match names {
        [only] => format!("{only}{ending}"),
        all => format!("{beginning}{}", listed(all)),
    }
}

/// What of this machine limited whom, each once, in a clause; `None` where nothing did.
fn reported(all: &[&LimitedHere], clause: impl Fn(&str, &[String]) -> String) -> Option<String> {
    let resources = each_once(all.iter().map(|limited| limited.by.words().to_owned()));
    let names = each_once(all.iter().map(|limited| limited.configuration.clone()));
    (!names.is_empty()).then(|| clause(&listed(&resources), &names))
}
