//! Statements and transactions of the user's own: prepared on each connection, made by `statements`, sent as all others
//! are; and rows of the user's own, which COPY takes in.

use std::cell::RefCell;
use std::sync::Arc;

use ::statements::{Marker, Request, Requests, Statement, Table, Values};
use bytes::BufMut as _;
use engine::{ErrorKind, NextRow, Random};
use experiment::Own;
use tokio_postgres::Client;
use tokio_postgres::error::ErrorPosition;

use super::super::described::{described, said};
use super::super::form::{Form, Value, made_as};
use super::super::protocol::Error;
use super::copying::Copying;
use super::loaded::{Loaded, tried};
use super::pool::{Connection, Pool, Text};
use crate::own::{OwnWork, now_us};

/// A request that is ready to be sent.
#[derive(Debug, Default)]
pub struct SqlRequest {
    /// Of a row that is loaded: its table in the place of the statement.
    request: Request,
    is_row: bool,
}

/// A row that waits to be taken in: which table it is of, and its values.
type Row = (usize, Values);

/// What one load thread does with schema and statements of the user's own.
pub(super) struct OwnStatements {
    work: Arc<OwnWork>,
    statements: Vec<Sent>,
    requests: RefCell<Requests>,
    /// What is loaded; nothing where requests are made.
    rows: Vec<Loaded>,
    copying: Copying<Row>,
}

/// What is sent for a statement.
struct Sent {
    /// `BEGIN ...` of a transaction.
    begin: Option<Text>,
    steps: Vec<Step>,
}

/// One statement.
struct Step {
    text: Text,
    /// Which of the request's values each parameter has, and its form.
    parameters: Vec<(usize, Form)>,
}

impl OwnStatements {
    /// Has the server describe tables and statements, each in the time of a request. Who loads asks for the statements
    /// of the workload all the same: their mistakes are found before anything is written. Errors: what the server, or
    /// the data, says of a statement, at its line.
    pub async fn prepare(pool: &Pool, work: Arc<OwnWork>) -> Result<Self, String> {
        let failed = |error: String| format!("the server does not describe the statements: {error}");
        let client = pool.in_time(pool.client()).await.map_err(failed)?.map_err(|error| failed(said(&error)))?;
        let own = work.own();
        let tables = own.tables();
        let all = pool.in_time(described(&client, &tables)).await.and_then(|described| described);
        let all = all.map_err(|error| format!("{}: {error}", own.file))?;
        let tables: Vec<Table> = all.iter().map(|described| described.table.clone()).collect();
        let (mut statements, mut markers, mut mistakes, mut number) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for statement in &own.script.statements {
            let described = pool.in_time(sent(&client, (statement, own), &tables, &mut number)).await;
            let late = |late: String| format!("{}:{}: `{}`: {late}", own.file, statement.line, statement.name);
            match described.map_err(late)? {
                Ok((sent, of_it)) => {
                    statements.push(sent);
                    markers.push(of_it);
                }
                Err(mistake) => mistakes.push(mistake),
            }
        }
        for of_table in &all {
            let name = &of_table.table.name;
            let is_loaded = own.data.table(name).is_some_and(|data| data.partitions > 0);
            let is_asked = |column: &str| {
                markers.iter().flatten().any(|marker: &Marker| marker.table == *name && marker.name == column)
            };
            let narrow = of_table.too_narrow(&own.data, |column| is_loaded || is_asked(column));
            mistakes.extend(narrow.into_iter().map(|narrow| format!("{}: {narrow}", own.file)));
        }
        if !mistakes.is_empty() {
            return Err(mistakes.join("\n"));
        }
        let requests = RefCell::new(work.requests_of(&tables, &markers)?);
        let mut rows = Vec::new();
        if work.loads() {
            // Numbers from here on are those of inserts.
            rows.extend(work.rows_of(&tables)?.into_iter().zip(number..).map(|(rows, at)| Loaded::new(rows, at)));
            tried(pool, &rows, &own.file).await?;
            work.begin_load(rows.iter().map(|loaded| &loaded.rows));
        }
        Ok(Self { work, statements, requests, rows, copying: Copying::default() })
    }

    /// Makes the next request; gives the number of its statement.
    pub fn make(&self, random: &mut Random, into: &mut SqlRequest) -> usize {
        into.is_row = false;
        self.requests.borrow_mut().next(random, now_us(), &mut into.request);
        into.request.statement
    }

    /// Makes the request that writes the next row. One without a key would be there twice if it were written again.
    pub fn make_row(&self, into: &mut SqlRequest) -> NextRow {
        let Some((table, place)) = self.work.next_row() else { return NextRow::None };
        into.is_row = true;
        into.request.statement = table;
        let rows = &self.rows[table].rows;
        rows.row(place, &mut into.request.values);
        if rows.has_key() { NextRow::Repeatable } else { NextRow::Once }
    }

    /// Sends a request and waits for its answer, whatever rows that has.
    pub async fn send(&self, pool: &Pool, request: &SqlRequest) -> Result<(), ErrorKind> {
        let SqlRequest { request, is_row } = request;
        if *is_row {
            let row = (request.statement, request.values.clone());
            return self.copying.insert(row, async |rows: Vec<Row>| self.take_in(pool, rows).await).await;
        }
        let sent = &self.statements[request.statement];
        let values = &request.values;
        let result =
            pool.with_connection(async |connection: &mut Connection| sent.send(connection, values).await).await;
        self.requests.borrow().ended(request);
        result
    }

    /// Has rows taken in, those of each table together; where that is refused each by itself: one that is written
    /// again, because the answer to its first attempt was lost, is there already.
    async fn take_in(&self, pool: &Pool, rows: Vec<Row>) -> Vec<Result<(), ErrorKind>> {
        let mut taken = vec![Ok(()); rows.len()];
        for (table, loaded) in self.rows.iter().enumerate() {
            let of_table: Vec<usize> = (0..rows.len()).filter(|row| rows[*row].0 == table).collect();
            if of_table.is_empty() {
                continue;
            }
            let copied = copied(loaded, of_table.iter().map(|row| &rows[*row].1));
            let together = pool.copy(&loaded.copy, &copied).await;
            for row in of_table {
                taken[row] = match together {
                    Err(ErrorKind::Other) if loaded.rows.has_key() => {
                        let values = &rows[row].1;
                        pool.with_connection(async |connection: &mut Connection| loaded.write(connection, values).await)
                            .await
                    }
                    together => together,
                };
            }
        }
        taken
    }
}

/// Rows of a COPY in its binary format (PostgreSQL: "COPY", Binary Format): a header, each row with the number of its
/// columns and each value with its length, a trailer.
fn copied<'r>(loaded: &Loaded, rows: impl Iterator<Item = &'r Values>) -> Vec<u8> {
    let mut out = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec();
    let mut bytes = Vec::new();
    for values in rows {
        out.put_i16(loaded.forms.len() as i16);
        for (value, form) in values.iter().zip(&loaded.forms) {
            bytes.clear();
            form.put(value.unwrap_or_default(), &mut bytes);
            out.put_i32(bytes.len() as i32);
            out.put_slice(&bytes);
        }
    }
    out.put_i16(-1);
    out
}

/// What is sent for a statement, and its markers as the server describes them; or what is wrong with it, at its line.
async fn sent(
    client: &Client,
    (statement, own): (&Statement, &Own),
    tables: &[Table],
    number: &mut usize,
) -> Result<(Sent, Vec<Marker>), String> {
    let at = |line: usize, error: String| format!("{}:{line}: `{}`: {error}", own.file, statement.name);
    let sql = statement.sql.as_ref().ok_or_else(|| at(statement.line, "it is not SQL".to_owned()))?;
    let columns = sql.columns(tables).map_err(|error| at(statement.line, error))?;
    let mut numbered = |text: &str| {
        *number += 1;
        Text::new(*number - 1, text.to_owned())
    };
    if let Some(begin) = &sql.begin {
        let begun = client.batch_execute(begin).await;
        begun.map_err(|error| at(statement.line, said(&error)))?;
        let ended = client.batch_execute("ROLLBACK").await;
        ended.map_err(|error| at(statement.line, said(&error)))?;
    }
    let mut markers: Vec<Option<Marker>> = vec![None; columns.len()];
    let mut steps = Vec::new();
    for step in &sql.steps {
        let prepared = client.prepare(&step.text).await.map_err(|error| {
            let lines = line_of(&step.text, &error);
            at(step.line + lines, said(&error))
        })?;
        let of_server = prepared.params();
        if of_server.len() != step.parameters.len() {
            let (server, file) = (of_server.len(), step.parameters.len());
            return Err(at(step.line, format!("the server sees {server} parameters where the file has {file}")));
        }
        let mut parameters = Vec::new();
        for (marker, of) in step.parameters.iter().zip(of_server) {
            let cql_type = made_as(of).map_err(|error| at(step.line, error))?;
            let (table, column) = columns[*marker];
            if column.cql_type != cql_type {
                let name = &sql.markers[*marker];
                let (table, column) = (&table.name, &column.name);
                return Err(at(
                    step.line,
                    format!(
                        "the server takes {name} for a {of}, and values of {table}.{column} are of another type: write \
                         CAST({name} AS ...) with the type of that column"
                    ),
                ));
            }
            parameters.push((*marker, Form::of(&cql_type)));
            let (name, table) = (column.name.clone(), table.name.clone());
            markers[*marker] = Some(Marker { name, cql_type, table });
        }
        steps.push(Step { text: numbered(&step.text), parameters });
    }
    // Each marker stands in one of the steps.
    let begin = sql.begin.as_deref().map(numbered);
    Ok((Sent { begin, steps }, markers.into_iter().flatten().collect()))
}

/// How many lines after the first one of a text an error of the server is; it counts characters from 1.
fn line_of(text: &str, error: &tokio_postgres::Error) -> usize {
    match error.as_db_error().and_then(|of_server| of_server.position()) {
        Some(ErrorPosition::Original(at)) => text.chars().take(*at as usize).filter(|c| *c == '\n').count(),
        _ => 0,
    }
}

impl Sent {
    /// Sends all of it, one after another, once the connection has prepared all: no lock is held meanwhile. A
    /// transaction that fails is rolled back, so that its connection can serve another one.
    async fn send(&self, connection: &mut Connection, values: &Values) -> Result<(), Error> {
        for text in self.begin.iter().chain(self.steps.iter().map(|step| &step.text)) {
            connection.prepare(text).await?;
        }
        let done = self.steps(connection, values).await;
        match (&self.begin, done) {
            (Some(_), Ok(())) => connection.simple("COMMIT").await,
            (Some(_), Err(error)) => {
                // A connection that cannot even do that is given back to nobody, and the first error is why.
                let _ = connection.simple("ROLLBACK").await;
                Err(error)
            }
            (None, done) => done,
        }
    }

    /// `BEGIN` goes out with the first statement, as PostgreSQL's driver for JDBC sends it, and costs no round trip: a
    /// transaction has a statement.
    async fn steps(&self, connection: &mut Connection, values: &Values) -> Result<(), Error> {
        if let Some(begin) = &self.begin {
            connection.bind(begin, [])?;
        }
        for Step { text, parameters } in &self.steps {
            let of_step = parameters.iter().map(|(marker, form)| {
                let bytes = values.get(*marker).unwrap_or_default();
                Value { bytes, form: *form }
            });
            connection.bind(text, of_step)?;
            connection.run().await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::time::Duration;

    use super::super::super::way::Way;
    use super::super::pool::FirstErrors;
    use super::super::statements::Table as YcsbTable;
    use super::*;

    /// Nothing can be rolled back any more then, and that is not why it failed.
    #[test]
    fn a_transaction_whose_session_the_server_ends_fails_for_the_server_s_reason() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let let_in = &b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I"[..];
            let prepared = &b"1\0\0\0\x04Z\0\0\0\x05I"[..];
            let ended = &b"E\0\0\0\x1bC57P01\0Mshutting down\0\0"[..];
            for answer in [let_in, prepared, prepared, ended] {
                // A request of so few bytes comes at once.
                assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
                stream.write_all(answer).unwrap();
            }
        });
        let step = Step { text: Text::new(1, "SELECT 1".to_owned()), parameters: Vec::new() };
        let sent = Sent { begin: Some(Text::new(0, "BEGIN".to_owned())), steps: vec![step] };
        let mut config = tokio_postgres::Config::new();
        config.host("127.0.0.1").port(port).user("iopslab");
        let (way, table, first_errors) = (Way::plain(config), YcsbTable::new("t", 1), FirstErrors::default());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let done = runtime.block_on(async {
            let pool = Pool::open(way, table, Duration::from_secs(60), first_errors.clone()).await.unwrap();
            let values = Values::default();
            pool.with_connection(async |connection: &mut Connection| sent.send(connection, &values).await).await
        });
        server.join().unwrap();
        assert_eq!(done, Err(ErrorKind::Connection));
        assert_eq!(first_errors.all()[&ErrorKind::Connection], "shutting down");
    }
}
