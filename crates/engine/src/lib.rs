//! Schedules requests and records their latencies. The [`Driver`] trait is the seam to a database.

mod driver;

pub use driver::Driver;
