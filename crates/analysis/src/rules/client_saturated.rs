//! Could the client keep up? A client out of CPU measures itself.

use evidence::ClientResult;
pub use experiment::CLIENT_CPU_MAX;
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// The load generator was out of CPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct ClientSaturated {
    /// CPU time of the busiest client, seconds.
    pub client_cpu_s: f64,
    pub measured_s: f64,
    pub threads: u32,
    /// Share of their CPU in use.
    pub cpu_share: f64,
    pub threshold: f64,
}

pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<ClientSaturated>> {
    // Of several clients the busiest one: the others' idle threads do not help it.
    let each = trial.record.clients.values().map(|part| &part.result).chain(trial.record.client.as_ref());
    let share_of =
        |client: &ClientResult| stats::ratio(client.client_cpu_s, client.measured_s * f64::from(client.threads));
    let busiest = each.filter_map(|client| Some((client, share_of(client)?)));
    let (client, share) = busiest.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, share)| *share > CLIENT_CPU_MAX)?;
    let figures = ClientSaturated {
        client_cpu_s: client.client_cpu_s,
        measured_s: client.measured_s,
        threads: client.threads,
        cpu_share: share,
        threshold: CLIENT_CPU_MAX,
    };
    Some(figures.into())
}

#[cfg(test)]
mod tests {
    use crate::rule::Rule;
    use crate::rules::cases::{counted, fires};

    #[test]
    fn four_fifths_of_all_load_threads_are_the_bound() {
        fires(
            Rule::ClientSaturated,
            &[((47.0, 1), false), ((49.0, 1), true), ((49.0, 2), false), ((97.0, 2), true)],
            |(cpu_s, threads)| counted(|c| (c.client_cpu_s, c.threads) = (cpu_s, threads)),
        );
    }
}
