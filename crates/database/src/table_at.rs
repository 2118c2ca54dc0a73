//! Where a table is, and who asks for its records.

use std::time::Duration;

use experiment::{Access, Consistency, ConsistencyLevels};

use crate::loader::{KEYSPACE, TABLE};

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

impl TableAt {
    /// The table of YCSB's own name with so many fields, asked at ONE by anybody, who waits for 10 s.
    pub fn ycsb(contact_point: String, fields: u32) -> Self {
        Self {
            contact_points: vec![contact_point],
            keyspace: KEYSPACE.to_owned(),
            table: TABLE.to_owned(),
            fields,
            consistency: ConsistencyLevels::all(Consistency::One),
            request_timeout: Duration::from_secs(10),
            access: Access::default(),
            driver_only: false,
        }
    }
}
