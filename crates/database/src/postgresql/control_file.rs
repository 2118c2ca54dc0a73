//! `global/pg_control`: what a data directory says of itself.
//!
//! The first fields of `ControlFileData` (`src/include/catalog/pg_control.h`), which have stood where they are since
//! PostgreSQL 11: system identifier (8 bytes), version of the file (4), of the catalog (4), state (4, padded to 8),
//! time (8), position of the last checkpoint's record (8), and of that checkpoint first the position from which the WAL
//! is needed (8) and its timeline (4). Numbers are the machine's own, which is the one that the server runs on.

use std::io;
use std::path::Path;

/// The whole file has 8 KiB.
const MOST_BYTES: u64 = 64 << 10;
/// `DB_SHUTDOWNED`: stopped in order.
const SHUT_DOWN: u32 = 1;
/// The first version of the file with these fields (PostgreSQL 11).
const LEAST_VERSION: u32 = 1_100;

/// What is read of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ControlFile {
    /// Whether the server was stopped in order.
    pub is_shut_down: bool,
    /// Where the record of the last checkpoint is in the WAL.
    pub checkpoint: u64,
    /// From where on a start needs the WAL.
    pub redo: u64,
    /// The timeline of both.
    pub timeline: u32,
}

impl ControlFile {
    /// That of a data directory. Errors: it cannot be read, or is another file.
    pub fn read(data: &Path) -> io::Result<Self> {
        let bytes = guarded::read_no_link(&data.join("global/pg_control"), MOST_BYTES)?;
        Self::parse(&bytes).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "pg_control is not what it was"))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let four = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let eight = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        (four(8)? >= LEAST_VERSION).then_some(())?;
        Some(Self {
            is_shut_down: four(16)? == SHUT_DOWN,
            checkpoint: eight(32)?,
            redo: eight(40)?,
            timeline: four(48)?,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A control file with these fields.
    pub(in super::super) fn bytes(state: u32, checkpoint: u64, redo: u64, timeline: u32) -> Vec<u8> {
        let mut bytes = vec![0; 8_192];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(8, &1_800_u32.to_ne_bytes());
        put(16, &state.to_ne_bytes());
        put(32, &checkpoint.to_ne_bytes());
        put(40, &redo.to_ne_bytes());
        put(48, &timeline.to_ne_bytes());
        bytes
    }

    #[test]
    fn a_stopped_server_is_distinguished_from_one_that_runs_or_was_killed() {
        let of = |state| ControlFile::parse(&bytes(state, 0x0200_0028, 0x0200_0028, 1)).expect("a control file");
        assert!(of(SHUT_DOWN).is_shut_down);
        // Starting up, in production, in recovery.
        assert!([0, 5, 6].into_iter().all(|state| !of(state).is_shut_down));
        assert_eq!((of(1).checkpoint, of(1).timeline), (0x0200_0028, 1));
        assert_eq!(ControlFile::parse(b"short"), None);
        assert_eq!(ControlFile::parse(&[0; 100]), None, "no version of a control file");
    }
}
