//! The fleet of today beside what is proposed, and whether to keep it.

use catalog::Basis;
use serde::{Deserialize, Serialize};

use super::reason::{Allowance, Doubt, Limit, Obstacle};
use super::tier::CacheTier;

/// A fleet: one or several kinds of machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fleet {
    /// Its kinds, in the command line's form; those of caches before its database last.
    pub configurations: Vec<String>,
    /// How many of its machines are caches before its database.
    pub cache_nodes: u32,
    /// What it has.
    pub total: FleetTotals,
    /// USD an hour; `None` where a price is not known.
    pub usd_per_hour: Option<f64>,
    /// USD a month.
    pub usd_per_month: Option<f64>,
    /// Why there is no price.
    pub price_missing: Option<String>,
    /// The days on which the prices of its instances were seen.
    pub price_days: Vec<String>,
    /// What its price leaves out.
    pub notes: Vec<String>,
}

/// What machines have together; disks of caches do not count. A figure is `None` where that of any machine is not
/// known.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct FleetTotals {
    /// Machines.
    pub nodes: u32,
    /// Virtual CPUs.
    pub vcpus: u64,
    /// Memory, GiB.
    pub memory_gib: f64,
    /// Disks for data, TB (10^12 bytes).
    pub disk_tb: f64,
    /// Payload on disk that fits after replication and with the share of the disks that data may fill, TB.
    pub usable_tb: f64,
    /// Requests of 16 KiB per second that last; local disks: reads of 4 KiB.
    pub iops: Option<f64>,
    /// MB (10^6 bytes) per second that last.
    pub mb_per_s: Option<f64>,
    /// Network bandwidth that lasts, Gbit/s.
    pub network_gbps: Option<f64>,
}

/// Two fleets beside each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetComparison {
    /// Whether to keep the fleet of today; `None` without a target.
    pub decision: Option<FleetDecision>,
    /// The fleet of today.
    pub current: Fleet,
    /// The fleet that would replace it: the one that the decision speaks of.
    pub proposed: Fleet,
    /// How full the fleet of today would be at the target, by the model; `None` without a target, for a fleet of
    /// several kinds, or where what its disks can do is not known.
    pub current_use: Option<FleetUse>,
    /// The caches before the fleet of today at the target; `None`: there are none, or they do not carry it.
    pub current_cache: Option<CacheTier>,
    /// proposed / current of each figure that both have.
    pub ratios: std::collections::BTreeMap<String, f64>,
    /// How money is counted.
    pub basis: Basis,
}

/// How full a fleet would be at the target, all nodes up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetUse {
    /// The fullest resource.
    pub limit: Limit,
    /// Share of it in use; above 1 the fleet does not carry the target.
    pub used: f64,
    /// The most that may be in use, so that the target is met with a part down too.
    pub allowed: f64,
    /// Half-width of what its capacity may really be, per cent; `None`: not known.
    pub error_percent: Option<f64>,
    /// Share of its disks that the data fills at the end; above 1 they do not hold it.
    pub disk_fill: f64,
}

/// Whether to keep the fleet of today.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum FleetDecision {
    /// It meets the target by more than its error, and nothing that is proposed is cheaper beyond rounding: the
    /// cheapest of that is `next`.
    Keep { next: String, costs_more_usd_per_month: f64 },
    /// Another one is better.
    Change {
        to: String,
        /// Whether something of it is in doubt.
        is_in_doubt: bool,
        because: ChangeBecause,
        /// What it saves, USD a month; negative: costs more. `None` where today's price is not known.
        saves_usd_per_month: Option<f64>,
    },
    /// The evidence does not say, and no proposal of which nothing is in doubt is cheaper.
    NotDecided { because: Undecided },
}

/// Why another fleet is better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum ChangeBecause {
    /// Both meet the target; it is cheaper.
    Cheaper,
    /// Nothing of it is in doubt, and it is cheaper; whether the fleet of today meets the target is not decided, and
    /// does not matter.
    CheaperAnyway { today: Undecided },
    /// The fleet of today does not meet the target: it would use more of something than it may, by more than the error,
    /// and what says so.
    Full { limit: Limit, used: f64, allowed: f64, allowance: Allowance },
    /// The caches before it do not carry their requests: they would use more of something than they may.
    CacheFull { limit: Limit, used: f64, allowed: f64 },
    /// It has fewer nodes than each record has copies, or none that may be down.
    TooFewNodes,
}

/// Why it is not decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum Undecided {
    /// The fleet of today is of several kinds of machines.
    SeveralKinds,
    /// What it can do is not known.
    NotKnown { why: Obstacle },
    /// It meets the target, by the figures; its price is not known.
    PriceUnknown,
    /// Whether it meets the target is in doubt.
    InDoubt { doubts: Vec<Doubt> },
    /// The CPUs of the caches before it are too full by what a request cost them in runs, at the load of those.
    CacheFull { used: f64, allowed: f64 },
    /// It meets the target, and something of all that would be cheaper is in doubt.
    CheaperIsInDoubt { configuration: String, saves_usd_per_month: f64, doubts: Vec<Doubt> },
}
