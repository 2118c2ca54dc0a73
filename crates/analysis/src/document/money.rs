//! What the money buys.

use experiment::LoadLevel;
use serde::{Deserialize, Serialize};

use super::ratio::{Range, Ratio};
use super::withheld::Withheld;

/// What a more expensive configuration gives for its money, against the next cheaper one on the cost-performance
/// frontier. Neither is shown to miss the objective there, unless that is a demand, which more of one carries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct ValueOfMoney {
    pub workload: String,
    pub load: LoadLevel,
    /// From this configuration: the next cheaper one of the frontier. Where it is dominated: the configuration that
    /// dominates it.
    pub from: String,
    pub to: String,
    pub extra_usd_per_month: f64,
    pub cost_ratio: f64,
    pub throughput_ratio: Ratio,
    /// Factor in throughput / factor in cost, with the same interval: above 1 the money buys more than its share.
    pub value_ratio: Range,
    /// Factor in p99 of the worst operation kind of each; `None` where there is none.
    pub p99_ratio: Option<f64>,
    pub verdict: ValueVerdict,
    /// Why nothing is said, where nothing is.
    pub withheld: Option<Withheld>,
    /// The configuration whose evidence that is: one of the two. `None` where nothing is withheld.
    pub withheld_of: Option<String>,
    /// Price of one more sustained operation per second in a month, at full scale; `None` where no gain is shown.
    pub usd_per_extra_op_per_s: Option<f64>,
    /// Repetitions that would decide it, if what was seen is the truth; `None` where it is decided, no affordable
    /// number would, or more would only show that it is break-even.
    pub repetitions_to_decide: Option<u32>,
    /// Whether this is the knee: the last step upwards that is worth its extra money.
    pub knee: bool,
}

experiment::word_enum! {
    /// What a step is worth.
    pub enum ValueVerdict by words {
        /// Throughput grows more than cost: the whole interval of the value ratio lies above 1.
        WorthIt = "worth it",
        /// Throughput grows, but less than cost: the same money in more of the cheaper one buys more, if it scales.
        NotWorthIt = "not worth it",
        /// The interval holds both.
        NotDecided = "not decided",
        /// Shown to pay for itself and no more: the value ratio is 1 within the margin of practical importance.
        BreakEven = "break-even",
        /// A configuration that costs no more is at least as fast.
        Dominated = "dominated",
        /// Throughput is the same within the margin of practical importance: the extra money buys nothing.
        Same = "the same",
    }
}
