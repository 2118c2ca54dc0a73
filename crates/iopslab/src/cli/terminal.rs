//! The terminal that results are printed on.

use std::io::IsTerminal as _;

/// Narrowest terminal that tables are fitted to.
const WIDTH_MIN: usize = 80;
/// Where there is no terminal, so that files hold whole tables.
const WIDTH_OF_FILES: usize = 140;

/// Columns of the terminal, or what COLUMNS says; at least 80.
pub fn width() -> usize {
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let of_terminal = || {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
        (size.ws_col > 0).then_some(usize::from(size.ws_col))
    };
    let width = stated.or_else(of_terminal).unwrap_or(WIDTH_OF_FILES);
    width.max(WIDTH_MIN)
}

/// Whether results go to a terminal, and not into a file or a pipe.
pub fn is_one() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether results may be coloured: on a terminal, unless NO_COLOR says no.
pub fn has_colour() -> bool {
    is_one() && std::env::var_os("NO_COLOR").is_none()
}
