//! Sections, and the blocks that they are made of.

use super::table::{Form, Rows, Table};
use super::text::Text;

pub struct Section<'a> {
    pub id: &'static str,
    /// Over it; empty where it follows what stands before it.
    pub title: String,
    /// From top to bottom.
    pub parts: Vec<Part<'a>>,
    /// Where the next block is shown.
    forms: &'static [Form],
}

/// A block and where it is shown.
pub struct Part<'a> {
    pub block: Block<'a>,
    /// Where it is shown.
    pub forms: &'static [Form],
    /// What stands over it on the page while it is folded, and whether it is unfolded at first.
    pub folded: Option<(String, bool)>,
}

/// A part of a section.
pub enum Block<'a> {
    /// Over some of the blocks: the words, and its identity on the page (empty: none).
    Heading(Text, String),
    /// A sentence or more.
    Paragraph(Text),
    /// How to read what is beside it.
    Key(Text),
    /// What to do about what stands before it.
    Advice(Text),
    /// Sentences beside each other. Of more than `most` the others are folded on the page; elsewhere `rest` says where
    /// they are found.
    List {
        /// The sentences.
        items: Vec<Text>,
        /// So many are shown.
        most: usize,
        /// Where the others are.
        rest: &'static str,
    },
    Table(Table),
    /// What only the page draws, as HTML.
    Drawn(Box<dyn Fn() -> String + 'a>),
}

impl<'a> Section<'a> {
    /// Nothing yet.
    pub fn new(id: &'static str, title: impl Into<String>) -> Self {
        Self { id, title: title.into(), parts: Vec::new(), forms: Form::ALL }
    }

    /// What follows is shown there alone.
    pub fn mostly(self, forms: &'static [Form]) -> Self {
        Self { forms, ..self }
    }

    fn with(mut self, block: Block<'a>, forms: &'static [Form]) -> Self {
        let folded = None;
        self.parts.push(Part { block, forms, folded });
        self
    }

    fn filled(self, block: Block<'a>) -> Self {
        let forms = self.forms;
        self.with(block, forms)
    }

    /// Over what follows.
    pub fn heading(self, words: impl Into<Text>) -> Self {
        self.anchored(words, String::new())
    }

    /// The same with an identity on the page.
    pub fn anchored(self, words: impl Into<Text>, anchor: String) -> Self {
        self.filled(Block::Heading(words.into(), anchor))
    }

    /// A sentence or more.
    pub fn paragraph(self, words: impl Into<Text>) -> Self {
        self.filled(Block::Paragraph(words.into()))
    }

    pub fn paragraphs(self, all: impl IntoIterator<Item = String>) -> Self {
        all.into_iter().fold(self, Self::paragraph)
    }

    /// How to read what is beside it.
    pub fn key(self, words: impl Into<Text>) -> Self {
        self.filled(Block::Key(words.into()))
    }

    /// What to do.
    pub fn advice(self, words: impl Into<Text>) -> Self {
        self.filled(Block::Advice(words.into()))
    }

    /// All of these; nothing where there are none.
    pub fn list<T: Into<Text>>(self, items: impl IntoIterator<Item = T>) -> Self {
        self.first(items, usize::MAX, "")
    }

    /// The first of these, and where the others are.
    pub fn first<T: Into<Text>>(self, items: impl IntoIterator<Item = T>, most: usize, rest: &'static str) -> Self {
        let items: Vec<Text> = items.into_iter().map(Into::into).collect();
        let is_empty = items.is_empty();
        let list = Block::List { items, most, rest };
        if is_empty { self.with(list, &[]) } else { self.filled(list) }
    }

    /// A table; nothing where it has no rows.
    pub fn table<T>(self, rows: Rows<T>) -> Self {
        let table = rows.table();
        if table.rows.is_empty() { self.with(Block::Table(table), &[]) } else { self.filled(Block::Table(table)) }
    }

    /// What only the page draws.
    pub fn drawn(self, draw: impl Fn() -> String + 'a) -> Self {
        self.with(Block::Drawn(Box::new(draw)), Form::PAGE)
    }

    /// The last block is shown there alone; one that is empty, nowhere.
    pub fn on(mut self, forms: &'static [Form]) -> Self {
        if let Some(part) = self.parts.last_mut().filter(|part| !part.forms.is_empty()) {
            part.forms = forms;
        }
        self
    }

    /// The last block is folded on the page.
    pub fn folded(mut self, summary: impl Into<String>, is_open: bool) -> Self {
        if let Some(part) = self.parts.last_mut() {
            part.folded = Some((summary.into(), is_open));
        }
        self
    }

    /// What a form shows of it.
    pub fn shown(&self, form: Form) -> impl Iterator<Item = &Part<'a>> {
        self.parts.iter().filter(move |part| part.forms.contains(&form))
    }
}
