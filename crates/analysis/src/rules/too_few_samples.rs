//! Which percentiles rest on too few samples?

use std::collections::BTreeMap;

use evidence::OperationKind;
use experiment::LatencyFigure;
use serde::{Deserialize, Serialize};

use crate::document::LatencyAnalysis;
use crate::seen::Seen;

/// A percentile rests on few samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct TooFewSamples {
    pub operation: OperationKind,
    /// The lowest percentile that is not supported: `p99`. It stands for those above it.
    pub percentile: String,
    pub samples: u64,
    pub needed: f64,
    /// Share of samples beyond the percentile.
    pub tail_share: f64,
    /// Samples wanted beyond it.
    pub threshold: f64,
}

/// Samples wanted beyond a percentile before it is believed (practice: >= 100).
pub const SAMPLES_BEYOND: f64 = 100.0;

/// The percentiles of the report that few samples may not support, from the lowest up.
pub const PERCENTILES: [LatencyFigure; 3] = [LatencyFigure::P95, LatencyFigure::P99, LatencyFigure::P999];

/// One finding for each kind of operation that does not support them all.
pub(crate) fn findings(latency_us: &BTreeMap<OperationKind, LatencyAnalysis>) -> Vec<Seen<TooFewSamples>> {
    latency_us
        .iter()
        .filter_map(|(kind, latency)| {
            let samples = latency.samples as f64;
            // The lowest percentile that is not supported stands for those above it.
            let stated = PERCENTILES.into_iter().filter(|percentile| latency.figure(*percentile).is_some());
            let mut tails = stated.filter_map(|percentile| Some((percentile, percentile.tail()?)));
            let (percentile, tail) = tails.find(|(_, tail)| samples * tail < SAMPLES_BEYOND)?;
            let figures = TooFewSamples {
                operation: *kind,
                percentile: percentile.label().to_owned(),
                samples: latency.samples,
                needed: SAMPLES_BEYOND / tail,
                tail_share: tail,
                threshold: SAMPLES_BEYOND,
            };
            Some(figures.into())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::finding::Finding;
    use crate::story::{job, run, trials};

    /// 24,000 reads support p99 (240 beyond) but not p99.9 (24); 6,000 updates do not support p99 (60).
    #[test]
    fn percentiles_want_a_hundred_samples_beyond_them() {
        let (job, trials) = (job(), trials());
        let analysis = analyse(&run(&job, &trials));
        let reported: Vec<(f64, &str)> = analysis.cells[0]
            .findings
            .iter()
            .filter_map(Finding::figures::<TooFewSamples>)
            .map(|f| (f.needed.round(), f.percentile.as_str()))
            .collect();
        assert_eq!(reported, [(100_000.0, "p99.9"), (10_000.0, "p99")]);
    }
}
