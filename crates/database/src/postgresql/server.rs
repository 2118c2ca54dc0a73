//! PostgreSQL behind the seam: the traits of [`mod@crate::server`] over this module's own parts.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use experiment::{CountedRows, Dataset, Own, Settings, SettingsInForce, StatementSample};
use reported::{Reported, Series};
use rustix::process::Signal;
use tokio::runtime::Builder;
use tokio_postgres::{Config, NoTls};

use super::admin::{A_LOOK, Admin, AdminError, MAINTENANCE};
use super::conf::{CLIENT, PORTS};
use super::counters::Counters;
use super::distribution::{Distribution, ensure_distribution};
use super::in_force;
use super::node::{Node, check_port};
use super::node_error::NodeError;
use super::own_schema;
use super::schema::{self, FIRST_OF_USERS, name};
use crate::account::Account;
use crate::plan::{MemoryPlan, NodeLocation, NodePlan, Ports, Replication};
use crate::server::{
    Cancelled, DATABASE_LOG, DataSetTable, Installed, MetricsReader, NodeLog, OnProgress, Remember, Renewal, Result,
    RunningNode, Server, ServerError, Work,
};

/// Between two looks while waiting to settle.
const SETTLE_POLL: Duration = Duration::from_millis(200);

/// PostgreSQL in one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgreSql {
    version: String,
    account: Option<Account>,
}

impl PostgreSql {
    /// The version is only checked when it is installed. Nodes run as this user, or as whoever starts them.
    pub fn new(version: &str, account: Option<Account>) -> Self {
        Self { version: version.to_owned(), account }
    }
}

impl Server for PostgreSql {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn ports(&self) -> Ports {
        PORTS
    }

    fn memory(&self, main_bytes: u64) -> MemoryPlan {
        MemoryPlan { main_bytes, buffer_bytes: 0, key_cache_bytes: 0 }
    }

    fn renewal(&self) -> Renewal {
        Renewal::AnotherProcess
    }

    fn check(&self, address: Ipv4Addr, ports: Ports) -> Result<()> {
        Ok(check_port(address, ports.clients)?)
    }

    fn install(
        &self,
        cache: &Path,
        _: &[String],
        on_progress: OnProgress<'_>,
        cancelled: Cancelled<'_>,
        _: Remember<'_>,
    ) -> Result<Box<dyn Installed>> {
        let fetching = format!("fetching PostgreSQL {}", self.version);
        let distribution = ensure_distribution(
            &self.version,
            cache,
            &mut |fetched| on_progress(&fetching, Some((fetched.bytes_done, fetched.bytes_total))),
            cancelled,
        )?;
        if let Some(account) = &self.account {
            account.let_through(cache)?;
        }
        Ok(Box::new(Software { distribution, account: self.account.clone() }))
    }

    fn snapshot_key(
        &self,
        dataset: &Dataset,
        own: Option<&Own>,
        _: &[Option<NodeLocation>],
        _: &Replication,
        _: &Settings,
        _: u32,
    ) -> String {
        // One node with one data directory; no setting shapes its files.
        schema::snapshot_key(&self.version, dataset, own)
    }

    fn keyspace_directories(&self, data: &Path, _: &str) -> Vec<PathBuf> {
        // Those of databases that users have made: iopslab makes one.
        let is_of_users = |path: &PathBuf| {
            let number = path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
            number.is_some_and(|number| number >= FIRST_OF_USERS)
        };
        let all = std::fs::read_dir(data.join("base")).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> = all.map(|entry| entry.path()).filter(is_of_users).collect();
        found.sort();
        found
    }

    fn answers(&self, address: SocketAddr, timeout: Duration) -> bool {
        let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return false };
        let mut config = Config::new();
        config.host(address.ip().to_string()).port(address.port()).user(CLIENT).dbname(MAINTENANCE);
        config.connect_timeout(timeout);
        let connected = runtime.block_on(async { tokio::time::timeout(timeout, config.connect(NoTls)).await });
        // A refusal is an answer, too.
        connected.is_ok_and(|answer| answer.map_or_else(|error| error.as_db_error().is_some(), |_| true))
    }

    fn ends_on(&self) -> Signal {
        // A fast shutdown: on SIGTERM it would wait until all clients have gone.
        Signal::INT
    }
}

/// The binaries, and whom they run as.
#[derive(Debug, Clone)]
struct Software {
    distribution: Distribution,
    account: Option<Account>,
}

impl Installed for Software {
    fn runtime(&self) -> String {
        "its own binaries".to_owned()
    }

    fn start(&self, plan: &NodePlan) -> Result<Box<dyn RunningNode>> {
        // A plan may come from a run directory of somebody else's.
        let version = &self.distribution.version;
        let mut settings = postgresql_model::conf(&plan.settings).iter();
        let refusal = settings.find_map(|(name, of)| postgresql_model::refusal(version, name, of.value()));
        if let Some(refusal) = refusal {
            return Err(ServerError::Failed(refusal.into()));
        }
        let node = Node::start(&self.distribution, self.account.clone(), plan.clone())?;
        Ok(Box::new(Running(node)))
    }
}

/// A node that runs.
#[derive(Debug)]
struct Running(Node);

impl Running {
    fn admin(&self, database: &str) -> Result<Admin, NodeError> {
        self.0.admin(database, A_LOOK)
    }

    /// The clients' user, and a database for the data set, where they are not there.
    fn create_database(&self, keyspace: &str) -> Result<(), NodeError> {
        let server = self.admin(MAINTENANCE)?;
        let has = |of: &str, name: &str| -> Result<bool, AdminError> { Ok(server.number(of, &[&name])? > 0) };
        if !has("SELECT count(*) FROM pg_roles WHERE rolname = $1", CLIENT)? {
            server.run(&[format!("CREATE ROLE {CLIENT} LOGIN")])?;
        }
        if !has("SELECT count(*) FROM pg_database WHERE datname = $1", keyspace)? {
            server.run(&[format!("CREATE DATABASE {}", name(keyspace))])?;
        }
        Ok(())
    }

    /// Processes that vacuum, now.
    fn vacuums(&self) -> Result<i64, NodeError> {
        let query = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'";
        Ok(self.admin(MAINTENANCE)?.number(query, &[])?)
    }
}

/// What it is not asked for, because the experiment refuses it or the seam says that another process is needed.
fn cannot<T>(what: &'static str) -> Result<T> {
    Err(NodeError::Cannot { what }.into())
}

impl RunningNode for Running {
    fn pid(&self) -> u32 {
        self.0.pid()
    }

    fn wait_ready(&mut self, timeout: Duration, cancelled: Cancelled<'_>) -> Result<Duration> {
        Ok(self.0.wait_ready(timeout, cancelled)?)
    }

    fn settings_in_force(&mut self, _: DataSetTable<'_>) -> Result<SettingsInForce> {
        Ok(in_force::settings(&self.0)?)
    }

    fn settle(&mut self, nodes: u32, timeout: Duration, cancelled: Cancelled<'_>) -> Result<Duration> {
        if nodes != 1 {
            return cannot("be one of several nodes");
        }
        let (began, address) = (Instant::now(), self.0.plan.client_address());
        while self.vacuums()? > 0 {
            if cancelled() {
                return Err(NodeError::Cancelled { address }.into());
            }
            let waited_s = began.elapsed().as_secs_f64();
            if began.elapsed() >= timeout {
                let reason = "it still vacuums by itself".to_owned();
                return Err(NodeError::NotSettled { address, waited_s, reason }.into());
            }
            std::thread::sleep(SETTLE_POLL);
        }
        Ok(began.elapsed())
    }

    fn come_to_rest(&mut self) -> Result<()> {
        Ok(self.admin(MAINTENANCE)?.run(&["CHECKPOINT".to_owned()])?)
    }

    fn open_to_clients(&mut self, keyspace: &str) -> Result<()> {
        self.create_database(keyspace)?;
        // Its owner may make tables in its schema `public`, and is no superuser for that.
        let owner = format!("ALTER DATABASE {} OWNER TO {CLIENT}", name(keyspace));
        Ok(self.admin(MAINTENANCE)?.run(&[owner])?)
    }

    fn create_schema(&mut self, keyspace: &str, table: &str, dataset: &Dataset, _: &Replication) -> Result<()> {
        self.create_database(keyspace)?;
        Ok(self.admin(keyspace)?.run(&schema::table(table, dataset))?)
    }

    fn create_own_schema(&mut self, keyspace: &str, own: &Own, _: &Replication) -> Result<()> {
        self.create_database(keyspace)?;
        Ok(own_schema::create(self.admin(keyspace)?, own)?)
    }

    fn count_own_sample(&mut self, keyspace: &str, own: &Own, of_each_table: u64) -> Result<(u32, u32)> {
        Ok(own_schema::count_sample(&self.admin(keyspace)?, own, of_each_table)?)
    }

    fn count_sample(&mut self, keyspace: &str, table: &str, keys: &[String]) -> Result<u32> {
        let query = format!("SELECT count(*) FROM {} WHERE y_id = ANY($1)", name(table));
        let found = self.admin(keyspace)?.number(&query, &[&keys])?;
        Ok(u32::try_from(found).unwrap_or(u32::MAX))
    }

    fn maintain(&mut self, keyspace: &str) -> Result<()> {
        Ok(self.admin(keyspace)?.run(&schema::maintenance(keyspace))?)
    }

    fn flush(&mut self, _: &str, _: &str) -> Result<()> {
        self.come_to_rest()
    }

    fn maintain_automatically(&mut self, _: &str, _: bool) -> Result<()> {
        cannot("be left a backlog: it has no compaction")
    }

    fn reported(&mut self, keyspace: &str, table: &str, series: &'static Series) -> Result<f64> {
        let reported = counters(&self.0, keyspace, &[table.to_owned()]).try_read()?;
        match reported.get(series) {
            Some(value) => Ok(value),
            None => cannot("report a series that is another product's"),
        }
    }

    fn truncate(&mut self, _: &str, _: &str) -> Result<()> {
        cannot("take a data set in anew while it runs")
    }

    fn import(&mut self, _: &str, _: &str, _: &[PathBuf]) -> Result<()> {
        cannot("take files in while it runs")
    }

    fn import_foreign(&mut self, _: &str, _: &str, _: &[PathBuf]) -> Result<()> {
        cannot("take a snapshot of your own in yet")
    }

    fn clean_up(&mut self, _: &str) -> Result<()> {
        cannot("have rows of other nodes")
    }

    fn count_rows(&mut self, _: &str, _: &[String]) -> Result<Vec<CountedRows>> {
        cannot("have its rows counted: it takes no snapshot of your own")
    }

    fn sample_statements(&mut self, _: &str, _: &Own, _: u32) -> Result<Vec<StatementSample>> {
        cannot("have your statements tried: it takes no snapshot of your own")
    }

    fn maintenance(&self, _: &str) -> Work {
        Box::new(|| cannot("compact a table"))
    }

    fn metrics(&mut self, keyspace: &str, tables: &[String]) -> Result<Box<dyn MetricsReader>> {
        Ok(Box::new(counters(&self.0, keyspace, tables)))
    }

    fn stop(&mut self, timeout: Duration) -> Result<()> {
        Ok(self.0.stop(timeout)?)
    }

    fn stopped_cleanly(&self) -> bool {
        self.0.stopped_cleanly()
    }

    fn kill(&mut self) {
        self.0.kill();
    }

    fn pause(&mut self) {
        self.0.pause();
    }

    fn resume(&mut self) {
        self.0.resume();
    }

    fn ended(&mut self) -> Option<String> {
        self.0.ended_with()
    }

    fn logs(&self) -> Vec<NodeLog> {
        vec![NodeLog { name: DATABASE_LOG, path: self.0.log() }]
    }

    fn log_tail(&self, lines: usize) -> Vec<String> {
        self.0.log_tail(lines)
    }
}

/// Counters of a node, with a connection of their own.
fn counters(node: &Node, keyspace: &str, tables: &[String]) -> Counters {
    let (connect, keyspace) = (node.connector(), keyspace.to_owned());
    Counters::of_tables(Box::new(move |patience| connect(&keyspace, patience)), tables)
}

impl MetricsReader for Counters {
    fn read(&mut self) -> Reported {
        Self::read(self)
    }
}

impl From<AdminError> for ServerError {
    fn from(error: AdminError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<NodeError> for ServerError {
    fn from(error: NodeError) -> Self {
        match error {
            NodeError::NotReady { .. } => Self::NotReady(error.into()),
            NodeError::Cancelled { .. } => Self::Cancelled(error.into()),
            _ => Self::Failed(error.into()),
        }
    }
}
