//! `rate = "find"`: which rates are measured is found out in the run.
//!
//! A search has a configuration and a workload. Short probes on one restored data set bracket the highest rate that
//! meets the objective; then whole trials just below, at and just above it are added to the plan, in blocks as always.
//! The plan of a run therefore grows: what was added stands in its journal.

use serde::{Deserialize, Serialize};
use workload::Arrivals;

/// Requests in flight of the closed loop that a search begins with: more than any device here serves at a time, so that
/// its throughput is the most that the database gives.
pub const CEILING_IN_FLIGHT: u32 = 64;

/// Rates of a round of trials around the found one. Closer ones would not do: with three trials of each and p99 that
/// spreads by 20 % from trial to trial, it is not shown over 10 % of rate that latency rises at all (measured on
/// simulated truth: half of the searches then need more rates).
pub const LEVELS: [f64; 3] = [0.92, 1.0, 1.08];

/// What is to be found, and how it is then measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchPlan {
    /// How requests arrive.
    pub arrivals: Arrivals,
    /// Trials of each rate in a round.
    pub repetitions: u32,
    /// Each configuration under each workload.
    pub searches: Vec<Search>,
}

/// A configuration under a workload, whose highest rate is to be found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    /// File-name-safe identity: `gp3-3000.reads.find`.
    pub id: String,
    /// Configuration name.
    pub configuration: String,
    /// Workload name.
    pub workload: String,
}

/// Rates that a search has come to: whole trials measure them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Whose.
    pub search: String,
    /// From 1.
    pub round: u32,
    /// Operations per second of the full-size system, ascending; none where nothing meets the objective.
    pub rates: Vec<f64>,
}

/// A rate to three significant digits: what is found is not known better.
pub fn rounded(rate: f64) -> f64 {
    if !(rate.is_finite() && rate > 0.0) {
        return rate;
    }
    let unit = 10_f64.powf(rate.log10().floor() - 2.0);
    // Decimal again: 0.1 times 37 is not 3.7.
    format!("{:.6e}", (rate / unit).round() * unit).parse().unwrap_or(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_three_digits() {
        for (rate, expected) in [(3_914.2, 3_910.0), (0.123_456, 0.123), (99.96, 100.0), (61.25, 61.3), (1.0, 1.0)] {
            assert_eq!(rounded(rate), expected);
        }
        assert_eq!(format!("{}", rounded(0.3 * 37.0)), "11.1");
    }
}
