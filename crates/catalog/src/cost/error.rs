//! Why something cannot be priced.

use crate::{NotAttached, PriceError, TooManyVolumes, VolumeError};

/// Why something cannot be priced.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum CostError {
    /// No such instance type.
    #[error("unknown instance type `{given}`{}", near(.nearest))]
    UnknownInstance { given: String, nearest: Vec<String> },
    /// A volume that AWS does not (or did not then) sell.
    #[error("{volume}: {error}")]
    Volume {
        /// For people: `io1 volume of 100 GiB`.
        volume: String,
        error: VolumeError,
    },
    /// More volumes than the instance attaches.
    #[error(transparent)]
    TooMany(#[from] TooManyVolumes),
    /// Volumes that the instance is not known to take.
    #[error(transparent)]
    NotAttached(#[from] NotAttached),
    /// A price that is not known.
    #[error(transparent)]
    Price(#[from] PriceError),
    /// A region without prices.
    #[error(
        "no prices of region `{given}` are known; known: {}; others by: iopslab catalog refresh --region {given}",
        .known.join(", ")
    )]
    Region { given: String, known: Vec<String> },
    /// A price date that is none.
    #[error("`{given}` is no price date; expected a day, month or year such as 2017-11-12, 2017-11 or 2017")]
    Date { given: String },
    /// Another value of the basis that cannot be.
    #[error("{key} is {given}; expected {least} to {most}")]
    Basis { key: &'static str, given: f64, least: f64, most: f64 },
    /// Two costs that are counted in different ways.
    #[error("the two costs are counted in different ways ({one}; {other}), so that their difference means nothing")]
    OtherBasis { one: String, other: String },
    /// A configuration of no machine.
    #[error("a configuration has at least one node")]
    NoNodes,
    /// Hours of a run that cannot be.
    #[error("a run of {given} hours cannot be; expected more than 0")]
    RunHours { given: f64 },
}

fn near(names: &[String]) -> String {
    if names.is_empty() { "; see: iopslab catalog list".to_owned() } else { format!("; nearest: {}", names.join(", ")) }
}
