//! Open loop: were requests sent when they were due?

use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Open loop: requests were sent late.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SendLag {
    /// 99th percentile of the lateness, microseconds.
    pub send_lag_p99_us: u64,
    /// The largest, microseconds.
    pub send_lag_max_us: u64,
    /// 99th percentile of response time, of the slowest operation, microseconds.
    pub response_p99_us: f64,
    /// Allowed lateness, microseconds.
    pub threshold_us: f64,
}

/// Send lag p99 above this many microseconds ...
const SEND_LAG_P99_US: f64 = 1000.0;
/// ... or above this share of the response p99, whichever is larger.
pub const SEND_LAG_SHARE: f64 = 0.05;

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<SendLag>> {
    let lag = trial.record.client.as_ref()?.send_lag_us?;
    let response = trial.response.values().filter_map(|f| f.figures.p99).fold(0.0, f64::max);
    let threshold = SEND_LAG_P99_US.max(SEND_LAG_SHARE * response);
    let figures = SendLag {
        send_lag_p99_us: lag.p99,
        send_lag_max_us: lag.max,
        response_p99_us: response,
        threshold_us: threshold,
    };
    (lag.p99 as f64 > threshold).then_some(figures.into())
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{counted, fires};

    /// The sound trial answers in 50 ms: 5 % of that are 2.5 ms.
    #[test]
    fn a_twentieth_of_the_response_time_is_allowed() {
        fires(Rule::SendLag, &[(900, false), (2_400, false), (2_600, true), (50_000, true)], |p99| {
            counted(|c| c.send_lag_us = Some(evidence::SendLag { p50: 10, p99, max: p99 }))
        });
    }
}
