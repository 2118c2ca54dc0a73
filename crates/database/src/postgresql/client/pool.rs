//! Connections of one load thread. PostgreSQL does one thing after the other on a connection, so that each request in
//! flight has one of its own; a thread has as many as it has had in flight at once. Requests go in PostgreSQL's own
//! protocol (`protocol`).

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::ErrorKind;
use tokio_postgres::Client;

use super::super::form::Value;
use super::super::protocol::{Error, Wire};
use super::super::way::Way;
use super::statements::{Asked, Table};

/// The first error of each kind, in the server's own words. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct FirstErrors(Arc<Mutex<BTreeMap<ErrorKind, String>>>);

impl FirstErrors {
    /// Characters of one: the server may cite a whole value.
    const MOST_CHARACTERS: usize = 300;

    fn add(&self, kind: ErrorKind, error: &Error) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let one_line = |c: char| if c.is_control() { ' ' } else { c };
        all.entry(kind)
            .or_insert_with(|| error.to_string().chars().map(one_line).take(Self::MOST_CHARACTERS).collect());
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

/// A text of the user's own that each connection prepares under this name.
pub(super) struct Text {
    /// Its number among all of them.
    number: usize,
    name: String,
    text: String,
}

impl Text {
    pub fn new(number: usize, text: String) -> Self {
        Self { number, name: format!("own{number}"), text }
    }
}

/// One connection. Statements are prepared when they are first needed, as an application's pool does.
pub(super) struct Connection {
    wire: Wire,
    /// The names of those of YCSB's table.
    prepared: HashMap<Asked, String>,
    /// Whether one of the user's own is prepared, by its number.
    own: Vec<bool>,
}

impl Connection {
    async fn open(way: &Way) -> Result<Self, Error> {
        Ok(Self { wire: way.wire().await?, prepared: HashMap::new(), own: Vec::new() })
    }

    /// Prepares a text of the user's own, if that is not done.
    pub async fn prepare(&mut self, Text { number, name, text }: &Text) -> Result<(), Error> {
        if self.own.get(*number) == Some(&true) {
            return Ok(());
        }
        self.wire.prepare(name, text).await?;
        if self.own.len() <= *number {
            self.own.resize(number + 1, false);
        }
        self.own[*number] = true;
        Ok(())
    }

    /// Writes what [`Self::run`] sends: a text that is prepared, with its values.
    pub fn bind<'v>(&mut self, text: &Text, values: impl IntoIterator<Item = Value<'v>>) -> Result<(), Error> {
        self.wire.bind(&text.name, values)
    }

    /// Has all be done that was bound.
    pub async fn run(&mut self) -> Result<(), Error> {
        self.wire.run(|_| {}).await.map(drop)
    }

    /// Does a statement that is not prepared.
    pub async fn simple(&mut self, statement: &str) -> Result<(), Error> {
        self.wire.simple(statement).await
    }

    /// Asks YCSB's table; gives how many rows were read or written.
    pub async fn ask<'v>(
        &mut self,
        (asked, table): (Asked, &Table),
        values: impl IntoIterator<Item = Value<'v>>,
        on_row: impl FnMut(&[u8]),
    ) -> Result<u64, Error> {
        let is_new = !self.prepared.contains_key(&asked);
        if is_new {
            let name = format!("ycsb{}", self.prepared.len());
            self.wire.prepare(&name, &table.statement(asked)).await?;
            self.prepared.insert(asked, name);
        }
        self.wire.bind(&self.prepared[&asked], values)?;
        self.wire.run(on_row).await
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

    /// A connection of tokio-postgres, for what is asked once.
    pub async fn client(&self) -> Result<Client, tokio_postgres::Error> {
        self.way.open().await
    }

    /// A connection, for work of several steps; [`Self::put`] gives it back.
    pub async fn take(&self) -> Result<Connection, Error> {
        let idle = self.idle.borrow_mut().pop();
        match idle {
            Some(connection) => Ok(connection),
            None => Connection::open(&self.way).await,
        }
    }

    /// Has a connection serve others. A refused statement leaves one as it was; one that was lost, or is within a
    /// transaction, is closed.
    pub fn put(&self, connection: Connection) {
        if connection.wire.is_idle() {
            self.idle.borrow_mut().push(connection);
        }
    }

    /// Sends a request with these values and waits for the answer: how many rows were read or written.
    pub async fn ask<'v>(&self, asked: Asked, values: impl IntoIterator<Item = Value<'v>>) -> Result<u64, ErrorKind> {
        let what = (asked, &self.table);
        self.with_connection(async |connection: &mut Connection| connection.ask(what, values, |_| {}).await).await
    }

    /// The same, of a request that reads: the first row, if there is one (`protocol::columns`).
    pub async fn first_row<'v>(
        &self,
        asked: Asked,
        values: impl IntoIterator<Item = Value<'v>>,
    ) -> Result<Option<Vec<u8>>, ErrorKind> {
        let (what, mut first) = ((asked, &self.table), None);
        let keep = |row: &[u8]| {
            if first.is_none() {
                first = Some(row.to_vec());
            }
        };
        self.with_connection(async |connection: &mut Connection| connection.ask(what, values, keep).await).await?;
        Ok(first)
    }

    /// Has these rows taken in by a COPY, all of them or none.
    pub async fn copy(&self, statement: &str, rows: &[u8]) -> Result<(), ErrorKind> {
        self.with_connection(async |connection: &mut Connection| connection.wire.copy(statement, rows).await).await
    }

    /// Does something with a connection that does nothing else meanwhile. One that is still at it when the time is over
    /// is closed: what comes back on it belongs to nobody.
    pub async fn with_connection<R>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<R, Error>,
    ) -> Result<R, ErrorKind> {
        let done = async {
            let mut connection = self.take().await.map_err(|error| self.failed(&error))?;
            let result = work(&mut connection).await;
            self.put(connection);
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
    match error.code() {
        None => ErrorKind::Connection,
        Some(code) => kind_of_code(code),
    }
}

fn kind_of_code(code: &str) -> ErrorKind {
    match code {
        // It starts, stops or recovers.
        "57P03" => ErrorKind::Unavailable,
        // It has ended the session: for a stop, after a crash of another one, for its time without a request.
        "57P01" | "57P02" | "57P05" => ErrorKind::Connection,
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
            ("57P05", ErrorKind::Connection),
            ("08006", ErrorKind::Connection),
            ("53300", ErrorKind::Overloaded),
            ("42P01", ErrorKind::Other),
        ] {
            assert_eq!(kind_of_code(code), expected, "{code}");
        }
    }
}
