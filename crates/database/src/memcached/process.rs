//! One memcached process: started, awaited, ended.

use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit};

use super::stats::answering;
use crate::account::{Account, command, spawn};
use crate::ended::MemoryKills;

/// What is to be installed: the program, and the package of Debian and Fedora.
pub const PROGRAM: &str = "memcached";
/// Its usual port.
const PORT: u16 = 11_211;
/// How long one may take until it answers: it does in milliseconds, where the machine does not stand still.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at whether it does.
const LOOK: Duration = Duration::from_millis(10);
/// Most bytes of what it said that stand in an error.
const QUOTED_BYTES: u64 = 2_000;
const MIB: u64 = 1 << 20;
/// Connections that a node takes at the most, where this user may have so many files open: memcached's own bound of
/// 1,024 (`-c`) is below what clients may have in flight (30,000), each of which has a connection of its own.
const MOST_CONNECTIONS: u64 = 65_536;

/// What a node is to be.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeOfCache {
    /// Where it listens.
    pub address: Ipv4Addr,
    /// Memory for items, bytes; whole MiB of it are given.
    pub memory_bytes: u64,
    /// CPUs that it may use: it has a thread for each.
    pub cpus: f64,
    /// Comes before its command: what places it into its cgroups.
    pub launch_prefix: Vec<String>,
    /// Where the kernel counts what it killed for lack of memory in them (`oom_kill N`), if they limit that.
    pub oom_kills: Option<PathBuf>,
}

/// Why there is no node.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum CacheError {
    #[error("{PROGRAM} is not installed")]
    NotInstalled,
    #[error("{PROGRAM} cannot listen at {at}: {reason}")]
    Address { at: SocketAddrV4, reason: io::Error },
    #[error("{PROGRAM} cannot be started: {0}")]
    Spawn(#[from] io::Error),
    #[error("{PROGRAM} at {at} ended ({how}) before it answered: {said}")]
    Ended { at: SocketAddrV4, how: String, said: String },
    #[error("{PROGRAM} at {at} does not answer: {reason}")]
    Silent { at: SocketAddrV4, reason: String },
}

/// Whether a node could listen at this address now. Errors: another process listens there, or at all addresses, or this
/// machine has no such address.
pub fn can_listen(address: Ipv4Addr) -> Result<(), CacheError> {
    let at = SocketAddrV4::new(address, PORT);
    TcpListener::bind(at).map(drop).map_err(|reason| CacheError::Address { at, reason })
}

/// A process that runs. Dropping it ends it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    at: SocketAddrV4,
    kills: MemoryKills,
}

impl Process {
    /// Starts it, as this user where there is one, and returns at once; [`Self::wait_ready`] follows.
    pub fn start(node: &NodeOfCache, account: Option<&Account>) -> Result<Self, CacheError> {
        let program = guarded::program(PROGRAM).ok_or(CacheError::NotInstalled)?;
        let mut command = command(&node.launch_prefix, account, program.as_os_str());
        command
            // No UDP, and nothing but this address.
            .args(["-l", &node.address.to_string(), "-p", &PORT.to_string(), "-U", "0"])
            .args(["-m", &(node.memory_bytes / MIB).max(1).to_string()])
            .args(["-t", &node.cpus.ceil().max(1.0).to_string()])
            // More than the system allows memcached refuses to start with.
            .args(["-c", &files_allowed().min(MOST_CONNECTIONS).to_string()])
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0);
        let kills = MemoryKills::from_now(node.oom_kills.as_deref());
        let child = spawn(&mut command, account)?;
        Ok(Self { child, at: SocketAddrV4::new(node.address, PORT), kills })
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Where it listens.
    pub fn at(&self) -> SocketAddrV4 {
        self.at
    }

    /// Waits until it answers, and no other process at its address: that one may have been there before, and answers
    /// until this one has found so and ends. Errors: it has ended, or does not answer in time.
    pub fn wait_ready(&mut self) -> Result<(), CacheError> {
        let (at, deadline) = (self.at, Instant::now() + START_PATIENCE);
        loop {
            if let Some(how) = self.ended() {
                return Err(CacheError::Ended { at, how, said: self.said() });
            }
            let reason = match answering(&at.to_string()) {
                Ok(pid) if pid == self.pid() => return Ok(()),
                Ok(pid) => format!("process {pid} answers there"),
                Err(reason) => reason,
            };
            if Instant::now() >= deadline {
                return Err(CacheError::Silent { at, reason });
            }
            std::thread::sleep(LOOK);
        }
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        Some(self.kills.describe(status))
    }

    /// What one that has ended said.
    fn said(&mut self) -> String {
        let mut said = Vec::new();
        if let Some(stderr) = self.child.stderr.take() {
            let _ = stderr.take(QUOTED_BYTES).read_to_end(&mut said);
        }
        String::from_utf8_lossy(&said).trim().replace('\n', "; ")
    }
}

/// Files that a process of this user may have open.
fn files_allowed() -> u64 {
    getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX)
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended already needs neither.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::super::own_address;
    use super::*;

    #[test]
    fn where_another_process_listens_or_nobody_can_no_node_can() {
        let own = own_address(250, 2);
        can_listen(own).unwrap();
        let other = TcpListener::bind((own, PORT)).unwrap();
        let error = can_listen(own).unwrap_err().to_string();
        let taken = format!("memcached cannot listen at {own}:11211: Address already in use");
        assert!(error.starts_with(&taken), "{error}");
        drop(other);
        can_listen(own).unwrap();
        // Of documentation (RFC 5737): no machine has it.
        let error = can_listen(Ipv4Addr::new(192, 0, 2, 1)).unwrap_err().to_string();
        assert!(error.contains("192.0.2.1:11211: Cannot assign requested address"), "{error}");
    }

    /// What would place it into its cgroups cannot.
    #[test]
    fn one_that_ends_at_once_is_no_node() {
        let node = NodeOfCache {
            address: own_address(250, 1),
            memory_bytes: 8 << 20,
            cpus: 0.25,
            launch_prefix: ["/bin/sh", "-c", "echo no room >&2; exit 71", "x"].map(str::to_owned).to_vec(),
            oom_kills: None,
        };
        let mut process = Process::start(&node, None).expect("scripts/setup.sh --tests installs memcached");
        let error = process.wait_ready().unwrap_err().to_string();
        let at = node.address;
        assert_eq!(error, format!("memcached at {at}:11211 ended (exit code 71) before it answered: no room"));
    }
}
