//! The words of SQL text, as PostgreSQL splits it. No grammar.
//!
//! Source: PostgreSQL 18, "Lexical Structure", and its `scan.l`: a word begins with a letter, `_` or anything beyond
//! ASCII, and goes on with these, digits and `$`; `E'..'` has escapes by a backslash, other strings have none
//! (`standard_conforming_strings`, on since 9.1); `$tag$..$tag$` is a string; comments between `/*` and `*/` nest; `//`
//! is no comment.

use super::tokens::{Kind, Token, quoted, split};
use crate::mistake::Mistake;

/// All tokens of a text of SQL, comments among them; or where one begins that never ends.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, Mistake> {
    split(text, token)
}

/// The token that the text begins with.
fn token(rest: &str) -> Result<(Kind, usize), &'static str> {
    let up_to = |is_part: fn(char) -> bool| rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
    Ok(match rest.as_bytes() {
        [b'-', b'-', ..] => (Kind::LineComment, rest.find('\n').unwrap_or(rest.len())),
        [b'/', b'*', ..] => (Kind::BlockComment, comment(rest).ok_or("a comment")?),
        [b'\'', ..] => (Kind::Text, quoted(rest, '\'').ok_or("a string")?),
        [b'E' | b'e', b'\'', ..] => (Kind::Text, escaped(rest).ok_or("a string")?),
        [b'"', ..] => (Kind::Quoted, quoted(rest, '"').ok_or("a quoted name")?),
        [b'?', ..] => (Kind::Marker, 1),
        [b'$', ..] => match dollar_mark(rest) {
            Some(mark) => {
                let end = rest[mark.len()..].find(mark).ok_or("a string between $ marks")?;
                (Kind::Text, end + 2 * mark.len())
            }
            None => (Kind::Symbol('$'), 1),
        },
        [first, ..] if first.is_ascii_digit() => {
            (Kind::Number, up_to(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')))
        }
        _ => {
            let first = rest.chars().next().unwrap_or(' ');
            match begins_word(first) {
                true => (Kind::Word, up_to(|c: char| begins_word(c) || c.is_ascii_digit() || c == '$')),
                false => (Kind::Symbol(first), first.len_utf8()),
            }
        }
    })
}

const fn begins_word(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

/// Length of a comment with those within it.
fn comment(rest: &str) -> Option<usize> {
    let (mut at, mut depth) = (2, 1);
    while depth > 0 {
        at += rest[at..].find(['*', '/'])?;
        match &rest.as_bytes()[at..] {
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            _ => at += 1,
        }
    }
    Some(at)
}

/// Length of `E'..'`, where a backslash takes what follows it along, and a doubled mark stands for itself. What goes on
/// on another line has escapes, too.
fn escaped(rest: &str) -> Option<usize> {
    let mut at = 2;
    loop {
        at += rest[at..].find(['\'', '\\'])?;
        match &rest.as_bytes()[at..] {
            [b'\'', b'\'', ..] => at += 2,
            [b'\'', ..] => match goes_on(&rest[at + 1..]) {
                Some(length) => at += 1 + length,
                None => return Some(at + 1),
            },
            _ => at += 1 + rest[at + 1..].chars().next()?.len_utf8(),
        }
    }
}

/// Length up to the mark, and with it, by which a string goes on behind a line's end.
fn goes_on(rest: &str) -> Option<usize> {
    let gap = rest.find(|c: char| !c.is_ascii_whitespace())?;
    (rest[..gap].contains('\n') && rest[gap..].starts_with('\'')).then_some(gap + 1)
}

/// `$tag$`, which begins a string that it ends as well; `None`: a `$` by itself.
fn dollar_mark(rest: &str) -> Option<&str> {
    let tag = &rest[1..1 + rest[1..].find('$')?];
    let is_tag = tag.chars().all(|c| begins_word(c) || c.is_ascii_digit());
    (is_tag && !tag.starts_with(|c: char| c.is_ascii_digit())).then(|| &rest[..tag.len() + 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        tokens(text).unwrap().into_iter().map(|token| (token.kind, token.text)).collect()
    }

    #[test]
    fn strings_names_and_comments_of_postgresql_hide_what_is_in_them() {
        use Kind::{BlockComment, LineComment, Number, Quoted, Symbol, Text, Word};
        assert_eq!(kinds(r"E'it\'s ; :a' b"), [(Text, r"E'it\'s ; :a'"), (Word, "b")]);
        assert_eq!(kinds(r"e'a\\' b"), [(Text, r"e'a\\'"), (Word, "b")]);
        assert_eq!(kinds("E'a'\n  'it\\'s ;' b"), [(Text, "E'a'\n  'it\\'s ;'"), (Word, "b")]);
        assert_eq!(kinds("E'a' 'b'"), [(Text, "E'a'"), (Text, "'b'")], "on one line it is another");
        assert_eq!(kinds("e'a'';'';b'"), [(Text, "e'a'';'';b'")]);
        assert_eq!(kinds(r"'a\' b"), [(Text, r"'a\'"), (Word, "b")], "without E a backslash is one");
        assert_eq!(kinds("'it''s ;' \"a\"\";\""), [(Text, "'it''s ;'"), (Quoted, "\"a\"\";\"")]);
        assert_eq!(kinds("$t$ a $$ ; :b $t$c"), [(Text, "$t$ a $$ ; :b $t$"), (Word, "c")]);
        assert_eq!(kinds("$$ $t$ ; $$ x"), [(Text, "$$ $t$ ; $$"), (Word, "x")]);
        assert_eq!(kinds("$1 a$b$"), [(Symbol('$'), "$"), (Number, "1"), (Word, "a$b$")]);
        assert_eq!(kinds("/* a /* ; */ :b **/ c"), [(BlockComment, "/* a /* ; */ :b **/"), (Word, "c")]);
        assert_eq!(kinds("a//b"), [(Word, "a"), (Symbol('/'), "/"), (Symbol('/'), "/"), (Word, "b")]);
        assert_eq!(
            kinds("a -- b; ?\n_größe 1.5"),
            [(Word, "a"), (LineComment, "-- b; ?"), (Word, "_größe"), (Number, "1.5")]
        );
    }

    #[test]
    fn what_never_ends_is_refused_where_it_begins() {
        for (text, line, what) in [
            ("a\n'x''", 2, "a string"),
            (r"E'x\'", 1, "a string"),
            (r"E'x\", 1, "a string"),
            ("\"x", 1, "a quoted name"),
            ("a\n\n/* x /* */", 3, "a comment"),
            ("$a$ x $$", 1, "a string between $ marks"),
        ] {
            let mistake = tokens(text).unwrap_err();
            assert_eq!((mistake.line, mistake.message), (line, format!("{what} begins here and never ends")));
        }
    }
}
