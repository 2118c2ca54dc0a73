//! How long a volume takes for a request that need not wait.

use serde::{Deserialize, Serialize};
use stats::SplitMix;

/// A log-normal service time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Service {
    /// The median, microseconds.
    pub median_us: f64,
    /// Standard deviation of its logarithm; 0: always the same.
    pub sigma: f64,
}

impl Service {
    /// A service time, seconds.
    pub(crate) fn draw(&self, random: &mut SplitMix) -> f64 {
        let median_s = self.median_us * 1e-6;
        if self.sigma == 0.0 {
            return median_s;
        }
        median_s * (self.sigma * normal(random)).exp()
    }
}

/// Box and Muller, 1958.
fn normal(random: &mut SplitMix) -> f64 {
    let (radius, angle) = (random.uniform(), random.uniform());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}
