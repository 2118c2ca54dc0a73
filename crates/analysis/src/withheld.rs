//! Was it the storage of this configuration, in its sustained state, that was measured? Where not, nothing is said
//! about its value.

use spec::Objective;

use crate::document::Withheld;
use crate::finding::Finding;
use crate::rule::Rule;
use crate::rules::SEND_LAG_SHARE;

/// A reason that at least this share of the valid trials gives stands for the cell.
const SHARE: f64 = 0.5;

/// The reason to say nothing about the value of a cell, if there is one: from findings on the cell itself, or on half
/// of its `valid` trials. What the client adds to a latency is held against the bound that the latency is judged by.
pub fn of_cell(cell: &[Finding], valid: &[Vec<Finding>], objective: Option<&Objective>) -> Option<Withheld> {
    let bound_us = objective.and_then(tightest_us);
    let all = valid.len() as f64;
    let weighted = cell
        .iter()
        .map(|f| (f, all))
        .chain(valid.iter().flatten().map(|f| (f, 1.0)));
    let mut reasons: Vec<(Withheld, f64)> = Vec::new();
    for (finding, weight) in weighted {
        let Some(reason) = reason(finding, bound_us) else {
            continue;
        };
        let same = |known: &(Withheld, f64)| std::mem::discriminant(&known.0) == std::mem::discriminant(&reason);
        match reasons.iter_mut().find(|r| same(r)) {
            Some((_, sum)) => *sum += weight,
            None => reasons.push((reason, weight)),
        }
    }
    let enough = |weight: f64| all > 0.0 && weight >= SHARE * all;
    reasons
        .into_iter()
        .find(|(_, weight)| enough(*weight))
        .map(|(reason, _)| reason)
}

/// The lowest bound of a latency, microseconds.
fn tightest_us(objective: &Objective) -> Option<f64> {
    let bounds = objective.latency.iter().map(|bound| bound.limit_us);
    bounds.min_by(f64::total_cmp)
}

/// What a finding says was measured instead; the reasons stand beside each [`Rule`].
///
/// A late client makes a response longer, never shorter. So what meets a bound meets it all the more without the
/// lateness, and near the bound a twentieth of it matters no more than a twentieth of a response does to [`Rule::SendLag`].
fn reason(finding: &Finding, bound_us: Option<f64>) -> Option<Withheld> {
    let number = |name| finding.number(name);
    let is_small = |lag: f64| bound_us.is_some_and(|bound| lag <= SEND_LAG_SHARE * bound);
    match finding.rule {
        Rule::SendLag if number("send_lag_p99_us").is_some_and(is_small) => None,
        Rule::ClientSaturated | Rule::SendLag => Some(Withheld::Client),
        Rule::ServedFromPageCache | Rule::DataFitsPageCache => Some(Withheld::PageCache),
        Rule::NotFound | Rule::DataSetSmaller | Rule::CountsDisagree => Some(Withheld::Data),
        Rule::OfferedNotAchieved | Rule::BacklogDrained => Some(Withheld::Rate),
        Rule::BurstOnly | Rule::BurstChanged if number("burst_bytes_per_s").is_some() => Some(Withheld::BurstOfBytes {
            burst_bytes_per_s: number("burst_bytes_per_s").unwrap_or(0.0),
            baseline_bytes_per_s: number("baseline_bytes_per_s").unwrap_or(0.0),
            lasts_s: number("full_bucket_lasts_s"),
        }),
        Rule::BurstOnly | Rule::BurstChanged => Some(Withheld::Burst {
            burst_iops: number("burst_iops").unwrap_or(0.0),
            baseline_iops: number("baseline_iops").unwrap_or(0.0),
            lasts_s: number("full_bucket_lasts_s"),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use spec::{LatencyFigure, LatencyObjective};

    use super::*;
    use crate::finding::Scope;
    use crate::rule::Severity;

    fn finding(rule: Rule) -> Finding {
        Finding::new(rule, Scope::Cell("c".into()), [])
    }

    #[test]
    fn half_of_the_trials_stand_for_the_cell_and_a_doubt_does_not() {
        let with = |rules: &[Option<Rule>]| -> Vec<Vec<Finding>> {
            rules.iter().map(|r| r.iter().map(|r| finding(*r)).collect()).collect()
        };
        let client = Some(Rule::ClientSaturated);
        assert_eq!(of_cell(&[], &with(&[client, None, None]), None), None);
        assert_eq!(
            of_cell(&[], &with(&[client, Some(Rule::SendLag), None]), None),
            Some(Withheld::Client)
        );
        assert_eq!(of_cell(&[], &with(&[Some(Rule::NoSteadyState); 3]), None), None);
        assert_eq!(
            of_cell(&[finding(Rule::DataSetSmaller)], &with(&[None, None, None]), None),
            Some(Withheld::Data)
        );
        assert_eq!(
            of_cell(&[finding(Rule::DataSetSmaller)], &[], None),
            None,
            "nothing was measured"
        );
    }

    /// 1.8 ms of lateness in answers of 20 ms are told; whether 50 ms are met does not depend on them. The bound of a
    /// median may be the tightest.
    #[test]
    fn a_late_client_counts_by_the_bound_that_its_latencies_are_judged_by() {
        let bound = |figure, limit_us| LatencyObjective {
            operation: None,
            figure,
            limit_us,
        };
        let of = |lag_us: f64, latency: &[LatencyObjective]| {
            let late = Finding::new(Rule::SendLag, Scope::Cell("c".into()), [("send_lag_p99_us", lag_us)]);
            let objective = Objective {
                latency: latency.to_vec(),
                error_share: None,
                throughput: None,
                headroom: 0.3,
            };
            of_cell(&[], &[vec![late]], Some(&objective))
        };
        let p99 = bound(LatencyFigure::P99, 50_000.0);
        assert_eq!(of(1_800.0, &[p99]), None);
        assert_eq!(of(2_499.0, &[p99]), None);
        assert_eq!(of(2_501.0, &[p99]), Some(Withheld::Client));
        assert_eq!(
            of(1_800.0, &[p99, bound(LatencyFigure::P50, 10_000.0)]),
            Some(Withheld::Client)
        );
        assert_eq!(of(1_800.0, &[]), Some(Withheld::Client), "a rate alone is judged");
    }

    /// An invalid trial enters no figure, so that nothing is left to withhold.
    #[test]
    fn what_is_excluded_anyway_withholds_nothing() {
        for rule in Rule::ALL.into_iter().filter(|r| r.severity() == Severity::Invalid) {
            assert_eq!(reason(&finding(rule), None), None, "{}", rule.name());
        }
    }
}
