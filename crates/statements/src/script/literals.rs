//! Values that stand in the text of a statement, which may be somebody's: in their places are markers.

use super::tokens::{Kind, Token, tokens};

/// Words before a number that says how much is asked for, and is nobody's.
const AMOUNTS: [&str; 2] = ["LIMIT", "TTL"];
/// Values that are words. `NULL` stays: who writes it deletes.
const WORDS: [&str; 4] = ["TRUE", "FALSE", "NAN", "INFINITY"];

/// A text without its comments and values; and of each marker that it then has, which one of the given text's it was
/// (`None`: a value stood there). Empty where the text never ends.
pub(super) fn without_values(text: &str) -> (String, Vec<Option<usize>>) {
    let all = tokens(text).unwrap_or_default();
    let words: Vec<Token<'_>> = all.into_iter().filter(|token| !token.is_comment()).collect();
    let (mut plain, mut markers) = (String::with_capacity(text.len()), Vec::new());
    let (mut at, mut end, mut own) = (0, 0, 0);
    while let Some(token) = words.get(at) {
        let between = &text[end..token.at];
        plain.push_str(if between.trim().is_empty() { between } else { " " });
        let length = value(&words, at).unwrap_or_default();
        if length > 0 {
            plain.push('?');
            markers.push(None);
        } else {
            plain.push_str(token.text);
            if token.kind == Kind::Marker {
                markers.push(Some(own));
                own += 1;
            }
        }
        at += length.max(1);
        end = words[at - 1].span().end;
    }
    (plain, markers)
}

/// How many tokens the value has that begins with this one; `None`: none does.
fn value(words: &[Token<'_>], at: usize) -> Option<usize> {
    let token = &words[at];
    let before = at.checked_sub(1).map(|before| &words[before]);
    let is_after_symbol = before.is_some_and(|before| match before.kind {
        Kind::Symbol(symbol) => !matches!(symbol, ')' | ']'),
        _ => false,
    });
    match token.kind {
        Kind::Text => Some(1),
        Kind::Number if before.is_some_and(|before| before.is_any(&AMOUNTS)) => None,
        // `COUNT(1)` counts what `COUNT(*)` counts.
        Kind::Number if at >= 2 && words[at - 2].is("COUNT") && words[at - 1].is_symbol('(') => None,
        Kind::Number => Some(joined(words, at)),
        Kind::Word if is_uuid(&words[at..at + joined(words, at)]) => Some(joined(words, at)),
        Kind::Word if is_after_symbol && token.is_any(&WORDS) => Some(1),
        Kind::Word if is_after_symbol && is_duration(&words[at..at + joined(words, at)]) => Some(joined(words, at)),
        Kind::Symbol('-') if is_after_symbol && words.get(at + 1)?.kind == Kind::Number => {
            Some(1 + joined(words, at + 1))
        }
        Kind::Symbol('{' | '[') if is_after_symbol => collection(words, at),
        _ => None,
    }
}

/// How many tokens stand side by side from this one on: a UUID, `1e-5` and the like are several.
fn joined(words: &[Token<'_>], at: usize) -> usize {
    let is_part = |pair: &[Token<'_>]| match pair[1].kind {
        Kind::Word | Kind::Number | Kind::Symbol('-') => true,
        Kind::Symbol('+') => pair[0].kind == Kind::Number && pair[0].text.ends_with(['e', 'E']),
        _ => false,
    };
    let pairs = words[at..].windows(2);
    1 + pairs.take_while(|pair| pair[0].span().end == pair[1].at && is_part(pair)).count()
}

fn is_uuid(words: &[Token<'_>]) -> bool {
    let text: String = words.iter().map(|word| word.text).collect();
    let is_so = |(place, byte): (usize, u8)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(is_so)
}

/// `P1Y2M` and `P2026-01-31`, as ISO 8601 has durations; a `p99` is none. `1y2mo` begins as a number does.
fn is_duration(words: &[Token<'_>]) -> bool {
    let text: String = words.iter().map(|word| word.text).collect();
    let Some(rest) = text.strip_prefix('P') else { return false };
    let has_units = rest.contains(|letter: char| "YMWDHS".contains(letter)) || rest.matches('-').count() == 2;
    let is_part = |letter: char| letter.is_ascii_digit() || "YMWDTHS-".contains(letter);
    has_units && rest.chars().all(is_part) && rest.contains(|letter: char| letter.is_ascii_digit())
}

/// How many tokens a collection has in which no marker stands.
fn collection(words: &[Token<'_>], at: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (length, token) in (1..).zip(&words[at..]) {
        match token.kind {
            Kind::Marker => return None,
            Kind::Symbol('{' | '[' | '(') => depth += 1,
            Kind::Symbol('}' | ']' | ')') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_markers_and_the_own_markers_keep_their_numbers() {
        type Case = (&'static str, &'static str, &'static [Option<usize>]);
        let cases: [Case; 16] = [
            ("SELECT a FROM t WHERE k = ? LIMIT 10", "SELECT a FROM t WHERE k = ? LIMIT 10", &[Some(0)]),
            ("SELECT a FROM t WHERE k = 'Jo''s' AND c > ?", "SELECT a FROM t WHERE k = ? AND c > ?", &[None, Some(0)]),
            (
                "UPDATE t SET n = -1.5e-3, m = ? WHERE k = 12e45678-e89b-12d3-a456-426614174000",
                "UPDATE t SET n = ?, m = ? WHERE k = ?",
                &[None, Some(0), None],
            ),
            ("UPDATE t SET n = 2.5e+3 WHERE k = ?", "UPDATE t SET n = ? WHERE k = ?", &[None, Some(0)]),
            ("DELETE FROM t WHERE k = ee345678-e89b-12d3-a456-426614174000", "DELETE FROM t WHERE k = ?", &[None]),
            ("UPDATE t SET n = n - 1 WHERE k=0xcafe", "UPDATE t SET n = n - ? WHERE k=?", &[None, None]),
            ("UPDATE t SET n = n-1 WHERE k = ?", "UPDATE t SET n = n-? WHERE k = ?", &[None, Some(0)]),
            (
                "UPDATE t SET a = {'x': [1, 2]}, b = null WHERE k = ?",
                "UPDATE t SET a = ?, b = null WHERE k = ?",
                &[None, Some(0)],
            ),
            (
                "UPDATE t SET a = {'x': ?}, b['y'] = true WHERE k = ?",
                "UPDATE t SET a = {?: ?}, b[?] = ? WHERE k = ?",
                &[None, Some(0), None, None, Some(1)],
            ),
            (
                "SELECT a /* Jo */ FROM t -- asks\nWHERE k IN (1, ?)",
                "SELECT a FROM t WHERE k IN (?, ?)",
                &[None, Some(0)],
            ),
            (
                "INSERT INTO t (k, d) VALUES ($$it's$$, 1h30m) USING TTL 60",
                "INSERT INTO t (k, d) VALUES (?, ?) USING TTL 60",
                &[None, None],
            ),
            (
                "INSERT INTO t (k, s) VALUES (?, {1, 2}) USING TIMESTAMP 17",
                "INSERT INTO t (k, s) VALUES (?, ?) USING TIMESTAMP ?",
                &[Some(0), None, None],
            ),
            (
                "UPDATE t SET d = P3DT4H WHERE k = P2026-01-31 AND c = -1",
                "UPDATE t SET d = ? WHERE k = ? AND c = ?",
                &[None, None, None],
            ),
            (
                "SELECT P99, p1d FROM t WHERE k = ABCDEFAB-abcd-abcd-abcd-abcdefabcdef",
                "SELECT P99, p1d FROM t WHERE k = ?",
                &[None],
            ),
            ("SELECT count(1) FROM t WHERE count = 7", "SELECT count(1) FROM t WHERE count = ?", &[None]),
            ("SELECT 'never ends", "", &[]),
        ];
        for (text, plain, markers) in cases {
            assert_eq!(without_values(text), (plain.to_owned(), markers.to_vec()), "{text}");
        }
    }
}
