//! Two runs against each other: as Markdown, for a comment on a pull request, and as tables that fit a terminal.

mod markdown;
mod terminal;
mod words;

pub use markdown::comparison_markdown;
pub use terminal::comparison_terminal;

use analysis::Metric;

/// Longest list of differing settings that is shown; the JSON document has all.
const DIFFERENCES_SHOWN: usize = 12;
/// Metrics with a table.
const SHOWN: [Metric; 3] = [Metric::Throughput, Metric::Mean, Metric::P99];
