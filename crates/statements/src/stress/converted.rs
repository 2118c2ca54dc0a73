//! The CQL that a profile becomes, and which line of the profile each part of it is of.

use super::yaml::at_line;
use crate::mistake::Mistake;
use crate::script::Script;

/// A file for [`Script::parse`].
#[derive(Debug, Default)]
pub(super) struct Converted {
    cql: String,
    /// Lines so far.
    lines: usize,
    /// First line of each part here (from 1), and its line in the profile; in order.
    origins: Vec<(usize, usize)>,
}

impl Converted {
    /// Adds text that stands at this line of the profile.
    pub(super) fn push(&mut self, line: usize, text: &str) {
        self.origins.push((self.lines + 1, line));
        self.lines += text.matches('\n').count() + 1;
        self.cql.push_str(text);
        self.cql.push('\n');
    }

    /// The file, parsed. Lines and places, of mistakes too, are those of the profile.
    pub(super) fn script(&self, profile: &str, levels: &[&str]) -> Result<Script, Vec<Mistake>> {
        let placed = |line: usize, message: String| at_line(profile, self.origin(line), message);
        let mut script = Script::parse(&self.cql, levels).map_err(|mistakes| -> Vec<Mistake> {
            mistakes.into_iter().map(|mistake| placed(mistake.line, mistake.message)).collect()
        })?;
        for statement in &mut script.schema {
            let at = placed(statement.line, String::new());
            (statement.line, statement.span) = (at.line, at.span);
        }
        for statement in &mut script.statements {
            let at = placed(statement.line, String::new());
            (statement.line, statement.span) = (at.line, at.span);
        }
        Ok(script)
    }

    /// The line of the profile that a line of the file is of.
    fn origin(&self, line: usize) -> usize {
        let after = self.origins.partition_point(|(first, _)| *first <= line);
        after.checked_sub(1).map_or(1, |at| self.origins[at].1)
    }
}
