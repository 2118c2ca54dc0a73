//! How an hour of an instance is paid for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::nearest;

/// On demand, or reserved for one or three years.
///
/// The price of a reservation is counted by the hour: the upfront payment spread over the hours of the term, plus the hourly rate.
/// It is owed for every hour of the term, whether the instance runs or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum Purchase {
    /// By the hour, without commitment.
    #[default]
    #[serde(rename = "on-demand")]
    OnDemand,
    /// One year, nothing upfront.
    #[serde(rename = "1yr-no-upfront")]
    OneYearNoUpfront,
    /// One year, about half upfront.
    #[serde(rename = "1yr-partial-upfront")]
    OneYearPartialUpfront,
    /// One year, all upfront.
    #[serde(rename = "1yr-all-upfront")]
    OneYearAllUpfront,
    /// Three years, nothing upfront.
    #[serde(rename = "3yr-no-upfront")]
    ThreeYearNoUpfront,
    /// Three years, about half upfront.
    #[serde(rename = "3yr-partial-upfront")]
    ThreeYearPartialUpfront,
    /// Three years, all upfront.
    #[serde(rename = "3yr-all-upfront")]
    ThreeYearAllUpfront,
    /// One year of "heavy utilisation", as sold until 2014.
    #[serde(rename = "1yr-heavy-utilisation")]
    OneYearHeavyUtilisation,
    /// Three years of "heavy utilisation", as sold until 2014.
    #[serde(rename = "3yr-heavy-utilisation")]
    ThreeYearHeavyUtilisation,
}

impl Purchase {
    /// Every option, in the order in which lists show them.
    pub const ALL: [Self; 9] = [
        Self::OnDemand,
        Self::OneYearNoUpfront,
        Self::OneYearPartialUpfront,
        Self::OneYearAllUpfront,
        Self::ThreeYearNoUpfront,
        Self::ThreeYearPartialUpfront,
        Self::ThreeYearAllUpfront,
        Self::OneYearHeavyUtilisation,
        Self::ThreeYearHeavyUtilisation,
    ];

    /// The word on the command line and in documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::OnDemand => "on-demand",
            Self::OneYearNoUpfront => "1yr-no-upfront",
            Self::OneYearPartialUpfront => "1yr-partial-upfront",
            Self::OneYearAllUpfront => "1yr-all-upfront",
            Self::ThreeYearNoUpfront => "3yr-no-upfront",
            Self::ThreeYearPartialUpfront => "3yr-partial-upfront",
            Self::ThreeYearAllUpfront => "3yr-all-upfront",
            Self::OneYearHeavyUtilisation => "1yr-heavy-utilisation",
            Self::ThreeYearHeavyUtilisation => "3yr-heavy-utilisation",
        }
    }

    /// The column of `data/instance_prices.csv`.
    pub(super) fn column(self) -> &'static str {
        match self {
            Self::OnDemand => "on_demand",
            Self::OneYearNoUpfront => "1n",
            Self::OneYearPartialUpfront => "1p",
            Self::OneYearAllUpfront => "1a",
            Self::ThreeYearNoUpfront => "3n",
            Self::ThreeYearPartialUpfront => "3p",
            Self::ThreeYearAllUpfront => "3a",
            Self::OneYearHeavyUtilisation => "1h",
            Self::ThreeYearHeavyUtilisation => "3h",
        }
    }
}

impl fmt::Display for Purchase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl FromStr for Purchase {
    type Err = UnknownPurchase;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let words = || Self::ALL.into_iter().map(Self::word);
        Self::ALL
            .into_iter()
            .find(|purchase| purchase.word() == word)
            .ok_or_else(|| UnknownPurchase {
                given: word.to_owned(),
                nearest: nearest::by_slips(word, words(), 4, 1).first().copied(),
            })
    }
}

/// A word that is no purchase option.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown purchase option `{given}`; expected one of {}{}", Purchase::ALL.map(Purchase::word).join(", "),
    .nearest.map(|word| format!(" (did you mean `{word}`?)")).unwrap_or_default())]
pub struct UnknownPurchase {
    /// What was written.
    pub given: String,
    /// The option that is nearest to it.
    pub nearest: Option<&'static str>,
}
