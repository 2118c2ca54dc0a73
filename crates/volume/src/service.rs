//! How long a volume takes for a request that need not wait.

use catalog::Latency;
use stats::SplitMix;

/// A service time, seconds.
pub(crate) fn draw_s(latency: &Latency, random: &mut SplitMix) -> f64 {
    let median_s = latency.median_us * 1e-6;
    if latency.sigma == 0.0 {
        return median_s;
    }
    median_s * (latency.sigma * normal(random)).exp()
}

/// Box and Muller, 1958.
fn normal(random: &mut SplitMix) -> f64 {
    let (radius, angle) = (random.uniform(), random.uniform());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}
