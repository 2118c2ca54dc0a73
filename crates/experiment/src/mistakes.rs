//! What is wrong with an experiment file: every mistake at its place, with what was expected.

use std::fmt;
use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
pub(crate) use product::{choice, nearest};
use serde::{Serialize, Serializer};

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// File it is in: the experiment, or a YCSB file that it names.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What was expected, and the nearest valid name.
    pub help: Option<String>,
    /// What was typed beside the file, if that is wrong: the place is then the one in the file that it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flag: Option<String>,
    #[serde(skip)]
    pub(crate) span: Range<usize>,
}

/// All mistakes of an experiment file, at least one.
#[derive(Debug, thiserror::Error)]
pub struct Mistakes {
    list: Vec<Mistake>,
    related: Vec<One>,
}

/// A mistake as miette draws it.
#[derive(Debug, Clone)]
struct One(Mistake, NamedSource<String>);

impl Mistakes {
    /// The mistakes in the order of the experiment file; those in files that it names come last.
    pub fn list(&self) -> &[Mistake] {
        &self.list
    }

    /// Whether something is wrong at this place.
    pub(crate) fn is_any_at(&self, file: &str, at: usize) -> bool {
        self.list.iter().any(|mistake| mistake.file == file && mistake.span.start == at)
    }

    fn of(related: Vec<One>) -> Self {
        Self { list: related.iter().map(|One(mistake, _)| mistake.clone()).collect(), related }
    }

    /// With those of `file` at their places in `text`: `origin` says of a mistake in what was read which flag has made
    /// it, if any, and where it stands in `text`.
    pub(crate) fn moved(
        mut self,
        file: &str,
        text: &str,
        origin: impl Fn(&Mistake) -> (Option<String>, Range<usize>),
    ) -> Self {
        for One(mistake, source) in self.related.iter_mut().filter(|One(mistake, _)| mistake.file == file) {
            (mistake.flag, mistake.span) = origin(mistake);
            (mistake.line, mistake.column) = position(text, mistake.span.start);
            *source = NamedSource::new(file, text.to_owned());
        }
        Self::of(self.related)
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, one) in self.related.iter().enumerate() {
            let before = if i > 0 { "\n" } else { "" };
            write!(f, "{before}{one}")?;
            if let Some(help) = &one.0.help {
                write!(f, " ({help})")?;
            }
        }
        Ok(())
    }
}

impl Serialize for Mistakes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.list)
    }
}

impl Diagnostic for Mistakes {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.related.iter().map(|one| one as &dyn Diagnostic)))
    }
}

impl fmt::Display for One {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistake { file, line, column, message, flag, .. } = &self.0;
        match flag {
            Some(flag) => write!(f, "{flag}: {message}"),
            None => write!(f, "{file}:{line}:{column}: {message}"),
        }
    }
}

impl std::error::Error for One {}

impl Diagnostic for One {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.flag.is_none().then_some(&self.1 as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if self.0.flag.is_some() {
            return None;
        }
        let span = self.0.span.clone();
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(None, (span.start, span.len().max(1))))))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }
}

/// Collects mistakes while a file is checked.
pub(crate) struct Collector<'a> {
    pub file: &'a str,
    pub text: &'a str,
    /// What is not wrong, but worth knowing.
    pub notes: Vec<crate::Note>,
    found: Vec<One>,
}

impl<'a> Collector<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, notes: Vec::new(), found: Vec::new() }
    }

    /// What a check makes of something; `None` where it has found a mistake.
    pub fn sound<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let before = self.found.len();
        let checked = check(self);
        (self.found.len() == before).then_some(checked)
    }

    /// Notes a mistake at `span` of the experiment.
    pub fn add(&mut self, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        let (file, text) = (self.file, self.text);
        self.add_in(file, text, span, message, help);
    }

    /// The same for a value that does not come of it.
    pub fn refuse<T>(&mut self, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.add(span, message, help);
        None
    }

    /// Notes a mistake in another file.
    pub fn add_in(
        &mut self,
        file: &str,
        text: &str,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let (line, column) = position(text, span.start);
        let help = Some(help.into()).filter(|h: &String| !h.is_empty());
        let mistake = Mistake { file: file.to_owned(), line, column, message: message.into(), help, flag: None, span };
        self.found.push(One(mistake, NamedSource::new(file, text.to_owned())));
    }

    /// `Ok(value)` if nothing is wrong; else every mistake once.
    pub fn finish<T>(mut self, value: Option<T>) -> Result<T, Mistakes> {
        let own = self.file;
        self.found.sort_by_key(|One(mistake, _)| (mistake.file != own, mistake.line, mistake.column));
        // A list of a wrong value is refused as none, then for its element: what is expected stands with the latter.
        self.found.dedup_by(|later, earlier| {
            let (a, b) = (&later.0, &earlier.0);
            let is_same = (&a.file, &a.span, &a.message) == (&b.file, &b.span, &b.message);
            if is_same {
                std::mem::swap(later, earlier);
            }
            is_same
        });
        match value {
            Some(value) if self.found.is_empty() => Ok(value),
            _ => Err(Mistakes::of(self.found)),
        }
    }
}

/// Line and column (in characters) of a byte offset, both from 1.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    (line, column)
}
