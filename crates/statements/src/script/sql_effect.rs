//! What a statement of SQL does besides being answered, as its words show it.

use super::tokens::Token;
use crate::mistake::Mistake;

/// Words by which a statement writes wherever they stand: `FOR UPDATE` writes its locks into the rows, and so does
/// `SHARE` after `FOR` or `FOR KEY`; `SELECT ... INTO` makes a table.
const WRITING: [&str; 5] = ["INSERT", "UPDATE", "DELETE", "MERGE", "INTO"];
/// PostgreSQL's own functions that write (its documentation: "Sequence Manipulation Functions", "Transaction ID and
/// Snapshot Information Functions", "Server-Side Large Object Functions", NOTIFY). No file creates functions of its
/// own.
const WRITING_FUNCTIONS: [&str; 14] = [
    "nextval",
    "setval",
    "pg_current_xact_id",
    "txid_current",
    "pg_notify",
    "lo_create",
    "lo_creat",
    "lo_from_bytea",
    "lo_import",
    "lo_put",
    "lo_truncate",
    "lo_truncate64",
    "lo_unlink",
    "lowrite",
];
/// Beginnings of the names of its functions for advisory locks ("Advisory Lock Functions").
const LOCKING: [&str; 3] = ["pg_advisory_lock", "pg_advisory_unlock", "pg_try_advisory_lock"];

/// The names that stand before a bracket: functions, and what is spelt as they are.
fn called<'t>(tokens: &'t [Token<'_>]) -> impl Iterator<Item = (&'t Token<'t>, String)> {
    let called = tokens.windows(2).filter(|two| two[0].is_name() && two[1].is_symbol('('));
    called.map(|two| (&two[0], two[0].name()))
}

/// Whether it writes anything.
pub(super) fn writes(tokens: &[Token<'_>]) -> bool {
    tokens.iter().any(|token| token.is_any(&WRITING))
        || tokens.windows(2).any(|two| two[0].is_any(&["FOR", "KEY"]) && two[1].is("SHARE"))
        || called(tokens).any(|(_, name)| WRITING_FUNCTIONS.contains(&name.as_str()))
}

/// Whether it adds rows: an `INSERT` that no `ON CONFLICT` turns into something else.
pub(super) fn adds_rows(tokens: &[Token<'_>]) -> bool {
    let gives_way = tokens.windows(2).any(|two| two[0].is("ON") && two[1].is("CONFLICT"));
    tokens[0].is("INSERT") && !gives_way
}

/// What is wrong with a lock of the session: requests share their connections, so that it outlives the one that took
/// it.
pub(super) fn session_lock(tokens: &[Token<'_>]) -> Option<Mistake> {
    let (token, name) = called(tokens).find(|(_, name)| LOCKING.iter().any(|begins| name.starts_with(begins)))?;
    let message = format!(
        "{name} is of a session, and requests share their sessions: write pg_advisory_xact_lock, which COMMIT releases"
    );
    Some(Mistake::new(token.line, token.span(), message))
}
