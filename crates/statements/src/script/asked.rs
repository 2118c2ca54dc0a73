//! Which partition a recorded statement asks for, by its text and the columns of its table's key: no server is needed.

use super::recorded::words;
use super::schema::nesting;
use super::tokens::{Kind, Token};

/// What a statement asks of one table; a batch has several of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The keyspace that its text names.
    pub keyspace: Option<String>,
    /// The table, as the server spells it.
    pub table: String,
    /// Whether it is a `SELECT`.
    pub reads: bool,
    /// Columns for which it states one value, each with the number of that value's marker.
    columns: Vec<(String, usize)>,
}

impl Asked {
    /// All that a statement asks; nothing where it is none of a load.
    pub fn of(text: &str) -> Vec<Self> {
        let Some(tokens) = words(text) else { return Vec::new() };
        let markers = markers(&tokens);
        let mut all: Vec<Self> = Vec::new();
        let mut is_where = false;
        for (i, token) in tokens.iter().enumerate() {
            let next = |ahead: usize| tokens.get(i + ahead);
            if token.is_any(&["SELECT", "INSERT", "UPDATE", "DELETE"]) {
                is_where = false;
                let (keyspace, table, columns) = (None, String::new(), Vec::new());
                all.push(Self { keyspace, table, reads: token.is("SELECT"), columns });
            }
            let Some(asked) = all.last_mut() else { continue };
            if token.is_any(&["FROM", "INTO", "UPDATE"]) && next(1).is_some_and(Token::is_name) {
                let has_keyspace = next(2).is_some_and(|dot| dot.is_symbol('.')) && next(3).is_some_and(Token::is_name);
                let name = |ahead: usize| next(ahead).map(Token::name);
                let after = if has_keyspace { 4 } else { 2 };
                asked.keyspace = name(1).filter(|_| has_keyspace);
                asked.table = name(after - 1).unwrap_or_default();
                if token.is("INTO") {
                    asked.columns = inserted(&tokens, &markers, i + after).unwrap_or_default();
                }
            } else if token.is("WHERE") {
                is_where = true;
            } else if token.is_any(&["IF", "ORDER", "GROUP", "PER", "LIMIT", "ALLOW"]) {
                is_where = false;
            }
            let is_compared =
                is_where && token.is_any(&["WHERE", "AND"]) && next(2).is_some_and(|by| by.is_symbol('='));
            let marker = markers.get(i + 3).copied().flatten();
            if let (true, Some(column), Some(marker)) = (is_compared, next(1).filter(|name| name.is_name()), marker) {
                asked.columns.push((column.name(), marker));
            }
        }
        all.retain(|asked| !asked.table.is_empty());
        all
    }

    /// The markers of the values of these columns, in their order; `None`: it does not state one value for each.
    pub fn markers_of(&self, key: &[String]) -> Option<Vec<usize>> {
        let marker = |column: &String| self.columns.iter().find(|(name, _)| name == column).map(|(_, marker)| *marker);
        key.iter().map(marker).collect::<Option<Vec<usize>>>().filter(|markers| !markers.is_empty())
    }
}

/// The number of the marker that begins with each token.
pub(super) fn markers(tokens: &[Token<'_>]) -> Vec<Option<usize>> {
    let (mut number, mut braces) = (0, 0_usize);
    let mut all = Vec::with_capacity(tokens.len());
    for (i, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Symbol('{') => braces += 1,
            Kind::Symbol('}') => braces = braces.saturating_sub(1),
            _ => {}
        }
        let is_named = token.is_symbol(':') && braces == 0 && tokens.get(i + 1).is_some_and(Token::is_name);
        let is_marker = token.kind == Kind::Marker || is_named;
        all.push(is_marker.then_some(number));
        number += usize::from(is_marker);
    }
    all
}

/// The columns of an `INSERT` whose values are markers; their names begin with the bracket at `open`.
pub(super) fn inserted(tokens: &[Token<'_>], markers: &[Option<usize>], open: usize) -> Option<Vec<(String, usize)>> {
    tokens.get(open).filter(|token| token.is_symbol('('))?;
    let length = tokens[open..].iter().position(|token| token.is_symbol(')'))?;
    let (names, rest) = (&tokens[open + 1..open + length], open + length + 1);
    let is_values = tokens.get(rest)?.is("VALUES") && tokens.get(rest + 1)?.is_symbol('(');
    let mut names = names.iter().filter(|token| token.is_name() && is_values).map(Token::name);
    let mut found = Vec::new();
    let (mut begin, mut depth) = (rest + 2, 0_i32);
    for (at, token) in tokens.iter().enumerate().skip(begin) {
        let is_end = depth == 0 && (token.is_symbol(',') || token.is_symbol(')'));
        if is_end {
            let column = names.next()?;
            // A marker alone: one token, or a colon and a name.
            let tokens_of_marker = if tokens.get(begin).is_some_and(|first| first.is_symbol(':')) { 2 } else { 1 };
            let marker = markers.get(begin).copied().flatten();
            found.extend(marker.filter(|_| at == begin + tokens_of_marker).map(|marker| (column, marker)));
            begin = at + 1;
        }
        if depth == 0 && token.is_symbol(')') {
            break;
        }
        depth += nesting(token);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str, columns: &[&str]) -> Option<Vec<usize>> {
        let columns: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
        Asked::of(text)[0].markers_of(&columns)
    }

    #[test]
    fn the_key_is_found_wherever_its_values_stand() {
        type Case = (&'static str, &'static [&'static str], Option<Vec<usize>>);
        let cases: [Case; 15] = [
            ("SELECT * FROM carts WHERE shopper = ? AND item > ? LIMIT ?", &["shopper"], Some(vec![0])),
            ("SELECT a FROM shop.carts WHERE item = ? AND \"Shopper\" = ?", &["Shopper", "item"], Some(vec![1, 0])),
            (
                "UPDATE carts USING TTL ? SET n = ?, m = {'a:b': ?} WHERE shopper = :who IF n = ?",
                &["shopper"],
                Some(vec![3]),
            ),
            ("DELETE note FROM carts USING TIMESTAMP ? WHERE shopper = ? AND item IN ?", &["shopper"], Some(vec![1])),
            ("INSERT INTO carts (item, shopper, n) VALUES (?, ?, f(?, ?)) USING TTL ?", &["shopper"], Some(vec![1])),
            ("INSERT INTO carts (item, shopper, n) VALUES (now(), :s, ?)", &["shopper", "n"], Some(vec![0, 1])),
            ("INSERT INTO carts (m, n, shopper) VALUES ({'a': ?, 'b': ?}, 5, ?)", &["shopper"], Some(vec![2])),
            ("SELECT * FROM carts WHERE shopper = 5", &["shopper"], None),
            ("SELECT * FROM carts WHERE shopper IN (?, ?)", &["shopper"], None),
            ("SELECT * FROM carts WHERE token(shopper) > ?", &["shopper"], None),
            ("SELECT * FROM carts WHERE shopper = ?", &["shopper", "day"], None),
            ("INSERT INTO carts (shopper) VALUES (f(?))", &["shopper"], None),
            ("INSERT INTO carts JSON ?", &["shopper"], None),
            ("UPDATE carts SET n = ? WHERE item = ? IF shopper = ?", &["shopper"], None),
            ("SELECT * FROM carts", &[], None),
        ];
        for (text, columns, expected) in cases {
            assert_eq!(key(text, columns), expected, "{text}");
        }
    }

    #[test]
    fn a_batch_asks_of_each_of_its_tables() {
        let asked = Asked::of(
            "BEGIN UNLOGGED BATCH INSERT INTO x.b (v, k) VALUES (?, ?); UPDATE a SET v = ? WHERE k = ?; \
             DELETE FROM a WHERE k = ? APPLY BATCH",
        );
        let of = |asked: &Asked| (asked.keyspace.clone(), asked.table.clone(), asked.markers_of(&["k".to_owned()]));
        let found: Vec<_> = asked.iter().map(of).collect();
        assert_eq!(
            found,
            [
                (Some("x".to_owned()), "b".to_owned(), Some(vec![1])),
                (None, "a".to_owned(), Some(vec![3])),
                (None, "a".to_owned(), Some(vec![4])),
            ]
        );
        assert!(asked.iter().all(|asked| !asked.reads));
        assert_eq!(Asked::of("SELECT 'never ends"), []);
        assert_eq!(Asked::of("USE shop"), []);
    }
}
