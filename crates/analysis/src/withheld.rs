//! Was it the storage of this configuration, in its sustained state, that was measured? Where not, nothing is said about its value.

use spec::Setup;

use crate::document::Withheld;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;

/// A reason that at least this share of the valid trials gives stands for the cell.
const SHARE: f64 = 0.5;

/// The reason to say nothing about the value of a cell, if there is one: from findings on the cell itself, or on half of its valid trials.
pub fn of_cell(setup: Option<&Setup>, cell: &[Finding], trials: &[&TrialMeasurement]) -> Option<Withheld> {
    let of_trials = trials.iter().flat_map(|t| &t.findings);
    let mut reasons: Vec<(Withheld, f64)> = Vec::new();
    let weighted = cell
        .iter()
        .map(|f| (f, trials.len() as f64))
        .chain(of_trials.map(|f| (f, 1.0)));
    for (finding, weight) in weighted {
        let Some(reason) = reason(finding, setup) else { continue };
        let same = |known: &(Withheld, f64)| std::mem::discriminant(&known.0) == std::mem::discriminant(&reason);
        match reasons.iter_mut().find(|r| same(r)) {
            Some((_, sum)) => *sum += weight,
            None => reasons.push((reason, weight)),
        }
    }
    let enough = SHARE * trials.len() as f64;
    reasons
        .into_iter()
        .find(|(_, weight)| *weight >= enough && enough > 0.0)
        .map(|(reason, _)| reason)
}

fn reason(finding: &Finding, setup: Option<&Setup>) -> Option<Withheld> {
    match finding.rule.as_str() {
        "client_saturated" | "send_lag" => Some(Withheld::Client),
        "served_from_page_cache" | "data_fits_page_cache" => Some(Withheld::PageCache),
        "data_set_smaller" | "not_found" | "counts_disagree" => Some(Withheld::Data),
        "offered_not_achieved" | "backlog_drained" => Some(Withheld::Rate),
        "compaction_debt" => Some(Withheld::Compaction),
        "burst_only" | "burst_changed" => {
            let burst = setup.and_then(|s| s.data.burst);
            Some(Withheld::Burst {
                burst_iops: burst.map_or(0.0, |b| b.burst_iops),
                baseline_iops: burst.map_or(0.0, |b| b.baseline_iops),
                lasts_s: finding.numbers.get("full_bucket_lasts_s").copied(),
            })
        }
        _ => None,
    }
}
