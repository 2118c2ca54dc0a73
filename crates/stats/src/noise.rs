//! Seeded noise for tests of this crate.

use crate::SplitMix;

/// SplitMix64 with Box-Muller.
pub struct Noise(SplitMix);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66))
    }

    /// Uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Rates that the documentation quotes, measured.
mod rates {
    use std::collections::BTreeMap;

    use super::Noise;
    use crate::{Contrast, LEVEL, Layout, Samples, Series, estimate, median, sign_flip_p};

    /// Pairs of one experiment: 8 % from block to block (shared by both sides), 5 % from trial to trial.
    fn pairs(noise: &mut Noise, blocks: usize, factor: f64) -> Vec<(f64, f64)> {
        (0..blocks)
            .map(|_| {
                let block = 1000.0 * (0.08 * noise.normal()).exp();
                let mut trial = |f: f64| f * block * (0.05 * noise.normal()).exp();
                (trial(factor), trial(1.0))
            })
            .collect()
    }

    fn paired(pairs: &[(f64, f64)]) -> Contrast {
        let side = |column: usize, values: Vec<f64>| Series {
            group: 0,
            column,
            kind: 0,
            process: 0,
            by_block: (1..).zip(values).collect::<BTreeMap<u32, f64>>(),
        };
        let (a, b) = pairs.iter().map(|(a, b)| (a.ln(), b.ln())).unzip();
        Layout::new(vec![side(0, a), side(1, b)]).contrast(0, 1).unwrap()
    }

    #[test]
    fn two_equal_configurations_are_called_different_at_the_stated_rate() {
        let mut noise = Noise::new(1);
        let (runs, mut by_t, mut by_flip) = (4000, 0, 0);
        for _ in 0..runs {
            let pairs = pairs(&mut noise, 6, 1.0);
            by_t += u32::from(paired(&pairs).p_of(1.0) < LEVEL);
            by_flip += u32::from(sign_flip_p(&pairs).unwrap() < 0.05);
        }
        println!("A/A: paired t at {LEVEL} {by_t} of {runs}, sign flip at 0.05 {by_flip} of {runs}");
        assert!((65..=140).contains(&by_t), "{by_t}");
        assert!(by_flip <= 280, "{by_flip}");
    }

    #[test]
    fn pairing_by_block_finds_what_unpaired_samples_do_not() {
        let mut noise = Noise::new(2);
        let (runs, mut with, mut without) = (1000, 0, 0);
        for _ in 0..runs {
            let pairs = pairs(&mut noise, 8, 1.1);
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(a, b)| (a.ln(), b.ln())).unzip();
            let unpaired = Samples::new([a.as_slice(), b.as_slice()].into_iter()).contrast(&a, &b).unwrap();
            with += u32::from(paired(&pairs).p_of(1.0) < 0.05);
            without += u32::from(unpaired.p_of(1.0) < 0.05);
        }
        println!("+10 %, 8 blocks: found {with} of {runs} paired, {without} of {runs} unpaired");
        assert!(with > 850 && without < 700, "{with} {without}");
    }

    #[test]
    fn intervals_cover_what_they_claim_and_a_percentile_bootstrap_would_not() {
        let mut noise = Noise::new(4);
        for n in [3, 5, 6, 9, 20] {
            let runs = 1000;
            let (mut covered, mut bootstrap) = (0, 0);
            for _ in 0..runs {
                let sample: Vec<f64> = (0..n).map(|_| 1000.0 * (0.08 * noise.normal()).exp()).collect();
                let got = estimate(&sample, 0.95).unwrap();
                covered += u32::from((got.low..=got.high).contains(&1000.0));
                let mut medians: Vec<f64> = (0..200)
                    .map(|_| {
                        let drawn: Vec<f64> = (0..n).map(|_| sample[(noise.uniform() * n as f64) as usize]).collect();
                        median(&drawn).unwrap()
                    })
                    .collect();
                medians.sort_by(f64::total_cmp);
                bootstrap += u32::from((medians[5]..=medians[194]).contains(&1000.0));
            }
            println!("n = {n}: covers {covered} of {runs}; percentile bootstrap {bootstrap}");
            assert!(covered >= 925, "n = {n}: {covered}");
        }
    }
}
