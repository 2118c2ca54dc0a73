//! Key choosers, values, operation mixes: YCSB CoreWorkload semantics as plain functions of a seed.
//!
//! A [`Definition`] says what a workload is; a [`Generator`] per load thread turns it into [`Operation`]s;
//! [`write_key`] and [`ValuePool`] turn these into keys and values; [`parse_ycsb`] reads a definition from an existing
//! YCSB file. [`skew::fit`] goes the other way: from how often keys were asked for to the distribution that they have.

mod arrivals;
pub mod chooser;
mod definition;
mod even_order;
mod generator;
mod insert_sequence;
mod key;
mod operation_kind;
mod page_cache;
mod random;
pub mod skew;
mod value;
mod ycsb;
mod zeta;

pub use arrivals::Arrivals;
pub use definition::{Definition, Distribution, Mix, Replayed, ScanLength, StatementShare};
pub use even_order::EvenOrder;
pub use generator::{Generator, MixChooser, Operation};
pub use insert_sequence::InsertSequence;
pub use key::{KeyFormat, fnv_hash64, write_key};
pub use operation_kind::{OperationKind, StatementName, StatementNameError};
pub use page_cache::PageCache;
pub use random::{Random, SplitMix};
pub use value::ValuePool;
pub use ycsb::{YcsbError, YcsbFile, parse_ycsb};
