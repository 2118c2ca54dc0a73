//! Where a table is, and who asks for its records.

use std::time::Duration;

use experiment::{Access, ConsistencyLevels};

/// Where a table of records in YCSB's layout is, and who asks for them.
#[derive(Debug, Clone)]
pub struct TableAt {
    /// `host:port`; one that answers is enough.
    pub contact_points: Vec<String>,
    /// Keyspace of the table.
    pub keyspace: String,
    /// The table.
    pub table: String,
    /// Fields of a record.
    pub fields: u32,
    /// Consistency level of each kind of request.
    pub consistency: ConsistencyLevels,
    /// Longest wait for a response; then the request counts as `client_timeout`.
    pub request_timeout: Duration,
    /// Who asks.
    pub access: Access,
    /// Every request goes through the product's own driver, for comparison.
    pub driver_only: bool,
}
