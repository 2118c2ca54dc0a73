//! One Cassandra process: its directories and settings, its start, its death, its stop.
//!
//! A node runs in its own process group, so that Ctrl-C in a terminal reaches iopslab and not the database: iopslab
//! decides when the database stops. It can be started through a prefix command that ends in `exec "$@"` (placing itself
//! into cgroups first); the process id then stays that of Java.

use std::{
    io,
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::process::CommandExt,
    process::{Child, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rustix::process::Signal;

use super::{
    admin::Admin,
    distribution::Distribution,
    host_name::check_host_name,
    java::{Java, in_plain_surroundings},
    jvm::{self, ArchiveUse},
    management::Management,
    node_config::NodeConfig,
    node_error::NodeError,
    node_files::prepare,
};
use crate::account::{command, spawn};
use crate::ended::{MemoryKills, send};
use crate::log_tail::tail;
use crate::plan::Ports;

/// Log lines quoted in an error.
const QUOTED_LINES: usize = 15;

/// How long a killed process may take to end: the kernel gives its memory back first.
const KILL_PATIENCE: Duration = Duration::from_secs(20);
/// Between two looks at whether it answers, or has ended.
const LOOK: Duration = Duration::from_millis(10);
/// Within this a node that is ready answers: a connection to one that is not is given up, and tried again.
const AN_ATTEMPT: Duration = Duration::from_secs(5);

/// A running node, started by this process. Dropping it does **not** stop it: call [`Node::stop`] or [`Node::kill`].
#[derive(Debug)]
pub struct Node {
    config: NodeConfig,
    management: Management,
    child: Child,
    started: Instant,
    kills: MemoryKills,
    /// Set once the process has been waited for.
    ended: Option<ExitStatus>,
}

impl Node {
    /// Write the node's files and start it.
    pub fn start(distribution: &Distribution, java: &Java, config: NodeConfig) -> Result<Self, NodeError> {
        let archive = distribution.start_archive.as_deref().map_or(ArchiveUse::None, ArchiveUse::Use);
        Self::start_with(distribution, java, config, archive)
    }

    pub(crate) fn start_with(
        distribution: &Distribution,
        java: &Java,
        config: NodeConfig,
        archive: ArchiveUse<'_>,
    ) -> Result<Self, NodeError> {
        Self::check_ports(config.plan.address, config.plan.ports)?;
        prepare(&config, &distribution.version)?;
        let management = Management::prepare(&config)?;
        let account = config.account.as_ref();
        if let Some(account) = account {
            account.check_way([java.path.as_path(), &distribution.cache])?;
        }
        let console_path = config.console_log();
        // Its directory is the database's: a name that is there may be a link.
        let console = guarded::create_new(&console_path, 0o644);
        let console = console.map_err(|source| NodeError::io(&console_path, source))?;
        let errors = console.try_clone().map_err(|source| NodeError::io(&console_path, source))?;
        let mut command = command(&config.plan.launch_prefix, account, java.path.as_os_str());
        // Settings meant for other Java programs must not leak into a measured server.
        in_plain_surroundings(&mut command)
            .args(jvm::arguments(distribution, java, &config, archive))
            .current_dir(&config.plan.directories.own)
            .stdin(Stdio::null())
            .stdout(console)
            .stderr(errors)
            .process_group(0);
        let program = command.get_program().to_string_lossy().into_owned();
        let kills = MemoryKills::from_now(config.plan.oom_kills.as_deref());
        let child = spawn(&mut command, account).map_err(|source| NodeError::Spawn { program, source })?;
        tracing::debug!(pid = child.id(), address = %config.plan.client_address(), "Cassandra starts");
        Ok(Self { config, management, child, started: Instant::now(), kills, ended: None })
    }

    /// What it was started with.
    pub fn config(&self) -> &NodeConfig {
        &self.config
    }

    /// Where it is managed, and the way in.
    pub fn management(&self) -> &Management {
        &self.management
    }

    /// Process id of Java.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Wait until CQL answers a query; gives the time since the start.
    pub fn wait_ready(&mut self, timeout: Duration, cancelled: &dyn Fn() -> bool) -> Result<Duration, NodeError> {
        self.wait_answer(timeout, cancelled).map(|(took, _)| took)
    }

    /// As [`Node::wait_ready`]; gives the connection that was answered, too, on which each later answer may take
    /// `timeout`.
    pub(super) fn wait_answer(
        &mut self,
        timeout: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(Duration, Admin), NodeError> {
        let address = self.config.plan.client_address();
        let deadline = Instant::now() + timeout;
        loop {
            let reason = match TcpStream::connect_timeout(&address, Duration::from_secs(1)) {
                Err(error) => format!("port: {error}"),
                Ok(_) => match Admin::connect_and_ping(address, AN_ATTEMPT, timeout) {
                    Ok(admin) => return Ok((self.started.elapsed(), admin)),
                    Err(error) => error.to_string(),
                },
            };
            if let Some(status) = self.exited() {
                return Err(self.died(&status));
            }
            if cancelled() {
                return Err(NodeError::Cancelled { address });
            }
            if Instant::now() >= deadline {
                return Err(NodeError::NotReady {
                    address,
                    waited_s: self.started.elapsed().as_secs_f64(),
                    reason,
                    host_name: check_host_name().err().map(Box::new),
                    log: self.config.system_log(),
                    tail: self.config.log_tail(QUOTED_LINES),
                });
            }
            std::thread::sleep(LOOK);
        }
    }

    fn died(&self, status: &str) -> NodeError {
        NodeError::Died {
            address: self.config.plan.client_address(),
            status: status.to_owned(),
            host_name: check_host_name().err().map(Box::new),
            log: self.config.system_log(),
            tail: self.config.log_tail(QUOTED_LINES),
        }
    }

    /// `None` while it runs; otherwise how it ended. [`NodeConfig::log_tail`] may say why.
    pub fn exited(&mut self) -> Option<String> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended.map(|status| self.kills.describe(status))
    }

    /// Stop it in order: SIGTERM, on which Cassandra drains (flushes all memtables, ends the commit log); SIGKILL if it
    /// has not ended after `timeout`. `Ok` means that the process is gone; whether it drained is
    /// [`Node::stopped_cleanly`].
    pub fn stop(&mut self, timeout: Duration) -> Result<(), NodeError> {
        if self.ends_by(Signal::TERM, timeout) {
            return Ok(());
        }
        tracing::warn!(pid = self.pid(), "Cassandra does not stop on SIGTERM; SIGKILL follows");
        if self.ends_by(Signal::KILL, KILL_PATIENCE) { Ok(()) } else { Err(NodeError::Unkillable { pid: self.pid() }) }
    }

    /// Whether it ended by SIGTERM after draining: the JVM reports 143 then. Only then is a copy of its data directory
    /// complete.
    pub fn stopped_cleanly(&self) -> bool {
        let ended_by_term = self.ended.is_some_and(|status| status.code() == Some(143));
        // The second is what 4.1 says (`logback_xml`).
        let says_so = |line: &String| line.ends_with("Cassandra shutdown complete") || line.ends_with(" - DRAINED");
        ended_by_term && tail(&self.config.system_log(), 200).iter().any(says_so)
    }

    /// End it at once (SIGKILL) and wait for it; not without bound: one that waits for a disk that does not answer ends
    /// when that does.
    pub fn kill(&mut self) {
        if !self.ends_by(Signal::KILL, KILL_PATIENCE) {
            tracing::warn!(
                pid = self.pid(),
                "Cassandra survives SIGKILL: it waits for the kernel, see its /proc/PID/stack"
            );
        }
    }

    /// Sends it a signal, unless it has ended, and waits for its end as long as that; whether it came.
    fn ends_by(&mut self, signal: Signal, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        self.signal(signal);
        while self.exited().is_none() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }

    /// Stop it where it is (SIGSTOP).
    pub fn pause(&mut self) {
        self.signal(Signal::STOP);
    }

    /// Let it go on (SIGCONT).
    pub fn resume(&mut self) {
        self.signal(Signal::CONT);
    }

    /// Its id may belong to somebody else once it has been waited for.
    fn signal(&mut self, signal: Signal) {
        if self.exited().is_none() {
            send(self.pid(), signal);
        }
    }

    /// Whether its three ports are free.
    pub fn check_ports(address: Ipv4Addr, ports: Ports) -> Result<(), NodeError> {
        let ports = [
            (address, ports.clients, "CQL"),
            (address, ports.peers, "between nodes"),
            (Ipv4Addr::LOCALHOST, ports.management, "JMX"),
        ];
        for (address, port, purpose) in ports {
            match TcpListener::bind((address, port)) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                    return Err(NodeError::PortInUse { address, port, purpose });
                }
                Err(source) => {
                    return Err(NodeError::Address { address, port, purpose, source });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use super::*;

    /// A file system on which whoever writes stands still in the kernel, as on a disk that does not answer, until this
    /// is dropped.
    struct Frozen(tempfile::TempDir);

    impl Frozen {
        fn new() -> Self {
            let frozen = Self(tempfile::tempdir().unwrap());
            let (image, at) = (frozen.0.path().join("image"), frozen.at());
            std::fs::File::create(&image).unwrap().set_len(512 << 20).unwrap();
            std::fs::create_dir(&at).unwrap();
            run("mkfs.xfs", &["-q"], &[&image]);
            run("mount", &["-o", "loop"], &[&image, &at]);
            run("fsfreeze", &["--freeze"], &[&at]);
            frozen
        }

        fn at(&self) -> PathBuf {
            self.0.path().join("mount")
        }
    }

    impl Drop for Frozen {
        fn drop(&mut self) {
            run("fsfreeze", &["--unfreeze"], &[&self.at()]);
            run("umount", &["--lazy"], &[&self.at()]);
        }
    }

    fn run(program: &str, words: &[&str], paths: &[&Path]) {
        let status = Command::new(program).args(words).args(paths).status().unwrap();
        assert!(status.success(), "{program} {words:?} {paths:?}");
    }

    /// A node whose process is this one.
    fn node(mut command: Command, directory: &Path) -> Node {
        Node {
            config: NodeConfig::new("x", Ipv4Addr::LOCALHOST, directory),
            management: Management::without_password(0),
            child: command.spawn().unwrap(),
            started: Instant::now(),
            kills: MemoryKills::from_now(None),
            ended: None,
        }
    }

    #[test]
    fn a_process_that_the_kernel_keeps_is_waited_for_so_long_and_no_longer() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: needs root for a mount");
            return;
        }
        let frozen = Frozen::new();
        let mut command = Command::new("touch");
        command.arg(frozen.at().join("file"));
        let mut node = node(command, frozen.0.path());
        // proc_pid_stat(5): D is a wait that no signal ends. One for the pages of the program itself ends soon.
        let stat = format!("/proc/{}/stat", node.pid());
        let mut seen_in_a_row = 0;
        while seen_in_a_row < 20 {
            assert!(node.started.elapsed() < Duration::from_secs(20), "nothing is frozen");
            let waits = std::fs::read_to_string(&stat).unwrap().contains("(touch) D ");
            seen_in_a_row = if waits { seen_in_a_row + 1 } else { 0 };
            std::thread::sleep(LOOK);
        }
        let began = Instant::now();
        assert!(!node.ends_by(Signal::KILL, Duration::from_millis(300)));
        assert!((0.3..10.0).contains(&began.elapsed().as_secs_f64()), "{:?}", began.elapsed());
        assert_eq!(node.exited(), None, "it is still there, and nobody says otherwise");
        drop(frozen);
        assert!(node.ends_by(Signal::KILL, KILL_PATIENCE));
        assert!(node.exited().unwrap().contains("signal 9"), "{:?}", node.ended);
    }
}
