//! Latencies by interval, as the client records them and as `latency.hlog` keeps them.

use experiment::OperationKind;

use crate::ErrorKind;

/// Lowest latency distinguished, microseconds.
pub const LOWEST_US: u64 = 1;
/// Highest latency recorded, microseconds (60 s); longer ones are counted here.
pub const HIGHEST_US: u64 = 60_000_000;
/// Longest latency of a short histogram, microseconds: the last one of its buckets.
const SHORT_US: u64 = (1 << 20) - 1;
/// Significant decimal digits of a recorded latency.
pub(crate) const SIGNIFICANT_DIGITS: u8 = 3;

/// An empty histogram with the bounds of all evidence.
pub fn empty_histogram() -> hdrhistogram::Histogram<u64> {
    hdrhistogram::Histogram::new_with_bounds(LOWEST_US, HIGHEST_US, SIGNIFICANT_DIGITS)
        .expect("the bounds of all evidence are sound")
}

/// An empty histogram that ends at a second, as most latencies do: two thirds of the memory of [`empty_histogram`], and
/// less to go through. What is longer is refused.
pub fn short_histogram() -> hdrhistogram::Histogram<u64> {
    hdrhistogram::Histogram::new_with_bounds(LOWEST_US, SHORT_US, SIGNIFICANT_DIGITS)
        .expect("these bounds lie within those of all evidence")
}

/// Adds counts. A histogram that ends too early for them becomes one with the bounds of all evidence.
pub fn add_counts(to: &mut hdrhistogram::Histogram<u64>, more: &hdrhistogram::Histogram<u64>) {
    if to.add(more).is_err() {
        let mut whole = empty_histogram();
        // No recorded value lies above the bounds of all evidence, so that neither can fail; should it ever, a finding
        // says that the counts of a trial differ from those of its histograms.
        let _ = whole.add(&*to);
        let _ = whole.add(more);
        *to = whole;
    }
}

experiment::word_enum! {
    /// How the caches in front of a database answered a read.
    #[derive(Hash, PartialOrd, Ord)]
    pub enum CacheAnswer by name {
        /// They had the record: the database was not asked.
        Hit = "hit",
        /// The same, and it was older than a write that this client had already had acknowledged.
        Stale = "stale",
        /// They did not have it: the database was asked, and they were given the record.
        Miss = "miss",
        /// Nothing came in time, or the node was lost: the database was asked.
        Unanswered = "unanswered",
    }
}

impl CacheAnswer {
    /// Whether the database was not asked.
    pub fn is_hit(self) -> bool {
        matches!(self, Self::Hit | Self::Stale)
    }
}

/// Which series a histogram belongs to; its `tag()` is the tag in the HdrHistogram log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Series {
    /// Response time of successful operations: done - due (closed loop: done - sent).
    Response(OperationKind),
    /// Open loop only: service time, done - sent.
    Service(OperationKind),
    /// Response time of failed operations.
    Failed(ErrorKind),
    /// Where caches are in front of the database: time of successful reads from sent to done, the database's part
    /// included where it was asked. Each of them is a `Response`, too.
    Cache(CacheAnswer),
    /// Response time of successful operations whose condition was not met (`[applied]` is false): each of them is among
    /// [`Self::Response`], too.
    Unmet(OperationKind),
}

impl Series {
    /// How many a load can have of so many kinds of operations.
    pub const fn most(kinds: usize) -> usize {
        3 * kinds + ErrorKind::ALL.len() + CacheAnswer::ALL.len()
    }

    /// Tag in the log: `read`, `service.read`, `error.read_timeout`, `cache.hit`, `unmet.take`.
    pub fn tag(self) -> String {
        match self {
            Self::Response(kind) => kind.name().to_owned(),
            Self::Service(kind) => format!("service.{}", kind.name()),
            Self::Failed(kind) => format!("error.{}", kind.name()),
            Self::Cache(answer) => format!("cache.{}", answer.name()),
            Self::Unmet(kind) => format!("unmet.{}", kind.name()),
        }
    }

    /// The series that a tag names.
    pub fn from_tag(tag: &str) -> Option<Self> {
        let kind = |name: &str| OperationKind::from_name(name).ok();
        if let Some(name) = tag.strip_prefix("service.") {
            return kind(name).map(Self::Service);
        }
        if let Some(name) = tag.strip_prefix("unmet.") {
            return kind(name).map(Self::Unmet);
        }
        if let Some(name) = tag.strip_prefix("error.") {
            return ErrorKind::ALL.into_iter().find(|e| e.name() == name).map(Self::Failed);
        }
        if let Some(name) = tag.strip_prefix("cache.") {
            return CacheAnswer::ALL.into_iter().find(|answer| answer.name() == name).map(Self::Cache);
        }
        kind(tag).map(Self::Response)
    }
}

/// One second (or less) of one series: a histogram of its latencies, or what counts of one.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct Interval<H = hdrhistogram::Histogram<u64>> {
    pub series: Series,
    /// Seconds from the start of measurement to the start of this interval; negative during warm-up.
    pub start_s: f64,
    pub length_s: f64,
    /// Latencies in microseconds.
    pub histogram: H,
}
