//! What an operation asks of each resource of a node, and what the machine has of it.

use experiment::{
    Definition, FaultKind, LoadLevel, OperationKind, PageCache, Plan, SettingsEffect, Setup, Truth, VolumeSetup,
};

use crate::faults::Faults;
use crate::share::{Share, Spread};
use crate::variation::Pace;
use crate::waking::Waking;

/// Least capacity that faults leave of a resource, as a share.
const LEAST_LEFT: f64 = 0.01;

/// The fixed facts of a trial on one node.
pub struct World<'a> {
    /// What is true.
    pub truth: &'a Truth,
    /// The machine.
    pub setup: &'a Setup,
    /// Operation mix.
    pub workload: &'a Definition,
    pub load: LoadLevel,
    /// What goes wrong.
    pub faults: Faults<'a>,
    /// Planted speed of this configuration's CPUs and devices.
    pub planted: f64,
    /// What its settings do.
    pub settings: SettingsEffect,
    /// Which node, from 0.
    pub node: usize,
    /// How operations are spread over the nodes.
    pub spread: &'a Spread,
    /// What of an operation falls to this one.
    pub share: Share,
    /// Bytes of the data set on the node's disk.
    pub data_bytes: f64,
    /// Hit ratios.
    pub cache: &'a PageCache,
    /// Payload of a write, bytes.
    pub write_bytes: f64,
}

/// What the reads and writes of one replica need in a certain second.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    /// CPU time of a read, microseconds.
    pub read_cpu_us: f64,
    /// CPU time of a write.
    pub write_cpu_us: f64,
    /// Share of the reads that need the device.
    pub miss: f64,
    /// Device reads that such a read needs.
    pub reads_per_miss: f64,
    /// Time of a device read without waiting, microseconds.
    pub device_us: f64,
    /// Bytes that a write brings to the data volume, sooner or later.
    pub flushed: f64,
    /// CPUs that compilers use beside the operations.
    pub compiling_cpus: f64,
}

impl World<'_> {
    /// Payload of a write, averaged over the mix.
    pub fn write_bytes(workload: &Definition, plan: &Plan) -> f64 {
        use OperationKind::{Insert, ReadModifyWrite, Update};
        let share = |kind| workload.mix.share(kind);
        let row = plan.dataset.record_bytes();
        let updated = if workload.write_all_fields { row } else { f64::from(plan.dataset.field_length) };
        let writes = workload.mix.writes();
        if writes > 0.0 {
            ((share(Update) + share(ReadModifyWrite)) * updated + share(Insert) * row) / writes
        } else {
            0.0
        }
    }

    /// What operations need at this pace, with so much of the data in the page cache and so far from rest.
    pub fn work(&self, pace: Pace, cached_bytes: f64, waking: &Waking) -> Work {
        let hit = match self.faults.amount(FaultKind::ServedFromMemory) {
            Some(_) => 1.0,
            None => self.cache.hit_ratio(cached_bytes / self.data_bytes),
        };
        let planted = self.planted * self.settings.speed;
        let cpu = pace.cpu * planted / (waking.cost() * self.settings.cpu * self.cost_beside_others());
        Work {
            read_cpu_us: self.truth.read_cpu_us / cpu,
            write_cpu_us: self.truth.write_cpu_us / cpu,
            // A Bloom filter answers for a row that is not there.
            miss: ((1.0 - hit) * self.settings.misses).min(1.0) * (1.0 - self.missing_rows()),
            reads_per_miss: self.truth.reads_per_miss / pace.device,
            device_us: self.truth.device_us / planted,
            flushed: match waking.flushes() {
                true => self.write_bytes * self.truth.write_amplification / pace.device,
                false => 0.0,
            },
            compiling_cpus: waking.compiling_cpus(),
        }
    }

    /// CPU time of the client's operations on this node, for each of the client's reads and writes, microseconds: the
    /// part that is done once, and that of each replica.
    pub fn cpu_us(&self, work: &Work) -> [f64; 2] {
        if self.spread.nodes() == 1 {
            return [work.read_cpu_us, work.write_cpu_us];
        }
        let once = self.truth.coordinator_share;
        let of = |replicas: f64| once * self.share.coordinates + (1.0 - once) * replicas;
        [work.read_cpu_us * of(self.share.reads), work.write_cpu_us * of(self.share.writes)]
    }

    /// How much more CPU an operation costs beside other programs.
    fn cost_beside_others(&self) -> f64 {
        1.0 + self.faults.amount_or(FaultKind::OtherWork, 0.0) / 3.0
    }

    /// CPUs that a garbage collection occupies: all that steal and quota leave.
    pub fn all_cpus(&self) -> f64 {
        let stolen = self.faults.amount_or(FaultKind::Steal, 0.0);
        let forbidden = self.faults.amount_or(FaultKind::Throttle, 0.0);
        self.setup.cpus * (1.0 - stolen.max(forbidden)).max(0.0)
    }

    /// CPUs that operations can use beside what the database needs without load, and beside compilers on so many.
    pub fn cpus(&self, compiling_cpus: f64) -> f64 {
        let stolen = self.faults.amount_or(FaultKind::Steal, 0.0);
        self.beside_others(self.setup.cpus * (1.0 - stolen), compiling_cpus)
    }

    /// The same under a quota that nobody asked for; `None` where there is none.
    pub fn quota(&self, compiling_cpus: f64) -> Option<f64> {
        let taken = self.faults.amount(FaultKind::Throttle).filter(|t| *t > 0.0)?;
        Some(self.beside_others(self.setup.cpus * (1.0 - taken), compiling_cpus))
    }

    fn beside_others(&self, cpus: f64, compiling_cpus: f64) -> f64 {
        (cpus - self.truth.background_cpus - compiling_cpus).max(LEAST_LEFT * self.setup.cpus)
    }

    /// CPU time of the client for an operation, microseconds.
    pub fn client_us(&self) -> f64 {
        self.truth.client_cpu_us * self.faults.amount_or(FaultKind::SaturatedClient, 1.0)
    }

    /// Operations per second that the client can send.
    pub fn client_rate(&self) -> f64 {
        let left = (1.0 - self.faults.amount_or(FaultKind::Steal, 0.0)).max(LEAST_LEFT);
        f64::from(self.truth.client_threads) * left * 1e6 / self.client_us()
    }

    /// Writes per second that the commit log's volume takes.
    pub fn log_rate(&self) -> f64 {
        let limit = |v: &VolumeSetup| v.limits.write_bytes_per_s;
        match self.setup.commitlog.as_ref().and_then(limit) {
            Some(limit) if self.write_bytes > 0.0 => limit / self.write_bytes,
            _ => f64::INFINITY,
        }
    }

    /// Share of the reads whose row was never loaded.
    fn missing_rows(&self) -> f64 {
        (1.0 - self.faults.amount_or(FaultKind::SmallDataset, 1.0)).max(0.0)
    }

    /// Share of the reads that find no row.
    pub fn not_found(&self) -> f64 {
        let lost = self.faults.amount_or(FaultKind::NotFound, 0.0);
        1.0 - (1.0 - lost) * (1.0 - self.missing_rows())
    }

    /// Share of the operations that fail.
    pub fn failing(&self) -> f64 {
        self.faults.amount_or(FaultKind::Errors, 0.0)
    }

    /// Share of the operations counted that the histograms hold.
    pub fn kept(&self) -> f64 {
        self.faults.amount_or(FaultKind::LostLatencies, 1.0)
    }
}

/// Whether a kind of operation reads, and whether it writes.
pub fn parts(kind: OperationKind) -> (bool, bool) {
    match kind {
        OperationKind::Read | OperationKind::Scan => (true, false),
        OperationKind::Update | OperationKind::Insert => (false, true),
        // A statement of the user's own is not simulated.
        OperationKind::ReadModifyWrite | OperationKind::Statement(_) => (true, true),
    }
}
