//! Software as jars of a Maven repository: fetched by a committed lock list, verified, cached. Whatever is in them.

mod error;
mod fetch;
mod jars;
mod locked;
mod making;
mod verified;

pub use error::DistributionError;
pub use fetch::Fetched;
pub(crate) use jars::{ensure_jars, repository};
pub(crate) use locked::{Locked, Locks, known};
pub use making::LockList;
pub(crate) use making::{Repository, unclear};
