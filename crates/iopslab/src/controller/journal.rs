//! What a run writes down as it goes on.

use archive::{JournalEvent, RunDirectory};

use crate::failure::Failure;

/// Writes an event into the run's journal.
pub(super) fn note(directory: &RunDirectory, event: JournalEvent) -> Result<(), Failure> {
    directory.journal(event).map_err(Failure::work)
}
