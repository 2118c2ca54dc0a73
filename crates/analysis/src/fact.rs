//! Words that findings carry beside their numbers: made by the rules, read by crate `report`.

use serde::{Deserialize, Serialize};

/// One of the limits of a volume. Those that count reads and writes apart are called as the field in
/// [`experiment::IoLimits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these variants are")]
pub enum VolumeLimit {
    ReadIops,
    WriteIops,
    ReadBytesPerS,
    WriteBytesPerS,
    /// Reads and writes together, per second.
    Iops,
    /// Bytes read and written together, per second.
    BytesPerS,
}

/// A figure by which the nodes of a configuration are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeFigure {
    /// CPUs that the database used.
    Cpus,
    /// Read requests of the data volume per second.
    DeviceReads,
    /// Write requests of the data volume per second.
    DeviceWrites,
    /// Bytes of the data set on disk.
    BytesOnDisk,
    /// Random reads per second that fio measured.
    ProbedReads,
    /// Bytes per second of sequential writes that fio measured.
    ProbedWrites,
}

/// What the machines of a configuration's nodes may differ in, the most telling first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these variants are")]
pub enum HostFact {
    Processor,
    Cpus,
    Memory,
    Kernel,
    /// What the clock showed beside the controller's, milliseconds.
    Clock,
    /// Transparent huge pages: the setting in force.
    #[serde(rename = "transparent_huge_pages")]
    HugePages,
    ClockSource,
    Swap,
    Microcode,
}

/// Why throughput changes by plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trajectory {
    /// Records are inserted: the data set grows, and there is no steady state.
    Inserts,
    /// The page cache was to be cold, and it fills.
    ColdStart,
}

/// Who else took CPU time of the database's machine while it was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CpuTakenBy {
    /// Programs that are no part of the run (`other_work`).
    Programs,
    /// The hypervisor (`cpu_steal`).
    Hypervisor,
}
