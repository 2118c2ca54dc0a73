//! Prices as they were seen, by day: what an hour of an instance and a month of a volume cost.
//!
//! Published studies used the prices of their time, so every price keeps its day and its source. Between two days on
//! which a price was seen the earlier one counts; before the first one nothing is known, which is an error and never 0.

mod error;
mod instance;
mod look_up;
mod other;
mod purchase;
mod volume;

pub use error::PriceError;
pub use instance::InstancePrice;
pub(crate) use instance::{built_in as built_in_instance_prices, order};
pub use other::{OtherCharge, OtherPrice};
pub use purchase::{Purchase, UnknownPurchase};
pub use volume::{PriceStep, VolumePrice};
pub(crate) use volume::{built_in as built_in_volume_prices, volume_order};
