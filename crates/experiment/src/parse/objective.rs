//! `[objective]` and `[decision]`: what good enough means, and how much is a difference.

use std::collections::BTreeSet;

use workload::{Definition, OperationKind, StatementName};

use crate::mistakes::{Collector, nearest};
use crate::raw::{self, Bounds};
use crate::spanned::{Spanned, place};
use crate::{DEFAULT_HEADROOM, DecisionRules, ERROR_SHARE_MAX, LatencyFigure, LatencyObjective, Objective};

/// Bounds on a latency, ms: the histograms hold 1 microsecond to 60 s, and what is slower is counted there.
const LATENCY_MS: std::ops::RangeInclusive<f64> = 0.001..=59_999.0;

/// `workloads` are all of the matrix, or `None` where one of them is wrong (then kinds cannot be judged).
pub(super) fn objective(
    given: Option<&Spanned<raw::Objective>>,
    workloads: Option<&[Definition]>,
    mistakes: &mut Collector<'_>,
) -> Option<Objective> {
    let raw = given?;
    let mut latency = bounds(None, &raw.worst(), mistakes);
    let of_ycsb = raw.of_kinds().into_iter().filter_map(|(kind, of_kind)| Some((kind, of_kind.as_ref()?)));
    let mut of_kinds: Vec<(OperationKind, &Spanned<raw::LatencyBounds>)> = of_ycsb.collect();
    for (name, of_statement) in &raw.statements {
        match StatementName::new(name) {
            Ok(name) => of_kinds.push((OperationKind::Statement(name), of_statement)),
            Err(error) => mistakes.add(name.span(), error.to_string(), "the name of a statement of your own"),
        }
    }
    for (kind, at) in of_kinds {
        let name = kind.name();
        if let Some(all) = workloads.filter(|all| all.iter().all(|w| w.share(kind) <= 0.0)) {
            let message = format!("the objective bounds {name}, and no workload does any");
            let kinds: BTreeSet<&str> = all.iter().flat_map(Definition::kinds).map(OperationKind::name).collect();
            let near = nearest(name, kinds).map_or_else(String::new, |near| format!("did you mean `{near}`? else "));
            mistakes.add(at.span(), message, format!("{near}remove it, or bound a kind that a workload has"));
        }
        let each = at.each();
        if each.iter().all(|(_, _, bound)| bound.is_none()) {
            let help = format!("for example {name} = {{ p99_ms = 5 }}");
            mistakes.add(at.span(), format!("the objective for {name} states nothing"), help);
        }
        implied(name, &raw.worst(), &each, mistakes);
        latency.extend(bounds(Some(kind), &each, mistakes));
    }
    let error_share = mistakes.stated_number(&raw.error_share, "error_share", 0.0..=1.0);
    if let (Some(at), Some(share)) = (place(&raw.error_share), error_share.filter(|share| *share > ERROR_SHARE_MAX)) {
        mistakes.add(
            at,
            format!(
                "error_share = {share} has no effect: a trial with more than {ERROR_SHARE_MAX} \
                 failed operations is invalid"
            ),
            format!("at most {ERROR_SHARE_MAX}, or leave it out"),
        );
    }
    let throughput = mistakes.stated_number(&raw.throughput, "throughput", 1e-3..=1e9);
    if let (Some(at), None) = (place(&raw.headroom), &raw.throughput) {
        let help = "state throughput = N operations/s as well, or remove it";
        mistakes.add(at, "headroom is for a demand, and the objective states none", help);
    }
    let states_nothing = raw.worst().iter().all(|(_, _, bound)| bound.is_none())
        && raw.of_kinds().iter().all(|(_, bounds)| bounds.is_none())
        && raw.statements.is_empty()
        && [&raw.error_share, &raw.throughput, &raw.headroom].iter().all(|given| given.is_none());
    if states_nothing {
        let help = "for example p99_ms = 10, or throughput = 5000; or remove it";
        mistakes.add(raw.span(), "[objective] states nothing", help);
    }
    Some(Objective {
        latency,
        error_share,
        throughput,
        headroom: mistakes.number(&raw.headroom, "headroom", 0.0..=0.99, DEFAULT_HEADROOM),
    })
}

/// The stated bounds of one kind. A lower percentile that may be slower than a higher one is a slip: it could never be
/// what decides.
fn bounds(operation: Option<OperationKind>, given: &Bounds<'_>, mistakes: &mut Collector<'_>) -> Vec<LatencyObjective> {
    let mut found: Vec<LatencyObjective> = Vec::new();
    for (figure, key, bound) in given {
        let Some(at) = bound else { continue };
        let Some(ms) = mistakes.stated_number(*at, key, LATENCY_MS) else { continue };
        let limit_us = ms * 1e3;
        let lower = found
            .iter()
            .find(|l| *figure != LatencyFigure::Mean && l.figure != LatencyFigure::Mean && l.limit_us > limit_us);
        if let Some(lower) = lower {
            mistakes.add(
                at.span(),
                format!("{key} = {ms} is less than {}_ms = {}", lower.figure.name(), lower.limit_us / 1e3),
                "a higher percentile is never the smaller one; were they swapped?",
            );
        }
        found.push(LatencyObjective { operation, figure: *figure, limit_us });
    }
    found
}

/// A bound on one kind that is no tighter than that on the worst kind says nothing.
fn implied(name: &str, worst: &Bounds<'_>, of_kind: &Bounds<'_>, mistakes: &mut Collector<'_>) {
    for ((_, key, all), (_, _, one)) in worst.iter().zip(of_kind) {
        if let (Some(all), Some(one)) = (all, one)
            && LATENCY_MS.contains(&***all)
            && ***one >= ***all
        {
            let message = format!("{name} {key} = {one} is implied by {key} = {all} of the worst kind");
            mistakes.add(one.span(), message, "state a tighter bound, or remove one of the two");
        }
    }
}

/// The rules of the decision; what the file leaves out is the default.
pub(super) fn decision(given: Option<&Spanned<raw::Decision>>, mistakes: &mut Collector<'_>) -> DecisionRules {
    let mut rules =
        DecisionRules { durability: given.and_then(|d| d.durability).unwrap_or_default(), ..DecisionRules::default() };
    let Some(margin) = given.and_then(|d| d.margin.as_ref()) else { return rules };
    rules.margin = **margin;
    if !(rules.margin > 0.0 && rules.margin < LARGEST_MARGIN) {
        let help = format!("a share above 0 and below {LARGEST_MARGIN}, such as 0.05 for 5 %");
        mistakes.add(margin.span(), format!("margin cannot be {margin}"), help);
    }
    rules
}

/// From here on half as fast would be "the same".
const LARGEST_MARGIN: f64 = 0.5;
