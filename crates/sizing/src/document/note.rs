//! What a reader must know before trusting a figure: values, no words.

use analysis::Rule;
use miss_ratio::{Item, Policy};
use serde::{Deserialize, Serialize};

use super::reason::{Doubt, Limit, P99Unchecked};

/// What a reader must know before trusting the figures of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum Note {
    /// Each replica's part is charged like a whole operation of a single node.
    ReplicaAsNode,
    /// Of clusters, the demands of a replica are those of the mean node: coordination is spread over the replicas.
    ReplicaOfCluster,
    /// What an operation uses once, whatever the number of replicas, was measured, as a share of its CPU time: it is
    /// charged once, and the rest to each replica.
    Coordination { share: f64 },
    /// CPU time is that of the measured machines.
    Cpu {
        /// CPU models of the measured machines; empty: not recorded.
        models: Vec<String>,
        /// Whether vCPUs count by their speed; else a vCPU of each type is taken as one of these.
        by_speed: bool,
    },
    /// Resources may be used, as a share, beyond what response times are credible up to.
    BeyondCredible { used: f64, credible: f64 },
    /// A 1:N model: throughput, IOPS and CPUs are taken to grow together by N.
    Scale { scale: f64 },
    /// The data set that was measured stands for one of so many times as many records.
    StandsFor { times: f64 },
    /// Page caches had the sizes that miss as often as those of the data that they stand for, as reckoned.
    MissesKept,
    /// Page caches of the model missed more often, or less often, than those of what it stands for.
    MissesDiffer {
        /// How many times as often, where that is furthest from once.
        factor: f64,
        /// Whether page caches of other sizes would keep all misses.
        can_be_kept: bool,
    },
    /// The size of the page cache was chosen after what production reads.
    CacheCalibrated,
    /// The p99 that was asked for is not checked, but of machines that were found to carry so much under it.
    P99NotChecked {
        /// What was asked for, milliseconds.
        asked_ms: f64,
        /// The configurations that were found to; of all others the rest is said.
        found: Vec<String>,
        why: P99Unchecked,
        /// The lowest p99 of all cells, milliseconds; `None`: none was measured.
        lowest_ms: Option<f64>,
        /// The most of a resource that is used therefore, as a share.
        used: f64,
    },
    /// The highest use, as a share, at which rates kept the p99 asked for; in a model of 1:`scale` at the most.
    P99Kept { asked_ms: f64, used: f64, scale: f64 },
    /// What machines of these configurations were found to carry under an objective that holds the p99 asked for: the
    /// highest use, as a share, at which it is kept bounds machines that were not measured so.
    P99Carried { asked_ms: f64, configurations: Vec<String>, used: f64, scale: f64 },
    /// No cell could be held out, so that the model's error is not known.
    NothingHeldOut,
    /// The model fails its held-out test; only measured machines are proposed.
    ModelRefused,
    /// Exponential keys are taken for uniform ones where the page cache is concerned.
    ExponentialAsUniform,
    /// One mix was measured: reads and writes are taken to cost the same CPU time.
    OneMix,
    /// Trials with suspect findings, and the rules that made them.
    Suspect { suspect: u64, trials: u64, rules: Vec<Rule> },
    /// Trials too short to see what writes cost later: the shortest measured for so many seconds.
    ShortTrials { seconds: f64 },
    /// No cell was bounded by a resource of the database: capacities were never seen, only demands.
    NoCapacitySeen,
    /// Configurations of the evidence had settings, or a version, of their own.
    Settings {
        /// The version of the database that the answer is about, where the evidence has several.
        version: Option<String>,
        /// Those of the database that the answer is about; empty: it is as iopslab starts it.
        settings: Vec<String>,
        /// Configurations with other ones, or another version, from which nothing was learned.
        left_out: Vec<String>,
    },
    /// Nodes of some configurations of the evidence have several data volumes: nothing was learned from these.
    SeveralDataVolumes { left_out: Vec<String> },
    /// What the hit ratio of a cache rests on.
    CachePredicted {
        /// What a write does to it.
        policy: Policy,
        /// Seconds after which an item expires; `None`: never.
        ttl_s: Option<f64>,
        /// CPU time of a request, microseconds: of a vCPU of a cache node, as it was stated, or of the CPU that was
        /// measured.
        cpu_us: f64,
        /// Whether runs measured it.
        cpu_is_measured: bool,
        /// Share of a cache node's memory that is for items.
        memory_share: f64,
        /// What a record takes of it.
        item: Item,
    },
    /// No number of cache nodes that was tried carries the requests: of the largest something would be too full.
    CacheTooFull { configuration: String, limit: Limit, used: f64, allowed: f64 },
    /// A cache machine whose price is not known on the basis; why, in the catalog's words.
    CacheNotPriced { machine: String, why: String },
    /// Some configurations of the evidence have caches in front of their database: nothing was learned from these.
    CacheTier { left_out: Vec<String> },
    /// The cluster is spread over several zones, and what is sent from one into another has no price here.
    TrafficBetweenZones,
}

/// What is not known, not counted or extrapolated about a proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remark {
    /// A value lies outside the measured range, within the factor that is allowed.
    Extrapolated {
        /// The value, and what was measured.
        value: Doubt,
        /// How many times as far as what was measured it may lie.
        allowed_factor: f64,
    },
    /// Its network bandwidth is not known, so that it was not compared with what the target needs.
    NetworkUnknown,
    /// The network bandwidth of its cache nodes is not known, so that it was not compared with what they send.
    CacheNetworkUnknown,
    /// The MB/s of its disks are not known, so that they were not compared with what the target needs.
    DiskThroughputUnknown,
    /// What its price leaves out, in the catalog's words.
    Price(String),
}
