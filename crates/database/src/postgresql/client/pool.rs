//! Connections of one load thread. PostgreSQL does one thing after the other on a connection, so that each request in
//! flight has one of its own; a thread has as many as it has had in flight at once.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use engine::ErrorKind;
use futures_util::SinkExt as _;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use super::super::described::said;
use super::super::way::Way;
use super::statements::{Asked, Table};

/// What a request is answered with.
pub(super) enum Answer {
    /// Rows that were read.
    Rows(Vec<Row>),
    /// How many were written.
    Written(u64),
}

/// The first error of each kind, in the server's own words. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct FirstErrors(Arc<Mutex<BTreeMap<ErrorKind, String>>>);

impl FirstErrors {
    /// Characters of one: the server may cite a whole value.
    const MOST_CHARACTERS: usize = 300;

    fn add(&self, kind: ErrorKind, error: &Error) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let one_line = |c: char| if c.is_control() { ' ' } else { c };
        all.entry(kind).or_insert_with(|| said(error).chars().map(one_line).take(Self::MOST_CHARACTERS).collect());
    }

    pub fn all(&self) -> BTreeMap<ErrorKind, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Connections of a load thread, with the statements that each has prepared.
pub(super) struct Pool {
    way: Way,
    pub table: Table,
    timeout: Duration,
    first_errors: FirstErrors,
    /// Those without a request; the one that was used last comes first.
    idle: RefCell<Vec<Connection>>,
}

/// One connection. Statements are prepared when they are first needed, as an application's pool does.
pub(super) struct Connection {
    pub client: Client,
    prepared: RefCell<HashMap<Asked, Statement>>,
    /// Those of the user's own, by the number that each text has.
    own: RefCell<HashMap<usize, Statement>>,
}

impl Connection {
    async fn open(way: &Way) -> Result<Self, Error> {
        Ok(Self { client: way.open().await?, prepared: RefCell::default(), own: RefCell::default() })
    }

    async fn statement(&self, asked: Asked, table: &Table) -> Result<Statement, Error> {
        if let Some(statement) = self.prepared.borrow().get(&asked) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&table.statement(asked)).await?;
        self.prepared.borrow_mut().insert(asked, statement.clone());
        Ok(statement)
    }

    /// The statement of the user's own that has this number and this text.
    pub async fn own(&self, number: usize, text: &str) -> Result<Statement, Error> {
        if let Some(statement) = self.own.borrow().get(&number) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(text).await?;
        self.own.borrow_mut().insert(number, statement.clone());
        Ok(statement)
    }

    async fn ask(&self, asked: Asked, table: &Table, values: &[&(dyn ToSql + Sync)]) -> Result<Answer, Error> {
        let statement = self.statement(asked, table).await?;
        match asked.reads() {
            true => self.client.query(&statement, values).await.map(Answer::Rows),
            false => self.client.execute(&statement, values).await.map(Answer::Written),
        }
    }

    async fn copy(&self, statement: &str, rows: Bytes) -> Result<(), Error> {
        let mut sink = pin!(self.client.copy_in::<str, Bytes>(statement).await?);
        sink.send(rows).await?;
        sink.as_mut().finish().await.map(drop)
    }
}

impl Pool {
    /// Opens the first connection, so that a server that is not there, or stands still, is known at once; the error is
    /// why it could not.
    pub async fn open(way: Way, table: Table, timeout: Duration, first_errors: FirstErrors) -> Result<Self, String> {
        let pool = Self { way, table, timeout, first_errors, idle: RefCell::default() };
        let first = pool.in_time(Connection::open(&pool.way)).await?;
        let first = first.map_err(|error| pool.way.refusal(&error).to_string())?;
        pool.put(first);
        Ok(pool)
    }

    /// Waits for one step of what is done before requests are sent, as long as for a request. Errors: it takes longer.
    pub async fn in_time<T>(&self, step: impl Future<Output = T>) -> Result<T, String> {
        let done = tokio::time::timeout(self.timeout, step).await;
        done.map_err(|_| format!("no answer within {} s", self.timeout.as_secs_f64()))
    }

    /// A connection, for work of several steps; [`Self::put`] gives it back.
    pub async fn take(&self) -> Result<Connection, Error> {
        let idle = self.idle.borrow_mut().pop();
        match idle {
            Some(connection) => Ok(connection),
            None => Connection::open(&self.way).await,
        }
    }

    /// Has a connection that does nothing serve others.
    pub fn put(&self, connection: Connection) {
        if !connection.client.is_closed() {
            self.idle.borrow_mut().push(connection);
        }
    }

    /// Sends a request with these values and waits for the answer.
    pub async fn ask(&self, asked: Asked, values: &[&(dyn ToSql + Sync)]) -> Result<Answer, ErrorKind> {
        self.with_connection(async |connection: &Connection| connection.ask(asked, &self.table, values).await).await
    }

    /// Has these rows taken in by a COPY, all of them or none.
    pub async fn copy(&self, statement: &str, rows: Bytes) -> Result<(), ErrorKind> {
        self.with_connection(async |connection: &Connection| connection.copy(statement, rows).await).await
    }

    /// Does something with a connection that does nothing else meanwhile. One that is still at it when the time is over
    /// is closed: what comes back on it belongs to nobody.
    pub async fn with_connection<R>(
        &self,
        work: impl AsyncFnOnce(&Connection) -> Result<R, Error>,
    ) -> Result<R, ErrorKind> {
        let done = async {
            let connection = self.take().await.map_err(|error| self.failed(&error))?;
            let result = work(&connection).await;
            // A refused statement leaves a connection as it was.
            if result.as_ref().err().is_none_or(|error| error.as_db_error().is_some()) {
                self.put(connection);
            }
            result.map_err(|error| self.failed(&error))
        };
        tokio::time::timeout(self.timeout, done).await.unwrap_or(Err(ErrorKind::ClientTimeout))
    }

    /// What went wrong; the first of its kind is kept.
    fn failed(&self, error: &Error) -> ErrorKind {
        let kind = kind(error);
        self.first_errors.add(kind, error);
        kind
    }
}

/// What went wrong, in the words of a trial's record. Classes of errors: PostgreSQL, "Error Codes".
fn kind(error: &Error) -> ErrorKind {
    match error.code().map(|state| state.code()) {
        None => ErrorKind::Connection,
        Some(code) => kind_of_code(code),
    }
}

fn kind_of_code(code: &str) -> ErrorKind {
    match code {
        // It starts, stops or recovers.
        "57P03" => ErrorKind::Unavailable,
        "57P01" | "57P02" => ErrorKind::Connection,
        code if code.starts_with("08") => ErrorKind::Connection,
        // Too many connections, no memory, no space.
        code if code.starts_with("53") => ErrorKind::Overloaded,
        _ => ErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use tokio_postgres::Config;

    use super::*;

    #[test]
    fn a_server_that_stands_still_is_not_waited_for_beyond_its_time() {
        let still = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut config = Config::new();
        config.host("127.0.0.1").port(still.local_addr().unwrap().port()).user("iopslab");
        let way = Way::plain(config);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let opened =
            runtime.block_on(Pool::open(way, Table::new("t", 1), Duration::from_millis(50), FirstErrors::default()));
        assert_eq!(opened.err().as_deref(), Some("no answer within 0.05 s"));
    }

    #[test]
    fn errors_are_distinguished_by_their_codes() {
        for (code, expected) in [
            ("57P03", ErrorKind::Unavailable),
            ("57P02", ErrorKind::Connection),
            ("08006", ErrorKind::Connection),
            ("53300", ErrorKind::Overloaded),
            ("42P01", ErrorKind::Other),
        ] {
            assert_eq!(kind_of_code(code), expected, "{code}");
        }
    }
}
