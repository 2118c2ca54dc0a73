//! How an hour of an instance is paid for.

use std::str::FromStr;

use crate::nearest;
use crate::words::words;

words! {
    /// On demand, reserved for one or three years, or by a price that the user states.
    ///
    /// The price of a reservation is counted by the hour: the upfront payment spread over the hours of the term, plus
    /// the hourly rate. It is owed for every hour of the term, whether the instance runs or not. Savings Plans depend
    /// on the plan that was bought and spot moves by the hour, so that the program has no price of them: a user states
    /// it.
    #[derive(Default)]
    pub enum Purchase by word {
        /// By the hour, without commitment.
        #[default]
        OnDemand = "on-demand",
        /// One year, nothing upfront.
        OneYearNoUpfront = "1yr-no-upfront",
        /// One year, about half upfront.
        OneYearPartialUpfront = "1yr-partial-upfront",
        /// One year, all upfront.
        OneYearAllUpfront = "1yr-all-upfront",
        /// Three years, nothing upfront.
        ThreeYearNoUpfront = "3yr-no-upfront",
        /// Three years, about half upfront.
        ThreeYearPartialUpfront = "3yr-partial-upfront",
        /// Three years, all upfront.
        ThreeYearAllUpfront = "3yr-all-upfront",
        /// One year of "heavy utilisation", as sold until 2014.
        OneYearHeavyUtilisation = "1yr-heavy-utilisation",
        /// Three years of "heavy utilisation", as sold until 2014.
        ThreeYearHeavyUtilisation = "3yr-heavy-utilisation",
        /// A Savings Plan: the user states its price.
        SavingsPlan = "savings-plan",
        /// Spot: the user states its price.
        Spot = "spot",
    }
}

/// Hours in a year of a reservation's term.
const HOURS_PER_YEAR: f64 = 8760.0;

impl Purchase {
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
