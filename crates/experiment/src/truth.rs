//! `[provider.simulated]`: the truth that a simulated database obeys.
//!
//! The types are read from the file as they are; [`Truth::problem`] says what is impossible about them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Figures of something with their names and which values of each are possible; one that is not stated is 0.
macro_rules! figures {
    ($of:ident: $($bound:ident[$($name:ident)+])+) => {
        [$($((stringify!($name), Option::<f64>::from($of.$name).unwrap_or(0.0), $bound)),+),+]
    };
}

/// What is true of the simulated database, its machine and its noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Truth {
    /// CPU time of a read on the database, microseconds.
    pub read_cpu_us: f64,
    /// CPU time of a write, microseconds.
    pub write_cpu_us: f64,
    /// Share of these that only the node does which the client asks (parsing, routing, answering), 0 to 1; every
    /// replica does the rest. With one node it means nothing.
    pub coordinator_share: f64,
    /// CPUs that the database uses without load, on each node.
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
    /// Seconds between whole-server stalls on average: they come at random (Poisson), nothing is answered while one
    /// lasts. 0: none.
    pub stall_every_s: f64,
    /// Length of such a stall, seconds.
    pub stall_s: f64,
    /// Coefficient of variation of CPU speed from trial to trial: what pairing cannot remove.
    pub run_noise: f64,
    /// The same of device work per operation (reads per miss, bytes written per byte: data layout, compaction state),
    /// drawn apart. Default: `run_noise`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_noise: Option<f64>,
    /// Correlation of a trial's noise with that of the trial run before it (AR(1) in the order of execution), 0 to
    /// below 1.
    pub run_autocorrelation: f64,
    /// Coefficient of variation of CPU speed from block to block, shared by all trials of a block: the drift of a
    /// machine.
    pub block_noise: f64,
    /// The same of device work per operation, drawn apart. Default: `block_noise`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_block_noise: Option<f64>,
    /// Coefficient of variation of throughput from second to second, of CPU and device apart.
    pub second_noise: f64,
    /// Correlation of a second's noise with that of the second before it (AR(1)), 0 to below 1.
    pub second_autocorrelation: f64,
    /// Coefficient of variation of a constant factor per configuration, of CPU and device apart: differences between
    /// machines, which no repetition on the same machine can see.
    pub host_noise: f64,
    /// Coefficient of variation of CPU speed and of device work per operation from node to node, drawn anew in each
    /// trial and apart for both: what equal nodes of a cluster differ by. With one node it means nothing.
    pub node_noise: f64,
    /// Change of speed from the first to the last planned trial, as a share, linear in the order of execution: -0.1 is
    /// 10 % slower at the end. It acts on CPU and device work alike.
    pub drift: f64,
    /// Share of the trials that run in a slow mode (chosen at random), 0 to 1.
    pub slow_share: f64,
    /// Speed in the slow mode against the usual one, of CPU and device work alike.
    pub slow_factor: f64,
    /// Whether the data volume has one limit for reads and writes together, as EBS has, where both are equal; `false`:
    /// two limits of that size, as cgroups keep them.
    pub combined_limits: bool,
    /// Size of a write request of a flush or compaction, bytes.
    pub write_request_bytes: f64,
    /// A request counts against the IOPS limit and the burst bucket once for each started so many bytes: 262144 is the
    /// rule of EBS's SSD volumes, 16384 that of io1 before 2016.
    pub io_unit_bytes: f64,
    /// Speed of a configuration's CPUs and devices against the others: a planted difference. 1 where it is not named.
    /// Limits of volumes are what was bought and do not change with it.
    pub speed: BTreeMap<String, f64>,
    /// What settings do: of a `[[variant]]`, in all configurations that it is for, or of one configuration that states
    /// them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, SettingsEffect>,
    /// How the database wakes up after its start. Default: it is at rest from its first second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waking_up: Option<WakingUp>,
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
            coordinator_share: 0.5,
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
            stall_every_s: 0.0,
            stall_s: 0.5,
            run_noise: 0.03,
            device_noise: None,
            run_autocorrelation: 0.0,
            block_noise: 0.05,
            device_block_noise: None,
            second_noise: 0.02,
            second_autocorrelation: 0.0,
            host_noise: 0.0,
            node_noise: 0.02,
            drift: 0.0,
            slow_share: 0.0,
            slow_factor: 0.8,
            combined_limits: true,
            write_request_bytes: 65_536.0,
            io_unit_bytes: 262_144.0,
            speed: BTreeMap::new(),
            settings: BTreeMap::new(),
            waking_up: None,
            seed: 1,
            fault: Vec::new(),
        }
    }
}

/// What settings of the database do, each against the same configuration without them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SettingsEffect {
    /// Speed of CPUs and devices, beside `speed` of the configuration.
    pub speed: f64,
    /// Factor on the share of reads that miss the page cache; no more than all of them can.
    pub misses: f64,
    /// Factor on the CPU time of an operation.
    pub cpu: f64,
}

impl Default for SettingsEffect {
    fn default() -> Self {
        Self { speed: 1.0, misses: 1.0, cpu: 1.0 }
    }
}

impl SettingsEffect {
    fn problem(&self, of: &str) -> Option<String> {
        impossible(&figures!(self: ABOVE_0[speed] FROM_0[misses] ABOVE_0[cpu]), &format!(" of the settings {of}"))
    }
}

/// How a simulated database wakes up. Its process is new in each trial, so that the warm-up is all that it has for
/// that.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WakingUp {
    /// CPU seconds that the compilers of a node need for the code of the workload. 0: it is compiled. (Cassandra 5.0.9
    /// takes about 22.)
    pub compile_cpu_s: f64,
    /// Share of a node's CPUs that its compilers take at first, 0 to below 1; it falls as less is left to compile.
    pub compiler_share: f64,
    /// CPU time of an operation while nothing is compiled, against that when all is: 1 or more.
    pub cold_cost: f64,
    /// Share of the page cache that is filled when a trial begins whose page cache is to be warm, 0 to 1; device reads
    /// fill the rest.
    pub cached_share: f64,
    /// Bytes that are written to a node before it flushes for the first time: until then its data volume is not
    /// written.
    pub first_flush_bytes: f64,
}

impl Default for WakingUp {
    fn default() -> Self {
        Self { compile_cpu_s: 22.0, compiler_share: 0.35, cold_cost: 6.0, cached_share: 1.0, first_flush_bytes: 0.0 }
    }
}

impl WakingUp {
    fn problem(&self) -> Option<String> {
        let figures = figures!(self:
            FROM_0[compile_cpu_s] BELOW_1[compiler_share] FROM_1[cold_cost] SHARE[cached_share]
            FROM_0[first_flush_bytes]
        );
        impossible(&figures, " of waking_up")
    }
}

/// Something that goes wrong in the trials it is meant for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// Only in this configuration. Default: in all.
    pub configuration: Option<String>,
    /// Only in these blocks. Default: in all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<u32>,
    /// Only on this node of a cluster, counted from 1 (`database`, `database-2`, ...). Default: on all.
    pub node: Option<u32>,
    /// How much; its meaning and unit belong to the kind.
    pub amount: Option<f64>,
    /// `decay` only: its time constant, seconds (default 600).
    pub seconds: Option<f64>,
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
    /// The hypervisor takes `amount` (default 0.1) of the CPU time of database and client: neither can use it, and the
    /// host's counter shows it.
    Steal,
    /// A CPU quota that nobody asked for: the database may use 1 - `amount` (default 0.2) of its CPUs. Periods of 100
    /// ms are throttled where the demand meets the quota, and only there.
    Throttle,
    /// Other programs use `amount` CPUs (default 0.5) of the database's host that it does not need. Each whole one
    /// makes its operations cost a third more CPU: they share caches.
    OtherWork,
    /// Garbage collection pauses the database for `amount` (default 0.3) of the time, every `gc_every_s`; no request is
    /// answered meanwhile.
    GarbageCollection,
    /// `amount` (default 0.2) more compactions wait every second in which something is written: what is flushed beyond
    /// what compaction can do.
    CompactionDebt,
    /// `amount` (default 0.01) of the operations fail with read timeouts.
    Errors,
    /// `amount` (default 0.001) of the reads find no row.
    NotFound,
    /// All reads are answered from memory.
    ServedFromMemory,
    /// Throughput is `amount` (default 0.5) higher at the start of the measurement and falls to its true value over the
    /// whole of it.
    Drift,
    /// Throughput is `amount` (default 0.35) higher at the start of the warm-up and decays exponentially to its true
    /// value, with the time constant `seconds` (default 600).
    Decay,
    /// The database process is replaced five seconds into the measurement.
    Restart,
    /// `amount` (default 5) messages are dropped every second.
    DroppedMessages,
    /// `amount` (default 0.02) of the TCP segments are sent again.
    Retransmits,
    /// `amount` (default 0.5) of the records are there: of the data set on disk, and of the reads that find their row.
    SmallDataset,
    /// The client sends `amount` milliseconds (default 20) late in 2 % of the cases (open loop).
    SendLag,
    /// The histograms hold `amount` (default 0.5) of the operations that the client counted.
    LostLatencies,
    /// The client keeps `amount` (default 0.8) of the requests in flight that it was asked for (closed loop).
    FewerInFlight,
    /// The node `node` of a cluster is asked `amount` times (default 1.5) as often as each of the others: a driver that
    /// does not know the ring, or a popular part of it.
    BusyNode,
    /// The data volumes have the counters of Amazon EBS, which count `amount` (default 1) of the time as above the
    /// volume's IOPS, whatever the volume does.
    EbsExceeded,
}

impl FaultKind {
    /// Faults whose amount is a share of a whole: more than all of it cannot be.
    fn is_share(self) -> bool {
        matches!(
            self,
            Self::Steal
                | Self::Throttle
                | Self::GarbageCollection
                | Self::Errors
                | Self::NotFound
                | Self::Retransmits
                | Self::SmallDataset
                | Self::EbsExceeded
        )
    }

    /// Faults that one node of a cluster may have alone.
    fn is_of_a_node(self) -> bool {
        matches!(
            self,
            Self::SlowDisk
                | Self::Steal
                | Self::Throttle
                | Self::OtherWork
                | Self::CompactionDebt
                | Self::ServedFromMemory
                | Self::Restart
                | Self::DroppedMessages
                | Self::Retransmits
                | Self::BusyNode
                | Self::EbsExceeded
        )
    }
}

impl Fault {
    /// What is impossible about it, if anything.
    fn problem(&self) -> Option<String> {
        let (kind, finite) = (self.kind, |v: &f64| v.is_finite());
        match self.node {
            Some(0) => {
                return Some(format!("node of the fault {kind:?} cannot be 0: nodes are counted from 1"));
            }
            Some(_) if !kind.is_of_a_node() => {
                return Some(format!("the fault {kind:?} is one of the whole database: leave out `node`"));
            }
            None if kind == FaultKind::BusyNode => return Some(format!("the fault {kind:?} needs a `node`")),
            _ => {}
        }
        if let Some(amount) = self.amount {
            if !(finite(&amount) && amount >= 0.0) {
                return Some(format!("amount of the fault {kind:?} cannot be {amount}: 0 or more"));
            }
            if kind.is_share() && amount > 1.0 {
                return Some(format!("amount of the fault {kind:?} cannot be {amount}: a share, at most 1"));
            }
        }
        match self.seconds {
            Some(_) if kind != FaultKind::Decay => Some(format!("the fault {kind:?} has no `seconds`: decay has")),
            Some(seconds) if !(finite(&seconds) && seconds > 0.0) => {
                Some(format!("seconds of the fault {kind:?} cannot be {seconds}: above 0"))
            }
            _ => None,
        }
    }
}

impl Truth {
    /// What is impossible about these figures, if anything.
    pub fn problem(&self) -> Option<String> {
        let figures = figures!(self:
            ABOVE_0[read_cpu_us write_cpu_us device_us chunk_bytes client_cpu_us gc_every_s slow_factor]
            ABOVE_0[write_request_bytes io_unit_bytes]
            FROM_0[background_cpus network_us reads_per_miss write_amplification gc_pause_ms stall_every_s stall_s]
            FROM_0[run_noise device_noise block_noise device_block_noise second_noise host_noise node_noise]
            BELOW_1[run_autocorrelation second_autocorrelation]
            SHARE[slow_share coordinator_share]
            ABOVE_MINUS_1[drift]
        );
        let mut speeds = self.speed.iter();
        impossible(&figures, "")
            .or_else(|| speeds.find_map(|(of, speed)| impossible(&[("speed", *speed, ABOVE_0)], &format!(" of {of}"))))
            .or_else(|| (self.client_threads == 0).then(|| "client_threads cannot be 0".to_owned()))
            .or_else(|| self.waking_up.as_ref().and_then(WakingUp::problem))
            .or_else(|| self.settings.iter().find_map(|(of, effect)| effect.problem(of)))
            .or_else(|| self.fault.iter().find_map(Fault::problem))
    }
}

/// Which values of a figure are possible, and how to say it.
type Bound = (fn(f64) -> bool, &'static str);

const ABOVE_0: Bound = (|value| value > 0.0, "above 0");
const FROM_0: Bound = (|value| value >= 0.0, "0 or more");
const FROM_1: Bound = (|value| value >= 1.0, "1 or more");
const BELOW_1: Bound = (|value| (0.0..1.0).contains(&value), "0 or more and below 1");
const SHARE: Bound = (|value| (0.0..=1.0).contains(&value), "0 to 1");
const ABOVE_MINUS_1: Bound = (|value| value > -1.0, "above -1");

/// The first of these figures that cannot be; `of` says whose they are.
fn impossible(figures: &[(&str, f64, Bound)], of: &str) -> Option<String> {
    let is_bad = |(_, value, (is_possible, _)): &&(&str, f64, Bound)| !(value.is_finite() && is_possible(*value));
    let (name, value, (_, expected)) = figures.iter().find(is_bad)?;
    Some(format!("{name}{of} cannot be {value}: {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_reported_by_its_key() {
        assert_eq!(Truth::default().problem(), None);
        for (stated, expected) in [
            ("device_noise = -0.1", "device_noise cannot be -0.1"),
            ("run_autocorrelation = 1.0", "run_autocorrelation cannot be 1"),
            ("slow_share = 1.5", "slow_share cannot be 1.5: 0 to 1"),
            ("drift = -1.0", "drift cannot be -1: above -1"),
            ("io_unit_bytes = 0.0", "io_unit_bytes cannot be 0: above 0"),
            ("stall_s = nan", "stall_s cannot be NaN"),
            ("speed = { a = 0.0 }", "speed of a cannot be 0: above 0"),
            ("coordinator_share = 1.1", "coordinator_share cannot be 1.1: 0 to 1"),
            ("fault = [{ kind = \"steal\", amount = 1.2 }]", "a share, at most 1"),
            ("fault = [{ kind = \"stall\", seconds = 5.0 }]", "has no `seconds`"),
            ("fault = [{ kind = \"busy_node\" }]", "needs a `node`"),
            ("fault = [{ kind = \"errors\", node = 2 }]", "is one of the whole database"),
            ("fault = [{ kind = \"slow_disk\", node = 0 }]", "counted from 1"),
            ("waking_up = { cold_cost = 0.5 }", "cold_cost of waking_up cannot be 0.5: 1 or more"),
            ("settings = { x = { cpu = 0.0 } }", "cpu of the settings x cannot be 0: above 0"),
            ("fault = [{ kind = \"decay\", seconds = 0.0 }]", "seconds of the fault Decay cannot be 0"),
        ] {
            let truth: Truth = toml::from_str(stated).unwrap();
            let problem = truth.problem().unwrap_or_default();
            assert!(problem.contains(expected), "{expected}: {problem}");
        }
    }
}
