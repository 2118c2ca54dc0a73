//! Requests as bytes. A statement's part of its requests is made once; a request appends to the outgoing buffer.

use super::protocol::{HEADER, VERSION, opcode};

/// The values of a request, in the order of its bind markers: each is given in pieces, which follow each other. One
/// without any piece is not set: nothing is written for it (an empty value has one piece, which is empty). `None` is
/// null: a write of it deletes.
pub(crate) trait Values {
    /// Gives each value to `put` until one fails.
    fn each<E>(&self, put: impl FnMut(Option<&[&[u8]]>) -> Result<(), E>) -> Result<(), E>;
}

/// What all requests of a prepared statement begin with, and the level of its conditions, with which they end.
pub(crate) struct Head {
    begin: Vec<u8>,
    serial: Option<u16>,
}

const WITH_VALUES: u8 = 0x01;
const SKIP_METADATA: u8 = 0x02;
const WITH_SERIAL_CONSISTENCY: u8 = 0x10;
/// The length of a null (native_protocol_v4.spec, section 3, `[value]`).
const NULL: i32 = -1;
/// The length of a value that is not set.
const NOT_SET: i32 = -2;

impl Head {
    /// `id` is the server's name for the statement, `consistency` and `serial` the protocol's numbers of the levels
    /// (`serial` of conditions: the server's own where it is `None`), `markers` the number of values. A statement that
    /// returns rows is asked for them without their description.
    pub(crate) fn new(id: &[u8], (consistency, serial): (u16, Option<u16>), markers: u16, returns_rows: bool) -> Self {
        let mut bytes = vec![VERSION, 0, 0, 0, opcode::EXECUTE, 0, 0, 0, 0];
        let length = u16::try_from(id.len()).unwrap_or_default();
        bytes.extend(length.to_be_bytes());
        bytes.extend(id);
        bytes.extend(consistency.to_be_bytes());
        let skip = if returns_rows { SKIP_METADATA } else { 0 };
        bytes.push(WITH_VALUES | skip | if serial.is_some() { WITH_SERIAL_CONSISTENCY } else { 0 });
        bytes.extend(markers.to_be_bytes());
        Self { begin: bytes, serial }
    }
}

/// Appends a request.
pub(super) fn execute(out: &mut Vec<u8>, stream: u16, head: &Head, values: &impl Values) {
    let start = out.len();
    out.extend_from_slice(&head.begin);
    let Ok(()) = values.each(|pieces| {
        let Some(pieces) = pieces else {
            out.extend_from_slice(&NULL.to_be_bytes());
            return Ok(());
        };
        if pieces.is_empty() {
            out.extend_from_slice(&NOT_SET.to_be_bytes());
            return Ok(());
        }
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        // Longer than a frame can be is refused by the server, whatever stands here.
        let length = i32::try_from(length).unwrap_or(i32::MAX);
        out.extend_from_slice(&length.to_be_bytes());
        pieces.iter().for_each(|piece| out.extend_from_slice(piece));
        Ok::<(), std::convert::Infallible>(())
    });
    if let Some(serial) = head.serial {
        out.extend_from_slice(&serial.to_be_bytes());
    }
    finish(out, start, stream);
}

/// Puts stream id and length into the header of the frame that begins at `start`.
fn finish(out: &mut [u8], start: usize, stream: u16) {
    let length = (out.len() - start - HEADER) as u32;
    let header = &mut out[start..start + HEADER];
    header[2..4].copy_from_slice(&stream.to_be_bytes());
    header[5..9].copy_from_slice(&length.to_be_bytes());
}

/// Asks what the server supports.
pub(super) fn options() -> Vec<u8> {
    frame(opcode::OPTIONS, &[])
}

/// The first request of a connection: no compression.
pub(super) fn startup() -> Vec<u8> {
    let options = [("CQL_VERSION", "3.0.0"), ("DRIVER_NAME", "iopslab"), ("DRIVER_VERSION", env!("CARGO_PKG_VERSION"))];
    let mut body = (options.len() as u16).to_be_bytes().to_vec();
    for text in options.iter().flat_map(|(name, value)| [name, value]) {
        body.extend((text.len() as u16).to_be_bytes());
        body.extend(text.as_bytes());
    }
    frame(opcode::STARTUP, &body)
}

/// A name and a password, as SASL PLAIN has them (RFC 4616).
pub(super) fn login(user: &str, password: &str) -> Vec<u8> {
    let token = ["", user, password].join("\0");
    let mut body = (token.len() as u32).to_be_bytes().to_vec();
    body.extend(token.as_bytes());
    frame(opcode::AUTH_RESPONSE, &body)
}

/// A frame of a connection that is being set up: stream 0.
fn frame(opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![VERSION, 0, 0, 0, opcode, 0, 0, 0, 0];
    bytes.extend(body);
    finish(&mut bytes, 0, 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::{Head, Values, execute, login, options, startup};

    struct Pieces<'a>(&'a [&'a [&'a [u8]]]);

    impl Values for Pieces<'_> {
        fn each<E>(&self, put: impl FnMut(Option<&[&[u8]]>) -> Result<(), E>) -> Result<(), E> {
            self.0.iter().copied().map(Some).try_for_each(put)
        }
    }

    /// One null.
    struct Null;

    impl Values for Null {
        fn each<E>(&self, mut put: impl FnMut(Option<&[&[u8]]>) -> Result<(), E>) -> Result<(), E> {
            put(None)
        }
    }

    #[test]
    fn a_read_is_the_bytes_that_the_protocol_says() {
        let mut out = b"before".to_vec();
        let head = Head::new(&[0xAB, 0xCD], (1, None), 1, true);
        execute(&mut out, 0x0102, &head, &Pieces(&[&[b"user1"]]));
        let expected = [
            b"before".as_slice(),
            &[4, 0, 1, 2, 0x0A, 0, 0, 0, 18],
            &[0, 2, 0xAB, 0xCD, 0, 1, 0x03, 0, 1],
            &[0, 0, 0, 5],
            b"user1",
        ];
        assert_eq!(out, expected.concat());
    }

    #[test]
    fn a_write_asks_for_no_rows_and_joins_the_pieces_of_a_value() {
        let mut out = Vec::new();
        let head = Head::new(&[7], (6, None), 2, false);
        execute(&mut out, 0, &head, &Pieces(&[&[b"ta", b"g"], &[b""]]));
        let expected = [
            [4, 0, 0, 0, 0x0A, 0, 0, 0, 19].as_slice(),
            &[0, 1, 7, 0, 6, 0x01, 0, 2],
            &[0, 0, 0, 3],
            b"tag",
            &[0, 0, 0, 0],
        ];
        assert_eq!(out, expected.concat());
    }

    #[test]
    fn a_value_that_is_not_set_has_no_bytes_and_the_level_of_conditions_comes_last() {
        let mut out = Vec::new();
        let head = Head::new(&[7], (4, Some(9)), 2, false);
        execute(&mut out, 0, &head, &Pieces(&[&[], &[b"x"]]));
        let expected = [
            [4, 0, 0, 0, 0x0A, 0, 0, 0, 19].as_slice(),
            &[0, 1, 7, 0, 4, 0x11, 0, 2],
            &[0xFF, 0xFF, 0xFF, 0xFE],
            &[0, 0, 0, 1],
            b"x",
            &[0, 9],
        ];
        assert_eq!(out, expected.concat());
    }

    #[test]
    fn a_null_has_no_bytes_and_deletes() {
        let mut out = Vec::new();
        execute(&mut out, 0, &Head::new(&[7], (1, None), 1, false), &Null);
        assert_eq!(out[out.len() - 6..], [0, 1, 0xFF, 0xFF, 0xFF, 0xFF]);
    }

    #[test]
    fn frames_follow_each_other_without_a_gap() {
        let head = Head::new(&[7], (6, None), 1, false);
        let (mut both, mut second) = (Vec::new(), Vec::new());
        execute(&mut both, 1, &head, &Pieces(&[&[b"one"]]));
        let first = both.len();
        execute(&mut both, 2, &head, &Pieces(&[&[b"two"]]));
        execute(&mut second, 2, &head, &Pieces(&[&[b"two"]]));
        assert_eq!(both[first..], second);
    }

    #[test]
    fn what_sets_a_connection_up() {
        assert_eq!(options(), [4, 0, 0, 0, 5, 0, 0, 0, 0]);
        let startup = startup();
        assert_eq!(startup[4], 1);
        assert_eq!(startup[9..26], *b"\0\x03\0\x0bCQL_VERSION\0\x05");
        assert!(!String::from_utf8_lossy(&startup).contains("COMPRESSION"));
        let login = login("bench", "secret");
        assert_eq!(login[..13], [4, 0, 0, 0, 0x0F, 0, 0, 0, 17, 0, 0, 0, 13]);
        assert_eq!(login[13..], *b"\0bench\0secret");
    }
}
