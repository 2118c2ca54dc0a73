//! Coordinated omission (G. Tene, "How NOT to Measure Latency", 2013): a closed loop that keeps to a rate sends late
//! when it is behind, and a latency that counts from the sending hides how long a request waited for its turn.

use evidence::{CountedFrom, Tool};
use experiment::LoadLevel;
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Latencies at a given rate count from the sending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CoordinatedOmission {
    /// The rate, operations per second.
    pub rate_ops_per_s: f64,
    /// Who sent them.
    pub tool: Tool,
}

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<CoordinatedOmission>> {
    let imported = trial.imported().filter(|imported| imported.counted_from == CountedFrom::Sent)?;
    if imported.latencies.is_empty() {
        return None;
    }
    match trial.record.load {
        LoadLevel::Rate { operations_per_s, .. } => {
            Some(CoordinatedOmission { rate_ops_per_s: operations_per_s, tool: imported.tool }.into())
        }
        LoadLevel::Concurrency(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use experiment::Arrivals;

    use super::*;
    use crate::rules::imported::tests::imported;

    #[test]
    fn a_rate_without_latencies_hides_none() {
        let mut trial = imported(|of| of.latencies.clear());
        trial.record.load = LoadLevel::Rate { operations_per_s: 2_000.0, arrivals: Arrivals::Constant };
        assert_eq!(finding(&trial), None);
    }

    #[test]
    fn a_closed_loop_at_a_rate_is_seen_unless_it_counts_from_when_requests_were_due() {
        for (from, is_rate, is_seen) in
            [(CountedFrom::Sent, true, true), (CountedFrom::Sent, false, false), (CountedFrom::Due, true, false)]
        {
            let mut trial = imported(|of| of.counted_from = from);
            if is_rate {
                trial.record.load = LoadLevel::Rate { operations_per_s: 2_000.0, arrivals: Arrivals::Constant };
            }
            assert_eq!(finding(&trial).is_some(), is_seen, "{from:?} {is_rate}");
        }
    }
}
