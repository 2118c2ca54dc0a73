//! The generalised harmonic number `zeta(n, theta) = 1/1^theta + 1/2^theta + ... + 1/n^theta`, the weight of all ranks
//! of a zipfian distribution together.
//!
//! YCSB sums it term by term. That sum is kept up to [`SUMMED_TERMS`], in the same order, so that its rounding is kept
//! as well. Beyond, a sum takes minutes (10^10 terms) and Euler and Maclaurin's formula gives the rest to about 1 part
//! in 10^15, which is nearer to the truth than the sum would be:
//!
//! `sum(k = a+1 ..= n) k^-t = (n^(1-t) - a^(1-t)) / (1-t) + (n^-t - a^-t)/2 - t (n^(-t-1) - a^(-t-1))/12 + ...`
//!
//! Source: NIST Digital Library of Mathematical Functions, equation 2.10.1, <https://dlmf.nist.gov/2.10>.

use std::sync::{Mutex, PoisonError};

/// Terms that are summed one by one: about a second, once per process.
const SUMMED_TERMS: u64 = 1 << 26;

/// Terms summed before the formula takes over when nothing has to agree with YCSB's rounding.
const HEAD_TERMS: u64 = 1 << 16;

/// zeta(n, theta) as YCSB computes it (see the module's documentation).
///
/// Load threads ask for the same number at the same time; the memory of the last few answers means that only the first
/// of them works for it.
pub(crate) fn zeta(n: u64, theta: f64) -> f64 {
    const REMEMBERED_FROM: u64 = 1 << 12;
    const REMEMBERED: usize = 8;
    static ANSWERS: Mutex<Vec<(u64, u64, f64)>> = Mutex::new(Vec::new());

    if n < REMEMBERED_FROM {
        return extend(0.0, 0, n, theta);
    }
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = answers.iter().find(|(terms, bits, _)| (*terms, *bits) == (n, theta.to_bits())) {
        return known.2;
    }
    let summed = extend(0.0, 0, n.min(SUMMED_TERMS), theta);
    let answer = summed + tail(SUMMED_TERMS, n, theta);
    if answers.len() == REMEMBERED {
        answers.remove(0);
    }
    answers.push((n, theta.to_bits(), answer));
    answer
}

/// zeta(n, theta) quickly, for sums that YCSB itself does not get to compute.
pub(crate) fn zeta_of_large_space(n: u64, theta: f64) -> f64 {
    extend(0.0, 0, n.min(HEAD_TERMS), theta) + tail(HEAD_TERMS, n, theta)
}

/// Adds the terms `from + 1 ..= to` to a sum, in YCSB's order (`ZipfianGenerator.zetastatic`).
pub(crate) fn extend(sum: f64, from: u64, to: u64, theta: f64) -> f64 {
    (from..to).fold(sum, |sum, rank| sum + 1.0 / ((rank + 1) as f64).powf(theta))
}

/// The terms `after + 1 ..= n` by Euler and Maclaurin's formula; 0 when there are none.
pub(crate) fn tail(after: u64, n: u64, theta: f64) -> f64 {
    if n <= after {
        return 0.0;
    }
    let (a, b) = (after as f64, n as f64);
    let power = 1.0 - theta;
    // (b^power - a^power) / power, stable where power is near 0 (the integral is then ln(b/a)).
    let log_ratio = (b / a).ln();
    let integral = if (power * log_ratio).abs() < 1e-12 {
        a.powf(power) * log_ratio
    } else {
        a.powf(power) * (power * log_ratio).exp_m1() / power
    };
    let ends = (b.powf(-theta) - a.powf(-theta)) / 2.0;
    let slopes = theta * (b.powf(-theta - 1.0) - a.powf(-theta - 1.0)) / 12.0;
    integral + ends - slopes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_agrees_with_the_sum() {
        for theta in [0.0, 0.3, 0.5, 0.99, 1.0, 1.2, 2.0] {
            let summed = extend(0.0, 0, 1_000_000, theta);
            let quick = zeta_of_large_space(1_000_000, theta);
            assert!((quick / summed - 1.0).abs() < 1e-12, "theta {theta}: {quick} instead of {summed}");
        }
    }

    /// YCSB carries this one value as a constant (`ScrambledZipfianGenerator.ZETAN`).
    #[test]
    fn the_formula_agrees_with_the_constant_of_ycsb() {
        let quick = zeta_of_large_space(10_000_000_000, 0.99);
        assert!((quick - 26.469_028_201_783_02).abs() < 1e-9, "{quick}");
    }

    /// `ZipfianGenerator.zetastatic(10_000_000_001, 0.8)` of YCSB 0.17.0, which took JDK 17 two minutes.
    #[test]
    fn the_formula_agrees_with_ten_thousand_million_terms_summed_by_ycsb() {
        let quick = zeta_of_large_space(10_000_000_001, 0.8);
        assert!((quick / 495.562_461_598_992_1 - 1.0).abs() < 1e-9, "{quick}");
    }

    #[test]
    fn an_answer_does_not_depend_on_what_was_asked_before() {
        let first = zeta(20_000, 0.7);
        for terms in 10_000..10_020 {
            zeta(terms, 0.7);
        }
        assert_eq!(zeta(20_000, 0.7).to_bits(), first.to_bits());
    }
}
