//! Statements of the user's own, and the rows that they ask for: prepared once, made by `statements`, sent as all
//! others are.

mod described;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use ::statements::{
    Effect, Load, Marker, Misfit, Place, Request, Requests, SerialConsistency, Shared, Table, TableRows,
};
use engine::{NextRow, Random};
use experiment::{Consistency, ConsistencyLevels, Own, Word as _};
use scylla::client::session::Session;

pub(crate) use described::tables_of;

use crate::frames::Values;
use crate::statements::{Statement, prepare_own};

/// Rows may be so many times as large as they were planned.
const MOST_OF_PLANNED: f64 = 2.0;

/// What a client does with schema and statements of the user's own, shared by its load threads: it makes requests of
/// them, or loads its part of their rows.
pub struct OwnWork {
    own: Own,
    /// Number of this client, from 0, and how many there are.
    part: (u64, u64),
    /// Which new partitions and rows have been written.
    shared: Arc<Shared>,
    loads: bool,
    /// Rows that are still to be loaded, by the number of their table; `None` until the first thread knows the tables.
    rows: Mutex<Option<VecDeque<(usize, Load)>>>,
}

impl OwnWork {
    /// The requests of client number `client` of so many.
    pub fn requests(own: Own, client: u32, clients: u32) -> Self {
        let shared = Arc::new(Shared::new(&own.data, client, clients));
        Self { own, part: (client.into(), clients.into()), shared, loads: false, rows: Mutex::new(None) }
    }

    /// The rows of client number `client` of so many.
    pub fn rows(own: Own, client: u32, clients: u32) -> Self {
        Self { loads: true, ..Self::requests(own, client, clients) }
    }

    /// The next row to load, with the number of its table.
    fn next_row(&self) -> Option<(usize, Place)> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let left = rows.as_mut()?;
        loop {
            let (table, load) = left.front_mut()?;
            match load.next() {
                Some(place) => return Some((*table, place)),
                None => drop(left.pop_front()),
            }
        }
    }
}

impl fmt::Debug for OwnWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnWork").field("file", &self.own.file).field("loads", &self.loads).finish_non_exhaustive()
    }
}

/// A request that is ready to be sent.
#[derive(Debug, Default)]
pub struct OwnRequest {
    /// Of a row that is loaded: its table in the place of the statement.
    request: Request,
    /// The partition key of such a row, as the token is computed from it.
    row: Option<Vec<u8>>,
}

/// Statements that were prepared on a session, for one load thread.
pub(crate) struct OwnStatements {
    work: Arc<OwnWork>,
    statements: Vec<Statement>,
    requests: RefCell<Requests>,
    /// What is loaded, with what writes a row of it; nothing where requests are made.
    rows: Vec<(Statement, TableRows)>,
}

impl OwnStatements {
    /// Prepares all statements on a session that knows the tables of the keyspace. Who loads prepares the statements of
    /// the workload all the same: their mistakes are found before anything is written.
    ///
    /// # Errors
    /// What the server, or the data, says of a statement, at its line.
    pub async fn prepare(
        session: &Session,
        keyspace: &str,
        levels: ConsistencyLevels,
        work: &Arc<OwnWork>,
    ) -> Result<Self, String> {
        let own = &work.own;
        let tables = tables_of(session, keyspace)?;
        let mut statements = Vec::new();
        let mut markers = Vec::new();
        for statement in &own.script.statements {
            let at = |error: String| format!("{}:{}: `{}`: {error}", own.file, statement.line, statement.name);
            let usual = match statement.effect {
                Effect::Read => levels.read,
                Effect::Write | Effect::Conditional => levels.update,
            };
            let level = statement.consistency.as_deref().and_then(level).unwrap_or(usual);
            let serial = statement.serial.map(serial);
            let prepared = prepare_own(session, &statement.cql(keyspace), level, serial).await.map_err(at)?;
            markers.push(described::markers(&prepared).map_err(at)?);
            statements.push(prepared);
        }
        let requests = requests(own, &tables, &markers, &work.shared)?;
        let mut rows = Vec::new();
        if work.loads {
            for data in own.data.tables.iter().filter(|data| data.partitions > 0) {
                let table = tables.iter().find(|table| table.name == data.table);
                let table = table.ok_or_else(|| format!("{}: the server has no table {}", own.file, data.table))?;
                let unfit = |unfit: Vec<::statements::Unfit>| format!("{}: {}", own.file, listed(&unfit));
                let of_table = TableRows::new(table, data, own.data.seed).map_err(unfit)?;
                let planned = own.row_bytes.get(&data.table).copied().unwrap_or_default();
                let bytes = of_table.bytes_per_row();
                if bytes > MOST_OF_PLANNED * f64::from(planned) {
                    let stated = format!("state row_bytes = {bytes:.0} in [workload.tables.{}]", data.table);
                    return Err(format!(
                        "{}: rows of {} have {bytes:.0} bytes in the mean, and room was made for {planned}: {stated}",
                        own.file, data.table
                    ));
                }
                let text = of_table.insert(keyspace);
                let insert = prepare_own(session, &text, levels.insert, None).await;
                rows.push((insert.map_err(|error| format!("cannot prepare `{text}`: {error}"))?, of_table));
            }
            let (client, clients) = work.part;
            let mut left = work.rows.lock().unwrap_or_else(PoisonError::into_inner);
            left.get_or_insert_with(|| {
                rows.iter().enumerate().map(|(table, (_, rows))| (table, rows.load(client, clients))).collect()
            });
        }
        Ok(Self { work: Arc::clone(work), statements, requests: RefCell::new(requests), rows })
    }

    /// Makes the next request; gives the number of its statement.
    pub fn make(&self, random: &mut Random, into: &mut OwnRequest) -> usize {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.requests.borrow_mut().next(random, now.as_micros() as i64, &mut into.request);
        into.row = None;
        into.request.statement
    }

    /// Makes the request that writes the next row.
    pub fn make_row(&self, into: &mut OwnRequest) -> NextRow {
        let Some((table, place)) = self.work.next_row() else {
            return NextRow::None;
        };
        let rows = &self.rows[table].1;
        into.request.statement = table;
        rows.row(place, &mut into.request.values);
        let key = into.row.get_or_insert_default();
        key.clear();
        rows.routing_key(place.partition, key);
        if rows.is_counters() { NextRow::Once } else { NextRow::Repeatable }
    }

    /// What sends a request.
    pub fn statement(&self, request: &OwnRequest) -> &Statement {
        match &request.row {
            Some(_) => &self.rows[request.request.statement].0,
            None => &self.statements[request.request.statement],
        }
    }

    /// A request has ended, well or not.
    pub fn ended(&self, request: &OwnRequest) {
        if request.row.is_none() {
            self.requests.borrow().ended(&request.request);
        }
    }
}

impl OwnRequest {
    /// The partition key that it is for, where that is a single one.
    pub(crate) fn key(&self) -> Option<&[u8]> {
        match &self.row {
            Some(key) => Some(key),
            None => self.request.routing_key(),
        }
    }

    /// Its values.
    pub(crate) fn values(&self) -> Encoded<'_> {
        Encoded(&self.request.values)
    }
}

/// Values that are bytes already.
pub(crate) struct Encoded<'a>(pub &'a ::statements::Values);

impl Values for Encoded<'_> {
    #[inline]
    fn each<E>(&self, mut put: impl FnMut(&[&[u8]]) -> Result<(), E>) -> Result<(), E> {
        self.0.iter().try_for_each(|value| match value {
            Some(bytes) => put(&[bytes]),
            None => put(&[]),
        })
    }
}

fn requests(own: &Own, tables: &[Table], markers: &[Vec<Marker>], shared: &Arc<Shared>) -> Result<Requests, String> {
    let said = |misfit: &Misfit| match misfit {
        Misfit::Statement(mistake) => format!("{}:{}: {}", own.file, mistake.line, mistake.message),
        Misfit::Data(unfit) => unfit.to_string(),
    };
    Requests::new(&own.script, &own.data, tables, markers, Arc::clone(shared))
        .map_err(|misfits| misfits.iter().map(said).collect::<Vec<_>>().join("\n"))
}

/// Everything that does not fit, in one text.
pub(crate) fn listed(unfit: &[::statements::Unfit]) -> String {
    unfit.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn level(word: &str) -> Option<Consistency> {
    Consistency::WORDS.iter().find(|(of, _)| *of == word).map(|(_, level)| *level)
}

fn serial(level: SerialConsistency) -> scylla::statement::SerialConsistency {
    match level {
        SerialConsistency::Serial => scylla::statement::SerialConsistency::Serial,
        SerialConsistency::LocalSerial => scylla::statement::SerialConsistency::LocalSerial,
    }
}
