//! Measured throughput over data set / page cache, beside the curve that a model of the page cache predicts.
//!
//! The model: an LRU of the table's chunks (Che's approximation, `PageCache` of the crate `workload`, through
//! `experiment`) says how many reads miss; each miss costs the same number of device reads, the one figure that is
//! fitted to what was measured; fio says how many the volume delivers. Throughput is the lower of two bounds: what the
//! volume allows at this rate of misses, and the most that was measured at any ratio. They cross at the tipping point.

use evidence::ProbeResult;
use experiment::{CacheState, LoadLevel, PageCache, Plan};

use crate::comparisons::Comparisons;
use crate::document::{
    CacheCurve, CachePoint, CachePrediction, CellAnalysis, ConfigurationFacts, Metric, Ratio, Verdict, VolumeReport,
    Withheld,
};
use crate::figures::Figures;
use crate::lists::each_once;

/// Points of a predicted curve.
const STEPS: u32 = 60;
/// The tipping point is looked for up to so many times beyond the ratios that were measured.
const BEYOND: f64 = 10.0;

/// Every curve of a run with swept ratios, in the order of the experiment.
pub fn curves(
    plan: &Plan,
    cells: &[CellAnalysis],
    configurations: &[ConfigurationFacts],
    figures: &Figures<'_>,
    margin: f64,
) -> Vec<CacheCurve> {
    let kinds = cells.iter().filter_map(|cell| {
        let condition = plan.caches.conditions.get(&cell.workload).filter(|c| c.ratio.is_some())?;
        Some((cell.configuration.as_str(), condition.of.as_str(), condition.state, cell.load))
    });
    let curve = |kind| Curve::of(plan, cells, configurations, figures, kind);
    let mut curves: Vec<Curve> = each_once(kinds).into_iter().filter_map(curve).collect();
    compare(&mut curves, cells, figures, margin);
    curves.into_iter().map(Curve::drawn).collect()
}

/// Compares the cells of each curve as if the size of the page cache were what is bought: all of them are one family.
fn compare(curves: &mut [Curve], cells: &[CellAnalysis], figures: &Figures<'_>, margin: f64) {
    let as_bought = |at: usize, point: &CachePoint| {
        let cell = cells.iter().find(|c| c.id == point.cell)?;
        Some(CellAnalysis { configuration: point.ratio.to_string(), workload: format!("curve {at}"), ..cell.clone() })
    };
    let all: Vec<CellAnalysis> = curves
        .iter()
        .enumerate()
        .flat_map(|(at, curve)| curve.document.points.iter().filter_map(move |point| as_bought(at, point)))
        .collect();
    let compared = Comparisons::new(Metric::Throughput, &all, figures, margin);
    let place = |point: &CachePoint| all.iter().position(|cell| cell.id == point.cell);
    for curve in curves {
        let points = &mut curve.document.points;
        let Some(smallest) = points.first().filter(|p| p.withheld.is_none()).and_then(place) else { continue };
        for point in points.iter_mut().skip(1).filter(|p| p.withheld.is_none()) {
            point.to_smallest = place(point).and_then(|at| compared.ratio(at, smallest));
        }
    }
}

/// 4 KiB random reads a second that the data volumes of a node go on giving: what fio measured, but of a bucket no more
/// than its baseline.
fn sustained_iops(facts: &ConfigurationFacts) -> Option<f64> {
    facts.probed_read_iops()?;
    let of_volume = |volume: &VolumeReport| {
        let of_bytes = volume.byte_burst.map(|bucket| bucket.baseline_bytes_per_s / ProbeResult::READ_BYTES);
        let lasting = volume.burst.map(|bucket| bucket.baseline_iops).or(of_bytes);
        Some(volume.probe?.read_iops.min(lasting.unwrap_or(f64::INFINITY)))
    };
    facts.data_volumes().map(of_volume).sum()
}

/// What a curve is made of.
struct Curve {
    document: CacheCurve,
    cache: PageCache,
    /// Reads of the database for each operation.
    reads: f64,
    /// Device writes for each operation that share the volume's limit.
    writes: f64,
}

impl Curve {
    fn of(
        plan: &Plan,
        cells: &[CellAnalysis],
        configurations: &[ConfigurationFacts],
        figures: &Figures<'_>,
        (configuration, workload, state, load): (&str, &str, CacheState, LoadLevel),
    ) -> Option<Self> {
        let condition = |cell: &CellAnalysis| plan.caches.conditions.get(&cell.workload);
        let is_of = |cell: &&CellAnalysis| {
            cell.configuration == configuration
                && cell.load == load
                && condition(cell).is_some_and(|c| c.of == workload && c.state == state && c.ratio.is_some())
        };
        let members: Vec<&CellAnalysis> = cells.iter().filter(is_of).collect();
        let definition =
            plan.workloads.iter().find(|w| w.name == members.first().map_or("", |c| c.workload.as_str()))?;
        if definition.is_own() {
            // The model knows one distribution over equal records.
            return None;
        }
        let dataset = plan.dataset;
        let facts = configurations.iter().find(|c| c.name == configuration);
        let product = plan.target.database.product();
        let cache = PageCache::new(
            definition.distribution,
            dataset.records,
            dataset.record_bytes(),
            facts.map_or(product.unit_bytes, |facts| product.unit_bytes_of(&facts.settings)),
        );
        let mut points: Vec<CachePoint> = members
            .iter()
            .filter_map(|cell| {
                let ratio = measured_ratio(figures, &cell.id)?;
                Some(CachePoint {
                    cell: cell.id.clone(),
                    asked_ratio: condition(cell)?.ratio?,
                    ratio,
                    throughput_ops_per_s: cell.throughput_ops_per_s,
                    to_smallest: None,
                    withheld: cell.withheld.filter(|why| *why != Withheld::PageCache),
                    device_reads_per_operation: cell.device_reads_per_operation,
                    predicted: CachePrediction {
                        ratio,
                        hit_ratio: cache.hit_ratio(1.0 / ratio),
                        device_reads_per_operation: None,
                        ops_per_s: None,
                    },
                })
            })
            .collect();
        points.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let data = facts.and_then(|c| c.data_volumes().next());
        let delivered = facts.and_then(|c| Some(sustained_iops(c)? * f64::from(c.nodes)));
        let writes: Vec<f64> = members.iter().filter_map(|cell| cell.device_writes_per_operation).collect();
        let shares = data.is_some_and(|v| v.is_combined());
        let judged = points.iter().filter(|p| p.withheld.is_none());
        let throughput = judged.filter_map(|p| Some(p.throughput_ops_per_s?.median));
        let is_closed = matches!(load, LoadLevel::Concurrency(_));
        let reads = definition.mix.reads();
        Some(Self {
            document: CacheCurve {
                configuration: configuration.to_owned(),
                workload: workload.to_owned(),
                state,
                load,
                reads_per_miss: reads_per_miss(&points, reads),
                most_ops_per_s: throughput.max_by(f64::total_cmp).filter(|_| is_closed),
                volume_iops: delivered,
                predicted: Vec::new(),
                predicted_tipping_ratio: None,
                measured_tipping_ratio: None,
                points,
            },
            cache,
            reads,
            writes: if shares { stats::median(&writes).unwrap_or(0.0) } else { 0.0 },
        })
    }

    /// With all that follows from the model.
    fn drawn(mut self) -> CacheCurve {
        let predictions: Vec<CachePrediction> =
            self.document.points.iter().map(|point| self.predict(point.ratio)).collect();
        for (point, predicted) in self.document.points.iter_mut().zip(predictions) {
            point.predicted = predicted;
        }
        let ends = self.document.points.first().zip(self.document.points.last());
        if let Some((low, high)) = ends.map(|(low, high)| (low.ratio, high.ratio)) {
            let step = |i: u32| low * (high / low).powf(f64::from(i) / f64::from(STEPS));
            self.document.predicted = (0..=STEPS).map(|i| self.predict(step(i))).collect();
            self.document.predicted_tipping_ratio = self.tipping(low / BEYOND, high * BEYOND);
        }
        self.document.measured_tipping_ratio = measured_tipping(&self.document);
        self.document
    }

    fn predict(&self, ratio: f64) -> CachePrediction {
        let hit_ratio = self.cache.hit_ratio(1.0 / ratio);
        let of_reads = self.document.reads_per_miss.map(|each| each * (1.0 - hit_ratio) * self.reads);
        let by_volume = self.document.volume_iops.zip(of_reads).map(|(iops, reads)| iops / (reads + self.writes));
        let most = self.document.most_ops_per_s;
        CachePrediction {
            ratio,
            hit_ratio,
            device_reads_per_operation: of_reads,
            // Without requests the volume bounds nothing.
            ops_per_s: most.zip(by_volume).map(|(most, by_volume)| most.min(by_volume)),
        }
    }

    /// The ratio at which what the volume allows falls below the most, by bisection.
    fn tipping(&self, low: f64, high: f64) -> Option<f64> {
        let is_bounded = |ratio: f64| Some(self.predict(ratio).ops_per_s? < self.document.most_ops_per_s?);
        if is_bounded(low)? || !is_bounded(high)? {
            return None;
        }
        let (mut low, mut high) = (low, high);
        for _ in 0..40 {
            let middle = (low * high).sqrt();
            if is_bounded(middle)? { high = middle } else { low = middle }
        }
        Some(high)
    }
}

/// Bytes on disk / page-cache budget of all nodes, median over trials.
fn measured_ratio(figures: &Figures<'_>, cell: &str) -> Option<f64> {
    let of_trial = |trial: &&crate::TrialMeasurement| {
        let budget: u64 = trial.nodes().map(|node| node.facts.page_cache_budget_bytes).sum();
        stats::ratio(trial.data_bytes_on_disk(), budget as f64)
    };
    stats::median(figures.trials(cell).iter().filter_map(of_trial)).filter(|ratio| *ratio > 0.0)
}

/// Device reads for each miss: least squares through the origin.
fn reads_per_miss(points: &[CachePoint], reads: f64) -> Option<f64> {
    let pairs = points.iter().filter_map(|point| {
        let misses = (1.0 - point.predicted.hit_ratio) * reads;
        Some((misses, point.device_reads_per_operation?))
    });
    let (mut product, mut square) = (0.0, 0.0);
    for (misses, measured) in pairs {
        product += misses * measured;
        square += misses * misses;
    }
    stats::ratio(product, square).filter(|each| *each > 0.0)
}

/// Up to where throughput is shown to be that of the smallest ratio, and from where on it is shown to be lower.
fn measured_tipping(curve: &CacheCurve) -> Option<(f64, f64)> {
    let verdicts: Vec<Option<Verdict>> =
        curve.points.iter().map(|point| point.to_smallest.as_ref().map(|r: &Ratio| r.verdict)).collect();
    let is = |at: usize, wanted: &[Verdict]| verdicts[at].is_some_and(|v| wanted.contains(&v));
    let lower = (1..verdicts.len()).rev().take_while(|at| is(*at, &[Verdict::Slower])).last()?;
    let holds = (1..lower).take_while(|at| is(*at, &[Verdict::Same, Verdict::Faster])).last();
    Some((curve.points[holds.unwrap_or(0)].ratio, curve.points[lower].ratio))
}
