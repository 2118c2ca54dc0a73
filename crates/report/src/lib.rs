//! Analysis in, text out: the terminal's tables, `report.md`, `report.html`, OpenMetrics, and the plan shown before a
//! run.
//!
//! Nothing is computed here that the analysis does not hold; this crate rounds, orders and words. [`document()`] is
//! `analysis.json`: the analysis with its sentences.

mod answer;
mod cache;
mod cache_curve;
mod capacity;
mod compaction;
mod comparison;
mod data_volumes;
mod document;
mod faults;
mod faults_csv;
mod figures;
mod findings;
mod html;
mod labels;
mod markdown;
mod neutral;
mod nodes;
mod nodes_csv;
mod openmetrics;
mod plan;
mod sizing;
mod summary_csv;
mod table;
mod terminal;
mod wording;
mod work;
mod wrap;

pub use answer::{Answer, answer};
pub use comparison::{comparison_markdown, comparison_terminal};
pub use document::document;
pub use faults_csv::faults_csv;
pub use html::html;
pub use markdown::markdown;
pub use nodes_csv::nodes_csv;
pub use openmetrics::openmetrics;
pub use plan::plan_table;
pub use sizing::{fleets, left_out, sizing, sizing_document};
pub use summary_csv::summary_csv;
pub use terminal::{TerminalOptions, headline, terminal};
pub use wording::limits::message as limit_message;
pub use wording::{advice, message};
