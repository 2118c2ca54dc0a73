//! What only the page draws: charts as SVG.

pub mod bars;
pub mod cache_curve;
pub mod capacity;
pub mod curves;
pub mod each_trial;
pub mod faults;
pub mod frontier;
pub mod over_time;
pub mod rates;
pub mod scaling;

mod axis;
mod element;
mod placing;
mod time_chart;
