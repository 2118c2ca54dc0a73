//! The queueing model: what a database does in one second, given its machine, its load and the state it is in.
//!
//! Operational laws (Denning & Buzen 1978; Gunther, Guerrilla Capacity Planning): throughput is bounded by every resource's capacity
//! over its demand per operation, and by requests in flight over the response time without waiting; the two bounds are joined by a
//! smooth knee. In a closed loop the mean response then follows from Little's law; the waiting belongs to those operations that use
//! the resource at its bound.

use catalog::IoLimits;
use spec::{FaultKind, LoadLevel, Setup, Truth, VolumeSetup};

use spec::PageCache;

/// Sharpness of the knee between "too few requests in flight" and "a resource is full".
const KNEE: f64 = 12.0;
/// Size of a write request of a flush or compaction, bytes.
pub const WRITE_REQUEST_BYTES: f64 = 65_536.0;

/// Shares and sizes of a workload's operations.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    /// Share of operations that read from the table.
    pub reads: f64,
    /// Share that write.
    pub writes: f64,
    /// Payload of a write, bytes.
    pub write_bytes: f64,
}

/// What happened in a second (or a part of one).
#[derive(Debug, Clone, Copy, Default)]
pub struct Step {
    /// Operations finished.
    pub operations: f64,
    /// Mean response time of an operation's reading part, microseconds.
    pub read_us: f64,
    /// Mean response time of its writing part.
    pub write_us: f64,
    /// Requests that waited through a stall, and for how long, microseconds.
    pub stalled: Option<(f64, f64)>,
    /// Device read requests of the data volume.
    pub device_reads: f64,
    /// Device write requests of the data volume.
    pub device_writes: f64,
    /// Bytes written to the commit log.
    pub log_bytes: f64,
    /// CPU seconds of the database.
    pub cpu_s: f64,
    /// Seconds of garbage collection pauses.
    pub gc_s: f64,
}

/// A database under load.
pub struct Server<'a> {
    truth: &'a Truth,
    setup: &'a Setup,
    cache: &'a PageCache,
    demand: Demand,
    load: LoadLevel,
    faults: &'a dyn Fn(FaultKind) -> Option<f64>,
    data_bytes: f64,
    /// Page cache filled, bytes.
    pub cached_bytes: f64,
    /// Burst credits of the data volume.
    pub credits: Option<f64>,
    backlog: f64,
    /// Closed loop: for how long nothing has moved, seconds.
    standing_s: f64,
}

/// The resource with the smallest bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Cpu,
    DeviceReads,
    Other,
}

impl<'a> Server<'a> {
    /// A freshly restored database: nothing cached, the bucket as the setup says.
    pub fn new(
        truth: &'a Truth,
        setup: &'a Setup,
        cache: &'a PageCache,
        demand: Demand,
        load: LoadLevel,
        faults: &'a dyn Fn(FaultKind) -> Option<f64>,
        data_bytes: f64,
    ) -> Self {
        Self {
            truth,
            setup,
            cache,
            demand,
            load,
            faults,
            data_bytes,
            cached_bytes: 0.0,
            credits: setup.data.burst.map(|b| b.credits_start),
            backlog: 0.0,
            standing_s: 0.0,
        }
    }

    /// Limits of the data volume now: the bucket's state and a slow disk counted in.
    pub fn limits(&self) -> IoLimits {
        let mut limits = self.setup.data.limits;
        if let Some(iops) = self.burst_limit() {
            limits.read_iops = Some(iops);
            limits.write_iops = Some(iops);
        }
        limits
    }

    /// The IOPS limit that the bucket allows now.
    pub fn burst_limit(&self) -> Option<f64> {
        let bucket = self.setup.data.burst?;
        Some(if self.credits? > 0.0 {
            bucket.burst_iops
        } else {
            bucket.baseline_iops
        })
    }

    /// Simulates `seconds` at a speed of the machine; `stalled_s` of them nothing moves.
    pub fn step(&mut self, speed: f64, seconds: f64, stalled_s: f64, arrivals: f64) -> Step {
        let truth = self.truth;
        let fault = |kind| (self.faults)(kind);
        let hit = match fault(FaultKind::ServedFromMemory) {
            Some(_) => 1.0,
            None => self.cache.hit_ratio(self.cached_bytes / self.data_bytes),
        };
        let misses = (1.0 - hit) * truth.reads_per_miss;
        let reads = self.demand.reads * misses;
        let written = self.demand.writes * self.demand.write_bytes;
        let writes = written * truth.write_amplification / WRITE_REQUEST_BYTES;
        let cpu_us = (self.demand.reads * truth.read_cpu_us + self.demand.writes * truth.write_cpu_us) / speed;
        let gc_share = fault(FaultKind::GarbageCollection).unwrap_or(truth.gc_pause_ms / 1e3 / truth.gc_every_s);
        let lost = fault(FaultKind::Steal).unwrap_or(0.0) + fault(FaultKind::Throttle).unwrap_or(0.0);
        let cpus = (self.setup.cpus * (1.0 - gc_share - lost).max(0.05) - truth.background_cpus).max(0.01);
        let client_us = truth.client_cpu_us * fault(FaultKind::SaturatedClient).unwrap_or(1.0);

        let slow = fault(FaultKind::SlowDisk).unwrap_or(1.0);
        let limits = self.limits();
        let bound = |capacity: Option<f64>, demand: f64| {
            capacity
                .filter(|_| demand > 0.0)
                .map_or(f64::INFINITY, |c| c * slow / demand)
        };
        let bounds = [
            (Bound::Cpu, cpus * 1e6 / cpu_us),
            (Bound::DeviceReads, bound(limits.read_iops, reads)),
            (
                Bound::DeviceReads,
                bound(limits.read_bytes_per_s, reads * truth.chunk_bytes),
            ),
            (Bound::Other, bound(limits.write_iops, writes)),
            (
                Bound::Other,
                bound(limits.write_bytes_per_s, written * truth.write_amplification),
            ),
            (Bound::Other, log_bound(self.setup.commitlog.as_ref(), written)),
            (Bound::Other, f64::from(truth.client_threads) * 1e6 / client_us),
        ];
        let (narrowest, most) = bounds
            .into_iter()
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or((Bound::Other, f64::INFINITY));

        let read_us = truth.network_us + (truth.read_cpu_us + misses * truth.device_us) / speed;
        let write_us = truth.network_us + truth.write_cpu_us / speed;
        let alone_us = self.demand.reads * read_us + self.demand.writes * write_us;
        let moving_s = seconds - stalled_s;
        let (operations, response_us, stalled) = match self.load {
            LoadLevel::Concurrency(n) => {
                let n = f64::from(n) * fault(FaultKind::FewerInFlight).unwrap_or(1.0);
                let rate = ((alone_us / 1e6 / n).powf(KNEE) + most.powf(-KNEE)).powf(-1.0 / KNEE);
                self.standing_s += stalled_s;
                // Those in flight answer as soon as anything moves again.
                let stalled = (self.standing_s > 0.0 && moving_s > 0.0)
                    .then(|| (n.min(rate * moving_s), std::mem::take(&mut self.standing_s) * 1e6));
                (rate * moving_s, n / rate * 1e6, stalled)
            }
            LoadLevel::Rate { .. } => {
                self.backlog += arrivals;
                let done = self.backlog.min(most * moving_s);
                self.backlog -= done;
                let busy = (arrivals / seconds / most).min(0.98);
                let waiting_us = (self.backlog / most + stalled_s / 2.0) * 1e6;
                (done, alone_us + cpu_us * busy / (1.0 - busy) + waiting_us, None)
            }
        };
        let waiting = (response_us - alone_us).max(0.0);
        // Who waits: the readers for a device at its bound, everybody for anything else.
        let (read_wait, write_wait) = match narrowest {
            Bound::DeviceReads if self.demand.reads > 0.0 => (waiting / self.demand.reads, 0.0),
            _ => {
                let parts = self.demand.reads + self.demand.writes;
                (waiting / parts, waiting / parts)
            }
        };
        let step = Step {
            operations,
            read_us: read_us + read_wait,
            write_us: write_us + write_wait,
            stalled,
            device_reads: operations * reads,
            device_writes: operations * writes,
            log_bytes: operations * written,
            cpu_s: operations * cpu_us / 1e6 + truth.background_cpus * seconds,
            gc_s: gc_share * seconds,
        };
        self.settle(&step, seconds);
        step
    }

    /// Memory fills with what was read; the bucket pays for what was done.
    fn settle(&mut self, step: &Step, seconds: f64) {
        let budget = (self.setup.page_cache_budget_bytes as f64).min(self.data_bytes);
        self.cached_bytes = (self.cached_bytes + step.device_reads * self.truth.chunk_bytes).min(budget);
        if let (Some(credits), Some(bucket)) = (&mut self.credits, self.setup.data.burst) {
            let spent = step.device_reads + step.device_writes - bucket.baseline_iops * seconds;
            *credits = (*credits - spent).clamp(0.0, bucket.credits_max);
            // What an empty bucket earns is used at once.
            if *credits < bucket.baseline_iops {
                *credits = if spent > -0.1 * bucket.baseline_iops {
                    0.0
                } else {
                    *credits
                };
            }
        }
    }
}

/// Operations per second that the commit log's volume allows.
fn log_bound(volume: Option<&VolumeSetup>, written: f64) -> f64 {
    match volume.and_then(|v| v.limits.write_bytes_per_s) {
        Some(limit) if written > 0.0 => limit / written,
        _ => f64::INFINITY,
    }
}
