//! User profiles of cassandra-stress, as schema, data and statements of the user's own.

mod clusters;
mod converted;
mod definition;
mod distribution;
mod operation;
mod profile;
mod reading;
mod yaml;

pub use operation::stress_statement;
pub use profile::{StressProfile, parse_stress, stress_operations};
