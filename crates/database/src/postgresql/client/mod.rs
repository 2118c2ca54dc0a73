//! The client that sends the engine's requests, with statements prepared on each connection.
//!
//! The statements are the user's own (`own`), or those of YCSB's table (`y_id text PRIMARY KEY, field0 text, ...`), of
//! which each is a transaction of its own, as an application without transactions sends it. A response is decoded as
//! far as its rows; columns are not turned into Rust values, because an application's own work is not the database's.

mod copying;
mod loaded;
mod own;
mod pool;
mod statements;

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{Condition, Connect, Driver, ErrorKind, NextRow, Random, Stamp};
use experiment::{Dataset, KeyFormat, TableBefore};
use postgresql_model::MOST_IN_FLIGHT;

use self::copying::Copying;
use self::own::{OwnStatements, SqlRequest};
use self::pool::{FirstErrors, Pool};
use self::statements::{Asked, Table, copied_row};
use super::admin::{Admin, AdminError};
use super::counters::Counters;
use super::existing::Theirs;
use super::form::Value;
use super::node_error::NodeError;
use super::protocol::columns;
use super::way::Way;
use crate::client::Client;
use crate::existing::{ExistingError, Found};
use crate::own::OwnWork;
use crate::server::MetricsReader;
use crate::table_at::TableAt;

/// How to reach a table of records in YCSB's layout, or tables of the user's own.
#[derive(Debug, Clone)]
pub struct PostgresConnect {
    at: TableAt,
    /// Whether the data set is loaded, and no request of a workload sent.
    loads: bool,
    own: Option<Arc<OwnWork>>,
    first_errors: FirstErrors,
}

impl Connect for PostgresConnect {
    type Driver = PostgresDriver;

    async fn connect(&self) -> Result<PostgresDriver, String> {
        // What is loaded is brought to its files at the end: by a checkpoint and a stop in order, or by the first
        // commit that waits for the WAL, which is that of the note that all is loaded.
        // Nobody reads while a COPY goes out: notices of a trigger for each row would fill the way back, and then the
        // server reads no more.
        let options: &[&str] = match self.loads {
            true => &["-c synchronous_commit=off", "-c client_min_messages=error"],
            false => &[],
        };
        let way = Way::to(&self.at, options).map_err(|refusal| refusal.to_string())?;
        let table = Table::new(&self.at.table, self.at.fields);
        let pool = Pool::open(way, table, self.at.request_timeout, self.first_errors.clone()).await;
        let pool = pool.map_err(|error| format!("{}: {error}", self.at.contact_points.join(", ")))?;
        let own = match &self.own {
            Some(work) => Some(OwnStatements::prepare(&pool, Arc::clone(work)).await?),
            None => None,
        };
        Ok(PostgresDriver { pool, copying: self.loads.then(Copying::default), own })
    }

    fn first_errors(&self) -> BTreeMap<ErrorKind, String> {
        self.first_errors.all()
    }
}

impl Client for PostgresConnect {
    fn to(table: TableAt) -> Self {
        Self { at: table, loads: false, own: None, first_errors: FirstErrors::default() }
    }

    fn with_own(self, work: OwnWork) -> Self {
        Self { loads: work.loads(), own: Some(Arc::new(work)), ..self }
    }

    fn loading(self) -> Self {
        Self { loads: true, ..self }
    }

    fn reach(&self) -> Result<(), ExistingError> {
        Theirs::connect(&self.at).map(drop)
    }

    fn take(&self, dataset: &Dataset, keys: KeyFormat, _: u32) -> Result<(Found, Vec<String>), ExistingError> {
        Ok((Theirs::connect(&self.at)?.take(dataset, keys)?, Vec::new()))
    }

    fn loaded(&self, dataset: &Dataset, keys: KeyFormat) -> Result<(), ExistingError> {
        Theirs::connect(&self.at)?.loaded(dataset, keys)
    }

    fn maintain(&self) -> Result<Option<TableBefore>, ExistingError> {
        Theirs::connect(&self.at)?.maintain().map(Some)
    }

    fn metrics(&self) -> Option<Box<dyn MetricsReader>> {
        // Of a server that iopslab starts the agent of its host asks.
        self.at.access.schema.as_ref()?;
        let (at, tables) = (self.at.clone(), [self.at.table.clone()]);
        let connect = move |patience| {
            let connected = Way::to(&at, &[]).and_then(|way| Admin::by(&way, patience));
            connected.map_err(|refusal| NodeError::from(AdminError::Refused(refusal)))
        };
        Some(Box::new(Counters::of_tables(Box::new(connect), &tables)))
    }
}

/// Connections with their statements, owned by one load thread.
pub struct PostgresDriver {
    pool: Pool,
    /// Where the data set is loaded: what it waits for.
    copying: Option<Copying<Record>>,
    own: Option<OwnStatements>,
}

/// A record of a data set that is loaded: its key and its values.
type Record = (String, Vec<String>);

impl PostgresDriver {
    /// A read finds a row; a write finds, or makes, the record.
    async fn find<'v>(&self, asked: Asked, values: impl IntoIterator<Item = Value<'v>>) -> Result<(), ErrorKind> {
        match self.pool.ask(asked, values).await? {
            0 => Err(ErrorKind::NotFound),
            _ => Ok(()),
        }
    }

    /// Whether these are all fields of a record, in order: the one shape of several fields that YCSB writes.
    fn is_whole(&self, fields: &[(u32, &str)]) -> bool {
        fields.len() > 1 && fields[0].0 == 0 && fields.len() == self.pool.table.fields()
    }
}

/// The moment of a stamp as it stands in its tag (`statements::is_later`).
fn moment(stamp: &Stamp) -> &str {
    &stamp.tag()[18..34]
}

/// Connections of one of so many load threads, which the engine gives equal shares of the requests in flight.
fn share_of(threads: u32) -> usize {
    MOST_IN_FLIGHT.div_ceil(threads.max(1)) as usize
}

/// Takes records in together; where that is refused each by itself: one that is written again, because the answer to
/// its first attempt was lost, is there already.
async fn taken_in(pool: &Pool, records: &[Record]) -> Vec<Result<(), ErrorKind>> {
    let mut rows = String::new();
    for (key, values) in records {
        copied_row(key, values.iter().map(String::as_str), &mut rows);
    }
    let together = pool.copy(&pool.table.copy(), rows.as_bytes()).await;
    let mut taken = Vec::with_capacity(records.len());
    for (key, values) in records {
        taken.push(match together {
            Err(ErrorKind::Other) => {
                let all = std::iter::once(key).chain(values).map(|text| Value::text(text));
                pool.ask(Asked::Insert, all).await.map(drop)
            }
            other => other,
        });
    }
    taken
}

fn tagged(stamp: &Stamp, value: &str) -> String {
    [stamp.tag(), value].concat()
}

impl Driver for PostgresDriver {
    type Own = SqlRequest;

    fn make(&self, random: &mut Random, request: &mut SqlRequest) -> usize {
        self.own.as_ref().map_or(0, |own| own.make(random, request))
    }

    fn make_row(&self, request: &mut SqlRequest) -> NextRow {
        self.own.as_ref().map_or(NextRow::None, |own| own.make_row(request))
    }

    async fn send(&self, request: &SqlRequest) -> Result<Condition, ErrorKind> {
        let own = self.own.as_ref().ok_or(ErrorKind::Other)?;
        own.send(&self.pool, request).await.map(|()| Condition::Met)
    }

    async fn read(&self, key: &str, field: Option<u32>) -> Result<(), ErrorKind> {
        self.find(field.map_or(Asked::Record, Asked::Field), [Value::text(key)]).await
    }

    async fn update(&self, key: &str, fields: &[(u32, &str)]) -> Result<(), ErrorKind> {
        if self.is_whole(fields) {
            let values = fields.iter().map(|(_, value)| Value::text(value));
            return self.find(Asked::UpdateRecord, values.chain([Value::text(key)])).await;
        }
        for (field, value) in fields {
            self.find(Asked::UpdateField(*field), [*value, key].map(Value::text)).await?;
        }
        Ok(())
    }

    async fn insert(&self, key: &str, values: &[&str]) -> Result<(), ErrorKind> {
        if let Some(copying) = &self.copying {
            let record = (key.to_owned(), values.iter().map(|value| (*value).to_owned()).collect());
            return copying.insert(record, async |records: Vec<Record>| taken_in(&self.pool, &records).await).await;
        }
        let values = values.iter().map(|value| Value::text(value));
        self.find(Asked::Insert, std::iter::once(Value::text(key)).chain(values)).await
    }

    async fn scan(&self, start_key: &str, records: u32) -> Result<(), ErrorKind> {
        let most = i64::from(records).to_be_bytes();
        self.find(Asked::Scan, [Value::text(start_key), Value::same(&most)]).await
    }

    async fn prepare_stamped(&mut self) -> Result<(), String> {
        // Each connection prepares what it needs.
        Ok(())
    }

    async fn update_stamped(&self, key: &str, fields: &[(u32, &str)], stamp: &Stamp) -> Result<(), ErrorKind> {
        let moment = moment(stamp);
        if self.is_whole(fields) {
            let texts: Vec<String> = fields.iter().map(|(_, value)| tagged(stamp, value)).collect();
            let values = texts.iter().map(|text| Value::text(text));
            return self.find(Asked::StampedUpdateRecord, values.chain([key, moment].map(Value::text))).await;
        }
        for (field, value) in fields {
            let text = tagged(stamp, value);
            self.find(Asked::StampedUpdateField(*field), [text.as_str(), key, moment].map(Value::text)).await?;
        }
        Ok(())
    }

    async fn insert_stamped(&self, key: &str, values: &[&str], stamp: &Stamp) -> Result<(), ErrorKind> {
        let texts: Vec<String> = values.iter().map(|value| tagged(stamp, value)).collect();
        let values = texts.iter().map(|text| Value::text(text));
        let all = std::iter::once(Value::text(key)).chain(values).chain([Value::text(moment(stamp))]);
        self.find(Asked::StampedInsert, all).await
    }

    async fn fetch(&self, key: &str) -> Result<Option<Vec<Option<String>>>, ErrorKind> {
        let Some(row) = self.pool.first_row(Asked::Fields, [Value::text(key)]).await? else { return Ok(None) };
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| ErrorKind::Other);
        let columns = columns(&row).map_err(|_| ErrorKind::Other)?;
        columns.into_iter().map(|column| column.map(text).transpose()).collect::<Result<Vec<_>, _>>().map(Some)
    }

    fn max_in_flight(&self, threads: u32) -> usize {
        share_of(threads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One load thread has 128 requests in flight or fewer before there is a second one, however many CPUs there are.
    #[test]
    fn load_threads_share_the_connections_of_a_server() {
        assert_eq!([1, 7, 64].map(share_of), [900, 129, 15]);
    }
}
