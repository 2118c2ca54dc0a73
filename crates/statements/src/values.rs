//! The values of a statement, as the protocol has them.

use std::ops::Range;

/// The length of a value that is not set: nothing is written for it (native_protocol_v4.spec, section 3, `[value]`).
const NOT_SET: i32 = -2;
/// Bytes of a length.
const LENGTH: usize = 4;

/// Encoded values of one statement, in the order of its markers. Filled again it takes no memory once it has been
/// filled with as much.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values {
    /// `[i32 length][bytes]` for each.
    wire: Vec<u8>,
    /// Where the length of each begins.
    starts: Vec<usize>,
}

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// All one after another, each with its length before it: as they stand in an `EXECUTE`.
    pub fn wire(&self) -> &[u8] {
        &self.wire
    }

    /// The value of one marker; `None`: it is not set, so that nothing is written for it.
    pub fn get(&self, marker: usize) -> Option<&[u8]> {
        Some(&self.wire[self.range(marker)?])
    }

    /// All values in order; see [`Self::get`].
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&[u8]>> {
        (0..self.len()).map(move |marker| self.get(marker))
    }

    fn range(&self, marker: usize) -> Option<Range<usize>> {
        let from = self.starts[marker] + LENGTH;
        let to = self.starts.get(marker + 1).copied().unwrap_or(self.wire.len());
        let is_set = self.wire[from - LENGTH..from] != NOT_SET.to_be_bytes();
        is_set.then_some(from..to)
    }

    pub(crate) fn clear(&mut self) {
        self.wire.clear();
        self.starts.clear();
    }

    /// Adds the value that `write` appends.
    #[inline]
    pub(crate) fn put(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.starts.push(self.wire.len());
        sized(&mut self.wire, write);
    }

    pub(crate) fn put_bytes(&mut self, bytes: &[u8]) {
        self.put(|out| out.extend_from_slice(bytes));
    }

    pub(crate) fn put_unset(&mut self) {
        self.starts.push(self.wire.len());
        self.wire.extend_from_slice(&NOT_SET.to_be_bytes());
    }
}

/// What `write` appends, with its length in four bytes before it: `[bytes]` of the protocol.
#[inline]
pub(crate) fn sized(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; LENGTH]);
    write(out);
    // Values are below 2 GiB: sizes are checked to be.
    let length = (out.len() - at - LENGTH) as i32;
    out[at..at + LENGTH].copy_from_slice(&length.to_be_bytes());
}

/// What `write` appends as one of several components of a partition key: its length in two bytes before it, a zero
/// after it (Apache Cassandra, `CompositeType.java`).
pub fn component(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 2]);
    write(out);
    // The server refuses a key of more than 65,535 bytes.
    let length = (out.len() - at - 2) as u16;
    out[at..at + 2].copy_from_slice(&length.to_be_bytes());
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_its_length_before_it_and_one_that_is_not_set_has_minus_two() {
        let mut values = Values::default();
        for _ in 0..2 {
            values.clear();
            values.put_bytes(b"ab");
            values.put_unset();
            values.put_bytes(b"");
            assert_eq!(values.wire(), [0, 0, 0, 2, b'a', b'b', 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 0]);
            let all: Vec<_> = values.iter().collect();
            assert_eq!(all, [Some(&b"ab"[..]), None, Some(&b""[..])]);
        }
    }
}
