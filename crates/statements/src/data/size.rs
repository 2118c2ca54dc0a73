//! Numbers of rows, bytes and elements.

use serde::{Deserialize, Serialize};
use workload::Random;
use workload::chooser::uniform_item;

use super::weighted::Weighted;

/// A number of rows, bytes or elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Size {
    /// Always the same.
    Fixed {
        /// The number.
        size: u64,
    },
    /// Each equally likely.
    Uniform {
        /// The least.
        min: u64,
        /// The greatest.
        max: u64,
    },
    /// The exponential of a normal distribution, rounded.
    LogNormal {
        /// Half of them are below it.
        median: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
        /// What is greater becomes this.
        max: u64,
    },
    /// These alone.
    Histogram {
        /// Each with its weight; weights need not sum to anything.
        sizes: Vec<(u64, f64)>,
    },
}

impl Size {
    /// Always so many.
    pub const fn fixed(size: u64) -> Self {
        Self::Fixed { size }
    }

    /// What cannot be.
    pub(crate) fn mistake(&self) -> Option<String> {
        match self {
            Self::Fixed { .. } => None,
            Self::Uniform { min, max } => (min > max).then(|| format!("min {min} exceeds max {max}")),
            Self::LogNormal { median, sigma, .. } => {
                let is_so = median.is_finite() && *median > 0.0 && sigma.is_finite() && *sigma >= 0.0;
                let message = || format!("median {median} has to be above 0, and sigma {sigma} not below");
                (!is_so).then(message)
            }
            Self::Histogram { sizes } => Weighted::mistake(sizes.iter().map(|(_, weight)| *weight)),
        }
    }

    /// The mean; of a log-normal distribution by its density, in steps of a hundredth of its deviation.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed { size } => *size as f64,
            Self::Uniform { min, max } => (*min as f64 + *max as f64) / 2.0,
            Self::LogNormal { median, sigma, max } => {
                let (mut sum, mut weights) = (0.0, 0.0);
                for step in -800..=800 {
                    let z = f64::from(step) / 100.0;
                    let weight = (-z * z / 2.0).exp();
                    sum += weight * (median * (sigma * z).exp()).min(*max as f64);
                    weights += weight;
                }
                sum / weights
            }
            Self::Histogram { sizes } => {
                let all: f64 = sizes.iter().map(|(_, weight)| weight).sum();
                sizes.iter().map(|(size, weight)| *size as f64 * weight).sum::<f64>() / all
            }
        }
    }

    /// The least that there can be.
    pub fn min(&self) -> u64 {
        match self {
            Self::Fixed { size } => *size,
            Self::Uniform { min, .. } => *min,
            Self::LogNormal { .. } => 0,
            Self::Histogram { sizes } => sizes.iter().map(|(size, _)| *size).min().unwrap_or(0),
        }
    }

    /// The greatest that there can be.
    pub fn max(&self) -> u64 {
        match self {
            Self::Fixed { size } => *size,
            Self::Uniform { max, .. } | Self::LogNormal { max, .. } => *max,
            Self::Histogram { sizes } => sizes.iter().map(|(size, _)| *size).max().unwrap_or(0),
        }
    }
}

/// A [`Size`] to draw from.
#[derive(Debug, Clone)]
pub(crate) enum Sizes {
    Fixed(u64),
    Uniform { min: u64, numbers: u64 },
    LogNormal { median: f64, sigma: f64, max: u64 },
    Histogram { sizes: Vec<u64>, weighted: Weighted },
}

impl Sizes {
    /// Of a size without a mistake.
    pub(crate) fn new(size: &Size) -> Self {
        match size {
            Size::Fixed { size } => Self::Fixed(*size),
            Size::Uniform { min, max } => {
                Self::Uniform { min: *min, numbers: max.saturating_sub(*min).saturating_add(1) }
            }
            Size::LogNormal { median, sigma, max } => Self::LogNormal { median: *median, sigma: *sigma, max: *max },
            Size::Histogram { sizes } => Self::Histogram {
                weighted: Weighted::new(sizes.iter().map(|(_, weight)| *weight)),
                sizes: sizes.iter().map(|(size, _)| *size).collect(),
            },
        }
    }

    /// The next one.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> u64 {
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform { min, numbers } => min + uniform_item(*numbers, random.next_u64()),
            Self::LogNormal { median, sigma, max } => {
                let size = median * (sigma * normal(random)).exp();
                // As far as 64 bits reach, which `max` bounds.
                (size.round() as u64).min(*max)
            }
            Self::Histogram { sizes, weighted } => sizes[weighted.choose(random.next_unit())],
        }
    }
}

/// A normal number of mean 0 and deviation 1 (G. E. P. Box and M. E. Muller, 1958).
fn normal(random: &mut Random) -> f64 {
    // In (0, 1], so that the logarithm is finite.
    let radius = (-2.0 * (1.0 - random.next_unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.next_unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_has_the_mean_and_stays_within_bounds() {
        for size in [
            Size::fixed(7),
            Size::Uniform { min: 3, max: 9 },
            Size::LogNormal { median: 40.0, sigma: 0.8, max: 100_000 },
            Size::LogNormal { median: 40.0, sigma: 1.5, max: 60 },
            Size::Histogram { sizes: vec![(1, 6.0), (10, 3.0), (100, 1.0)] },
        ] {
            let sizes = Sizes::new(&size);
            let mut random = Random::from_seed(11);
            let drawn: Vec<u64> = (0..100_000).map(|_| sizes.draw(&mut random)).collect();
            let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
            assert!((mean / size.mean() - 1.0).abs() < 0.02, "{size:?}: {mean} instead of {}", size.mean());
            assert!(drawn.iter().all(|drawn| (size.min()..=size.max()).contains(drawn)), "{size:?}");
        }
    }

    #[test]
    fn half_of_a_log_normal_size_lies_below_its_median() {
        let sizes = Sizes::new(&Size::LogNormal { median: 1_000.0, sigma: 1.2, max: u64::MAX });
        let mut random = Random::from_seed(3);
        let below = (0..50_000).filter(|_| sizes.draw(&mut random) < 1_000).count();
        assert!((24_000..26_000).contains(&below), "{below}");
    }

    #[test]
    fn sizes_that_cannot_be_are_refused() {
        for (size, message) in [
            (Size::Uniform { min: 5, max: 4 }, "min 5 exceeds max 4"),
            (Size::LogNormal { median: 0.0, sigma: 1.0, max: 9 }, "median 0 has to be above 0, and sigma 1 not below"),
            (Size::Histogram { sizes: vec![] }, "nothing has a weight"),
            (Size::Histogram { sizes: vec![(1, -1.0), (2, 3.0)] }, "the weight -1 is not 0 or more"),
        ] {
            assert_eq!(size.mistake().as_deref(), Some(message));
        }
    }
}
