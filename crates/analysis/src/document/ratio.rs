//! A cell against another, and what that shows.

use experiment::LatencyFigure;
use serde::{Deserialize, Serialize};

use super::bound::Bound;

experiment::word_enum! {
    /// What cells are compared by.
    #[derive(PartialOrd, Ord)]
    pub enum Metric by name {
        /// Operations/s.
        Throughput = "throughput",
        /// Seconds for the planned number of operations.
        Runtime = "runtime",
        /// Mean response time of the worst operation kind, microseconds.
        Mean = "mean",
        /// Median of the same.
        P50 = "p50",
        /// 95th percentile of the same.
        P95 = "p95",
        /// 99th percentile of the same.
        P99 = "p99",
        /// 99.9th percentile of the same.
        P999 = "p999",
        /// Operations per dollar.
        OperationsPerDollar = "operations_per_dollar",
    }
}

impl Metric {
    /// The rows of the decision matrix.
    pub const DECISIONS: [Self; 5] =
        [Self::Throughput, Self::Runtime, Self::Mean, Self::P99, Self::OperationsPerDollar];
    /// What two runs are compared by.
    pub const CHANGES: [Self; 6] = [Self::Throughput, Self::Mean, Self::P50, Self::P95, Self::P99, Self::P999];

    /// Whether more is better.
    pub fn higher_is_better(self) -> bool {
        matches!(self, Self::Throughput | Self::OperationsPerDollar)
    }

    /// Which latency it is, of the worst operation kind, in microseconds; `None`: it is none.
    pub fn latency(self) -> Option<LatencyFigure> {
        match self {
            Self::Mean => Some(LatencyFigure::Mean),
            Self::P50 => Some(LatencyFigure::P50),
            Self::P95 => Some(LatencyFigure::P95),
            Self::P99 => Some(LatencyFigure::P99),
            Self::P999 => Some(LatencyFigure::P999),
            Self::Throughput | Self::Runtime | Self::OperationsPerDollar => None,
        }
    }

    /// Whether it is a latency.
    pub fn is_latency(self) -> bool {
        self.latency().is_some()
    }
}

/// A cell against another, by pairs of the same block where they have blocks in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Which configuration is 1.
    pub to: String,
    /// exp(mean of the logarithms of the ratios of the blocks that both have): the median ratio where ratios are
    /// log-normal.
    pub median: f64,
    /// Lower end of the interval at `level`; where nothing was tested the smallest ratio observed.
    pub low: f64,
    /// Upper end; where nothing was tested the largest ratio observed.
    pub high: f64,
    /// Number of pairs; of two that share no block, the smaller number of trials.
    pub pairs: u64,
    /// The interval misses the truth in this share of experiments. It is adjusted for all comparisons of the experiment
    /// (Holm), and it is the level of the verdict, so that the two cannot disagree. 0 where nothing was tested.
    pub level: f64,
    /// Whether other cells than the two had a say in the spread; `false`: no other is of their kinds, the two spread
    /// more than the rest, or nothing was tested.
    pub pooled: bool,
    /// p-value of "the ratio is 1"; `None` where nothing was tested.
    pub p_value: Option<f64>,
    /// The same, adjusted by Holm for all comparisons of this metric in the experiment.
    pub p_adjusted: Option<f64>,
    /// p-value of the exact sign-flip permutation test on the pairs alone, as a check that assumes no distribution.
    pub p_sign_flip: Option<f64>,
    /// The factor that this many repetitions show in 80 of 100 experiments at the level of the verdict; `None` where
    /// nothing was tested.
    pub smallest_detectable: Option<f64>,
    /// Whether the two share no block, because they were measured in different batches of machines: compared by the
    /// means of their logarithms, and whatever differed between the batches is part of the ratio.
    pub unpaired: bool,
    /// What of it holds for the configurations, where this machine limited one of the two; `None`: all of it. `low` and
    /// `high` are what was measured all the same.
    pub bound: Option<Bound>,
    /// What the interval shows, as far as it carries over.
    pub verdict: Verdict,
}

impl Ratio {
    /// A ratio of 1 about which nothing is known.
    pub fn blank(to: &str, verdict: Verdict, pairs: u64) -> Self {
        Self {
            to: to.to_owned(),
            median: 1.0,
            low: 1.0,
            high: 1.0,
            pairs,
            level: 0.0,
            pooled: false,
            p_value: None,
            p_adjusted: None,
            p_sign_flip: None,
            smallest_detectable: None,
            unpaired: false,
            bound: None,
            verdict,
        }
    }
}

experiment::word_enum! {
    /// What a comparison shows.
    pub enum Verdict by words {
        /// The cell itself.
        Reference = "reference",
        /// Better: higher throughput, or a lower latency. The whole interval lies on that side of 1.
        Faster = "faster",
        /// Worse: the whole interval lies on the other side of 1.
        Slower = "slower",
        /// The whole interval lies within the margin of practical importance.
        Same = "the same",
        /// The interval holds 1 and reaches beyond the margin.
        NoDifferenceShown = "no difference shown",
        /// The interval would show something of this machine, and `bound` leaves open whether it is so of the
        /// configurations.
        NotCarriedOver = "not carried over",
        /// Fewer than three pairs of valid trials: what was observed is shown, nothing is tested.
        TooFew = "too few to test",
        /// No common block, or a figure that is not measured here (throughput at a given rate).
        NotComparable = "not comparable",
    }
}

impl Verdict {
    /// Whether a test was made.
    pub fn is_tested(self) -> bool {
        matches!(self, Self::Faster | Self::Slower | Self::Same | Self::NoDifferenceShown | Self::NotCarriedOver)
    }
}

/// A figure with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct Range {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}
