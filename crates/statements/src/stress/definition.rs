//! The columns of a `CREATE TABLE`, of which a profile's `insert` is made.

use crate::script::tokens::{Token, tokens};

/// A table's columns by name, in the order of its definition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) columns: Vec<Defined>,
    pub(super) partition_key: Vec<String>,
    pub(super) clustering: Vec<String>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Defined {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// As much of a type as a profile's sizes depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Collection,
    Counter,
    Other,
}

/// The text without this keyspace before its names, and without the `;` and comments at its end.
pub(super) fn unqualified(cql: &str, keyspace: &str) -> Result<String, String> {
    let all = tokens(cql).map_err(|mistake| mistake.message)?;
    let is_of_it = |token: &&Token<'_>| !token.is_comment() && !token.is_symbol(';');
    let end = all.iter().rev().find(is_of_it).map_or(0, |last| last.span().end);
    let (mut text, mut from) = (String::new(), 0);
    for two in all.windows(2) {
        if two[1].span().end <= end && two[0].is_name() && two[0].name() == keyspace && two[1].is_symbol('.') {
            text.push_str(&cql[from..two[0].at]);
            from = two[1].span().end;
        }
    }
    text.push_str(&cql[from..end]);
    Ok(text.trim_start().to_owned())
}

/// What a definition without a keyspace defines.
pub(super) fn definition(cql: &str) -> Result<Definition, String> {
    let all = tokens(cql).map_err(|mistake| mistake.message)?;
    let all: Vec<Token<'_>> = all.into_iter().filter(|token| !token.is_comment()).collect();
    let open = all.iter().position(|token| token.is_symbol('(')).ok_or("it defines no columns")?;
    let mut defined = Definition::default();
    for item in items(&all[open + 1..]) {
        let Some(first) = item.first() else { continue };
        if first.is("PRIMARY") {
            key(&mut defined, item.get(3..).unwrap_or_default());
            continue;
        }
        let types = &item[1..];
        let outermost = types.iter().find(|token| !token.is("FROZEN") && !token.is_symbol('<'));
        let is = |names: &[&str]| outermost.is_some_and(|token| token.is_any(names));
        let kind = if is(&["TEXT", "ASCII", "VARCHAR", "BLOB"]) {
            Kind::Text
        } else if is(&["LIST", "SET", "MAP"]) {
            Kind::Collection
        } else if is(&["COUNTER"]) {
            Kind::Counter
        } else {
            Kind::Other
        };
        if types.iter().any(|token| token.is("PRIMARY")) {
            defined.partition_key = vec![first.name()];
        }
        defined.columns.push(Defined { name: first.name(), kind });
    }
    if defined.partition_key.is_empty() { Err("it has no primary key".to_owned()) } else { Ok(defined) }
}

/// What stands between the commas up to the bracket that closes the columns.
fn items<'a, 'b>(tokens: &'b [Token<'a>]) -> Vec<&'b [Token<'a>]> {
    let (mut found, mut depth, mut from) = (Vec::new(), 0_usize, 0);
    for (i, token) in tokens.iter().enumerate() {
        if token.is_symbol('(') || token.is_symbol('<') {
            depth += 1;
        } else if token.is_symbol('>') {
            depth = depth.saturating_sub(1);
        } else if token.is_symbol(')') {
            if depth == 0 {
                found.push(&tokens[from..i]);
                break;
            }
            depth -= 1;
        } else if token.is_symbol(',') && depth == 0 {
            found.push(&tokens[from..i]);
            from = i + 1;
        }
    }
    found
}

/// What stands behind `PRIMARY KEY (`.
fn key(defined: &mut Definition, tokens: &[Token<'_>]) {
    let is_several = tokens.first().is_some_and(|token| token.is_symbol('('));
    let mut is_partition = true;
    for token in tokens {
        if token.is_name() {
            let part = if is_partition { &mut defined.partition_key } else { &mut defined.clustering };
            part.push(token.name());
            is_partition &= is_several;
        } else if token.is_symbol(')') {
            is_partition = false;
        }
    }
}
