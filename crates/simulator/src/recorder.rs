//! What the client writes down, and what the machine did, second by second.

use std::collections::{BTreeMap, VecDeque};

use evidence::{ErrorKind, Interval, OperationKind, Series, short_histogram};
use experiment::LoadLevel;
use hdrhistogram::Histogram;

use crate::latency::{self, whole_us};
use crate::noise::Noise;
use crate::world::{World, parts};

const KINDS: usize = OperationKind::YCSB.len();
/// Errors that a simulated database makes.
const ERRORS: [ErrorKind; 2] = [ErrorKind::ReadTimeout, ErrorKind::NotFound];
/// Series: responses by kind, service times by kind, errors.
const SERIES: usize = 2 * KINDS + ERRORS.len();

/// What the machines did in a second.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Operations answered, errors too.
    pub operations: f64,
    /// What each node did.
    pub nodes: Vec<Done>,
}

/// What a node did in a second.
#[derive(Debug, Clone, Copy, Default)]
pub struct Done {
    /// CPU seconds of the database.
    pub cpu_s: f64,
    /// Those of its compilers, which are part of them.
    pub compiled_s: f64,
    /// Device read requests of the data volume.
    pub device_reads: f64,
    /// Bytes written to the data volume.
    pub written: f64,
    /// Bytes written to the commit log.
    pub logged: f64,
    /// Periods of a CPU quota in which it was used up.
    pub throttled: f64,
}

/// A second in the making.
struct Slot {
    histograms: [Option<Box<Histogram<u64>>>; SERIES],
    counted: [u64; SERIES],
    tally: Tally,
}

/// How one operation ended.
pub struct Ended {
    pub kind: OperationKind,
    /// When the client has the answer, seconds from the start of measurement.
    pub done: f64,
    /// From due to done, microseconds.
    pub response_us: f64,
    /// From sent to done.
    pub service_us: f64,
}

/// Operations of a second that have mean latencies in common.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    pub operations: f64,
    /// Mean response time of the reading part of an operation, microseconds.
    pub read_us: f64,
    /// Mean response time of the writing part.
    pub write_us: f64,
    /// How much longer each took, because of a stop.
    pub extra_us: f64,
}

/// The client's record of a trial.
pub struct Recorder<'a> {
    world: &'a World<'a>,
    noise: Noise,
    /// Seconds before the start of measurement in the first slot; whole.
    first_s: f64,
    /// Nodes of the database.
    nodes: usize,
    /// Number of the first open slot.
    first_open: usize,
    slots: VecDeque<Slot>,
    /// Fractions of operations, by series, that wait to be whole ones.
    carried: [f64; SERIES],
    lost: [f64; SERIES],
    /// Latencies by series and second.
    pub intervals: Vec<Interval>,
    /// Operations that succeeded in the measurement.
    pub completed: BTreeMap<OperationKind, u64>,
    /// Those that failed.
    pub errors: BTreeMap<ErrorKind, u64>,
}

impl<'a> Recorder<'a> {
    /// Nothing recorded yet; load begins `warmup_s` (whole seconds) before the measurement.
    pub fn new(world: &'a World<'a>, nodes: usize, noise: Noise, warmup_s: f64) -> Self {
        Self {
            world,
            nodes,
            noise,
            first_s: warmup_s,
            first_open: 0,
            slots: VecDeque::new(),
            carried: [0.0; SERIES],
            lost: [0.0; SERIES],
            intervals: Vec::new(),
            completed: BTreeMap::new(),
            errors: BTreeMap::new(),
        }
    }

    /// The second that `t` lies in; the first open one where that has ended.
    fn slot(&mut self, t: f64) -> &mut Slot {
        let number = ((t + self.first_s).max(0.0) as usize).saturating_sub(self.first_open);
        let idle = Tally { operations: 0.0, nodes: vec![Done::default(); self.nodes] };
        while self.slots.len() <= number {
            self.slots.push_back(Slot {
                histograms: [const { None }; SERIES],
                counted: [0; SERIES],
                tally: idle.clone(),
            });
        }
        &mut self.slots[number]
    }

    /// What a node did in the second of `t`, to be added to.
    pub fn done(&mut self, t: f64, node: usize) -> &mut Done {
        &mut self.slot(t).tally.nodes[node]
    }

    /// Writes down one operation of the open loop.
    pub fn one(&mut self, ended: &Ended) {
        let kind = number(ended.kind);
        let fate = self.noise.unit();
        let failing = self.world.failing();
        let absent = if is_lookup(ended.kind) { self.world.not_found() } else { 0.0 };
        let series = if fate < failing {
            2 * KINDS
        } else if fate < failing + absent {
            2 * KINDS + 1
        } else {
            kind
        };
        let keeps = self.keeps(series, 1) == 1;
        let slot = self.slot(ended.done);
        slot.tally.operations += 1.0;
        slot.counted[series] += 1;
        if keeps {
            slot.put(series, ended.response_us);
            if series == kind {
                slot.put(KINDS + kind, ended.service_us);
            }
        }
    }

    /// Writes down the operations of the second that began at `t`, of the closed loop.
    pub fn many(&mut self, t: f64, parts_of_second: &[Part]) {
        let (failing, not_found) = (self.world.failing(), self.world.not_found());
        for kind in OperationKind::YCSB {
            let share = self.world.workload.mix.share(kind);
            if share == 0.0 {
                continue;
            }
            let absent = if is_lookup(kind) { not_found } else { 0.0 };
            let (reads, writes) = parts(kind);
            for part in parts_of_second {
                let mean_us = if reads { part.read_us } else { 0.0 } + if writes { part.write_us } else { 0.0 };
                let operations = part.operations * share;
                let fates = [(number(kind), 1.0 - failing - absent), (2 * KINDS, failing), (2 * KINDS + 1, absent)];
                for (series, share) in fates {
                    if share <= 0.0 {
                        continue;
                    }
                    self.carried[series] += operations * share;
                    let n = self.carried[series].max(0.0).floor();
                    self.carried[series] -= n;
                    self.put(t, series, n as u64, mean_us, part.extra_us);
                }
            }
        }
    }

    fn put(&mut self, t: f64, series: usize, n: u64, mean_us: f64, extra_us: f64) {
        if n == 0 {
            return;
        }
        let kept = self.keeps(series, n);
        // The generator is lent to the histogram while the slot is.
        let mut noise = std::mem::replace(&mut self.noise, Noise::of(0, &[]));
        let slot = self.slot(t);
        slot.tally.operations += n as f64;
        slot.counted[series] += n;
        latency::record(slot.histogram(series), kept, mean_us, extra_us, &mut noise);
        self.noise = noise;
    }

    /// How many of `n` operations the histograms hold.
    fn keeps(&mut self, series: usize, n: u64) -> u64 {
        let lost = &mut self.lost[series];
        *lost += n as f64 * (1.0 - self.world.kept());
        let whole = lost.floor().clamp(0.0, n as f64);
        *lost -= whole;
        n - whole as u64
    }

    /// The second that began at `t` and is `length` long has ended: its histograms are kept, its tally is returned.
    pub fn close(&mut self, t: f64, length: f64) -> Tally {
        self.slot(t);
        let Some(mut slot) = self.slots.pop_front() else {
            return Tally::default();
        };
        self.first_open += 1;
        let is_open = matches!(self.world.load, LoadLevel::Rate { .. });
        for series in 0..SERIES {
            let (name, expected) = self.named(series, is_open);
            let histogram = slot.histograms[series].take();
            if expected || histogram.is_some() {
                self.intervals.push(Interval {
                    series: name,
                    start_s: t,
                    length_s: length,
                    histogram: histogram.map_or_else(short_histogram, |h| *h),
                });
            }
            if t >= 0.0 && slot.counted[series] > 0 {
                match name {
                    Series::Response(kind) => *self.completed.entry(kind).or_default() += slot.counted[series],
                    Series::Failed(error) => *self.errors.entry(error).or_default() += slot.counted[series],
                    Series::Service(_) | Series::Cache(_) | Series::Unmet(_) => {}
                }
            }
        }
        slot.tally
    }

    /// A series by its number, and whether it is written even for a second without any operation, as the engine does.
    fn named(&self, series: usize, is_open: bool) -> (Series, bool) {
        let kind = OperationKind::YCSB[series % KINDS];
        let offered = self.world.workload.mix.share(kind) > 0.0;
        match series / KINDS {
            0 => (Series::Response(kind), offered),
            1 => (Series::Service(kind), offered && is_open),
            _ => (Series::Failed(ERRORS[series - 2 * KINDS]), false),
        }
    }

    /// Operations counted in the measurement.
    pub fn counted(&self) -> u64 {
        self.completed.values().sum::<u64>() + self.errors.values().sum::<u64>()
    }
}

impl Slot {
    fn histogram(&mut self, series: usize) -> &mut Histogram<u64> {
        self.histograms[series].get_or_insert_with(|| Box::new(short_histogram()))
    }

    fn put(&mut self, series: usize, us: f64) {
        latency::count(self.histogram(series), whole_us(us), 1);
    }
}

/// The place of a kind among YCSB's: an experiment with statements of the user's own is not simulated.
fn number(kind: OperationKind) -> usize {
    OperationKind::YCSB.iter().position(|of| *of == kind).unwrap_or_default()
}

/// Whether it can find no row: a read-modify-write that finds none writes it all the same.
fn is_lookup(kind: OperationKind) -> bool {
    matches!(kind, OperationKind::Read | OperationKind::Scan)
}
