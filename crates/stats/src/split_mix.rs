//! A pseudo-random generator that is small, and the same everywhere and in every version.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): for orders and draws; choosing a
/// workload's keys is not its work.
#[derive(Debug, Clone)]
pub struct SplitMix(u64);

impl SplitMix {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`: the high word of a product, whose bias is below 2^-50 for any bound under 2^14.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Above 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        ((self.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the authors' C code (<https://prng.di.unimi.it/splitmix64.c>) from seed 1234567.
    #[test]
    fn numbers_are_those_of_the_reference() {
        let mut random = SplitMix::new(1_234_567);
        let found = [(); 5].map(|()| random.next_u64());
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut random = SplitMix::new(1);
        let mut seen = [0_u32; 7];
        for _ in 0..7_000 {
            seen[random.below(7) as usize] += 1;
            let share = random.uniform();
            assert!(0.0 < share && share < 1.0, "{share}");
        }
        assert!(seen.iter().all(|times| (850..1_150).contains(times)), "{seen:?}");
    }
}
