//! The forms of a document.

/// Where a document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The page.
    Html,
    /// Markdown.
    Markdown,
    /// A terminal.
    Terminal,
}

impl Form {
    /// Everywhere.
    pub const ALL: &'static [Self] = &[Self::Html, Self::Markdown, Self::Terminal];
    /// The page.
    pub const PAGE: &'static [Self] = &[Self::Html];
    /// Where there is room: the page and Markdown.
    pub const ROOMY: &'static [Self] = &[Self::Html, Self::Markdown];
    /// Markdown.
    pub const MARKDOWN: &'static [Self] = &[Self::Markdown];
    /// A terminal.
    pub const TERMINAL: &'static [Self] = &[Self::Terminal];
}
