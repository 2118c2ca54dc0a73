//! What each database product reports of itself while it runs, in its own words: series, the figures that tables have
//! of them, and charts over time.
//!
//! What a product reports is a [`Reports`] in a file of its own, and an entry of [`ALL`]. Whoever carries, adds up or
//! shows what a database reports goes over what is stated here and knows no product; rules that only one product has
//! ask for its series by the statics beside its statement.

mod all;
pub mod cassandra;
pub mod jvm;
pub mod memcached;
pub mod postgresql;
mod reported;
mod statement;

pub use all::{ALL, charts};
pub use reported::Reported;
pub use statement::{Chart, Figure, Kind, Meaning, Nodes, Of, Place, Reports, Risk, Series};
