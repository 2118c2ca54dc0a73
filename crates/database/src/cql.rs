//! The client that sends the engine's requests: the `scylla` driver, set up so that it adds as little as it can, and
//! beside it `frames`, which carry the requests of prepared statements where the server lets them.
//!
//! The statements are those of YCSB's `cassandra-cql` binding on YCSB's table (`y_id varchar PRIMARY KEY, field0
//! varchar, ...`), prepared once. Every setting that would change what is measured is off: no retries, no speculative
//! execution, no compression, no tracing, one page per result. A response is decoded as far as knowing its kind and the
//! number of its rows; columns are not turned into Rust values, because an application's own work is not the
//! database's.
//!
//! One session per load thread, with one connection per node: all of it lives on that thread's runtime, so a request
//! crosses no thread. One node needs no routing either, so a policy without a plan saves its cost there; with several
//! nodes the driver's token-aware policy sends each request to a replica.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use engine::{Condition, Connect, Driver, ErrorKind, NextRow, Random, Recorded, Stamp};
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::cluster::{ClusterState, NodeRef};
use scylla::errors::{DbError, ExecutionError, RequestAttemptError};
use scylla::policies::load_balancing::{FallbackPlan, LoadBalancingPolicy, RoutingInfo};
use scylla::policies::retry::FallthroughRetryPolicy;
use scylla::response::query_result::QueryResult;
use scylla::routing::Shard;
use scylla::value::{CqlValue, Row};
use tokio::sync::OnceCell;

use crate::frames::{APPLIED, Answer, Frames, Values};
use crate::own::{OwnRequest, OwnStatements, OwnWork};
use crate::session;
use crate::statements::{
    Bound, NO_FIELDS, Scan, StampedInsert, StampedUpdate, Statement, Table, Texts, Writing, Ycsb, prepare,
};
use crate::table_at::TableAt;

/// Requests that one connection carries at once. The protocol has 32,768 stream ids (native_protocol_v4.spec, section
/// 2.3); the rest is left to the driver's own requests and to ids that wait for the answer to a timed-out request.
const IN_FLIGHT: usize = 30_000;

/// The variable that switches frames of our own off.
const DRIVER_ONLY: &str = "IOPSLAB_CQL_DRIVER";

/// Whether the user wants every request to go through the driver.
pub fn driver_only() -> bool {
    std::env::var_os(DRIVER_ONLY).is_some_and(|value| !value.is_empty() && value != "0")
}

/// How to reach a table of records in YCSB's layout, or the user's own tables.
#[derive(Debug, Clone)]
pub struct CqlConnect {
    /// The table. Where every request goes through the driver there are no frames of our own.
    pub at: TableAt,
    /// What has to be said of how requests were sent.
    pub notes: Notes,
    /// Statements of the user's own, instead of those of YCSB.
    pub own: Option<Arc<OwnWork>>,
}

/// What has to be said of how requests were sent, each sentence once. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Notes(Arc<Mutex<BTreeSet<String>>>);

impl Notes {
    /// Sentences beyond this are left out: a node may be refused for ever, with numbers in the reason.
    const MOST: usize = 20;

    fn add(&self, note: String) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < Self::MOST {
            notes.insert(note);
        }
    }

    fn all(&self) -> Vec<String> {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.iter().cloned().collect()
    }
}

impl CqlConnect {
    /// Nothing has to be said yet.
    pub fn new(at: TableAt) -> Self {
        Self { at, notes: Notes::default(), own: None }
    }
}

/// Connections to the database are made inside a `LocalRuntime`, which each load thread has.
impl Connect for CqlConnect {
    type Driver = CqlDriver;

    fn notes(&self) -> Vec<String> {
        self.notes.all()
    }

    async fn connect(&self) -> Result<CqlDriver, String> {
        let profile = ExecutionProfile::builder()
            .serial_consistency(None)
            .request_timeout(Some(self.at.request_timeout))
            .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
            .speculative_execution_policy(None)
            .load_balancing_policy(Arc::new(Routing { several: session::policy(&self.at.access) }))
            .build();
        let builder = SessionBuilder::new().known_nodes(&self.at.contact_points);
        let builder = builder
            .default_execution_profile_handle(profile.into_handle())
            .pool_size(PoolSize::PerHost(NonZeroUsize::MIN))
            .tcp_nodelay(true)
            .compression(None)
            // It waits for one more turn of the runtime before each write, which is a system call more per request in
            // an open loop. Requests that are made in the same turn are written together without it.
            .write_coalescing(false)
            // The replication of this keyspace is what token-aware routing needs; the tables of all others are not. Of
            // its own tables only what makes rows of them needs to know.
            .keyspaces_to_fetch([&self.at.keyspace])
            .fetch_full_schema_metadata(self.own.is_some());
        let session = session::open(builder, &self.at.contact_points, &self.at.access)
            .await
            .map_err(|refusal| format!("{}: {refusal}", self.at.contact_points.join(", ")))?;
        CqlDriver::prepare(session, self).await
    }
}

/// A session with its prepared statements, owned by one load thread.
pub struct CqlDriver {
    session: Arc<Session>,
    /// `None`: every request goes through the driver.
    frames: Option<Frames>,
    table: Table,
    ycsb: Option<Ycsb>,
    own: Option<OwnStatements>,
    /// Writes with a timestamp of ours, for trials that check them.
    stamped: Option<Writing>,
    /// All fields in order, when writes are read back.
    fetch: OnceCell<Statement>,
}

impl CqlDriver {
    async fn prepare(session: Session, to: &CqlConnect) -> Result<Self, String> {
        let table = Table {
            name: format!("{}.{}", to.at.keyspace, to.at.table),
            columns: (0..to.at.fields).map(|field| format!("field{field}")).collect(),
            consistency: to.at.consistency,
        };
        let session = Arc::new(session);
        let frames = Self::open_frames(&session, to).await;
        let (ycsb, own) = match &to.own {
            None => (Some(Ycsb::prepare(&session, &table).await?), None),
            Some(work) => {
                (None, Some(OwnStatements::prepare(&session, &to.at.keyspace, to.at.consistency, work).await?))
            }
        };
        Ok(Self { frames, ycsb, own, stamped: None, fetch: OnceCell::new(), session, table })
    }

    /// Connections of our own, or a note on why there are none.
    async fn open_frames(session: &Arc<Session>, to: &CqlConnect) -> Option<Frames> {
        let opened = if to.at.driver_only {
            Err(format!("{DRIVER_ONLY} is set"))
        } else {
            let notes = to.notes.clone();
            let on_refused = move |reason| notes.add(format!("a node is left out by iopslab's own frames: {reason}"));
            let policy = session::policy(&to.at.access);
            Frames::open(session, policy, &to.at.access, to.at.request_timeout, on_refused).await
        };
        match opened {
            Ok(frames) => Some(frames),
            Err(reason) => {
                to.notes.add(format!(
                    "requests go through the CQL driver, which costs the client more CPU than frames of its own: \
                     {reason}"
                ));
                None
            }
        }
    }

    /// The statements of YCSB, which nobody asks for where they are the user's own.
    fn ycsb(&self) -> Result<&Ycsb, ErrorKind> {
        self.ycsb.as_ref().ok_or(ErrorKind::Other)
    }

    /// The stamped writes, which the engine has asked for before it sends any.
    fn stamped(&self) -> &Writing {
        self.stamped.as_ref().expect("prepare_stamped comes first")
    }

    async fn prepare_fetch(&self) -> Result<Statement, String> {
        let Table { name, columns, .. } = &self.table;
        let statement = format!("SELECT {} FROM {name} WHERE y_id = ?", columns.join(", "));
        prepare(&self.session, statement, self.table.consistency.read).await
    }

    /// Sends a request whose response has rows; without one the record does not exist.
    async fn expect_row(&self, statement: &Statement, key: &str, values: impl Values) -> Result<(), ErrorKind> {
        if let Some(frames) = &self.frames {
            match frames.execute(statement.head(), &values, || statement.info(Some(key.as_bytes()))).await? {
                Answer::Rows(0) => return Err(ErrorKind::NotFound),
                Answer::Rows(_) => return Ok(()),
                // The driver prepares it again.
                Answer::Unprepared => {}
                Answer::Failed(kind) => return Err(kind),
                Answer::Done | Answer::Unmet | Answer::Senseless => return Err(ErrorKind::Other),
            }
        }
        let result = self.session.execute_unpaged(statement, Bound(&values)).await.map_err(|error| kind(&error))?;
        match result.into_rows_result() {
            Ok(rows) if rows.rows_num() > 0 => Ok(()),
            Ok(_) => Err(ErrorKind::NotFound),
            Err(_) => Err(ErrorKind::Other),
        }
    }

    /// Sends a request whose response says only that it is done.
    async fn expect_done(&self, statement: &Statement, key: &str, values: impl Values) -> Result<(), ErrorKind> {
        self.expect_answer(statement, Some(key.as_bytes()), values).await.map(|_| ())
    }

    /// Sends a request that is answered by being done, or by however many rows.
    async fn expect_answer(
        &self,
        statement: &Statement,
        key: Option<&[u8]>,
        values: impl Values,
    ) -> Result<Condition, ErrorKind> {
        if let Some(frames) = &self.frames {
            match frames.execute(statement.head(), &values, || statement.info(key)).await? {
                Answer::Done | Answer::Rows(_) => return Ok(Condition::Met),
                Answer::Unmet => return Ok(Condition::Unmet),
                Answer::Unprepared => {}
                Answer::Failed(kind) => return Err(kind),
                Answer::Senseless => return Err(ErrorKind::Other),
            }
        }
        match self.session.execute_unpaged(statement, Bound(&values)).await {
            Ok(answer) => Ok(condition(answer)),
            Err(error) => Err(kind(&error)),
        }
    }
}

/// What an answer says of its condition: the first column of its rows is `[applied]` where there was one.
fn condition(answer: QueryResult) -> Condition {
    let Ok(rows) = answer.into_rows_result() else { return Condition::Met };
    let is_conditional = rows.column_specs().iter().next().is_some_and(|column| column.name() == APPLIED);
    let is_unmet = |row: Row| matches!(row.columns.first(), Some(Some(CqlValue::Boolean(false))));
    match is_conditional && rows.maybe_first_row::<Row>().ok().flatten().is_some_and(is_unmet) {
        true => Condition::Unmet,
        false => Condition::Met,
    }
}

impl Driver for CqlDriver {
    type Own = OwnRequest;

    fn make(&self, random: &mut Random, request: &mut OwnRequest) -> usize {
        self.own.as_ref().map_or(0, |own| own.make(random, request))
    }

    fn recorded(&self, thread: u32, threads: u32) -> Vec<Recorded> {
        self.own.as_ref().map_or_else(Vec::new, |own| own.recorded(thread, threads))
    }

    fn make_recorded(&self, number: u32, request: &mut OwnRequest) -> usize {
        self.own.as_ref().map_or(0, |own| own.make_recorded(number, request))
    }

    fn make_row(&self, request: &mut OwnRequest) -> NextRow {
        self.own.as_ref().map_or(NextRow::None, |own| own.make_row(request))
    }

    async fn send(&self, request: &OwnRequest) -> Result<Condition, ErrorKind> {
        let own = self.own.as_ref().ok_or(ErrorKind::Other)?;
        let result = self.expect_answer(own.statement(request), request.key(), own.values(request)).await;
        own.ended(request);
        result
    }

    async fn read(&self, key: &str, field: Option<u32>) -> Result<(), ErrorKind> {
        let ycsb = self.ycsb()?;
        let statement = field.map_or(&ycsb.read_record, |field| &ycsb.read_field[field as usize]);
        self.expect_row(statement, key, Texts { before: &[key], fields: NO_FIELDS, after: &[] }).await
    }

    async fn update(&self, key: &str, fields: &[(u32, &str)]) -> Result<(), ErrorKind> {
        let plain = &self.ycsb()?.plain;
        match fields {
            // The whole record, in order: the one shape of several fields that YCSB writes.
            [(0, _), _, ..] if fields.len() == self.table.columns.len() => {
                self.expect_done(&plain.update_record, key, Texts { before: &[], fields, after: &[key] }).await
            }
            _ => {
                for (field, value) in fields {
                    let statement = &plain.update_field[*field as usize];
                    self.expect_done(statement, key, Texts { before: &[value, key], fields: NO_FIELDS, after: &[] })
                        .await?;
                }
                Ok(())
            }
        }
    }

    async fn insert(&self, key: &str, values: &[&str]) -> Result<(), ErrorKind> {
        let plain = &self.ycsb()?.plain;
        self.expect_done(&plain.insert, key, Texts { before: &[key], fields: NO_FIELDS, after: values }).await
    }

    async fn scan(&self, start_key: &str, records: u32) -> Result<(), ErrorKind> {
        let records = i32::try_from(records).unwrap_or(i32::MAX);
        self.expect_row(&self.ycsb()?.scan, start_key, Scan { start_key, records }).await
    }

    async fn prepare_stamped(&mut self) -> Result<(), String> {
        self.stamped = Some(Writing::prepare(&self.session, &self.table, true).await?);
        Ok(())
    }

    async fn update_stamped(&self, key: &str, fields: &[(u32, &str)], stamp: &Stamp) -> Result<(), ErrorKind> {
        let statements = self.stamped();
        let update = |fields| StampedUpdate { stamp, fields, key };
        match fields {
            [(0, _), _, ..] if fields.len() == self.table.columns.len() => {
                self.expect_done(&statements.update_record, key, update(fields)).await
            }
            _ => {
                for one in fields {
                    let statement = &statements.update_field[one.0 as usize];
                    self.expect_done(statement, key, update(std::slice::from_ref(one))).await?;
                }
                Ok(())
            }
        }
    }

    async fn insert_stamped(&self, key: &str, values: &[&str], stamp: &Stamp) -> Result<(), ErrorKind> {
        let values = StampedInsert { key, values, stamp };
        self.expect_done(&self.stamped().insert, key, values).await
    }

    async fn fetch(&self, key: &str) -> Result<Option<Vec<Option<String>>>, ErrorKind> {
        let statement = self.fetch.get_or_try_init(|| self.prepare_fetch()).await;
        let result = self
            .session
            .execute_unpaged(&**statement.map_err(|_| ErrorKind::Other)?, (key,))
            .await
            .map_err(|error| kind(&error))?;
        let rows = result.into_rows_result().map_err(|_| ErrorKind::Other)?;
        let row = rows.maybe_first_row::<Row>().map_err(|_| ErrorKind::Other)?;
        let text = |value: Option<CqlValue>| value.and_then(CqlValue::into_string);
        Ok(row.map(|row| row.columns.into_iter().map(text).collect()))
    }

    fn max_in_flight(&self, _: u32) -> usize {
        // With several nodes all requests may still go to one of them.
        IN_FLIGHT
    }
}

/// Sends everything to the only node without a plan; leaves several nodes to the token-aware policy.
#[derive(Debug)]
struct Routing {
    several: Arc<dyn LoadBalancingPolicy>,
}

impl LoadBalancingPolicy for Routing {
    fn pick<'a>(
        &'a self,
        request: &'a RoutingInfo<'_>,
        cluster: &'a ClusterState,
    ) -> Option<(NodeRef<'a>, Option<Shard>)> {
        match cluster.get_nodes_info() {
            // A sharder means ScyllaDB, where the policy finds the shard that owns the key.
            [only] if only.sharder().is_none() => Some((only, Some(0))),
            _ => self.several.pick(request, cluster),
        }
    }

    fn fallback<'a>(&'a self, request: &'a RoutingInfo<'_>, cluster: &'a ClusterState) -> FallbackPlan<'a> {
        self.several.fallback(request, cluster)
    }

    fn name(&self) -> String {
        "iopslab".to_owned()
    }
}

/// The kind under which an error is counted.
fn kind(error: &ExecutionError) -> ErrorKind {
    match error {
        ExecutionError::RequestTimeout(_) => ErrorKind::ClientTimeout,
        // No usable connection to any node.
        ExecutionError::ConnectionPoolError(_) | ExecutionError::EmptyPlan => ErrorKind::Connection,
        ExecutionError::LastAttemptError(attempt) => match attempt {
            RequestAttemptError::BrokenConnectionError(_) => ErrorKind::Connection,
            // Our own limit, not the server's, but it means the same: more in flight than can be carried.
            RequestAttemptError::UnableToAllocStreamId => ErrorKind::Overloaded,
            RequestAttemptError::DbError(error, _) => match error {
                DbError::ReadTimeout { .. } => ErrorKind::ReadTimeout,
                DbError::WriteTimeout { .. } => ErrorKind::WriteTimeout,
                DbError::Unavailable { .. } => ErrorKind::Unavailable,
                DbError::Overloaded | DbError::RateLimitReached { .. } => ErrorKind::Overloaded,
                _ => ErrorKind::Other,
            },
            _ => ErrorKind::Other,
        },
        _ => ErrorKind::Other,
    }
}
