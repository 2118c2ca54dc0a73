//! Seeded noise. Each source has a generator of its own, so that a change of one does not shift the others.

use workload::Random;

/// Normal numbers from a seed and the names of what they are for.
pub struct Noise(Random);

impl Noise {
    /// A generator that depends on the seed and on every part of the name.
    pub fn of(seed: u64, parts: &[&str]) -> Self {
        // FNV-1a over the parts, with a separator that no name contains.
        let mut hash = 0xCBF2_9CE4_8422_2325_u64 ^ seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for byte in parts.iter().flat_map(|p| p.bytes().chain([0])) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        Self(Random::from_seed(hash))
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.next_unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.next_unit()).cos()
    }

    /// A log-normal factor with median 1 and this coefficient of variation.
    pub fn factor(&mut self, variation: f64) -> f64 {
        ((1.0 + variation * variation).ln().sqrt() * self.normal()).exp()
    }
}
