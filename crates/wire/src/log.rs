//! Logs on the wire: the controller asks for one piece after the other, so that neither side ever holds a whole log.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

/// Most bytes of a log in one message.
pub const LOG_PIECE_BYTES: u64 = 1 << 20;

/// Most bytes that are kept of a log: what comes later of it is left where it is, and the log says so.
pub const LOG_MOST_BYTES: u64 = 256 << 20;

/// A log that a stopped database has left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogFile {
    /// Name in the trial directory.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
}

/// A piece of a log: its bytes as they are, in base64, because a piece may end inside a character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPiece(String);

impl LogPiece {
    /// Encodes a piece.
    pub fn of(bytes: &[u8]) -> Self {
        Self(STANDARD.encode(bytes))
    }

    /// Its bytes; empty at the end of the log. The error says what is wrong with it.
    pub fn bytes(&self) -> Result<Vec<u8>, String> {
        let bytes = STANDARD.decode(&self.0).map_err(|error| format!("a piece of a log is not base64: {error}"))?;
        match bytes.len() as u64 > LOG_PIECE_BYTES {
            true => Err(format!("a piece of a log has {} bytes, more than {LOG_PIECE_BYTES}", bytes.len())),
            false => Ok(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_that_ends_inside_a_character_comes_back_as_it_was() {
        let text = "INFO  gr\u{fc}n\n".as_bytes();
        let (first, second) = text.split_at(9);
        let joined = [first, second].map(|piece| LogPiece::of(piece).bytes().expect("a piece"));
        assert_eq!(joined.concat(), text);
        assert!(LogPiece("no base64!".to_owned()).bytes().is_err());
        assert!(LogPiece::of(&vec![0; LOG_PIECE_BYTES as usize + 1]).bytes().is_err());
    }
}
