//! The caches in front of a database: memcached on addresses of its own, each node in a cgroup of its own.
//!
//! They belong to a trial: it begins with empty ones, which the workload's own keys fill while the database is brought
//! to rest. Like the database they have all CPUs until then.

use std::net::Ipv4Addr;
use std::path::Path;

use database::MetricsReader;
use database::memcached::{NodeOfCache, PROGRAM, Process, StatsReader};
use experiment::CacheTierSetup;
use process::machine;
use reported::Reported;
use storage::{Cgroup, ResourceLimits};
use wire::RequestError;

use super::host::Host;
use super::volumes::CGROUP_ROOT;

/// Last part of the first node's address: those of database nodes of a machine are below it.
const FIRST_HOST: u8 = 101;

/// The nodes of a trial.
pub(super) struct CacheTier {
    setup: CacheTierSetup,
    nodes: Vec<Node>,
}

/// A process and what holds it. The process is dropped, and so ended, first.
struct Node {
    process: Process,
    cgroup: Cgroup,
    address: Ipv4Addr,
}

impl CacheTier {
    /// Empty nodes that answer, in the network of the database's node at `beside`. Where CPUs are left whole beside the
    /// databases, which were promised so many, and are as many as these are promised, they use these.
    pub fn start(
        host: &Host,
        setup: &CacheTierSetup,
        beside: Ipv4Addr,
        database_cpus: f64,
    ) -> Result<Self, RequestError> {
        host.outbox.progress(format!("starting {} of {PROGRAM}", several(setup.nodes)), None);
        let left = beside_databases(setup.all_cpus(), database_cpus, machine::cpus());
        let limits = ResourceLimits {
            memory_bytes: Some(setup.memory_limit_bytes()),
            cpuset: left.map(|left| format!("0-{}", left - 1)),
            // What it was promised is as much its own as the database's is.
            before_others: true,
            ..ResourceLimits::default()
        };
        let node = |index: u32| -> Result<Node, RequestError> {
            let address = address(beside, index);
            let name = Host::cgroup_name(&format!("cache-{}", index + 1));
            let cgroup = Cgroup::create(Path::new(CGROUP_ROOT), &host.ledger, &name, &limits)?;
            Ok(Node { process: started(host, setup, &cgroup, address)?, cgroup, address })
        };
        let nodes = (0..setup.nodes).map(node).collect::<Result<_, _>>()?;
        Ok(Self { setup: setup.clone(), nodes })
    }

    /// `host:port` of each.
    pub fn addresses(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.process.at().to_string()).collect()
    }

    /// Empties them: other processes at the same addresses.
    pub fn empty(&mut self, host: &Host) -> Result<(), RequestError> {
        for node in &mut self.nodes {
            node.cgroup.kill_all()?;
            node.process = started(host, &self.setup, &node.cgroup, node.address)?;
        }
        Ok(())
    }

    /// From now on each has the CPUs that it was promised.
    pub fn hold(&self) -> Result<(), RequestError> {
        let hold = |node: &Node| node.cgroup.set_cpu_limits(Some(self.setup.cpus), None);
        self.nodes.iter().try_for_each(hold).map_err(RequestError::new)
    }

    /// What the database reports, and what these do.
    pub fn with(&self, database: Box<dyn MetricsReader>) -> Result<Box<dyn MetricsReader>, RequestError> {
        let caches = StatsReader::new(&self.addresses())?;
        Ok(Box::new(Both { caches, database }))
    }

    /// Those that have ended by themselves, and how, in words; `None`: all are there.
    pub fn lost(&mut self) -> Option<String> {
        let each = self.nodes.iter_mut();
        let ended = each.filter_map(|node| Some(format!("{}: {}", node.process.at(), node.process.ended()?)));
        let ended: Vec<String> = ended.collect();
        (!ended.is_empty()).then(|| ended.join("; "))
    }

    /// Ends them and removes their cgroups.
    pub fn end(self) -> Result<(), RequestError> {
        self.nodes.into_iter().try_for_each(|Node { process, cgroup, .. }| {
            drop(process);
            cgroup.remove().map_err(RequestError::new)
        })
    }
}

/// A process that answers.
fn started(host: &Host, setup: &CacheTierSetup, cgroup: &Cgroup, address: Ipv4Addr) -> Result<Process, RequestError> {
    let node = NodeOfCache {
        address,
        memory_bytes: setup.memory_bytes,
        cpus: setup.cpus,
        launch_prefix: cgroup.launch_prefix(),
    };
    let mut process = Process::start(&node, host.account.as_ref())?;
    host.remember_process(process.pid(), PROGRAM)?;
    process.wait_ready()?;
    Ok(process)
}

/// The address of a node beside a database's.
fn address(beside: Ipv4Addr, index: u32) -> Ipv4Addr {
    let [a, b, c, _] = beside.octets();
    Ipv4Addr::new(a, b, c, FIRST_HOST.saturating_add(u8::try_from(index).unwrap_or(u8::MAX)))
}

/// The first so many CPUs of a machine, which have all that is promised to caches; `None`: all of them.
fn beside_databases(caches_cpus: f64, database_cpus: f64, machine: usize) -> Option<usize> {
    machine::left_beside(database_cpus, machine).filter(|left| *left as f64 >= caches_cpus)
}

fn several(nodes: u32) -> String {
    if nodes == 1 { "one node".to_owned() } else { format!("{nodes} nodes") }
}

/// Two that are asked one after the other; the caches first, which answer at once or are not waited for.
struct Both {
    caches: StatsReader,
    database: Box<dyn MetricsReader>,
}

impl MetricsReader for Both {
    fn read(&mut self) -> Reported {
        let mut reported = self.caches.read();
        reported.extend(self.database.read());
        reported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_a_cache_are_in_the_network_of_the_run_and_at_no_address_of_a_database() {
        let beside = Ipv4Addr::new(127, 0, 1, 3);
        assert_eq!(address(beside, 0), Ipv4Addr::new(127, 0, 1, 101));
        assert_eq!(address(beside, 63), Ipv4Addr::new(127, 0, 1, 164));
        assert_eq!((several(1), several(2)), ("one node".to_owned(), "2 nodes".to_owned()));
    }

    #[test]
    fn caches_are_not_held_to_fewer_cpus_than_they_are_promised() {
        assert_eq!(beside_databases(2.0, 1.5, 4), Some(2));
        assert_eq!(beside_databases(2.4, 1.5, 4), None, "2.4 of the 2.5 that are left, of which 2 are whole");
        assert_eq!(beside_databases(0.5, 4.0, 4), None, "none is left");
    }
}
