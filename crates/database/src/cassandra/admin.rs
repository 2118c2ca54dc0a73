//! Control-plane CQL to one node: is it settled, make the schema, count a sample of keys.
//!
//! The calls are synchronous. Inside, one thread drives a current-thread tokio runtime for the life of the connection,
//! so that keep-alives are answered between calls too. `system_views` are *virtual* tables: each node shows only
//! itself, so an [`Admin`] talks to exactly the node it was connected to, never to a neighbour that the driver has
//! discovered.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    num::NonZeroUsize,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use experiment::{Access, Setting};
use scylla::{
    client::{PoolSize, execution_profile::ExecutionProfile, session::Session, session_builder::SessionBuilder},
    policies::host_filter::AllowListHostFilter,
    serialize::row::SerializeRow,
    statement::{Consistency, Statement},
    value::{CqlValue, Row},
};
use tokio::{runtime::Handle, sync::oneshot};

use super::schema::{option_of, schema_statements};
use crate::plan::Replication;
use crate::session::{self, Refusal};
use crate::statements;

/// Keys asked for in one statement by [`Admin::count_sample`].
const SAMPLE_CHUNK: usize = 50;
/// Between two looks while waiting to settle.
const SETTLE_POLL: Duration = Duration::from_millis(100);
/// Looks in a row that must find nothing to do: a flush that ends can bring a compaction a moment later.
const SETTLE_LOOKS: u32 = 3;

/// Pools whose work changes files on disk: a settled node has none.
const BACKGROUND_POOLS: &[&str] = &[
    "CompactionExecutor",
    "MemtableFlushWriter",
    "MemtablePostFlush",
    "MemtableReclaimMemory",
    "HintsDispatcher",
    "ValidationExecutor",
    "ViewBuildExecutor",
    "ViewMutationStage",
    "MigrationStage",
];

/// What comes of a control-plane call.
pub type Result<T, E = AdminError> = std::result::Result<T, E>;

/// What went wrong with a control-plane call.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum AdminError {
    #[error("cannot connect to CQL at {address}: {refusal}")]
    Connect { address: SocketAddr, refusal: Refusal },
    #[error("CQL at {address}: {reason} (statement: {statement})")]
    Statement { address: SocketAddr, statement: String, reason: String },
    #[error("Cassandra at {address} has not settled after {waited_s:.0} s: {}", unsettled.join("; "))]
    NotSettled { address: SocketAddr, waited_s: f64, unsettled: Vec<String> },
    #[error("cancelled while waiting for Cassandra at {address} to settle")]
    Cancelled { address: SocketAddr },
    #[error("cannot start the connection's thread: {0}")]
    Thread(#[from] std::io::Error),
}

/// How long one answer to what is asked beside the samples of its host may take: a node that hangs must not keep these
/// from being taken.
const A_SAMPLE: Duration = Duration::from_secs(2);

/// The node is at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// From the call to the last of the looks that found nothing to do.
    pub waited: Duration,
    /// Nodes that gossip calls NORMAL.
    pub nodes: u32,
    /// Schema version that all nodes agree on.
    pub schema_version: String,
}

/// A connection to one node.
pub struct Admin {
    pub(super) address: SocketAddr,
    /// `None` only while being dropped.
    pub(super) session: Option<Arc<Session>>,
    pub(super) runtime: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Admin").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Admin {
    /// Connect to a node of ours; `timeout` holds for the connection and for each statement later (schema changes get
    /// at least 30 s).
    pub fn connect(address: SocketAddr, timeout: Duration) -> Result<Self> {
        Self::connect_as(address, timeout, &[], &Access::default())
    }

    /// As [`Self::connect`]; it knows the tables of this keyspace.
    pub fn connect_to_tables(address: SocketAddr, timeout: Duration, keyspace: &str) -> Result<Self> {
        Self::connect_knowing(address, (timeout, timeout), (&[], &Access::default()), &[keyspace])
    }

    /// As [`Self::connect`], to a node that somebody calls by `names`.
    pub fn connect_as(address: SocketAddr, timeout: Duration, names: &[String], access: &Access) -> Result<Self> {
        Self::connect_knowing(address, (timeout, timeout), (names, access), &[])
    }

    /// Connect to a node of ours that may not be ready: an error unless it is connected and has answered a query, each
    /// within `attempt`. `timeout` holds for each statement later.
    pub(super) fn connect_and_ping(address: SocketAddr, attempt: Duration, timeout: Duration) -> Result<Self> {
        let admin = Self::connect_knowing(address, (attempt, timeout), (&[], &Access::default()), &[])?;
        admin.ping_within(Some(attempt)).map(|()| admin)
    }

    fn connect_knowing(
        address: SocketAddr,
        (attempt, timeout): (Duration, Duration),
        (names, access): (&[String], &Access),
        keyspaces: &[&str],
    ) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("cql-admin".into()).spawn(move || {
            // An error means that the sender is gone: stop as well.
            let _ = runtime.block_on(stopped);
        })?;
        // From here on, dropping `admin` ends the thread, whatever fails.
        let mut admin = Self { address, session: None, runtime: handle, stop: Some(stop), thread: Some(thread) };
        let connect_error = |reason: String| AdminError::Connect { address, refusal: Refusal::Other(reason) };
        let only_this_node = AllowListHostFilter::new([address]).map_err(|error| connect_error(error.to_string()))?;
        let profile = ExecutionProfile::builder()
            .consistency(Consistency::One)
            .request_timeout(Some(timeout))
            .build()
            .into_handle();
        let builder = SessionBuilder::new()
            .known_node_addr(address)
            .host_filter(Arc::new(only_this_node))
            .pool_size(PoolSize::PerHost(NonZeroUsize::MIN))
            .connection_timeout(attempt)
            .fetch_schema_metadata(!keyspaces.is_empty())
            .keyspaces_to_fetch(keyspaces.iter().copied())
            .schema_agreement_timeout(Duration::from_secs(30))
            .default_execution_profile_handle(profile);
        let session = admin
            .runtime
            .block_on(async { tokio::time::timeout(attempt, session::open(builder, names, access)).await })
            .map_err(|_| connect_error(format!("no answer within {:.0} s", attempt.as_secs_f64())))?
            .map_err(|refusal| AdminError::Connect { address, refusal })?;
        admin.session = Some(Arc::new(session));
        Ok(admin)
    }

    /// One query that the node can answer alone.
    pub fn ping(&self) -> Result<()> {
        self.ping_within(None)
    }

    /// `None`: within the time that each statement has.
    fn ping_within(&self, timeout: Option<Duration>) -> Result<()> {
        let mut statement = Statement::new("SELECT release_version FROM system.local");
        statement.set_request_timeout(timeout);
        self.execute(statement, ()).map(|_| ())
    }

    /// Wait until this node is at rest: gossip shows exactly `nodes` nodes, all NORMAL and of one schema version, and
    /// this node has built all indexes and views and has no compaction, flush, hint or other background work, three
    /// looks in a row.
    pub fn wait_settled(&self, nodes: u32, timeout: Duration, cancelled: &dyn Fn() -> bool) -> Result<Settled> {
        let started = Instant::now();
        let mut quiet_looks = 0;
        loop {
            let (unsettled, schema_version) = self.unsettled(nodes)?;
            quiet_looks = if unsettled.is_empty() { quiet_looks + 1 } else { 0 };
            if quiet_looks >= SETTLE_LOOKS {
                return Ok(Settled { waited: started.elapsed(), nodes, schema_version });
            }
            if cancelled() {
                return Err(AdminError::Cancelled { address: self.address });
            }
            if started.elapsed() >= timeout && !unsettled.is_empty() {
                let waited_s = started.elapsed().as_secs_f64();
                return Err(AdminError::NotSettled { address: self.address, waited_s, unsettled });
            }
            std::thread::sleep(SETTLE_POLL);
        }
    }

    /// What keeps the node from being settled, in words, and the schema version.
    fn unsettled(&self, nodes: u32) -> Result<(Vec<String>, String)> {
        let mut reasons = Vec::new();
        let gossip = self.rows("SELECT * FROM system_views.gossip_info")?;
        let status = |row: &ViewRow| {
            let status = text(row, "status_with_port").or(text(row, "status")).unwrap_or("unknown");
            status.split(',').next().unwrap_or_default().to_owned()
        };
        let normal = gossip.iter().filter(|row| status(row) == "NORMAL").count();
        if normal != nodes as usize || gossip.len() != nodes as usize {
            let all: Vec<String> = gossip.iter().map(status).collect();
            reasons.push(format!("gossip shows {normal} of {nodes} nodes NORMAL ({})", all.join(", ")));
        }
        let schemas = self.schema_versions()?;
        if schemas.len() > 1 {
            reasons.push(format!("{} schema versions", schemas.len()));
        }
        reasons.extend(self.unbuilt()?);
        for pool in self.rows("SELECT * FROM system_views.thread_pools")? {
            let busy = ["active_tasks", "pending_tasks"].map(|column| number(&pool, column).unwrap_or(0));
            let busy: u64 = busy.iter().sum();
            if let Some(name) = text(&pool, "name").filter(|name| busy > 0 && BACKGROUND_POOLS.contains(name)) {
                reasons.push(format!("{busy} tasks in {name}"));
            }
        }
        let tasks = self.rows("SELECT * FROM system_views.sstable_tasks")?;
        if !tasks.is_empty() {
            reasons.push(format!("{} tasks on SSTables", tasks.len()));
        }
        let hints = self.rows("SELECT * FROM system_views.pending_hints")?;
        if !hints.is_empty() {
            reasons.push(format!("hints for {} nodes", hints.len()));
        }
        Ok((reasons, schemas.first().cloned().unwrap_or_default()))
    }

    /// Create keyspace and table of the YCSB record layout, if they do not exist: `y_id varchar PRIMARY KEY, field0
    /// varchar, ...`, with these options instead of the usual ones.
    pub fn create_schema(
        &self,
        keyspace: &str,
        table: &str,
        dataset: &experiment::Dataset,
        replication: &Replication,
        options: &BTreeMap<String, Setting>,
    ) -> Result<()> {
        for statement in schema_statements(keyspace, table, dataset, replication, options) {
            let mut request = Statement::new(statement.clone());
            request.set_request_timeout(Some(Duration::from_secs(30)));
            self.execute(request, ())?;
        }
        self.wait_schema_agreed(Duration::from_secs(30))
    }

    /// Wait until the other nodes have the schema too: before that, they refuse writes to a new table
    /// (`INCOMPATIBLE_SCHEMA`). The driver cannot wait for it here, because it only knows this node.
    pub(super) fn wait_schema_agreed(&self, timeout: Duration) -> Result<()> {
        let started = Instant::now();
        loop {
            let versions = self.schema_versions()?.len();
            if versions <= 1 {
                return Ok(());
            }
            if started.elapsed() >= timeout {
                return Err(AdminError::NotSettled {
                    address: self.address,
                    waited_s: started.elapsed().as_secs_f64(),
                    unsettled: vec![format!("{versions} schema versions")],
                });
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Schema versions of this node and, as far as it knows, of all others; one when they agree.
    fn schema_versions(&self) -> Result<BTreeSet<String>> {
        let mut rows = self.rows("SELECT schema_version FROM system.local")?;
        rows.extend(self.rows("SELECT schema_version FROM system.peers")?);
        let version = |row: &ViewRow| match row.get("schema_version")? {
            CqlValue::Uuid(version) => Some(version.to_string()),
            _ => None,
        };
        // A peer whose version is not known yet does not agree.
        Ok(rows.iter().map(|row| version(row).unwrap_or_else(|| "unknown".into())).collect())
    }

    /// Compactions of a table that this node has on record: those of the last week, of before its last start too. The
    /// record is a table like others, so that reading it may read a file or two.
    pub fn compactions(&self, keyspace: &str, table: &str) -> Result<u64> {
        let mut statement = Statement::new("SELECT keyspace_name, columnfamily_name FROM system.compaction_history");
        statement.set_request_timeout(Some(A_SAMPLE));
        let rows = self.execute(statement, ())?;
        let of_table = |row: &&ViewRow| {
            let is = |column, name| text(row, column) == Some(name);
            is("keyspace_name", keyspace) && is("columnfamily_name", table)
        };
        Ok(rows.iter().filter(of_table).count() as u64)
    }

    /// How many of these keys exist, at consistency ONE.
    pub fn count_sample(&self, keyspace: &str, table: &str, keys: &[String]) -> Result<u32> {
        let statement = format!("SELECT y_id FROM {keyspace}.{table} WHERE y_id IN ?");
        let mut found = 0;
        for chunk in keys.chunks(SAMPLE_CHUNK) {
            found += self.execute(Statement::new(statement.clone()), (chunk,))?.len();
        }
        Ok(u32::try_from(found).unwrap_or(u32::MAX))
    }

    /// Run any statement without values; for tests and special cases.
    pub fn run(&self, statement: &str, consistency: experiment::Consistency) -> Result<()> {
        let mut request = Statement::new(statement);
        request.set_consistency(statements::consistency(consistency));
        self.execute(request, ()).map(|_| ())
    }

    /// What this node shows of the keys of its `cassandra.yaml`; keys without a value are left out.
    pub fn settings(&self) -> Result<BTreeMap<String, String>> {
        let rows = self.rows("SELECT name, value FROM system_views.settings")?;
        let pair = |row: &ViewRow| {
            let text = |column| text(row, column).map(str::to_owned);
            Some((text("name")?, text("value")?))
        };
        Ok(rows.iter().filter_map(pair).collect())
    }

    /// The options of a table as its schema has them.
    pub fn table_schema(&self, keyspace: &str, table: &str) -> Result<BTreeMap<String, Setting>> {
        let statement = "SELECT * FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?";
        let rows = self.execute(Statement::new(statement), (keyspace, table))?;
        let row = rows.into_iter().next().unwrap_or_default();
        let option = |(name, value): (String, CqlValue)| Some((name, option_of(value)?));
        Ok(row.into_iter().filter_map(option).collect())
    }

    pub(super) fn rows(&self, statement: &str) -> Result<Vec<ViewRow>> {
        self.execute(Statement::new(statement), ())
    }

    pub(super) fn execute(&self, statement: Statement, values: impl SerializeRow) -> Result<Vec<ViewRow>> {
        let contents = statement.contents.clone();
        let failed =
            |reason: String| AdminError::Statement { address: self.address, statement: contents.clone(), reason };
        let session = self.session.as_ref().ok_or_else(|| failed("not connected".into()))?;
        let result = self
            .runtime
            .block_on(session.query_unpaged(statement, values))
            .map_err(|error| failed(error.to_string()))?;
        if !result.is_rows() {
            return Ok(Vec::new());
        }
        let result = result.into_rows_result().map_err(|error| failed(error.to_string()))?;
        let names: Vec<String> = result.column_specs().iter().map(|column| column.name().to_owned()).collect();
        let rows = result.rows::<Row>().map_err(|error| failed(error.to_string()))?;
        rows.map(|row| {
            let columns = row.map_err(|error| failed(error.to_string()))?.columns;
            Ok(names.iter().cloned().zip(columns).filter_map(|(name, value)| Some((name, value?))).collect())
        })
        .collect()
    }
}

/// One row of a table, by column name.
pub(super) type ViewRow = BTreeMap<String, CqlValue>;

/// A whole number; negative values mean "unknown" in these tables.
pub(super) fn number(row: &ViewRow, column: &str) -> Option<u64> {
    let value = match row.get(column)? {
        CqlValue::Int(value) => i64::from(*value),
        CqlValue::BigInt(value) => *value,
        _ => return None,
    };
    u64::try_from(value).ok()
}

pub(super) fn text<'a>(row: &'a ViewRow, column: &str) -> Option<&'a str> {
    row.get(column)?.as_text().map(String::as_str)
}

impl Drop for Admin {
    fn drop(&mut self) {
        {
            // The session's tasks must end inside the runtime that they run on.
            let _inside = self.runtime.enter();
            self.session = None;
        }
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
