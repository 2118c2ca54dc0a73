//! Two runs against each other: as Markdown, for a comment on a pull request, and as tables that fit a terminal.

mod markdown;
mod terminal;
mod words;

pub use markdown::comparison_markdown;
pub use terminal::comparison_terminal;
