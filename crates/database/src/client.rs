//! The seam on the client's side: what a product's client is besides the engine's [`Connect`].

use engine::Connect;
use experiment::{Dataset, KeyFormat, TableBefore};

use crate::existing::{Found, Result};
use crate::own::OwnWork;
use crate::server::MetricsReader;
use crate::table_at::TableAt;

/// The client of a product.
pub trait Client: Connect + Sync + Sized {
    /// One that asks for the records of this table.
    fn to(table: TableAt) -> Self;

    /// It does this work of the user's own instead.
    #[must_use]
    fn with_own(self, work: OwnWork) -> Self;

    /// It writes a data set that iopslab loads, in whatever way its product takes in most: rows that wait at the same
    /// time may go together.
    #[must_use]
    fn loading(self) -> Self;

    /// Connects to a database that exists, and asks nothing. Errors: there is no connection.
    fn reach(&self) -> Result<()>;

    /// Looks for the data set in a cluster that exists, with the nodes to which there is no connection; makes the table
    /// where it is missing, and notes that it is being loaded. Errors: there is no connection, the table has other
    /// records, or a statement fails.
    fn take(&self, dataset: &Dataset, keys: KeyFormat, replication_factor: u32) -> Result<(Found, Vec<String>)>;

    /// Notes there that the data set is whole.
    fn loaded(&self, dataset: &Dataset, keys: KeyFormat) -> Result<()>;

    /// Brings the table there to a state that is alike before each trial, where trials of this product leave something
    /// behind in it.
    fn maintain(&self) -> Result<Option<TableBefore>> {
        Ok(None)
    }

    /// What a database that exists says of itself to whoever asks for records there; `None`: nothing, or an agent
    /// beside it asks.
    fn metrics(&self) -> Option<Box<dyn MetricsReader>> {
        None
    }
}
