//! The one place that writes to stdout and stderr.
//!
//! The standard macros of these names panic when nobody reads: `iopslab catalog list | head -1` would end in a
//! backtrace. These, which the whole program uses, do not. What cannot be written to stdout is remembered and reported
//! once by [`finish`]; a reader that has gone away is no error, and the command goes on to its own end and exit code,
//! so that a gate that failed still exits with 3 in `iopslab compare A B | head`. Progress that stderr does not take is
//! dropped: there is nowhere to report it.
//!
//! What is written may contain what somebody else has written: names and questions of an experiment, an agent's words,
//! a run that was received. A terminal obeys control characters, so none goes out: [`guarded::shown`].
//!
//! SIGPIPE stays ignored, as Rust starts programs: a controller would otherwise die of an agent that died, and an agent
//! of its controller, before either has undone what it did.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write as _};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};

/// As in the standard library, without its panic.
#[macro_export]
macro_rules! print {
    ($($words:tt)*) => { $crate::output::to_stdout(format_args!($($words)*)) };
}

/// As in the standard library, without its panic.
#[macro_export]
macro_rules! println {
    () => { $crate::output::to_stdout(format_args!("\n")) };
    ($($words:tt)*) => { $crate::output::to_stdout(format_args!("{}\n", format_args!($($words)*))) };
}

/// As in the standard library, without its panic.
#[macro_export]
macro_rules! eprint {
    ($($words:tt)*) => { $crate::output::to_stderr(format_args!($($words)*)) };
}

/// As in the standard library, without its panic.
#[macro_export]
macro_rules! eprintln {
    ($($words:tt)*) => { $crate::output::to_stderr(format_args!("{}\n", format_args!($($words)*))) };
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Tables for people.
    Human,
    /// One JSON document on stdout.
    Json,
}

/// Why stdout has not taken everything; nothing is written after it.
static LOST: Mutex<Option<io::Error>> = Mutex::new(None);

/// Writes to stdout; see [`finish`] for what becomes of an error.
pub fn to_stdout(text: fmt::Arguments<'_>) {
    let text = text.to_string();
    write(|| io::stdout().write_all(guarded::shown(&text).as_bytes()));
}

/// Writes to stderr, or does not.
pub fn to_stderr(text: fmt::Arguments<'_>) {
    let _ = above(guarded::shown(&text.to_string()).as_bytes());
}

/// What takes lines away that stay in their place at the end of a terminal, has something written, and draws them
/// again.
pub type InPlace = Arc<dyn Fn(&mut dyn FnMut()) + Send + Sync>;

/// Who has such lines.
static IN_PLACE: Mutex<Option<InPlace>> = Mutex::new(None);

/// From now on whatever else is written to stderr stands above these lines; `None`: there are none any more.
pub fn set_in_place(lines: Option<InPlace>) {
    *IN_PLACE.lock().unwrap_or_else(PoisonError::into_inner) = lines;
}

/// Writes to stderr, above what stays in its place.
fn above(bytes: &[u8]) -> io::Result<()> {
    let in_place = IN_PLACE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(in_place) = in_place else { return io::stderr().write_all(bytes) };
    let mut written = Ok(());
    in_place(&mut || written = io::stderr().write_all(bytes));
    written
}

/// Whether a terminal is there that obeys what moves its cursor and changes its colour: one whose kind TERM says, and
/// that it is not dumb (terminfo(5)).
pub fn obeys(terminal: impl IsTerminal) -> bool {
    terminal.is_terminal() && is_obedient(std::env::var_os("TERM").as_deref())
}

/// Whether what is written there may have colours: it obeys, and NO_COLOR does not say no.
pub fn has_colour(terminal: impl IsTerminal) -> bool {
    obeys(terminal) && std::env::var_os("NO_COLOR").is_none()
}

fn is_obedient(kind: Option<&OsStr>) -> bool {
    kind.is_some_and(|kind| !kind.is_empty() && kind != "dumb")
}

/// Columns of a terminal whose size is not known.
const COLUMNS: usize = 80;

/// Columns of the terminal that stderr is, or what COLUMNS says.
pub fn columns() -> usize {
    columns_of(io::stderr()).unwrap_or(COLUMNS)
}

/// What COLUMNS says, or the columns of this terminal; `None`: it is none.
pub fn columns_of(terminal: impl AsFd) -> Option<usize> {
    stated(std::env::var("COLUMNS").ok().as_deref()).or_else(|| {
        let size = rustix::termios::tcgetwinsize(terminal).ok()?;
        (size.ws_col > 0).then_some(usize::from(size.ws_col))
    })
}

/// What COLUMNS says; 0 is what shells without a terminal say.
fn stated(columns: Option<&str>) -> Option<usize> {
    columns?.parse().ok().filter(|columns| *columns > 0)
}

/// The way to stderr of the log, and of what agents write there.
#[derive(Debug)]
pub struct Log;

impl io::Write for Log {
    /// Whole lines, as the log's formatter has them.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        above(guarded::shown(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Writes to stdout by other means than the macros.
pub fn write(act: impl FnOnce() -> io::Result<()>) {
    let mut lost = LOST.lock().unwrap_or_else(PoisonError::into_inner);
    if lost.is_none() {
        *lost = act().err();
    }
}

/// Flushes stdout.
///
/// # Errors
/// The first error of all writes, unless it was that nobody reads any more.
pub fn finish() -> io::Result<()> {
    write(|| io::stdout().flush());
    let lost = LOST.lock().unwrap_or_else(PoisonError::into_inner).take();
    match lost {
        Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// A value as indented JSON.
pub fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).expect("our own documents always serialise")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_whose_kind_is_known_and_not_dumb() {
        for (kind, obeys) in [(None, false), (Some(""), false), (Some("dumb"), false), (Some("xterm-256color"), true)] {
            assert_eq!(is_obedient(kind.map(OsStr::new)), obeys, "{kind:?}");
        }
    }

    #[test]
    fn a_terminal_without_columns_is_none() {
        let cases = [(None, None), (Some(""), None), (Some("0"), None), (Some("wide"), None), (Some("72"), Some(72))];
        for (said, columns) in cases {
            assert_eq!(stated(said), columns, "{said:?}");
        }
    }

    /// A warning was written into the live line, and the terminal showed half of either.
    #[test]
    fn what_is_written_while_lines_stay_in_place_goes_through_whoever_has_them() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sees = Arc::clone(&seen);
        // Other tests may write at the same time.
        let own = std::thread::current().id();
        set_in_place(Some(Arc::new(move |write: &mut dyn FnMut()| {
            let note = |what| {
                if std::thread::current().id() == own {
                    sees.lock().unwrap().push(what);
                }
            };
            note("taken away");
            write();
            note("drawn again");
        })));
        to_stderr(format_args!("a note\n"));
        assert_eq!(Log.write(b" WARN a warning\n").unwrap(), 16);
        set_in_place(None);
        to_stderr(format_args!("the end\n"));
        assert_eq!(*seen.lock().unwrap(), ["taken away", "drawn again"].repeat(2));
    }
}
