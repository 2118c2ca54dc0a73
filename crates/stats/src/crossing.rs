//! Where a straight line through noisy points crosses zero: inverse regression.

use crate::student;

/// Points on straight lines, each line with its own: (x, y).
pub type Points = Vec<(f64, f64)>;

/// Least squares lines whose spread is pooled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residuals {
    squares: f64,
    degrees: f64,
}

/// A line through points.
#[derive(Debug, Clone, Copy)]
struct Line {
    n: f64,
    x: f64,
    y: f64,
    /// Sum of squared distances from the mean x.
    squares_x: f64,
    slope: f64,
    /// Sum of squared residuals.
    residual: f64,
}

/// Where a line crosses zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// Estimate.
    pub at: f64,
    /// Its bounds; `None` where the slope is not shown to be above 0, so that nothing bounds it.
    pub bounds: Option<(f64, f64)>,
}

impl Line {
    fn through(points: &[(f64, f64)]) -> Option<Self> {
        let n = points.len() as f64;
        let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
        let squares_x: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
        // NaN without points, 0 with one place.
        if points.len() < 3 || squares_x.is_nan() || squares_x <= 0.0 {
            return None;
        }
        let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / squares_x;
        let residual = points.iter().map(|p| (p.1 - y - slope * (p.0 - x)).powi(2)).sum();
        Some(Self { n, x, y, squares_x, slope, residual })
    }
}

impl Residuals {
    /// Pools what the points of each line lie away from it.
    pub fn pooled<'a>(lines: impl Iterator<Item = &'a Points>) -> Self {
        let mut pool = Self { squares: 0.0, degrees: 0.0 };
        for line in lines.filter_map(|points| Line::through(points)) {
            pool.squares += line.residual;
            pool.degrees += line.n - 2.0;
        }
        pool
    }

    /// Where the rising line through these points, which are among the pooled ones, crosses zero, with its bounds at
    /// `1 - level` (Fieller, Journal of the Royal Statistical Society B 16, 1954; Draper and Smith, "Applied Regression
    /// Analysis", 3.2). The points come from so many `blocks`, and all of a block may have its luck in common: so the
    /// height of the line is taken to be known no better than from one point of each. `None` where it does not rise.
    pub fn crossing(&self, points: &Points, blocks: usize, level: f64) -> Option<Crossing> {
        let line = Line::through(points).filter(|line| line.slope > 0.0)?;
        let reach = -line.y / line.slope;
        let at = line.x + reach;
        let independent = line.n.min(blocks as f64);
        let bounds = || {
            let t = student::quantile(1.0 - level / 2.0, self.degrees)?;
            let deviation = (self.squares / self.degrees).sqrt();
            let g = (t * deviation / line.slope).powi(2) / line.squares_x;
            if g.is_nan() || g >= 1.0 {
                return None;
            }
            let half = t * deviation / line.slope * ((1.0 - g) / independent + reach.powi(2) / line.squares_x).sqrt();
            let middle = line.x + reach / (1.0 - g);
            Some((middle - half / (1.0 - g), middle + half / (1.0 - g)))
        };
        Some(Crossing { at, bounds: bounds() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    #[test]
    fn a_line_without_noise_crosses_where_it_does() {
        let points: Points = vec![(1.0, -2.0), (2.0, 0.0), (3.0, 2.0), (4.0, 4.0)];
        let found = Residuals::pooled([&points].into_iter()).crossing(&points, 4, 0.05).unwrap();
        assert!((found.at - 2.0).abs() < 1e-12);
        let (low, high) = found.bounds.unwrap();
        assert!((low - 2.0).abs() < 1e-9 && (high - 2.0).abs() < 1e-9);
        let falling: Points = points.iter().map(|(x, y)| (*x, -y)).collect();
        assert_eq!(Residuals::pooled([&falling].into_iter()).crossing(&falling, 4, 0.05), None);
    }

    /// How often the bounds hold the truth where the luck of a trial and that of its block spread so much; three blocks
    /// of three rates, two lines.
    fn held(own: f64, shared: f64, blocks: usize) -> f64 {
        let mut noise = Noise::new(3);
        let (mut inside, mut bounded) = (0, 0);
        for _ in 0..2_000 {
            let luck: Vec<f64> = (0..3).map(|_| shared * noise.normal()).collect();
            let lines: Vec<Points> = (0..2)
                .map(|_| {
                    let places = [-0.08, 0.0, 0.08].into_iter().flat_map(|x| luck.iter().map(move |l| (x, l)));
                    places.map(|(x, luck)| (x, 8.0 * (x - 0.02) + luck + own * noise.normal())).collect()
                })
                .collect();
            let found = Residuals::pooled(lines.iter()).crossing(&lines[0], blocks, 0.05);
            if let Some((low, high)) = found.and_then(|found| found.bounds) {
                bounded += 1;
                inside += u32::from(low <= 0.02 && 0.02 <= high);
            }
        }
        assert!(bounded > 1_000, "{bounded}");
        f64::from(inside) / f64::from(bounded)
    }

    #[test]
    fn bounds_hold_the_truth_as_often_as_they_say() {
        let alone = held(0.15, 0.0, 9);
        assert!((0.935..0.985).contains(&alone), "{alone}");
        let careful = held(0.15, 0.0, 3);
        assert!(careful > alone, "{careful}");
        let blocks = held(0.15, 0.15, 3);
        assert!(blocks > 0.935, "{blocks}");
        let careless = held(0.15, 0.15, 9);
        assert!(careless < 0.9, "what it is for: {careless}");
    }
}
