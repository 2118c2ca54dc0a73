//! Statistics on plain numbers: values in, values out.
//!
//! The unit of analysis is the **trial**: a cell's throughput is the geometric mean of its trials', its other figures
//! are medians of theirs, and two configurations are compared by the ratios of trials of the same block. With the few
//! trials that anybody can afford (three to twenty), only modest claims can be made; this crate makes them exactly or
//! not at all. The rates quoted in its documentation are measured by its tests.

mod contrast;
mod crossing;
mod estimate;
mod fit;
mod geometric;
mod layout;
mod looks;
mod median;
mod monotone;
#[cfg(test)]
mod noise;
mod pool;
mod samples;
mod scalability;
mod sign_flip;
mod split_mix;
mod squares;
mod steady;
mod student;
mod trend;
mod variance;

pub use contrast::{Contrast, Foreseen, LEVEL, POWER, REPETITIONS_MIN, holm_levels};
pub use crossing::{Crossing, Points, Residuals};
pub use estimate::{Estimate, IntervalMethod, estimate};
pub use fit::Series;
pub use geometric::{geometric_mean, ratio};
pub use layout::{Layout, Outlier, Spread};
pub use looks::Looks;
pub use median::{Summary, median, quantile};
pub use monotone::{Monotone, monotone_change};
pub use samples::Samples;
pub use scalability::{Bounds, FittedScalability, Scalability, scalability};
pub use sign_flip::sign_flip_p;
pub use split_mix::SplitMix;
pub use steady::{JUDGED_FROM, SteadyState, SteadyVerdict, steady_state};
