//! Statements of the user's own, and the rows that they ask for: prepared once, made by `statements`, sent as all
//! others are.

mod asked_keys;
mod described;
mod logged_statements;
mod node_operations;
mod recording;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use ::statements::{
    Effect, Load, Marker, Misfit, Place, Request, Requests, SerialConsistency, Shared, Table, TableData, TableRows,
    Unfit,
};
use engine::{NextRow, Random, Recorded};
use experiment::{Consistency, ConsistencyLevels, Own, Word as _};
use query_log::Value;
use scylla::client::session::Session;

pub(crate) use described::tables_of;
use recording::Layout;
pub use recording::ReadRecording;

use crate::frames::Values;
use crate::statements::{Statement, prepare_own};

/// Rows may be so many times as large as they were planned.
const MOST_OF_PLANNED: f64 = 2.0;

/// What a client does with schema and statements of the user's own, shared by its load threads: it makes requests of
/// them, sends recorded ones again, or loads its part of their rows.
pub struct OwnWork {
    own: Own,
    /// Number of this client, from 0, and how many there are.
    part: (u64, u64),
    /// Which new partitions and rows have been written.
    shared: Arc<Shared>,
    loads: bool,
    /// Rows that are still to be loaded, by the number of their table; `None` until the first thread knows the tables.
    rows: Mutex<Option<VecDeque<(usize, Load)>>>,
    /// What is sent again, where statements were recorded.
    recording: Option<Arc<ReadRecording>>,
    /// What becomes of it, once the first thread has prepared its statements; or why it cannot be sent.
    layout: OnceLock<Result<Layout, String>>,
}

impl OwnWork {
    /// The requests of client number `client` of so many.
    pub fn requests(own: Own, client: u32, clients: u32) -> Self {
        let shared = Arc::new(Shared::new(&own.data, client, clients));
        let part = (client.into(), clients.into());
        let rows = Mutex::new(None);
        Self { own, part, shared, loads: false, rows, recording: None, layout: OnceLock::new() }
    }

    /// The requests of a recording, of the only client.
    pub fn replay(own: Own, recording: Arc<ReadRecording>) -> Self {
        Self::requests(own, 0, 1).beside(Some(recording))
    }

    /// The same, where a recording is sent again later: what of it cannot be sent is refused at once.
    #[must_use]
    pub fn beside(self, recording: Option<Arc<ReadRecording>>) -> Self {
        Self { recording, ..self }
    }

    /// The rows of client number `client` of so many.
    pub fn rows(own: Own, client: u32, clients: u32) -> Self {
        Self { loads: true, ..Self::requests(own, client, clients) }
    }

    /// The experiment's own schema, statements and data.
    pub(crate) fn own(&self) -> &Own {
        &self.own
    }

    /// Whether it loads rows.
    pub(crate) fn loads(&self) -> bool {
        self.loads
    }

    /// The rows of each table that is loaded, as the server describes the tables. Errors: what is stated of them does
    /// not fit, or they are far larger than they were planned.
    pub(crate) fn rows_of(&self, tables: &[Table]) -> Result<Vec<TableRows>, String> {
        let own = &self.own;
        let of = |data: &TableData| {
            let table = tables.iter().find(|table| table.name == data.table);
            let table = table.ok_or_else(|| format!("{}: the server has no table {}", own.file, data.table))?;
            let unfit = |unfit: Vec<Unfit>| format!("{}: {}", own.file, listed(&unfit));
            let rows = TableRows::new(table, data, own.data.seed).map_err(unfit)?;
            let planned = own.row_bytes.get(&data.table).copied().unwrap_or_default();
            let bytes = rows.bytes_per_row();
            if bytes > MOST_OF_PLANNED * f64::from(planned) {
                let stated = format!("state row_bytes = {bytes:.0} in [workload.tables.{}]", data.table);
                return Err(format!(
                    "{}: rows of {} have {bytes:.0} bytes in the mean, and room was made for {planned}: {stated}",
                    own.file, data.table
                ));
            }
            Ok(rows)
        };
        own.data.tables.iter().filter(|data| data.partitions > 0).map(of).collect()
    }

    /// Begins with the rows of these tables, if no other thread has.
    pub(crate) fn begin_load<'r>(&self, tables: impl Iterator<Item = &'r TableRows>) {
        let (client, clients) = self.part;
        let mut left = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        left.get_or_insert_with(|| {
            tables.enumerate().map(|(table, rows)| (table, rows.load(client, clients))).collect()
        });
    }

    /// What makes requests of its statements, whose markers the server has described. Errors: everything of statements
    /// and data that cannot be, with its line.
    pub(crate) fn requests_of(&self, tables: &[Table], markers: &[Vec<Marker>]) -> Result<Requests, String> {
        requests(&self.own, tables, markers, &self.shared)
    }

    /// The next row to load, with the number of its table.
    pub(crate) fn next_row(&self) -> Option<(usize, Place)> {
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
    what: What,
    /// Of a row that is loaded: its table in the place of the statement.
    request: Request,
    /// Of a row and of a recorded request: the partition key, as the token is computed from it; empty: there is none.
    key: Vec<u8>,
}

/// What is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum What {
    /// A request that was made.
    #[default]
    Made,
    /// A row that is loaded.
    Row,
    /// The recorded request of this number.
    Recorded(u32),
}

/// Statements that were prepared on a session, for one load thread.
pub(crate) struct OwnStatements {
    work: Arc<OwnWork>,
    statements: Vec<Statement>,
    /// `None`: they were recorded, and none is made.
    requests: Option<RefCell<Requests>>,
    /// What is loaded, with what writes a row of it; nothing where requests are made.
    rows: Vec<(Statement, TableRows)>,
}

impl OwnStatements {
    /// Prepares all statements on a session that knows the tables of the keyspace. Who loads prepares the statements of
    /// the workload all the same: their mistakes are found before anything is written. Errors: what the server, or the
    /// data, says of a statement, at its line.
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
            let at = |error: String| match &own.replay {
                None => format!("{}:{}: `{}`: {error}", own.file, statement.line, statement.name),
                Some(replay) => format!("{}: `{}` ({}): {error}", replay.path, statement.name, statement.text),
            };
            let usual = match statement.effect {
                Effect::Read => levels.read,
                Effect::Write | Effect::Conditional => levels.update,
            };
            let level = statement.consistency.as_deref().and_then(level).unwrap_or(usual);
            let condition = (statement.serial.map(serial), statement.effect == Effect::Conditional);
            let prepared = prepare_own(session, &statement.cql(keyspace), level, condition).await.map_err(at)?;
            // Values that were recorded are sent whatever their types are.
            if own.replay.is_none() {
                markers.push(described::markers(&prepared).map_err(at)?);
            }
            statements.push(prepared);
        }
        let requests = match &own.replay {
            None => Some(RefCell::new(work.requests_of(&tables, &markers)?)),
            Some(_) => None,
        };
        if let Some(recording) = &work.recording {
            let layout = work.layout.get_or_init(|| Layout::of(recording, own, &statements));
            layout.as_ref().map_err(Clone::clone)?;
        }
        let mut rows = Vec::new();
        if work.loads {
            for of_table in work.rows_of(&tables)? {
                let text = of_table.insert(keyspace);
                let insert = prepare_own(session, &text, levels.insert, (None, false)).await;
                rows.push((insert.map_err(|error| format!("cannot prepare `{text}`: {error}"))?, of_table));
            }
            work.begin_load(rows.iter().map(|(_, rows)| rows));
        }
        Ok(Self { work: Arc::clone(work), statements, requests, rows })
    }

    /// Makes the next request; gives the number of its statement.
    pub fn make(&self, random: &mut Random, into: &mut OwnRequest) -> usize {
        into.what = What::Made;
        if let Some(requests) = &self.requests {
            requests.borrow_mut().next(random, now_us(), &mut into.request);
        }
        into.request.statement
    }

    /// Makes a request of this statement, where none was recorded.
    pub fn make_of(&self, statement: usize, random: &mut Random, into: &mut OwnRequest) {
        into.what = What::Made;
        if let Some(requests) = &self.requests {
            requests.borrow_mut().fill(statement, random, now_us(), &mut into.request);
        }
    }

    /// The recorded requests of one load thread.
    pub fn recorded(&self, thread: u32, threads: u32) -> Vec<Recorded> {
        self.layout().map_or_else(Vec::new, |layout| layout.part(thread, threads))
    }

    /// Makes a recorded request; gives the number of its statement.
    pub fn make_recorded(&self, number: u32, into: &mut OwnRequest) -> usize {
        into.what = What::Recorded(number);
        into.request.statement = self.layout().map_or(0, |layout| layout.make(number, &mut into.key));
        into.request.statement
    }

    fn layout(&self) -> Option<&Layout> {
        self.work.layout.get()?.as_ref().ok()
    }

    /// Makes the request that writes the next row of a partition that this data set has.
    pub fn make_row(&self, into: &mut OwnRequest) -> NextRow {
        into.what = What::Row;
        while let Some((table, place)) = self.work.next_row() {
            let rows = &self.rows[table].1;
            rows.routing_key(place.partition, &mut into.key);
            if !self.work.own.keeps(&into.key) {
                continue;
            }
            into.request.statement = table;
            rows.row(place, &mut into.request.values);
            return if rows.is_counters() { NextRow::Once } else { NextRow::Repeatable };
        }
        NextRow::None
    }

    /// What sends a request.
    pub fn statement(&self, request: &OwnRequest) -> &Statement {
        match request.what {
            What::Row => &self.rows[request.request.statement].0,
            What::Made | What::Recorded(_) => &self.statements[request.request.statement],
        }
    }

    pub fn values<'a>(&'a self, request: &'a OwnRequest) -> Encoded<'a> {
        match (request.what, self.layout()) {
            (What::Recorded(number), Some(layout)) => Encoded::Recorded(layout, number),
            _ => Encoded::Made(&request.request.values),
        }
    }

    /// A request has ended, well or not.
    pub fn ended(&self, request: &OwnRequest) {
        if let Some(requests) = self.requests.as_ref().filter(|_| request.what == What::Made) {
            requests.borrow().ended(&request.request);
        }
    }
}

/// Microseconds since 1970.
pub(crate) fn now_us() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as i64
}

impl OwnRequest {
    /// The partition key that it is for, where that is a single one.
    pub(crate) fn key(&self) -> Option<&[u8]> {
        match self.what {
            What::Made => self.request.routing_key(),
            What::Row | What::Recorded(_) => Some(self.key.as_slice()).filter(|key| !key.is_empty()),
        }
    }
}

/// Values that are bytes already.
pub(crate) enum Encoded<'a> {
    /// Made here.
    Made(&'a ::statements::Values),
    /// Of the recorded request of this number.
    Recorded(&'a Layout, u32),
}

impl Values for Encoded<'_> {
    #[inline]
    fn each<E>(&self, mut put: impl FnMut(Option<&[&[u8]]>) -> Result<(), E>) -> Result<(), E> {
        match self {
            Self::Made(values) => values.iter().try_for_each(|value| match value {
                Some(bytes) => put(Some(&[bytes])),
                None => put(Some(&[])),
            }),
            Self::Recorded(layout, number) => layout.values(*number).try_for_each(|value| match value {
                Value::Bytes(bytes) => put(Some(&[bytes])),
                Value::Null => put(None),
                Value::NotSet => put(Some(&[])),
            }),
        }
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
pub(crate) fn listed(unfit: &[Unfit]) -> String {
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
