//! The Universal Scalability Law: throughput of N nodes.
//!
//! X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)), where sigma is the share of the work that is serial
//! (contention) and kappa what keeping two nodes coherent costs (Gunther, Guerrilla Capacity Planning, 2007,
//! chapter 4). N / X(N) is linear in 1/lambda, sigma/lambda and kappa/lambda, so that the law is fitted by least
//! squares on relative deviations of N / X, with none of the three below zero.

use crate::SplitMix;
use crate::geometric::geometric_mean;
use crate::student;

/// Fits made from drawn values for an interval: enough that the 2.5 % quantile moves by less than a tenth of the
/// interval from seed to seed.
const DRAWS: usize = 2_000;
/// An interval of the law as wide as those of cells.
const TAIL: f64 = 0.025;

/// The law with its three parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct Scalability {
    pub of_one: f64,
    pub contention: f64,
    pub coherency: f64,
}

/// A value between bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// 2.5 % lie below.
    pub low: f64,
    /// 2.5 % lie above.
    pub high: f64,
}

/// The law as measured.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedScalability {
    /// Fitted to the geometric means.
    pub law: Scalability,
    /// Bounds of the contention; `None` where nothing was repeated.
    pub contention: Option<Bounds>,
    /// Bounds of the coherency.
    pub coherency: Option<Bounds>,
    /// Bounds of the efficiency of the largest number of nodes: its throughput over as many times that of one.
    pub efficiency: Option<Bounds>,
}

impl Scalability {
    /// Throughput of so many nodes.
    pub fn at(&self, nodes: f64) -> f64 {
        self.of_one * nodes / (1.0 + self.contention * (nodes - 1.0) + self.coherency * nodes * (nodes - 1.0))
    }

    /// Throughput of so many nodes over as many times that of one.
    pub fn efficiency(&self, nodes: f64) -> f64 {
        self.at(nodes) / (nodes * self.of_one)
    }

    /// Nodes from which on more of them give less; `None` where there is no such number.
    pub fn peak(&self) -> Option<f64> {
        let peak = ((1.0 - self.contention) / self.coherency).sqrt();
        peak.is_finite().then_some(peak)
    }

    /// Fits (nodes, throughput): at least three different numbers of nodes, all throughputs positive.
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let mut numbers: Vec<f64> = points.iter().map(|(nodes, _)| *nodes).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        if numbers.len() < 3 || points.iter().any(|(nodes, rate)| !(*nodes >= 1.0 && *rate > 0.0)) {
            return None;
        }
        // Relative deviations: each equation is divided by its own N / X.
        let rows: Vec<[f64; 3]> =
            points.iter().map(|(n, rate)| [1.0, n - 1.0, n * (n - 1.0)].map(|x| x * rate / n)).collect();
        // Least squares with no negative coefficient: the best of the feasible subsets of contention and coherency.
        let subsets: [&[usize]; 4] = [&[0, 1, 2], &[0, 1], &[0, 2], &[0]];
        let feasible = subsets.iter().filter_map(|subset| {
            let found = least_squares(&rows, subset)?;
            (found[0] > 0.0 && found.iter().all(|c| *c >= 0.0)).then_some(found)
        });
        let squares = |c: &[f64; 3]| -> f64 {
            let deviation = |row: &[f64; 3]| 1.0 - row.iter().zip(c).map(|(x, c)| x * c).sum::<f64>();
            rows.iter().map(|row| deviation(row).powi(2)).sum()
        };
        let best = feasible.min_by(|a, b| squares(a).total_cmp(&squares(b)))?;
        Some(Self { of_one: 1.0 / best[0], contention: best[1] / best[0], coherency: best[2] / best[0] })
    }
}

/// Coefficients of the columns in `subset` (zero elsewhere) for which the rows come nearest to 1: normal equations.
fn least_squares(rows: &[[f64; 3]], subset: &[usize]) -> Option<[f64; 3]> {
    let size = subset.len();
    let mut matrix = [[0.0; 4]; 3];
    for (i, a) in subset.iter().enumerate() {
        for (j, b) in subset.iter().enumerate() {
            matrix[i][j] = rows.iter().map(|row| row[*a] * row[*b]).sum();
        }
        matrix[i][3] = rows.iter().map(|row| row[*a]).sum();
    }
    for pivot in 0..size {
        let best = (pivot..size).max_by(|a, b| matrix[*a][pivot].abs().total_cmp(&matrix[*b][pivot].abs()))?;
        matrix.swap(pivot, best);
        if matrix[pivot][pivot].abs() < 1e-12 {
            return None;
        }
        for row in 0..size {
            if row != pivot {
                let of_pivot = matrix[pivot];
                let factor = matrix[row][pivot] / of_pivot[pivot];
                for (value, above) in matrix[row].iter_mut().zip(of_pivot) {
                    *value -= factor * above;
                }
            }
        }
    }
    let mut found = [0.0; 3];
    for (i, column) in subset.iter().enumerate() {
        found[*column] = matrix[i][3] / matrix[i][i];
    }
    Some(found)
}

/// The law of cells with their trials' throughputs, by number of nodes. `spread` is the standard deviation of a trial
/// (logarithms) with its degrees of freedom, pooled over cells; without it there are no bounds. Bounds are quantiles of
/// the fits to values drawn by that spread (Student's t), with this seed.
pub fn scalability(cells: &[(f64, Vec<f64>)], spread: Option<(f64, f64)>, seed: u64) -> Option<FittedScalability> {
    let means: Vec<(f64, f64)> =
        cells.iter().map(|(nodes, trials)| Some((*nodes, geometric_mean(trials)?))).collect::<Option<_>>()?;
    let law = Scalability::fit(&means)?;
    let most = means.iter().map(|(nodes, _)| *nodes).fold(1.0, f64::max);
    let drawn = spread.filter(|(_, degrees)| *degrees >= 1.0).map(|(deviation, degrees)| {
        let mut random = SplitMix::new(seed);
        let draw = |random: &mut SplitMix, ((nodes, mean), (_, trials)): (&(f64, f64), &(f64, Vec<f64>))| {
            let t = student::quantile(random.uniform(), degrees).unwrap_or(0.0);
            (*nodes, mean * (t * deviation / (trials.len() as f64).sqrt()).exp())
        };
        let fits = (0..DRAWS).filter_map(|_| {
            let points: Vec<_> = means.iter().zip(cells).map(|cell| draw(&mut random, cell)).collect();
            Scalability::fit(&points)
        });
        fits.collect::<Vec<_>>()
    });
    let bounds = |figure: &dyn Fn(&Scalability) -> f64| {
        let mut values: Vec<f64> = drawn.as_ref()?.iter().map(figure).collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values.get((share * (values.len() as f64 - 1.0)).round() as usize).copied();
        Some(Bounds { low: at(TAIL)?, high: at(1.0 - TAIL)? })
    };
    Some(FittedScalability {
        contention: bounds(&|law| law.contention),
        coherency: bounds(&|law| law.coherency),
        efficiency: bounds(&|law| law.efficiency(most)),
        law,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    const LAW: Scalability = Scalability { of_one: 1_000.0, contention: 0.05, coherency: 0.01 };

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-6 * b.abs().max(1e-3)
    }

    #[test]
    fn a_law_is_found_again_from_its_own_values() {
        let points: Vec<(f64, f64)> = [1.0, 3.0, 6.0, 12.0].map(|n| (n, LAW.at(n))).to_vec();
        let found = Scalability::fit(&points).unwrap();
        assert!(
            near(found.of_one, 1_000.0) && near(found.contention, 0.05) && near(found.coherency, 0.01),
            "{found:?}"
        );
        assert!((found.peak().unwrap() - 95.0_f64.sqrt()).abs() < 1e-6);
        assert!((LAW.efficiency(6.0) - 1.0 / 1.55).abs() < 1e-12);
    }

    #[test]
    fn no_part_of_a_law_is_negative_and_too_few_sizes_make_none() {
        // Faster than linear: the nearest law is the linear one.
        let found = Scalability::fit(&[(1.0, 100.0), (3.0, 330.0), (6.0, 720.0)]).unwrap();
        assert_eq!((found.contention, found.coherency, found.peak()), (0.0, 0.0, None));
        // No contention, only coherency.
        let bent = Scalability { contention: 0.0, ..LAW };
        let found = Scalability::fit(&[1.0, 3.0, 6.0].map(|n| (n, bent.at(n)))).unwrap();
        assert!(found.contention < 1e-9 && near(found.coherency, 0.01), "{found:?}");
        assert_eq!(Scalability::fit(&[(1.0, 1.0), (3.0, 3.0), (3.0, 3.1)]), None);
        assert_eq!(Scalability::fit(&[(1.0, 1.0), (3.0, 0.0), (6.0, 3.1)]), None);
    }

    /// Three repetitions of 1, 3 and 6 nodes: the bounds of the efficiency hold the truth about as often as they say.
    #[test]
    fn bounds_hold_the_truth_as_often_as_they_say() {
        let runs = 200;
        let mut held = 0;
        for seed in 0..runs {
            let mut noise = Noise::new(seed);
            let deviation = 0.05;
            let cells: Vec<(f64, Vec<f64>)> = [1.0, 3.0, 6.0]
                .map(|n| (n, (0..3).map(|_| LAW.at(n) * (deviation * noise.normal()).exp()).collect()))
                .to_vec();
            // What a run knows of the spread: six degrees of freedom.
            let squares: f64 = cells
                .iter()
                .flat_map(|(_, trials)| {
                    let mean = trials.iter().map(|x: &f64| x.ln()).sum::<f64>() / 3.0;
                    trials.iter().map(move |x| (x.ln() - mean).powi(2)).collect::<Vec<_>>()
                })
                .sum();
            let found = scalability(&cells, Some(((squares / 6.0).sqrt(), 6.0)), seed).unwrap();
            let bounds = found.efficiency.unwrap();
            held += u32::from((bounds.low..=bounds.high).contains(&LAW.efficiency(6.0)));
        }
        assert!((182..=200).contains(&held), "{held} of {runs}");
        let unrepeated = [(1.0, vec![1.0]), (3.0, vec![2.5]), (6.0, vec![4.0])];
        assert_eq!(scalability(&unrepeated, None, 1).unwrap().efficiency, None);
    }
}
