//! Prices as they were seen, by day: what an hour of an instance and a month of a volume cost.
//!
//! Published studies used the prices of their time, so every price keeps its day and its source. Between two days on which a
//! price was seen the earlier one counts; before the first one nothing is known, which is an error and never 0.

mod instance;
mod other;
mod purchase;
mod volume;

pub use instance::InstancePrice;
pub(crate) use instance::{built_in as built_in_instance_prices, order};
pub use other::{OtherCharge, OtherPrice};
pub use purchase::{Purchase, UnknownPurchase};
pub use volume::VolumePrice;
pub(crate) use volume::{built_in as built_in_volume_prices, volume_order};

/// Why a price is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// No price of this kind at any time.
    #[error("no {what} is known{}; it is not counted as 0", advice(.known))]
    Unknown {
        /// `1yr-no-upfront price of m1.small`.
        what: String,
        /// What is known instead.
        known: Vec<String>,
    },
    /// A kind of price that the program never has of its own.
    #[error(
        "no {what} is known: Savings Plans and spot have no price of their own here; state one with --stated-price {instance}=USD_PER_HOUR \
        or in a catalog file (docs/catalog.md)"
    )]
    NotStated {
        /// `spot price of i3.2xlarge in us-east-1`.
        what: String,
        /// Instance type.
        instance: String,
    },
    /// Only prices of later days.
    #[error("no {what} is known on or before {asked}; known days: {}", .days.join(", "))]
    OnlyLater {
        /// `on-demand price of i3.2xlarge`.
        what: String,
        /// The day asked for.
        asked: String,
        /// The days on which it is known, oldest first.
        days: Vec<String>,
    },
}

fn advice(known: &[String]) -> String {
    if known.is_empty() {
        String::new()
    } else {
        format!("; known: {}", known.join(", "))
    }
}

/// The latest of `dated` (oldest first) on or before a day; the very latest without a day.
fn latest<'a, T>(dated: &'a [T], day: Option<&str>, day_of: impl Fn(&T) -> &str) -> Option<&'a T> {
    dated.iter().rfind(|one| day.is_none_or(|day| day_of(one) <= day))
}
