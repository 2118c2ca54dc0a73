//! A simulation: a plan with its truth, played trial by trial.

use std::collections::BTreeMap;

use evidence::{
    ClientResult, HostId, HostSample, Interval, NodeFacts, ProbeResult, SendLag, TrialRecord, VolumeFacts, Warmed,
};
use experiment::{
    CacheState, Cell, Definition, FaultKind, Job, LoadLevel, PageCache, Plan, PlannedTrial, SettingsInForce, Setups,
    TrialShape, Truth, VolumeSetup,
};

use crate::calendar::{rfc3339, started_unix_s};
use crate::closed::Closed;
use crate::faults::Faults;
use crate::host::Counters;
use crate::noise::Noise;
use crate::open::Open;
use crate::recorder::Recorder;
use crate::share::Spread;
use crate::stops::Stops;
use crate::variation::{self, Pace, Seconds};
use crate::volume::{Paced, SimulatedVolume, counted};
use crate::waking::Waking;
use crate::world::{Work, World};

/// Request sizes with which fio would probe a volume: random reads, sequential writes.
const PROBE_BYTES: [f64; 2] = [4_096.0, 65_536.0];

/// What one trial leaves.
#[derive(Debug, Clone)]
pub struct SimulatedTrial {
    /// `trial.json`.
    pub record: TrialRecord,
    /// `latency.hlog`.
    pub intervals: Vec<Interval>,
    /// `host-<host>.parquet`, by host.
    pub samples: BTreeMap<HostId, Vec<HostSample>>,
}

/// A plan with its truth; the page cache's tables are solved once.
pub struct Simulation {
    plan: Plan,
    setups: Setups,
    truth: Truth,
    /// By workload.
    caches: BTreeMap<String, PageCache>,
    /// Of each planned trial.
    paces: Vec<Pace>,
}

impl Simulation {
    /// Prepares all workloads of a plan.
    pub fn new(Job { plan, setups }: &Job, truth: &Truth) -> Self {
        let dataset = &plan.dataset;
        let cache = |w: &Definition| {
            let cache = PageCache::new(w.distribution, dataset.records, dataset.record_bytes(), truth.chunk_bytes);
            (w.name.clone(), cache)
        };
        Self {
            caches: plan.workloads.iter().map(cache).collect(),
            paces: variation::of_trials(plan, truth),
            plan: plan.clone(),
            setups: setups.clone(),
            truth: truth.clone(),
        }
    }

    /// The workload that the experiment names first.
    pub fn first_workload(&self) -> String {
        self.plan.workloads.first().map_or_else(String::new, |w| w.name.clone())
    }

    /// Whether the frozen plan has such a trial.
    pub fn has(&self, trial: &PlannedTrial) -> bool {
        self.plan.trials.contains(trial)
    }

    /// Records of the data set.
    pub fn records(&self) -> u64 {
        self.plan.dataset.records
    }

    /// Bytes of one replica of the data set on disk.
    pub fn data_bytes(&self) -> f64 {
        self.plan.dataset.bytes_on_disk()
    }

    /// When a planned trial begins on the simulated calendar, Unix milliseconds.
    pub fn started_unix_ms(&self, planned: &PlannedTrial) -> i64 {
        let position = self.plan.trials.iter().position(|t| t == planned).unwrap_or(0);
        (started_unix_s(&self.plan, position) * 1e3) as i64
    }

    /// Takes a trial that the frozen plan did not have: one of a search, or one that came of it. The same for one that
    /// it knows.
    pub fn take_in(&mut self, cell: Cell, trial: &PlannedTrial, shape: TrialShape) {
        self.plan.shape = shape;
        match self.plan.cells.iter_mut().find(|known| known.id == cell.id) {
            Some(known) => *known = cell,
            None => self.plan.cells.push(cell),
        }
        if !self.plan.trials.contains(trial) {
            self.plan.trials.push(trial.clone());
            self.paces = variation::of_trials(&self.plan, &self.truth);
        }
    }

    /// Simulates a planned trial; the same plan, truth and trial give the same evidence. `None` when the plan has no
    /// such trial.
    pub fn trial(&self, planned: &PlannedTrial) -> Option<SimulatedTrial> {
        let plan = &self.plan;
        let cell = plan.cells.iter().find(|c| c.id == planned.cell)?;
        let setup = self.setups.of(&cell.configuration)?;
        let setup = &plan.caches.setup(setup, &cell.workload, &plan.dataset);
        let workload = plan.workloads.iter().find(|w| w.name == cell.workload)?;
        let position = plan.trials.iter().position(|t| t == planned)?;
        let at = (cell.configuration.as_str(), planned.block);
        let levels = setup.consistency.unwrap_or(plan.target.consistency);
        let spread = Spread::of(&self.truth, at, setup.placement, levels, workload);
        let cache = self.caches.get(workload.name.as_str())?;
        let world = |node: usize| {
            let faults = Faults::of(&self.truth, &cell.configuration, planned.block, node as u32);
            let held = self.data_bytes() * setup.placement.share_per_node();
            World {
                truth: &self.truth,
                setup,
                workload,
                load: cell.load,
                planted: self.truth.speed.get(&cell.configuration).copied().unwrap_or(1.0),
                settings: self.truth.settings.get(&cell.configuration).copied().unwrap_or_default(),
                node,
                spread: &spread,
                share: spread.share(node),
                data_bytes: held * faults.amount_or(FaultKind::SmallDataset, 1.0),
                faults,
                cache,
                write_bytes: World::write_bytes(workload, plan),
            }
        };
        let worlds: Vec<World<'_>> = (0..spread.nodes()).map(world).collect();
        let pace = *self.paces.get(position)?;
        let paces = match worlds.len() {
            1 => vec![pace],
            nodes => (0..nodes).map(|node| pace.of_node(plan, &self.truth, planned, node)).collect(),
        };
        Some(
            Trial {
                plan,
                cell,
                planned,
                world: &worlds[0],
                worlds: &worlds,
                paces,
                started_unix_s: started_unix_s(plan, position),
            }
            .run(),
        )
    }
}

/// One trial in the making.
struct Trial<'a> {
    plan: &'a Plan,
    cell: &'a Cell,
    planned: &'a PlannedTrial,
    /// What the nodes have in common.
    world: &'a World<'a>,
    worlds: &'a [World<'a>],
    paces: Vec<Pace>,
    started_unix_s: f64,
}

/// The database under one of the two kinds of load.
enum Database<'a> {
    Closed(Box<Closed<'a>>),
    Open(Box<Open<'a>>),
}

impl Database<'_> {
    /// The data volume of a node.
    fn volume(&self, node: usize) -> &SimulatedVolume {
        match self {
            Self::Closed(closed) => &closed.nodes[node].volume,
            Self::Open(open) => open.nodes[node].volume.volume(),
        }
    }
}

/// What a trial adds up to besides the recorder's counts.
#[derive(Default)]
struct Sums {
    measured_s: f64,
    client_cpu_s: f64,
    /// Of each node's data volume.
    credits: Vec<Option<(f64, f64)>>,
    open: Option<(u64, SendLag)>,
}

impl Trial<'_> {
    /// Whether the page cache holds what it can when the trial begins.
    fn is_warm(&self) -> bool {
        self.plan.caches.state(&self.cell.workload) == CacheState::Warm
    }

    /// Share of what a warm page cache will hold that it holds when the trial begins.
    fn warmed_share(&self) -> f64 {
        self.world.truth.waking_up.map_or(1.0, |waking_up| waking_up.cached_share)
    }

    /// Noise of this trial for one purpose.
    fn noise(&self, name: &str) -> Noise {
        let seed = variation::seed(self.plan, self.world.truth);
        Noise::of(seed, &[name, &self.planned.block.to_string(), &self.cell.id])
    }

    fn run(&self) -> SimulatedTrial {
        let (world, shape) = (self.world, &self.plan.shape);
        let warmup_s = shape.warmup_s.floor();
        let seed = variation::seed(self.plan, world.truth);
        let nodes = self.worlds.len();
        let mut by_second: Vec<Seconds> =
            (0..nodes).map(|node| Seconds::new(seed, world.truth, self.planned, node)).collect();
        let stops = Stops::of(world.truth, &world.faults, warmup_s, shape.duration_s, self.noise("stops"));
        let volumes = self.worlds.iter().map(|w| SimulatedVolume::new(w.truth, w.setup, &w.faults));
        let mut database = match world.load {
            LoadLevel::Concurrency(n) => {
                Database::Closed(Box::new(Closed::new(self.worlds, &stops, volumes.collect(), n)))
            }
            LoadLevel::Rate { operations_per_s, arrivals } => Database::Open(Box::new(Open::new(
                self.worlds,
                &stops,
                volumes.map(|volume| Paced::new(volume, -warmup_s)).collect(),
                (operations_per_s, arrivals),
                -warmup_s,
                [self.noise("arrivals"), self.noise("requests")],
            ))),
        };
        let mut recorder = Recorder::new(world, nodes, self.noise("latency"), warmup_s);
        let zero_unix_s = self.started_unix_s + warmup_s;
        let mut counters: Vec<Counters<'_>> =
            self.worlds.iter().map(|world| Counters::new(world, &stops, zero_unix_s)).collect();
        let budget = |world: &World<'_>| (world.setup.page_cache_budget_bytes as f64).min(world.data_bytes);
        let mut cached_bytes: Vec<f64> = match self.is_warm() {
            true => self.worlds.iter().map(|w| budget(w) * self.warmed_share()).collect(),
            false => vec![0.0; nodes],
        };
        let mut waking: Vec<Waking> = self.worlds.iter().map(|w| Waking::new(w.truth, w.setup.cpus)).collect();
        let mut samples: BTreeMap<HostId, Vec<HostSample>> = BTreeMap::new();
        let mut sample = |counters: &[Counters<'_>], database: &Database<'_>, cached: &[f64], t_s: f64| {
            for (node, counters) in counters.iter().enumerate() {
                for (host, one) in counters.samples(database.volume(node), cached[node], t_s) {
                    samples.entry(host).or_default().push(one);
                }
            }
        };
        sample(&counters, &database, &cached_bytes, -warmup_s);
        let mut sums = Sums { credits: vec![None; nodes], ..Sums::default() };
        let mut t = -warmup_s;
        loop {
            if t >= 0.0 {
                for (node, credits) in sums.credits.iter_mut().enumerate() {
                    let volume = database.volume(node);
                    let start = credits.map_or(volume.credits, |(start, _)| start);
                    *credits = volume.bursts().then_some((start, volume.credits));
                }
            }
            let length = if t < 0.0 { 1.0 } else { (shape.duration_s - t).min(1.0) };
            if length <= 1e-9 || shape.operations.is_some_and(|n| recorder.counted() >= n) {
                break;
            }
            let trend = world.faults.trend(t, warmup_s, shape.duration_s);
            let works: Vec<Work> = self
                .worlds
                .iter()
                .enumerate()
                .map(|(node, world)| {
                    let pace = by_second[node].next(self.paces[node], trend);
                    world.work(pace, cached_bytes[node], &waking[node])
                })
                .collect();
            match &mut database {
                Database::Closed(closed) => closed.second(t, length, &works, &mut recorder),
                Database::Open(open) => open.second(t, length, &works, &mut recorder),
            }
            for (node, waking) in waking.iter_mut().enumerate() {
                let done = recorder.done(t, node);
                done.compiled_s = waking.pass(length, done.logged);
                done.cpu_s += done.compiled_s;
            }
            let tally = recorder.close(t, length);
            for (node, counters) in counters.iter_mut().enumerate() {
                let world = &self.worlds[node];
                let read = tally.nodes[node].device_reads * world.truth.chunk_bytes;
                cached_bytes[node] = (cached_bytes[node] + read).min(budget(world));
                counters.add(&tally, length, t);
            }
            if t >= 0.0 {
                sums.client_cpu_s += tally.operations * world.client_us() / 1e6;
            }
            t += length;
            sample(&counters, &database, &cached_bytes, t);
        }
        sums.measured_s = t;
        if let Database::Open(open) = &database {
            sums.open = Some(open.sent());
        }
        SimulatedTrial { record: self.record(warmup_s, sums, &recorder), intervals: recorder.intervals, samples }
    }

    fn record(&self, warmup_s: f64, sums: Sums, recorder: &Recorder<'_>) -> TrialRecord {
        TrialRecord {
            started_at: rfc3339(self.started_unix_s),
            client: Some(ClientResult {
                warmup_s,
                measured_s: sums.measured_s,
                operations_sent: sums.open.map_or(recorder.counted(), |(sent, _)| sent),
                completed: recorder.completed.clone(),
                errors: recorder.errors.clone(),
                client_cpu_s: sums.client_cpu_s,
                client_peak_rss_bytes: 12_000_000,
                send_lag_us: sums.open.map(|(_, lag)| lag),
                threads: self.world.truth.client_threads,
                notes: Vec::new(),
                first_errors: BTreeMap::new(),
                imported: None,
            }),
            nodes: self.worlds.iter().zip(sums.credits).map(|(w, c)| self.node(w, c)).collect(),
            ..TrialRecord::of(self.cell, self.planned.block)
        }
    }

    /// A node with its volumes.
    fn node(&self, world: &World<'_>, credits: Option<(f64, f64)>) -> NodeFacts {
        let setup = world.setup;
        // Each data volume has its part of the credits.
        let count = f64::from(setup.data_volume_count());
        let credits = credits.map(|(start, end)| (start / count, end / count));
        let volumes = setup.volumes();
        NodeFacts {
            host: HostId::database(world.node as u32),
            cpus: setup.cpus,
            heap_bytes: setup.heap_bytes,
            memory_limit_bytes: setup.memory_limit_bytes,
            page_cache_budget_bytes: setup.page_cache_budget_bytes,
            data_bytes_on_disk: world.data_bytes as u64,
            volumes: volumes.map(|v| facts(world, v, credits)).collect(),
            settings: SettingsInForce::NONE,
            warmed: self.is_warm().then(|| {
                let all = setup.page_cache_budget_bytes.min(world.data_bytes as u64);
                let bytes = (all as f64 * self.warmed_share()) as u64;
                Warmed {
                    is_asked_for: self.plan.caches.asks_for_warm(&self.cell.workload),
                    settled_reads_per_operation: None,
                    bytes,
                    of_bytes: world.data_bytes as u64,
                    by_keys_bytes: 0,
                    seconds: 0.0,
                    cached_bytes: Some(bytes),
                }
            }),
            ..NodeFacts::UNKNOWN
        }
    }
}

/// A volume with what fio would measure: its limit, or what a slow disk makes of it.
fn facts(world: &World<'_>, volume: &VolumeSetup, credits: Option<(f64, f64)>) -> VolumeFacts {
    let is_data = volume.role.is_data();
    let slow = if is_data { world.faults.amount_or(FaultKind::SlowDisk, 1.0) } else { 1.0 };
    let limits = volume.limits;
    let [read_bytes, write_bytes] = PROBE_BYTES;
    let least = |iops: Option<f64>, bytes_per_s: Option<f64>, bytes: f64| {
        let by_requests = iops.map_or(f64::INFINITY, |i| i / counted(bytes, world.truth));
        by_requests.min(bytes_per_s.map_or(f64::INFINITY, |b| b / bytes)) * slow
    };
    let read_iops = least(limits.read_iops, limits.read_bytes_per_s, read_bytes);
    let write_iops = least(limits.write_iops, limits.write_bytes_per_s, write_bytes);
    let probe = (read_iops.is_finite() && write_iops.is_finite()).then_some(ProbeResult {
        read_iops,
        read_latency_us: 32.0 / read_iops * 1e6,
        write_bytes_per_s: write_iops * write_bytes,
        write_iops,
        seconds: 3.0,
    });
    VolumeFacts {
        role: volume.role,
        label: volume.label.clone(),
        device: "simulated".to_owned(),
        array: world.setup.chunk_kib().filter(|_| is_data).map(|_| "simulated".to_owned()),
        limits,
        probe,
        burst_credits: credits.filter(|_| is_data),
        byte_credits: None,
        is_served: false,
        combined: None,
        initialised: None,
    }
}
