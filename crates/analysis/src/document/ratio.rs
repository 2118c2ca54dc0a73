//! A cell against another, and what that shows.

use experiment::LatencyFigure;
use serde::{Deserialize, Serialize};

use super::bound::Bound;

/// What cells are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Operations/s.
    Throughput,
    /// Seconds for the planned number of operations.
    Runtime,
    /// Mean response time of the worst operation kind, microseconds.
    Mean,
    /// Median of the same.
    P50,
    /// 95th percentile of the same.
    P95,
    /// 99th percentile of the same.
    P99,
    /// 99.9th percentile of the same.
    P999,
    /// Operations per dollar.
    OperationsPerDollar,
}

impl Metric {
    /// The rows of the decision matrix.
    pub const DECISIONS: [Self; 5] =
        [Self::Throughput, Self::Runtime, Self::Mean, Self::P99, Self::OperationsPerDollar];
    /// What two runs are compared by.
    pub const CHANGES: [Self; 6] = [Self::Throughput, Self::Mean, Self::P50, Self::P95, Self::P99, Self::P999];

    /// The name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Runtime => "runtime",
            Self::Mean => LatencyFigure::Mean.name(),
            Self::P50 => LatencyFigure::P50.name(),
            Self::P95 => LatencyFigure::P95.name(),
            Self::P99 => LatencyFigure::P99.name(),
            Self::P999 => LatencyFigure::P999.name(),
            Self::OperationsPerDollar => "operations_per_dollar",
        }
    }

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
    /// Lower end of the interval at `level`; with fewer than three pairs the smallest ratio observed.
    pub low: f64,
    /// Upper end; with fewer than three pairs the largest ratio observed.
    pub high: f64,
    /// Number of pairs; of two that share no block, the smaller number of trials.
    pub pairs: u64,
    /// The interval misses the truth in this share of experiments. It is adjusted for all comparisons of the experiment
    /// (Holm), and it is the level of the verdict, so that the two cannot disagree. 0 where nothing was tested.
    pub level: f64,
    /// Whether other cells than the two had a say in the spread; `false`: no other is of their kinds, the two spread
    /// more than the rest, or nothing was tested.
    pub pooled: bool,
    /// p-value of "the ratio is 1"; `None` with fewer than three pairs.
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

/// What a comparison shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The cell itself.
    #[serde(rename = "reference")]
    Reference,
    /// Better: higher throughput, or a lower latency. The whole interval lies on that side of 1.
    #[serde(rename = "faster")]
    Faster,
    /// Worse: the whole interval lies on the other side of 1.
    #[serde(rename = "slower")]
    Slower,
    /// The whole interval lies within the margin of practical importance.
    #[serde(rename = "the same")]
    Same,
    /// The interval holds 1 and reaches beyond the margin.
    #[serde(rename = "no difference shown")]
    NoDifferenceShown,
    /// The interval would show something of this machine, and `bound` leaves open whether it is so of the
    /// configurations.
    #[serde(rename = "not carried over")]
    NotCarriedOver,
    /// Fewer than three pairs of valid trials: what was observed is shown, nothing is tested.
    #[serde(rename = "too few to test")]
    TooFew,
    /// No common block, or a figure that is not measured here (throughput at a given rate).
    #[serde(rename = "not comparable")]
    NotComparable,
}

impl Verdict {
    /// The words, as in JSON.
    pub fn words(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "the same",
            Self::NoDifferenceShown => "no difference shown",
            Self::NotCarriedOver => "not carried over",
            Self::TooFew => "too few to test",
            Self::NotComparable => "not comparable",
        }
    }

    /// Whether a test was made.
    pub fn is_tested(self) -> bool {
        matches!(self, Self::Faster | Self::Slower | Self::Same | Self::NoDifferenceShown | Self::NotCarriedOver)
    }
}

/// A figure with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The figure.
    pub median: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}
