//! Did programs that are no part of the run use the CPUs of a database's host?

use evidence::OtherProgram;
use experiment::{Provider, VolumeRole};
use serde::{Deserialize, Serialize};

use super::nodes::worst;
use crate::measurement::TrialMeasurement;
use crate::node::Node;
use crate::seen::Seen;

/// Programs that are no part of the run used the CPUs of a database's host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherWork {
    /// CPUs that they used.
    pub other_cpus: f64,
    /// Allowed CPUs.
    pub threshold: f64,
    /// Those that used most, where they are known.
    pub programs: Vec<OtherProgram>,
}

/// CPUs (practice). The kernel's own work for a run (interrupts, writeback, loop devices) and the agents that watch it
/// come to less than a tenth of one.
const OTHER_CPUS_MAX: f64 = 0.25;

pub(crate) fn finding(trial: &TrialMeasurement, provider: Provider) -> Option<Seen<OtherWork>> {
    let of_the_run = |node: &Node<'_>| match provider {
        // One machine for all.
        Provider::Local => {
            let database_cpus = trial.sum(|node| node.host.cpus_used)?;
            let server_cpus: f64 = trial.nodes().map(|node| server_cpus(&node)).sum();
            Some(database_cpus + server_cpus + client_cpus(trial))
        }
        // Where the client is on another host than this node, others may have used as much as it did before anybody
        // hears of it.
        Provider::Simulated | Provider::Hosts => Some(node.host.cpus_used? + server_cpus(node) + client_cpus(trial)),
        Provider::Aws => node.host.cpus_used,
        // Nobody watched its hosts.
        Provider::Imported => None,
    };
    worst(trial, |node| {
        let other = node.host.busy_cpus? - of_the_run(node)?;
        let figures = OtherWork { other_cpus: other, threshold: OTHER_CPUS_MAX, programs: node.facts.others.clone() };
        (other > OTHER_CPUS_MAX).then_some((other, figures))
    })
}

/// CPUs of the processes that serve the node's volumes: each volume has those of its whole process.
fn server_cpus(node: &Node<'_>) -> f64 {
    VolumeRole::ALL.into_iter().filter_map(|role| node.activity(role)?.server_cpus).fold(0.0, f64::max)
}

fn client_cpus(trial: &TrialMeasurement) -> f64 {
    let of = |client: &evidence::ClientResult| stats::ratio(client.client_cpu_s, client.measured_s).unwrap_or(0.0);
    trial.record.client.as_ref().map_or(0.0, of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::cases::{changed_host, sound};

    #[test]
    fn what_nobody_of_the_run_used_is_told_from_a_quarter_of_a_cpu() {
        let client = client_cpus(&sound());
        let reported = |provider, others: f64| {
            let trial = changed_host(|h| {
                (h.cpus_used, h.busy_cpus) = (Some(1.0), Some(1.0 + client + others));
            });
            finding(&trial, provider).map(|found| found.figures.other_cpus)
        };
        for provider in [Provider::Local, Provider::Simulated, Provider::Hosts] {
            assert_eq!(reported(provider, 0.24), None);
            assert!((reported(provider, 0.26).unwrap() - 0.26).abs() < 1e-9);
        }
        assert_eq!(reported(Provider::Aws, 0.24 - client), None);
        assert!(reported(Provider::Aws, 0.26 - client).is_some(), "its clients have machines of their own");
    }

    /// Without the host's own counters, or the database's, nothing is known of others.
    #[test]
    fn what_is_not_known_is_no_finding() {
        assert_eq!(finding(&changed_host(|h| h.busy_cpus = None), Provider::Local), None);
        let unseen = changed_host(|h| (h.busy_cpus, h.cpus_used) = (Some(4.0), None));
        assert_eq!(finding(&unseen, Provider::Local), None);
    }
}
