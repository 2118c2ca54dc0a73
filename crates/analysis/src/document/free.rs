//! What costs nothing: configurations of one price beside each other.

use experiment::LoadLevel;
use serde::{Deserialize, Serialize};

use super::ratio::Ratio;

/// The fastest of several configurations that cost the same, against the one of them that the experiment names first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct FreeStep {
    pub workload: String,
    pub load: LoadLevel,
    /// What each of them costs, USD a month.
    pub usd_per_month: f64,
    /// The one that the experiment names first.
    pub from: String,
    /// The fastest of the others, by its estimate.
    pub to: String,
    /// All others that were tried at this price, in the order of the experiment.
    pub tried: Vec<String>,
    /// Throughput of `to` against `from`.
    pub throughput_ratio: Ratio,
    /// What an operation takes of each of the two, where their trials show that it differs.
    pub per_operation: Vec<SpendingChange>,
    /// What the choice of `to` costs elsewhere than in an operation, where both are known; write amplification where
    /// their trials show that it differs.
    pub elsewhere: Vec<SpendingChange>,
    /// What has to be done on a database that runs as `from` for `to` to hold. Where they differ in more than settings
    /// and the path to EBS, bandwidth weighting alone.
    pub needs: Vec<Need>,
    /// More expensive configurations against which `to` is shown to be faster or the same, cheapest first; only where
    /// `to` is shown to be faster than `from`.
    pub replaces: Vec<Replaced>,
}

/// What an operation takes, before and after.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct SpendingChange {
    pub what: Spending,
    pub before: f64,
    pub after: f64,
}

/// What an operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these variants are")]
pub enum Spending {
    DeviceReads,
    DeviceReadBytes,
    DeviceWriteBytes,
    DatabaseCpuUs,
    /// Bytes of the data set on disk, of all nodes. Not of an operation.
    DiskBytes,
    /// Bytes of memory outside the heap that keep where each compressed chunk begins, of all nodes. Not of an
    /// operation.
    ChunkOffsetBytes,
    /// Bytes of the SSTables that flushes and compactions wrote, of all nodes, for each byte of payload that clients
    /// wrote. Not of an operation.
    WriteAmplification,
}

/// What has to be done, or given, for what costs no money to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// Each node is upgraded to the later version of the database that `to` has.
    Upgrade,
    /// Each node is set back to the earlier version of the same line that `to` has, which reads the same files.
    SetBack,
    /// The data is loaded into new nodes of an earlier version, which `to` has: files are taken from no later line.
    /// These nodes are as `to` has them, so that nothing else needs doing but what is of their hosts.
    EarlierVersion,
    /// `storage_compatibility_mode` is set to NONE after an upgrade, as it was measured: the file that the later
    /// version ships with has CASSANDRA_4, and the earlier one does not know it.
    StorageMode,
    /// `ALTER TABLE`: an option of the table differs.
    AlterTable,
    /// Each node is started anew: a key of `cassandra.yaml` or an option of the JVM differs.
    Restart,
    /// Other settings of its configuration file are taken over, which is for the database to do without a restart, or
    /// not.
    Settings,
    /// SSTables that exist are written anew, because they keep what they were written with: the compression of the
    /// table, its bloom filter, the format.
    Rewrite,
    /// SSTables that exist are compacted anew, which Cassandra does by itself under another strategy.
    Recompaction,
    /// A setting of each host: read-ahead.
    Host,
    /// Bandwidth weighting `ebs-1`: the network of each instance gives its path to EBS a quarter of what that sustains.
    NetworkBandwidth,
    /// Bandwidth weighting as the instance type has it.
    DefaultWeighting,
    /// Volumes are attached anew, to other EBS cards.
    EbsCards,
}

/// A more expensive configuration that is not needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replaced {
    /// Which.
    pub configuration: String,
    /// What it costs more, USD a month.
    pub extra_usd_per_month: f64,
    /// Throughput of what costs nothing against it.
    pub throughput_ratio: Ratio,
}
