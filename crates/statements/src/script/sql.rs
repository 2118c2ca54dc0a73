//! A user's file of SQL: tables and indexes, and the statements and transactions of the load.
//!
//! ```text
//! CREATE TABLE accounts (aid int PRIMARY KEY, abalance int);
//!
//! -- statement balance weight 1
//! SELECT abalance FROM accounts WHERE aid = :aid;
//!
//! -- statement deposit weight 1
//! BEGIN;
//! UPDATE accounts SET abalance = abalance + :history.delta WHERE aid = :aid;
//! INSERT INTO history (aid, delta) VALUES (:aid, :history.delta);
//! COMMIT;
//! ```
//!
//! A marker is `:column` or `:table.column`: PostgreSQL says of a parameter which type it has, and not whose value it
//! is. Directives are those of a file of CQL. Nothing else of SQL is parsed: whether a statement is right the server
//! says.

use super::directive::{Before, Directive, is_directive};
use super::schema::SchemaStatement;
use super::sent::{Sql, SqlMarker, SqlStep};
use super::slots::{Clause, Operator, Slot, Verb};
use super::sql_effect::{adds_rows, session_lock, writes};
use super::sql_schema::schema;
use super::sql_tokens::tokens;
use super::statement::{Effect, Statement};
use super::tokens::{Kind, Token};
use crate::mistake::Mistake;

/// What a statement of the load begins with.
const VERBS: [&str; 4] = ["SELECT", "INSERT", "UPDATE", "DELETE"];

const WHOSE: &str = "this does not say whose value is meant: write :column or :table.column";

/// Schema and statements, or all mistakes in their order.
pub(super) fn read(text: &str) -> Result<(Vec<SchemaStatement>, Vec<Statement>), Vec<Mistake>> {
    let all = tokens(text).map_err(|mistake| vec![mistake])?;
    let (before, schema, statements) = (Before::default(), Vec::new(), Vec::new());
    let mut reading = Reading { text, before, open: None, schema, statements, mistakes: Vec::new() };
    let mut piece: Vec<Token<'_>> = Vec::new();
    for token in all {
        if token.is_comment() {
            if is_directive(&token) {
                let is_within = !piece.is_empty() || reading.open.is_some();
                reading.before.read(token, &[], is_within, &mut reading.mistakes);
            }
        } else if token.is_symbol(';') {
            reading.piece(&piece);
            piece.clear();
        } else {
            piece.push(token);
        }
    }
    reading.piece(&piece);
    if let Some(open) = &reading.open {
        let at = open.first;
        reading.mistakes.push(Mistake::new(at.line, at.span(), "this transaction has no COMMIT"));
    }
    reading.before.lost(&mut reading.mistakes);
    let Reading { schema, statements, mut mistakes, .. } = reading;
    if mistakes.is_empty() {
        return Ok((schema, statements));
    }
    mistakes.sort_by_key(|mistake| mistake.span.start);
    Err(mistakes)
}

/// A file that is being read.
struct Reading<'a> {
    text: &'a str,
    before: Before<'a>,
    /// A transaction that has not been committed.
    open: Option<Open<'a>>,
    schema: Vec<SchemaStatement>,
    statements: Vec<Statement>,
    mistakes: Vec<Mistake>,
}

/// A statement of the load that is being read.
struct Open<'a> {
    first: Token<'a>,
    /// `None`: it was refused.
    directive: Option<Directive<'a>>,
    sql: Sql,
    slots: Vec<Slot>,
    writes: bool,
}

impl<'a> Open<'a> {
    fn new(first: Token<'a>, directive: Option<Directive<'a>>, begin: Option<String>) -> Self {
        let sql = Sql { begin, steps: Vec::new(), markers: Vec::new() };
        Self { first, directive, sql, slots: Vec::new(), writes: false }
    }

    /// Adds a statement, whose tokens are without comments.
    fn step(&mut self, text: &str, tokens: &[Token<'_>]) -> Result<(), Mistake> {
        if let Some(mistake) = session_lock(tokens) {
            return Err(mistake);
        }
        self.writes |= writes(tokens);
        let (first, last) = (&tokens[0], &tokens[tokens.len() - 1]);
        let (line, adds_rows) = (first.line, adds_rows(tokens));
        let mut step = SqlStep { line, text: String::new(), parameters: Vec::new(), adds_rows };
        let mut from = first.at;
        for found in places(tokens)? {
            let marker = self.marker(&found);
            let number = step.parameters.iter().position(|known| *known == marker).unwrap_or_else(|| {
                step.parameters.push(marker);
                step.parameters.len() - 1
            });
            step.text.push_str(&text[from..found.at]);
            step.text.push_str(&format!("${}", number + 1));
            from = found.end;
        }
        step.text.push_str(&text[from..last.span().end]);
        self.sql.steps.push(step);
        Ok(())
    }

    /// The number of the marker that stands there.
    fn marker(&mut self, place: &Place) -> usize {
        let markers = &mut self.sql.markers;
        let known = markers.iter().position(|known| (&known.table, &known.column) == (&place.table, &place.column));
        let number = known.unwrap_or_else(|| {
            let Place { table, column, .. } = place;
            markers.push(SqlMarker { table: table.clone(), column: column.clone(), inserted_into: Vec::new() });
            let (clause, operator, verb) = (Clause::Where, Operator::Equal, Verb::Select);
            self.slots.push(Slot { clause, operator, verb, part: 0 });
            markers.len() - 1
        });
        let slot = &mut self.slots[number];
        if place.is_written {
            slot.clause = Clause::Written;
        }
        if let Some(table) = &place.inserted_into {
            slot.verb = Verb::Insert;
            markers[number].inserted_into.push(table.clone());
        }
        number
    }
}

impl<'a> Reading<'a> {
    fn refuse(&mut self, at: &Token<'_>, message: impl Into<String>) {
        self.mistakes.push(Mistake::new(at.line, at.span(), message));
    }

    /// What stands between two `;`, without its comments.
    fn piece(&mut self, tokens: &[Token<'a>]) {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            if self.open.is_none() {
                self.before.lost(&mut self.mistakes);
            }
            return;
        };
        let text = &self.text[first.at..last.span().end];
        if let Some(open) = self.open.take() {
            self.within(open, tokens);
        } else if first.is_any(&["CREATE", "ALTER"]) {
            self.before.of_schema(&mut self.mistakes);
            match schema(tokens, text) {
                Ok(statement) => self.schema.push(statement),
                Err(mistake) => self.mistakes.push(mistake),
            }
        } else if first.is("BEGIN") {
            let directive = self.before.take(first, &mut self.mistakes);
            self.open = Some(Open::new(*first, directive, Some(text.to_owned())));
        } else if first.is_any(&VERBS) {
            let directive = self.before.take(first, &mut self.mistakes);
            let mut open = Open::new(*first, directive, None);
            match open.step(self.text, tokens) {
                Ok(()) => self.statement(open, last),
                Err(mistake) => self.mistakes.push(mistake),
            }
        } else {
            self.before = Before::default();
            let message = format!(
                "{} is neither of a schema (CREATE TABLE, CREATE INDEX, ALTER TABLE) nor of a load ({}, BEGIN)",
                first.text.to_ascii_uppercase(),
                VERBS.join(", ")
            );
            self.refuse(first, message);
        }
    }

    /// A piece of a transaction.
    fn within(&mut self, mut open: Open<'a>, tokens: &[Token<'a>]) {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return };
        if first.is_any(&["COMMIT", "END"]) {
            if tokens.len() > 1 {
                self.refuse(first, "a transaction ends with COMMIT or END alone");
            } else if open.sql.steps.is_empty() {
                self.refuse(first, "this transaction does nothing");
            } else {
                self.statement(open, last);
            }
            return;
        }
        if first.is_any(&VERBS) {
            if let Err(mistake) = open.step(self.text, tokens) {
                self.mistakes.push(mistake);
            }
        } else {
            let message = format!(
                "{} within a transaction: it has {} up to COMMIT or END",
                first.text.to_ascii_uppercase(),
                VERBS.join(", ")
            );
            self.refuse(first, message);
        }
        self.open = Some(open);
    }

    /// A statement that is whole, up to this token.
    fn statement(&mut self, open: Open<'a>, last: &Token<'_>) {
        let Open { first, directive, sql, slots, writes } = open;
        let Some(Directive { name, weight, serial, token, .. }) = directive else { return };
        if serial.is_some() {
            self.refuse(&token, "serial is CQL's: write BEGIN ISOLATION LEVEL SERIALIZABLE, where that is meant");
        }
        if self.statements.iter().any(|other| other.name == name) {
            self.refuse(&token, format!("there are two statements {name}"));
        }
        let span = first.at..last.span().end;
        self.statements.push(Statement {
            name,
            line: first.line,
            text: self.text[span.clone()].to_owned(),
            span,
            weight,
            consistency: None,
            serial: None,
            effect: if writes { Effect::Write } else { Effect::Read },
            batch: None,
            sql: Some(sql),
            slots,
            names: Vec::new(),
        });
    }
}

/// Where a marker stands.
struct Place {
    /// Bytes of the file.
    at: usize,
    end: usize,
    table: Option<String>,
    column: String,
    /// Whether its value is written there; else rows are chosen by it.
    is_written: bool,
    /// The table of the `INSERT` that it is written by.
    inserted_into: Option<String>,
}

/// The markers of one statement, in order.
fn places(tokens: &[Token<'_>]) -> Result<Vec<Place>, Mistake> {
    let refused = |token: &Token<'_>, message: &str| Err(Mistake::new(token.line, token.span(), message));
    let touches = |one: usize, other: usize| {
        tokens.get(other).is_some_and(|other| tokens[one].span().end == other.at).then(|| &tokens[other])
    };
    let is_insert = tokens[0].is("INSERT");
    let into = tokens.iter().position(|token| token.is("INTO")).filter(|_| is_insert);
    // Its name alone, or after that of a schema.
    let is_qualified = |into: usize| tokens.get(into + 2).is_some_and(|dot| dot.is_symbol('.'));
    let into = into.map(|into| if is_qualified(into) { into + 3 } else { into + 1 });
    let into = into.and_then(|table| tokens.get(table)).map(Token::name);
    let mut found = Vec::new();
    let (mut is_written, mut around) = (false, Vec::new());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token.kind {
            Kind::Word => is_written = written_after(token, is_insert).unwrap_or(is_written),
            Kind::Symbol('(') => around.push(is_written),
            Kind::Symbol(')') => is_written = around.pop().unwrap_or(is_written),
            Kind::Marker => return refused(token, WHOSE),
            Kind::Symbol('$') if touches(at, at + 1).is_some_and(|next| next.kind == Kind::Number) => {
                return refused(token, WHOSE);
            }
            Kind::Symbol(':') => {
                if touches(at, at + 1).is_some_and(|next| next.is_symbol(':')) {
                    // A cast: `::int`.
                    at += 2;
                    continue;
                }
                if let Some(first) = touches(at, at + 1).filter(|next| next.is_name()) {
                    let column = touches(at + 1, at + 2).filter(|dot| dot.is_symbol('.'));
                    let column = column.and_then(|_| touches(at + 2, at + 3)).filter(|column| column.is_name());
                    let (table, last) = match column {
                        Some(column) => (Some(first.name()), column),
                        None => (None, first),
                    };
                    let end = last.span().end;
                    let inserted_into = into.clone().filter(|_| is_written);
                    found.push(Place { at: token.at, end, table, column: last.name(), is_written, inserted_into });
                    at += if column.is_some() { 4 } else { 2 };
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    Ok(found)
}

/// Whether what follows this word is written; `None`: it changes nothing.
fn written_after(word: &Token<'_>, is_insert: bool) -> Option<bool> {
    if word.is_any(&["VALUES", "SET"]) {
        return Some(true);
    }
    if word.is("SELECT") {
        return Some(is_insert);
    }
    word.is_any(&["FROM", "WHERE", "ON", "RETURNING", "HAVING", "LIMIT", "OFFSET", "ORDER"]).then_some(false)
}
