//! The comment before a statement that makes it one of the load:
//! `-- statement NAME weight W [consistency LEVEL] [serial serial|local_serial]`.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::tokens::{Kind, Token};
use crate::mistake::Mistake;

/// Most characters of a name.
const NAME: usize = 40;
/// What a weight may be: the sum of all, and each share of it, are numbers then.
const WEIGHTS: RangeInclusive<f64> = 1e-9..=1e9;
/// What a directive may state of a statement.
const KEYS: [&str; 3] = ["weight", "consistency", "serial"];

/// The level of the reads of a light-weight transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SerialConsistency {
    /// A quorum of all replicas.
    Serial,
    /// A quorum of the replicas of the coordinator's data centre.
    LocalSerial,
}

impl SerialConsistency {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Serial, Self::LocalSerial];

    /// The word that it is stated by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Serial => "serial",
            Self::LocalSerial => "local_serial",
        }
    }
}

/// What a directive states.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Directive<'a> {
    pub(super) name: String,
    pub(super) weight: f64,
    pub(super) consistency: Option<String>,
    pub(super) serial: Option<SerialConsistency>,
    /// The comment.
    pub(super) token: Token<'a>,
}

impl Directive<'_> {
    /// A mistake about it.
    pub(super) fn mistake(&self, message: impl Into<String>) -> Mistake {
        Mistake::new(self.token.line, self.token.span(), message)
    }
}

/// The directive before what is read next; within, `None`: one that was refused.
#[derive(Default)]
pub(super) struct Before<'a>(Option<Option<Directive<'a>>>);

impl<'a> Before<'a> {
    /// Reads a comment that is a directive; `is_within` a statement that has begun.
    pub(super) fn read(&mut self, comment: Token<'a>, levels: &[&str], is_within: bool, mistakes: &mut Vec<Mistake>) {
        if is_within {
            let message = "a directive stands before its statement, not within one: is a ; missing?";
            mistakes.push(Mistake::new(comment.line, comment.span(), message));
            return;
        }
        self.lost(mistakes);
        self.0 = Some(match directive(comment, levels) {
            Ok(directive) => Some(directive),
            Err(all) => {
                mistakes.extend(all);
                None
            }
        });
    }

    /// Nothing follows it.
    pub(super) fn lost(&mut self, mistakes: &mut Vec<Mistake>) {
        let lost = self.0.take().flatten();
        mistakes.extend(lost.map(|lost| lost.mistake("no statement follows this directive")));
    }

    /// What of the schema follows it.
    pub(super) fn of_schema(&mut self, mistakes: &mut Vec<Mistake>) {
        let stray = self.0.take().flatten();
        mistakes.extend(stray.map(|stray| stray.mistake("what follows is of the schema, not of the load")));
    }

    /// That of the statement of the load which begins with this token; `None`: there is none, which has been said.
    pub(super) fn take(&mut self, first: &Token<'_>, mistakes: &mut Vec<Mistake>) -> Option<Directive<'a>> {
        if self.0.is_none() {
            let message = "no directive before this statement: write `-- statement NAME weight W`";
            mistakes.push(Mistake::new(first.line, first.span(), message));
        }
        self.0.take().flatten()
    }
}

/// The words of a comment that is a directive.
fn words<'a>(comment: &Token<'a>) -> Option<impl Iterator<Item = &'a str> + use<'a>> {
    // Both marks of a comment have two bytes.
    let mut words = comment.text[2..].split_whitespace();
    (comment.kind == Kind::LineComment && words.next() == Some("statement")).then_some(words)
}

/// Whether a comment is a directive.
pub(super) fn is_directive(comment: &Token<'_>) -> bool {
    words(comment).is_some()
}

/// What a directive states, or all its mistakes. `levels` are the words of `consistency`; SQL has none.
fn directive<'a>(comment: Token<'a>, levels: &[&str]) -> Result<Directive<'a>, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let mut mistake = |message: String| mistakes.push(Mistake::new(comment.line, comment.span(), message));
    let mut words = words(&comment).into_iter().flatten();
    let name = words.next().unwrap_or_default();
    if !is_name(name) {
        let form = "a name has a small letter first, then small letters, digits and _, at most 40 in all";
        mistake(format!("`{name}` cannot be a statement's name: {form}"));
    }
    let (mut weight, mut consistency, mut serial) = (None, None, None);
    while let Some(key) = words.next() {
        if !KEYS.contains(&key) {
            mistake(format!("unknown word `{key}`: a statement has {}", KEYS.join(", ")));
            // What follows it may be its value.
            break;
        }
        let Some(value) = words.next() else {
            mistake(format!("{key} has no value"));
            break;
        };
        let is_again = match key {
            "weight" => {
                let given = value.parse().ok().filter(|weight: &f64| WEIGHTS.contains(weight));
                if given.is_none() {
                    mistake(format!("weight {value} is no number from 1e-9 to 1e9"));
                }
                weight.replace(given.unwrap_or(1.0)).is_some()
            }
            "consistency" => {
                let given = value.to_ascii_lowercase();
                if levels.is_empty() {
                    mistake("consistency is CQL's: a statement of SQL has none".to_owned());
                } else if !levels.contains(&given.as_str()) {
                    mistake(format!("unknown consistency `{value}`: valid are {}", levels.join(", ")));
                }
                consistency.replace(given).is_some()
            }
            _ => {
                let given = SerialConsistency::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(value));
                if given.is_none() {
                    mistake(format!("unknown serial consistency `{value}`: valid are serial, local_serial"));
                }
                serial.replace(given.unwrap_or(SerialConsistency::Serial)).is_some()
            }
        };
        if is_again {
            mistake(format!("{key} is stated twice"));
        }
    }
    if weight.is_none() && mistakes.is_empty() {
        let message = "the statement has no weight: for example `-- statement read weight 40`";
        mistakes.push(Mistake::new(comment.line, comment.span(), message));
    }
    if mistakes.is_empty() {
        let weight = weight.unwrap_or(1.0);
        Ok(Directive { name: name.to_owned(), weight, consistency, serial, token: comment })
    } else {
        Err(mistakes)
    }
}

/// `[a-z][a-z0-9_]{0,39}`.
fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.len() <= NAME && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_part)
}
