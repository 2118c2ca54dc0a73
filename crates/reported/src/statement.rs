//! How a product states what it reports.

/// A product.
#[derive(Debug)]
pub struct Reports {
    /// What it reports, in the order of the columns of a host's samples: its own groups, and those that it shares with
    /// others.
    pub series: &'static [&'static [&'static Series]],
    /// What `database` of a cell in `analysis.json` has, in this order.
    pub figures: &'static [&'static Figure],
    /// Charts over time, in the order in which they are shown.
    pub charts: &'static [&'static Chart],
    /// What it does in the background and a trial counts: its series, what one is called, and several.
    pub background: &'static [(&'static Series, &'static str, &'static str)],
    /// How to read its figures, a sentence.
    pub how_to_read: &'static str,
    /// What its main memory is called, as a table's head has it.
    pub main_memory: &'static str,
    /// Settings that are fast because a crash may cost data.
    pub risks: &'static [Risk],
}

/// A setting that is fast because a crash may cost data.
#[derive(Debug)]
pub struct Risk {
    /// The section that it is set in.
    pub section: &'static str,
    /// Its key there.
    pub key: &'static str,
    /// The value that risks it.
    pub value: &'static str,
    /// What a crash may do then, without a full stop: `A crash may ...`.
    pub what: &'static str,
}

/// Something that a database says of itself about once a second. What it does not say is missing, never zero.
#[derive(Debug, PartialEq)]
pub struct Series {
    /// Its column in `host-*.parquet`, unit included.
    pub key: &'static str,
    /// What it is, a line of the reference.
    pub about: &'static str,
    /// What becomes of its seconds.
    pub kind: Kind,
    /// What becomes of several nodes.
    pub nodes: Nodes,
    /// What those ask for it by who know no product.
    pub meaning: Option<Meaning>,
}

/// What becomes of a window's seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only grows, with a process: by how much it grew. Charts show its rate.
    Counter,
    /// Grows, and falls when a part of what is counted goes: its steps upwards.
    Steps,
    /// A level, now: the one at the end.
    Level,
}

/// What becomes of several nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nodes {
    /// They are added.
    Sum,
    /// Their mean.
    Mean,
}

/// What is asked for whatever the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    /// CPU time that it compiled its own code in, a part of that of its process, seconds.
    CompilerCpuS,
    /// Time in which all of it stood still, seconds.
    PausedS,
    /// The longest such time so far, seconds.
    LongestPauseS,
    /// Work in the background that waits or runs, now: grows while the database does it more slowly than it is made.
    BackgroundWork,
}

/// A figure of series, as tables and `analysis.json` have it.
#[derive(Debug, PartialEq)]
pub struct Figure {
    /// Its name in `database` of a cell.
    pub key: &'static str,
    /// What it is called in "What an operation cost", unit included.
    pub label: &'static str,
    /// Its head in the table of results, with the order in which it goes from a narrow terminal (higher: earlier);
    /// `None`: it is not there.
    pub in_results: Option<(&'static str, u8)>,
    /// How often that unit goes into one of it.
    pub shown_times: f64,
    /// Where it stands.
    pub place: Place,
    /// How it comes from series.
    pub of: Of,
}

/// Where a figure stands in "What an operation cost".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Above the page cache: what reads met before it.
    Lookups,
    /// Below it: what is kept.
    Kept,
    /// Below that: what the database did in the background.
    Background,
}

/// How a figure comes from series, over the window of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Of {
    /// The series itself.
    Trial(&'static Series),
    /// One for each of another.
    Each(&'static Series, &'static Series),
    /// For each completed operation.
    Operation(&'static Series),
    /// From more than series: a rule of the product has it.
    Rule,
}

/// A chart over time.
#[derive(Debug)]
pub struct Chart {
    /// Its title.
    pub title: &'static str,
    /// Unit of the vertical axis.
    pub unit: &'static str,
    /// Names in the legend, series, and how often the unit goes into one of it.
    pub lines: &'static [(&'static str, &'static Series, f64)],
}

impl Reports {
    /// All of its series, in the order of their columns.
    pub fn all_series(&self) -> impl Iterator<Item = &'static Series> + use<> {
        self.series.iter().flat_map(|group| group.iter().copied())
    }
}

impl Series {
    /// A counter; those of several nodes are added.
    pub const fn counter(key: &'static str, about: &'static str) -> Self {
        Self { key, about, kind: Kind::Counter, nodes: Nodes::Sum, meaning: None }
    }

    /// A count that falls too.
    pub const fn steps(key: &'static str, about: &'static str) -> Self {
        Self { kind: Kind::Steps, ..Self::counter(key, about) }
    }

    /// A level; those of several nodes are added.
    pub const fn level(key: &'static str, about: &'static str) -> Self {
        Self { kind: Kind::Level, ..Self::counter(key, about) }
    }

    /// Of several nodes their mean.
    pub const fn mean(self) -> Self {
        Self { nodes: Nodes::Mean, ..self }
    }

    /// The same with a meaning.
    pub const fn means(self, meaning: Meaning) -> Self {
        Self { meaning: Some(meaning), ..self }
    }
}

/// A figure of what reads met before the page cache.
pub(crate) const fn lookups(key: &'static str, label: &'static str, shown_times: f64, of: Of) -> Figure {
    Figure { key, label, in_results: None, shown_times, place: Place::Lookups, of }
}

pub(crate) const fn kept(key: &'static str, label: &'static str, shown_times: f64, of: Of) -> Figure {
    Figure { place: Place::Kept, ..lookups(key, label, shown_times, of) }
}

/// One of what was done in the background.
pub(crate) const fn background(key: &'static str, label: &'static str, of: Of) -> Figure {
    Figure { place: Place::Background, ..lookups(key, label, 1.0, of) }
}

/// Declares series, and `SERIES`, which has all of them in this order. What is said above each is its line of the
/// reference.
macro_rules! series {
    ($($(#[doc = $about:literal])+ $name:ident $key:literal $kind:ident$(.$with:ident($($what:expr)?))?;)*) => {
        $(
            $(#[doc = $about])+
            pub static $name: Series =
                Series::$kind($key, concat!($($about),+).trim_ascii_start())$(.$with($($what)?))?;
        )*
        /// All of these.
        pub const SERIES: &[&Series] = &[$(&$name),*];
    };
}
pub(crate) use series;
