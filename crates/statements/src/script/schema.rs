//! What the schema's statements create.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::names::{last_of_name, qualified, unqualified};
use super::sql_tokens;
use super::tokens::{Kind, Token, tokens};
use crate::mistake::Mistake;

/// What a statement of the schema makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Creates {
    /// A table.
    Table,
    /// A user-defined type.
    Type,
    /// A secondary index, also a custom one (SAI).
    Index,
    /// A materialised view.
    View,
    /// A function.
    Function,
    /// An aggregate.
    Aggregate,
    /// `ALTER` of a table, type or view.
    Change,
}

/// A statement of the schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaStatement {
    /// Of its first word, from 1.
    pub line: usize,
    /// Bytes of the file.
    pub span: Range<usize>,
    /// As in the file, without the `;`.
    pub text: String,
    /// What it makes.
    pub creates: Creates,
    /// Of what it creates or alters, as the server spells it: in lower case unless it is quoted. Empty for an index
    /// without a name.
    pub name: String,
    /// Where a keyspace goes in the text, in bytes.
    pub(super) names: Vec<usize>,
    /// Whether it is SQL; else it is CQL.
    pub(super) is_sql: bool,
}

impl SchemaStatement {
    /// The text with every table, type, view or function that it creates, alters or reads in this keyspace, which goes
    /// in as it is given.
    pub fn cql(&self, keyspace: &str) -> String {
        qualified(&self.text, &self.names, keyspace)
    }

    /// The options that it states after `WITH`, each with its line of the file.
    pub fn options(&self) -> Vec<(String, usize)> {
        let tokens = self.tokens();
        let with = tokens.iter().position(|token| token.is("WITH")).unwrap_or(tokens.len());
        let mut depth = 0_i32;
        let mut options = Vec::new();
        for pair in tokens[with..].windows(2) {
            depth += nesting(&pair[0]);
            if depth == 0 && pair[0].is_name() && pair[1].is_symbol('=') {
                options.push((pair[0].name(), self.line + pair[0].line - 1));
            }
        }
        options
    }

    /// Names of the columns of text or bytes outside the key of a table that it creates.
    pub fn text_columns(&self) -> Vec<String> {
        let tokens = self.tokens();
        let Some(open) = tokens.iter().position(|token| token.is_symbol('(')) else { return Vec::new() };
        if self.creates != Creates::Table {
            return Vec::new();
        }
        let mut depth = 1_i32;
        let mut columns = vec![Vec::new()];
        for token in &tokens[open + 1..] {
            depth += if self.is_sql { nesting_of_sql(token) } else { nesting(token) };
            if depth == 0 {
                break;
            }
            if depth == 1 && token.is_symbol(',') {
                columns.push(Vec::new());
            } else if let Some(column) = columns.last_mut() {
                column.push(token);
            }
        }
        // The whole of `PRIMARY KEY (a, b)`; of `a text PRIMARY KEY` the column.
        let of_key = columns.iter().filter(|column| column.iter().any(|token| token.is("PRIMARY")));
        let of_key: Vec<String> = of_key
            .flat_map(|column| match column[0].is("PRIMARY") {
                true => column.get(2..).unwrap_or_default(),
                false => &column[..1],
            })
            .filter(|token| token.is_name())
            .map(|token| token.name())
            .collect();
        let is_text = |column: &&Vec<&Token<'_>>| column.get(1).is_some_and(|of| of.is_any(&TEXTS));
        let names = columns.iter().filter(is_text).map(|column| column[0].name());
        names.filter(|name| !of_key.contains(name)).collect()
    }

    /// Of a materialised view: the table that it is of, as the server spells it.
    pub(super) fn source(&self) -> String {
        let tokens = self.tokens();
        let from = tokens.iter().position(|token| token.is("FROM"));
        from.and_then(|from| tokens.get(from + 1)).map(Token::name).unwrap_or_default()
    }

    /// Of its text, without comments.
    pub(super) fn tokens(&self) -> Vec<Token<'_>> {
        // The file that it is of was read so already.
        let tokens = if self.is_sql { sql_tokens::tokens(&self.text) } else { tokens(&self.text) };
        let tokens = tokens.unwrap_or_default();
        tokens.into_iter().filter(|token| !token.is_comment()).collect()
    }
}

/// The types that have bytes of a length that is stated.
const TEXTS: [&str; 7] = ["TEXT", "VARCHAR", "ASCII", "BLOB", "BYTEA", "CHAR", "CHARACTER"];

/// What a token of SQL adds to the depth of brackets: `<` and `>` compare.
pub(super) fn nesting_of_sql(token: &Token<'_>) -> i32 {
    match token.kind {
        Kind::Symbol('<' | '>') => 0,
        _ => nesting(token),
    }
}

/// What a token of CQL adds to the depth of brackets.
pub(super) fn nesting(token: &Token<'_>) -> i32 {
    match token.kind {
        Kind::Symbol('(' | '<' | '{' | '[') => 1,
        Kind::Symbol(')' | '>' | '}' | ']') => -1,
        _ => 0,
    }
}

/// The words of each kind after `CREATE` (without `OR REPLACE`, `CUSTOM` and `MATERIALIZED`).
const KINDS: [(&str, Creates); 7] = [
    ("TABLE", Creates::Table),
    ("COLUMNFAMILY", Creates::Table),
    ("TYPE", Creates::Type),
    ("INDEX", Creates::Index),
    ("VIEW", Creates::View),
    ("FUNCTION", Creates::Function),
    ("AGGREGATE", Creates::Aggregate),
];
/// What may stand between `CREATE` and the kind.
const BEFORE: [&str; 4] = ["OR", "REPLACE", "CUSTOM", "MATERIALIZED"];

/// What a statement of the schema makes or alters, and where its name stands without a keyspace; `None`: it is another
/// one, or an index without a name. Here names may have keyspaces, as where a server has written them down.
pub(super) fn schema_of_server(tokens: &[Token<'_>]) -> Option<(Creates, usize)> {
    let is_new = tokens.first()?.is("CREATE");
    let mut at = 1 + tokens[1..].iter().take_while(|token| token.is_any(&BEFORE)).count();
    let known = KINDS.iter().find(|(word, _)| tokens.get(at).is_some_and(|kind| kind.is(word)))?.1;
    let creates = match known {
        creates if is_new => creates,
        Creates::Table | Creates::Type if tokens[0].is("ALTER") => Creates::Change,
        _ => return None,
    };
    at += 1;
    while tokens.get(at).is_some_and(|token| token.is_any(&["IF", "NOT", "EXISTS"])) {
        at += 1;
    }
    Some((creates, last_of_name(tokens, at)?))
}

/// A statement that begins with `CREATE` or `ALTER`; `tokens` are without comments, `text` is all of it.
pub(super) fn schema(tokens: &[Token<'_>], text: &str) -> Result<SchemaStatement, Mistake> {
    let first = &tokens[0];
    let is_new = first.is("CREATE");
    let refused = |token: &Token<'_>, message: String| Err(Mistake::new(token.line, token.span(), message));
    let mut at = 1 + tokens[1..].iter().take_while(|token| token.is_any(&BEFORE)).count();
    let Some(kind) = tokens.get(at) else {
        return refused(first, format!("{} of what?", first.text));
    };
    if kind.is_any(&["KEYSPACE", "SCHEMA"]) {
        let message = format!("{} {}: the run has a keyspace of its own; remove this", first.text, kind.text);
        return refused(kind, message);
    }
    let known = KINDS.iter().find(|(word, _)| kind.is(word)).map(|(_, creates)| *creates);
    let creates = match known {
        Some(creates) if is_new => creates,
        Some(Creates::Table | Creates::Type | Creates::View) => Creates::Change,
        _ => {
            let message = format!(
                "{} {}: a schema here has tables, types, indexes, materialised views, functions and aggregates",
                first.text, kind.text
            );
            return refused(kind, message);
        }
    };
    at += 1;
    if tokens.get(at).is_some_and(|token| token.is("IF")) {
        at += 1 + usize::from(is_new);
        at += usize::from(tokens.get(at).is_some_and(|token| token.is("EXISTS")));
    }
    (0..tokens.len()).try_for_each(|at| unqualified(tokens, at))?;
    let mut names = Vec::new();
    let mut name = String::new();
    match tokens.get(at) {
        Some(on) if creates == Creates::Index && on.is("ON") => {}
        Some(token) if token.is_name() => {
            name = token.name();
            // An index lies where its table does.
            if creates != Creates::Index {
                names.push(token.at - first.at);
            }
        }
        _ => return refused(kind, format!("{} without a name", kind.text)),
    }
    let source = match creates {
        Creates::Index => "ON",
        Creates::View => "FROM",
        _ => "",
    };
    let source = tokens[at..].iter().position(|token| token.is(source)).and_then(|on| tokens.get(at + on + 1));
    names.extend(source.filter(|table| table.is_name()).map(|table| table.at - first.at));
    let span = first.at..first.at + text.len();
    Ok(SchemaStatement { line: first.line, span, text: text.to_owned(), creates, name, names, is_sql: false })
}
