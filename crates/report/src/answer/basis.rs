//! What the figures rest on: how money is counted, how intervals are made, and what to mind in the decision matrix.

use std::collections::BTreeSet;

use analysis::{
    Analysis, Caution, Metric, PageCacheKeeps, ResidualSpread, SpreadKind, UNTESTED_SHARE, Verdict, grouped,
};

use crate::figures::{given_percent, percent};
use crate::labels;

/// How money is counted, beside an answer that speaks of it, and what page caches rest on that do not keep the share of
/// the data that is in them at full scale.
pub fn basis(analysis: &Analysis) -> Vec<String> {
    let priced = analysis.cells.iter().any(|c| c.usd_per_month.is_some());
    let cost = priced.then(|| format!("Cost: {}.", labels::basis(analysis)));
    let page_caches = match analysis.page_cache {
        PageCacheKeeps::SameShare => None,
        PageCacheKeeps::SameMisses => {
            Some("of the sizes that are expected to miss as often as at full scale (page_cache = \"same-misses\")")
        }
        PageCacheKeeps::Calibrated => Some(
            "taken to miss as often as at full scale, as the experiment states (page_cache = \"calibrated\"); that was \
             not checked",
        ),
    };
    cost.into_iter().chain(page_caches.map(|what| format!("Page caches: {what}."))).collect()
}

/// How intervals are made, and what "the same" means.
pub fn spread(analysis: &Analysis) -> String {
    let margin = given_percent(analysis.margin);
    let same = format!("A ratio within {margin} of 1 counts as the same (decision.margin)");
    let tested = analysis
        .cells
        .iter()
        .any(|c| c.ratio_to_slowest.as_ref().is_some_and(|r| r.verdict != Verdict::Reference && r.verdict.is_tested()));
    let of_kind = |spread: &ResidualSpread| {
        let of = match spread.kind {
            SpreadKind::Volume => "where a volume is the limit",
            SpreadKind::Cpu => "where CPUs are",
            SpreadKind::Other => "of other cells",
        };
        let (by, degrees) = (percent(spread.deviation), spread.degrees);
        format!("{by} {of} ({degrees:.0} degree{} of freedom)", if degrees < 1.5 { "" } else { "s" })
    };
    let each: Vec<String> = analysis.residual_spreads.iter().map(of_kind).collect();
    let spread = match each.is_empty() {
        false => format!(
            "Repetitions of a cell spread by {} (coefficient of variation of throughput, pooled over cells of one kind \
            of limit, what a block has in common taken out where it shows). ",
            each.join(", ")
        ),
        true => "Nothing was repeated, so that the spread of repetitions is not known. ".to_owned(),
    };
    let how = match tested || !analysis.residual_spreads.is_empty() {
        true => {
            "Ratios pair trials of the same block; each interval is adjusted for all comparisons of its metric in \
            the experiment (Holm), at the level of \
             its verdict, so that the two cannot disagree. "
        }
        false => "",
    };
    format!("{spread}{how}{same}.")
}

/// A caution of the decision matrix as a sentence without a full stop.
pub fn caution(caution: Caution) -> String {
    match caution {
        Caution::OneConfiguration => "only one configuration has a figure: there is nothing to compare".to_owned(),
        Caution::TooFewRepetitions => format!(
            "fewer than three repetitions, nothing is tested: within {} of the best counts as statistically \
            indistinguishable",
            given_percent(UNTESTED_SHARE)
        ),
        Caution::LostWrites => "a configuration lost acknowledged writes: its figures stand here, but it is not \
        recommended"
            .to_owned(),
        Caution::ClosedLoopLatency => "in a closed loop latency follows from requests in flight and throughput, \
        each configuration at its own rate; \
             compare latencies at a given rate"
            .to_owned(),
    }
}

/// The cautions of the decision matrix, each once: `p99: in a closed loop ...`.
pub fn cautions(analysis: &Analysis) -> Vec<String> {
    let all = analysis.decision.iter().flat_map(|d| d.cautions.iter().map(|c| (*c, d.metric)));
    let all: BTreeSet<(Caution, Metric)> = all.collect();
    let each = grouped(all).into_iter().map(|(caution, metrics)| {
        let names: Vec<&str> = metrics.into_iter().map(labels::metric).collect();
        format!("{}: {}", names.join(", "), self::caution(caution))
    });
    each.collect()
}
