//! A table's rows.

use std::sync::Arc;

use workload::{EvenOrder, Random};

use super::compile::{Role, stated, usual};
use super::maker::{Cell, Maker, mixed, named};
use super::{texts, unique};
use crate::cql::{Column, Table};
use crate::data::{Sizes, TableData, Unfit};
use crate::values::{Values, component};

/// Rows of which the mean size is taken.
const SAMPLED: u64 = 1_000;

/// A row by its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Of the partition in its table, from 0.
    pub partition: u64,
    /// Of the row in its partition, from 0.
    pub row: u64,
}

/// The rows of one table. A clone is the same one.
#[derive(Debug, Clone)]
pub struct TableRows {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    table: Table,
    is_counters: bool,
    partitions: u64,
    sizes: Sizes,
    /// Most rows of a partition.
    most_rows: u64,
    seed: u64,
    /// In the order of the markers of `insert`.
    columns: Vec<Column>,
    /// Likewise.
    made: Vec<Made>,
    /// Which of them is the first of the key; the others of the key follow.
    key: usize,
    /// Numbers of partitions that have a key of their own.
    room: u64,
    /// Numbers of rows of a partition that have one; 0: they may repeat.
    rows_room: u64,
}

/// How a column's values are made.
#[derive(Debug)]
struct Made {
    maker: Maker,
    seed: u64,
    place: ColumnPlace,
}

/// What a column's values belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnPlace {
    PartitionKey,
    Clustering,
    Static,
    Regular,
}

impl ColumnPlace {
    fn is_of_partition(self) -> bool {
        matches!(self, Self::PartitionKey | Self::Static)
    }

    fn role(self) -> Role {
        match self {
            Self::PartitionKey => Role::PartitionKey,
            Self::Clustering => Role::Clustering,
            Self::Static | Self::Regular => Role::Other,
        }
    }
}

impl TableRows {
    /// The rows that the data state of this table, or all that does not fit it.
    pub fn new(table: &Table, data: &TableData, seed: u64) -> Result<Self, Vec<Unfit>> {
        let mut unfit = data.mistakes();
        if table.view_of.is_some() {
            unfit.push(Unfit::table(&table.name, "it is a view, which has no rows of its own"));
        }
        if !unfit.is_empty() {
            return Err(unfit);
        }
        let is_counters = table.is_counters();
        let all = in_order(table, is_counters);
        for column in data.columns.keys().filter(|name| all.iter().all(|(_, column)| column.name != **name)) {
            unfit.push(Unfit::column(&table.name, column, "the table has no such column"));
        }
        let seed = named(seed, &table.name);
        let mut made = Vec::new();
        for (place, column) in &all {
            let maker = match data.columns.get(&column.name) {
                Some(generator) => stated(&column.cql_type, generator, place.role()),
                None => Ok(usual(&column.cql_type, place.role())),
            };
            match maker {
                Ok(maker) => made.push(Made { maker, seed: named(seed, &column.name), place: *place }),
                Err(message) => unfit.push(Unfit::column(&table.name, &column.name, message)),
            }
        }
        if !unfit.is_empty() {
            return Err(unfit);
        }
        let of = |place: ColumnPlace| -> Vec<&Maker> {
            made.iter().filter(|made| made.place == place).map(|made| &made.maker).collect()
        };
        let room = unique::distinct(&of(ColumnPlace::PartitionKey));
        let has_key = !table.partition_key.is_empty();
        if let Some(message) = unique::mistake_of_partitions(room, data.partitions).filter(|_| has_key) {
            unfit.push(Unfit::table(&table.name, message));
        }
        let rows = data.rows.max();
        if let Some(message) = unique::mistake_of_rows(&of(ColumnPlace::Clustering), rows) {
            unfit.push(Unfit::table(&table.name, message));
        }
        if !unfit.is_empty() {
            return Err(unfit);
        }
        let rows_room = unique::distinct(&of(ColumnPlace::Clustering)).unwrap_or(0);
        let key = all.iter().position(|(place, _)| *place == ColumnPlace::PartitionKey).unwrap_or(0);
        Ok(Self {
            inner: Arc::new(Inner {
                is_counters,
                partitions: data.partitions,
                sizes: Sizes::new(&data.rows),
                most_rows: rows.max(1),
                seed: named(seed, "rows of a partition"),
                columns: all.into_iter().map(|(_, column)| column.clone()).collect(),
                made,
                key,
                room: room.unwrap_or(1),
                rows_room,
                table: table.clone(),
            }),
        })
    }

    /// How many partitions are loaded.
    pub fn partitions(&self) -> u64 {
        self.inner.partitions
    }

    /// How many rows of a partition are loaded; one of a partition that a request makes.
    pub fn rows_of(&self, partition: u64) -> u64 {
        match &self.inner.sizes {
            _ if partition >= self.inner.partitions => 1,
            Sizes::Fixed(rows) => (*rows).max(1),
            sizes => sizes.draw(&mut Random::from_seed(mixed(self.inner.seed ^ partition))).max(1),
        }
    }

    /// The most rows of a partition.
    pub(crate) fn most_rows(&self) -> u64 {
        self.inner.most_rows
    }

    /// Rows of a partition that have a key of their own; 0: their keys may repeat.
    pub(crate) fn rows_room(&self) -> u64 {
        self.inner.rows_room
    }

    /// Partitions that can be asked for without being there.
    pub(crate) fn missing(&self) -> u64 {
        self.partitions().max(1).min(self.inner.room.saturating_sub(self.partitions()))
    }

    /// The number of such a partition: the last ones that have a key of their own.
    pub(crate) fn missing_partition(&self, number: u64) -> u64 {
        self.inner.room - 1 - number
    }

    /// Whether its rows have a key: without one nobody can tell whether a row is there.
    pub fn has_key(&self) -> bool {
        !self.table().partition_key.is_empty()
    }

    /// Whether it is a table of counters.
    pub fn is_counters(&self) -> bool {
        self.inner.is_counters
    }

    /// Its table.
    pub fn table(&self) -> &Table {
        &self.inner.table
    }

    /// The columns whose values [`Self::row`] gives, in the order of the markers of [`Self::insert`].
    pub fn columns(&self) -> &[Column] {
        &self.inner.columns
    }

    /// What is prepared to load a row: an `INSERT` of all columns. In a table of counters it is an `UPDATE` that adds
    /// to each, so that a row must not be written twice: a load that failed on the way begins with an empty table
    /// again.
    pub fn insert(&self, keyspace: &str) -> String {
        let columns = self.columns();
        if self.is_counters() {
            let (counters, key) = columns.split_at(self.inner.key);
            texts::add(keyspace, &self.table().name, counters, key)
        } else {
            texts::insert(keyspace, &self.table().name, columns)
        }
    }

    /// A `SELECT` of [`Self::columns`] of one row by its whole key, to check it.
    pub fn select(&self, keyspace: &str) -> String {
        let key = &self.columns()[self.key_columns()];
        texts::select(keyspace, &self.table().name, self.columns(), key)
    }

    /// The values of the markers of [`Self::insert`] for this row. A static column's is set with row 0 alone, since the
    /// rows of a partition share it.
    pub fn row(&self, at: Place, into: &mut Values) {
        into.clear();
        for (column, made) in self.inner.made.iter().enumerate() {
            if made.place == ColumnPlace::Static && at.row > 0 {
                into.put_unset();
            } else {
                into.put(|out| self.value(column, at, out));
            }
        }
    }

    /// The values of the markers of [`Self::select`] for this row.
    pub fn key(&self, at: Place, into: &mut Values) {
        into.clear();
        self.key_columns().for_each(|column| into.put(|out| self.value(column, at, out)));
    }

    /// The partition key as its token is computed from it: of one column its bytes; of several the length (two bytes),
    /// the bytes and a zero for each (Apache Cassandra, `CompositeType.java`).
    pub fn routing_key(&self, partition: u64, into: &mut Vec<u8>) {
        into.clear();
        let at = Place { partition, row: 0 };
        let columns = self.inner.key..self.inner.key + self.table().partition_key.len();
        let is_one = columns.len() == 1;
        for column in columns {
            if is_one {
                self.value(column, at, into);
            } else {
                component(into, |out| self.value(column, at, out));
            }
        }
    }

    /// Bytes of the values of a row in the mean, of 1,000 rows that are spread over the table.
    pub fn bytes_per_row(&self) -> f64 {
        let order = EvenOrder::new(self.partitions(), self.inner.seed);
        let (mut values, mut bytes) = (Values::default(), 0_usize);
        for place in 0..SAMPLED {
            let partition = order.record(place);
            self.row(Place { partition, row: place % self.rows_of(partition) }, &mut values);
            bytes += values.iter().flatten().map(<[u8]>::len).sum::<usize>();
        }
        bytes as f64 / SAMPLED as f64
    }

    /// Appends the value of a column, by its place in [`Self::columns`].
    pub(crate) fn value(&self, column: usize, at: Place, out: &mut Vec<u8>) {
        let made = &self.inner.made[column];
        let (number, row) = if made.place.is_of_partition() { (at.partition, 0) } else { (at.row, at.row) };
        let seed = mixed(mixed(made.seed ^ at.partition).wrapping_add(row));
        let cell = Cell { seed: made.seed, number, now_ms: None };
        made.maker.put(cell, &mut Random::from_seed(seed), out);
    }

    /// Appends a new value of a column, which a request writes to this row.
    pub(crate) fn new_value(&self, column: usize, at: Place, now_ms: i64, random: &mut Random, out: &mut Vec<u8>) {
        let made = &self.inner.made[column];
        let number = if made.place.is_of_partition() { at.partition } else { at.row };
        made.maker.put(Cell { seed: made.seed, number, now_ms: Some(now_ms) }, random, out);
    }

    /// The place of a column in [`Self::columns`].
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns().iter().position(|column| column.name == name)
    }

    /// How a column's values are made.
    pub(crate) fn maker(&self, column: usize) -> &Maker {
        &self.inner.made[column].maker
    }

    /// Whether a column is of the partition key, and whether it is of the key at all.
    pub(crate) fn is_key(&self, column: usize) -> (bool, bool) {
        let place = self.inner.made[column].place;
        (place == ColumnPlace::PartitionKey, matches!(place, ColumnPlace::PartitionKey | ColumnPlace::Clustering))
    }

    /// The places of the key's columns in [`Self::columns`].
    pub fn key_columns(&self) -> std::ops::Range<usize> {
        let key = self.inner.key;
        key..key + self.table().partition_key.len() + self.table().clustering.len()
    }
}

impl TableData {
    /// What of the data does not fit the table as the server has it.
    pub fn check(&self, table: &Table) -> Vec<Unfit> {
        TableRows::new(table, self, 0).err().unwrap_or_default()
    }
}

/// The columns in the order of the markers of an `INSERT`; counters stand before the key.
fn in_order(table: &Table, is_counters: bool) -> Vec<(ColumnPlace, &Column)> {
    let of = |place: ColumnPlace| {
        let columns = match place {
            ColumnPlace::PartitionKey => &table.partition_key,
            ColumnPlace::Clustering => &table.clustering,
            ColumnPlace::Static => &table.statics,
            ColumnPlace::Regular => &table.regular,
        };
        columns.iter().map(move |column| (place, column))
    };
    let key = [ColumnPlace::PartitionKey, ColumnPlace::Clustering];
    let others = [ColumnPlace::Static, ColumnPlace::Regular];
    let order = if is_counters { [others, key] } else { [key, others] };
    order.into_iter().flatten().flat_map(of).collect()
}
