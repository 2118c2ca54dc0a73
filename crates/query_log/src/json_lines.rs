//! JSON Lines: `{"at": MICROSECONDS, "statement": TEXT, "values": [...], "consistency": LEVEL}`, a request a line.
//!
//! A value is null, or its bytes in the protocol's binary form (native_protocol_v4.spec, section 6) as a text of
//! hexadecimal digits after `0x`. `values` and `consistency` may be left out, `serial_consistency` and `keyspace` (of
//! the connection) may be there. Lines need not be in the order of their times.

use serde::Deserialize;

use crate::error::{AUDIT_LOG, At, LogError};

/// What every line of Cassandra's audit log has, whatever the logger writes before it.
const AUDIT_FIELDS: [&str; 2] = ["|type:", "|category:"];

/// A line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    pub(crate) at: u64,
    pub(crate) statement: String,
    #[serde(default)]
    values: Vec<Option<String>>,
    pub(crate) consistency: Option<String>,
    pub(crate) serial_consistency: Option<String>,
    pub(crate) keyspace: Option<String>,
}

/// Gives each line to `take`.
pub(crate) fn read(
    bytes: &[u8],
    mut take: impl FnMut(&Line, &[Option<Vec<u8>>]) -> Result<(), String>,
) -> Result<(), LogError> {
    for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1..) {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let refused = |message: String| LogError::new(At::Line(number), message);
        let line: Line = serde_json::from_slice(line).map_err(|error| {
            let text = String::from_utf8_lossy(line);
            let is_audit = AUDIT_FIELDS.iter().all(|field| text.contains(field));
            refused(if is_audit { AUDIT_LOG.to_owned() } else { described(&error) })
        })?;
        let values = line.values.iter().enumerate().map(|(i, value)| match value {
            None => Ok(None),
            Some(text) => digits(text).map(Some).ok_or_else(|| no_value(i + 1)),
        });
        let values = values.collect::<Result<Vec<_>, String>>().map_err(refused)?;
        take(&line, &values).map_err(refused)?;
    }
    Ok(())
}

/// Without the place: it is in one line, whose number is said.
fn described(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    format!("{what} (column {})", error.column())
}

fn no_value(number: usize) -> String {
    format!("value {number} is neither null nor hexadecimal digits after 0x, such as \"0x0000002a\" for the int 42")
}

/// `0x616263`.
fn digits(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.strip_prefix("0x")?.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some((digit(*high)? << 4) | digit(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn bytes_are_pairs_of_digits() {
        assert_eq!(digits("0x00fFa1"), Some(vec![0, 0xff, 0xa1]));
        assert_eq!(digits("0x"), Some(vec![]));
        for text in ["", "61", "0x6", "0xg0", "0X61", "0x6\u{e9}"] {
            assert_eq!(digits(text), None, "{text}");
        }
    }
}
