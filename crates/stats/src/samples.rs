//! Samples that share no blocks, such as the same cell in two runs.

use crate::contrast::{Contrast, REPETITIONS_MIN};
use crate::student;

/// Two samples spread more than the rest: upper tail of the F distribution.
const SPREADS_MORE: f64 = 0.06;
/// Two samples spread less than the rest: lower tail. Small, because a small spread of three is often luck.
const SPREADS_LESS: f64 = 0.003;

/// Two samples that share no blocks, such as the same cell in two runs: `ours` and `theirs` are cells, on the
/// logarithmic scale; the variance within cells is pooled over all of them unless the two spread unlike the rest, then
/// it is Welch's (Biometrika 34, 1947).
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    squares: f64,
    degrees: f64,
}

impl Samples {
    /// Pools the variance within cells; each sample is on the logarithmic scale.
    pub fn new<'a>(samples: impl Iterator<Item = &'a [f64]>) -> Self {
        let mut pool = Self { squares: 0.0, degrees: 0.0 };
        for (_, deviation, n) in samples.filter_map(|s| student::mean_and_deviation(s).map(|(m, d)| (m, d, s.len()))) {
            pool.squares += deviation.powi(2) * (n as f64 - 1.0);
            pool.degrees += n as f64 - 1.0;
        }
        pool
    }

    /// The mean of one sample, as a contrast with 0: its interval is one for the geometric mean. `None` with fewer than
    /// three values.
    pub fn level(&self, ours: &[f64]) -> Option<Contrast> {
        if (ours.len() as u64) < REPETITIONS_MIN {
            return None;
        }
        let (mean, deviation) = student::mean_and_deviation(ours)?;
        let (n, own) = (ours.len() as f64, deviation.powi(2));
        let rest = (self.squares - own * (n - 1.0)).max(0.0);
        let (variance, degrees, pooled) = match is_alike(own, n - 1.0, rest, self.degrees - (n - 1.0), SPREADS_MORE) {
            true => (self.squares / self.degrees, self.degrees, true),
            false => (own, n - 1.0, false),
        };
        Some(Contrast { estimate: mean, error: (variance / n).sqrt(), degrees, n: ours.len() as u64, pooled })
    }

    /// `ours` against `theirs`; both must be among the pooled samples. `None` with fewer than three values on a side.
    pub fn contrast(&self, ours: &[f64], theirs: &[f64]) -> Option<Contrast> {
        let least = ours.len().min(theirs.len()) as u64;
        if least < REPETITIONS_MIN {
            return None;
        }
        let (mean_a, deviation_a) = student::mean_and_deviation(ours)?;
        let (mean_b, deviation_b) = student::mean_and_deviation(theirs)?;
        let (n_a, n_b) = (ours.len() as f64, theirs.len() as f64);
        let own_squares = deviation_a.powi(2) * (n_a - 1.0) + deviation_b.powi(2) * (n_b - 1.0);
        let own_degrees = n_a + n_b - 2.0;
        let rest = (self.squares - own_squares).max(0.0);
        let pooled = is_alike(own_squares / own_degrees, own_degrees, rest, self.degrees - own_degrees, SPREADS_MORE);
        let (v_a, v_b) = (deviation_a.powi(2) / n_a, deviation_b.powi(2) / n_b);
        let (variance, degrees) = match pooled {
            true => (self.squares / self.degrees * (1.0 / n_a + 1.0 / n_b), self.degrees),
            false if v_a + v_b == 0.0 => (0.0, own_degrees),
            false => (v_a + v_b, (v_a + v_b).powi(2) / (v_a.powi(2) / (n_a - 1.0) + v_b.powi(2) / (n_b - 1.0))),
        };
        Some(Contrast { estimate: mean_a - mean_b, error: variance.sqrt(), degrees, n: least, pooled })
    }
}

/// Whether a variance may be pooled with the rest (sum of squares and degrees of freedom of the rest).
fn is_alike(own: f64, own_degrees: f64, rest_squares: f64, rest_degrees: f64, more: f64) -> bool {
    if rest_degrees < 1.0 {
        return false;
    }
    let f = own / (rest_squares / rest_degrees);
    if !f.is_finite() {
        return own == 0.0;
    }
    let upper = student::f_upper(f, own_degrees, rest_degrees).unwrap_or(0.0);
    upper >= more && 1.0 - upper >= SPREADS_LESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_are_compared_by_what_all_cells_spread() {
        let cells: [&[f64]; 4] = [&[1.0, 1.1, 0.9], &[1.3, 1.4, 1.2], &[5.0, 5.1, 4.9], &[5.0, 5.1, 4.9]];
        let pool = Samples::new(cells.into_iter());
        let got = pool.contrast(cells[1], cells[0]).unwrap();
        assert_eq!((got.degrees, got.pooled, got.n), (8.0, true, 3));
        assert!((got.estimate - 0.3).abs() < 1e-12);
        assert_eq!(pool.contrast(&cells[1][..2], cells[0]), None);
    }
}
