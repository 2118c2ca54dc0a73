//! Analysis in, text out: the terminal's tables, `report.md`, `report.html`, OpenMetrics, and the plan shown before a
//! run.
//!
//! Nothing is computed here that the analysis does not hold; this crate rounds, orders and words. [`document()`] is
//! `analysis.json`: the analysis with its sentences. A report is a [`document`](mod@document) of sections, made once
//! for all its forms.

mod analysis_json;
mod answer;
mod cache_curve;
mod capacity;
mod charts;
mod comparison;
mod csv;
mod document;
mod figures;
mod labels;
mod neutral;
mod openmetrics;
mod page;
mod placed;
mod plain;
mod plan;
mod profile;
mod sections;
mod sizing;
mod summary;
mod tier_curve;
mod wording;
mod wrap;

pub use analysis_json::document;
pub use answer::{Answer, Exchange, answer};
pub use comparison::{comparison_markdown, comparison_terminal};
pub use csv::{faults_csv, nodes_csv, summary_csv};
pub use document::terminal::TerminalOptions;
pub use openmetrics::openmetrics;
pub use page::{answer_and_evidence, html, watch_page};
pub use plain::{headline, markdown, terminal};
pub use plan::plan_table;
pub use profile::{profile_document, profile_markdown, profile_terminal};
pub use sizing::{fleets, foretold, foretold_document, left_out, next, next_document, sizing, sizing_document};
pub use tier_curve::tier_curves;
pub use wording::limits::message as limit_message;
pub use wording::{advice, message};
