//! Hashes, as sha256sum(1) writes them.

use std::fmt::Write as _;
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

/// Read at a time: a log may be larger than memory.
const PIECE_BYTES: usize = 1 << 20;

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The SHA-256 of all that is read, in hexadecimal digits.
///
/// # Errors
/// As the reader says.
pub fn sha256(mut reader: impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match reader.read(&mut piece)? {
            0 => return Ok(hex(&hash.finalize())),
            n => hash.update(&piece[..n]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-2, appendix B.1.
    #[test]
    fn what_is_read_in_pieces_has_the_hash_of_the_whole() {
        let pieces = (&b"a"[..]).chain(&b"bc"[..]);
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(pieces).unwrap(), expected);
    }
}
