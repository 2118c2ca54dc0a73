//! The run directory: one execution of an experiment, on disk, in open formats.
//!
//! ```text
//! runs/<name>-<UTC time>/
//!   experiment.toml plan.json setups.json                     frozen inputs
//!   beside.json                                               texts of the files that the experiment names, if any
//!   catalog.json environment.json                             frozen facts
//!   journal.jsonl                                             what happened, in order
//!   trials/<cell>/<block>/                                    trial.json latency.hlog host-<host>.parquet and logs
//!   run.sha256                                                hashes of the inputs and of all trials, for sha256sum -c
//!   set-aside/<cell>/<block>.<n>/                             invalid trials that were done again
//!   analysis.json report.md                                   made from the above, can always be made again
//! ```
//!
//! Two rules make `kill -9` at any moment harmless. **A trial appears atomically or not at all**: it is written aside,
//! fsynced, and renamed into place; the rename is the commit. **The journal is appended and fsynced**, so that it lags
//! the directory by one line at most: a trial that was renamed but not yet journaled gets its line when writing
//! resumes, and a line torn by the kill is cut off. What remains is therefore the planned order minus the trials whose
//! directory exists.
//!
//! Reading needs no lock. Writing takes an exclusive `flock` on the journal, which the kernel releases when the process
//! dies, so that a stale lock cannot exist.

mod directory;
mod error;
mod files;
#[cfg(fuzzing)]
pub mod fuzzing;
mod hlog;
mod journal;
mod logs;
mod manifest;
mod samples;
mod stored;

pub use directory::{RunDirectory, RunLock};
pub use error::{Result, RunError};
pub use hlog::LatencyLog;
pub use journal::{JournalEntry, JournalEvent};
pub use logs::TrialLogs;
pub use manifest::Verified;
pub use stored::StoredTrial;
