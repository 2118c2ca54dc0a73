//! One PostgreSQL server: its directories and settings, its start, its death, its stop.
//!
//! A server runs in its own process group, so that Ctrl-C in a terminal reaches iopslab and not the database. It can be
//! started through a prefix command that ends in `exec "$@"` (placing itself into cgroups first); the process id then
//! stays that of the server, whose children are in the same cgroups.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::admin::{Admin, MAINTENANCE};
use super::conf::{Places, SUPERUSER, pg_hba_conf, pg_ident_conf, postgresql_conf, seen_from};
use super::control_file::ControlFile;
use super::distribution::Distribution;
use super::family::{Member, children};
use super::node_error::NodeError;
use super::wal;
use crate::account::{Account, command, run_as, spawn};
use crate::ended::{MemoryKills, send};
use crate::log_tail::tail;
use crate::plan::NodePlan;

/// Log lines quoted in an error.
const QUOTED_LINES: usize = 15;
/// How long an immediate shutdown may take: PostgreSQL itself kills processes that have not ended after 5 s
/// (`SIGKILL_CHILDREN_AFTER_SECS`).
const IMMEDIATE_PATIENCE: Duration = Duration::from_secs(8);
/// How long killed processes may take to end: the kernel gives their memory back first.
const KILL_PATIENCE: Duration = Duration::from_secs(20);
/// Between two looks at whether they have ended.
const LOOK: Duration = Duration::from_millis(10);
/// The longest name of a socket with its path (`sun_path`, unix(7)).
const SOCKET_MOST_BYTES: usize = 107;
/// What is for everybody to read.
const READABLE: u32 = 0o644;
const PASSABLE: u32 = 0o755;

/// A server that was started by this process. Dropping it does **not** stop it: call [`Node::stop`] or [`Node::kill`].
#[derive(Debug)]
pub(crate) struct Node {
    pub plan: NodePlan,
    pub version: String,
    places: Places,
    account: Option<Account>,
    child: Child,
    started: Instant,
    kills: MemoryKills,
    is_paused: bool,
    /// Whether its data directory says that it was stopped in order, and holds its WAL.
    is_at_rest: bool,
    /// Set once the process has been waited for.
    ended: Option<ExitStatus>,
}

/// The data directory of a plan: the only one.
pub(crate) fn data_directory(plan: &NodePlan) -> Result<&Path, NodeError> {
    match plan.directories.data.as_slice() {
        [only] => Ok(only),
        several => Err(NodeError::DataDirectory {
            path: several.first().cloned().unwrap_or_default(),
            reason: format!("a server has one, and {} are planned", several.len()),
        }),
    }
}

impl Node {
    /// Writes the node's files, makes its data directory where there is none, and starts it.
    pub fn start(distribution: &Distribution, account: Option<Account>, plan: NodePlan) -> Result<Self, NodeError> {
        check_port(plan.address, plan.ports.clients)?;
        let places = Places::below(&plan.directories.own);
        prepare(distribution, account.as_ref(), &plan, &places)?;
        let log_path = places.log();
        let log = guarded::create_new(&log_path, READABLE).map_err(|source| NodeError::io(&log_path, source))?;
        let errors = log.try_clone().map_err(|source| NodeError::io(&log_path, source))?;
        let mut command = command(&plan.launch_prefix, account.as_ref(), distribution.postgres().as_os_str());
        command.arg("-c").arg(format!("config_file={}", places.conf_file().display()));
        in_plain_surroundings(&mut command);
        command.current_dir(&plan.directories.own).stdin(Stdio::null()).stdout(log).stderr(errors).process_group(0);
        let program = command.get_program().to_string_lossy().into_owned();
        let kills = MemoryKills::from_now(plan.oom_kills.as_deref());
        let child = spawn(&mut command, account.as_ref()).map_err(|source| NodeError::Spawn { program, source })?;
        tracing::debug!(pid = child.id(), address = %plan.client_address(), "PostgreSQL starts");
        let (version, started) = (distribution.version.clone(), Instant::now());
        let (is_paused, is_at_rest, ended) = (false, false, None);
        Ok(Self { plan, version, places, account, child, started, kills, is_paused, is_at_rest, ended })
    }

    /// Process id of the server.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The server's log.
    pub fn log(&self) -> PathBuf {
        self.places.log()
    }

    /// A connection of its superuser to a database of it.
    pub fn admin(&self, database: &str, patience: Duration) -> Result<Admin, NodeError> {
        Ok(Admin::connect(&self.places.socket(), self.plan.ports.clients, database, patience)?)
    }

    /// What connects to a database of it, also when this is gone.
    pub fn connector(&self) -> impl Fn(&str, Duration) -> Result<Admin, NodeError> + Send + use<> {
        let (socket, port) = (self.places.socket(), self.plan.ports.clients);
        move |database, patience| Ok(Admin::connect(&socket, port, database, patience)?)
    }

    /// Waits until it answers a query; gives the time since the start.
    pub fn wait_ready(&mut self, timeout: Duration, cancelled: &dyn Fn() -> bool) -> Result<Duration, NodeError> {
        let address = self.plan.client_address();
        let deadline = Instant::now() + timeout;
        loop {
            let asked = self.admin(MAINTENANCE, Duration::from_secs(5)).and_then(|admin| Ok(admin.ping()?));
            let reason = match asked {
                Ok(()) => return Ok(self.started.elapsed()),
                Err(error) => error.to_string(),
            };
            if let Some(status) = self.ended_with() {
                return Err(NodeError::Died { address, status, log: self.log(), tail: self.log_tail(QUOTED_LINES) });
            }
            if cancelled() {
                return Err(NodeError::Cancelled { address });
            }
            if Instant::now() >= deadline {
                let waited_s = self.started.elapsed().as_secs_f64();
                let (log, tail) = (self.log(), self.log_tail(QUOTED_LINES));
                return Err(NodeError::NotReady { address, waited_s, reason, log, tail });
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// `None` while it runs; otherwise how it ended.
    pub fn ended_with(&mut self) -> Option<String> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended.map(|status| self.kills.describe(status))
    }

    /// Stops it in order (SIGINT, a fast shutdown: clients are sent away, and everything is written by a last
    /// checkpoint) and brings its WAL home; SIGKILL if it has not ended after `timeout`. `Ok` means that its processes
    /// are gone.
    pub fn stop(&mut self, timeout: Duration) -> Result<(), NodeError> {
        self.resume();
        if self.ends_by(Signal::INT, timeout) {
            return self.come_to_rest();
        }
        tracing::warn!(pid = self.pid(), "PostgreSQL does not stop on SIGINT; SIGKILL follows");
        if self.kill_all() { Ok(()) } else { Err(NodeError::Unkillable { pid: self.pid() }) }
    }

    /// The WAL that a start needs goes back into the data directory of a server that was stopped in order.
    fn come_to_rest(&mut self) -> Result<(), NodeError> {
        let data = data_directory(&self.plan)?;
        let failed = |source| NodeError::io(data, source);
        let control = ControlFile::read(data).map_err(failed)?;
        if control.is_shut_down && self.ended.is_some_and(|status| status.success()) {
            let log = &self.plan.directories.commitlog;
            wal::bring_home(self.account.as_ref(), (data, log), control).map_err(failed)?;
            self.is_at_rest = true;
        }
        Ok(())
    }

    /// Whether it was stopped in order. Only then is a copy of its data directory whole.
    pub fn stopped_cleanly(&self) -> bool {
        self.is_at_rest
    }

    /// Ends it at once: SIGQUIT, an immediate shutdown, in which nothing is written any more and the next start has to
    /// recover; SIGKILL to all of its processes where that does not end it. It gives its shared memory back after the
    /// first alone.
    pub fn kill(&mut self) {
        if !self.is_paused && self.ends_by(Signal::QUIT, IMMEDIATE_PATIENCE) {
            return;
        }
        if !self.kill_all() {
            tracing::warn!(pid = self.pid(), "PostgreSQL survives SIGKILL: it waits for the kernel");
        }
    }

    /// Sends the server a signal, unless it has ended, and waits for its end, and that of its children, as long as
    /// that; whether it came.
    fn ends_by(&mut self, signal: Signal, patience: Duration) -> bool {
        let all = self.children();
        if self.ended_with().is_none() {
            send(self.pid(), signal);
        }
        self.is_gone_within(&all, patience)
    }

    /// SIGKILL: first to the server, which makes no new processes then.
    fn kill_all(&mut self) -> bool {
        let all = self.children();
        if self.ended_with().is_none() {
            send(self.pid(), Signal::KILL);
        }
        all.iter().for_each(|child| child.signal(Signal::KILL));
        self.is_gone_within(&all, KILL_PATIENCE)
    }

    /// Its children, now; none once it was waited for: its number may belong to somebody else then.
    fn children(&mut self) -> Vec<Member> {
        match self.ended_with() {
            None => children(self.pid()),
            Some(_) => Vec::new(),
        }
    }

    fn is_gone_within(&mut self, all: &[Member], patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while self.ended_with().is_none() || all.iter().any(|child| child.runs()) {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }

    /// Stops all of its processes where they are (SIGSTOP).
    pub fn pause(&mut self) {
        if self.ended_with().is_none() {
            self.is_paused = true;
            send(self.pid(), Signal::STOP);
            children(self.pid()).iter().for_each(|child| child.signal(Signal::STOP));
        }
    }

    /// Lets them go on (SIGCONT).
    pub fn resume(&mut self) {
        if self.is_paused && self.ended_with().is_none() {
            children(self.pid()).iter().for_each(|child| child.signal(Signal::CONT));
            send(self.pid(), Signal::CONT);
        }
        self.is_paused = false;
    }

    /// The last lines of its log.
    pub fn log_tail(&self, lines: usize) -> Vec<String> {
        tail(&self.log(), lines)
    }
}

/// That a server can listen there.
pub(crate) fn check_port(address: Ipv4Addr, port: u16) -> Result<(), NodeError> {
    TcpListener::bind((address, port)).map(drop).map_err(|source| NodeError::Port { address, port, source })
}

/// Settings and messages are the same wherever it is started.
fn in_plain_surroundings(command: &mut Command) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("LC_ALL", "C").env("TZ", "UTC");
}

/// What a server finds when it starts: its configuration, directories of its own, a data directory with its WAL on the
/// commit log. Its old log is kept as `*.previous`.
fn prepare(
    distribution: &Distribution,
    account: Option<&Account>,
    plan: &NodePlan,
    places: &Places,
) -> Result<(), NodeError> {
    let (own, commitlog) = (plan.directories.own.as_path(), plan.directories.commitlog.as_path());
    let data = data_directory(plan)?;
    let socket = places.socket();
    let (conf, logs) = (places.conf(), places.logs());
    for directory in [own, &conf, &logs, &socket, data, commitlog] {
        std::fs::create_dir_all(directory).map_err(|source| NodeError::io(directory, source))?;
    }
    if let Some(account) = account {
        for directory in [own, &conf, &logs] {
            set_mode(directory, PASSABLE)?;
        }
        let written = [socket.as_path(), data, commitlog];
        written.iter().try_for_each(|directory| account.own(directory))?;
        account.check_way(written.into_iter().chain([distribution.home.as_path()]))?;
    }
    let real = |path: &Path| path.canonicalize().map_err(|source| NodeError::io(path, source));
    let seen = seen_from(&real(data)?, &real(&socket)?);
    let name = seen.join(format!(".s.PGSQL.{}", plan.ports.clients));
    if name.as_os_str().len() > SOCKET_MOST_BYTES {
        return Err(NodeError::SocketPath { path: name, most: SOCKET_MOST_BYTES });
    }
    let private = run_as(account, "chmod 700 -- \"$@\"", [socket.as_path(), data, commitlog]);
    private.map_err(|source| NodeError::io(data, source))?;
    if !data.join("PG_VERSION").exists() {
        initialise(distribution, account, data)?;
    }
    wal::send_away(account, data, commitlog).map_err(|source| NodeError::io(data, source))?;
    let log = places.log();
    let kept = guarded::if_there(std::fs::rename(&log, log.with_extension("log.previous")));
    kept.map_err(|source| NodeError::io(&log, source))?;
    let files = [
        (places.conf_file(), postgresql_conf(plan, places, data, &seen)),
        (places.hba_file(), pg_hba_conf()),
        (places.ident_file(), pg_ident_conf()),
    ];
    for (path, text) in files {
        // For every user to read: there is nothing secret in it.
        guarded::replace(&path, text.as_bytes(), READABLE).map_err(|source| NodeError::io(&path, source))?;
        set_mode(&path, READABLE)?;
    }
    Ok(())
}

/// An empty data directory: bytes are compared as they are, which is the order of keys that scans go by.
fn initialise(distribution: &Distribution, account: Option<&Account>, data: &Path) -> Result<(), NodeError> {
    let script = "unset PGDATA PGHOST PGPORT PGUSER; LC_ALL=C TZ=UTC exec \"$@\"";
    let initdb = distribution.initdb();
    let user = format!("--username={SUPERUSER}");
    // Copied and synced where it is kept; who may connect is said at each start.
    let how = ["--locale=C", "--encoding=UTF8", "--auth=trust", "--no-sync", "--no-instructions", &user, "--pgdata"];
    let words = [initdb.as_os_str()].into_iter().chain(how.into_iter().map(AsRef::as_ref)).chain([data.as_os_str()]);
    let made = run_as(account, script, words);
    made.map_err(|source| NodeError::Initdb { directory: data.to_owned(), said: source.to_string() })
}

fn set_mode(path: &Path, mode: u32) -> Result<(), NodeError> {
    use std::os::unix::fs::PermissionsExt as _;
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, permissions).map_err(|source| NodeError::io(path, source))
}
