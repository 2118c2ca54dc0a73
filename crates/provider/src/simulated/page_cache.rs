//! The page cache as an LRU of chunks: Che's approximation (Che, Tung & Wang, IEEE JSAC 20, 2002), within 0.002 of a simulated LRU on
//! Zipf 0.99 (METHODS, finding 3).
//!
//! The cache holds chunks, not rows: popular rows are spread over chunks by the key hash, so that a chunk is as popular as its rows
//! together, and the skew of the workload is mostly lost.

use spec::{Dataset, Definition, Distribution};
use workload::Random;

/// Chunks of the same popularity.
struct Class {
    chunks: f64,
    /// Share of the reads that goes to one chunk of this class.
    popularity: f64,
}

/// Steps of the table over the share of chunks that fit.
const STEPS: usize = 40;
/// Data sets up to this many rows are spread over chunks row by row; of larger ones this many of the most popular.
const ROWS_SPREAD: u64 = 50_000;

/// Hit ratio of reads by the share of the data that is cached.
pub struct PageCache {
    hits: [f64; STEPS + 1],
}

impl PageCache {
    /// The table of a workload on a data set, `chunk_bytes` a chunk.
    pub fn new(workload: &Definition, dataset: &Dataset, chunk_bytes: f64) -> Self {
        let rows_per_chunk = (chunk_bytes / f64::from(dataset.fields * dataset.field_length)).max(1.0);
        let classes = classes(workload.distribution, dataset.records, rows_per_chunk);
        let chunks: f64 = classes.iter().map(|c| c.chunks).sum();
        let mut hits = [0.0; STEPS + 1];
        for (step, hit) in hits.iter_mut().enumerate() {
            *hit = hit_ratio(&classes, chunks * step as f64 / STEPS as f64);
        }
        Self { hits }
    }

    /// Hit ratio when `share` of the data is cached.
    pub fn hit_ratio(&self, share: f64) -> f64 {
        let at = share.clamp(0.0, 1.0) * STEPS as f64;
        let below = (at.floor() as usize).min(STEPS - 1);
        self.hits[below] + (self.hits[below + 1] - self.hits[below]) * (at - below as f64)
    }
}

/// Solves `sum(1 - exp(-p T)) = cached` for T by bisection; the hit ratio is `sum(p (1 - exp(-p T)))`.
fn hit_ratio(classes: &[Class], cached: f64) -> f64 {
    let all: f64 = classes.iter().map(|c| c.chunks).sum();
    if cached <= 0.0 {
        return 0.0;
    }
    if cached >= all {
        return 1.0;
    }
    let occupied = |t: f64| -> f64 {
        classes
            .iter()
            .map(|c| c.chunks * (1.0 - (-c.popularity * t).exp()))
            .sum()
    };
    let (mut low, mut high) = (0.0, all);
    while occupied(high) < cached {
        high *= 2.0;
    }
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if occupied(middle) < cached {
            low = middle;
        } else {
            high = middle;
        }
    }
    classes
        .iter()
        .map(|c| c.chunks * c.popularity * (1.0 - (-c.popularity * high).exp()))
        .sum()
}

/// Chunks by popularity. Distributions other than zipfian and hotspot are taken for uniform.
fn classes(distribution: Distribution, rows: u64, rows_per_chunk: f64) -> Vec<Class> {
    let chunks = (rows as f64 / rows_per_chunk).ceil().max(1.0);
    match distribution {
        Distribution::Zipfian { constant } => zipfian(constant, rows, chunks),
        Distribution::Hotspot {
            data_fraction,
            operation_fraction,
        } => {
            // Hot records are the first of the key order; without hashing they fill whole chunks.
            let hot = (chunks * data_fraction).clamp(1.0, chunks);
            let cold = chunks - hot;
            vec![
                Class {
                    chunks: hot,
                    popularity: operation_fraction / hot,
                },
                Class {
                    chunks: cold,
                    popularity: if cold > 0.0 {
                        (1.0 - operation_fraction) / cold
                    } else {
                        0.0
                    },
                },
            ]
        }
        _ => vec![Class {
            chunks,
            popularity: 1.0 / chunks,
        }],
    }
}

fn zipfian(constant: f64, rows: u64, chunks: f64) -> Vec<Class> {
    let spread = rows.min(ROWS_SPREAD);
    // Sum over the ranks beyond by the integral; exact enough far from rank 1.
    let tail = |from: u64| -> f64 {
        let (a, b) = (from as f64 + 0.5, rows as f64 + 0.5);
        if (constant - 1.0).abs() < 1e-9 {
            (b / a).ln()
        } else {
            (b.powf(1.0 - constant) - a.powf(1.0 - constant)) / (1.0 - constant)
        }
    };
    let head: f64 = (1..=spread).map(|rank| (rank as f64).powf(-constant)).sum();
    let rest = if rows > spread { tail(spread) } else { 0.0 };
    let total = head + rest;
    let places = chunks as usize;
    let even = rest / total / chunks;
    if places <= ROWS_SPREAD as usize {
        // Every chunk by itself: each row falls on a chunk at random.
        let mut popularity = vec![even; places];
        let mut random = Random::from_seed(0x1095_1AB0);
        for rank in 1..=spread {
            let chunk = (random.next_unit() * places as f64) as usize;
            popularity[chunk] += (rank as f64).powf(-constant) / total;
        }
        return popularity
            .into_iter()
            .map(|popularity| Class {
                chunks: 1.0,
                popularity,
            })
            .collect();
    }
    // Many more chunks than popular rows: each of these has a chunk of its own, the other chunks are alike.
    let mut classes: Vec<Class> = (1..=spread)
        .map(|rank| Class {
            chunks: 1.0,
            popularity: (rank as f64).powf(-constant) / total + even,
        })
        .collect();
    classes.push(Class {
        chunks: chunks - spread as f64,
        popularity: even,
    });
    classes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Against an LRU that is really run.
    #[test]
    fn che_is_close_to_a_simulated_lru() {
        let classes = zipfian(0.99, 16_000, 1000.0);
        let mut random = Random::from_seed(7);
        let mut cumulative = Vec::new();
        let mut sum = 0.0;
        for class in &classes {
            sum += class.popularity;
            cumulative.push(sum);
        }
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        let (mut lru, mut hits, mut asked) = (VecDeque::new(), 0.0, 0.0);
        for i in 0..60_000 {
            let at = random.next_unit();
            let chunk = cumulative.partition_point(|c| *c < at);
            let found = lru.iter().position(|c| *c == chunk);
            if i >= 10_000 {
                asked += 1.0;
                hits += f64::from(u8::from(found.is_some()));
            }
            if let Some(place) = found {
                lru.remove(place);
            }
            lru.push_front(chunk);
            lru.truncate(200);
        }
        let (che, simulated) = (hit_ratio(&classes, 200.0), hits / asked);
        println!("20 % of the chunks cached: Che {che:.3}, simulated LRU {simulated:.3}");
        assert!((che - simulated).abs() < 0.01, "{che} {simulated}");
    }

    #[test]
    fn the_hit_ratio_grows_from_nothing_to_all() {
        for distribution in [
            Distribution::Uniform,
            Distribution::Zipfian { constant: 0.99 },
            Distribution::Hotspot {
                data_fraction: 0.2,
                operation_fraction: 0.8,
            },
        ] {
            let classes = classes(distribution, 3_000_000, 16.0);
            let chunks: f64 = classes.iter().map(|c| c.chunks).sum();
            let ratios: Vec<f64> = (0..=10)
                .map(|i| hit_ratio(&classes, chunks * f64::from(i) / 10.0))
                .collect();
            assert!(
                ratios.windows(2).all(|w| w[0] < w[1] + 1e-12),
                "{distribution:?}: {ratios:?}"
            );
            assert_eq!((ratios[0], ratios[10]), (0.0, 1.0));
        }
    }
}
