//! Words with marks.

/// Words, some of them marked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(pub Vec<Span>);

/// Words that are marked alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Span {
    /// Not marked.
    Plain(String),
    /// What must be seen first.
    Strong(String),
    /// What is typed, or found, as it stands.
    Code(String),
    /// Words that lead to a place on the page.
    Link {
        words: String,
        /// The identity of the place.
        to: String,
    },
    /// A word in a box.
    Tag(String, Tone),
    /// What only the page has room for, below the rest.
    Small(String),
}

/// How grave a tag is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// It says something more: in brackets where there are no boxes.
    More,
    /// Worth knowing.
    Note,
    Doubt,
    /// Wrong.
    Bad,
}

/// Marked as what must be seen first.
pub fn strong(words: impl Into<String>) -> Text {
    Text(vec![Span::Strong(words.into())])
}

/// Marked as what is typed.
pub fn code(words: impl Into<String>) -> Text {
    Text(vec![Span::Code(words.into())])
}

/// A word in a box.
pub fn tag(word: impl Into<String>, tone: Tone) -> Text {
    Text(vec![Span::Tag(word.into(), tone)])
}

/// Below the rest, on the page alone.
pub fn small(words: impl Into<String>) -> Text {
    Text(vec![Span::Small(words.into())])
}

/// Words that lead to a place on the page, if there is one.
pub fn link(words: impl Into<String>, to: Option<String>) -> Text {
    let words = words.into();
    Text(vec![match to {
        Some(to) => Span::Link { words, to },
        None => Span::Plain(words),
    }])
}

impl Text {
    /// More words behind these.
    pub fn then(mut self, more: impl Into<Self>) -> Self {
        self.0.extend(more.into().0);
        self
    }

    /// The words without their marks.
    pub fn plain(&self) -> String {
        let words = |span: &Span| match span {
            Span::Plain(words) | Span::Strong(words) | Span::Code(words) | Span::Link { words, .. } => words.clone(),
            Span::Tag(word, Tone::More) => format!("({word})"),
            Span::Tag(word, _) => word.clone(),
            Span::Small(_) => String::new(),
        };
        self.0.iter().map(words).collect()
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        Self(vec![Span::Plain(words)])
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        Self::from(words.to_owned())
    }
}
