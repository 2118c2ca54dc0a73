//! Several clients: did they begin together?

use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Clients that share a load did not begin together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientsApart {
    /// Milliseconds between the first and the last.
    pub apart_ms: f64,
    /// Clients.
    pub clients: u64,
    /// Allowed milliseconds.
    pub threshold_ms: f64,
}

/// Clients that begin further apart than this measure different seconds: a tenth of the second in which latencies are
/// kept.
const APART_MAX_MS: f64 = 100.0;

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<ClientsApart>> {
    let starts = || trial.record.clients.values().map(|part| part.started_after_ms);
    let (first, last) = (starts().fold(f64::INFINITY, f64::min), starts().fold(f64::NEG_INFINITY, f64::max));
    let figures =
        ClientsApart { apart_ms: last - first, clients: trial.record.clients.len() as u64, threshold_ms: APART_MAX_MS };
    (last - first > APART_MAX_MS).then_some(figures.into())
}

#[cfg(test)]
mod tests {
    use evidence::{ClientPart, HostId};

    use crate::rule::Rule;
    use crate::rules::cases::{fires, recorded};

    #[test]
    fn a_tenth_of_a_second_between_the_first_and_the_last_is_the_bound() {
        fires(
            Rule::ClientsApart,
            &[(vec![], false), (vec![0.0, 99.0], false), (vec![0.0, 101.0], true), (vec![0.0, -60.0, 50.0], true)]
                .each_ref()
                .map(|(starts, fires)| (starts.as_slice(), *fires)),
            |starts| {
                recorded(|record| {
                    let whole = record.client.clone();
                    for (number, after_ms) in (0..).zip(starts) {
                        let part = ClientPart { result: whole.clone().unwrap(), started_after_ms: *after_ms };
                        record.clients.insert(HostId::client(number), part);
                    }
                })
            },
        );
    }
}
