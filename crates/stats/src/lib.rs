//! Statistics on plain numbers: values in, values out.
//!
//! The unit of analysis is the **trial**: a cell's value is the median of its trials' values. With the few trials that
//! anybody can afford (three to twenty), only modest claims can be made; this crate makes them exactly or not at all.

mod geometric;
mod median;

pub use geometric::{geometric_mean, ratio};
pub use median::{Interval, Summary, median, median_interval, quantile};
