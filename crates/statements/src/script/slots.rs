//! What the text of a statement shows of each `?`: the clause that it stands in, what it is compared by, and which
//! statement of a batch it belongs to. Its column and type are the server's to say.

use serde::{Deserialize, Serialize};

use super::tokens::{Kind, Token};
use crate::mistake::Mistake;

/// Where a bind marker stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Slot {
    pub(crate) clause: Clause,
    pub(crate) operator: Operator,
    pub(crate) verb: Verb,
    /// Which statement of a batch, from 0.
    pub(crate) part: u32,
}

/// The clause that a marker stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Clause {
    /// `VALUES` or `SET`: what is written.
    Written,
    /// `WHERE`.
    Where,
    /// `IF`.
    If,
    /// `USING`, `LIMIT`, `ORDER BY`, what is selected.
    Other,
}

/// What a marker is compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Operator {
    Equal,
    /// `>` or `>=`.
    Greater,
    /// `<` or `<=`.
    Less,
    In,
    Other,
}

/// What a statement does with rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verb {
    Select,
    Insert,
    Update,
    Delete,
}

const VERBS: [(&str, Verb); 4] =
    [("SELECT", Verb::Select), ("INSERT", Verb::Insert), ("UPDATE", Verb::Update), ("DELETE", Verb::Delete)];

/// The keywords that begin another clause; all but `VALUES` are reserved (Apache Cassandra 5.0, `reserved_keywords.txt`
/// of its documentation), so that no column can be called so without quotes.
const CLAUSES: [(&str, Clause); 8] = [
    ("VALUES", Clause::Written),
    ("SET", Clause::Written),
    ("WHERE", Clause::Where),
    ("IF", Clause::If),
    ("USING", Clause::Other),
    ("LIMIT", Clause::Other),
    ("ORDER", Clause::Other),
    ("FROM", Clause::Other),
];

/// The slots of a statement without its comments, in order.
pub(super) fn slots(tokens: &[Token<'_>]) -> Result<Vec<Slot>, Mistake> {
    let mut found = Vec::new();
    let (mut clause, mut verb, mut part) = (Clause::Other, Verb::Select, None);
    // What a marker in these brackets is compared by; and how many braces are open.
    let (mut brackets, mut braces) = (Vec::new(), 0_usize);
    for (i, token) in tokens.iter().enumerate() {
        let next = tokens.get(i + 1);
        match token.kind {
            Kind::Word => {
                if let Some((_, begun)) = VERBS.iter().find(|(word, _)| token.is(word)) {
                    (verb, clause) = (*begun, Clause::Other);
                    part = Some(part.map_or(0, |part| part + 1));
                }
                let begun = CLAUSES.iter().find(|(word, _)| token.is(word));
                let is_column = token.is("VALUES") && !next.is_some_and(|next| next.is_symbol('('));
                if let Some((_, begun)) = begun.filter(|_| !is_column) {
                    clause = *begun;
                }
            }
            Kind::Symbol('(') => brackets.push(operator(tokens, i, brackets.last().copied())),
            Kind::Symbol(')') => {
                brackets.pop();
            }
            Kind::Symbol('{') => braces += 1,
            Kind::Symbol('}') => braces = braces.saturating_sub(1),
            Kind::Symbol(':') if braces == 0 && next.is_some_and(Token::is_name) => {
                let message = "a named marker hides from us which column it belongs to; write ? instead";
                return Err(Mistake::new(token.line, token.span(), message));
            }
            Kind::Marker => found.push(Slot {
                clause,
                operator: operator(tokens, i, brackets.last().copied()),
                verb,
                part: part.unwrap_or(0),
            }),
            _ => {}
        }
    }
    Ok(found)
}

/// What stands before a marker or a bracket; within brackets what stands before those.
fn operator(tokens: &[Token<'_>], at: usize, around: Option<Operator>) -> Operator {
    let inherited = around.unwrap_or(Operator::Other);
    let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
    let Some(last) = before(1) else { return inherited };
    let is = |token: Option<&Token<'_>>, symbol| token.is_some_and(|token| token.is_symbol(symbol));
    match last.kind {
        Kind::Symbol('=') if is(before(2), '>') => Operator::Greater,
        Kind::Symbol('=') if is(before(2), '<') => Operator::Less,
        Kind::Symbol('=') if is(before(2), '!') => Operator::Other,
        Kind::Symbol('=') => Operator::Equal,
        Kind::Symbol('>') => Operator::Greater,
        Kind::Symbol('<') => Operator::Less,
        Kind::Word if last.is("IN") => Operator::In,
        // A function: what it is compared by.
        Kind::Word if is(tokens.get(at), '(') && !last.is_any(&["VALUES", "AND", "WHERE"]) => {
            operator(tokens, at - 1, around)
        }
        Kind::Symbol('(' | ',') => inherited,
        _ => Operator::Other,
    }
}
