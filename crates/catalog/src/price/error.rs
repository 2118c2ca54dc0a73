//! Why a price is not known.

/// Why a price is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum PriceError {
    /// No price of this kind at any time.
    #[error("no {what} is known{}; it is not counted as 0", advice(.known))]
    Unknown {
        /// `price of snapshots in eu-west-1`.
        what: String,
        known: Vec<String>,
    },
    /// No price of an instance type of this kind at any time.
    #[error(
        "no {what} is known{}; it is not counted as 0; state one: --stated-price {instance}=USD_PER_HOUR, {key} in a \
         catalog file or price_usd_per_month in the [[configuration]] (docs/catalog.md)",
        advice(.known)
    )]
    UnknownOfInstance {
        /// `1yr-no-upfront price of m1.small in us-east-1`.
        what: String,
        known: Vec<String>,
        instance: String,
        /// Of a catalog file: `usd_per_hour`.
        key: &'static str,
    },
    /// A kind of price that the program never has of its own.
    #[error(
        "no {what} is known: Savings Plans and spot have no price of their own here; state one with --stated-price \
         {instance}=USD_PER_HOUR or in a catalog file (docs/catalog.md)"
    )]
    NotStated {
        /// `spot price of i3.2xlarge in us-east-1`.
        what: String,
        instance: String,
    },
    /// Only prices of later days.
    #[error("no {what} is known on or before {asked}; known days: {}", .days.join(", "))]
    OnlyLater {
        /// `on-demand price of i3.2xlarge`.
        what: String,
        asked: String,
        days: Vec<String>,
    },
}

fn advice(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; known: {}", known.join(", ")) }
}
