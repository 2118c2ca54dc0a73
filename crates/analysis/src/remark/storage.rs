//! Did the volume do the work, was it whole, and was it what was asked for?

use evidence::OperationKind;
use experiment::VolumeRole;
use serde::{Deserialize, Serialize};

use crate::fact::VolumeLimit;

/// Memory answered, not the volume.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServedFromPageCache {
    /// Read requests of the data volumes.
    pub device_reads: f64,
    /// Operations that read.
    pub operations_that_read: u64,
    /// Their ratio.
    pub device_reads_per_read: f64,
    /// The least that is a test of the volume.
    pub threshold: f64,
    /// Page cache of all nodes; `None`: not known, as of nodes that are only watched.
    pub page_cache_budget_bytes: Option<u64>,
    /// Data of all nodes; `None`: not known.
    pub data_bytes_on_disk: Option<f64>,
}

/// The whole data set fits the page cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataFitsPageCache {
    /// Data of the node.
    pub data_bytes_on_disk: u64,
    /// Page cache of the node.
    pub page_cache_budget_bytes: u64,
}

/// The page cache was warm by plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheWarmed {
    /// Bytes of the data set that were read into it.
    pub read_bytes: u64,
    /// Of so many.
    pub data_bytes_on_disk: u64,
    /// Seconds that it took on the slowest node.
    pub seconds: f64,
    /// Bytes that were then read by the workload's own keys; `None`: none were.
    pub by_keys_bytes: Option<u64>,
    /// What was left to the data volumes for each operation that reads.
    pub device_reads_per_read: Option<f64>,
}

/// Less on disk than the data set takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "than", rename_all = "snake_case")]
pub enum DataSetSmaller {
    /// Than that of the run's other trials.
    Others {
        /// Bytes of one replica.
        bytes_on_disk: f64,
        /// Those of the median trial.
        median_bytes_of_the_run: f64,
        /// The difference as a share of that.
        less_by_share: f64,
        /// Allowed share.
        threshold: f64,
    },
    /// Than its records take at the least.
    Layout {
        /// Bytes of all replicas.
        bytes_on_disk: f64,
        /// The least that they take.
        least_bytes: f64,
        /// Bytes of the values alone.
        payload_bytes: f64,
        /// Records of all replicas.
        records: u64,
    },
}

/// A volume was at its limit. Rates are means of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VolumeAtCap {
    /// Which volume.
    pub volume: VolumeRole,
    /// Which of its limits.
    pub limited: VolumeLimit,
    /// The limit, requests or bytes per second by `limited`.
    pub limit: f64,
    /// Share of the 10 s windows in which it was at it.
    pub windows_at_cap_share: f64,
    /// Reads per second.
    pub read_iops: f64,
    /// Writes per second.
    pub write_iops: f64,
    /// Bytes read per second.
    pub read_bytes_per_s: f64,
    /// Bytes written per second.
    pub write_bytes_per_s: f64,
}

/// The kernel's throttle shows in the tail latency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThrottleSlices {
    /// Which operation was slowest.
    pub operation: OperationKind,
    /// Which volume was at its limit.
    pub volume: VolumeRole,
    /// 99th percentile of its response time, microseconds.
    pub p99_us: f64,
    /// Slice in which the throttle releases I/O, microseconds.
    pub slice_us: f64,
    /// From here on a percentile shows slices, microseconds.
    pub threshold_us: f64,
}

/// Reads and writes together got more than EBS gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeparateReadWriteLimits {
    /// Which volume.
    pub volume: VolumeRole,
    /// Reads per second.
    pub read_iops: f64,
    /// Writes per second.
    pub write_iops: f64,
    /// What EBS gives to both, requests per second.
    pub limit_iops: f64,
    /// Both, as a share of that.
    pub combined_share: f64,
    /// Allowed share.
    pub threshold: f64,
}

/// Emulated volumes limit reads and writes apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitsCountSeparately {
    /// Volumes of the run that do.
    pub volumes_with_an_iops_limit: u64,
}

/// What the credits of a bucket are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Credits {
    /// Requests: rates are IOPS.
    Requests,
    /// Bytes: rates are bytes per second.
    Bytes,
}

/// Credits of a bucket, in its own unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CreditsSpent {
    /// At the start of the trial.
    pub credits_start: f64,
    /// At its end.
    pub credits_end: f64,
}

/// How long a full bucket lasts, in its own unit. Rates and credits are those of this machine, `scale` times smaller
/// than those of the real volume; times are the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BucketLasts {
    /// Mean of the window, a second.
    pub measured_per_s: f64,
    /// While credits last: the demand, at most the burst rate.
    pub burst_per_s: f64,
    /// Afterwards.
    pub baseline_per_s: f64,
    /// Credits of a full bucket.
    pub credits_full: f64,
    /// The model is 1 : `scale`.
    pub scale: f64,
    /// Seconds until a full bucket is empty; `None`: never, the demand is not above the baseline.
    pub full_bucket_lasts_s: Option<f64>,
}

/// Burst credits ran out inside the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BurstChanged {
    /// Which volume.
    pub volume: VolumeRole,
    /// Unit of credits and rates.
    pub unit: Credits,
    /// What was spent.
    pub spent: CreditsSpent,
    /// How long the bucket lasts; `None` until the setup is known.
    pub lasts: Option<BucketLasts>,
}

/// The volume ran on burst credits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BurstOnly {
    /// Which volume.
    pub volume: VolumeRole,
    /// Unit of credits and rates.
    pub unit: Credits,
    /// What was spent; `None`: of a volume of an existing cluster nobody sees the credits.
    pub spent: Option<CreditsSpent>,
    /// How long the bucket lasts; `None` until the setup is known.
    pub lasts: Option<BucketLasts>,
}

/// fio measured a volume off its limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmulationOffLimit {
    /// Which volume.
    pub volume: VolumeRole,
    /// What fio measured: reads per second, or bytes written per second.
    pub probed: VolumeLimit,
    /// What the limit allows, by `probed`.
    pub expected: f64,
    /// What fio got.
    pub measured: f64,
    /// How much more, as a share; less where negative.
    pub off_by: f64,
    /// Allowed share in either direction.
    pub threshold: f64,
    /// Whether the volume was bought: nobody emulates it.
    pub is_bought: bool,
}

/// A served volume was slower than its model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmulationFloor {
    /// Which volume.
    pub volume: VolumeRole,
    /// Share of the time in which answers came late for this machine's disk.
    pub disk_floor_share: f64,
    /// The same for its CPUs.
    pub cpu_floor_share: f64,
    /// Allowed share.
    pub threshold: f64,
}

/// A figure by which the data volumes of a node are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemberFigure {
    /// Requests per second.
    Iops,
    /// Mean time of a request, microseconds.
    AwaitUs,
}

/// One of several data volumes does more than another, or takes longer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnbalancedMembers {
    /// What of them differs.
    pub figure: MemberFigure,
    /// The volume with most of it.
    pub most_of: VolumeRole,
    /// How much, by `figure`.
    pub most: f64,
    /// The volume with least of it.
    pub least_of: VolumeRole,
    /// How much.
    pub least: f64,
    /// The difference as a share of the larger.
    pub less_by_share: f64,
    /// Data volumes of the node.
    pub members: u64,
    /// From so many times on they are unbalanced.
    pub threshold: f64,
    /// Whether they are the members of a RAID 0.
    pub is_striped: bool,
}

/// One of several data volumes takes longer than the others at no more requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowMember {
    /// Which.
    pub volume: VolumeRole,
    /// Mean time of a request to it, microseconds.
    pub await_us: f64,
    /// Mean time of a request to the others, microseconds.
    pub others_await_us: f64,
    /// Their ratio.
    pub times: f64,
    /// Its requests per second.
    pub iops: f64,
    /// Mean of the others'.
    pub others_iops: f64,
    /// Data volumes of the node.
    pub members: u64,
    /// From so many times on it is slow.
    pub threshold: f64,
    /// Whether they are the members of a RAID 0.
    pub is_striped: bool,
}

/// More bought than the instance lets through, at full scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum VolumeAboveInstance {
    /// More requests.
    Iops {
        /// What the volumes can do, requests per second.
        bought_iops: f64,
        /// What the instance lets through.
        reachable_iops: f64,
    },
    /// No more requests, but more bytes.
    Bytes {
        /// What the volumes can do, bytes per second.
        bought_bytes_per_s: f64,
        /// What the instance lets through.
        reachable_bytes_per_s: f64,
    },
}
