//! How values of a column are made, as it is stated.

use serde::{Deserialize, Serialize};

use super::size::Size;
use super::weighted::Weighted;

/// How values of a column are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Generator {
    /// Always the same.
    Fixed {
        /// As in CQL without quotes: `12`, `true`, `Berlin`, `0xcafe`, a UUID, `2026-01-31T12:00:00Z`, an address,
        /// `1h30m`.
        value: String,
    },
    /// One of these.
    Values {
        /// Each, written as [`Generator::Fixed`] has it, with its weight; weights need not sum to anything.
        values: Vec<(String, f64)>,
    },
    /// Numbers, each equally likely; of `date` days since 1970, of `time` nanoseconds, of `timestamp` milliseconds
    /// since 1970.
    Uniform {
        /// The least.
        min: f64,
        /// The greatest; of `float` and `double` the end, which is not reached.
        max: f64,
    },
    /// Whole numbers, the least the most frequent.
    Zipfian {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
        /// Skew, between 0 and 1.
        constant: f64,
    },
    /// `start + step * ((n / each) % cycle)`, where n is the number of the partition for a column of the partition key
    /// and a static one, and the number of the row in its partition for all others.
    Sequence {
        /// The first.
        start: i64,
        /// From one to the next.
        step: i64,
        /// So many in a row have the same value; at least 1.
        each: u64,
        /// So many values, then the first one again.
        cycle: Option<u64>,
    },
    /// Bytes of `text`, `ascii` and `blob`.
    Bytes {
        /// How many.
        length: Size,
        /// The share of each value that repeats one character, 0..=1; the rest is random printable ASCII.
        compressibility: f64,
    },
    /// `timestamp`, `timeuuid` and `date`: row n of a partition (partition n for a column of the partition key) lies n
    /// steps after the start. A value that a request writes anew, outside of the key, has the request's own time.
    Advancing {
        /// Milliseconds since 1970.
        start_ms: i64,
        /// Milliseconds from row to row.
        step_ms: i64,
    },
    /// `list`, `set` and `map`.
    Collection {
        /// How many elements; those of a set and keys of a map that come twice count once.
        size: Size,
        /// An element of a list or set, a value of a map; `None`: as is usual for its type.
        element: Option<Box<Generator>>,
        /// A key of a map; `None`: as is usual for its type.
        key: Option<Box<Generator>>,
    },
}

impl Generator {
    /// Its name in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Fixed { .. } => "fixed",
            Self::Values { .. } => "values",
            Self::Uniform { .. } => "uniform",
            Self::Zipfian { .. } => "zipfian",
            Self::Sequence { .. } => "sequence",
            Self::Bytes { .. } => "bytes",
            Self::Advancing { .. } => "advancing",
            Self::Collection { .. } => "collection",
        }
    }

    /// What cannot be, whatever the type of the column.
    pub(crate) fn mistake(&self) -> Option<String> {
        match self {
            Self::Fixed { .. } | Self::Advancing { .. } => None,
            Self::Values { values } => Weighted::mistake(values.iter().map(|(_, weight)| *weight)),
            Self::Uniform { min, max } => {
                let is_so = min.is_finite() && max.is_finite() && min <= max;
                (!is_so).then(|| format!("min {min} exceeds max {max}"))
            }
            Self::Zipfian { min, max, constant } => {
                let is_skew = *constant > 0.0 && *constant < 1.0;
                let order = (min > max).then(|| format!("min {min} exceeds max {max}"));
                order.or_else(|| (!is_skew).then(|| format!("constant {constant} is not between 0 and 1")))
            }
            Self::Sequence { each, cycle, .. } => {
                (*each == 0 || *cycle == Some(0)).then(|| "each and cycle are at least 1".to_owned())
            }
            Self::Bytes { length, compressibility } => {
                let is_share = (0.0..=1.0).contains(compressibility);
                let share = || (!is_share).then(|| format!("compressibility {compressibility} is not between 0 and 1"));
                bounded(length, MOST_BYTES, "bytes").or_else(share)
            }
            Self::Collection { size, element, key } => {
                let inner =
                    |generator: &Option<Box<Self>>| generator.as_ref().and_then(|generator| generator.mistake());
                bounded(size, MOST_ELEMENTS, "elements").or_else(|| inner(element)).or_else(|| inner(key))
            }
        }
    }
}

/// Most bytes of a value: half of the commit log's segment of 32 MiB, which is the most that Cassandra takes for a
/// write (`max_mutation_size` of its `cassandra.yaml`).
const MOST_BYTES: u64 = 16 << 20;
/// Most elements of a collection; ours: a slip of the pen should not fill the memory.
pub const MOST_ELEMENTS: u64 = 65_535;

fn bounded(size: &Size, most: u64, of: &str) -> Option<String> {
    let greatest = size.max();
    size.mistake().or_else(|| (greatest > most).then(|| format!("{greatest} {of} are more than {most}")))
}
