//! Closed loop: were the requests in flight that were asked for? By Little's law (1961) throughput x mean response time
//! is their number.

use experiment::LoadLevel;
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Little's law does not hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LittlesLaw {
    /// Requests in flight that were asked for.
    pub concurrency: u32,
    /// Throughput x mean response time.
    pub mean_in_flight: f64,
    /// Difference as a share of what was asked for.
    pub off_by: f64,
    /// Allowed share.
    pub threshold: f64,
}

/// |X R / N - 1| (practice: <= 2 %), beside what the edges of the window do: a response that ends inside it
/// counts whole, so that up to one mean response time of the window may be counted too much or too little.
const LITTLE_MAX: f64 = 0.02;

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<LittlesLaw>> {
    let LoadLevel::Concurrency(in_flight) = trial.record.load else { return None };
    trial.record.client.as_ref()?;
    // Sum of all response times / window = mean number in flight.
    let busy_us: f64 =
        trial.response.values().chain(trial.failed.values()).map(|f| f.figures.mean * f.samples as f64).sum();
    let mean_in_flight = stats::ratio(busy_us / 1e6, trial.window_s())?;
    let off = stats::ratio(mean_in_flight, f64::from(in_flight))? - 1.0;
    let answers = trial.completed() as f64 + trial.failed.values().map(|f| f.samples as f64).sum::<f64>();
    let edges = stats::ratio(busy_us / 1e6, answers * trial.window_s())?;
    let allowed = LITTLE_MAX + edges;
    let figures = LittlesLaw { concurrency: in_flight, mean_in_flight, off_by: off, threshold: allowed };
    (off.abs() > allowed && busy_us > 0.0).then_some(figures.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Rule;
    use crate::rules::cases::{fires, recorded};

    /// 100 are in flight; the edges of the window allow 0.08 % more than the 2 %.
    #[test]
    fn two_percent_more_or_fewer_in_flight_are_allowed() {
        fires(
            Rule::LittlesLaw,
            &[(100, false), (102, false), (103, true), (98, false), (97, true), (120, true)],
            |in_flight| recorded(|r| r.load = LoadLevel::Concurrency(in_flight)),
        );
    }
}
