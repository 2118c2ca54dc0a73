//! When the requests of an open loop arrive.

use serde::{Deserialize, Serialize};

/// How the arrivals of an open loop follow each other. JSON says whether they are a Poisson process, or that they were
/// recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub enum Arrivals {
    /// Constant gaps.
    Constant,
    /// Exponential gaps: a Poisson process.
    Poisson,
    /// As a recording has them; its rate is a mean.
    Recorded,
}

/// As JSON has it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    IsPoisson(bool),
    Word(Word),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Recorded,
}

impl From<Written> for Arrivals {
    fn from(written: Written) -> Self {
        match written {
            Written::IsPoisson(true) => Self::Poisson,
            Written::IsPoisson(false) => Self::Constant,
            Written::Word(Word::Recorded) => Self::Recorded,
        }
    }
}

impl From<Arrivals> for Written {
    fn from(arrivals: Arrivals) -> Self {
        match arrivals {
            Arrivals::Poisson => Self::IsPoisson(true),
            Arrivals::Constant => Self::IsPoisson(false),
            Arrivals::Recorded => Self::Word(Word::Recorded),
        }
    }
}
