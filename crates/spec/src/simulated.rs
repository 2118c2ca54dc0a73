//! `[provider.simulated]`: the truth that a simulated database obeys.
//!
//! The types are read from the file as they are; [`Truth::problem`] says what is impossible about them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is true of the simulated database, its machine and its noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Truth {
    /// CPU time of a read on the database, microseconds.
    pub read_cpu_us: f64,
    /// CPU time of a write, microseconds.
    pub write_cpu_us: f64,
    /// CPUs that the database uses without load.
    pub background_cpus: f64,
    /// Time of a request besides CPU, device and waiting: network and driver, microseconds.
    pub network_us: f64,
    /// Time of one device request without waiting, microseconds.
    pub device_us: f64,
    /// Bytes that the page cache keeps together: one device read brings in this much.
    pub chunk_bytes: f64,
    /// Device reads of a read that misses the page cache.
    pub reads_per_miss: f64,
    /// Bytes written to the data volume for each byte of an update (flush and compaction).
    pub write_amplification: f64,
    /// CPU time of the client for an operation, microseconds.
    pub client_cpu_us: f64,
    /// Load threads of the client, each with a CPU of its own.
    pub client_threads: u32,
    /// Seconds between garbage collection pauses of the database.
    pub gc_every_s: f64,
    /// Length of such a pause, milliseconds.
    pub gc_pause_ms: f64,
    /// Coefficient of variation of speed from trial to trial: what pairing cannot remove.
    pub run_noise: f64,
    /// Coefficient of variation of speed from block to block, shared by all trials of a block: the drift of a machine.
    pub block_noise: f64,
    /// Coefficient of variation of throughput from second to second.
    pub second_noise: f64,
    /// Speed of a configuration's CPUs and devices against the others: a planted difference. 1 where it is not named.
    pub speed: BTreeMap<String, f64>,
    /// Seed of all noise.
    pub seed: u64,
    /// What goes wrong.
    pub fault: Vec<Fault>,
}

impl Default for Truth {
    fn default() -> Self {
        Self {
            read_cpu_us: 150.0,
            write_cpu_us: 100.0,
            background_cpus: 0.02,
            network_us: 100.0,
            device_us: 500.0,
            chunk_bytes: 16_384.0,
            reads_per_miss: 1.0,
            write_amplification: 3.0,
            client_cpu_us: 5.0,
            client_threads: 1,
            gc_every_s: 5.0,
            gc_pause_ms: 10.0,
            run_noise: 0.03,
            block_noise: 0.05,
            second_noise: 0.02,
            speed: BTreeMap::new(),
            seed: 1,
            fault: Vec::new(),
        }
    }
}

/// Something that goes wrong in the trials it is meant for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// Only in this configuration. Default: in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// Only in these blocks. Default: in all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<u32>,
    /// How much; its meaning and unit belong to the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<f64>,
}

/// Kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The server answers nothing for `amount` seconds (default 2) in the middle of the measurement.
    Stall,
    /// The data volume delivers `amount` (default 0.5) of its limit, to fio too.
    SlowDisk,
    /// The client needs `amount` times (default 100) the CPU for an operation.
    SaturatedClient,
    /// The hypervisor takes `amount` (default 0.1) of the host's CPU time.
    Steal,
    /// A CPU quota that nobody asked for holds the database back in `amount` (default 0.2) of its periods.
    Throttle,
    /// Garbage collection pauses the database for `amount` (default 0.3) of the time.
    GarbageCollection,
    /// `amount` (default 0.2) more compactions wait every second.
    CompactionDebt,
    /// `amount` (default 0.01) of the operations fail with read timeouts.
    Errors,
    /// `amount` (default 0.001) of the reads find no row.
    NotFound,
    /// All reads are answered from memory.
    ServedFromMemory,
    /// Throughput is `amount` (default 0.5) higher at the start of the measurement and falls to its true value over the whole of it.
    Drift,
    /// The database process is replaced five seconds into the measurement.
    Restart,
    /// `amount` (default 5) messages are dropped every second.
    DroppedMessages,
    /// `amount` (default 0.02) of the TCP segments are sent again.
    Retransmits,
    /// `amount` (default 0.5) of the data set is on disk.
    SmallDataset,
    /// The client sends `amount` milliseconds (default 20) late in 2 % of the cases (open loop).
    SendLag,
    /// The histograms hold `amount` (default 0.5) of the operations that the client counted.
    LostLatencies,
    /// The client keeps `amount` (default 0.8) of the requests in flight that it was asked for.
    FewerInFlight,
}

impl Truth {
    /// What is impossible about these figures, if anything.
    pub fn problem(&self) -> Option<String> {
        let positive = [
            ("read_cpu_us", self.read_cpu_us),
            ("write_cpu_us", self.write_cpu_us),
            ("device_us", self.device_us),
            ("chunk_bytes", self.chunk_bytes),
            ("client_cpu_us", self.client_cpu_us),
            ("gc_every_s", self.gc_every_s),
        ];
        let not_negative = [
            ("background_cpus", self.background_cpus),
            ("network_us", self.network_us),
            ("reads_per_miss", self.reads_per_miss),
            ("write_amplification", self.write_amplification),
            ("gc_pause_ms", self.gc_pause_ms),
            ("run_noise", self.run_noise),
            ("block_noise", self.block_noise),
            ("second_noise", self.second_noise),
        ];
        let bad = |ok: fn(f64) -> bool, expected: &'static str| {
            move |(name, value): &(&str, f64)| {
                (!(value.is_finite() && ok(*value))).then(|| format!("{name} cannot be {value}: {expected}"))
            }
        };
        let figures = positive
            .iter()
            .find_map(bad(|v| v > 0.0, "above 0"))
            .or_else(|| not_negative.iter().find_map(bad(|v| v >= 0.0, "0 or more")));
        let speeds = self
            .speed
            .iter()
            .find(|(_, v)| !(v.is_finite() && **v > 0.0))
            .map(|(name, v)| format!("speed of {name} cannot be {v}: above 0"));
        let threads = (self.client_threads == 0).then(|| "client_threads cannot be 0".to_owned());
        let faults = self
            .fault
            .iter()
            .find(|f| f.amount.is_some_and(|a| !(a.is_finite() && a >= 0.0)))
            .map(|f| format!("amount of the fault {:?} cannot be {:?}: 0 or more", f.kind, f.amount));
        figures.or(speeds).or(threads).or(faults)
    }
}
