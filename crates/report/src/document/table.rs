//! Tables: columns with what they are called and when they fall away, rows of cells.

use super::text::Text;
use crate::figures::{count, number};

/// Where a document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The page.
    Html,
    Markdown,
    Terminal,
}

impl Form {
    /// Everywhere.
    pub const ALL: &'static [Self] = &[Self::Html, Self::Markdown, Self::Terminal];
    pub const PAGE: &'static [Self] = &[Self::Html];
    /// Where there is room: the page and Markdown.
    pub const ROOMY: &'static [Self] = &[Self::Html, Self::Markdown];
    pub const MARKDOWN: &'static [Self] = &[Self::Markdown];
    pub const TERMINAL: &'static [Self] = &[Self::Terminal];
}

pub struct Table {
    /// What it shows.
    pub label: String,
    /// Its class in the style of the page.
    pub class: &'static str,
    /// One for each cell of a row.
    pub columns: Vec<Column>,
    /// From top to bottom.
    pub rows: Vec<Row>,
}

#[derive(Default)]
pub struct Row {
    /// Its identity on the page; empty where nothing leads to it.
    pub anchor: String,
    /// One for each column.
    pub cells: Vec<Cell>,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Words, which a terminal folds.
    Text,
    /// Figures, which stand right.
    Number,
    /// Figures between two ends, each of which has a column of its own on the page.
    Range,
    /// The same without its ends on the page.
    Middle,
}

pub struct Column {
    /// Its head, with the unit of its figures; a line feed counts in a terminal.
    pub title: String,
    /// What it holds.
    pub kind: Kind,
    /// When it falls away where a terminal is narrow: the highest first, 0 never.
    pub drop: u8,
    /// Where all rows say the same it falls away, and the label says it.
    pub varies: bool,
    /// What the row above says is not said again in a terminal.
    pub once: bool,
    /// Whether its words may have more room than names have.
    pub wide: bool,
    /// Where it is shown.
    pub forms: &'static [Form],
}

impl Column {
    /// It falls away where a terminal is narrow, after those with a higher number.
    pub fn drop(self, drop: u8) -> Self {
        Self { drop, ..self }
    }

    /// It falls away where all rows say the same.
    pub fn varies(self) -> Self {
        Self { varies: true, ..self }
    }

    /// What the row above says is not said again.
    pub fn once(self) -> Self {
        Self { once: true, ..self }
    }

    /// Its words have more room than names.
    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    /// It is shown there alone.
    pub fn on(self, forms: &'static [Form]) -> Self {
        Self { forms, ..self }
    }
}

/// A column under its head.
pub fn column(title: impl Into<String>) -> Column {
    Column { title: title.into(), kind: Kind::Text, drop: 0, varies: false, once: false, wide: false, forms: Form::ALL }
}

impl From<&str> for Column {
    fn from(title: &str) -> Self {
        column(title)
    }
}

impl From<String> for Column {
    fn from(title: String) -> Self {
        column(title)
    }
}

#[derive(Default)]
pub struct Cell {
    /// What it says.
    pub shown: Shown,
    /// Its class in the style of the page.
    pub class: String,
    /// What is said of it where somebody points at it.
    pub hint: String,
}

/// What a cell says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Shown {
    /// There is nothing, which is not zero.
    #[default]
    Missing,
    /// Words or a figure.
    Words(Text),
    /// A figure and, where they differ, its ends.
    Range(String, Option<[String; 2]>),
}

impl Cell {
    /// With a class of the page, and what is said where somebody points at it.
    pub fn styled(shown: impl Into<Self>, class: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { shown: shown.into().shown, class: class.into(), hint: hint.into() }
    }
}

/// A figure between two ends.
pub fn range(middle: f64, low: f64, high: f64) -> Cell {
    between(number(middle), Some((low, high)))
}

/// The same for a figure in its own words; ends that are one are none.
pub fn between(middle: String, ends: Option<(f64, f64)>) -> Cell {
    let ends = ends.filter(|(low, high)| low < high);
    Cell { shown: Shown::Range(middle, ends.map(|(low, high)| [number(low), number(high)])), ..Cell::default() }
}

impl From<Text> for Cell {
    fn from(words: Text) -> Self {
        Self { shown: Shown::Words(words), ..Self::default() }
    }
}

impl From<String> for Cell {
    fn from(words: String) -> Self {
        Text::from(words).into()
    }
}

impl From<&str> for Cell {
    fn from(words: &str) -> Self {
        Text::from(words).into()
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        number(value).into()
    }
}

impl From<u64> for Cell {
    fn from(value: u64) -> Self {
        count(value).into()
    }
}

impl<C: Into<Cell>> From<Option<C>> for Cell {
    fn from(value: Option<C>) -> Self {
        value.map_or_else(Self::default, Into::into)
    }
}

/// A table in the making: a row for each of these, a column after the other.
pub struct Rows<T> {
    of: Vec<T>,
    table: Table,
}

/// A row for each of these.
pub fn rows<T>(label: impl Into<String>, of: impl IntoIterator<Item = T>) -> Rows<T> {
    let of: Vec<T> = of.into_iter().collect();
    let rows = of.iter().map(|_| Row::default()).collect();
    Rows { of, table: Table { label: label.into(), class: "", columns: Vec::new(), rows } }
}

impl<T> Rows<T> {
    /// A class of the page.
    pub fn class(mut self, class: &'static str) -> Self {
        self.table.class = class;
        self
    }

    /// Identities of the rows on the page.
    pub fn anchor(mut self, name: impl Fn(&T) -> String) -> Self {
        for (row, of) in self.table.rows.iter_mut().zip(&self.of) {
            row.anchor = name(of);
        }
        self
    }

    /// A column of words.
    pub fn text<C: Into<Cell>>(self, head: impl Into<Column>, show: impl Fn(&T) -> C) -> Self {
        self.column(Kind::Text, head.into(), show)
    }

    /// A column of figures.
    pub fn number<C: Into<Cell>>(self, head: impl Into<Column>, show: impl Fn(&T) -> C) -> Self {
        self.column(Kind::Number, head.into(), show)
    }

    /// A column of figures between two ends.
    pub fn range<C: Into<Cell>>(self, head: impl Into<Column>, show: impl Fn(&T) -> C) -> Self {
        self.column(Kind::Range, head.into(), show)
    }

    /// The same without the ends on the page.
    pub fn middle<C: Into<Cell>>(self, head: impl Into<Column>, show: impl Fn(&T) -> C) -> Self {
        self.column(Kind::Middle, head.into(), show)
    }

    fn column<C: Into<Cell>>(mut self, kind: Kind, head: Column, show: impl Fn(&T) -> C) -> Self {
        for (row, of) in self.table.rows.iter_mut().zip(&self.of) {
            row.cells.push(show(of).into());
        }
        self.table.columns.push(Column { kind, ..head });
        self
    }

    pub fn table(self) -> Table {
        self.table
    }
}

impl Table {
    /// The columns that a form shows, by their places, and the label with what all rows say.
    pub fn shown(&self, form: Form) -> (Vec<usize>, String) {
        let (mut columns, mut same) = (Vec::new(), Vec::new());
        for (place, column) in self.columns.iter().enumerate() {
            let mut said = self.rows.iter().map(|row| &row.cells[place].shown);
            let first = said.next();
            match first {
                _ if !column.forms.contains(&form) => {}
                Some(Shown::Words(words)) if column.varies && said.all(|other| Some(other) == first) => {
                    same.push(words.plain().replace('\n', " "));
                }
                _ => columns.push(place),
            }
        }
        let same = same.join(", ");
        let label = match (self.label.as_str(), same.as_str()) {
            (label, "") => label.to_owned(),
            ("", _) if form == Form::Terminal => String::new(),
            ("", same) => same.to_owned(),
            (label, same) => format!("{label}; {same}"),
        };
        (columns, label)
    }
}
