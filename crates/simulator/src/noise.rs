//! Seeded noise. Each source has a generator of its own, so that a change of one does not shift the others.

use workload::Random;

/// Standard deviation of ln(latency) and ln(service time) of one request.
pub const SIGMA: f64 = 0.5;

/// Numbers from a seed and the names of what they are for.
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

    /// Uniform in [0, 1).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        self.0.next_unit()
    }

    /// Standard normal, by Box and Muller.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.next_unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.next_unit()).cos()
    }

    /// Exponential with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.0.next_unit()).ln()
    }

    /// A log-normal factor with mean 1 on the time of one request.
    #[inline]
    pub fn of_request(&mut self) -> f64 {
        (SIGMA * self.normal() - SIGMA * SIGMA / 2.0).exp()
    }
}

/// A log-normal factor with median 1 and this coefficient of variation, from a standard normal number.
pub fn factor(variation: f64, normal: f64) -> f64 {
    ((1.0 + variation * variation).ln().sqrt() * normal).exp()
}

/// Standard normal numbers, each correlated with the one before: AR(1) whose variance stays 1.
pub struct Chain {
    noise: Noise,
    correlation: f64,
    before: Option<f64>,
}

impl Chain {
    /// Starts anywhere in its stationary distribution.
    pub fn new(noise: Noise, correlation: f64) -> Self {
        Self { noise, correlation, before: None }
    }

    /// The next number.
    pub fn next(&mut self) -> f64 {
        let fresh = self.noise.normal();
        linked(&mut self.before, self.correlation, fresh)
    }
}

/// The AR(1) number that follows `before`, given a fresh standard normal one.
pub fn linked(before: &mut Option<f64>, correlation: f64, fresh: f64) -> f64 {
    let next = match *before {
        Some(before) => correlation * before + (1.0 - correlation * correlation).sqrt() * fresh,
        None => fresh,
    };
    *before = Some(next);
    next
}
