//! The documents of a file of Chronicle Queue (`.cq4`).
//!
//! Source: Chronicle-Wire `Wires.java`, `AbstractWire.java`; Chronicle-Queue `SingleChronicleQueueStore.java`. Each
//! document has a header of four bytes, little-endian: its length in the lower 30 bits; bit 30: *meta-data* (the file's
//! header, its indexes); bit 31: not complete. A header of zeros has not been written yet: files are made long and
//! empty. The first document is the file's header; where it states `dataFormat: 1`, as 4.1 and 5.0 do, documents begin
//! at multiples of four bytes. A file that was ended for the next one has a last header of both bits and no length.

use crate::error::{At, LogError};
use crate::wire::Wire;

const HEADER: usize = 4;
const LENGTH: u32 = (1 << 30) - 1;
const META_DATA: u32 = 1 << 30;
const NOT_COMPLETE: u32 = 1 << 31;
const END_OF_DATA: u32 = NOT_COMPLETE | META_DATA;
/// Most bytes of a file's header (`AbstractWire.readFirstHeader`).
const MOST_FIRST: usize = 64 << 10;
/// The type of a file's header.
const STORE: &[u8] = b"SCQStore";
/// The field of it that says how documents lie: the code of a name of ten bytes, and the name.
const FORMAT: &[u8] = b"\xCAdataFormat";
/// Documents begin at multiples of four bytes.
const ALIGNED: i64 = 1;

/// The data of a file, one document after another.
pub(crate) struct Documents<'a> {
    bytes: &'a [u8],
    at: usize,
    is_aligned: bool,
    /// Whether the last document was begun and never completed.
    pub(crate) is_cut: bool,
}

impl<'a> Documents<'a> {
    /// The documents after the file's header.
    ///
    /// # Errors
    /// It is no file of Chronicle Queue.
    pub(crate) fn of(bytes: &'a [u8]) -> Result<Self, LogError> {
        let no_queue = |what: &str| {
            let message = format!("this is no file of a full query log (Chronicle Queue, .cq4): {what}");
            Err(LogError::new(At::Byte(0), message))
        };
        let Some(header) = header(bytes, 0) else { return no_queue("it is too short") };
        let length = (header & LENGTH) as usize;
        if header & END_OF_DATA != META_DATA || length > MOST_FIRST {
            return no_queue("its first document is no header");
        }
        let Some(first) = bytes.get(HEADER..HEADER + length) else { return no_queue("its header is cut") };
        let after = |word: &[u8]| {
            let at = first.windows(word.len()).position(|window| window == word)?;
            Some(at + word.len())
        };
        if after(STORE).is_none() {
            return no_queue("its header has another type");
        }
        let format = after(FORMAT).map(|at| Wire::new(&first[at..], (HEADER + at) as u64).integer()).transpose()?;
        let mut documents = Self { bytes, at: 0, is_aligned: format == Some(ALIGNED), is_cut: false };
        documents.go_after(length);
        Ok(documents)
    }

    fn go_after(&mut self, length: usize) {
        self.at += HEADER + length;
        if self.is_aligned {
            self.at = self.at.next_multiple_of(4);
        }
    }
}

/// The header at a byte; `None`: the file ends before it does.
fn header(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk::<HEADER>()?))
}

impl<'a> Iterator for Documents<'a> {
    /// The first byte of a document in the file, and its bytes.
    type Item = Result<(u64, &'a [u8]), LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let header = header(self.bytes, self.at).filter(|header| *header != 0)?;
            if header & NOT_COMPLETE != 0 {
                self.is_cut = header != END_OF_DATA;
                return None;
            }
            let (begin, length) = (self.at + HEADER, (header & LENGTH) as usize);
            let Some(document) = self.bytes.get(begin..begin + length) else {
                let message = format!(
                    "a document of {length} bytes begins here, and the file has {} more: it was not copied whole",
                    self.bytes.len() - begin
                );
                let at = At::Byte(self.at as u64);
                // Nothing can be found after it.
                self.at = self.bytes.len();
                return Some(Err(LogError::new(at, message)));
            };
            self.go_after(length);
            if header & META_DATA == 0 {
                return Some(Ok((begin as u64, document)));
            }
        }
    }
}
