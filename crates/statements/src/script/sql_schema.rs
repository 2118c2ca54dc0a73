//! What a schema of SQL creates: tables and their indexes.

use super::schema::{Creates, SchemaStatement, nesting_of_sql};
use super::tokens::Token;
use crate::mistake::Mistake;

const FOREIGN: &str = "a foreign key cannot be kept while tables are loaded beside each other: leave it out";
/// Words of a table that cannot be loaded or restored, each with the reason; and whether it is reserved, so that no
/// column is called so.
const REFUSED: [(&str, bool, &str); 5] = [
    ("REFERENCES", true, FOREIGN),
    ("FOREIGN", true, FOREIGN),
    ("PARTITION", false, "a partitioned table cannot be measured so far: create one table"),
    ("INHERITS", false, "a table that inherits cannot be measured so far: create one table"),
    ("CONCURRENTLY", true, "a schema is made whole, in one transaction, before anybody asks: leave it out"),
];

/// A statement that begins with `CREATE` or `ALTER`; `tokens` are without comments, `text` is all of it.
pub(super) fn schema(tokens: &[Token<'_>], text: &str) -> Result<SchemaStatement, Mistake> {
    let first = &tokens[0];
    let refused = |token: &Token<'_>, message: String| Err(Mistake::new(token.line, token.span(), message));
    let is_new = first.is("CREATE");
    let mut at = 1;
    let mut skip = |words: &[&str]| {
        let found = tokens.get(at).is_some_and(|token| token.is_any(words));
        at += usize::from(found);
        found
    };
    let is_unique = is_new && skip(&["UNIQUE"]);
    let is_table_alone = is_new && !is_unique && skip(&["UNLOGGED"]);
    let creates = if !is_unique && skip(&["TABLE"]) {
        Some(if is_new { Creates::Table } else { Creates::Change })
    } else {
        (is_new && !is_table_alone && skip(&["INDEX"])).then_some(Creates::Index)
    };
    while skip(&["CONCURRENTLY", "IF", "NOT", "EXISTS", "ONLY"]) {}
    let Some(creates) = creates else {
        let what = tokens.get(at).unwrap_or(first);
        let message = format!("{} {}: a schema here has tables and indexes", first.text, what.text);
        return refused(what, message);
    };
    let mut depth = 0;
    for token in tokens {
        depth += nesting_of_sql(token);
        // Columns stand in brackets.
        let found = REFUSED.iter().find(|(word, is_reserved, _)| token.is(word) && (*is_reserved || depth == 0));
        if let Some((word, _, why)) = found {
            return refused(token, format!("{word}: {why}"));
        }
    }
    let span = first.at..first.at + text.len();
    let made = |name: String| {
        let (line, text) = (first.line, text.to_owned());
        Ok(SchemaStatement { line, span, text, creates, name, names: vec![], is_sql: true })
    };
    let name = match tokens.get(at) {
        Some(on) if creates == Creates::Index && on.is("ON") => return made(String::new()),
        Some(name) if name.is_name() => name,
        _ => return refused(first, format!("{} of what?", first.text)),
    };
    match tokens.get(at + 1) {
        Some(dot) if dot.is_symbol('.') => {
            refused(name, format!("{}: the run has a database of its own; write the name alone", name.text))
        }
        Some(after) if creates == Creates::Table && !after.is_symbol('(') => {
            refused(after, "CREATE TABLE states its columns in brackets; its rows are loaded by iopslab".to_owned())
        }
        Some(_) => made(name.name()),
        None => refused(name, format!("{} {} without its columns", first.text, name.text)),
    }
}
