//! What a node is configured with: `postgresql.conf` and who may connect (`pg_hba.conf`).
//!
//! Two ways lead in. Whoever reaches the socket in the node's own directory is its superuser; that directory belongs to
//! the user that the server runs as, and nobody else gets into it but root. Over the network there is one user, without
//! a password, which can read and write the data set's tables and owns nothing, but for the database of `iopslab db`: a
//! superuser of PostgreSQL could run programs.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use postgresql_model::{MAX_WAL_SIZE, SHARED_BUFFERS};

use crate::plan::{NodePlan, Ports};

/// The ports of the shipped configuration. There are no others: one port is all that a node has.
pub(crate) const PORTS: Ports = Ports { clients: 5432, peers: 5432, management: 5432 };

/// Who manages a node, by its socket.
pub(crate) const SUPERUSER: &str = "postgres";
/// Who asks for records, over the network.
pub(crate) const CLIENT: &str = "iopslab";

/// Connections that a node takes. Each request in flight has one: a connection does one thing after the other. The
/// others are iopslab's own, and its superuser's.
const CONNECTIONS: u32 = postgresql_model::MOST_IN_FLIGHT + 100;

/// Where a node has what it is configured with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    own: PathBuf,
}

impl Places {
    /// Below a node's own directory.
    pub fn below(own: &Path) -> Self {
        Self { own: own.to_owned() }
    }

    /// Of whoever starts the node.
    pub fn conf(&self) -> PathBuf {
        self.own.join("conf")
    }

    pub fn logs(&self) -> PathBuf {
        self.own.join("logs")
    }

    pub fn log(&self) -> PathBuf {
        self.logs().join("postgresql.log")
    }

    /// The server's alone.
    pub fn socket(&self) -> PathBuf {
        self.own.join("socket")
    }

    pub fn conf_file(&self) -> PathBuf {
        self.conf().join("postgresql.conf")
    }

    pub fn hba_file(&self) -> PathBuf {
        self.conf().join("pg_hba.conf")
    }

    pub fn ident_file(&self) -> PathBuf {
        self.conf().join("pg_ident.conf")
    }
}

/// A text as `postgresql.conf` has it: a quote is written twice, and so is a backslash, which begins an escape there.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// What the figures of a plan decide, which are those of this node: its settings state the same at full scale.
pub(crate) fn by_figures(plan: &NodePlan) -> Vec<(&'static str, String)> {
    let buffers = (SHARED_BUFFERS, format!("{}kB", plan.memory.main_bytes >> 10));
    // As a goal, which PostgreSQL may exceed for a moment: a volume has twice as much at the least.
    let wal = plan.commitlog_bytes.map(|bytes| (MAX_WAL_SIZE, format!("{}MB", bytes >> 20)));
    std::iter::once(buffers).chain(wal).collect()
}

/// A directory as the server names it, which works in its data directory: the shorter one of its path and of the way
/// from there. A socket's name is limited to 107 bytes (unix(7)), and whoever makes both directories may be deep down.
/// Both are free of links and dots.
pub(crate) fn seen_from(data: &Path, directory: &Path) -> PathBuf {
    let shared = data.components().zip(directory.components()).take_while(|(a, b)| a == b).count();
    let up = data.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(directory.components().skip(shared)).collect();
    if way.as_os_str().len() < directory.as_os_str().len() { way } else { directory.to_owned() }
}

/// The configuration of a node, with its socket's directory as the server names it. What its plan states comes last:
/// the last of two wins.
pub(crate) fn postgresql_conf(plan: &NodePlan, places: &Places, data: &Path, socket: &Path) -> String {
    let mut text = String::from("# Written by iopslab at each start.\n");
    let mut set = |name: &str, value: &str| {
        let _ = writeln!(text, "{name} = {}", quoted(value));
    };
    set("data_directory", &data.to_string_lossy());
    set("hba_file", &places.hba_file().to_string_lossy());
    set("ident_file", &places.ident_file().to_string_lossy());
    set("listen_addresses", &plan.address.to_string());
    set("port", &plan.ports.clients.to_string());
    set("unix_socket_directories", &socket.to_string_lossy());
    set("unix_socket_permissions", "0700");
    set("cluster_name", &plan.cluster);
    set("max_connections", &CONNECTIONS.to_string());
    // Nobody replicates, and a WAL of the least level can be asked for.
    set("max_wal_senders", "0");
    let by_figures = by_figures(plan);
    by_figures.iter().for_each(|(name, value)| set(name, value));
    // Huge pages are charged to no cgroup: a limit would not hold them.
    set("huge_pages", "off");
    // A server that has lost one of its processes would start anew by itself, and a trial would go on.
    set("restart_after_crash", "off");
    set("autovacuum", if plan.maintains_itself { "on" } else { "off" });
    set("logging_collector", "off");
    set("log_destination", "stderr");
    set("log_line_prefix", "%m [%p] ");
    set("log_timezone", "UTC");
    // Counted by `pg_stat_io` only where it is on; it reads the clock twice for each request to a file.
    set("track_io_timing", "off");
    let stated = postgresql_model::conf(&plan.settings).iter();
    for (name, setting) in stated.filter(|(name, _)| by_figures.iter().all(|(decided, _)| decided != name)) {
        set(name, setting.value());
    }
    text
}

/// Who may connect.
pub(crate) fn pg_hba_conf() -> String {
    format!("# Written by iopslab at each start.\nlocal all {SUPERUSER} trust\nhost all {CLIENT} all trust\n")
}

/// Whom the system's users are: nobody's name is taken for another.
pub(crate) fn pg_ident_conf() -> String {
    "# Written by iopslab at each start.\n".to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::Ipv4Addr;

    use experiment::{Section, Setting, Settings};

    use super::*;
    use crate::plan::{Directories, MemoryPlan};

    fn plan() -> NodePlan {
        let key = |name: &str, value: &str| (name.to_owned(), Setting::Value(value.to_owned()));
        let keys = BTreeMap::from([
            key("checkpoint_timeout", "15min"),
            key("autovacuum", "off"),
            key("shared_buffers", "8GB"),
            key("max_wal_size", "16GB"),
        ]);
        NodePlan {
            cluster: "it's".to_owned(),
            index: 0,
            nodes: 1,
            seeds: Vec::new(),
            place: None,
            address: Ipv4Addr::LOCALHOST,
            ports: PORTS,
            directories: Directories::below("/own".as_ref()),
            memory: MemoryPlan { main_bytes: 512 << 20, buffer_bytes: 0, key_cache_bytes: 0 },
            cpus: 1.0,
            commitlog_bytes: Some(1 << 30),
            maintains_itself: true,
            settings: Settings::default().with(postgresql_model::CONF, Section::Keys(keys)),
            launch_prefix: Vec::new(),
            oom_kills: None,
        }
    }

    #[test]
    fn what_is_stated_comes_after_what_iopslab_sets() {
        let text =
            postgresql_conf(&plan(), &Places::below("/own".as_ref()), "/own/data".as_ref(), "../socket".as_ref());
        let has = |line: &str| text.lines().position(|known| known == line).unwrap_or_else(|| panic!("{line}\n{text}"));
        has("shared_buffers = '524288kB'");
        has("max_wal_size = '1024MB'");
        for name in ["shared_buffers", "max_wal_size"] {
            assert_eq!(text.matches(name).count(), 1, "what is stated is of full scale: {text}");
        }
        has("cluster_name = 'it''s'");
        has("unix_socket_directories = '../socket'");
        assert!(has("autovacuum = 'on'") < has("autovacuum = 'off'"));
        has("checkpoint_timeout = '15min'");
        assert_eq!(quoted(r"it's a\"), r"'it''s a\\'", "and nothing ends a text before its end");
    }

    #[test]
    fn a_socket_has_the_shorter_one_of_two_names() {
        let seen = |data: &str, socket: &str| seen_from(data.as_ref(), socket.as_ref());
        assert_eq!(seen("/work/loading/set/data", "/work/loading/set/socket"), Path::new("../socket"));
        assert_eq!(seen("/work/volumes/7/data", "/work/nodes/3/socket"), Path::new("/work/nodes/3/socket"));
        let deep = "/a/directory/far/below/others";
        assert_eq!(seen(&format!("{deep}/v/7"), &format!("{deep}/n/socket")), Path::new("../../n/socket"));
    }

    /// A superuser can have the server run programs: the network has none.
    #[test]
    fn only_the_socket_leads_to_a_superuser() {
        let rules = pg_hba_conf();
        let of = |kind: &str| rules.lines().filter(|line| line.starts_with(kind)).collect::<Vec<_>>();
        assert_eq!(of("local "), ["local all postgres trust"]);
        assert_eq!(of("host"), ["host all iopslab all trust"]);
    }
}
