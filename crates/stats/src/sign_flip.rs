//! A check on the t test that assumes no distribution.

use crate::estimate::logarithms;

/// Most pairs whose signs are all tried: a million ways.
const SIGN_FLIP_MAX: usize = 20;

/// Two-sided p-value of the exact sign-flip permutation test on log ratios: of all ways to swap the sides of pairs, the
/// share whose mean is at least as far from 0 (Fisher's randomisation test). Needs no distribution; with n pairs it
/// cannot fall below 2^(1-n).
///
/// `None` without pairs, above twenty pairs, or with a value that is not positive and finite.
pub fn sign_flip_p(pairs: &[(f64, f64)]) -> Option<f64> {
    let ratios: Vec<f64> = pairs.iter().map(|(a, b)| a / b).collect();
    let differences = logarithms(&ratios)?;
    let n = differences.len();
    if n == 0 || n > SIGN_FLIP_MAX {
        return None;
    }
    let observed = differences.iter().sum::<f64>().abs() * (1.0 - 1e-9);
    // Gray code: each way differs from the one before in a single sign.
    let mut signs = vec![1.0; n];
    let mut sum: f64 = differences.iter().sum();
    let mut at_least = 1_u32;
    let ways = 1_u32 << n;
    for way in 1..ways {
        let flipped = way.trailing_zeros() as usize;
        signs[flipped] = -signs[flipped];
        sum += 2.0 * signs[flipped] * differences[flipped];
        at_least += u32::from(sum.abs() >= observed);
    }
    Some(f64::from(at_least) / f64::from(ways))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_flips_are_counted_exactly() {
        // All six the same way: only this way and its mirror image are as extreme.
        let pairs: Vec<(f64, f64)> = (1..=6).map(|i| (100.0 + f64::from(i), 100.0)).collect();
        assert_eq!(sign_flip_p(&pairs), Some(2.0 / 64.0));
        // ln 2 and -ln 2: every way is as extreme as a sum of 0.
        assert_eq!(sign_flip_p(&[(2.0, 1.0), (1.0, 2.0)]), Some(1.0));
        assert_eq!(sign_flip_p(&[(2.0, 1.0); 21]), None);
    }
}
