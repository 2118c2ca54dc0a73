//! How many requests a key gets by a law: keys of about the same popularity are a class, and which key is of which
//! class nobody knows.
//!
//! A class gets requests as a Poisson process does whose rate differs a little from key to key: the number of requests
//! is negative binomial, of alike keys Poisson. Ranks are taken for continuous ones, with a tenth between the ends of a
//! class, so that one key that is somewhat out of line does not decide alone.

use super::counts::{Counts, ln_gamma};
use crate::zeta::{tail, zeta_of_large_space};

/// From the first rank of a class to the first one of the next.
const WIDTH: f64 = 1.1;
/// Of so many keys one has a popular rank of its own; what else is hashed to it are ranks of little popularity, and
/// what falls on each key of them is about the same.
const KEYS_FOR_A_RANK: u64 = 8;
/// The chance that a key is asked for as nobody expects, such as one that a health check reads: so it can lower the
/// likelihood of a law, but decides no constant.
const ODD: f64 = 1e-9;
/// Keys of a class whose requests are more than so many standard deviations away.
const FAR: f64 = 20.0;
/// With less of a spread the negative binomial distribution is Poisson's.
const ALIKE: f64 = 1e9;

/// Keys of about the same popularity.
pub(super) struct Class {
    /// Of all keys.
    share: f64,
    /// Requests of each, in the mean.
    mean: f64,
    /// Of the rates of its keys.
    variance: f64,
    /// Of the gamma distribution of these rates; `None`: they are alike.
    shape: Option<(f64, f64)>,
}

impl Class {
    fn new(share: f64, mean: f64, variance: f64) -> Self {
        let shape = Some(mean * mean / variance).filter(|shape| shape.is_finite() && *shape > 0.0 && *shape < ALIKE);
        Self { share, mean, variance, shape: shape.map(|shape| (shape, ln_gamma(shape))) }
    }

    /// Variance of the requests of a key.
    fn spread(&self) -> f64 {
        self.mean + self.variance
    }

    /// The chance that a key of it is asked for so often.
    fn chance(&self, requests: f64, ln_factorial: f64) -> f64 {
        if self.mean <= 0.0 {
            return if requests == 0.0 { 1.0 } else { 0.0 };
        }
        let ln_chance = match self.shape {
            None => requests * self.mean.ln() - self.mean - ln_factorial,
            Some((shape, ln_gamma_shape)) => {
                ln_gamma(requests + shape) - ln_gamma_shape - ln_factorial - shape * (self.mean / shape).ln_1p()
                    + requests * (self.mean / (shape + self.mean)).ln()
            }
        };
        ln_chance.exp()
    }

    /// Requests of a key of it, in the mean, where keys with fewer than `least` have none: by the normal distribution.
    fn beyond(&self, least: f64) -> f64 {
        let deviation = self.spread().sqrt();
        if deviation <= 0.0 {
            return 0.0;
        }
        let z = (self.mean - least + 0.5) / deviation;
        let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
        (self.mean * below(z, density) + deviation * density).min(self.mean)
    }
}

/// All keys alike.
pub(super) fn even(counts: &Counts) -> Vec<Class> {
    vec![Class::new(1.0, counts.mean(), 0.0)]
}

/// A share of the keys, which gets a share of the requests; the others get the rest.
pub(super) fn hot_set(counts: &Counts, keys: f64, requests: f64) -> Vec<Class> {
    let hot = Class::new(keys, counts.mean() * requests / keys, 0.0);
    vec![hot, Class::new(1.0 - keys, counts.mean() * (1.0 - requests) / (1.0 - keys), 0.0)]
}

/// Zipf's law over so many ranks, `p = rank^-constant / weight`: each of a key of its own, or, where there are more
/// than keys, hashed to them. So many of the first ranks are `whole`: nothing lies between them.
pub(super) fn zipfian(counts: &Counts, constant: f64, ranks: u64, whole: u64) -> Vec<Class> {
    let keys = counts.keys as f64;
    let weight = zeta_of_large_space(ranks, constant);
    let head = if ranks > counts.keys { (counts.keys / KEYS_FOR_A_RANK).clamp(1, ranks) } else { ranks };
    // What the other ranks add to each key: mean and variance.
    let rest = tail(head, ranks, constant) / weight / keys;
    let rest_variance = tail(head, ranks, 2.0 * constant) / weight.powi(2) / keys;
    let whole = whole.min(head);
    let alone = |rank: u64| (1.0 / keys, (rank as f64).powf(-constant) / weight + rest, rest_variance);
    let mut parts: Vec<(f64, f64, f64)> = (1..=whole).map(alone).collect();
    let (mut rank, end) = (whole as f64 + 0.5, head as f64 + 0.5);
    while rank < end {
        let next = (rank * WIDTH).min(end);
        let popularity = (rank * next).sqrt().powf(-constant) / weight;
        // As wide as a uniform distribution from its first to its last rank.
        let spread = (popularity * constant * (next / rank).ln()).powi(2) / 12.0;
        parts.push(((next - rank) / keys, popularity + rest, rest_variance + spread));
        rank = next;
    }
    if head < counts.keys {
        parts.push((1.0 - head as f64 / keys, rest, rest_variance));
    }
    let together: f64 = parts.iter().map(|(share, popularity, _)| share * popularity).sum();
    let requests = counts.mean() / together;
    let class = |(share, popularity, variance): (f64, f64, f64)| {
        Class::new(share, popularity * requests, variance * requests.powi(2))
    };
    parts.into_iter().map(class).collect()
}

/// ln of the likelihood of what was counted.
pub(super) fn ln_likelihood(classes: &[Class], counts: &Counts) -> f64 {
    let each = counts.alike.iter().map(|alike| {
        let near = |class: &&Class| (alike.requests - class.mean).powi(2) <= FAR.powi(2) * (class.spread() + 1.0);
        let chances = classes.iter().filter(near);
        let chance: f64 = chances.map(|class| class.share * class.chance(alike.requests, alike.ln_factorial)).sum();
        alike.keys * (chance + ODD / (1.0 + alike.requests)).ln()
    });
    each.sum()
}

/// The greatest difference, over all bounds, between the share of the requests for keys that were asked for so often or
/// more, and that share by the law.
pub(super) fn gap(classes: &[Class], counts: &Counts) -> f64 {
    /// Up to here the chances of each number are summed; beyond, the normal distribution is near enough.
    const SUMMED: u32 = 32;
    const STEP: f64 = 1.25;
    let (mut fewer, mut ln_factorial) = (0.0, 0.0);
    let mut bounds = Vec::new();
    for number in 1..=SUMMED {
        let requests = f64::from(number);
        bounds.push((requests, counts.mean() - fewer));
        ln_factorial += requests.ln();
        fewer += classes.iter().map(|class| class.share * requests * class.chance(requests, ln_factorial)).sum::<f64>();
    }
    let mut bound = f64::from(SUMMED);
    while bound < counts.most() {
        bound = (bound * STEP).floor() + 1.0;
        bounds.push((bound, classes.iter().map(|class| class.share * class.beyond(bound)).sum()));
    }
    let requests = counts.requests as f64;
    let seen = |bound: f64| {
        let from = counts.alike.partition_point(|alike| alike.requests < bound);
        counts.alike[from..].iter().map(|alike| alike.requests * alike.keys).sum::<f64>() / requests
    };
    let differences = bounds.into_iter().map(|(bound, by_law)| (by_law / counts.mean() - seen(bound)).abs());
    differences.fold(0.0, f64::max)
}

/// The share of a normal distribution below `z`, whose density there is given, to 1e-7.
///
/// Source: M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 1964, formula 26.2.17.
fn below(z: f64, density: f64) -> f64 {
    const TERMS: [f64; 5] = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let above = density * TERMS.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    if z < 0.0 { above } else { 1.0 - above }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_of_a_class_add_up_to_one_with_its_mean() {
        for (mean, variance) in [(0.3, 0.0), (20.0, 0.0), (20.0, 50.0), (2.0, 4.0)] {
            let class = Class::new(1.0, mean, variance);
            let (mut all, mut requests, mut above) = (0.0, 0.0, 0.0);
            for number in 0..2_000 {
                let number = f64::from(number);
                let chance = class.chance(number, ln_gamma(number + 1.0));
                all += chance;
                requests += number * chance;
                above += if number >= 25.0 { number * chance } else { 0.0 };
            }
            assert!(
                (all - 1.0).abs() < 1e-8 && (requests - mean).abs() < 1e-6,
                "{mean}, {variance}: {all}, {requests}"
            );
            assert!((class.beyond(25.0) - above).abs() < 0.06 * mean, "{mean}, {variance}: {above}");
        }
    }

    #[test]
    fn a_law_gives_away_all_requests() {
        let counts = Counts::of((0..1_000).map(|key| key % 7), 5_000);
        for constant in [0.0, 0.5, 0.99, 1.0, 1.4] {
            for (ranks, whole) in [(counts.keys, 0), (10_000_000_001, 0), (counts.keys, 10), (10_000_000_001, 10)] {
                let classes = zipfian(&counts, constant, ranks, whole);
                let keys: f64 = classes.iter().map(|class| class.share).sum();
                let requests: f64 = classes.iter().map(|class| class.share * class.mean).sum();
                assert!((keys - 1.0).abs() < 1e-9, "{constant}, {ranks}: {keys}");
                assert!((requests - counts.mean()).abs() < 1e-9, "{constant}, {ranks}: {requests}");
            }
        }
    }

    #[test]
    fn the_normal_distribution_is_that_of_tables() {
        for (z, expected) in [(0.0, 0.5), (1.0, 0.841_344_7), (-1.96, 0.024_997_9), (3.0, 0.998_650_1)] {
            let density = (-z * z / 2.0_f64).exp() / std::f64::consts::TAU.sqrt();
            assert!((below(z, density) - expected).abs() < 2e-7, "{z}");
        }
    }
}
