//! Are the machines of a configuration's nodes alike?
//!
//! Machines under one name need not be: of one EC2 instance type, those with an Intel E5430 were 5 to 25 % faster than
//! those with an AMD 2218 HE (Hulen, "Cassandra Performance Testing on EC2", 2010). A cluster of unlike machines
//! measures what it happened to get, and another one that is bought under the same name need not be the same.

use std::collections::BTreeMap;

use evidence::{ClockReading, Environment, HostId};
use experiment::Setup;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fact::HostFact;
use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// The machines of a configuration's nodes differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnequalHosts {
    /// Machines.
    pub hosts: u64,
    /// All in which they do, the most telling first.
    pub differences: Vec<HostDifference>,
}

/// What machines differ in, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct HostDifference {
    pub fact: HostFact,
    #[serde(flatten)]
    pub how: DifferenceKind,
}

/// How machines differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum DifferenceKind {
    /// In words: each of them with the machines that have it, in the order of the words.
    Words(Vec<(String, Vec<HostId>)>),
    /// In an amount, in the unit of the fact: the machines with most and with least of it.
    Amount { most_of: HostId, most: f64, least_of: HostId, least: f64 },
}

/// Memory differs from this share of the larger on (practice): firmware and kernel keep some of it before Linux says
/// how much there is (`MemTotal`, proc(5)), not to the byte the same on machines of one kind.
const MEMORY_APART: f64 = 0.02;
/// Clocks differ from so many milliseconds on, beyond what the readings cannot resolve: as for
/// [`clock_drift`](super::clock_drift), a twentieth of the second that a sample stands for (practice).
const CLOCKS_APART_MS: f64 = 50.0;

/// All in which the database hosts of a configuration differ. `environment` is the run's `environment.json`; `trials`
/// are all of the run.
pub(crate) fn of_setup(setup: &Setup, environment: &Value, trials: &[&TrialMeasurement]) -> Option<Seen<UnequalHosts>> {
    let hosts: Vec<HostId> = setup.database_hosts().into_iter().map(HostId::database).collect();
    let facts = |host: &HostId| -> Option<(HostId, Environment)> {
        let reported = environment.get(host.to_string())?;
        Some((*host, serde_json::from_value(reported.clone()).ok()?))
    };
    let known: Vec<(HostId, Environment)> = hosts.iter().filter_map(facts).collect();
    let words = |of: fn(&Environment) -> Option<String>| unlike(&known, of);
    let swap = |e: &Environment| e.swap_bytes.map(|b| if b > 0 { "on" } else { "off" }.to_owned());
    let cpus = each(&known, |e| Some(f64::from(e.cpus)));
    let memory_bytes = each(&known, |e| e.memory_bytes.map(|bytes| bytes as f64));
    // The most telling first.
    let all = [
        (HostFact::Processor, words(|e| e.cpu_model.clone())),
        (HostFact::Cpus, apart(&cpus, 0.0)),
        (HostFact::Memory, apart(&memory_bytes, MEMORY_APART)),
        (HostFact::Kernel, words(|e| e.kernel.clone())),
        (HostFact::Clock, clocks(&setup.configuration, &hosts, trials)),
        (HostFact::HugePages, words(|e| e.transparent_huge_pages.clone())),
        (HostFact::ClockSource, words(|e| e.clock_source.clone())),
        (HostFact::Swap, words(swap)),
        (HostFact::Microcode, words(|e| e.microcode.clone())),
    ];
    let differences: Vec<HostDifference> =
        all.into_iter().filter_map(|(fact, how)| Some(HostDifference { fact, how: how? })).collect();
    let figures = UnequalHosts { hosts: hosts.len() as u64, differences };
    (!figures.differences.is_empty()).then(|| figures.into())
}

fn each(known: &[(HostId, Environment)], of: impl Fn(&Environment) -> Option<f64>) -> Vec<(HostId, f64)> {
    known.iter().filter_map(|(host, facts)| Some((*host, of(facts)?))).collect()
}

/// Words that differ: each of them with its hosts. What a host does not show is no difference.
fn unlike(known: &[(HostId, Environment)], of: fn(&Environment) -> Option<String>) -> Option<DifferenceKind> {
    let mut hosts_by_value: BTreeMap<String, Vec<HostId>> = BTreeMap::new();
    for (host, facts) in known {
        if let Some(value) = of(facts) {
            hosts_by_value.entry(value).or_default().push(*host);
        }
    }
    (hosts_by_value.len() > 1).then(|| DifferenceKind::Words(hosts_by_value.into_iter().collect()))
}

/// An amount whose largest and smallest are further apart than this share of the largest.
fn apart(values: &[(HostId, f64)], share: f64) -> Option<DifferenceKind> {
    let most = values.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let least = values.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    (least.1 < most.1 * (1.0 - share)).then_some(DifferenceKind::Amount {
        most_of: most.0,
        most: most.1,
        least_of: least.0,
        least: least.1,
    })
}

/// The clocks that were furthest apart at the start of a trial.
fn clocks(configuration: &str, hosts: &[HostId], trials: &[&TrialMeasurement]) -> Option<DifferenceKind> {
    let of_trial = |trial: &&TrialMeasurement| {
        let clocks = &trial.record.clocks;
        let read = |host: &HostId| Some((*host, clocks.get(host)?.start));
        let readings: Vec<(HostId, ClockReading)> = hosts.iter().filter_map(read).collect();
        let ahead = *readings.iter().max_by(|a, b| a.1.offset_ms.total_cmp(&b.1.offset_ms))?;
        let behind = *readings.iter().min_by(|a, b| a.1.offset_ms.total_cmp(&b.1.offset_ms))?;
        let unknown = (ahead.1.round_trip_ms + behind.1.round_trip_ms) / 2.0;
        Some((ahead, behind, ahead.1.offset_ms - behind.1.offset_ms - unknown))
    };
    let of_configuration = trials.iter().filter(|t| t.record.configuration == configuration);
    let furthest = of_configuration.filter_map(of_trial).max_by(|a, b| a.2.total_cmp(&b.2));
    let (ahead, behind, _) = furthest.filter(|(.., apart_ms)| *apart_ms > CLOCKS_APART_MS)?;
    Some(DifferenceKind::Amount {
        most_of: ahead.0,
        most: ahead.1.offset_ms,
        least_of: behind.0,
        least: behind.1.offset_ms,
    })
}

#[cfg(test)]
mod tests {
    use evidence::Clock;
    use serde_json::json;

    use super::*;
    use crate::rules::cases::recorded;
    use crate::story::{existing, job};

    /// One configuration of three nodes.
    fn cluster() -> Vec<Setup> {
        let mut setups = job().setups.setups;
        setups.truncate(1);
        setups[0].placement.nodes = 3;
        setups
    }

    fn found(setups: &[Setup], environment: &Value) -> Option<UnequalHosts> {
        Some(of_setup(&setups[0], environment, &[])?.figures)
    }

    /// What differs where the third of three equal hosts has these facts instead.
    fn differing(third: Value) -> Vec<String> {
        let usual = json!({
            "cpu_model": "Example 3 GHz", "microcode": "0x1", "cpus": 8, "memory_bytes": 100_000, "kernel": "6.1.0",
            "transparent_huge_pages": "madvise", "clock_source": "tsc", "swap_bytes": 0,
        });
        let mut odd = usual.clone();
        odd.as_object_mut().unwrap().extend(third.as_object().unwrap().clone());
        let environment = json!({ "provider": "hosts", "database": usual, "database-2": usual, "database-3": odd });
        found(&cluster(), &environment).iter().flat_map(in_words).collect()
    }

    /// `kernel: 6.1.0 (database) / 6.1.1 (database-2)`, `cpus: database / database-2`.
    fn in_words(figures: &UnequalHosts) -> Vec<String> {
        let reported = |difference: &HostDifference| {
            let how = match &difference.how {
                DifferenceKind::Words(words) => {
                    let each = words.iter().map(|(value, hosts)| {
                        let hosts: Vec<String> = hosts.iter().map(HostId::to_string).collect();
                        format!("{value} ({})", hosts.join(", "))
                    });
                    each.collect::<Vec<_>>().join(" / ")
                }
                DifferenceKind::Amount { most_of, least_of, .. } => format!("{most_of} / {least_of}"),
            };
            let name = serde_json::to_value(difference.fact).unwrap();
            format!("{}: {how}", name.as_str().unwrap())
        };
        figures.differences.iter().map(reported).collect()
    }

    #[test]
    fn each_difference_among_hosts_is_reported_with_its_hosts_and_equal_ones_are_not() {
        assert_eq!(differing(json!({})), [""; 0]);
        for (third, reported) in [
            (
                json!({"cpu_model": "Other 2 GHz"}),
                "processor: Example 3 GHz (database, database-2) / Other 2 GHz (database-3)",
            ),
            (json!({"microcode": "0x2"}), "microcode: 0x1 (database, database-2) / 0x2 (database-3)"),
            (json!({"kernel": "6.1.1"}), "kernel: 6.1.0 (database, database-2) / 6.1.1 (database-3)"),
            (
                json!({"transparent_huge_pages": "always"}),
                "transparent_huge_pages: always (database-3) / madvise (database, database-2)",
            ),
            (json!({"clock_source": "xen"}), "clock_source: tsc (database, database-2) / xen (database-3)"),
            (json!({"swap_bytes": 4096}), "swap: off (database, database-2) / on (database-3)"),
            (json!({"cpus": 4}), "cpus: database-2 / database-3"),
            (json!({"memory_bytes": 97_000}), "memory: database-2 / database-3"),
        ] {
            assert_eq!(differing(third), [reported]);
        }
        // What the kernel keeps for itself, another amount of swap, what a host does not show.
        assert_eq!(differing(json!({"memory_bytes": 98_100})), [""; 0]);
        assert_eq!(differing(json!({"kernel": null})), [""; 0]);
        let several = differing(json!({"cpu_model": "Other 2 GHz", "cpus": 4, "kernel": "5.4"}));
        assert_eq!(several.len(), 3, "one finding has them all: {several:?}");
    }

    #[test]
    fn a_host_of_no_node_is_not_compared_and_neither_is_a_single_one() {
        let of = |cpus: u32| json!({ "cpus": cpus });
        let environment = json!({ "database": of(8), "database-2": of(4), "client": of(2) });
        let mut setups = cluster();
        setups[0].placement.nodes = 1;
        assert_eq!(found(&setups, &environment), None);
        setups[0].placement.nodes = 2;
        let reported = found(&setups, &environment).unwrap();
        let amounts = DifferenceKind::Amount {
            most_of: HostId::database(0),
            most: 8.0,
            least_of: HostId::database(1),
            least: 4.0,
        };
        assert_eq!(reported.hosts, 2);
        assert_eq!(reported.differences.len(), 1);
        assert_eq!((reported.differences[0].fact, &reported.differences[0].how), (HostFact::Cpus, &amounts));
    }

    #[test]
    fn watched_nodes_are_compared_by_the_hosts_that_they_are_and_others_are_not() {
        let mut setups = cluster();
        let node = |host| experiment::WatchedNode {
            host,
            ssh: format!("cass{host}"),
            data: None,
            commitlog: None,
            process: None,
        };
        setups[0].placement.nodes = 2;
        setups[0].at = existing(Vec::new());
        let of = |cpus: u32| json!({ "cpus": cpus });
        let environment = json!({ "database": of(8), "database-2": of(4), "database-3": of(8) });
        assert_eq!(found(&setups, &environment), None, "nobody looks at it");
        setups[0].at = existing(vec![node(0), node(2)]);
        assert_eq!(found(&setups, &environment), None);
        setups[0].at = existing(vec![node(1), node(2)]);
        assert_eq!(in_words(&found(&setups, &environment).unwrap()), ["cpus: database-3 / database-2"]);
    }

    #[test]
    fn clocks_that_are_further_apart_than_their_readings_can_tell() {
        let reported = |third_ms: f64, round_trip_ms: f64| {
            let setups = cluster();
            let trial = recorded(|record| {
                record.configuration = setups[0].configuration.clone();
                let offsets = [10.0, 0.0, third_ms];
                record.clocks = (0..)
                    .zip(offsets)
                    .map(|(index, offset_ms)| {
                        let start = ClockReading { offset_ms, round_trip_ms };
                        (HostId::database(index), Clock { start, end: None })
                    })
                    .collect();
            });
            of_setup(&setups[0], &json!({}), &[&trial]).map(|seen| in_words(&seen.figures).concat())
        };
        let apart = Some("clock: database / database-3".to_owned());
        assert_eq!(reported(-45.0, 1.0), apart);
        assert_eq!(reported(-40.5, 1.0), None);
        assert_eq!(reported(-45.0, 10.0), None);
        assert_eq!(reported(5.0, 1.0), None);
    }
}
