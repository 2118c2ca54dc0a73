//! What can go wrong with a run directory, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use evidence::FORMAT_VERSION;

/// Shorthand for this crate.
pub type Result<T> = std::result::Result<T, RunError>;

/// Why a run directory could not be made, read or written.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum RunError {
    #[error(
        "no space left while writing {path}{left}: the trial being written is not kept, all earlier ones are; free \
         some space, then continue with `iopslab run --resume DIR`"
    )]
    DiskFull {
        path: PathBuf,
        /// What its directory has left, in words.
        left: String,
        #[source]
        source: io::Error,
    },
    /// Any other failure of a file operation.
    #[error("cannot {doing} {path}: {source}")]
    File {
        /// A verb: `create`, `read`, `fsync`.
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "{path} is not a run directory: it has no plan.json; give a directory that `iopslab run` made, \
         such as runs/<name>-<UTC time>"
    )]
    NotARun { path: PathBuf },
    #[error(
        "{path} has format_version {found}, this iopslab reads {known}; measure again with this one, or use the \
         iopslab that wrote it"
    )]
    OtherFormat { path: PathBuf, found: u64, known: u32 },
    #[error(
        "{path} is damaged: {problem}; restore it from a copy (a trial can be repeated: \
         `iopslab run --resume RUN --retry-invalid`)"
    )]
    Damaged { path: PathBuf, problem: String },
    #[error("{path} holds the record of {cell} block {block}: it was copied or moved there")]
    Misplaced { path: PathBuf, cell: String, block: u32 },
    #[error(
        "{path} is not all yours: {what}; a run that goes on is obeyed, so that every file of it has to be your own. \
         If you know who made it: cp -r --dereference it and continue the copy"
    )]
    Foreign { path: PathBuf, what: String },
    #[error("{path} is being written by another iopslab process; wait until it ends or stop it, then try again")]
    Locked { path: PathBuf },
    #[error("trial {cell} block {block} exists already at {path}; evidence is never overwritten")]
    TrialExists { cell: String, block: u32, path: PathBuf },
    #[error("{name:?} cannot be a file name: a name is not empty, does not start with a dot and holds no '/'")]
    BadName { name: String },
}

impl RunError {
    /// Wraps an I/O error; a full disk has an error of its own, because the user must act on it.
    pub(crate) fn file(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                let left = left_for(&path);
                Self::DiskFull { path, left, source }
            }
            _ => Self::File { doing, path, source },
        }
    }

    /// Refuses a file of another version than this program's; to be asked before its shape is looked at, which would
    /// be reported as damage.
    pub(crate) fn check_format(path: &Path, found: Option<u64>) -> Result<()> {
        match found {
            Some(found) if found == u64::from(FORMAT_VERSION) => Ok(()),
            Some(found) => Err(Self::OtherFormat { path: path.to_owned(), found, known: FORMAT_VERSION }),
            None => Err(Self::damaged(path, "it has no format_version")),
        }
    }

    pub(crate) fn damaged(path: &Path, problem: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), problem: problem.to_string() }
    }
}

/// What is free where a file was to be, for people; nothing where nobody can say.
fn left_for(path: &Path) -> String {
    let exists = |place: &&Path| place.is_dir();
    let place = path.ancestors().skip(1).find(exists);
    let free = place.and_then(|place| Some((place, rustix::fs::statvfs(place).ok()?)));
    free.map_or_else(String::new, |(place, facts)| {
        let mib = facts.f_bavail.saturating_mul(facts.f_frsize) as f64 / f64::from(1 << 20);
        format!(" ({mib:.1} MiB free in {})", place.display())
    })
}
