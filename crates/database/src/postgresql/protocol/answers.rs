//! Messages that a server sends, from bytes however they are cut (pure), and what they say.
//!
//! Source: PostgreSQL 18, "Message Formats". Whoever listens at the server's address may send anything: a length is
//! held to [`LONGEST`], memory grows with the bytes that have come, never with those that are announced, and what is
//! cut off or makes no sense is an error.

/// Longest message that is taken, without its tag: as long as a frame of CQL may be. PostgreSQL has none above 1 GiB
/// (`MaxAllocSize`): a row with all of its values is one.
const LONGEST: usize = 256 << 20;
/// Tag and length.
const HEADER: usize = 5;
/// Bytes that a connection has for what comes.
const FIRST_BYTES: usize = 8 << 10;
/// Bytes that are kept for the next request.
pub const KEPT_BYTES: usize = 1 << 20;

/// Tags of messages.
pub mod tag {
    pub const AUTHENTICATION: u8 = b'R';
    pub const KEY_DATA: u8 = b'K';
    pub const PARSED: u8 = b'1';
    pub const BOUND: u8 = b'2';
    pub const ROW_DESCRIPTION: u8 = b'T';
    pub const ROW: u8 = b'D';
    pub const COMPLETE: u8 = b'C';
    pub const EMPTY: u8 = b'I';
    pub const COPY_IN: u8 = b'G';
    pub const ERROR: u8 = b'E';
    pub const READY: u8 = b'Z';
    /// What a server may say at any time: a notice, a parameter's value, a notification.
    pub const AT_ANY_TIME: [u8; 3] = [b'N', b'S', b'A'];
}

/// Bytes that are no message, or a message that does not say what it has to: what is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// Where a message is, until [`Incoming::space`] is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    pub tag: u8,
    start: usize,
    end: usize,
}

/// What has come from a server and was not taken yet: `bytes[start..end]`.
pub struct Incoming {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Incoming {
    pub fn new() -> Self {
        Self { bytes: vec![0; FIRST_BYTES], start: 0, end: 0 }
    }

    /// Where the next bytes belong; never empty once [`Self::next`] has said that it needs more.
    pub fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > KEPT_BYTES {
                self.bytes = vec![0; FIRST_BYTES];
            }
        } else if self.end == self.bytes.len() && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        } else if self.end == self.bytes.len() {
            self.bytes.resize(2 * self.end, 0);
        }
        &mut self.bytes[self.end..]
    }

    /// Whether all that has come was taken.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// So many bytes have come into [`Self::space`].
    pub fn filled(&mut self, bytes: usize) {
        self.end = (self.end + bytes).min(self.bytes.len());
    }

    /// The next message, but for those that may come at any time; `None`: not all of it has come.
    pub fn next(&mut self) -> Result<Option<Message>, Malformed> {
        loop {
            let held = &self.bytes[self.start..self.end];
            let Some([tag, length @ ..]) = held.first_chunk::<HEADER>() else { return Ok(None) };
            let length = u32::from_be_bytes(*length) as usize;
            if length < HEADER - 1 {
                return Err(Malformed("a message is shorter than its length"));
            }
            if length > LONGEST {
                return Err(Malformed("a message is longer than any that is taken (256 MiB)"));
            }
            if held.len() <= length {
                return Ok(None);
            }
            let message = Message { tag: *tag, start: self.start + HEADER, end: self.start + 1 + length };
            self.start = message.end;
            if !tag::AT_ANY_TIME.contains(&message.tag) {
                return Ok(Some(message));
            }
        }
    }

    /// What stands in a message.
    pub fn body(&self, message: Message) -> &[u8] {
        self.bytes.get(message.start..message.end).unwrap_or_default()
    }
}

/// An error of the server (ErrorResponse).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// SQLSTATE: five letters and digits.
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.hint {
            Some(hint) => write!(f, "{} ({hint})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// The error that a server sends: fields, each a letter and a text.
pub fn refused(body: &[u8]) -> Result<Refused, Malformed> {
    let cut = Malformed("an error is cut off");
    let (mut code, mut message, mut hint) = (None, None, None);
    let mut rest = body;
    loop {
        let (field, after) = rest.split_first().ok_or(cut)?;
        if *field == 0 {
            break;
        }
        let end = after.iter().position(|byte| *byte == 0).ok_or(cut)?;
        let text = Some(String::from_utf8_lossy(&after[..end]).into_owned());
        match field {
            b'C' => code = text,
            b'M' => message = text,
            b'H' => hint = text,
            _ => {}
        }
        rest = &after[end + 1..];
    }
    let (Some(code), Some(message)) = (code, message) else {
        return Err(Malformed("an error has no code or no message"));
    };
    Ok(Refused { code, message, hint })
}

/// How many rows a statement has read or written (CommandComplete): `SELECT 3`, `INSERT 0 1`; 0 where it says nothing
/// of rows.
pub fn rows(body: &[u8]) -> Result<u64, Malformed> {
    let text = body.strip_suffix(&[0]).and_then(|text| std::str::from_utf8(text).ok());
    let text = text.ok_or(Malformed("the end of a statement is no text"))?;
    Ok(text.rsplit(' ').next().and_then(|rows| rows.parse().ok()).unwrap_or(0))
}

/// The columns of a row (DataRow); `None`: NULL.
pub fn columns(body: &[u8]) -> Result<Vec<Option<&[u8]>>, Malformed> {
    let cut = Malformed("a row is cut off");
    let (count, mut rest) = body.split_first_chunk::<2>().ok_or(cut)?;
    let mut columns = Vec::new();
    for _ in 0..u16::from_be_bytes(*count) {
        let (length, after) = rest.split_first_chunk::<4>().ok_or(cut)?;
        // A negative length is NULL, and has no bytes.
        let length = usize::try_from(i32::from_be_bytes(*length)).ok();
        let (column, after) = after.split_at_checked(length.unwrap_or(0)).ok_or(cut)?;
        columns.push(length.map(|_| column));
        rest = after;
    }
    match rest {
        [] => Ok(columns),
        _ => Err(Malformed("a row is longer than its columns")),
    }
}

/// What a server asks of who logs in: which kind of answer, and what that is made with.
pub fn authentication(body: &[u8]) -> Result<(u32, &[u8]), Malformed> {
    let (kind, data) = body.split_first_chunk::<4>().ok_or(Malformed("the request for a login is cut off"))?;
    Ok((u32::from_be_bytes(*kind), data))
}
