//! Rows of a partition, from the `cluster` of each clustering column.

use crate::data::Size;

/// Most sizes that several distributions together are given as.
const MOST_SIZES: usize = 200;
/// Numbers at which a uniform distribution is taken, at the least, where it is multiplied.
const STEPS: u64 = 100;

/// The product of all clusters.
pub(super) fn rows(clusters: &[&Size]) -> Size {
    let (fixed, varying): (Vec<&Size>, Vec<&Size>) =
        clusters.iter().copied().partition(|size| matches!(size, Size::Fixed { .. }));
    let fixed = fixed.iter().map(|size| size.max()).fold(1, u64::saturating_mul).max(1);
    match varying.as_slice() {
        [] => Size::fixed(fixed),
        [Size::Uniform { min, max }] if fixed == 1 => Size::Uniform { min: (*min).max(1), max: (*max).max(1) },
        several => {
            let times = |all: Vec<(u64, f64)>, size: &&Size| {
                let points = points(size);
                let product = |(a, p): (u64, f64)| -> Vec<(u64, f64)> {
                    points.iter().map(|(b, q)| (a.saturating_mul(*b).max(1), p * q)).collect()
                };
                fewer(all.into_iter().flat_map(product).collect())
            };
            Size::Histogram { sizes: several.iter().fold(vec![(fixed, 1.0)], times) }
        }
    }
}

/// A size as at most two hundred numbers with weights.
fn points(size: &Size) -> Vec<(u64, f64)> {
    match size {
        Size::Histogram { sizes } => sizes.clone(),
        other => {
            let (min, max) = (other.min(), other.max());
            let step = ((max - min) / STEPS).max(1) as usize;
            (min..=max).step_by(step).map(|size| (size, 1.0)).collect()
        }
    }
}

/// Neighbours as one, where there are too many: their mean with the sum of their weights.
fn fewer(mut all: Vec<(u64, f64)>) -> Vec<(u64, f64)> {
    if all.len() <= MOST_SIZES {
        return all;
    }
    all.sort_by_key(|(size, _)| *size);
    let merged = all.chunks(all.len().div_ceil(MOST_SIZES)).map(|chunk| {
        let weight: f64 = chunk.iter().map(|(_, weight)| weight).sum();
        let sum: f64 = chunk.iter().map(|(size, weight)| *size as f64 * weight).sum();
        (((sum / weight).round() as u64).max(1), weight)
    });
    merged.collect()
}
