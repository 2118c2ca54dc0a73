//! The hosts provider: machines of the user's own, by the user's own OpenSSH.
//!
//! An agent is `iopslab agent` on the machine, started by `ssh` as a child process here: requests go in on its stdin,
//! what it says comes out of its stdout, and no port is opened. The program is brought there once, by its hash.
//!
//! Connections are not shared (no `ControlMaster`): a shared connection outlives a controller that was killed, and one
//! that the user's own configuration keeps open would not notice within seconds that a host is lost. The price is at
//! most three connections to a host for each start of its agent.

mod error;
mod program;
pub(crate) mod ssh;

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use evidence::{HostId, Role};
use experiment::{CacheMachine, DatabaseMachine, HostsSettings, SshFiles};
use guarded::shell_word;
use wire::MachineUse;

use crate::stderr::{forward, say};
use crate::{Agent, AgentError, HostAddress, Incoming, LastWords, ProcessAgent, Provider};
pub use error::HostError;
use program::Programs;
use ssh::Ssh;

/// An agent that has heard nothing for so long ends itself, seconds: several times the period, and less than a user
/// waits before looking.
const WATCHDOG_S: u64 = 10;
/// How often an agent gets [`wire::Request::Alive`].
const ALIVE_PERIOD: Duration = Duration::from_secs(2);

/// Starts agents on machines of the user's.
#[derive(Debug)]
pub struct Hosts {
    ssh: Ssh,
    /// Those of databases and caches.
    machines: BTreeMap<HostId, DatabaseMachine>,
    /// Those of clients, by the numbers of their hosts.
    clients: BTreeMap<u32, String>,
    limits: bool,
    addresses: BTreeMap<String, Ipv4Addr>,
    programs: Programs,
    /// Where the program is on each machine, by its name.
    installed: BTreeMap<String, String>,
    /// Whether the databases are somebody else's: agents only look, and keep nothing there.
    only_watched: bool,
}

impl Hosts {
    /// `binary` is this program's own file. Addresses that are not stated are looked up; nothing else happens. Hosts
    /// are numbered in the order of the settings, and held to configurations where `limits` says so.
    pub fn new(settings: &HostsSettings, limits: bool, binary: &Path) -> Result<Self, HostError> {
        Ok(Self { limits, ..Self::numbered(settings, (0.., 0.., 0..), binary)? })
    }

    /// Machines as they are, with other numbers of the hosts: of those of databases, of caches, and of clients.
    pub(crate) fn numbered<N: IntoIterator<Item = u32>>(
        settings: &HostsSettings,
        (databases, caches, clients): (N, N, N),
        binary: &Path,
    ) -> Result<Self, HostError> {
        let ssh = Ssh::new(settings.ssh.ssh_config.as_deref());
        let alone = settings.database.len() == 1 && settings.client == [settings.database[0].ssh.clone()];
        let of_cache = |CacheMachine { ssh, address, work_directory }: CacheMachine| DatabaseMachine {
            ssh,
            address,
            work_directory,
            ..DatabaseMachine::default()
        };
        let databases = databases.into_iter().map(HostId::database).zip(settings.database.iter().cloned());
        let caches = caches.into_iter().map(HostId::cache).zip(settings.cache.iter().cloned().map(of_cache));
        let machines: BTreeMap<HostId, DatabaseMachine> = databases.chain(caches).collect();
        let mut addresses = BTreeMap::new();
        for DatabaseMachine { ssh: name, address, .. } in machines.values() {
            let address = match *address {
                Some(stated) => stated,
                None => ssh.address(name)?,
            };
            // A cache has no client on its machine.
            if address.is_loopback() && !(alone && *name == settings.database[0].ssh) {
                let name = name.clone();
                return Err(HostError::Loopback { name, address });
            }
            addresses.insert(name.clone(), address);
        }
        Ok(Self {
            machines,
            clients: clients.into_iter().zip(settings.client.iter().cloned()).collect(),
            addresses,
            ..Self::reached_by(&settings.ssh, binary)
        })
    }

    /// Those of an existing cluster: of its clients, and of its nodes that are only watched, by the numbers of their
    /// hosts. Nothing happens here.
    pub fn of_existing(files: &SshFiles, clients: Vec<String>, watched: Vec<String>, binary: &Path) -> Self {
        let machine = |ssh| DatabaseMachine { ssh, ..DatabaseMachine::default() };
        Self {
            machines: (0..).map(HostId::database).zip(watched.into_iter().map(machine)).collect(),
            clients: (0..).zip(clients).collect(),
            only_watched: true,
            ..Self::reached_by(files, binary)
        }
    }

    /// None so far. The cluster itself says where its nodes are.
    fn reached_by(files: &SshFiles, binary: &Path) -> Self {
        let stated = [&files.binary_x86_64, &files.binary_aarch64];
        let others = stated.into_iter().flatten().map(PathBuf::from).collect();
        Self {
            ssh: Ssh::new(files.ssh_config.as_deref()),
            machines: BTreeMap::new(),
            clients: BTreeMap::new(),
            limits: false,
            addresses: BTreeMap::new(),
            programs: Programs::new(binary.to_owned(), others),
            installed: BTreeMap::new(),
            only_watched: false,
        }
    }

    /// Whether clients have machines of their own.
    pub fn has_clients(&self) -> bool {
        !self.clients.is_empty()
    }

    /// The name of a host's machine.
    fn name(&self, host: HostId) -> Result<&str, HostError> {
        let name = match host.role {
            Role::Database | Role::Cache => self.machines.get(&host).map(|machine| machine.ssh.as_str()),
            Role::Client => self.clients.get(&host.index).map(String::as_str),
        };
        name.ok_or_else(|| HostError::NoMachine(host.to_string()))
    }

    /// The program is on all of these machines, which are worked on at the same time.
    fn install(&mut self, names: &BTreeSet<String>) -> Result<(), HostError> {
        let (ssh, programs) = (&self.ssh, &self.programs);
        let installed: Vec<(String, Result<String, HostError>)> = thread::scope(|scope| {
            let each =
                names.iter().map(|name| (name, scope.spawn(|| programs.install(ssh, name, &|what| say(name, what)))));
            let started: Vec<_> = each.collect();
            let join = |(name, thread): (&String, thread::ScopedJoinHandle<'_, _>)| {
                let outcome = thread.join().unwrap_or_else(|_| Err(HostError::Ended(name.clone())));
                (name.clone(), outcome)
            };
            started.into_iter().map(join).collect()
        });
        let mut errors = Vec::new();
        for (name, outcome) in installed {
            match outcome {
                Ok(path) => drop(self.installed.insert(name, path)),
                Err(error) => errors.push(error),
            }
        }
        HostError::all(errors)
    }

    /// Cleans each machine; with its name. Old versions of the program are removed from those of clients too; from
    /// those that are only watched nothing else, because nothing else was put there.
    pub fn clean(&mut self, snapshots: bool) -> Vec<(String, Result<Cleaned, HostError>)> {
        let machines = self.machines.values().map(|machine| (machine.ssh.clone(), machine.work_directory.clone()));
        let machines: Vec<(String, Option<String>)> = machines.collect();
        let mut clean = |name: &str, work_directory: Option<String>| -> Result<Cleaned, HostError> {
            if self.only_watched {
                let programs = program::remove_unused(&self.ssh, name)?;
                return Ok(Cleaned { said: None, programs });
            }
            self.install(&BTreeSet::from([name.to_owned()]))?;
            let mut command = format!("exec {} clean --format json", shell_word(self.program(name)?));
            if let Some(directory) = &work_directory {
                command += &format!(" --work-directory {}", shell_word(directory));
            }
            if snapshots {
                command += " --snapshots";
            }
            let said = self.ssh.run(name, &command, None)?;
            let programs = program::remove_unused(&self.ssh, name)?;
            Ok(Cleaned { said: Some(said), programs })
        };
        let each = machines.into_iter().map(|(name, work_directory)| {
            let outcome = clean(&name, work_directory);
            (name, outcome)
        });
        let mut cleaned: Vec<_> = each.collect();
        for name in self.clients.values() {
            if !cleaned.iter().any(|(known, _)| known == name) {
                let programs = program::remove_unused(&self.ssh, name);
                let outcome = programs.map(|programs| Cleaned { said: None, programs });
                cleaned.push((name.clone(), outcome));
            }
        }
        cleaned
    }

    fn program(&self, name: &str) -> Result<&str, HostError> {
        let installed = self.installed.get(name).map(String::as_str);
        installed.ok_or_else(|| HostError::NoMachine(name.to_owned()))
    }
}

impl Provider for Hosts {
    fn prepare(&mut self, hosts: &[HostId]) -> Result<(), AgentError> {
        let names = hosts.iter().map(|host| self.name(*host).map(str::to_owned));
        let names = names.collect::<Result<BTreeSet<_>, _>>()?;
        Ok(self.install(&names)?)
    }

    fn start(&mut self, host: HostId, inbox: Sender<Incoming>) -> Result<Box<dyn Agent>, AgentError> {
        let name = self.name(host)?.to_owned();
        let (program, role) = (shell_word(self.program(&name)?), host.role.name());
        let command = format!("exec {program} agent --role {role} --watchdog-s {WATCHDOG_S}");
        let mut command = self.ssh.command(&name, &command);
        command.stderr(Stdio::piped());
        let mut agent = ProcessAgent::start(host, command, inbox)?;
        agent.stay_in_touch(ALIVE_PERIOD);
        let last_words = LastWords::default();
        if let Some(stderr) = agent.take_stderr() {
            forward(name.clone(), stderr, Arc::clone(&last_words));
        }
        agent.by_ssh = Some((name, last_words));
        Ok(Box::new(agent))
    }

    fn place(&self, host: HostId) -> HostAddress {
        let name = self.name(host).unwrap_or_default().to_owned();
        HostAddress { address: self.addresses.get(&name).copied().unwrap_or(Ipv4Addr::UNSPECIFIED), machine: name }
    }

    fn machine_use(&self, host: HostId) -> Option<MachineUse> {
        self.machines.get(&host).map(|machine| MachineUse {
            work_directory: machine.work_directory.clone(),
            limits: self.limits,
            data: machine.data.clone(),
            commitlog: machine.commitlog.clone(),
            snapshot: machine.snapshot.clone(),
        })
    }

    fn may_come_back(&self) -> bool {
        true
    }
}

/// What was cleaned on a machine.
#[derive(Debug)]
pub struct Cleaned {
    /// What `iopslab clean` said there, as JSON; `None` where no agent keeps anything: clients, nodes that are watched.
    pub said: Option<String>,
    /// Versions of the program that were removed, for people.
    pub programs: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_database_with_its_only_client_beside_it_may_be_at_a_loopback_address() {
        let refused = |client: &str, cache: Option<[u8; 4]>| {
            let loopback = Some(Ipv4Addr::LOCALHOST);
            let database = DatabaseMachine { ssh: "db1".to_owned(), address: loopback, ..DatabaseMachine::default() };
            let machine = |address: [u8; 4]| CacheMachine {
                ssh: "cache1".to_owned(),
                address: Some(address.into()),
                ..CacheMachine::default()
            };
            let settings = HostsSettings {
                database: vec![database],
                cache: cache.map(machine).into_iter().collect(),
                client: vec![client.to_owned()],
                ..HostsSettings::default()
            };
            match Hosts::new(&settings, false, Path::new("/iopslab")) {
                Ok(_) => None,
                Err(HostError::Loopback { name, .. }) => Some(name),
                Err(other) => panic!("{other}"),
            }
        };
        assert_eq!(refused("db1", None), None);
        assert_eq!(refused("load1", None).as_deref(), Some("db1"));
        assert_eq!(refused("db1", Some([10, 0, 0, 9])), None, "the cache has an address for others");
        assert_eq!(refused("db1", Some([127, 0, 0, 1])).as_deref(), Some("cache1"));
    }
}
