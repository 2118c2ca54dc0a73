//! Java's `.properties` syntax, with the place of every entry kept for error messages.
//!
//! Source: `java.util.Properties.load` (Java SE 17 API documentation): `#` and `!` comments, `=`, `:` or white space
//! between key and value, `\` at the end of a line to continue it, `\t \n \r \f \uXXXX` escapes.

use std::ops::Range;

/// One `key = value`, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: String,
    /// Without white space at its end, which Java keeps and YCSB then stumbles over.
    pub(super) value: String,
    /// Bytes of the key in the text.
    pub(super) key_span: Range<usize>,
    /// Bytes of the value in the text; empty, behind the key, when there is none.
    pub(super) value_span: Range<usize>,
}

/// A `\u` that is not followed by four hexadecimal digits: its bytes in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MalformedEscape(pub(super) Range<usize>);

/// A decoded character of a logical line.
#[derive(Clone, Copy)]
struct Character {
    value: char,
    start: usize,
    end: usize,
    /// An escaped character never separates key and value.
    escaped: bool,
}

/// All entries in the order of the text, repeated keys included.
pub(super) fn parse(text: &str) -> Result<Vec<Entry>, MalformedEscape> {
    let mut entries = Vec::new();
    let mut lines = natural_lines(text);
    while let Some(line) = lines.next() {
        let mut line = trim_start(line);
        if line.1.is_empty() || line.1.starts_with(['#', '!']) {
            continue;
        }
        let mut characters = Vec::new();
        while decode(line, &mut characters)? {
            match lines.next() {
                Some(next) => line = trim_start(next),
                None => break,
            }
        }
        entries.extend(split(&characters));
    }
    Ok(entries)
}

/// Lines with the offset of their first byte; `\n`, `\r` and `\r\n` end a line.
fn natural_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    // A byte order mark is no part of the first key.
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut offset = start;
    // `\r\n` gives an empty line between its two characters, except behind a continued line, where it would end the
    // continuation; so the pair is taken together.
    text[start..]
        .split_inclusive('\n')
        .flat_map(|line| {
            let line = line.strip_suffix('\n').map_or(line, |l| l.strip_suffix('\r').unwrap_or(l));
            line.split('\r')
        })
        .map(move |line| {
            let begin = offset;
            let mut end = begin + line.len();
            for terminator in ['\r', '\n'] {
                if text[end..].starts_with(terminator) {
                    end += 1;
                    if terminator == '\r' && !text[end..].starts_with('\n') {
                        break;
                    }
                }
            }
            offset = end;
            (begin, line)
        })
}

fn is_white(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{c}')
}

fn trim_start((offset, line): (usize, &str)) -> (usize, &str) {
    let trimmed = line.trim_start_matches(is_white);
    (offset + line.len() - trimmed.len(), trimmed)
}

/// Appends the characters of a natural line; true if the line goes on in the next one.
fn decode((offset, line): (usize, &str), out: &mut Vec<Character>) -> Result<bool, MalformedEscape> {
    let mut characters = line.char_indices();
    while let Some((position, c)) = characters.next() {
        let start = offset + position;
        if c != '\\' {
            out.push(Character { value: c, start, end: start + c.len_utf8(), escaped: false });
            continue;
        }
        let Some((_, escaped)) = characters.next() else { return Ok(true) };
        let value = match escaped {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\u{c}',
            'u' => {
                let digits = characters.as_str().get(..4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
                let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                let Some(code) = code else { return Err(MalformedEscape(start..offset + line.len())) };
                characters.nth(3);
                // Half of a surrogate pair: no property of YCSB contains one.
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => other,
        };
        let end = offset + line.len() - characters.as_str().len();
        out.push(Character { value, start, end, escaped: true });
    }
    Ok(false)
}

/// Splits a logical line at the first separator.
fn split(characters: &[Character]) -> Option<Entry> {
    let separates = |c: &Character| !c.escaped && (is_white(c.value) || matches!(c.value, '=' | ':'));
    let white = |c: &Character| !c.escaped && is_white(c.value);
    let last = characters.last()?;
    let key_end = characters.iter().position(separates).unwrap_or(characters.len());
    let mut value_start = key_end;
    let skip_white = |from: usize| from + characters[from..].iter().take_while(|c| white(c)).count();
    value_start = skip_white(value_start);
    if characters.get(value_start).is_some_and(|c| !c.escaped && matches!(c.value, '=' | ':')) {
        value_start = skip_white(value_start + 1);
    }
    let value_end = characters.iter().rposition(|c| !white(c)).map_or(value_start, |p| p + 1).max(value_start);
    let (key, value) = (&characters[..key_end], &characters[value_start..value_end]);
    let span = |part: &[Character], fallback: usize| match (part.first(), part.last()) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => fallback..fallback,
    };
    let key_span = span(key, characters[0].start);
    Some(Entry {
        key: key.iter().map(|c| c.value).collect(),
        value: value.iter().map(|c| c.value).collect(),
        value_span: span(value, last.end),
        key_span,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        parse(text).unwrap().into_iter().map(|e| (e.key, e.value)).collect()
    }

    #[test]
    fn every_form_of_the_java_documentation() {
        for text in [
            "key=value",
            "key = value  ",
            "\t key:value",
            "key value",
            "  key  :  value\r\n",
            "key=val\\\n    ue",
            "key=val\\\r\n    ue\r\n",
            "key=val\\\r\tue\r",
            "\u{feff}key=value",
            "# comment = 1\n! another\n\nkey=value",
            "k\\u0065y=v\\u0061lue",
        ] {
            assert_eq!(pairs(text), [("key".into(), "value".into())], "{text:?}");
        }
        assert_eq!(pairs("a\\=b\\ c = d=e"), [("a=b c".into(), "d=e".into())]);
        assert_eq!(pairs("empty\nalso ="), [("empty".into(), String::new()), ("also".into(), String::new())]);
        assert_eq!(pairs("path=C:\\\\temp # kept"), [("path".into(), "C:\\temp # kept".into())]);
    }

    #[test]
    fn spans_point_into_the_text() {
        let text = "# é\r\nfirst = 1\rsecond=\\u0041bc \n third : 3";
        let entries = parse(text).unwrap();
        let at = |range: &Range<usize>| text[range.clone()].to_owned();
        let spans: Vec<_> = entries.iter().map(|e| (at(&e.key_span), at(&e.value_span))).collect();
        assert_eq!(
            spans,
            [("first", "1"), ("second", "\\u0041bc"), ("third", "3")].map(|(k, v)| (k.to_owned(), v.to_owned()))
        );
    }

    #[test]
    fn a_malformed_escape_is_an_error_as_in_java() {
        assert_eq!(parse("ab=\\u12x4"), Err(MalformedEscape(3..9)));
        assert_eq!(parse("ab=\\u12é"), Err(MalformedEscape(3..9)));
    }
}
