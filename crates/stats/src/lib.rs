//! Statistics on plain numbers: values in, values out.
//!
//! The unit of analysis is the **trial**: a cell's value is the median of its trials' values, two configurations are compared by
//! the ratios of trials of the same block. With the few trials that anybody can afford (three to twenty), only modest claims can be
//! made; this crate makes them exactly or not at all. The rates quoted in its documentation are measured by its tests.

mod compare;
mod estimate;
mod geometric;
mod median;
#[cfg(test)]
mod noise;
mod precision;
mod steady;
mod student;
mod trend;

pub use compare::{RatioTest, equivalence_p, holm, paired_ratio, sign_flip_p, welch_ratio};
pub use estimate::{Estimate, IntervalMethod, estimate};
pub use geometric::{geometric_mean, ratio};
pub use median::{Interval, Summary, median, median_interval, quantile};
pub use precision::{LEVEL, coefficient_of_variation, precise_enough, repetitions_needed};
pub use steady::{JUDGED_FROM, SteadyState, SteadyVerdict, mser5, steady_state};
pub use trend::mann_kendall_p;
