//! Did the network lose packets?

use serde::{Deserialize, Serialize};

use super::nodes::worst;
use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// TCP segments were sent again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkRetransmits {
    /// For each megabyte sent.
    pub retransmits_per_mb: f64,
    /// Allowed for each megabyte.
    pub threshold_per_mb: f64,
}

/// TCP segments sent again for each megabyte: 0.1 % (practice) of segments of 1,448 bytes.
const RETRANSMITS_PER_MB: f64 = 0.001 * 1e6 / 1448.0;

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<NetworkRetransmits>> {
    worst(trial, |node| {
        let rate = node.host.retransmits_per_mb.filter(|r| *r > RETRANSMITS_PER_MB)?;
        let figures = NetworkRetransmits { retransmits_per_mb: rate, threshold_per_mb: RETRANSMITS_PER_MB };
        Some((rate, figures))
    })
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{changed_host, fires};

    #[test]
    fn one_segment_in_a_thousand() {
        fires(Rule::NetworkRetransmits, &[(0.0, false), (0.68, false), (0.70, true)], |rate| {
            changed_host(|h| h.retransmits_per_mb = Some(rate))
        });
    }
}
