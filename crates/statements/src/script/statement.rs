//! One statement of a load.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::directive::SerialConsistency;
use super::names;
use super::sent::Sql;
use super::slots::{Slot, Verb};
use super::tokens::Token;

/// A statement of the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// Unique in its file.
    pub name: String,
    /// Of its first word, from 1; 0: it was recorded, and stands in no file.
    pub line: usize,
    /// Bytes of the file.
    pub span: Range<usize>,
    /// As in the file, without the `;`.
    pub text: String,
    /// Above 0; its share is this over the sum of all.
    pub weight: f64,
    /// One of the words that [`crate::Script::parse`] was given; `None`: not stated.
    pub consistency: Option<String>,
    /// Of a conditional statement, where it is stated.
    pub serial: Option<SerialConsistency>,
    /// What it does.
    pub effect: Effect,
    /// `None`: it is no batch.
    pub batch: Option<Batch>,
    /// Of SQL: what is sent for it; `None`: its text is.
    pub sql: Option<Sql>,
    /// What the text shows of each marker.
    pub(crate) slots: Vec<Slot>,
    /// Where a keyspace goes in the text, in bytes.
    pub(super) names: Vec<usize>,
}

/// What a statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// `SELECT`.
    Read,
    /// `INSERT`, `UPDATE`, `DELETE`, a batch of these, or a transaction with one of them.
    Write,
    /// A write with `IF`: a light-weight transaction.
    Conditional,
}

/// What kind of batch a statement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Batch {
    /// `BEGIN BATCH`: all of it or nothing, by the batch log.
    Logged,
    /// `BEGIN UNLOGGED BATCH`.
    Unlogged,
    /// `BEGIN COUNTER BATCH`.
    Counter,
}

impl Statement {
    /// The text with its tables in this keyspace, which goes in as it is given: what is prepared.
    pub fn cql(&self, keyspace: &str) -> String {
        names::qualified(&self.text, &self.names, keyspace)
    }

    /// How many bind markers the text has.
    pub fn markers(&self) -> usize {
        self.slots.len()
    }

    /// Whether it makes a row that is not there: an `INSERT`, or an `UPDATE` without a condition.
    pub fn makes(&self) -> bool {
        self.slots.iter().any(|slot| match slot.verb {
            Verb::Insert => true,
            Verb::Update => self.effect != Effect::Conditional,
            Verb::Select | Verb::Delete => false,
        })
    }

    /// Whether it only reads.
    pub fn reads(&self) -> bool {
        self.effect == Effect::Read
    }
}

/// What a statement does.
pub(super) fn effect(tokens: &[Token<'_>]) -> Effect {
    if tokens.first().is_some_and(|first| first.is("SELECT")) {
        Effect::Read
    } else if tokens.iter().any(|token| token.is("IF")) {
        Effect::Conditional
    } else {
        Effect::Write
    }
}

/// What kind of batch it is.
pub(super) fn batch(tokens: &[Token<'_>]) -> Option<Batch> {
    match tokens {
        [first, ..] if !first.is("BEGIN") => None,
        [] => None,
        [_, kind, ..] if kind.is("UNLOGGED") => Some(Batch::Unlogged),
        [_, kind, ..] if kind.is("COUNTER") => Some(Batch::Counter),
        _ => Some(Batch::Logged),
    }
}
