//! What the load threads of one client share: which new partitions and rows there are.

use std::sync::atomic::{AtomicU64, Ordering};

use workload::InsertSequence;

use crate::data::{Data, TableData};

/// What the load threads of one client share: which new partitions and rows have been written.
#[derive(Debug)]
pub struct Shared {
    tables: Vec<SharedTable>,
    client: u64,
    clients: u64,
}

#[derive(Debug)]
struct SharedTable {
    name: String,
    loaded: u64,
    partitions: InsertSequence,
    rows: AtomicU64,
}

/// A new partition that a request makes, by this client's own number for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim {
    table: usize,
    own: u64,
}

impl Shared {
    /// Of client `client` (from 0) of `clients`, which take turns with new partitions and rows.
    pub fn new(data: &Data, client: u32, clients: u32) -> Self {
        let table = |table: &TableData| SharedTable {
            name: table.table.clone(),
            loaded: table.partitions,
            partitions: InsertSequence::starting_at(table.partitions),
            rows: AtomicU64::new(0),
        };
        let tables = data.tables.iter().map(table).collect();
        Self { tables, client: u64::from(client), clients: u64::from(clients.max(1)) }
    }

    /// How many new partitions of each table this client's requests have made.
    pub fn claimed(&self) -> Vec<(String, u64)> {
        let made = |table: &SharedTable| (table.name.clone(), table.partitions.existing() - table.loaded);
        self.tables.iter().map(made).collect()
    }

    /// Which table of the data has this name.
    pub(super) fn table(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name == name)
    }

    /// By this client's own numbers: those that were loaded, and the new ones after them.
    pub(super) fn partitions(&self, table: usize) -> &InsertSequence {
        &self.tables[table].partitions
    }

    /// The number that all clients have for an own one.
    pub(super) fn partition(&self, table: usize, own: u64) -> u64 {
        match own.checked_sub(self.tables[table].loaded) {
            Some(new) => self.tables[table].loaded + new * self.clients + self.client,
            None => own,
        }
    }

    /// The next new partition.
    pub(super) fn claim(&self, table: usize) -> (Claim, u64) {
        let own = self.tables[table].partitions.claim();
        (Claim { table, own }, self.partition(table, own))
    }

    /// Says that the request which claimed it has ended.
    pub(super) fn acknowledge(&self, claim: Claim) {
        self.tables[claim.table].partitions.acknowledge(claim.own);
    }

    /// So many new rows: how far after those that were loaded the first lies, and how far each next one.
    pub(super) fn claim_rows(&self, table: usize, rows: u64) -> (u64, u64) {
        let own = self.tables[table].rows.fetch_add(rows, Ordering::Relaxed);
        (own * self.clients + self.client, self.clients)
    }
}
