//! The counters that a monitor would have read on the two hosts, once a second.

use std::collections::BTreeMap;

use evidence::{HostFigures, HostSample, VolumeFigures};
use spec::{FaultKind, Setup, Truth, VolumeRole};

use super::server::{Server, Step, WRITE_REQUEST_BYTES};

/// Bytes on the wire for an operation besides its payload.
const MESSAGE_BYTES: f64 = 1_200.0;
/// Payload of a TCP segment.
const SEGMENT_BYTES: f64 = 1_448.0;
/// Memory of the simulated hosts.
const HOST_MEMORY: f64 = 1.25;
/// Periods of a CPU quota in a second.
const PERIODS_PER_S: f64 = 10.0;

/// Counters since the start of the trial.
pub struct Counters<'a> {
    truth: &'a Truth,
    setup: &'a Setup,
    faults: &'a dyn Fn(FaultKind) -> Option<f64>,
    zero_unix_s: f64,
    seconds: f64,
    cpu_s: f64,
    client_cpu_s: f64,
    gc_s: f64,
    operations: f64,
    device_reads: f64,
    device_writes: f64,
    log_bytes: f64,
    stolen_s: f64,
    throttled: f64,
    dropped: f64,
    pending: f64,
    restarted: bool,
}

impl<'a> Counters<'a> {
    /// All zero; measurement begins at `zero_unix_s`.
    pub fn new(
        truth: &'a Truth,
        setup: &'a Setup,
        faults: &'a dyn Fn(FaultKind) -> Option<f64>,
        zero_unix_s: f64,
    ) -> Self {
        Self {
            truth,
            setup,
            faults,
            zero_unix_s,
            seconds: 0.0,
            cpu_s: 0.0,
            client_cpu_s: 0.0,
            gc_s: 0.0,
            operations: 0.0,
            device_reads: 0.0,
            device_writes: 0.0,
            log_bytes: 0.0,
            stolen_s: 0.0,
            throttled: 0.0,
            dropped: 0.0,
            pending: 0.0,
            restarted: false,
        }
    }

    /// Adds what happened in the second that began at `t`.
    pub fn add(&mut self, step: &Step, seconds: f64, operations: f64, t: f64) {
        let amount = |kind| (self.faults)(kind).unwrap_or(0.0);
        let factor = (self.faults)(FaultKind::SaturatedClient).unwrap_or(1.0);
        self.seconds += seconds;
        self.cpu_s += step.cpu_s;
        self.client_cpu_s += operations * self.truth.client_cpu_us * factor / 1e6;
        self.gc_s += step.gc_s;
        self.operations += operations;
        self.device_reads += step.device_reads;
        self.device_writes += step.device_writes;
        self.log_bytes += step.log_bytes;
        self.stolen_s += amount(FaultKind::Steal) * self.cpus() * seconds;
        self.throttled += amount(FaultKind::Throttle) * PERIODS_PER_S * seconds;
        self.dropped += amount(FaultKind::DroppedMessages) * seconds;
        self.pending += amount(FaultKind::CompactionDebt) * seconds;
        self.restarted |= (self.faults)(FaultKind::Restart).is_some() && t >= 5.0;
    }

    fn cpus(&self) -> f64 {
        self.setup.cpus.max(1.0) + f64::from(self.truth.client_threads)
    }

    /// Both hosts now, by role.
    pub fn samples(&self, server: &Server<'_>, t_s: f64) -> [(String, HostSample); 2] {
        let unix_ms = ((self.zero_unix_s + t_s) * 1e3) as i64;
        let bytes = self.operations * MESSAGE_BYTES;
        let again = (self.faults)(FaultKind::Retransmits).unwrap_or(0.0) * bytes / SEGMENT_BYTES;
        let busy = self.cpu_s + self.client_cpu_s;
        let pauses = (self.seconds / self.truth.gc_every_s).floor();
        let longest = match (self.faults)(FaultKind::GarbageCollection) {
            Some(share) => share * self.truth.gc_every_s,
            None => self.truth.gc_pause_ms / 1e3,
        };
        let host = HostFigures {
            cpu_user_s: Some(0.8 * busy),
            cpu_system_s: Some(0.2 * busy),
            cpu_idle_s: Some((self.cpus() * self.seconds - busy - self.stolen_s).max(0.0)),
            cpu_iowait_s: Some(0.0),
            cpu_steal_s: Some(self.stolen_s),
            memory_available_bytes: Some(
                HOST_MEMORY * self.setup.memory_limit_bytes as f64 - self.setup.heap_bytes as f64 - server.cached_bytes,
            ),
            pressure_cpu_some_s: Some(0.0),
            network_received_bytes: Some(bytes),
            network_sent_bytes: Some(bytes),
            tcp_retransmits: Some(again.floor()),
            ..HostFigures::default()
        };
        let database = HostFigures {
            cgroup_cpu_s: Some(self.cpu_s),
            cgroup_periods: Some((PERIODS_PER_S * self.seconds).floor()),
            cgroup_throttled_periods: Some(self.throttled.floor()),
            cgroup_anonymous_bytes: Some(1.3 * self.setup.heap_bytes as f64),
            cgroup_file_bytes: Some(server.cached_bytes),
            cgroup_memory_bytes: Some(1.3 * self.setup.heap_bytes as f64 + server.cached_bytes),
            database_pid: Some(if self.restarted { 1001.0 } else { 1000.0 }),
            process_cpu_s: Some(self.cpu_s),
            gc_pauses: Some(pauses),
            gc_pause_s: Some(self.gc_s),
            gc_longest_pause_s: (pauses >= 1.0).then_some(longest),
            pending_compactions: Some(self.pending.floor()),
            dropped_messages: Some(self.dropped.floor()),
            client_requests: Some(self.operations),
            ..host.clone()
        };
        let client = HostFigures {
            process_cpu_s: Some(self.client_cpu_s),
            ..host
        };
        let sample = |host, volumes| HostSample {
            t_s,
            unix_ms,
            host,
            volumes,
        };
        [
            ("database".to_owned(), sample(database, self.volumes(server))),
            ("client".to_owned(), sample(client, BTreeMap::new())),
        ]
    }

    fn volumes(&self, server: &Server<'_>) -> BTreeMap<VolumeRole, VolumeFigures> {
        let read_bytes = self.device_reads * self.truth.chunk_bytes;
        let mut log = VolumeFigures {
            reads: Some(0.0),
            read_bytes: Some(0.0),
            writes: Some((self.log_bytes / WRITE_REQUEST_BYTES).floor()),
            write_bytes: Some(self.log_bytes),
            ..VolumeFigures::default()
        };
        let data = VolumeFigures {
            reads: Some(self.device_reads.floor()),
            read_bytes: Some(read_bytes),
            writes: Some(self.device_writes.floor()),
            write_bytes: Some(self.device_writes * WRITE_REQUEST_BYTES),
            burst_credits: server.credits,
            iops_limit: server.burst_limit(),
            ..VolumeFigures::default()
        };
        let mut volumes = BTreeMap::from([(VolumeRole::Data, data)]);
        if self.setup.commitlog.is_some() {
            log.busy_s = None;
            volumes.insert(VolumeRole::Commitlog, log);
        }
        volumes
    }
}
