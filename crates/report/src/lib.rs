//! Analysis in, text out: the terminal's tables, `report.md`, and the plan shown before a run.
//!
//! Nothing is computed here that `analysis.json` does not hold; this crate rounds, orders and words.

mod comparison;
mod figures;
mod findings;
mod labels;
mod markdown;
mod plan;
mod table;
mod terminal;

pub use comparison::comparison_markdown;
pub use markdown::markdown;
pub use plan::plan_table;
pub use terminal::{TerminalOptions, terminal};
