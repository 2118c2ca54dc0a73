//! The seam between the engine and a database. Static dispatch: the engine is generic over it.

use evidence::ErrorKind;

/// One database connection set, owned by one load thread.
///
/// Every method starts its work when the future is first polled and is done when the response is decoded. A read that
/// returns no row is `Err(ErrorKind::NotFound)`.
pub trait Driver {
    /// Read one record: all fields, or only field number `field`.
    fn read(&self, key: &str, field: Option<u32>) -> impl Future<Output = Result<(), ErrorKind>>;
    /// Overwrite fields of a record, given as (field number, value).
    fn update(&self, key: &str, fields: &[(u32, &str)]) -> impl Future<Output = Result<(), ErrorKind>>;
    /// Write a whole record; `values[i]` is field number i.
    fn insert(&self, key: &str, values: &[&str]) -> impl Future<Output = Result<(), ErrorKind>>;
    /// Read up to `records` records in the database's key order from `start_key`.
    fn scan(&self, start_key: &str, records: u32) -> impl Future<Output = Result<(), ErrorKind>>;
}
