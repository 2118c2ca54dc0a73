//! What the deciding step of money gives, in the few words that stand large on the page.

use analysis::{Analysis, BoundIs, Ratio, Status, ValueOfMoney, ValueVerdict, Verdict};

use super::baseline::{named, ratios, usd};
use super::headline::runs;
use super::{places, steps};
use crate::figures::{number, when};
use crate::labels;

/// A step of money: what is paid more, and what that gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// `+15 % cost`, `2.40 times the cost`, `the same cost`.
    pub cost: String,
    /// `at least 8.81 times the throughput`; `only 1.02 times the throughput`, where that is not worth it.
    pub gain: String,
    /// Of what, and where, if that is not everywhere: `local-nvme instead of gp3-12000 under reads, $82.00 more a
    /// month: worth it`; `io2 instead of gp2, the baseline, $500.00 more a month`.
    pub of: String,
}

/// What is run against the stated baseline, where a difference is shown, or that there is none; else the first step
/// whose numbers are in the headline of a decided answer. `None` where it was not tested, or where what was measured
/// does not carry over.
pub fn exchange(analysis: &Analysis, reported: &[&ValueOfMoney]) -> Option<Exchange> {
    let starts_at_baseline = reported.first().is_some_and(|step| step.from == analysis.baseline);
    if let Some(exchange) = to_baseline(analysis).filter(|_| !starts_at_baseline) {
        return Some(exchange);
    }
    let is_decided = analysis.recommendation.status == Status::Decided;
    let mut groups = steps::alike(reported.to_vec()).into_iter();
    let mut group = groups.next().filter(|group| is_decided && group.iter().all(|step| is_said(step)))?;
    group.sort_by(|a, b| a.throughput_ratio.median.total_cmp(&b.throughput_ratio.median));
    let (least, most) = (*group.first()?, *group.last()?);
    let (low, high) = (factor(&least.throughput_ratio), factor(&most.throughput_ratio));
    let gain = when(low != high, || format!(" up to {high}"));
    let only = when(least.verdict != ValueVerdict::WorthIt, || "only ".to_owned());
    let dollars =
        when(least.extra_usd_per_month != 0.0, || format!(", {} more a month", labels::usd(least.extra_usd_per_month)));
    // Elsewhere another step decides, or none.
    let is_everywhere = group.len() == analysis.recommendation.places.len();
    let place = when(!is_everywhere, || places::all(analysis, group.iter().map(|step| (&step.workload, step.load))));
    Some(Exchange {
        cost: cost(least.cost_ratio),
        gain: format!("{only}{low}{gain} the throughput"),
        of: format!("{} instead of {}{place}{dollars}: {}", least.to, least.from, labels::verdict_words(least)),
    })
}

/// Of the configuration to run against what the reader has today, whatever stands between the two.
fn to_baseline(analysis: &Analysis) -> Option<Exchange> {
    let recommendation = &analysis.recommendation;
    let run = recommendation.run.as_ref().filter(|_| recommendation.status == Status::Decided)?;
    let mut all = ratios(analysis, run, recommendation.places.iter().filter(|place| runs(place, run)));
    all.sort_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median));
    let (least, most) = (*all.first()?, *all.last()?);
    let (paid, before) = (usd(analysis, run)?, usd(analysis, &analysis.baseline).filter(|usd| *usd > 0.0)?);
    // Large letters have no interval.
    let is_shown = |ratio: &Ratio| matches!(ratio.verdict, Verdict::Faster | Verdict::Slower | Verdict::Same);
    if !all.iter().all(|one| is_shown(one.ratio)) {
        return None;
    }
    let (low, high) = (factor(least.ratio), factor(most.ratio));
    let up_to = when(low != high, || format!(" up to {high}"));
    let is_everywhere = all.len() == recommendation.places.len();
    let place = when(!is_everywhere, || places::all(analysis, all.iter().map(|one| (one.workload, one.load))));
    let dollars = match paid - before {
        0.0 => String::new(),
        more if more > 0.0 => format!(", {} more a month", labels::usd(more)),
        less => format!(", {} less a month", labels::usd(-less)),
    };
    Some(Exchange {
        cost: cost(paid / before),
        gain: format!("{low}{up_to} the throughput"),
        of: format!("{run} instead of {}, {}{dollars}", analysis.baseline, named(&place)),
    })
}

/// Whether something can be said of it.
fn is_said(step: &ValueOfMoney) -> bool {
    let ratio = &step.throughput_ratio;
    let carries_over = ratio.bound.as_ref().is_none_or(|bound| bound.is != BoundIs::Nothing);
    let is_open = step.withheld.is_some() || step.verdict == ValueVerdict::NotDecided;
    !is_open && ratio.verdict.is_tested() && carries_over
}

/// The estimate, or the end of it that carries over.
fn factor(ratio: &Ratio) -> String {
    match ratio.bound.as_ref().map(|bound| bound.is) {
        Some(BoundIs::AtLeast) => format!("at least {} times", number(ratio.low)),
        Some(BoundIs::AtMost) => format!("at most {} times", number(ratio.high)),
        Some(BoundIs::Nothing) | None => format!("{} times", number(ratio.median)),
    }
}

/// What is paid more.
fn cost(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    match percent {
        0.0 => "the same cost".to_owned(),
        p if p.abs() < 0.05 => "about the same cost".to_owned(),
        p if p.abs() < 9.95 => format!("{p:+.1} % cost"),
        p if p < 100.0 => format!("{p:+.0} % cost"),
        _ => format!("{} times the cost", number(ratio)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_paid_more_is_said_in_percent_until_it_doubles() {
        let said = [1.0, 1.0126, 1.152, 1.996, 2.4].map(cost);
        assert_eq!(said, ["the same cost", "+1.3 % cost", "+15 % cost", "+100 % cost", "2.40 times the cost"]);
        assert_eq!(cost(1.0004), "about the same cost", "some dollars stand beside it");
    }
}
