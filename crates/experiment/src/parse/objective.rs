//! `[objective]` and `[decision]`: what good enough means, and how much is a difference.

use toml::Spanned;
use workload::{Definition, OperationKind};

use super::numbers::Check as _;
use crate::mistakes::Collector;
use crate::raw::{self, Bounds};
use crate::{DEFAULT_HEADROOM, DecisionRules, ERROR_SHARE_MAX, LatencyFigure, LatencyObjective, Objective};

/// Bounds on a latency, ms: the histograms hold 1 microsecond to 60 s, and what is slower is counted there.
const LATENCY_MS: std::ops::RangeInclusive<f64> = 0.001..=59_999.0;

/// `workloads` are all of the matrix, or `None` where one of them is wrong (then kinds cannot be judged).
pub(super) fn objective(
    given: Option<&Spanned<raw::Objective>>,
    workloads: Option<&[Definition]>,
    mistakes: &mut Collector<'_>,
) -> Option<Objective> {
    let spanned = given?;
    let raw = spanned.get_ref();
    let mut latency = bounds(None, &raw.worst(), mistakes);
    for (kind, of_kind) in [
        (OperationKind::Read, &raw.read),
        (OperationKind::Update, &raw.update),
        (OperationKind::Insert, &raw.insert),
        (OperationKind::Scan, &raw.scan),
        (OperationKind::ReadModifyWrite, &raw.read_modify_write),
    ] {
        let Some(at) = of_kind else { continue };
        let name = kind.name();
        if workloads.is_some_and(|all| all.iter().all(|w| w.mix.share(kind) <= 0.0)) {
            mistakes.add(
                at.span(),
                format!("the objective bounds {name}, and no workload does any"),
                "remove it, or bound a kind that a workload has",
            );
        }
        let each = at.get_ref().each();
        if each.iter().all(|(_, _, bound)| bound.is_none()) {
            mistakes.add(
                at.span(),
                format!("the objective for {name} states nothing"),
                format!("for example {name} = {{ p99_ms = 5 }}"),
            );
        }
        implied(name, &raw.worst(), &each, mistakes);
        latency.extend(bounds(Some(kind), &each, mistakes));
    }
    let error_share = mistakes.number(raw.error_share.as_ref(), "error_share", 0.0..=1.0, 0.0);
    if let (Some(at), Some(share)) = (&raw.error_share, error_share.filter(|share| *share > ERROR_SHARE_MAX)) {
        mistakes.add(
            at.span(),
            format!("error_share = {share} has no effect: a trial with more than {ERROR_SHARE_MAX} failed operations is invalid"),
            format!("at most {ERROR_SHARE_MAX}, or leave it out"),
        );
    }
    let throughput = mistakes.number(raw.throughput.as_ref(), "throughput", 1e-3..=1e9, 1.0);
    let headroom = mistakes.number(raw.headroom.as_ref(), "headroom", 0.0..=0.99, DEFAULT_HEADROOM);
    if let (Some(at), None) = (&raw.headroom, &raw.throughput) {
        mistakes.add(
            at.span(),
            "headroom is for a demand, and the objective states none",
            "state throughput = N operations/s as well, or remove it",
        );
    }
    let states_nothing = raw.worst().iter().all(|(_, _, bound)| bound.is_none())
        && [&raw.read, &raw.update, &raw.insert, &raw.scan, &raw.read_modify_write]
            .iter()
            .all(|kind| kind.is_none())
        && raw.error_share.is_none()
        && raw.throughput.is_none()
        && raw.headroom.is_none();
    if states_nothing {
        mistakes.add(
            spanned.span(),
            "[objective] states nothing",
            "for example p99_ms = 10, or throughput = 5000; or remove it",
        );
    }
    Some(Objective {
        latency,
        error_share: raw.error_share.as_ref().and(error_share),
        throughput: raw.throughput.as_ref().and(throughput),
        headroom: headroom.unwrap_or(DEFAULT_HEADROOM),
    })
}

/// The stated bounds of one kind. A lower percentile that may be slower than a higher one is a slip: it could never be
/// what decides.
fn bounds(operation: Option<OperationKind>, given: &Bounds<'_>, mistakes: &mut Collector<'_>) -> Vec<LatencyObjective> {
    let mut found: Vec<LatencyObjective> = Vec::new();
    for (figure, key, bound) in given {
        let Some(at) = bound else { continue };
        let Some(ms) = mistakes.number(Some(at), key, LATENCY_MS, 1.0) else {
            continue;
        };
        let limit_us = ms * 1e3;
        let lower = found
            .iter()
            .find(|l| *figure != LatencyFigure::Mean && l.figure != LatencyFigure::Mean && l.limit_us > limit_us);
        if let Some(lower) = lower {
            mistakes.add(
                at.span(),
                format!(
                    "{key} = {ms} is less than {}_ms = {}",
                    lower.figure.name(),
                    lower.limit_us / 1e3
                ),
                "a higher percentile is never the smaller one; were they swapped?",
            );
        }
        found.push(LatencyObjective {
            operation,
            figure: *figure,
            limit_us,
        });
    }
    found
}

/// A bound on one kind that is no tighter than that on the worst kind says nothing.
fn implied(name: &str, worst: &Bounds<'_>, of_kind: &Bounds<'_>, mistakes: &mut Collector<'_>) {
    for ((_, key, all), (_, _, one)) in worst.iter().zip(of_kind) {
        if let (Some(all), Some(one)) = (all, one)
            && LATENCY_MS.contains(all.get_ref())
            && one.get_ref() >= all.get_ref()
        {
            mistakes.add(
                one.span(),
                format!(
                    "{name} {key} = {} is implied by {key} = {} of the worst kind",
                    one.get_ref(),
                    all.get_ref()
                ),
                "state a tighter bound, or remove one of the two",
            );
        }
    }
}

/// The rules of the decision; what the file leaves out is the default.
pub(super) fn decision(given: Option<&Spanned<raw::Decision>>, mistakes: &mut Collector<'_>) -> DecisionRules {
    let default = DecisionRules {
        durability: given.and_then(|d| d.get_ref().durability).unwrap_or_default(),
        ..DecisionRules::default()
    };
    let Some(at) = given.and_then(|d| d.get_ref().margin.as_ref()) else {
        return default;
    };
    let margin = *at.get_ref();
    if !(margin > 0.0 && margin < LARGEST_MARGIN) {
        mistakes.add(
            at.span(),
            format!("margin cannot be {margin}"),
            format!("a share above 0 and below {LARGEST_MARGIN}, such as 0.05 for 5 %"),
        );
        return default;
    }
    DecisionRules { margin, ..default }
}

/// From here on half as fast would be "the same".
const LARGEST_MARGIN: f64 = 0.5;
