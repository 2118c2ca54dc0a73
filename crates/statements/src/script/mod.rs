//! A user's CQL file: the schema, and the statements of the load.
//!
//! ```text
//! CREATE TABLE cart (user uuid, item int, amount int, PRIMARY KEY (user, item));
//!
//! -- statement read_cart weight 40 consistency local_quorum
//! SELECT * FROM cart WHERE user = ? LIMIT ?;
//!
//! -- statement take weight 5 consistency quorum serial local_serial
//! UPDATE cart SET amount = ? WHERE user = ? AND item = ? IF amount = ?;
//! ```
//!
//! * Statements end with `;`; a batch from `BEGIN` to `APPLY BATCH` is one.
//! * `CREATE` and `ALTER` are the schema, in order. Names have no keyspace: the run has one of its own.
//! * Everything else is asked of the database in the load and needs a *directive* before it: a comment of one line
//!   whose first word is `statement`, then
//!   `NAME weight W [consistency LEVEL] [serial serial|local_serial]`. A name is unique and has a small letter first,
//!   then small letters, digits and `_`, at most 40 in all; there are at most 64 statements. Weights need not sum to
//!   anything.
//! * Bind markers are `?`.
//!
//! Nothing else of CQL is parsed: whether a statement is right, and what its markers are, the server says when it is
//! prepared. A file of SQL is read by `sql`.

mod agreement;
mod asked;
mod directive;
mod index;
mod literals;
mod logged;
mod names;
mod recorded;
mod schema;
mod sent;
mod slots;
mod sql;
mod sql_effect;
mod sql_schema;
mod sql_tokens;
mod statement;
pub(crate) mod tokens;

pub use agreement::Agreement;
pub use asked::Asked;
pub use directive::SerialConsistency;
pub use index::IndexKind;
pub use logged::{Logged, LoggedMarker, MarkerOf, NotOwn};
pub use recorded::Recorded;
pub use schema::{Creates, SchemaStatement};
pub use sent::{Sql, SqlMarker, SqlStep};
pub(crate) use slots::{Clause, Operator, Slot, Verb};
pub use statement::{Batch, Effect, Statement};

use serde::{Deserialize, Serialize};

use crate::mistake::Mistake;
use directive::{Before, Directive, is_directive};
use statement::{batch, effect};
use tokens::{Token, tokens};

/// Most statements of a file: each has latencies and figures of its own.
pub const MOST_STATEMENTS: usize = 64;
const NO_STATEMENT: &str = "no statement for the load: write `-- statement NAME weight W` before one";

/// A file, parsed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// In the order of the file.
    pub schema: Vec<SchemaStatement>,
    /// At least one, in the order of the file; of a recording, instead of the file's.
    pub statements: Vec<Statement>,
}

impl Script {
    /// The file's schema and statements, or all its mistakes in their order. `levels`: the words that `consistency` may
    /// have.
    pub fn parse(text: &str, levels: &[&str]) -> Result<Self, Vec<Mistake>> {
        let script = Self::read(text, levels)?;
        if script.statements.is_empty() {
            return Err(vec![Mistake::new(1, 0..0, NO_STATEMENT)]);
        }
        Ok(script)
    }

    /// The schema and statements of a file of SQL, or all its mistakes in their order.
    pub fn parse_sql(text: &str) -> Result<Self, Vec<Mistake>> {
        let (schema, statements) = sql::read(text)?;
        let many = statements.get(MOST_STATEMENTS);
        let many = many.map(|statement| (statement.line, statement.span.clone(), more()));
        let none = || (1, 0..0, NO_STATEMENT.to_owned());
        match many.or_else(|| statements.is_empty().then(none)) {
            Some((line, span, message)) => Err(vec![Mistake::new(line, span, message)]),
            None => Ok(Self { schema, statements }),
        }
    }

    /// The schema of a file that has no statements, because they were recorded elsewhere ([`Recorded`]).
    pub fn parse_schema(text: &str, levels: &[&str]) -> Result<Self, Vec<Mistake>> {
        let script = Self::read(text, levels)?;
        let stray = |statement: &Statement| {
            let message = "a replay asks what was recorded: the file has the schema alone, so remove this";
            Mistake::new(statement.line, statement.span.clone(), message)
        };
        match script.statements.as_slice() {
            [] => Ok(script),
            statements => Err(statements.iter().map(stray).collect()),
        }
    }

    fn read(text: &str, levels: &[&str]) -> Result<Self, Vec<Mistake>> {
        let all = tokens(text).map_err(|mistake| vec![mistake])?;
        let script = Self { schema: vec![], statements: vec![] };
        let mut reading = Reading { text, script, before: Before::default(), mistakes: vec![] };
        let mut statement: Vec<Token<'_>> = Vec::new();
        for token in all {
            if token.is_comment() {
                if is_directive(&token) {
                    reading.before.read(token, levels, !statement.is_empty(), &mut reading.mistakes);
                }
            } else if token.is_symbol(';') && !is_open_batch(&statement) {
                reading.statement(&statement);
                statement.clear();
            } else {
                statement.push(token);
            }
        }
        if is_open_batch(&statement) {
            reading.refuse(&statement[0], "this batch has no APPLY BATCH");
        } else {
            reading.statement(&statement);
        }
        let Reading { script, mut mistakes, .. } = reading;
        if mistakes.is_empty() {
            return Ok(script);
        }
        mistakes.sort_by_key(|mistake| mistake.span.start);
        Err(mistakes)
    }

    /// The share of one statement in all, 0..=1.
    pub fn share(&self, statement: usize) -> f64 {
        let all: f64 = self.statements.iter().map(|statement| statement.weight).sum();
        self.statements[statement].weight / all
    }

    /// What `schema`, the text of a `schema.cql` that a server has written beside a snapshot, says of this script's
    /// tables and types.
    pub fn agreement(&self, schema: &str) -> Agreement {
        agreement::agreement(&self.schema, schema)
    }

    /// The tables that the schema creates, in its order.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        let tables = self.schema.iter().filter(|statement| statement.creates == Creates::Table);
        tables.map(|statement| statement.name.as_str())
    }

    /// The materialised views that the schema creates, in its order, each with the table that it is of.
    pub fn views(&self) -> impl Iterator<Item = (&str, String)> {
        let views = self.schema.iter().filter(|statement| statement.creates == Creates::View);
        views.map(|statement| (statement.name.as_str(), statement.source()))
    }
}

fn more() -> String {
    format!("more than {MOST_STATEMENTS} statements")
}

/// Whether what is read so far is a batch that has not been applied.
fn is_open_batch(statement: &[Token<'_>]) -> bool {
    statement.first().is_some_and(|first| first.is("BEGIN"))
        && !statement.windows(2).any(|two| two[0].is("APPLY") && two[1].is("BATCH"))
}

/// A file that is being read.
struct Reading<'a> {
    text: &'a str,
    script: Script,
    before: Before<'a>,
    mistakes: Vec<Mistake>,
}

impl<'a> Reading<'a> {
    fn refuse(&mut self, at: &Token<'_>, message: impl Into<String>) {
        self.mistakes.push(Mistake::new(at.line, at.span(), message));
    }

    /// One whole statement without its comments; of no tokens it is none.
    fn statement(&mut self, tokens: &[Token<'_>]) {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            self.before.lost(&mut self.mistakes);
            return;
        };
        let text = &self.text[first.at..last.span().end];
        if first.is_any(&["CREATE", "ALTER"]) {
            self.before.of_schema(&mut self.mistakes);
            match schema::schema(tokens, text) {
                Ok(statement) => self.script.schema.push(statement),
                Err(mistake) => self.mistakes.push(mistake),
            }
            return;
        }
        if !first.is_any(&["SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN"]) {
            self.before = Before::default();
            let message = match first.text.to_ascii_uppercase().as_str() {
                "USE" => "USE: the run has a keyspace of its own; remove this".to_owned(),
                word => {
                    let load = "SELECT, INSERT, UPDATE, DELETE, BEGIN BATCH";
                    format!("{word} is neither of a schema (CREATE, ALTER) nor of a load ({load})")
                }
            };
            self.refuse(first, message);
            return;
        }
        if let Some(directive) = self.before.take(first, &mut self.mistakes) {
            self.of_the_load(tokens, text, directive);
        }
    }

    fn of_the_load(&mut self, tokens: &[Token<'_>], text: &str, directive: Directive<'_>) {
        let first = &tokens[0];
        let slots = slots::slots(tokens);
        let names = names::tables(tokens, first.at);
        let (slots, names) = match (slots, names) {
            (Ok(slots), Ok(names)) => (slots, names),
            (slots, names) => {
                self.mistakes.extend([slots.err(), names.err()].into_iter().flatten());
                return;
            }
        };
        let (effect, batch) = (effect(tokens), batch(tokens));
        let Directive { name, weight, consistency, serial, token } = directive;
        if serial.is_some() && effect != Effect::Conditional {
            self.refuse(&token, format!("serial is for statements with IF, which {name} has not"));
        }
        if self.script.statements.iter().any(|other| other.name == name) {
            self.refuse(&token, format!("there are two statements {name}"));
        }
        if self.script.statements.len() == MOST_STATEMENTS {
            self.refuse(&token, more());
        }
        let (line, span) = (first.line, first.at..first.at + text.len());
        let text = text.to_owned();
        let statement =
            Statement { name, line, span, text, weight, consistency, serial, effect, batch, slots, names, sql: None };
        self.script.statements.push(statement);
    }
}
