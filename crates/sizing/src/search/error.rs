//! Why there is no answer.

use crate::document::{HeldOut, LeftOut, NotCandidates};
use crate::target::TargetError;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum SizingError {
    /// The target cannot be.
    #[error("{0}")]
    Target(#[from] TargetError),
    /// The basis of the money cannot be, or a candidate or the fleet of today cannot.
    #[error("{0}")]
    Input(String),
    #[error(
        "no valid trial of {workloads} in {runs} says what an operation costs (device reads, CPU and page cache are \
         needed)"
    )]
    NoEvidence { runs: String, workloads: String },
    #[error("the evidence mixes key distributions ({found}); name the workloads to learn from with --workload")]
    Distributions { found: String },
    #[error(
        "the model may not be used on this evidence: held out, its error is {median_percent:.0} % (median) and \
         {p90_percent:.0} % ({p90_is}; at most {most_median:.0} % and {most_p90:.0} % are accepted), worst \
         {worst}. No machine of the search was measured under exactly this target; {remedy}",
        remedy = HeldOut::REMEDY,
        most_median = HeldOut::MOST_MEDIAN_ERROR * 100.0,
        most_p90 = HeldOut::MOST_P90_ERROR * 100.0
    )]
    ModelRefused { median_percent: f64, p90_percent: f64, p90_is: &'static str, worst: String },
    #[error(
        "no open-loop cell kept p99 <= {asked_ms} ms: the lowest measured is {lowest_ms:.1} ms at \
         {utilisation_percent:.0} % utilisation ({cell})"
    )]
    P99 { asked_ms: f64, lowest_ms: f64, utilisation_percent: f64, cell: String },
    #[error("no {purchase} price of any machine of the search is known in {region} on {day}")]
    NoPrice { purchase: String, region: String, day: String },
    #[error("no machine meets the target")]
    NothingFound { left_out: Vec<LeftOut>, not_candidates: Vec<NotCandidates> },
}
