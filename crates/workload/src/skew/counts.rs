//! How often each key was asked for.

use std::collections::BTreeMap;

/// Keys that were asked for equally often.
pub(super) struct Alike {
    pub(super) requests: f64,
    /// ln of the factorial of that.
    pub(super) ln_factorial: f64,
    pub(super) keys: f64,
}

/// Keys by how often they were asked for, those that nobody asked for among them, in the order of their requests.
pub(super) struct Counts {
    pub(super) alike: Vec<Alike>,
    /// How many there are.
    pub(super) keys: u64,
    pub(super) asked: u64,
    pub(super) requests: u64,
}

impl Counts {
    /// Of the requests of each key that was asked for, and how many keys there are: no fewer than were asked for.
    pub(super) fn of(requests_of_each: impl IntoIterator<Item = u64>, keys: u64) -> Self {
        let mut by_requests: BTreeMap<u64, u64> = BTreeMap::new();
        for requests in requests_of_each.into_iter().filter(|requests| *requests > 0) {
            *by_requests.entry(requests).or_default() += 1;
        }
        let asked: u64 = by_requests.values().sum();
        let requests: u64 = by_requests.iter().map(|(requests, keys)| requests * keys).sum();
        let keys = keys.max(asked);
        by_requests.insert(0, keys - asked);
        let alike = |(requests, keys): (u64, u64)| {
            let requests = requests as f64;
            Alike { requests, ln_factorial: ln_gamma(requests + 1.0), keys: keys as f64 }
        };
        Self { alike: by_requests.into_iter().map(alike).collect(), keys, asked, requests }
    }

    /// Requests for a key in the mean.
    pub(super) fn mean(&self) -> f64 {
        self.requests as f64 / self.keys as f64
    }

    /// Share of the requests that are for the most popular key.
    pub(super) fn hottest(&self) -> f64 {
        self.most() / self.requests as f64
    }

    /// Requests for the most popular key.
    pub(super) fn most(&self) -> f64 {
        self.alike.last().map_or(0.0, |most| most.requests)
    }
}

/// ln of the gamma function of a number above 0, to about 1 part in 10^10: Stirling's series from 10 on, and below by
/// `gamma(x + 1) = x gamma(x)`.
///
/// Source: NIST Digital Library of Mathematical Functions, equations 5.11.1 and 5.5.1, <https://dlmf.nist.gov/5.11>.
pub(super) fn ln_gamma(x: f64) -> f64 {
    const HALF_LN_TAU: f64 = 0.918_938_533_204_672_7;
    let (mut x, mut product) = (x, 1.0);
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1_260.0));
    (x - 0.5) * x.ln() - x + HALF_LN_TAU + series - f64::ln(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gamma_function_is_that_of_factorials_and_of_a_half() {
        let mut ln_factorial = 0.0;
        for n in 1..200_u32 {
            ln_factorial += f64::from(n).ln();
            let found = ln_gamma(f64::from(n) + 1.0);
            assert!((found - ln_factorial).abs() < 1e-9 * ln_factorial.max(1.0), "{n}: {found} and {ln_factorial}");
        }
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-9);
    }

    #[test]
    fn keys_that_nobody_asked_for_are_counted_too() {
        let counts = Counts::of([3, 1, 0, 3], 10);
        let found: Vec<(f64, f64)> = counts.alike.iter().map(|alike| (alike.requests, alike.keys)).collect();
        assert_eq!(found, [(0.0, 7.0), (1.0, 1.0), (3.0, 2.0)]);
        assert_eq!((counts.keys, counts.asked, counts.requests), (10, 3, 7));
        assert_eq!((counts.mean(), counts.most(), counts.hottest()), (0.7, 3.0, 3.0 / 7.0));
        assert_eq!(Counts::of([1, 1], 1).keys, 2, "no fewer than were asked for");
    }
}
