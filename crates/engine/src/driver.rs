//! The seam between the engine and a database. Static dispatch: the engine is generic over it.

use evidence::ErrorKind;

/// One database connection set, owned by one load thread.
///
/// Every method starts its work when the future is first polled and is done when the response is decoded. A read that
/// returns no row is `Err(ErrorKind::NotFound)`. Every future must end by itself (a request timeout is the driver's
/// business), because a trial waits for all of its requests.
pub trait Driver {
    /// Read one record: all fields, or only field number `field`.
    fn read(&self, key: &str, field: Option<u32>) -> impl Future<Output = Result<(), ErrorKind>>;
    /// Overwrite fields of a record, given as (field number, value).
    fn update(&self, key: &str, fields: &[(u32, &str)]) -> impl Future<Output = Result<(), ErrorKind>>;
    /// Write a whole record; `values[i]` is field number i.
    fn insert(&self, key: &str, values: &[&str]) -> impl Future<Output = Result<(), ErrorKind>>;
    /// Read up to `records` records in the database's key order from `start_key`.
    fn scan(&self, start_key: &str, records: u32) -> impl Future<Output = Result<(), ErrorKind>>;

    /// How many requests this driver can have in flight at once. In an open loop, requests that are due beyond that
    /// wait in the engine, and their wait counts.
    fn max_in_flight(&self) -> usize {
        usize::MAX
    }
}

/// Opens a [`Driver`]. Called once in each load thread, inside that thread's runtime.
pub trait Connect {
    /// What it opens.
    type Driver: Driver + 'static;
    /// Connects; the error says what failed and where.
    fn connect(&self) -> impl Future<Output = Result<Self::Driver, String>>;
}
