//! Key choosers, values, operation mixes: YCSB CoreWorkload semantics as plain functions of a seed.

mod definition;

pub use definition::{Definition, Distribution, Mix, OperationKind, ScanLength};
