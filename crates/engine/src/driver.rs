//! The seam between the engine and a database. Static dispatch: the engine is generic over it.

use std::collections::BTreeMap;

use evidence::{CacheAnswer, ErrorKind};
use workload::Random;

use crate::recorded::Recorded;
use crate::stamp::Stamp;

/// What [`Driver::make_row`] has made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextRow {
    /// Nothing: there is no further row.
    None,
    /// A row that may be written again where that has failed.
    Repeatable,
    /// A row of counters: who writes it twice counts twice.
    Once,
}

/// What an answer says of a request's condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// It was met; or there was none.
    Met,
    /// It was not: nothing was written.
    Unmet,
}

/// One database connection set, owned by one load thread.
///
/// Every method starts its work when the future is first polled and is done when the response is decoded. A read that
/// returns no row is `Err(ErrorKind::NotFound)`. Every future must end by itself (a request timeout is the driver's
/// business), because a trial waits for all of its requests.
pub trait Driver {
    /// A request of the user's own statements, ready to be sent; each slot keeps one and fills it anew.
    type Own: Default;

    /// Makes the next request of the user's own statements, and says which statement it is, by its place among those of
    /// the workload. Called before a request is sent, so that making it costs no latency.
    fn make(&self, _random: &mut Random, _request: &mut Self::Own) -> usize {
        0
    }
    /// The recorded requests that load thread number `thread` of `threads` sends, by their times: all of a partition
    /// are one thread's. Asked once, before anything is sent.
    fn recorded(&self, _thread: u32, _threads: u32) -> Vec<Recorded> {
        Vec::new()
    }
    /// Makes a recorded request, and says which statement it is, as [`Self::make`] does.
    fn make_recorded(&self, _number: u32, _request: &mut Self::Own) -> usize {
        0
    }
    /// Makes the request that writes the next row of the user's own data set, which all load threads share.
    fn make_row(&self, _request: &mut Self::Own) -> NextRow {
        NextRow::None
    }
    /// Sends a request that was made. A condition that was not met, and rows that are not there, are answers as good as
    /// others.
    fn send(&self, _request: &Self::Own) -> impl Future<Output = Result<Condition, ErrorKind>> {
        // A driver without statements of the user's own.
        async { Err(ErrorKind::Other) }
    }

    /// Read one record: all fields, or only field number `field`.
    fn read(&self, key: &str, field: Option<u32>) -> impl Future<Output = Result<(), ErrorKind>>;
    /// [`Self::read`], and how the caches in front of the database answered; `None`: there are none.
    fn read_cached(
        &self,
        key: &str,
        field: Option<u32>,
    ) -> impl Future<Output = Result<Option<CacheAnswer>, ErrorKind>> {
        async move { self.read(key, field).await.map(|()| None) }
    }
    /// Overwrite fields of a record, given as (field number, value).
    fn update(&self, key: &str, fields: &[(u32, &str)]) -> impl Future<Output = Result<(), ErrorKind>>;
    /// Write a whole record; `values[i]` is field number i.
    fn insert(&self, key: &str, values: &[&str]) -> impl Future<Output = Result<(), ErrorKind>>;
    /// Read up to `records` records in the database's key order from `start_key`.
    fn scan(&self, start_key: &str, records: u32) -> impl Future<Output = Result<(), ErrorKind>>;

    /// Makes ready for stamped writes: called once, before the first request, and only where writes are checked. The
    /// error says what failed and where.
    fn prepare_stamped(&mut self) -> impl Future<Output = Result<(), String>>;
    /// [`Self::update`] with the stamp's time as the timestamp of the write, and its tag before each value. Of two
    /// writes of a field the one with the greater timestamp must win, in whatever order they come.
    fn update_stamped(
        &self,
        key: &str,
        fields: &[(u32, &str)],
        stamp: &Stamp,
    ) -> impl Future<Output = Result<(), ErrorKind>>;
    /// [`Self::insert`], stamped likewise.
    fn insert_stamped(&self, key: &str, values: &[&str], stamp: &Stamp) -> impl Future<Output = Result<(), ErrorKind>>;
    /// The text of all fields of a record, in order (`None`: no value), at the consistency of reads; `Ok(None)`: there
    /// is no such record. Not for measuring, but for a record that is to be put into a cache.
    fn fetch(&self, key: &str) -> impl Future<Output = Result<Option<Vec<Option<String>>>, ErrorKind>>;

    /// How many requests this driver can have in flight at once, where so many load threads share what the database
    /// takes. In an open loop, requests that are due beyond that wait in the engine, and their wait counts.
    fn max_in_flight(&self, _threads: u32) -> usize {
        usize::MAX
    }
}

/// Opens a [`Driver`]. Called once in each load thread, inside that thread's runtime.
pub trait Connect {
    /// What it opens.
    type Driver: Driver + 'static;
    /// Connects; the error says what failed and where.
    fn connect(&self) -> impl Future<Output = Result<Self::Driver, String>>;

    /// What has to be said of how requests were sent, in whole sentences: asked for when a trial has ended.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the server said of the first error of each kind, where the client keeps it.
    fn first_errors(&self) -> BTreeMap<ErrorKind, String> {
        BTreeMap::new()
    }
}
