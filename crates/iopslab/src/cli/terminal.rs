//! The terminal that results are printed on.

use std::io::IsTerminal as _;

use process::output::{self, columns_of};

/// Narrowest terminal that tables are fitted to.
const WIDTH_MIN: usize = 80;
/// Where there is no terminal, so that files hold whole tables.
const WIDTH_OF_FILES: usize = 140;

/// Columns of the terminal, or what COLUMNS says; at least 80.
pub fn width() -> usize {
    columns_of(std::io::stdout()).unwrap_or(WIDTH_OF_FILES).max(WIDTH_MIN)
}

/// Whether results go to a terminal, and not into a file or a pipe.
pub fn is_one() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether results may be coloured.
pub fn has_colour() -> bool {
    output::has_colour(std::io::stdout())
}
