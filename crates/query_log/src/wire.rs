//! Chronicle's BinaryWire, as far as Cassandra writes it: names of fields, whole numbers, texts, bytes, nulls.
//!
//! Source: Chronicle-Wire 2.20.117 (Cassandra 4.1) and 2.23.39 (5.0), `BinaryWireCode.java` and `BinaryWire.java`. A
//! value begins with one byte, its code; a code below 0x80 is a number itself, which 2.20 alone writes. A writer takes
//! a short form of a number, which for a long one may be a `float` that it equals. Numbers are little-endian. Lengths
//! of texts are *stop-bit* encoded: seven bits a byte, the least significant first, the high bit says that more follow.

use crate::error::{At, LogError};

/// Codes of values.
mod code {
    pub const BYTES_LENGTH8: u8 = 0x80;
    pub const BYTES_LENGTH16: u8 = 0x81;
    pub const BYTES_LENGTH32: u8 = 0x82;
    pub const U8_ARRAY: u8 = 0x8A;
    pub const PADDING32: u8 = 0x8E;
    pub const PADDING: u8 = 0x8F;
    pub const FLOAT32: u8 = 0x90;
    pub const FLOAT64: u8 = 0x91;
    pub const UUID: u8 = 0xA0;
    pub const UINT8: u8 = 0xA1;
    pub const UINT16: u8 = 0xA2;
    pub const UINT32: u8 = 0xA3;
    pub const INT8: u8 = 0xA4;
    pub const INT16: u8 = 0xA5;
    pub const INT32: u8 = 0xA6;
    pub const INT64: u8 = 0xA7;
    pub const INT64_HEX: u8 = 0xAF;
    pub const FALSE: u8 = 0xB0;
    pub const TRUE: u8 = 0xB1;
    pub const FIELD_NAME_ANY: u8 = 0xB7;
    pub const STRING_ANY: u8 = 0xB8;
    pub const EVENT_NAME: u8 = 0xB9;
    pub const NULL: u8 = 0xBB;
    pub const COMMENT: u8 = 0xBE;
    /// Names of 0 to 31 bytes.
    pub const FIELD_NAME_0: u8 = 0xC0;
    pub const FIELD_NAME_31: u8 = 0xDF;
    /// Texts of 0 to 31 bytes.
    pub const STRING_0: u8 = 0xE0;
}

/// Bytes of a document, read from the front.
pub(crate) struct Wire<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Of its first byte in the file.
    begin: u64,
}

impl<'a> Wire<'a> {
    pub(crate) fn new(bytes: &'a [u8], begin: u64) -> Self {
        Self { bytes, at: 0, begin }
    }

    /// An error about what is read next.
    pub(crate) fn error(&self, message: impl Into<String>) -> LogError {
        LogError::new(At::Byte(self.begin + self.at as u64), message)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], LogError> {
        let left = &self.bytes[self.at..];
        let Some(taken) = left.get(..count) else {
            return Err(self.error(format!("{count} bytes belong here, and the record has {} more", left.len())));
        };
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], LogError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn byte(&mut self) -> Result<u8, LogError> {
        Ok(self.array::<1>()?[0])
    }

    /// The next code that is neither padding nor a comment; `None` at the end.
    fn peek(&mut self) -> Result<Option<u8>, LogError> {
        loop {
            match self.bytes.get(self.at).copied() {
                Some(code::PADDING) => self.at += 1,
                Some(code::PADDING32) => {
                    self.at += 1;
                    let length = u32::from_le_bytes(self.array()?);
                    self.take(length as usize)?;
                }
                Some(code::COMMENT) => {
                    self.at += 1;
                    self.stop_bit_bytes()?;
                }
                next => return Ok(next),
            }
        }
    }

    fn next_code(&mut self) -> Result<u8, LogError> {
        self.peek()?;
        self.byte()
    }

    /// A length of stop-bit encoding, and so many bytes.
    fn stop_bit_bytes(&mut self) -> Result<&'a [u8], LogError> {
        let mut length = 0_u64;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            length |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                return self.take(length);
            }
        }
        Err(self.error("a length has more than 63 bits"))
    }

    /// The name of the next field; `None` at the end of the document.
    pub(crate) fn field(&mut self) -> Result<Option<&'a [u8]>, LogError> {
        let Some(next) = self.peek()? else { return Ok(None) };
        match next {
            code::FIELD_NAME_0..=code::FIELD_NAME_31 => {
                self.at += 1;
                self.take(usize::from(next - code::FIELD_NAME_0)).map(Some)
            }
            code::FIELD_NAME_ANY | code::EVENT_NAME => {
                self.at += 1;
                self.stop_bit_bytes().map(Some)
            }
            other => Err(self.error(format!("the name of a field belongs here, not code {other:#04x}"))),
        }
    }

    /// A whole number.
    pub(crate) fn integer(&mut self) -> Result<i64, LogError> {
        let code = self.next_code()?;
        let number = match code {
            0..0x80 => i64::from(code),
            code::UINT8 => i64::from(self.byte()?),
            code::UINT16 => i64::from(u16::from_le_bytes(self.array()?)),
            code::UINT32 => i64::from(u32::from_le_bytes(self.array()?)),
            code::INT8 => i64::from(i8::from_le_bytes(self.array()?)),
            code::INT16 => i64::from(i16::from_le_bytes(self.array()?)),
            code::INT32 => i64::from(i32::from_le_bytes(self.array()?)),
            code::INT64 | code::INT64_HEX => i64::from_le_bytes(self.array()?),
            // The writer takes these only where the number is the same.
            code::FLOAT32 => f32::from_le_bytes(self.array()?) as i64,
            code::FLOAT64 => f64::from_le_bytes(self.array()?) as i64,
            other => return Err(self.error(format!("a whole number belongs here, not code {other:#04x}"))),
        };
        Ok(number)
    }

    /// A number of things, each of which takes at least `least_bytes` of what is left: nothing is allocated for more.
    pub(crate) fn count(&mut self, least_bytes: usize) -> Result<usize, LogError> {
        let count = self.integer()?;
        let most = (self.bytes.len() - self.at) / least_bytes.max(1);
        usize::try_from(count)
            .ok()
            .filter(|count| *count <= most)
            .ok_or_else(|| self.error(format!("{count} values cannot follow: there is room for {most}")))
    }

    /// A text; `None`: null.
    pub(crate) fn text(&mut self) -> Result<Option<&'a str>, LogError> {
        let Some(bytes) = self.text_bytes()? else { return Ok(None) };
        std::str::from_utf8(bytes)
            .map(Some)
            .map_err(|error| self.error(format!("the text before is no UTF-8: {error}")))
    }

    /// A text that may have any letter; `None`: null. Each of Java's `char`s is written by itself
    /// (`BytesInternal.appendUtf8Char`), so that a letter beyond U+FFFF has two surrogates of three bytes each.
    pub(crate) fn any_text(&mut self) -> Result<Option<String>, LogError> {
        let Some(bytes) = self.text_bytes()? else { return Ok(None) };
        let text = std::str::from_utf8(bytes).map(str::to_owned).ok().or_else(|| of_chars(bytes));
        text.map(Some).ok_or_else(|| self.error("the text before is no UTF-8"))
    }

    fn text_bytes(&mut self) -> Result<Option<&'a [u8]>, LogError> {
        match self.next_code()? {
            code::NULL => Ok(None),
            code::STRING_ANY => self.stop_bit_bytes().map(Some),
            short @ code::STRING_0.. => self.take(usize::from(short - code::STRING_0)).map(Some),
            other => Err(self.error(format!("a text belongs here, not code {other:#04x}"))),
        }
    }

    /// Bytes; `None`: null.
    pub(crate) fn bytes(&mut self) -> Result<Option<&'a [u8]>, LogError> {
        let code = self.next_code()?;
        let length = match code {
            code::NULL => return Ok(None),
            code::BYTES_LENGTH8 => u32::from(self.byte()?),
            code::BYTES_LENGTH16 => u32::from(u16::from_le_bytes(self.array()?)),
            code::BYTES_LENGTH32 => u32::from_le_bytes(self.array()?),
            other => return Err(self.error(format!("bytes belong here, not code {other:#04x}"))),
        };
        match self.take(length as usize)? {
            // The array's own code is counted with it.
            [code::U8_ARRAY, bytes @ ..] => Ok(Some(bytes)),
            _ => Err(self.error("what is before is no array of bytes")),
        }
    }

    /// Passes over a value of a field that nobody here knows.
    pub(crate) fn skip(&mut self) -> Result<(), LogError> {
        let code = self.next_code()?;
        let length = match code {
            0..0x80 | code::NULL | code::TRUE | code::FALSE => 0,
            code::UINT8 | code::INT8 => 1,
            code::UINT16 | code::INT16 => 2,
            code::UINT32 | code::INT32 | code::FLOAT32 => 4,
            code::INT64 | code::INT64_HEX | code::FLOAT64 => 8,
            code::UUID => 16,
            code::BYTES_LENGTH8 => usize::from(self.byte()?),
            code::BYTES_LENGTH16 => usize::from(u16::from_le_bytes(self.array()?)),
            code::BYTES_LENGTH32 => u32::from_le_bytes(self.array()?) as usize,
            code::STRING_ANY => return self.stop_bit_bytes().map(|_| ()),
            code::STRING_0.. => usize::from(code - code::STRING_0),
            other => return Err(self.error(format!("a value of code {other:#04x} is not known"))),
        };
        self.take(length).map(|_| ())
    }
}

/// The text of these UTF-16 units, each of which has the bytes that UTF-8 gives a letter of that number.
fn of_chars(bytes: &[u8]) -> Option<String> {
    let low = |byte: &u8| u16::from(*byte & 0x3f);
    let (mut units, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let [first, after @ ..] = rest {
        let (unit, left) = match (*first, after) {
            (0..0x80, left) => (u16::from(*first), left),
            (0xC0..0xE0, [second @ 0x80..0xC0, left @ ..]) => ((u16::from(*first & 0x1f) << 6) | low(second), left),
            (0xE0..0xF0, [second @ 0x80..0xC0, third @ 0x80..0xC0, left @ ..]) => {
                ((u16::from(*first & 0x0f) << 12) | (low(second) << 6) | low(third), left)
            }
            _ => return None,
        };
        units.push(unit);
        rest = left;
    }
    String::from_utf16(&units).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(bytes: &[u8]) -> Wire<'_> {
        Wire::new(bytes, 100)
    }

    #[test]
    fn numbers_have_a_form_that_holds_them() {
        for (bytes, number) in [
            (&[5][..], 5),
            (&[0x8F, 0x8F, 7], 7),
            (&[0xA1, 200], 200),
            (&[0xA2, 0x34, 0x12], 0x1234),
            (&[0xA4, 0xFF], -1),
            (&[0xA5, 0x00, 0x80], i64::from(i16::MIN)),
            (&[0xA7, 1, 0, 0, 0, 0, 0, 0, 0x80], i64::MIN + 1),
            // The "no timestamp" of Cassandra is -2^63, which a float equals.
            (&[0x90, 0, 0, 0, 0xDF], i64::MIN),
        ] {
            assert_eq!(wire(bytes).integer(), Ok(number), "{bytes:?}");
        }
        let refused = wire(&[0xE1, b'1']).integer().unwrap_err();
        assert_eq!(refused.to_string(), "byte 101: a whole number belongs here, not code 0xe1");
    }

    #[test]
    fn texts_and_bytes_have_their_lengths_before_them() {
        assert_eq!(wire(&[0xE2, b'a', b'b']).text(), Ok(Some("ab")));
        assert_eq!(wire(&[0xB8, 0x02, b'a', b'b']).text(), Ok(Some("ab")));
        assert_eq!(wire(&[0xBB]).text(), Ok(None));
        let long = [&[0xB8, 0xAC, 0x02][..], &[b'x'; 300]].concat();
        assert_eq!(wire(&long).text().unwrap().map(str::len), Some(300));
        assert_eq!(wire(&[0x80, 3, 0x8A, 1, 2]).bytes(), Ok(Some(&[1, 2][..])));
        assert_eq!(wire(&[0x80, 1, 0x8A]).bytes(), Ok(Some(&[][..])));
        assert_eq!(wire(&[0x81, 3, 0, 0x8A, 1, 2]).bytes(), Ok(Some(&[1, 2][..])));
    }

    /// U+1F6D2 as Chronicle writes it, and as UTF-8 has it.
    #[test]
    fn a_letter_beyond_16_bits_is_two_of_java_s_chars() {
        let of_java = [0xED, 0xA0, 0xBD, 0xED, 0xBB, 0x92];
        let written = |bytes: &[u8]| [&[0xE0 + bytes.len() as u8][..], bytes].concat();
        let read = |bytes: &[u8]| wire(&written(bytes)).any_text().map(Option::unwrap_or_default);
        assert_eq!(read(&[&of_java[..], "=ü€".as_bytes()].concat()).unwrap(), "\u{1F6D2}=ü€");
        assert_eq!(read("\u{1F6D2}".as_bytes()).unwrap(), "\u{1F6D2}");
        assert_eq!(wire(&[0xBB]).any_text(), Ok(None));
        for broken in [&of_java[..3], &of_java[..5], &[0xFF], &[0xC3, 0x41]] {
            assert!(read(broken).unwrap_err().message.contains("no UTF-8"), "{broken:?}");
        }
    }

    #[test]
    fn a_length_beyond_the_record_is_refused_before_anything_is_taken() {
        for bytes in [&[0xB8, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F][..], &[0x82, 0xFF, 0xFF, 0xFF, 0xFF], &[0xE5, b'a']] {
            let mut read = wire(bytes);
            let error = if bytes[0] == 0x82 { read.bytes().unwrap_err() } else { read.text().unwrap_err() };
            assert!(error.message.contains("bytes belong here"), "{error}");
        }
        let endless = [&[0xB8][..], &[0xFF; 12]].concat();
        assert!(wire(&endless).text().is_err());
        assert_eq!(wire(&[9, 1, 1]).count(1).unwrap_err().message, "9 values cannot follow: there is room for 2");
        assert_eq!(wire(&[2, 1, 1]).count(1), Ok(2));
        assert!(wire(&[0xA4, 0xFF]).count(1).is_err());
    }

    #[test]
    fn what_is_not_known_is_passed_over() {
        let mut read = wire(&[0xC1, b'a', 0xA7, 1, 2, 3, 4, 5, 6, 7, 8, 0xC1, b'b', 5, 0x8F]);
        assert_eq!(read.field(), Ok(Some(&b"a"[..])));
        assert_eq!(read.skip(), Ok(()));
        assert_eq!(read.field(), Ok(Some(&b"b"[..])));
        assert_eq!(read.integer(), Ok(5));
        assert_eq!(read.field(), Ok(None));
    }
}
