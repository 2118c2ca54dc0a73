//! What only the page draws: charts as SVG.

pub mod bars;
pub mod cache_curve;
pub mod capacity;
pub mod curves;
pub mod faults;
pub mod frontier;
pub mod multiples;
pub mod rates;
pub mod scaling;
pub mod timeline;

mod axis;
mod element;
mod placing;
mod small;
