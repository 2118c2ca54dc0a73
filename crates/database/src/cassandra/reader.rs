//! What a node reports of itself, about once a second.

use std::sync::Arc;

use reported::{Reported, cassandra};

use super::admin::Admin;
use super::counters::Counters;
use super::log::DroppedMessages;
use super::node::Node;
use crate::server::MetricsReader;

/// Reads the beans of a node, and its tables and log for what these do not have.
pub(super) struct Reader {
    admin: Arc<Admin>,
    counters: Counters,
    compactions: Compactions,
    dropped: DroppedMessages,
}

impl Reader {
    /// Of a node and these tables together, from now on.
    pub fn of(node: &Node, admin: Arc<Admin>, keyspace: &str, tables: &[String]) -> Self {
        Self {
            admin,
            counters: Counters::of_tables(node.management(), keyspace, tables),
            compactions: Compactions {
                keyspace: keyspace.to_owned(),
                tables: tables.to_vec(),
                compacted_bytes: None,
                count: None,
            },
            dropped: DroppedMessages::from_now(&node.config().system_log()),
        }
    }
}

impl MetricsReader for Reader {
    fn read(&mut self) -> Reported {
        let mut reported = self.counters.read();
        let compacted_bytes = reported.get(&cassandra::COMPACTED_BYTES);
        reported.set(&cassandra::COMPACTIONS, self.compactions.count(&self.admin, compacted_bytes));
        reported.set(&cassandra::DROPPED_MESSAGES, self.dropped.total().map(|n| n as f64));
        reported
    }
}

/// How many compactions its tables have seen: read when the bytes that they wrote have changed, so that a node without
/// one is not asked.
struct Compactions {
    keyspace: String,
    tables: Vec<String>,
    compacted_bytes: Option<f64>,
    count: Option<f64>,
}

impl Compactions {
    fn count(&mut self, admin: &Admin, compacted_bytes: Option<f64>) -> Option<f64> {
        // What is on record comes before its bytes are counted.
        if compacted_bytes.is_some() && compacted_bytes != self.compacted_bytes {
            let each = self.tables.iter().map(|table| admin.compactions(&self.keyspace, table).ok());
            self.count = each.sum::<Option<u64>>().map(|n| n as f64);
            self.compacted_bytes = compacted_bytes;
        }
        self.count
    }
}
