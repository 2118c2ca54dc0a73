//! Was it the storage of this configuration, in its sustained state, that was measured? Where not, nothing is said
//! about its value.

use crate::document::Withheld;
use crate::finding::Finding;
use crate::rule::Rule;

/// A reason that at least this share of the valid trials gives stands for the cell.
const SHARE: f64 = 0.5;

/// The reason to say nothing about the value of a cell, if there is one: from findings on the cell itself, or on half
/// of its `valid` trials.
pub fn of_cell(cell: &[Finding], valid: &[Vec<Finding>]) -> Option<Withheld> {
    let all = valid.len() as f64;
    let weighted = cell
        .iter()
        .map(|f| (f, all))
        .chain(valid.iter().flatten().map(|f| (f, 1.0)));
    let mut reasons: Vec<(Withheld, f64)> = Vec::new();
    for (finding, weight) in weighted {
        let Some(reason) = reason(finding) else { continue };
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

/// What a finding says was measured instead; the reasons stand beside each [`Rule`].
fn reason(finding: &Finding) -> Option<Withheld> {
    let number = |name| finding.number(name);
    match finding.rule {
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
        assert_eq!(of_cell(&[], &with(&[client, None, None])), None);
        assert_eq!(
            of_cell(&[], &with(&[client, Some(Rule::SendLag), None])),
            Some(Withheld::Client)
        );
        assert_eq!(of_cell(&[], &with(&[Some(Rule::NoSteadyState); 3])), None);
        assert_eq!(
            of_cell(&[finding(Rule::DataSetSmaller)], &with(&[None, None, None])),
            Some(Withheld::Data)
        );
        assert_eq!(
            of_cell(&[finding(Rule::DataSetSmaller)], &[]),
            None,
            "nothing was measured"
        );
    }

    /// An invalid trial enters no figure, so that nothing is left to withhold.
    #[test]
    fn what_is_excluded_anyway_withholds_nothing() {
        for rule in Rule::ALL.into_iter().filter(|r| r.severity() == Severity::Invalid) {
            assert_eq!(reason(&finding(rule)), None, "{}", rule.name());
        }
    }
}
