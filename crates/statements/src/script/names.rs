//! Names of tables in a statement's text: none may have a keyspace, and each gets the run's.

use super::tokens::Token;
use crate::mistake::Mistake;

/// Refuses a name that has a keyspace: the first of two names with a dot between them.
pub(super) fn unqualified(tokens: &[Token<'_>], at: usize) -> Result<(), Mistake> {
    let (Some(name), Some(dot), Some(after)) = (tokens.get(at), tokens.get(at + 1), tokens.get(at + 2)) else {
        return Ok(());
    };
    if !(name.is_name() && dot.is_symbol('.') && after.is_name()) {
        return Ok(());
    }
    let message =
        format!("{}.{} names a keyspace: the run has one of its own, so write {}", name.text, after.text, after.text);
    Err(Mistake::new(name.line, name.at..after.span().end, message))
}

/// Where the names of tables stand in a statement of the load: bytes from its beginning.
pub(super) fn tables(tokens: &[Token<'_>], begin: usize) -> Result<Vec<usize>, Mistake> {
    let mut places = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        // All three are reserved: no column can be called so without quotes.
        let Some(name) = tokens.get(i + 1).filter(|next| next.is_name()) else { continue };
        if token.is_any(&["FROM", "INTO", "UPDATE"]) {
            unqualified(tokens, i + 1)?;
            places.push(name.at - begin);
        }
    }
    Ok(places)
}

/// The text with `keyspace.` before each of these places, which are in order.
pub(super) fn qualified(text: &str, places: &[usize], keyspace: &str) -> String {
    let mut all = String::with_capacity(text.len() + places.len() * (keyspace.len() + 1));
    let mut from = 0;
    for place in places {
        all.push_str(&text[from..*place]);
        all.push_str(keyspace);
        all.push('.');
        from = *place;
    }
    all.push_str(&text[from..]);
    all
}

/// Where the last part of a name stands that begins there: that of `shop.carts` is `carts`.
pub(super) fn last_of_name(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let is_name = |at: usize| tokens.get(at).is_some_and(Token::is_name);
    let has_dot = tokens.get(at + 1).is_some_and(|dot| dot.is_symbol('.'));
    let last = if has_dot { at + 2 } else { at };
    is_name(last).then_some(last)
}
