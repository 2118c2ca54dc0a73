//! Which distribution the keys of recorded requests have: from how often each was asked for.
//!
//! Which key has which rank nobody knows, and the order of the counts is not that of popularity where keys were asked
//! for a few times. So the likelihood is that of the *number* of keys that were asked for so often, those that nobody
//! asked for among them, whose number follows from how many keys there are:
//!
//! `sum over counts c: keys(c) ln sum over classes j: share(j) P(c | j)`
//!
//! with classes of keys of about the same popularity (`classes`). It is maximised for each [`Law`]; the laws are
//! compared by Schwarz's criterion (`ln likelihood - parameters ln(keys) / 2`; G. Schwarz, "Estimating the dimension
//! of a model", Annals of Statistics 6, 1978). An interval has all constants whose likelihood is not smaller by more
//! than the 95 % point of chi-squared with one degree of freedom allows (S. S. Wilks, Annals of Mathematical Statistics
//! 9, 1938): near a constant of 0 it is one-sided and wide, where a standard error would be nonsense.
//!
//! The best of a few laws may be a bad one. [`Fitted::gap`] says how far it is from what was counted.

mod classes;
mod counts;

use std::fmt;

use serde::Serialize;

use crate::Distribution;
use crate::chooser::ScrambledZipfian;
use counts::Counts;

/// With fewer keys, or requests, nothing is fitted.
const LEAST: u64 = 100;
/// A law that is further away than this from what was counted does not describe it: ten points of the requests.
pub const MOST_GAP: f64 = 0.1;
/// First ranks that are whole where a law is held against what was counted: of a steep one the first key has much of
/// all requests, and what lies between the ranks of the likelihood's classes would count as a difference.
const WHOLE_RANKS: u64 = 10;
/// Constants that are tried.
const STEEPEST: f64 = 1.95;
const CONSTANTS: u32 = 14;
/// Half of the 95 % point of chi-squared with one degree of freedom.
const LESS_LIKELY: f64 = 1.920_729;

/// A constant with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Constant {
    /// The most likely one.
    pub value: f64,
    /// The least that is in the interval.
    pub low: f64,
    /// The greatest one.
    pub high: f64,
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}, 95 % interval {:.3} to {:.3}", self.value, self.low, self.high)
    }
}

/// How popular keys are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Law {
    /// All alike.
    Uniform,
    /// As the generators make them: Zipf's law over 10^10 ranks, hashed to the keys ([`ScrambledZipfian`]).
    Zipfian {
        /// The exponent.
        constant: Constant,
    },
    /// Zipf's law over the keys themselves, which no generator makes.
    OverKeys {
        /// The exponent.
        constant: Constant,
    },
    /// A share of the keys is asked for more often than the others, and equally often.
    Hotspot {
        /// That share of the keys.
        data_fraction: f64,
        /// The share of the requests that is for them.
        operation_fraction: f64,
    },
}

impl Law {
    /// As an experiment states it, with rounded figures; `None`: no generator makes it.
    pub fn distribution(&self) -> Option<Distribution> {
        match *self {
            Self::Uniform => Some(Distribution::Uniform),
            Self::Zipfian { constant } => {
                Some(Distribution::Zipfian { constant: ((constant.value * 1e3).round() / 1e3).max(1e-3) })
            }
            Self::OverKeys { .. } => None,
            // Neither is all of them.
            Self::Hotspot { data_fraction, operation_fraction } => Some(Distribution::Hotspot {
                data_fraction: four_digits(data_fraction).min(0.9999),
                operation_fraction: four_digits(operation_fraction).min(0.9999),
            }),
        }
    }

    /// Parameters that are fitted.
    fn parameters(&self) -> f64 {
        match self {
            Self::Uniform => 0.0,
            Self::Zipfian { .. } | Self::OverKeys { .. } => 1.0,
            Self::Hotspot { .. } => 2.0,
        }
    }
}

/// For people: `zipfian (0.990, 95 % interval 0.986 to 0.993)`.
impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Zipfian { constant } => write!(f, "zipfian ({constant})"),
            Self::OverKeys { constant } => write!(f, "Zipf's law over the partitions themselves ({constant})"),
            Self::Hotspot { data_fraction, operation_fraction } => write!(
                f,
                "a hot set ({} % of the requests for {} % of the partitions)",
                four_digits(*operation_fraction * 100.0),
                four_digits(*data_fraction * 100.0)
            ),
        }
    }
}

/// A number above 0 with four digits.
fn four_digits(number: f64) -> f64 {
    let unit = 10_f64.powi(3 - number.log10().floor() as i32);
    (number * unit).round() / unit
}

/// A law that was fitted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fitted {
    /// Which.
    pub law: Law,
    /// How far it is from what was counted: the greatest difference, over all numbers, between the share of the
    /// requests for keys that were asked for so often or more, and that share by the law.
    pub gap: f64,
}

impl Fitted {
    /// Whether it describes what was counted ([`MOST_GAP`]).
    pub fn is_close(&self) -> bool {
        self.gap <= MOST_GAP
    }
}

/// What counts of requests say of the popularity of keys.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Skew {
    /// How many keys there are.
    pub keys: u64,
    /// How many of them were asked for.
    pub asked: u64,
    /// Requests.
    pub requests: u64,
    /// Share of the requests that are for the most popular key.
    pub hottest: f64,
    /// The law that describes them best.
    pub best: Fitted,
    /// That of those that generators make which comes nearest: the same, where they make it.
    pub made: Fitted,
    /// The constant of the generators' zipfian keys, whether or not it describes them.
    pub zipfian: Constant,
}

/// What the requests of each key say, of how many keys there are; `None`: these are too few.
pub fn fit(requests_of_each: impl IntoIterator<Item = u64>, keys: u64) -> Option<Skew> {
    let counts = Counts::of(requests_of_each, keys);
    if counts.keys < LEAST || counts.requests < LEAST {
        return None;
    }
    let zipfian = constant(&counts, ScrambledZipfian::RANKS);
    let over_keys = constant(&counts, counts.keys);
    let (data_fraction, operation_fraction) = hot_set(&counts);
    let laws = [
        Law::Uniform,
        Law::Zipfian { constant: zipfian },
        Law::OverKeys { constant: over_keys },
        Law::Hotspot { data_fraction, operation_fraction },
    ];
    let classes_of = |law: Law, whole: u64| match law {
        Law::Uniform => classes::even(&counts),
        Law::Zipfian { constant } => classes::zipfian(&counts, constant.value, ScrambledZipfian::RANKS, whole),
        Law::OverKeys { constant } => classes::zipfian(&counts, constant.value, counts.keys, whole),
        Law::Hotspot { data_fraction, operation_fraction } => {
            classes::hot_set(&counts, data_fraction, operation_fraction)
        }
    };
    let criterion = |law: Law| {
        let ln_likelihood = classes::ln_likelihood(&classes_of(law, 0), &counts);
        ln_likelihood - law.parameters() * (counts.keys as f64).ln() / 2.0
    };
    let fitted = |law: Law| Fitted { law, gap: classes::gap(&classes_of(law, WHOLE_RANKS), &counts) };
    let each = laws.map(|law| (fitted(law), criterion(law)));
    let (best, _) = each.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let is_made = |fitted: &Fitted| fitted.law.distribution().is_some();
    let made = each.into_iter().map(|(fitted, _)| fitted).filter(is_made);
    let nearest = made.min_by(|a, b| a.gap.total_cmp(&b.gap))?;
    Some(Skew {
        keys: counts.keys,
        asked: counts.asked,
        requests: counts.requests,
        hottest: counts.hottest(),
        best,
        made: if is_made(&best) { best } else { nearest },
        zipfian,
    })
}

/// The most likely constant over so many ranks: the best of a few by steps, then by golden section beside it.
fn constant(counts: &Counts, ranks: u64) -> Constant {
    const SECTIONS: u32 = 20;
    const HALVES: u32 = 20;
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    let likelihood = |constant: f64| classes::ln_likelihood(&classes::zipfian(counts, constant, ranks, 0), counts);
    let step = STEEPEST / f64::from(CONSTANTS - 1);
    let steps = (0..CONSTANTS).map(|number| f64::from(number) * step).map(|at| (at, likelihood(at)));
    let more_likely = |a: (f64, f64), b: (f64, f64)| if b.1 > a.1 { b } else { a };
    let mut best = steps.fold((0.0, f64::NEG_INFINITY), more_likely);
    let (mut from, mut to) = ((best.0 - step).max(0.0), (best.0 + step).min(STEEPEST));
    let inner = |at: f64| (at, likelihood(at));
    let (mut left, mut right) = (inner(to - golden * (to - from)), inner(from + golden * (to - from)));
    for _ in 0..SECTIONS {
        if left.1 >= right.1 {
            (to, right) = (right.0, left);
            left = inner(to - golden * (to - from));
        } else {
            (from, left) = (left.0, right);
            right = inner(from + golden * (to - from));
        }
    }
    best = more_likely(best, more_likely(left, right));
    // The interval ends where it is this much less likely, or with the constants that are tried.
    let end = |outmost: f64| {
        let is_in = |at: f64| likelihood(at) >= best.1 - LESS_LIKELY;
        if is_in(outmost) {
            return outmost;
        }
        let (mut within, mut without) = (best.0, outmost);
        for _ in 0..HALVES {
            let middle = f64::midpoint(within, without);
            if is_in(middle) {
                within = middle;
            } else {
                without = middle;
            }
        }
        within
    };
    Constant { value: best.0, low: end(0.0), high: end(STEEPEST) }
}

/// The most likely hot set, by expectation and maximisation from a few beginnings (A. P. Dempster and others, Journal
/// of the Royal Statistical Society B 39, 1977): its share of the keys, and its share of the requests.
fn hot_set(counts: &Counts) -> (f64, f64) {
    const BEGINNINGS: [f64; 5] = [0.0001, 0.001, 0.01, 0.1, 0.3];
    const ROUNDS: u32 = 200;
    let keys = counts.keys as f64;
    let least = 1.0 / keys;
    let share = |share: f64| share.clamp(least / 2.0, 1.0 - least / 2.0);
    let fitted = BEGINNINGS.map(|hot| {
        let mut now = (share(hot), 0.8);
        for _ in 0..ROUNDS {
            let [hot, cold] = [(now.0, now.1), (1.0 - now.0, 1.0 - now.1)].map(|(of_keys, of_requests)| {
                let mean = counts.mean() * of_requests / of_keys;
                move |requests: f64| f64::ln(of_keys) + requests * f64::ln(mean) - mean
            });
            let (mut hot_keys, mut hot_requests) = (0.0, 0.0);
            for alike in &counts.alike {
                let is_hot = alike.keys / (1.0 + (cold(alike.requests) - hot(alike.requests)).exp());
                hot_keys += is_hot;
                hot_requests += is_hot * alike.requests;
            }
            now = (share(hot_keys / keys), share(hot_requests / counts.requests as f64));
        }
        (now, classes::ln_likelihood(&classes::hot_set(counts, now.0, now.1), counts))
    });
    let most_likely = fitted.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
    let (keys, requests) = most_likely.map_or((0.5, 0.5), |(shares, _)| shares);
    // The set that is asked for more often is the hot one.
    if requests >= keys { (keys, requests) } else { (1.0 - keys, 1.0 - requests) }
}
