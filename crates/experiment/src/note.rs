//! A remark on an experiment.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::{Provider, Sentence};

/// A static remark: worth knowing, not wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Note {
    /// Rule that made it.
    pub rule: &'static str,
    /// What it is about, in one sentence.
    #[serde(flatten)]
    pub message: Sentence,
    /// The numbers behind it, units in their names.
    pub numbers: BTreeMap<&'static str, f64>,
    /// What to do, if anything.
    pub advice: Cow<'static, str>,
    /// Only in a run by this provider; `None`: always.
    pub provider: Option<Provider>,
}

impl Note {
    /// A note without numbers.
    pub(crate) fn new(rule: &'static str, message: impl Into<Sentence>, advice: impl Into<Cow<'static, str>>) -> Self {
        Self { rule, message: message.into(), numbers: BTreeMap::new(), advice: advice.into(), provider: None }
    }

    /// Adds numbers.
    pub(crate) fn with(mut self, numbers: impl IntoIterator<Item = (&'static str, f64)>) -> Self {
        self.numbers.extend(numbers);
        self
    }

    /// Only in a run by `provider`.
    pub(crate) fn only(mut self, provider: Provider) -> Self {
        self.provider = Some(provider);
        self
    }
}

/// The same of several configurations or workloads is one note.
pub(crate) fn grouped(notes: impl IntoIterator<Item = Note>) -> Vec<Note> {
    let mut all: Vec<Note> = Vec::new();
    for note in notes {
        let is_alike = |known: &Note| {
            (known.rule, &known.advice, &known.numbers, known.provider)
                == (note.rule, &note.advice, &note.numbers, note.provider)
        };
        let is_known = all.iter_mut().any(|known| is_alike(known) && known.message.takes(&note.message));
        if !is_known {
            all.push(note);
        }
    }
    all
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "note: {}. {}", self.message, self.advice)
    }
}
