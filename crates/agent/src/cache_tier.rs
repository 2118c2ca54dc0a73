//! The caches in front of a database: memcached on addresses of its own, each node in a cgroup of its own. They are
//! beside the database's first node, or each on a machine of its own ([`super::cache_host`]).
//!
//! They belong to a trial: it begins with empty ones, which the workload's own keys fill while the database is brought
//! to rest. Like the database they have all CPUs until then.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;

use database::MetricsReader;
use database::memcached::{NodeOfCache, PROGRAM, Process, StatsReader};
use experiment::CacheTierSetup;
use monitor::CgroupFiles;
use process::machine;
use reported::Reported;
use storage::{Cgroup, ResourceLimits};
use wire::{RequestError, Result};

use super::host::Host;
use super::limits::files_of;
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
    /// `None`: it was killed by plan.
    process: Option<Process>,
    /// `None`: its machine is what it is.
    cgroup: Option<Cgroup>,
    at: SocketAddrV4,
}

impl CacheTier {
    /// Empty nodes that answer, in the network of the database's node at `beside`. Where CPUs are left whole beside the
    /// databases, which were promised so many, and are as many as these are promised, they use these.
    pub fn start(host: &Host, setup: &CacheTierSetup, beside: Ipv4Addr, database_cpus: f64) -> Result<Self> {
        let left = beside_databases(setup.all_cpus(), database_cpus, machine::cpus());
        let limits = ResourceLimits { cpuset: left.map(|left| format!("0-{}", left - 1)), ..limits(setup) };
        Self::start_at(host, setup, (0..setup.nodes).map(|index| address(beside, index)), Some(&limits))
    }

    /// One node on a machine of its own, which is held to what the node is promised where it is `limited`.
    pub fn start_alone(host: &Host, of_tier: &CacheTierSetup, address: Ipv4Addr, limited: bool) -> Result<Self> {
        let setup = CacheTierSetup { nodes: 1, ..of_tier.clone() };
        let limits = limited.then(|| limits(&setup));
        Self::start_at(host, &setup, std::iter::once(address), limits.as_ref())
    }

    fn start_at(
        host: &Host,
        setup: &CacheTierSetup,
        addresses: impl Iterator<Item = Ipv4Addr>,
        limits: Option<&ResourceLimits>,
    ) -> Result<Self> {
        host.outbox.progress(format!("starting {} of {PROGRAM}", several(setup.nodes)), None);
        let node = |(number, address): (u32, Ipv4Addr)| -> Result<Node> {
            let name = Host::cgroup_name(&format!("cache-{number}"));
            let cgroup = limits.map(|limits| Cgroup::create(Path::new(CGROUP_ROOT), &host.ledger, &name, limits));
            let cgroup = cgroup.transpose()?;
            let process = started(host, setup, cgroup.as_ref(), address)?;
            Ok(Node { at: process.at(), process: Some(process), cgroup })
        };
        let nodes = (1..).zip(addresses).map(node).collect::<Result<_, _>>()?;
        Ok(Self { setup: setup.clone(), nodes })
    }

    /// What is to be watched of the first node: its process, and its cgroup where it has one.
    pub fn watched(&self) -> (Option<u32>, CgroupFiles) {
        let Some(first) = self.nodes.first() else { return (None, CgroupFiles::default()) };
        let files = first.cgroup.as_ref().map(files_of).unwrap_or_default();
        (first.process.as_ref().map(Process::pid), files)
    }

    /// What all nodes report of themselves.
    pub fn stats(&self) -> Result<StatsReader> {
        StatsReader::new(&self.addresses()).map_err(RequestError::new)
    }

    /// `host:port` of each.
    pub fn addresses(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.at.to_string()).collect()
    }

    /// Empties them: other processes at the same addresses.
    pub fn empty(&mut self, host: &Host) -> Result<()> {
        for node in &mut self.nodes {
            if let Some(cgroup) = &node.cgroup {
                cgroup.kill_all()?;
            }
            // It is ended, and awaited: the next one has its address.
            node.process = None;
            node.process = Some(started(host, &self.setup, node.cgroup.as_ref(), *node.at.ip())?);
        }
        Ok(())
    }

    /// Kills a node (SIGKILL), counted from 1: what it held is gone, and nobody answers at its address.
    pub fn kill(&mut self, number: u32) -> Result<()> {
        let node = nth(&mut self.nodes, number)?;
        let Some(process) = &mut node.process else {
            return Err(RequestError::new(format!("the cache at {} was killed before", node.at)));
        };
        // That one stays: it is lost, and no plan has made it so.
        if let Some(how) = process.ended() {
            return Err(RequestError::new(format!("the cache at {} had ended by itself: {how}", node.at)));
        }
        // It is killed, and awaited, as it is dropped.
        node.process = None;
        Ok(())
    }

    /// Starts a node that was killed again: empty, at the same address, inside of the same limits.
    pub fn bring_back(&mut self, host: &Host, number: u32) -> Result<()> {
        let node = nth(&mut self.nodes, number)?;
        node.process = Some(started(host, &self.setup, node.cgroup.as_ref(), *node.at.ip())?);
        Ok(())
    }

    /// From now on each has the CPUs that it was promised.
    pub fn hold(&self) -> Result<()> {
        let mut limited = self.nodes.iter().filter_map(|node| node.cgroup.as_ref());
        let hold = |cgroup: &Cgroup| cgroup.set_cpu_limits(Some(self.setup.cpus), None);
        limited.try_for_each(hold).map_err(RequestError::new)
    }

    /// What the database reports, and what these do.
    pub fn with(&self, database: Box<dyn MetricsReader>) -> Result<Box<dyn MetricsReader>> {
        Ok(Box::new(Both { caches: self.stats()?, database }))
    }

    /// Those that have ended by themselves, and how, in words; `None`: all are there, but what was killed by plan.
    pub fn lost(&mut self) -> Option<String> {
        let each = self.nodes.iter_mut();
        let ended = each.filter_map(|node| Some(format!("{}: {}", node.at, node.process.as_mut()?.ended()?)));
        let ended: Vec<String> = ended.collect();
        (!ended.is_empty()).then(|| ended.join("; "))
    }

    /// Ends them and removes their cgroups.
    pub fn end(self) -> Result<()> {
        self.nodes.into_iter().try_for_each(|Node { process, cgroup, .. }| {
            drop(process);
            cgroup.map_or(Ok(()), |cgroup| cgroup.remove()).map_err(RequestError::new)
        })
    }
}

/// The node with this number, counted from 1.
fn nth(nodes: &mut [Node], number: u32) -> Result<&mut Node> {
    let node = nodes.get_mut((number as usize).wrapping_sub(1));
    node.ok_or_else(|| RequestError::new(format!("there is no cache node {number}")))
}

/// What a node is held to from its first instruction on; its CPUs come later.
fn limits(setup: &CacheTierSetup) -> ResourceLimits {
    ResourceLimits {
        memory_bytes: Some(setup.memory_limit_bytes()),
        // What it was promised is as much its own as the database's is.
        before_others: true,
        ..ResourceLimits::default()
    }
}

/// A process that answers.
fn started(host: &Host, setup: &CacheTierSetup, cgroup: Option<&Cgroup>, address: Ipv4Addr) -> Result<Process> {
    let node = NodeOfCache {
        address,
        memory_bytes: setup.memory_bytes,
        cpus: setup.cpus,
        launch_prefix: cgroup.map(Cgroup::launch_prefix).unwrap_or_default(),
        oom_kills: cgroup.and_then(Cgroup::oom_kills),
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
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;
    use std::sync::Arc;
    use std::time::Duration;

    use experiment::CachePolicy;
    use storage::WorkDirectory;

    use super::*;
    use crate::outbox::Outbox;

    /// What a node answers; an error where nobody is there.
    fn asked(at: &str, request: &str) -> std::io::Result<String> {
        let mut node = TcpStream::connect(at)?;
        node.write_all(request.as_bytes())?;
        let mut answer = [0; 64];
        let length = node.read(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer[..length]).into_owned())
    }

    fn of_two_nodes() -> CacheTierSetup {
        let policy = CachePolicy::Invalidate;
        CacheTierSetup { nodes: 2, cpus: 0.5, network_bytes_per_s: None, memory_bytes: 8 << 20, ttl_s: None, policy }
    }

    /// First address of a network that no other test of this machine has, of another run of all tests neither.
    fn own_network(number: u8) -> Ipv4Addr {
        Ipv4Addr::new(127, 1 + (std::process::id() % 250) as u8, number, 1)
    }

    #[test]
    fn a_machine_of_a_cache_has_one_node_and_needs_no_cgroup_where_nothing_is_limited() {
        let directory = tempfile::tempdir().unwrap();
        let work = WorkDirectory::lock(directory.path()).unwrap();
        let host = Host::open(work, None, "alone".to_owned(), Outbox::new(Arc::default())).unwrap();
        let mut cache = CacheTier::start_alone(&host, &of_two_nodes(), own_network(243), false).unwrap();
        let at = format!("{}:11211", own_network(243));
        assert_eq!(cache.addresses(), [at.as_str()]);
        let at = at.as_str();
        let (first, _) = cache.watched();
        assert!(first.is_some());
        assert_eq!(asked(at, "set a 0 0 1\r\nx\r\n").unwrap(), "STORED\r\n");
        cache.empty(&host).unwrap();
        assert_eq!(asked(at, "get a\r\n").unwrap(), "END\r\n");
        assert_ne!(cache.watched().0, first, "another process");
        cache.kill(1).unwrap();
        assert!(asked(at, "get a\r\n").is_err(), "nobody is there");
        assert_eq!((cache.watched().0, cache.lost()), (None, None));
        cache.bring_back(&host, 1).unwrap();
        assert_eq!(asked(at, "get a\r\n").unwrap(), "END\r\n");
        cache.hold().unwrap();
        cache.end().unwrap();
    }

    #[test]
    fn a_node_that_is_killed_by_plan_is_not_lost_and_comes_back_empty() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: needs root for cgroups");
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let work = WorkDirectory::lock(directory.path()).unwrap();
        let host = Host::open(work, None, "killed".to_owned(), Outbox::new(Arc::default())).unwrap();
        let mut tier = CacheTier::start(&host, &of_two_nodes(), own_network(242), 1.0).unwrap();
        tier.hold().unwrap();
        let addresses = tier.addresses();
        for at in &addresses {
            assert_eq!(asked(at, "set a 0 0 1\r\nx\r\n").unwrap(), "STORED\r\n");
        }
        tier.kill(2).unwrap();
        assert!(asked(&addresses[1], "get a\r\n").is_err(), "nobody is there");
        assert_eq!(tier.lost(), None, "it is away by plan");
        assert_eq!(asked(&addresses[0], "get a\r\n").unwrap(), "VALUE a 0 1\r\nx\r\nEND\r\n");
        let refused = |killed: Result<()>| killed.unwrap_err().message;
        assert!(refused(tier.kill(2)).ends_with("was killed before"));
        assert_eq!(refused(tier.kill(3)), "there is no cache node 3");

        tier.bring_back(&host, 2).unwrap();
        assert_eq!(tier.addresses(), addresses, "where clients look for it");
        assert_eq!(asked(&addresses[1], "get a\r\n").unwrap(), "END\r\n", "it is empty");
        // One that ends by itself is lost, and no fault makes that a plan.
        tier.nodes[0].cgroup.as_ref().unwrap().kill_all().unwrap();
        let lost = (0..2_000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            tier.lost()
        });
        let lost = lost.unwrap();
        assert!(lost.starts_with(&addresses[0]), "{lost}");
        assert!(refused(tier.kill(1)).contains("had ended by itself"));
        assert_eq!(tier.lost(), Some(lost), "and stays so");
        tier.end().unwrap();
    }

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
