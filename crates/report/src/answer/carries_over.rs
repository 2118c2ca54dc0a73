//! What of a model of 1:N carries over to full scale.

use analysis::{Analysis, Check, Criterion};

/// What of its figures is that of full scale, beside an answer that may give a capacity there.
pub fn clause(analysis: &Analysis) -> &'static str {
    let is_capacity = |check: &Check| matches!(check.what, Criterion::Throughput { .. }) && check.measured.is_some();
    let places = analysis.recommendation.places.iter();
    let mut checks = places.flat_map(|place| &place.candidates).flat_map(|candidate| &candidate.checks);
    match !analysis.capacities.is_empty() || checks.any(is_capacity) {
        true => "ratios between volumes carry over, throughput times N does where volumes limit it, latencies do not",
        false => "ratios between volumes carry over, absolute figures do not",
    }
}
