//! What findings say in words, by the names under which they carry it: made by the rules, read by crate `report`.

/// The nodes that a finding was seen on, where the database has several: names between commas, the worst one first.
pub const NODES: &str = "nodes";

/// Programs outside of the run with the CPUs that each used: `rustc 0.91, cargo 0.04`.
pub const PROGRAMS: &str = "programs";

/// Said under `until` where a trial could be judged only up to its first planned fault.
pub const UNTIL_FAULT: &str = "first planned fault";

/// One of the limits of a volume. Those that count reads and writes apart are called as the field in
/// [`spec::IoLimits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VolumeLimit {
    /// Reads per second.
    ReadIops,
    /// Writes per second.
    WriteIops,
    /// Bytes read per second.
    ReadBytesPerS,
    /// Bytes written per second.
    WriteBytesPerS,
    /// Reads and writes together, per second.
    Iops,
    /// Bytes read and written together, per second.
    BytesPerS,
}

/// A figure by which the nodes of a configuration are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// What the machines of a configuration's nodes may differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostFact {
    /// Name of the CPU.
    Processor,
    /// Version of its microcode.
    Microcode,
    /// CPUs on line.
    Cpus,
    /// Memory, bytes.
    Memory,
    /// Kernel release.
    Kernel,
    /// Transparent huge pages: the setting in force.
    HugePages,
    /// Clock source in use.
    ClockSource,
    /// Whether there is swap.
    Swap,
    /// What the clock showed beside the controller's, milliseconds.
    Clock,
}

/// What a data set is smaller than.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmallerThan {
    /// That of the run's other trials.
    Others,
    /// What its records take at the least.
    Layout,
}

/// Why throughput changes by plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trajectory {
    /// Records are inserted: the data set grows, and there is no steady state.
    Inserts,
    /// The page cache was to be cold, and it fills.
    ColdStart,
}

impl Trajectory {
    /// The fact of a finding that says so.
    pub const NAME: &str = "trajectory";

    /// In a finding.
    pub fn word(self) -> &'static str {
        match self {
            Self::Inserts => "inserts",
            Self::ColdStart => "cold_start",
        }
    }
}

/// The fact of a finding on a gain that says which difference explains it that was bought or asked for.
pub const EXPLAINED_BY_PURCHASE: &str = "explained_by";

/// The fact of a finding that says how the preparation ended, where it ended by its time bound.
pub const PREPARATION: &str = "preparation";

/// The fact of a finding that says whether the code was seen to be compiled, and what it then is.
pub const CODE: &str = "code";
/// See [`CODE`].
pub const WARM: &str = "warm";

/// Why a measurement is too short to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooShort {
    /// It has too few seconds.
    Seconds,
    /// Its seconds are worth too few independent ones.
    Judged,
}

impl VolumeLimit {
    const ALL: [Self; 6] = [
        Self::ReadIops,
        Self::WriteIops,
        Self::ReadBytesPerS,
        Self::WriteBytesPerS,
        Self::Iops,
        Self::BytesPerS,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadIops => "read_iops",
            Self::WriteIops => "write_iops",
            Self::ReadBytesPerS => "read_bytes_per_s",
            Self::WriteBytesPerS => "write_bytes_per_s",
            Self::Iops => "iops",
            Self::BytesPerS => "bytes_per_s",
        }
    }

    /// The limit of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.name() == name)
    }
}

impl NodeFigure {
    const ALL: [Self; 6] = [
        Self::Cpus,
        Self::DeviceReads,
        Self::DeviceWrites,
        Self::BytesOnDisk,
        Self::ProbedReads,
        Self::ProbedWrites,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpus => "cpus",
            Self::DeviceReads => "device_reads",
            Self::DeviceWrites => "device_writes",
            Self::BytesOnDisk => "bytes_on_disk",
            Self::ProbedReads => "probed_reads",
            Self::ProbedWrites => "probed_writes",
        }
    }

    /// The figure of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|figure| figure.name() == name)
    }
}

impl HostFact {
    /// All of them, the most telling first.
    pub const ALL: [Self; 9] = [
        Self::Processor,
        Self::Cpus,
        Self::Memory,
        Self::Kernel,
        Self::Clock,
        Self::HugePages,
        Self::ClockSource,
        Self::Swap,
        Self::Microcode,
    ];

    /// Its name, under which a finding says in words which hosts differ, or between slashes the hosts with most and
    /// least of an amount.
    pub fn name(self) -> &'static str {
        match self {
            Self::Processor => "processor",
            Self::Microcode => "microcode",
            Self::Cpus => "cpus",
            Self::Memory => "memory",
            Self::Kernel => "kernel",
            Self::HugePages => "transparent_huge_pages",
            Self::ClockSource => "clock_source",
            Self::Swap => "swap",
            Self::Clock => "clock",
        }
    }

    /// Name of the largest amount among a finding's numbers, with its unit.
    pub fn most(self) -> String {
        format!("{}_most", self.amount())
    }

    /// Name of the smallest.
    pub fn least(self) -> String {
        format!("{}_least", self.amount())
    }

    fn amount(self) -> &'static str {
        match self {
            Self::Memory => "memory_bytes",
            Self::Clock => "clock_offset_ms",
            other => other.name(),
        }
    }
}

impl SmallerThan {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Others => "others",
            Self::Layout => "layout",
        }
    }
}

impl TooShort {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Judged => "judged",
        }
    }
}
