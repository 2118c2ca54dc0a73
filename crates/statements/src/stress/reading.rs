//! A profile that is being read: what is wrong with it, and what is otherwise here.

use super::yaml::at_line;
use crate::mistake::Mistake;

/// What has been found so far.
pub(super) struct Reading<'a> {
    text: &'a str,
    pub(super) mistakes: Vec<Mistake>,
    pub(super) notes: Vec<String>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, mistakes: Vec::new(), notes: Vec::new() }
    }

    /// Reports a mistake at a line of the profile.
    pub(super) fn refuse<T>(&mut self, line: usize, message: impl Into<String>) -> Option<T> {
        self.mistakes.push(at_line(self.text, line, message));
        None
    }

    /// A value, or its mistake at a line.
    pub(super) fn sound<T>(&mut self, line: usize, value: Result<T, String>) -> Option<T> {
        match value {
            Ok(value) => Some(value),
            Err(message) => self.refuse(line, message),
        }
    }
}
