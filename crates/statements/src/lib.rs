//! A user's own workload in CQL or SQL, without I/O: its file, the rows of its tables, and the requests of its
//! statements.
//!
//! 1. [`Script::parse`] reads the `.cql` file: the schema and the statements of the load, each with the weight that a
//!    comment before it states. Nothing else of CQL is known here: types and bind markers are what the server says when
//!    a statement is prepared, given as plain values ([`Table`], [`Marker`], [`CqlType`]).
//! 2. [`Data`] states how many partitions and rows each table has, how values of a column are made ([`Generator`]) and
//!    how requests choose keys ([`Population`], [`StatementData`]).
//! 3. [`TableRows`] makes the rows to load. A value depends on seed, table, column, partition and row alone, so that a
//!    row that is read can be checked, and keys that exist can be made again.
//! 4. [`Requests`] makes requests: a statement by its share, partitions and a row by the population, and a value in the
//!    protocol's binary form for each marker. None takes memory once as much has been used before.
//! 5. [`Script::parse_sql`] reads a file of SQL as a script: tables and indexes, statements and transactions, whose
//!    markers name columns ([`Sql`]). Values are made in CQL's form as all others; who speaks another protocol puts
//!    them into its own, value by value.
//! 6. [`parse_stress`] makes the same of a user profile of cassandra-stress: a script, and what is in its table.
//!
//! ```
//! # use std::sync::Arc;
//! use statements::{Column, CqlType, Data, Marker, Request, Requests, Script, Shared, Table, TableData};
//!
//! let script = Script::parse(
//!     "CREATE TABLE cart (user uuid PRIMARY KEY, amount int);
//!      -- statement read_cart weight 1 consistency one
//!      SELECT * FROM cart WHERE user = ?;",
//!     &["one", "quorum"],
//! ).unwrap();
//! let data = Data { seed: 1, tables: vec![TableData::new("cart", 1_000)], ..Data::default() };
//! assert!(data.check(&script).is_empty());
//!
//! // What the server says of the table and of the prepared statement.
//! let cart = Table {
//!     name: "cart".to_owned(),
//!     partition_key: vec![Column::new("user", CqlType::Uuid)],
//!     regular: vec![Column::new("amount", CqlType::Int)],
//!     ..Table::default()
//! };
//! let user = Marker { name: "user".to_owned(), cql_type: CqlType::Uuid, table: "cart".to_owned() };
//!
//! let shared = Arc::new(Shared::new(&data, 0, 1));
//! let mut requests = Requests::new(&script, &data, &[cart], &[vec![user]], shared).unwrap();
//! let (mut random, mut request) = (workload::Random::from_seed(7), Request::default());
//! requests.next(&mut random, 0, &mut request);
//! assert_eq!(request.values.get(0).map(<[u8]>::len), Some(16));
//! requests.ended(&request);
//! ```

mod cql;
mod data;
mod encode;
mod literal;
mod mistake;
mod requests;
mod rows;
mod script;
mod stress;
mod values;

pub use cql::{Column, CqlType, Marker, Table, quoted};
pub use data::{At, Data, Generator, MOST_ELEMENTS, Population, RowChoice, Size, StatementData, TableData, Unfit};
pub use mistake::Mistake;
pub use requests::{Misfit, Request, Requests, Shared};
pub use rows::{Load, Place, TableRows, USUAL_ELEMENTS, USUAL_TEXT_BYTES, USUAL_TEXT_WITHIN_BYTES};
pub use script::{
    Agreement, Asked, Batch, Creates, Effect, IndexKind, Logged, LoggedMarker, MOST_STATEMENTS, MarkerOf, NotOwn,
    Recorded, SchemaStatement, Script, SerialConsistency, Sql, SqlMarker, SqlStep, Statement,
};
pub use stress::{StressProfile, parse_stress, stress_operations, stress_statement};
pub use values::{Values, component};
