//! The words of CQL text: what is a name, a string, a comment, a bind marker. No grammar.
//!
//! Source: the lexer of Apache Cassandra 5.0 (`src/antlr/Lexer.g`): strings in `'` (doubled inside) or between `$$`,
//! names in `"` (doubled inside), comments from `--` or `//` to the end of the line and between `/*` and `*/`.

use std::ops::Range;

use crate::mistake::Mistake;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in double quotes.
    Quoted,
    /// A number, a blob (`0x..`) or the first part of a UUID.
    Number,
    /// A string.
    Text,
    /// `--` or `//` to the end of the line.
    LineComment,
    /// `/* */`.
    BlockComment,
    /// `?`.
    Marker,
    /// Any other character.
    Symbol(char),
}

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    /// First byte in the whole text.
    pub(crate) at: usize,
    /// From 1.
    pub(crate) line: usize,
}

impl Token<'_> {
    pub(crate) fn span(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    pub(crate) fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::LineComment | Kind::BlockComment)
    }

    /// Whether it is this keyword (given in capitals).
    pub(crate) fn is(&self, keyword: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(keyword)
    }

    /// Whether it is one of these keywords.
    pub(crate) fn is_any(&self, keywords: &[&str]) -> bool {
        keywords.iter().any(|keyword| self.is(keyword))
    }

    pub(crate) fn is_symbol(&self, symbol: char) -> bool {
        self.kind == Kind::Symbol(symbol)
    }

    /// Whether it may name something.
    pub(crate) fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::Quoted)
    }

    /// The name as the server has it: in lower case unless it is quoted.
    pub(crate) fn name(&self) -> String {
        match self.kind {
            Kind::Quoted => self.text[1..self.text.len() - 1].replace("\"\"", "\""),
            _ => self.text.to_ascii_lowercase(),
        }
    }
}

/// All tokens of a text of CQL, comments among them; or where one begins that never ends.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, Mistake> {
    split(text, token)
}

/// What a text begins with: the kind of token and its length in bytes, or what begins there and does not end.
pub(super) type First = fn(&str) -> Result<(Kind, usize), &'static str>;

/// All tokens of a text, each as `token` finds it.
pub(super) fn split(text: &str, token: First) -> Result<Vec<Token<'_>>, Mistake> {
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            line += usize::from(first == '\n');
            at += first.len_utf8();
            continue;
        }
        let rest = &text[at..];
        let (kind, length) = token(rest).map_err(|what| {
            let message = format!("{what} begins here and never ends");
            Mistake::new(line, at..at + first.len_utf8(), message)
        })?;
        let text = &rest[..length];
        found.push(Token { kind, text, at, line });
        line += text.matches('\n').count();
        at += length;
    }
    Ok(found)
}

/// The token of CQL that the text begins with.
fn token(rest: &str) -> Result<(Kind, usize), &'static str> {
    let to_end_of_line = || rest.find('\n').unwrap_or(rest.len());
    let until = |mark: &str, from: usize| rest[from..].find(mark).map(|end| from + end + mark.len());
    let while_word = |also: &[char]| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || also.contains(&c);
        rest.find(|c| !is_part(c)).unwrap_or(rest.len())
    };
    Ok(match rest.as_bytes() {
        [b'-', b'-', ..] | [b'/', b'/', ..] => (Kind::LineComment, to_end_of_line()),
        [b'/', b'*', ..] => (Kind::BlockComment, until("*/", 2).ok_or("a comment")?),
        [b'$', b'$', ..] => (Kind::Text, until("$$", 2).ok_or("a string between $$")?),
        [b'\'', ..] => (Kind::Text, quoted(rest, '\'').ok_or("a string")?),
        [b'"', ..] => (Kind::Quoted, quoted(rest, '"').ok_or("a quoted name")?),
        [b'?', ..] => (Kind::Marker, 1),
        [first, ..] if first.is_ascii_digit() => (Kind::Number, while_word(&['.'])),
        [first, ..] if first.is_ascii_alphabetic() => (Kind::Word, while_word(&[])),
        _ => {
            let symbol = rest.chars().next().unwrap_or(' ');
            (Kind::Symbol(symbol), symbol.len_utf8())
        }
    })
}

/// Length of what stands between two of these marks, where a doubled one stands for itself.
pub(super) fn quoted(rest: &str, mark: char) -> Option<usize> {
    let mut at = 1;
    loop {
        at += rest[at..].find(mark)? + 1;
        if !rest[at..].starts_with(mark) {
            return Some(at);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        tokens(text).unwrap().into_iter().map(|token| (token.kind, token.text)).collect()
    }

    #[test]
    fn strings_names_and_comments_hide_what_is_in_them() {
        use Kind::{BlockComment, LineComment, Marker, Number, Quoted, Symbol, Text, Word};
        assert_eq!(kinds("a = 'it''s; ?'"), [(Word, "a"), (Symbol('='), "="), (Text, "'it''s; ?'")]);
        assert_eq!(kinds("\"a\"\"b;\" ?"), [(Quoted, "\"a\"\"b;\""), (Marker, "?")]);
        assert_eq!(kinds("x -- y; ?\nz"), [(Word, "x"), (LineComment, "-- y; ?"), (Word, "z")]);
        assert_eq!(kinds("x // y; ?\nz"), [(Word, "x"), (LineComment, "// y; ?"), (Word, "z")]);
        assert_eq!(kinds("/* a; -- \n*/x"), [(BlockComment, "/* a; -- \n*/"), (Word, "x")]);
        assert_eq!(kinds("$$ return ';'; $$ 0.1"), [(Text, "$$ return ';'; $$"), (Number, "0.1")]);
        assert_eq!(kinds("a.b"), [(Word, "a"), (Symbol('.'), "."), (Word, "b")]);
        assert_eq!(kinds("é"), [(Symbol('é'), "é")]);
    }

    #[test]
    fn lines_are_counted_through_strings_and_comments() {
        let lines: Vec<usize> = tokens("a 'x\ny' b\n/* \n\n */ c").unwrap().iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 1, 2, 3, 5]);
    }

    #[test]
    fn what_never_ends_is_refused_where_it_begins() {
        for (text, line, what) in [
            ("a\n'x''", 2, "a string"),
            ("\"x", 1, "a quoted name"),
            ("a\n\n/* x", 3, "a comment"),
            ("$$ x", 1, "a string between $$"),
        ] {
            let mistake = tokens(text).unwrap_err();
            assert_eq!((mistake.line, mistake.message), (line, format!("{what} begins here and never ends")));
        }
    }

    #[test]
    fn a_quoted_name_keeps_its_case() {
        let names: Vec<String> = tokens("Cart \"Cart\" \"a\"\"b\"").unwrap().iter().map(Token::name).collect();
        assert_eq!(names, ["cart", "Cart", "a\"b"]);
    }
}
