//! Trials made by hand: a host sampled once a second under stated rates, through the same reduction as a real one.

use std::collections::BTreeMap;

use evidence::{
    ClientResult, HostFigures, HostId, HostSample, LatencyFigures, NodeFacts, OperationKind, ProbeResult, VolumeFacts,
    VolumeFigures,
};
use experiment::{Arrivals, Burst, IoLimits, LoadLevel, Setup, VolumeRole, VolumeSetup};
use reported::Reported;
use reported::cassandra::PENDING_COMPACTIONS;
use reported::jvm::GC_PAUSE_S;
use stats::SplitMix;

use crate::document::{Ratio, Verdict};
use crate::host::database_host;
use crate::latency::SeriesLatency;
use crate::limit::{CellLimit, Limit, of_cell};
use crate::measure::measure;
use crate::measurement::{TrialEvidence, TrialMeasurement};
use crate::rules::cases::sound_record;
use crate::story::job;

pub const KIB: f64 = 1024.0;
pub const MIB: f64 = 1_048_576.0;

/// What a volume does in a second, and what it may.
#[derive(Debug, Clone, Copy)]
pub struct Disk {
    pub reads: f64,
    pub writes: f64,
    pub read_bytes: f64,
    pub write_bytes: f64,
    pub limits: IoLimits,
    pub own: Option<IoLimits>,
    pub probe: Option<f64>,
    pub burst: Option<Burst>,
    pub byte_burst: Option<experiment::ByteBurst>,
}

impl Disk {
    /// Reads of 16 KiB and writes of 64 KiB, under one IOPS limit and one in MiB/s.
    pub fn of(reads: f64, writes: f64, iops: f64, mib_per_s: f64) -> Self {
        Self {
            reads,
            writes,
            read_bytes: reads * 16.0 * KIB,
            write_bytes: writes * 64.0 * KIB,
            limits: IoLimits::symmetric(Some(iops), Some(mib_per_s)),
            own: None,
            probe: None,
            burst: None,
            byte_burst: None,
        }
    }
}

/// What fio found of a volume that reads so much.
pub fn probe(read_iops: f64) -> ProbeResult {
    ProbeResult { read_iops, read_latency_us: 900.0, write_bytes_per_s: 1e7, write_iops: 150.0, seconds: 3.0 }
}

/// A machine under load.
#[derive(Debug, Clone)]
pub struct Machine {
    pub given: f64,
    pub host_cpus: f64,
    pub used: f64,
    pub stolen: f64,
    pub throttled_s: Option<f64>,
    pub throttled_periods: f64,
    pub gc: f64,
    pub client: f64,
    pub data: Disk,
    pub log: Option<Disk>,
    /// What both volumes share.
    pub path: Option<IoLimits>,
    /// EBS cards of data and log, each of which has that path.
    pub cards: Option<[u32; 2]>,
    /// Open loop: offered and achieved.
    pub rate: Option<(f64, f64)>,
    pub compactions_per_s: f64,
    pub seconds: u32,
    /// Relative noise of every rate from second to second; nothing exceeds its limit by it.
    pub jitter: f64,
    pub seed: u64,
}

/// Four CPUs of six half used, a volume at a third of its IOPS.
pub fn idle() -> Machine {
    Machine {
        given: 4.0,
        host_cpus: 6.0,
        used: 2.0,
        stolen: 0.0,
        throttled_s: None,
        throttled_periods: 0.0,
        gc: 0.004,
        client: 0.2,
        data: Disk::of(1000.0, 50.0, 3000.0, 160.0),
        log: None,
        path: None,
        cards: None,
        rate: None,
        compactions_per_s: 0.0,
        seconds: 60,
        jitter: 0.0,
        seed: 1,
    }
}

/// The usual machine with a change.
pub fn with(change: impl FnOnce(&mut Machine)) -> Machine {
    let mut machine = idle();
    change(&mut machine);
    machine
}

/// What a cell gained over another.
pub fn gained(median: f64, low: f64, high: f64) -> Ratio {
    let p_value = (low < high).then_some(0.01);
    Ratio { median, low, high, p_value, ..Ratio::blank("", Verdict::NotComparable, 3) }
}

/// A cell of one workload and load, by the name of its configuration.
pub fn cell<'a>(name: &'a str, data: &Disk, limit: &'a Limit) -> CellLimit<'a> {
    let share = |reads: f64, writes: f64| stats::ratio(reads, reads + writes);
    CellLimit {
        id: name,
        configuration: name,
        workload: "w",
        load: LoadLevel::Concurrency(64),
        limit,
        read_share: share(data.reads, data.writes),
        read_bytes_share: share(data.read_bytes, data.write_bytes),
    }
}

/// A volume's counters, and its bucket.
#[derive(Clone)]
struct Counting {
    disk: Disk,
    sums: [f64; 4],
    credits: Option<f64>,
}

impl Counting {
    fn new(disk: Disk) -> Self {
        Self { disk, sums: [0.0; 4], credits: disk.burst.map(|b| b.credits_start) }
    }

    /// The limit in force; of an empty bucket the baseline.
    fn limit(&self) -> Option<f64> {
        let bucket = self.disk.burst?;
        Some(if self.credits? > 1.0 { bucket.burst_iops } else { bucket.baseline_iops })
    }

    /// A second in tenths, so that a bucket ends inside it.
    fn second(&mut self, factor: f64) {
        let disk = self.disk;
        let wanted = (disk.reads + disk.writes) / 10.0;
        for _ in 0..10 {
            let allowed = disk.burst.zip(self.credits).map_or(f64::INFINITY, |(bucket, credits)| {
                (bucket.burst_iops / 10.0).min(credits + bucket.baseline_iops / 10.0)
            });
            let done = (allowed / wanted).min(1.0) * factor / 10.0;
            let figures = [disk.reads, disk.writes, disk.read_bytes, disk.write_bytes];
            for (sum, figure) in self.sums.iter_mut().zip(figures) {
                *sum += figure * done;
            }
            if let (Some(credits), Some(bucket)) = (&mut self.credits, disk.burst) {
                let spent = 10.0 * wanted * done - bucket.baseline_iops / 10.0;
                *credits = (*credits - spent).clamp(0.0, bucket.credits_max);
            }
        }
    }

    fn figures(&self) -> VolumeFigures {
        VolumeFigures {
            reads: Some(self.sums[0]),
            writes: Some(self.sums[1]),
            read_bytes: Some(self.sums[2]),
            write_bytes: Some(self.sums[3]),
            burst_credits: self.credits,
            iops_limit: self.limit(),
            // A bucket of bytes is an empty one here.
            byte_credits: self.disk.byte_burst.map(|_| 0.0),
            bytes_limit: self.disk.byte_burst.map(|bucket| bucket.baseline_bytes_per_s),
            ..VolumeFigures::default()
        }
    }
}

impl Machine {
    pub fn setup(&self) -> Setup {
        let job = job();
        let usual = &job.setups[0];
        let volume = |role: VolumeRole, disk: &Disk| VolumeSetup {
            role,
            limits: disk.limits,
            own_limits: disk.own,
            burst: disk.burst,
            byte_burst: disk.byte_burst,
            card: self.cards.map(|[data, log]| if role.is_data() { data } else { log }),
            ..usual.data.clone()
        };
        Setup {
            configuration: "made".to_owned(),
            cpus: self.given,
            data: volume(VolumeRole::Data, &self.data),
            commitlog: self.log.as_ref().map(|log| volume(VolumeRole::Commitlog, log)),
            instance_limits: self.path,
            ..usual.clone()
        }
    }

    fn samples(&self) -> Vec<HostSample> {
        let mut random = SplitMix::new(self.seed);
        let mut disks = BTreeMap::from([(VolumeRole::Data, Counting::new(self.data))]);
        disks.extend(self.log.map(|log| (VolumeRole::Commitlog, Counting::new(log))));
        let (mut cpu, mut stolen, mut idle) = (0.0, 0.0, 0.0);
        let mut samples = Vec::new();
        for second in 0..=self.seconds {
            let t = f64::from(second);
            let host = HostFigures {
                cpu_user_s: Some(cpu + self.client * t),
                cpu_system_s: Some(0.0),
                cpu_idle_s: Some(idle),
                cpu_steal_s: Some(stolen),
                cgroup_cpu_s: Some(cpu),
                cgroup_throttled_s: self.throttled_s.map(|s| s * t),
                cgroup_periods: Some(10.0 * t),
                cgroup_throttled_periods: Some(10.0 * t * self.throttled_periods),
                ..HostFigures::default()
            };
            samples.push(HostSample {
                t_s: t,
                host,
                database: Reported::from([
                    (&GC_PAUSE_S, self.gc * t),
                    (&PENDING_COMPACTIONS, (self.compactions_per_s * t).floor()),
                ]),
                volumes: disks.iter().map(|(role, disk)| (*role, disk.figures())).collect(),
                ..HostSample::default()
            });
            // Down only: a limit is not exceeded.
            let mut factor = || 1.0 - self.jitter * random.uniform();
            let used = self.used * factor();
            cpu += used;
            stolen += self.stolen;
            idle += (self.host_cpus - used - self.client - self.stolen).max(0.0);
            for disk in disks.values_mut() {
                disk.second(factor());
            }
        }
        samples
    }

    pub fn trial(&self) -> TrialMeasurement {
        let seconds = f64::from(self.seconds);
        let load = self.rate.map_or(LoadLevel::Concurrency(64), |(offered, _)| LoadLevel::Rate {
            operations_per_s: offered,
            arrivals: Arrivals::Constant,
        });
        let mut record = sound_record();
        let usual = record.nodes.remove(0);
        let volume = |role, disk: &Disk| VolumeFacts {
            role,
            limits: disk.limits,
            probe: disk.probe.map(probe),
            ..usual.volumes[0].clone()
        };
        let log = self.log.as_ref().map(|log| volume(VolumeRole::Commitlog, log));
        let volumes = [volume(VolumeRole::Data, &self.data)].into_iter().chain(log).collect();
        record.nodes.push(NodeFacts { cpus: self.given, data_bytes_on_disk: 1 << 33, volumes, ..usual });
        record.client = Some(ClientResult {
            measured_s: seconds,
            client_cpu_s: self.client * seconds,
            threads: 1,
            ..ClientResult::default()
        });
        record.load = load;
        let mut trial = measure(&TrialEvidence { record: &record, intervals: &[], samples: &BTreeMap::new() });
        trial.hosts = BTreeMap::from([(HostId::DATABASE, database_host(&self.samples(), 0.0, seconds))]);
        let completed = (self.rate.map_or(1000.0, |(_, achieved)| achieved) * seconds) as u64;
        (trial.window.from_s, trial.window.to_s) = (0.0, seconds);
        let latency = SeriesLatency { figures: LatencyFigures::of(|_| 1e3), max: 1e3, samples: completed };
        trial.response.insert(OperationKind::Read, latency);
        trial
    }

    pub fn limit(&self) -> Limit {
        let trials: Vec<TrialMeasurement> =
            (0..2).map(|i| Self { seed: self.seed + i, ..self.clone() }.trial()).collect();
        of_cell(Some(&self.setup()), &trials.iter().collect::<Vec<_>>())
    }
}

/// A trial of a cluster whose nodes are these machines; load and client are those of the first.
pub fn cluster(machines: &[Machine]) -> TrialMeasurement {
    let mut trial = machines[0].trial();
    for (index, machine) in (1..).zip(&machines[1..]) {
        let other = Machine { seed: machine.seed + u64::from(index), ..machine.clone() }.trial();
        let id = HostId::database(index);
        let mut facts = other.record.nodes[0].clone();
        facts.host = id;
        trial.record.nodes.push(facts);
        trial.hosts.insert(id, other.hosts[&HostId::DATABASE].clone());
    }
    trial
}
