//! The options of a request as the native protocol has them: its level, and the values of a single statement.
//!
//! Source: native_protocol_v4.spec and native_protocol_v5.spec, section 4.1.4 (`<query_parameters>`); Cassandra's
//! `QueryOptions.Codec`, which writes them into the log. Numbers are big-endian.

use crate::error::LogError;
use crate::values::{Value, split};

/// What is read of the options.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options<'a> {
    pub(crate) consistency: &'static str,
    /// Where it is not the default, `serial`.
    pub(crate) serial: Option<&'static str>,
    pub(crate) values: Vec<Value<'a>>,
    /// Whether it asks for a page of a result after the first one.
    pub(crate) is_later_page: bool,
}

/// By their codes (section 3, `[consistency]`); 11 is Cassandra's own.
const LEVELS: [&str; 12] = [
    "any",
    "one",
    "two",
    "three",
    "quorum",
    "all",
    "local_quorum",
    "each_quorum",
    "serial",
    "local_serial",
    "local_one",
    "node_local",
];

/// The flags, which since version 5 have four bytes instead of one.
const VALUES: u32 = 0x01;
const PAGE_SIZE: u32 = 0x04;
const PAGING_STATE: u32 = 0x08;
const SERIAL_CONSISTENCY: u32 = 0x10;
const NAMES_FOR_VALUES: u32 = 0x40;
/// The first version whose flags have four bytes.
const WIDE_FLAGS: i64 = 5;

impl<'a> Options<'a> {
    /// `fail` makes an error of what is wrong.
    pub(crate) fn read(bytes: &'a [u8], version: i64, fail: impl Fn(&str) -> LogError) -> Result<Self, LogError> {
        let mut rest = Rest(bytes);
        rest.options(version).map_err(|what| fail(&format!("query-options: {what}")))
    }
}

/// What has not been read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn options(&mut self, version: i64) -> Result<Options<'a>, &'static str> {
        let consistency = self.level()?;
        let flags = match version {
            WIDE_FLAGS.. => u32::from_be_bytes(self.array()?),
            _ => u32::from(self.array::<1>()?[0]),
        };
        let has = |flag: u32| flags & flag != 0;
        let mut values = Vec::new();
        if has(VALUES) {
            let count = usize::from(u16::from_be_bytes(self.array()?));
            for _ in 0..count {
                if has(NAMES_FOR_VALUES) {
                    let length = usize::from(u16::from_be_bytes(self.array()?));
                    self.take(length)?;
                }
                values.push(self.value()?);
            }
        }
        if has(PAGE_SIZE) {
            self.take(4)?;
        }
        if has(PAGING_STATE) {
            self.value()?;
        }
        let serial = if has(SERIAL_CONSISTENCY) { Some(self.level()?) } else { None };
        // What comes after (timestamp, keyspace, now) is not sent again.
        Ok(Options { consistency, serial, values, is_later_page: has(PAGING_STATE) })
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or("they end too early")?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn level(&mut self) -> Result<&'static str, &'static str> {
        let code = u16::from_be_bytes(self.array()?);
        LEVELS.get(usize::from(code)).copied().ok_or("there is no such consistency level")
    }

    fn value(&mut self) -> Result<Value<'a>, &'static str> {
        let (value, rest) = split(self.0).ok_or("a value ends too early")?;
        self.0 = rest;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::At;

    fn read(bytes: &[u8], version: i64) -> Result<Options<'_>, LogError> {
        Options::read(bytes, version, |what| LogError::new(At::Byte(0), what))
    }

    #[test]
    fn options_of_both_protocols_are_read() {
        // LOCAL_QUORUM; values, page size, serial consistency, timestamp; two values, one of them null.
        let after = [&[0, 2, 0, 0, 0, 1, b'a'][..], &[0xff; 4], &[0, 0, 0x13, 0x88], &[0, 9], &[0; 8]].concat();
        let (v4, v5) = ([&[0, 6, 0x35][..], &after].concat(), [&[0, 6, 0, 0, 0, 0x35][..], &after].concat());
        for (bytes, version) in [(v4, 4), (v5, 5)] {
            let options = read(&bytes, version).unwrap();
            assert_eq!((options.consistency, options.serial), ("local_quorum", Some("local_serial")));
            assert_eq!(
                (options.values.as_slice(), options.is_later_page),
                (&[Value::Bytes(b"a"), Value::Null][..], false)
            );
        }
        let least = Options { consistency: "one", serial: None, values: vec![], is_later_page: false };
        assert_eq!(read(&[0, 1, 0], 4).unwrap(), least);
        assert_eq!(read(&[0, 1, 8, 0, 0, 0, 1, 7], 4).unwrap(), Options { is_later_page: true, ..least });
    }

    #[test]
    fn what_is_cut_or_unknown_is_refused() {
        for bytes in [&[0][..], &[0, 1], &[0, 99, 0], &[0, 1, 1, 0, 2, 0, 0, 0, 9, 1], &[0, 1, 1, 0xff, 0xff]] {
            let message = read(bytes, 4).unwrap_err().message;
            assert!(message.starts_with("query-options: "), "{message}");
        }
    }
}
