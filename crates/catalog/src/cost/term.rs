//! What reservations cost over their whole term, and how it is paid.

use serde::{Deserialize, Serialize};

use super::micro::micro;
use crate::InstancePrice;

/// Money for reserved instances over their term: owed whether they run or not. Volumes are not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TermTotal {
    /// Years of the term.
    pub years: u32,
    /// Hours of the term: 8,760 a year.
    pub hours: f64,
    /// USD over the term, all machines together.
    pub usd: f64,
    /// What of it is paid upfront, USD; `None`: the source of a price does not say.
    pub upfront_usd: Option<f64>,
    /// What the rest is by the hour, USD; `None`: as above.
    pub usd_per_hour: Option<f64>,
}

impl TermTotal {
    /// Of so many machines at a price; `None` where it is that of no reservation.
    pub(super) fn of(nodes: u32, price: &InstancePrice) -> Option<Self> {
        let (years, hours) = (price.purchase.term_years()?, price.purchase.term_hours()?);
        let machines = f64::from(nodes);
        let usd = machines * price.usd_per_hour * hours;
        let upfront_usd = price.upfront_usd.map(|upfront| machines * upfront);
        Some(Self {
            years,
            hours,
            usd: micro(usd),
            upfront_usd: upfront_usd.map(micro),
            usd_per_hour: upfront_usd.map(|upfront| micro((usd - upfront) / hours)),
        })
    }

    /// Together with other machines of the same purchase option.
    pub(super) fn and(self, other: Self) -> Self {
        let both = |one: Option<f64>, other: Option<f64>| Some(micro(one? + other?));
        Self {
            usd: micro(self.usd + other.usd),
            upfront_usd: both(self.upfront_usd, other.upfront_usd),
            usd_per_hour: both(self.usd_per_hour, other.usd_per_hour),
            ..self
        }
    }
}
