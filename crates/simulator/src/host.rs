//! The counters that a monitor would have read on the hosts, once a second.

use std::collections::BTreeMap;

use evidence::{EbsFigures, HostFigures, HostId, HostSample, VolumeFigures};
use experiment::{FaultKind, VolumeRole};
use reported::{Reported, cassandra, jvm};

use crate::closed::PERIOD_S;
use crate::recorder::{Done, Tally};
use crate::stops::Stops;
use crate::volume::SimulatedVolume;
use crate::world::World;

/// Bytes on the wire for an operation besides its payload.
const MESSAGE_BYTES: f64 = 1_200.0;
/// Payload of a TCP segment.
const SEGMENT_BYTES: f64 = 1_448.0;
/// Memory of the simulated hosts.
const HOST_MEMORY: f64 = 1.25;
/// Size of a write request of the commit log, bytes.
const LOG_REQUEST_BYTES: f64 = 65_536.0;

/// Counters of a node's host since the start of the trial; the client runs beside the first node.
pub struct Counters<'a> {
    world: &'a World<'a>,
    stops: &'a Stops,
    zero_unix_s: f64,
    seconds: f64,
    operations: f64,
    sum: Done,
    client_cpu_s: f64,
    stolen_s: f64,
    others_cpu_s: f64,
    dropped: f64,
    pending: f64,
    restarted: bool,
}

impl<'a> Counters<'a> {
    /// All zero; measurement begins at `zero_unix_s`.
    pub fn new(world: &'a World<'a>, stops: &'a Stops, zero_unix_s: f64) -> Self {
        Self {
            world,
            stops,
            zero_unix_s,
            seconds: 0.0,
            operations: 0.0,
            sum: Done::default(),
            client_cpu_s: 0.0,
            stolen_s: 0.0,
            others_cpu_s: 0.0,
            dropped: 0.0,
            pending: 0.0,
            restarted: false,
        }
    }

    /// Adds what happened in the second that began at `t`.
    pub fn add(&mut self, tally: &Tally, seconds: f64, t: f64) {
        let faults = &self.world.faults;
        let amount = |kind| faults.amount_or(kind, 0.0);
        self.seconds += seconds;
        let done = &tally.nodes[self.world.node];
        self.operations += tally.operations * self.world.share.coordinates;
        self.sum.cpu_s += done.cpu_s;
        self.sum.compiled_s += done.compiled_s;
        self.sum.device_reads += done.device_reads;
        self.sum.written += done.written;
        self.sum.logged += done.logged;
        self.sum.throttled += done.throttled;
        if self.has_client() {
            self.client_cpu_s += tally.operations * self.world.client_us() / 1e6;
        }
        self.stolen_s += amount(FaultKind::Steal) * self.cpus() * seconds;
        self.others_cpu_s += amount(FaultKind::OtherWork) * seconds;
        self.dropped += amount(FaultKind::DroppedMessages) * seconds;
        if done.written > 0.0 {
            self.pending += amount(FaultKind::CompactionDebt) * seconds;
        }
        self.restarted |= faults.amount(FaultKind::Restart).is_some() && t >= 5.0;
    }

    fn cpus(&self) -> f64 {
        let of_client = if self.has_client() { f64::from(self.world.truth.client_threads) } else { 0.0 };
        self.world.setup.cpus.max(1.0) + of_client
    }

    fn has_client(&self) -> bool {
        self.world.node == 0
    }

    /// The node's host now, and the client where it is beside it.
    pub fn samples(&self, volume: &SimulatedVolume, cached_bytes: f64, t_s: f64) -> Vec<(HostId, HostSample)> {
        let (setup, faults, sum) = (self.world.setup, &self.world.faults, &self.sum);
        let unix_ms = ((self.zero_unix_s + t_s) * 1e3) as i64;
        let bytes = self.operations * MESSAGE_BYTES;
        let again = faults.amount_or(FaultKind::Retransmits, 0.0) * bytes / SEGMENT_BYTES;
        let busy = sum.cpu_s + self.client_cpu_s + self.others_cpu_s;
        let (pauses, paused_s, longest) = self.stops.pauses_until(t_s);
        let host = HostFigures {
            cpu_user_s: Some(0.8 * busy),
            cpu_system_s: Some(0.2 * busy),
            cpu_idle_s: Some((self.cpus() * self.seconds - busy - self.stolen_s).max(0.0)),
            cpu_iowait_s: Some(0.0),
            cpu_steal_s: Some(self.stolen_s),
            memory_available_bytes: Some(
                HOST_MEMORY * setup.memory_limit_bytes as f64 - setup.heap_bytes as f64 - cached_bytes,
            ),
            pressure_cpu_some_s: Some(0.0),
            network_received_bytes: Some(bytes),
            network_sent_bytes: Some(bytes),
            tcp_retransmits: Some(again.floor()),
            ..HostFigures::default()
        };
        let database = HostFigures {
            cgroup_cpu_s: Some(sum.cpu_s),
            cgroup_periods: Some((self.seconds / PERIOD_S).round()),
            cgroup_throttled_periods: Some(sum.throttled.floor()),
            cgroup_anonymous_bytes: Some(1.3 * setup.heap_bytes as f64),
            cgroup_file_bytes: Some(cached_bytes),
            cgroup_memory_bytes: Some(1.3 * setup.heap_bytes as f64 + cached_bytes),
            database_pid: Some(if self.restarted { 1001.0 } else { 1000.0 }),
            process_cpu_s: Some(sum.cpu_s),
            ..host.clone()
        };
        let mut reported = Reported::from([
            (&jvm::COMPILER_CPU_S, sum.compiled_s),
            (&jvm::GC_PAUSES, pauses),
            (&jvm::GC_PAUSE_S, paused_s),
            (&cassandra::PENDING_COMPACTIONS, self.pending.floor()),
            (&cassandra::DROPPED_MESSAGES, self.dropped.floor()),
            (&cassandra::CLIENT_REQUESTS, self.operations),
        ]);
        reported.set(&jvm::GC_LONGEST_PAUSE_S, longest);
        let client = HostFigures { process_cpu_s: Some(self.client_cpu_s), ..host };
        let sample =
            |host, database, volumes| HostSample { t_s, unix_ms, host, database, volumes, ..HostSample::default() };
        let id = HostId::database(self.world.node as u32);
        let volumes = self.volumes(volume);
        let ebs = self.ebs(&volumes);
        let mut samples = vec![(id, HostSample { ebs, ..sample(database, reported, volumes) })];
        if self.has_client() {
            samples.push((HostId::CLIENT, sample(client, Reported::default(), BTreeMap::new())));
        }
        samples
    }

    /// What EBS would count of these volumes, where it is planted: what the device counts, and time above the volumes'
    /// IOPS.
    fn ebs(&self, volumes: &BTreeMap<VolumeRole, VolumeFigures>) -> BTreeMap<VolumeRole, EbsFigures> {
        let Some(share) = self.world.faults.amount(FaultKind::EbsExceeded) else { return BTreeMap::new() };
        let of = |device: &VolumeFigures| EbsFigures {
            reads: device.reads,
            writes: device.writes,
            read_bytes: device.read_bytes,
            write_bytes: device.write_bytes,
            volume_iops_exceeded_s: Some(share * self.seconds),
            volume_bytes_exceeded_s: Some(0.0),
            instance_iops_exceeded_s: Some(0.0),
            instance_bytes_exceeded_s: Some(0.0),
            ..EbsFigures::default()
        };
        volumes.iter().filter(|(role, _)| role.is_data()).map(|(role, device)| (*role, of(device))).collect()
    }

    fn volumes(&self, volume: &SimulatedVolume) -> BTreeMap<VolumeRole, VolumeFigures> {
        let (truth, sum) = (self.world.truth, &self.sum);
        let log = VolumeFigures {
            reads: Some(0.0),
            read_bytes: Some(0.0),
            writes: Some((sum.logged / LOG_REQUEST_BYTES).floor()),
            write_bytes: Some(sum.logged),
            ..VolumeFigures::default()
        };
        // Several have an equal part each.
        let setup = self.world.setup;
        let part = 1.0 / f64::from(setup.data_volume_count());
        let data = VolumeFigures {
            reads: Some((sum.device_reads * part).floor()),
            read_bytes: Some(sum.device_reads * truth.chunk_bytes * part),
            writes: Some((volume.write_requests(sum.written) * part).floor()),
            write_bytes: Some(sum.written * part),
            burst_credits: volume.bursts().then_some(volume.credits * part),
            iops_limit: volume.iops_limit().map(|limit| limit * part),
            ..VolumeFigures::default()
        };
        let roles = setup.data_volumes().map(|of| of.role);
        let mut volumes: BTreeMap<VolumeRole, VolumeFigures> = roles.map(|role| (role, data.clone())).collect();
        if self.world.setup.commitlog.is_some() {
            volumes.insert(VolumeRole::Commitlog, log);
        }
        volumes
    }
}
