//! Logs of a stopped database, read piece by piece.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use wire::{LOG_PIECE_BYTES, LogFile, LogPiece, RequestError, Result};

/// A log with its name in the trial directory.
#[derive(Debug)]
pub(super) struct KeptLog {
    pub name: String,
    pub path: PathBuf,
    /// Where it begins to be the trial's: what comes before, other trials of the same process have left.
    pub from: u64,
}

impl KeptLog {
    /// What there is to read; `None` where there is none.
    pub fn facts(&self) -> Option<LogFile> {
        let bytes = self.path.metadata().ok()?.len().saturating_sub(self.from);
        let name = self.name.clone();
        Some(LogFile { name, bytes })
    }

    /// The piece that begins at `offset`.
    pub fn piece(&self, offset: u64) -> Result<LogPiece> {
        let read = || -> std::io::Result<Vec<u8>> {
            // The database writes it: it could be a link to a file of root's.
            let mut file = guarded::open_no_link(&self.path)?;
            file.seek(SeekFrom::Start(self.from + offset))?;
            let mut bytes = Vec::new();
            file.take(LOG_PIECE_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|e| RequestError::new(format!("cannot read {}: {e}", self.path.display())))?;
        Ok(LogPiece::of(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use wire::{Event, Reply};

    use super::*;

    #[test]
    fn a_log_of_tens_of_mib_goes_over_the_wire_in_frames_of_a_piece() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("system.log");
        let line = "INFO  [main] \u{2026} a line that is not a divisor of a piece\n";
        let text = line.repeat((24 << 20) / line.len() + 1);
        std::fs::write(&path, &text).unwrap();
        let name = "database.log".to_owned();
        let log = KeptLog { name, path, from: 0 };
        let facts = log.facts().unwrap();
        assert_eq!(facts.bytes, text.len() as u64);

        let (mut arrived, mut largest_frame) = (Vec::new(), 0);
        while (arrived.len() as u64) < facts.bytes {
            let piece = log.piece(arrived.len() as u64).unwrap();
            let mut frame = Vec::new();
            wire::write(&mut frame, &Event::Reply(Ok(Reply::LogPiece(piece)))).unwrap();
            largest_frame = largest_frame.max(frame.len());
            let Some(Event::Reply(Ok(Reply::LogPiece(piece)))) = wire::read(&mut frame.as_slice()).unwrap() else {
                panic!("a piece is what was sent");
            };
            arrived.extend(piece.bytes().unwrap());
        }
        assert!(arrived == text.as_bytes());
        // Base64 makes four bytes of three.
        assert!(largest_frame < (LOG_PIECE_BYTES as usize) * 4 / 3 + 100, "{largest_frame}");
        assert_eq!(log.piece(facts.bytes).unwrap().bytes().unwrap(), b"", "the end");
    }
}
