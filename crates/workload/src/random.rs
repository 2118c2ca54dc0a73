//! A small, fast pseudo-random generator: xoshiro256++ seeded through SplitMix64.
//!
//! Source: D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47 (2021), and the
//! authors' public-domain reference code at <https://prng.di.unimi.it>. Own code rather than a dependency because the
//! sequence is part of a run's evidence: a seed in an experiment must give the same operations in ten years.

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): small, and good enough for gaps and seeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitMix(pub u64);

impl SplitMix {
    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// xoshiro256++ with 256 bits of state; about a nanosecond per number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// Fills the state from one number with SplitMix64, as the authors advise: similar seeds give unrelated sequences.
    pub fn from_seed(seed: u64) -> Self {
        let mut mix = SplitMix(seed);
        Self { state: [(); 4].map(|()| mix.next_u64()) }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A uniform number in `[0, 1)` with 53 random bits, the resolution of Java's `Random.nextDouble`.
    #[inline]
    pub fn next_unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * STEP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the reference C code (xoshiro256plusplus.c) from the state {1, 2, 3, 4}.
    #[test]
    fn agrees_with_the_reference_implementation() {
        let mut random = Random { state: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..4).map(|_| random.next_u64()).collect();
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn units_lie_in_the_half_open_interval_and_average_one_half() {
        let mut random = Random::from_seed(7);
        let mut sum = 0.0;
        for _ in 0..100_000 {
            let u = random.next_unit();
            assert!((0.0..1.0).contains(&u));
            sum += u;
        }
        assert!((sum / 100_000.0 - 0.5).abs() < 0.005);
    }
}
