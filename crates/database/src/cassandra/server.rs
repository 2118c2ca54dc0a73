//! Cassandra behind the seam: the traits of [`mod@crate::server`] over this module's own parts.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use experiment::{CountedRows, Dataset, Own, Settings, SettingsInForce, StatementSample};
use reported::Series;

use super::admin::{Admin, AdminError};
use super::counters::of_table;
use super::distribution::{Distribution, download_bytes, ensure_distribution};
use super::in_force;
use super::java::{Java, JavaError, find_java_beside};
use super::jmx::JmxError;
use super::node::Node;
use super::node_config::{NodeConfig, PORTS};
use super::node_error::NodeError;
use super::reader::Reader;
use super::snapshot::snapshot_key;
use super::sstable_files;
use super::start_archive::{ensure_start_archive, has_start_archive};
use super::table_service::{self, compact_keyspace};
use crate::account::Account;
use crate::plan::{MemoryPlan, NodeLocation, NodePlan, Ports, Replication};
use crate::server::{
    Cancelled, DATABASE_LOG, DataSetTable, Installed, MetricsReader, NodeLog, OnProgress, Remember, Renewal, Result,
    RunningNode, Server, ServerError, Work,
};

/// Name of the garbage collector's log among a trial's evidence.
pub const GC_LOG: &str = "gc.log";
/// Direct memory below which network and file buffers get into each other's way.
const LEAST_DIRECT_BYTES: u64 = 256 << 20;

/// Cassandra in one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cassandra {
    version: String,
    account: Option<Account>,
}

impl Cassandra {
    /// The version is only checked when it is installed. Nodes run as this user, or as whoever starts them.
    pub fn new(version: &str, account: Option<Account>) -> Self {
        Self { version: version.to_owned(), account }
    }
}

impl Server for Cassandra {
    fn name(&self) -> &'static str {
        "Cassandra"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn ports(&self) -> Ports {
        PORTS
    }

    fn memory(&self, main_bytes: u64) -> MemoryPlan {
        MemoryPlan {
            main_bytes,
            buffer_bytes: (main_bytes / 2).max(LEAST_DIRECT_BYTES),
            key_cache_bytes: NodeConfig::key_cache_of(main_bytes),
        }
    }

    fn renewal(&self) -> Renewal {
        Renewal::InPlace
    }

    fn check(&self, address: Ipv4Addr, ports: Ports) -> Result<()> {
        Ok(Node::check_ports(address, ports)?)
    }

    fn install(
        &self,
        cache: &Path,
        others: &[String],
        on_progress: OnProgress<'_>,
        cancelled: Cancelled<'_>,
        remember: Remember<'_>,
    ) -> Result<Box<dyn Installed>> {
        // A version that nobody knows has no Java either.
        download_bytes(&self.version)?;
        let java = find_java_beside(&self.version, others)?;
        let fetching = format!("fetching Cassandra {}", self.version);
        let mut distribution = ensure_distribution(
            &self.version,
            cache,
            &mut |fetched| on_progress(&fetching, Some((fetched.bytes_done, fetched.bytes_total))),
            cancelled,
        )?;
        if let Some(account) = &self.account {
            account.let_through(cache)?;
        }
        if !has_start_archive(&distribution, &java) {
            on_progress("preparing a class archive, once per Java and Cassandra version", None);
        }
        if let Err(error) = ensure_start_archive(&mut distribution, &java, self.account.as_ref(), cancelled, remember) {
            // Without it everything works, only slower.
            tracing::warn!("no class archive: {error}");
        }
        let parts = (distribution, java);
        Ok(Box::new(Software(Arc::new(parts), self.account.clone())))
    }

    fn snapshot_key(
        &self,
        dataset: &Dataset,
        own: Option<&Own>,
        places: &[Option<NodeLocation>],
        replication: &Replication,
        settings: &Settings,
        directories: u32,
    ) -> String {
        snapshot_key(&self.version, (dataset, own), places, replication, settings, directories)
    }

    fn keyspace_directories(&self, data: &Path, keyspace: &str) -> Vec<PathBuf> {
        vec![data.join(keyspace)]
    }

    fn answers(&self, address: SocketAddr, timeout: Duration) -> bool {
        Admin::connect(address, timeout).and_then(|admin| admin.ping()).is_ok()
    }
}

/// The jars and the Java that runs them, and whom it runs as.
#[derive(Debug, Clone)]
struct Software(Arc<(Distribution, Java)>, Option<Account>);

impl Installed for Software {
    fn runtime(&self) -> String {
        self.0.1.version_text.clone()
    }

    fn runtime_options(&self) -> Vec<String> {
        self.0.1.own_options.clone()
    }

    fn start(&self, plan: &NodePlan) -> Result<Box<dyn RunningNode>> {
        let (distribution, java) = &*self.0;
        // A plan may come from a run directory of somebody else's.
        for option in cassandra_model::jvm(&plan.settings) {
            if let Some(kept) = cassandra_model::kept_jvm_option(option) {
                return Err(ServerError::Failed(format!("{option}: {} ({})", kept.why, kept.help).into()));
            }
        }
        let config = NodeConfig { plan: plan.clone(), account: self.1.clone() };
        let node = Node::start(distribution, java, config)?;
        Ok(Box::new(Running { software: self.clone(), node, patience: Duration::ZERO, admin: None }))
    }
}

/// A node with its control connection.
#[derive(Debug)]
struct Running {
    software: Software,
    node: Node,
    /// How long a connection may take: as long as the start was allowed to.
    patience: Duration,
    admin: Option<Arc<Admin>>,
}

impl Running {
    fn admin(&mut self) -> Result<Arc<Admin>, AdminError> {
        if let Some(admin) = &self.admin {
            return Ok(Arc::clone(admin));
        }
        let admin = Arc::new(Admin::connect(self.node.config().plan.client_address(), self.patience)?);
        Ok(Arc::clone(self.admin.insert(admin)))
    }

    fn take_in(&self, of: (&str, &str), directories: &[PathBuf], is_foreign: bool) -> Result<()> {
        let tables = table_paths(of, directories)?;
        let tables: Vec<&str> = tables.iter().filter_map(|path| path.to_str()).collect();
        let node = (self.node.management(), self.software.0.0.version.as_str());
        Ok(table_service::import_sstables(node, of, &tables, is_foreign)?)
    }
}

impl RunningNode for Running {
    fn pid(&self) -> u32 {
        self.node.pid()
    }

    fn wait_ready(&mut self, timeout: Duration, cancelled: Cancelled<'_>) -> Result<Duration> {
        self.patience = timeout;
        let (took, admin) = self.node.wait_answer(timeout, cancelled)?;
        self.admin.get_or_insert_with(|| Arc::new(admin));
        Ok(took)
    }

    fn settings_in_force(&mut self, table: DataSetTable<'_>) -> Result<SettingsInForce> {
        let admin = self.admin()?;
        let version = &self.software.0.0.version;
        Ok(in_force::settings(&self.node, &admin, version, table)?)
    }

    fn settle(&mut self, nodes: u32, timeout: Duration, cancelled: Cancelled<'_>) -> Result<Duration> {
        Ok(self.admin()?.wait_settled(nodes, timeout, cancelled)?.waited)
    }

    fn come_to_rest(&mut self) -> Result<()> {
        // It has no such work: what its memtables have taken since the data was renewed is how every trial begins.
        Ok(())
    }

    fn create_schema(
        &mut self,
        keyspace: &str,
        table: &str,
        dataset: &Dataset,
        replication: &Replication,
    ) -> Result<()> {
        let options = cassandra_model::table(&self.node.config().plan.settings).clone();
        let admin = self.admin()?;
        Ok(admin.create_schema(keyspace, table, dataset, replication, &options)?)
    }

    fn create_own_schema(&mut self, keyspace: &str, own: &Own, replication: &Replication) -> Result<()> {
        Ok(self.admin()?.create_own_schema(keyspace, own, replication)?)
    }

    fn count_own_sample(&mut self, keyspace: &str, own: &Own, of_each_table: u64) -> Result<(u32, u32)> {
        // The control connection knows no tables, which others may still be about to create.
        let admin = Admin::connect_to_tables(self.node.config().plan.client_address(), self.patience, keyspace)?;
        Ok(admin.count_own_sample(keyspace, own, of_each_table)?)
    }

    fn count_sample(&mut self, keyspace: &str, table: &str, keys: &[String]) -> Result<u32> {
        Ok(self.admin()?.count_sample(keyspace, table, keys)?)
    }

    fn maintain(&mut self, keyspace: &str) -> Result<()> {
        Ok(table_service::flush_and_compact(self.node.management(), keyspace)?)
    }

    fn flush(&mut self, keyspace: &str, table: &str) -> Result<()> {
        Ok(table_service::flush_table(self.node.management(), keyspace, table)?)
    }

    fn maintain_automatically(&mut self, keyspace: &str, is_on: bool) -> Result<()> {
        let node = self.node.management();
        Ok(table_service::compact_automatically(node, keyspace, is_on)?)
    }

    fn reported(&mut self, keyspace: &str, table: &str, series: &'static Series) -> Result<f64> {
        Ok(of_table(self.node.management(), keyspace, table, series)?)
    }

    fn truncate(&mut self, keyspace: &str, table: &str) -> Result<()> {
        Ok(table_service::truncate_table(self.node.management(), keyspace, table)?)
    }

    fn import(&mut self, keyspace: &str, table: &str, directories: &[PathBuf]) -> Result<()> {
        self.take_in((keyspace, table), directories, false)
    }

    fn import_foreign(&mut self, keyspace: &str, table: &str, directories: &[PathBuf]) -> Result<()> {
        self.take_in((keyspace, table), directories, true)
    }

    fn clean_up(&mut self, keyspace: &str) -> Result<()> {
        Ok(table_service::clean_up(self.node.management(), keyspace)?)
    }

    fn count_rows(&mut self, keyspace: &str, tables: &[String]) -> Result<Vec<CountedRows>> {
        Ok(self.admin()?.count_rows(keyspace, tables)?)
    }

    fn sample_statements(&mut self, keyspace: &str, own: &Own, of_each: u32) -> Result<Vec<StatementSample>> {
        let admin = Admin::connect_to_tables(self.node.config().plan.client_address(), self.patience, keyspace)?;
        Ok(admin.sample_statements(keyspace, own, of_each)?)
    }

    fn maintenance(&self, keyspace: &str) -> Work {
        let (node, keyspace) = (self.node.management().clone(), keyspace.to_owned());
        Box::new(move || Ok(compact_keyspace(&node, &keyspace)?))
    }

    fn metrics(&mut self, keyspace: &str, tables: &[String]) -> Result<Box<dyn MetricsReader>> {
        let admin = self.admin()?;
        Ok(Box::new(Reader::of(&self.node, admin, keyspace, tables)))
    }

    fn stop(&mut self, timeout: Duration) -> Result<()> {
        self.admin = None;
        Ok(self.node.stop(timeout)?)
    }

    fn stopped_cleanly(&self) -> bool {
        self.node.stopped_cleanly()
    }

    fn kill(&mut self) {
        self.admin = None;
        self.node.kill();
    }

    fn pause(&mut self) {
        self.node.pause();
    }

    fn resume(&mut self) {
        self.node.resume();
    }

    fn ended(&mut self) -> Option<String> {
        self.node.exited()
    }

    fn logs(&self) -> Vec<NodeLog> {
        let log = |name, path| NodeLog { name, path };
        let config = self.node.config();
        vec![log(DATABASE_LOG, config.system_log()), log(GC_LOG, config.gc_log())]
    }

    fn log_tail(&self, lines: usize) -> Vec<String> {
        self.node.config().log_tail(lines)
    }
}

/// Directories of a table below these data directories.
fn table_paths((keyspace, table): (&str, &str), directories: &[PathBuf]) -> Result<Vec<PathBuf>, NodeError> {
    let mut tables = Vec::new();
    for data in directories {
        let of_keyspace = data.join(keyspace);
        let found = sstable_files::table_directories(&of_keyspace, table);
        tables.extend(found.map_err(|source| NodeError::io(&of_keyspace, source))?);
    }
    Ok(tables)
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

impl From<AdminError> for ServerError {
    fn from(error: AdminError) -> Self {
        match error {
            AdminError::Cancelled { .. } => Self::Cancelled(error.into()),
            _ => Self::Failed(error.into()),
        }
    }
}

impl From<JmxError> for ServerError {
    fn from(error: JmxError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<JavaError> for ServerError {
    fn from(error: JavaError) -> Self {
        Self::Failed(error.into())
    }
}
