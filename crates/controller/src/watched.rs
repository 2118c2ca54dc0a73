//! Nodes of existing clusters that are watched: which they are, and that each of them is found.

use std::collections::BTreeMap;

use evidence::HostId;
use experiment::{Setup, WatchedNode};
use wire::{DatabaseRequest, Reply, Request, WatchTask, WatchedFacts};

use super::agents::Agents;
use super::run_failure::{Result, answer};

/// Where CQL is spoken if a contact point does not say.
const USUAL_PORT: u16 = 9042;

/// Every node once, with the configurations of its cluster.
fn nodes(setups: &[Setup]) -> BTreeMap<HostId, (&WatchedNode, Vec<&Setup>)> {
    let mut nodes = BTreeMap::new();
    for setup in setups {
        for node in setup.at.watched() {
            let (_, setups) = nodes.entry(HostId::database(node.host)).or_insert_with(|| (node, Vec::new()));
            setups.push(setup);
        }
    }
    nodes
}

fn task((node, setups): &(&WatchedNode, Vec<&Setup>)) -> WatchTask {
    let contact_points = setups.iter().filter_map(|setup| setup.at.contact_points()).flatten();
    let port = |point: &String| {
        let (_, port) = point.rsplit_once(':')?;
        port.parse().ok()
    };
    let mut ports: Vec<u16> = contact_points.map(|point| port(point).unwrap_or(USUAL_PORT)).collect();
    ports.sort_unstable();
    ports.dedup();
    WatchTask { node: (*node).clone(), ports, commitlog: setups.iter().any(|setup| setup.commitlog.is_some()) }
}

/// Finds every node; from here on its agent only looks.
pub(super) fn find(setups: &[Setup], agents: &mut Agents) -> Result<BTreeMap<HostId, WatchedFacts>> {
    let request = |(host, node)| (host, Request::Database(DatabaseRequest::Watch(task(&node))));
    let requests = nodes(setups).into_iter().map(request).collect();
    agents.call_all(requests, answer!(Reply::Watched(facts) => facts))
}

/// The same, with what was found for people: what is watched, what is not, and where a machine is not what is stated.
pub(super) fn find_and_tell(setups: &[Setup], agents: &mut Agents) -> Result<()> {
    let found = find(setups, agents)?;
    let screen = &agents.screen;
    for (host, (node, of_node)) in nodes(setups) {
        let (Some(facts), ssh) = (found.get(&host), &node.ssh) else { continue };
        screen.say(&format!("watching {ssh} as {host}: {}", facts.what));
        for missing in &facts.missing {
            screen.say(&format!("not watched on {ssh}: {missing}"));
        }
        for setup in of_node.into_iter().filter(|setup| setup.cpus != facts.cpus) {
            screen.say(&format!(
                "note: configuration {} states {} CPUs, the database on {ssh} has {}: its use is a share of those",
                setup.configuration, setup.cpus, facts.cpus
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use experiment::testing::{configuration, job, reads};

    use super::*;

    #[test]
    fn each_node_is_found_by_the_ports_of_its_own_cluster() {
        let log = "commitlog_volume = { iops = 50 }";
        let elsewhere = "hosts = [\"10.0.1.5:9042\"]\n[[configuration.node]]\nssh = \"b\"\nprocess = \"scylla\"";
        let configurations = [("one", log), ("same", log), ("other", elsewhere)];
        let configurations = configurations.map(|(name, more)| configuration(name, (1.0, 8.0), more)).concat();
        let target = "[target]\nhosts = [\"10.0.0.5:9043\", \"10.0.0.6\"]\nkeyspace = \"lab\"\n\
                      [[target.node]]\nssh = \"a\"\n";
        let setups = job(&reads(&[target, &configurations].concat(), "")).setups;
        let tasks: Vec<WatchTask> = nodes(&setups).values().map(task).collect();
        let seen: Vec<(&str, &[u16], bool)> =
            tasks.iter().map(|task| (task.node.ssh.as_str(), task.ports.as_slice(), task.commitlog)).collect();
        assert_eq!(seen, [("a", &[9042, 9043][..], true), ("b", &[9042][..], false)]);
        let hosts: Vec<String> = nodes(&setups).keys().map(ToString::to_string).collect();
        assert_eq!(hosts, ["database", "database-2"]);
    }
}
