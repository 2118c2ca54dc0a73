//! Answers from bytes, as far as what kind of answer it is and how many rows it has.
//!
//! Bytes come in pieces of any size. A frame that does not fit into the buffer is judged by its beginning, and the rest
//! of it is passed over as it comes; it has answered its request when its last byte is there.

use engine::ErrorKind;

use super::protocol::{ANSWER, COMPRESSED, HEADER, LONGEST_BODY, PAYLOAD, TRACED, VERSION, WARNED, code, opcode};

/// What a server says to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is done, and there is nothing to return.
    Done,
    /// It is done, with so many rows.
    Rows(u32),
    /// It has a condition, which was not met.
    Unmet,
    Failed(ErrorKind),
    /// The server does not know the statement (any more).
    Unprepared,
    /// An answer that makes no sense here.
    Senseless,
}

/// Why nothing more that comes from a server can be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Broken {
    #[error("it speaks another version of the protocol (first byte 0x{0:02x})")]
    Version(u8),
    #[error("it sends a frame of {0} B, longer than the protocol allows")]
    Length(usize),
    #[error("it compresses, which nobody has asked for")]
    Compressed,
    #[error("it sends a frame of an unknown kind (0x{0:02x})")]
    Opcode(u8),
    #[error("it answers a request that was not sent (stream {0})")]
    Stream(i16),
}

/// The header of a frame.
pub(super) struct Header {
    flags: u8,
    pub(super) stream: i16,
    pub(super) opcode: u8,
    /// Bytes of the body.
    pub(super) length: usize,
}

impl Header {
    /// `None`: more bytes are needed.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<Self>, Broken> {
        let Some(header) = bytes.first_chunk::<HEADER>() else {
            return match bytes.first() {
                Some(&first) if first != VERSION | ANSWER => Err(Broken::Version(first)),
                _ => Ok(None),
            };
        };
        let &[version, flags, stream_high, stream_low, opcode, a, b, c, d] = header;
        if version != VERSION | ANSWER {
            return Err(Broken::Version(version));
        }
        if flags & COMPRESSED != 0 {
            return Err(Broken::Compressed);
        }
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length > LONGEST_BODY {
            return Err(Broken::Length(length));
        }
        match opcode {
            opcode::ERROR
            | opcode::READY
            | opcode::AUTHENTICATE
            | opcode::SUPPORTED
            | opcode::RESULT
            | opcode::EVENT
            | opcode::AUTH_CHALLENGE
            | opcode::AUTH_SUCCESS => {}
            other => return Err(Broken::Opcode(other)),
        }
        Ok(Some(Self { flags, stream: i16::from_be_bytes([stream_high, stream_low]), opcode, length }))
    }

    /// What a body says that has this header, or the beginning of one.
    fn answer(&self, body: &[u8]) -> Answer {
        let mut body = Cursor(body);
        self.judge(&mut body).unwrap_or(Answer::Senseless)
    }

    fn judge(&self, body: &mut Cursor<'_>) -> Option<Answer> {
        self.skip_extras(body)?;
        Some(match self.opcode {
            opcode::RESULT => result(body)?,
            opcode::ERROR => failure(body.int()?),
            _ => Answer::Senseless,
        })
    }

    /// What may stand before an answer: the number of a trace, warnings, a payload.
    fn skip_extras(&self, body: &mut Cursor<'_>) -> Option<()> {
        if self.flags & TRACED != 0 {
            body.skip(16)?;
        }
        if self.flags & WARNED != 0 {
            for _ in 0..body.short()? {
                body.skip_string()?;
            }
        }
        if self.flags & PAYLOAD != 0 {
            for _ in 0..body.short()? {
                body.skip_string()?;
                body.skip_bytes()?;
            }
        }
        Some(())
    }

    /// The message of an error.
    pub(super) fn message(&self, body: &[u8]) -> Option<String> {
        let mut body = Cursor(body);
        self.skip_extras(&mut body)?;
        body.int()?;
        let length = body.short()?;
        let text = body.0.get(..length.into())?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

/// The kind under which an error is counted: the same as the driver's errors are, see `cql`.
fn failure(code: i32) -> Answer {
    Answer::Failed(match code {
        code::UNPREPARED => return Answer::Unprepared,
        code::UNAVAILABLE => ErrorKind::Unavailable,
        code::OVERLOADED => ErrorKind::Overloaded,
        code::WRITE_TIMEOUT => ErrorKind::WriteTimeout,
        code::READ_TIMEOUT => ErrorKind::ReadTimeout,
        _ => ErrorKind::Other,
    })
}

const ROWS: i32 = 2;
const LAST_KIND: i32 = 5;

fn result(body: &mut Cursor<'_>) -> Option<Answer> {
    match body.int()? {
        ROWS => rows(body),
        kind if (1..=LAST_KIND).contains(&kind) => Some(Answer::Done),
        _ => None,
    }
}

const GLOBAL_TABLE: i32 = 0x1;
const MORE_PAGES: i32 = 0x2;
const NO_METADATA: i32 = 0x4;

/// The first column of what a statement with a condition returns (Cassandra's CQL, "INSERT"; `ModificationStatement`).
pub(crate) const APPLIED: &str = "[applied]";

/// The number of rows, which stands behind the description of the columns (section 4.2.5.2).
fn rows(body: &mut Cursor<'_>) -> Option<Answer> {
    let flags = body.int()?;
    let columns = u32::try_from(body.int()?).ok()?;
    if flags & MORE_PAGES != 0 {
        body.skip_bytes()?;
    }
    let mut is_conditional = false;
    if flags & NO_METADATA == 0 {
        let of_table = |body: &mut Cursor<'_>| body.skip_string().and_then(|()| body.skip_string());
        let is_global = flags & GLOBAL_TABLE != 0;
        if is_global {
            of_table(body)?;
        }
        for column in 0..columns {
            if !is_global {
                of_table(body)?;
            }
            let name = body.string()?;
            is_conditional |= column == 0 && name == APPLIED.as_bytes();
            body.skip_type(DEEPEST_TYPE)?;
        }
    }
    let rows = u32::try_from(body.int()?).ok()?;
    // Its value: a length, and a byte.
    let is_unmet = is_conditional && rows > 0 && body.int()? == 1 && body.take::<1>()? == [0];
    Some(if is_unmet { Answer::Unmet } else { Answer::Rows(rows) })
}

/// Types in types beyond this are not followed.
const DEEPEST_TYPE: u32 = 16;

/// The rest of a body.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.get(bytes..)?;
        Some(())
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn int(&mut self) -> Option<i32> {
        self.take().map(i32::from_be_bytes)
    }

    fn short(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    fn string(&mut self) -> Option<&[u8]> {
        let length = self.short()?;
        let (text, rest) = self.0.split_at_checked(length.into())?;
        self.0 = rest;
        Some(text)
    }

    fn skip_string(&mut self) -> Option<()> {
        self.string().map(|_| ())
    }

    /// A negative length is no value.
    fn skip_bytes(&mut self) -> Option<()> {
        let length = self.int()?;
        self.skip(usize::try_from(length).unwrap_or_default())
    }

    /// The description of a type (section 4.2.5.2, `<type_n>`).
    fn skip_type(&mut self, depth: u32) -> Option<()> {
        let deeper = depth.checked_sub(1)?;
        match self.short()? {
            // A class of the server's own.
            0x0000 => self.skip_string(),
            // List and set, map.
            0x0020 | 0x0022 => self.skip_type(deeper),
            0x0021 => {
                self.skip_type(deeper)?;
                self.skip_type(deeper)
            }
            // User-defined: keyspace, name, named fields.
            0x0030 => {
                self.skip_string()?;
                self.skip_string()?;
                for _ in 0..self.short()? {
                    self.skip_string()?;
                    self.skip_type(deeper)?;
                }
                Some(())
            }
            // Tuple.
            0x0031 => {
                for _ in 0..self.short()? {
                    self.skip_type(deeper)?;
                }
                Some(())
            }
            _ => Some(()),
        }
    }
}

/// Bytes that one read takes at most, and the longest beginning of a frame that is looked at.
const BUFFER_BYTES: usize = 128 << 10;

/// What has come from a server and is not understood yet.
pub(super) struct Incoming {
    buffer: Box<[u8]>,
    /// What is not yet understood: `buffer[start..end]`.
    start: usize,
    end: usize,
    /// The rest of a frame that did not fit.
    passing: Option<Passing>,
}

/// A frame that is passed over.
struct Passing {
    stream: i16,
    answer: Answer,
    /// Bytes that have still to come.
    left: usize,
}

impl Incoming {
    pub(super) fn new() -> Self {
        Self::with_capacity(BUFFER_BYTES)
    }

    /// `bytes` are more than a header has.
    fn with_capacity(bytes: usize) -> Self {
        Self { buffer: vec![0; bytes].into(), start: 0, end: 0, passing: None }
    }

    /// Where the next bytes belong; never empty once [`Self::next`] has said that it needs more.
    pub(super) fn space(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        &mut self.buffer[self.end..]
    }

    /// So many bytes were put there.
    pub(super) fn filled(&mut self, bytes: usize) {
        self.end += bytes;
    }

    /// The next answer and the id of its request; `None`: more bytes are needed.
    pub(super) fn next(&mut self) -> Result<Option<(i16, Answer)>, Broken> {
        if let Some(passing) = &mut self.passing {
            let here = passing.left.min(self.end - self.start);
            passing.left -= here;
            self.start += here;
            if passing.left > 0 {
                return Ok(None);
            }
            let whole = (passing.stream, passing.answer);
            self.passing = None;
            return Ok(Some(whole));
        }
        let bytes = &self.buffer[self.start..self.end];
        let Some(header) = Header::parse(bytes)? else { return Ok(None) };
        let body = &bytes[HEADER..];
        if let Some(body) = body.get(..header.length) {
            let answer = header.answer(body);
            self.start += HEADER + header.length;
            return Ok(Some((header.stream, answer)));
        }
        if bytes.len() == self.buffer.len() {
            self.passing =
                Some(Passing { stream: header.stream, answer: header.answer(body), left: header.length - body.len() });
            self.start = self.end;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
