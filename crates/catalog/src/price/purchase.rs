//! How an hour of an instance is paid for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::nearest;

/// On demand, reserved for one or three years, or by a price that the user states.
///
/// The price of a reservation is counted by the hour: the upfront payment spread over the hours of the term, plus the
/// hourly rate. It is owed for every hour of the term, whether the instance runs or not. Savings Plans depend on the
/// plan that was bought and spot moves by the hour, so that the program has no price of them: a user states it.
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
    /// A Savings Plan: the user states its price.
    #[serde(rename = "savings-plan")]
    SavingsPlan,
    /// Spot: the user states its price.
    #[serde(rename = "spot")]
    Spot,
}

/// Hours in a year of a reservation's term.
const HOURS_PER_YEAR: f64 = 8760.0;

impl Purchase {
    /// Every option, in the order in which lists show them.
    pub const ALL: [Self; 11] = [
        Self::OnDemand,
        Self::OneYearNoUpfront,
        Self::OneYearPartialUpfront,
        Self::OneYearAllUpfront,
        Self::ThreeYearNoUpfront,
        Self::ThreeYearPartialUpfront,
        Self::ThreeYearAllUpfront,
        Self::OneYearHeavyUtilisation,
        Self::ThreeYearHeavyUtilisation,
        Self::SavingsPlan,
        Self::Spot,
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
            Self::SavingsPlan => "savings-plan",
            Self::Spot => "spot",
        }
    }

    /// Whether only the user knows its price.
    pub fn is_stated(self) -> bool {
        matches!(self, Self::SavingsPlan | Self::Spot)
    }

    /// Years of the reservation's term; `None`: it is none.
    pub fn term_years(self) -> Option<u32> {
        match self {
            Self::OnDemand | Self::SavingsPlan | Self::Spot => None,
            Self::OneYearNoUpfront
            | Self::OneYearPartialUpfront
            | Self::OneYearAllUpfront
            | Self::OneYearHeavyUtilisation => Some(1),
            Self::ThreeYearNoUpfront
            | Self::ThreeYearPartialUpfront
            | Self::ThreeYearAllUpfront
            | Self::ThreeYearHeavyUtilisation => Some(3),
        }
    }

    /// Hours of the reservation's term.
    pub fn term_hours(self) -> Option<f64> {
        self.term_years().map(|years| f64::from(years) * HOURS_PER_YEAR)
    }

    /// The upfront payment that follows from the option and the price by the hour, USD; `None`: it does not follow.
    pub(crate) fn upfront_usd(self, usd_per_hour: f64) -> Option<f64> {
        match self {
            Self::OneYearNoUpfront | Self::ThreeYearNoUpfront => Some(0.0),
            Self::OneYearAllUpfront | Self::ThreeYearAllUpfront => Some(usd_per_hour * self.term_hours()?),
            _ => None,
        }
    }

    /// The column of `data/instance_prices.csv`, where it has one.
    pub(super) fn column(self) -> Option<&'static str> {
        Some(match self {
            Self::OnDemand => "on_demand",
            Self::OneYearNoUpfront => "1n",
            Self::OneYearPartialUpfront => "1p",
            Self::OneYearAllUpfront => "1a",
            Self::ThreeYearNoUpfront => "3n",
            Self::ThreeYearPartialUpfront => "3p",
            Self::ThreeYearAllUpfront => "3a",
            Self::OneYearHeavyUtilisation => "1h",
            Self::ThreeYearHeavyUtilisation => "3h",
            Self::SavingsPlan | Self::Spot => return None,
        })
    }

    /// The column of the upfront payment, where the table has one.
    pub(super) fn upfront_column(self) -> Option<&'static str> {
        match self {
            Self::OneYearHeavyUtilisation => Some("1h_upfront"),
            Self::ThreeYearHeavyUtilisation => Some("3h_upfront"),
            _ => None,
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
        Self::ALL.into_iter().find(|purchase| purchase.word().eq_ignore_ascii_case(word)).ok_or_else(|| {
            UnknownPurchase { given: word.to_owned(), nearest: nearest::by_slips(word, words(), 4, 1).first().copied() }
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
