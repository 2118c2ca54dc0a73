//! Why a cell says nothing of its storage: what was measured instead.

use serde::{Deserialize, Serialize};

/// What was measured instead of the storage in its sustained state.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum Withheld {
    /// The load generator was at its limit.
    Client,
    /// Memory answered the reads.
    PageCache,
    /// Records were missing, or the evidence contradicts itself.
    Data,
    /// The rate was not held: saturated, or draining what had queued before.
    Rate,
    /// The database was not at rest.
    NotAtRest { unrest: Unrest },
    /// Burst credits, which end.
    Burst {
        /// Requests per second while they last, on this machine.
        burst_iops: f64,
        /// Requests per second afterwards.
        baseline_iops: f64,
        /// Seconds that a full bucket lasts under the measured load; `None` where that is not known.
        lasts_s: Option<f64>,
    },
    /// The same of a bucket of bytes (st1, sc1).
    BurstOfBytes {
        /// Bytes a second while credits last.
        burst_bytes_per_s: f64,
        /// Bytes a second afterwards.
        baseline_bytes_per_s: f64,
        /// Seconds that a full bucket lasts under this demand; `None`: not known.
        lasts_s: Option<f64>,
    },
    /// A machine, or a node, was sick, by an amount that the sickness explains: what was bought was not there.
    Sick { sickness: Sickness, amount: f64 },
}

/// What a machine or a node of a cluster had; what explains most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sickness {
    /// fio measured less of a volume than it should deliver; the amount is what it measured / what it should.
    Disk,
    /// A CPU quota that nobody asked for; the amount is the share of its periods in which it held the database back.
    Quota,
    /// The hypervisor took CPU time; the amount is its share.
    Steal,
    /// Programs outside of the run used CPUs of its host; the amount is how many.
    OtherWork,
    /// Garbage collection stopped the database; the amount is the share of the time.
    Pauses,
    /// The nodes of a cluster had unequal work, or did it at unequal cost; the amount is the most of a node / the
    /// least.
    Nodes,
}

/// What shows that a database was not at rest; what explains most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unrest {
    /// Its compilers used the CPU.
    Code,
    /// Device reads for each operation were changing, or differ from those of another cell with the same page cache.
    Cache,
    /// What caches in front of the database missed was changing.
    CacheTier,
    /// Throughput was changing.
    Changing,
    /// Throughput was changing while others took CPU time of the machine.
    Disturbed,
    /// It gained more than it has more of what limits it.
    Gain,
    /// An operation cost far more CPU than elsewhere.
    Costs,
    /// The CPU was the limit of trials that are too short to say that it was not.
    TooShort,
}
