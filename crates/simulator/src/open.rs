//! The open loop, request by request: a true queue.
//!
//! Requests are due on a schedule that nothing holds up. Each passes, first come first served: the client (one CPU a
//! load thread), the database's CPUs (k servers, or its CPU quota), then, where the page cache misses, the volume,
//! which serves requests at the pace of its limits; what is written asks the same volume, but does not wait for it
//! unless it is far behind. A stop delays everything that comes while it lasts, and what has gathered drains at the
//! capacity of the narrowest resource. Response time counts from the moment at which a request was due, so that nothing
//! is omitted (Tene, "How NOT to measure latency", 2013).
//!
//! In a cluster a request has a part on each replica that it asks; each node serves its parts on its own, and the
//! answer comes with the last part that the consistency level waits for.

use std::collections::{BTreeMap, VecDeque};

use evidence::{OperationKind, SendLag, empty_histogram};
use experiment::{Arrivals, FaultKind};
use hdrhistogram::Histogram;

use crate::closed::PERIOD_S;
use crate::latency::whole_us;
use crate::noise::Noise;
use crate::recorder::{Ended, Recorder};
use crate::stops::Stops;
use crate::volume::Paced;
use crate::world::{Work, World, parts};

/// Reads that the volume lets wait before the database takes no more (Cassandra's `concurrent_reads`: 32), ...
const READS_QUEUED: f64 = 32.0;
/// ... or this long, seconds, where that is more: a fast volume must not run dry while CPUs work.
const READS_QUEUED_S: f64 = 0.01;
/// How far flushes and the commit log may fall behind before writes wait, seconds.
const WRITES_BEHIND_S: f64 = 1.0;
/// Mean lateness of a client with time to spare, microseconds: timers and the event loop.
const LAG_US: f64 = 35.0;
/// Share of the requests that the fault `send_lag` delays.
const LAGGING: f64 = 0.02;

/// A request on its way to the database.
#[derive(Debug, Clone, Copy)]
struct Sent {
    due: f64,
    sent: f64,
    kind: OperationKind,
}

/// What one node does of a request.
struct Part {
    /// The request's number.
    id: u64,
    /// When it arrives.
    sent: f64,
    reads: bool,
    writes: bool,
    /// Whether this node was asked by the client.
    coordinates: bool,
}

/// A request under way.
struct Pending {
    request: Sent,
    /// Parts that the answer still waits for.
    left: usize,
    /// The latest end of a part, before the network.
    done: f64,
}

/// When the requests of a trial are due.
struct Schedule {
    gap_s: f64,
    arrivals: Arrivals,
    next: f64,
    noise: Noise,
}

impl Schedule {
    fn step(&mut self) -> f64 {
        let due = self.next;
        let gap = match self.arrivals {
            Arrivals::Poisson => self.noise.exponential(),
            // A recording is not simulated.
            Arrivals::Constant | Arrivals::Recorded => 1.0,
        };
        self.next += self.gap_s * gap;
        due
    }
}

/// A node with its queues.
pub struct OpenNode<'a> {
    world: &'a World<'a>,
    /// The data volume.
    pub volume: Paced,
    /// What reads, and what only writes: they wait for different things.
    waiting: [VecDeque<Part>; 2],
    /// When each CPU is free.
    cpus: Vec<f64>,
    /// CPUs that compilers use now.
    compiling_cpus: f64,
    /// The last period of a CPU quota in which something was begun, and the CPU seconds used in it.
    quota: (f64, f64),
    log_free: f64,
}

impl<'a> OpenNode<'a> {
    fn new(world: &'a World<'a>, volume: Paced, from: f64) -> Self {
        let servers = world.cpus(0.0).ceil().max(1.0);
        Self {
            world,
            volume,
            waiting: [VecDeque::new(), VecDeque::new()],
            cpus: vec![from; servers as usize],
            compiling_cpus: 0.0,
            quota: (f64::NEG_INFINITY, 0.0),
            log_free: from,
        }
    }

    /// How much longer work takes on one CPU, because capacity is not a whole number of them.
    fn stretch(&self) -> f64 {
        self.cpus.len() as f64 / self.world.cpus(self.compiling_cpus)
    }

    fn quota_cpus(&self) -> Option<f64> {
        self.world.quota(self.compiling_cpus)
    }

    /// A part comes; in the order in which they arrive: a late one is overtaken.
    fn takes(&mut self, part: Part) {
        let queue = &mut self.waiting[usize::from(!part.reads)];
        let overtaken = queue.iter().rev().take_while(|other| other.sent > part.sent).count();
        queue.insert(queue.len() - overtaken, part);
    }

    /// What is begun next: read or write, when, on which CPU.
    #[inline]
    fn next_start(&self, stops: &Stops, reads_behind_s: f64) -> Option<(usize, f64, usize)> {
        let ready = |class: usize| {
            let front = self.waiting[class].front()?;
            let mut at = front.sent;
            if front.reads {
                at = at.max(self.volume.free_at(false) - reads_behind_s);
            }
            if front.writes {
                at = at.max(self.volume.free_at(true).max(self.log_free) - WRITES_BEHIND_S);
            }
            Some((class, at))
        };
        let (class, at) = [ready(0), ready(1)].into_iter().flatten().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let mut cpu = 0;
        for (i, free) in self.cpus.iter().enumerate() {
            if *free < self.cpus[cpu] {
                cpu = i;
            }
        }
        let mut start = stops.leave(at.max(self.cpus[cpu]));
        if let Some(quota) = self.quota_cpus() {
            let (period, used) = self.quota;
            // A period's time is used up: wait for the next one in which there is some.
            let debts = (used / (quota * PERIOD_S)).floor();
            if debts >= 1.0 && period_of(start) < period + debts {
                start = stops.leave((period + debts) * PERIOD_S);
            }
        }
        Some((class, start, cpu))
    }

    /// For how long reads may wait for the volume, seconds. A bucket that empties in this second changes it from the
    /// next one on.
    fn reads_behind_s(&self) -> f64 {
        (READS_QUEUED * self.volume.gap_s()).max(READS_QUEUED_S)
    }

    /// CPU time is used of the `budget_s` that each period has; a period in which it is used up is counted once. What a
    /// long request uses beyond it is paid in the next periods; what is left of a period is lost (CFS bandwidth
    /// control). Returns how many were used up.
    fn count_quota(&mut self, start: f64, cpu_s: f64, budget_s: f64) -> f64 {
        let (before, used) = self.quota;
        let period = period_of(start);
        let passed = period - before;
        let carried = if passed > 0.0 { (used - budget_s * passed).max(0.0) } else { used };
        let now = carried + cpu_s;
        self.quota = (period.max(before), now);
        if carried < budget_s && now >= budget_s { (now / budget_s).floor() } else { 0.0 }
    }
}

/// A database to which requests come at a rate. Its nodes stop together.
pub struct Open<'a> {
    /// What the nodes have in common, and the client.
    world: &'a World<'a>,
    stops: &'a Stops,
    schedule: Schedule,
    noise: Noise,
    /// Shares of the kinds, summed up.
    mix: Vec<(f64, OperationKind)>,
    pub nodes: Vec<OpenNode<'a>>,
    pending: BTreeMap<u64, Pending>,
    requests: u64,
    client_free: f64,
    lags: Histogram<u64>,
    sent: u64,
}

impl<'a> Open<'a> {
    /// Load begins at `from`, seconds from the start of measurement.
    pub fn new(
        worlds: &'a [World<'a>],
        stops: &'a Stops,
        volumes: Vec<Paced>,
        (operations_per_s, arrivals): (f64, Arrivals),
        from: f64,
        noise: [Noise; 2],
    ) -> Self {
        let world = &worlds[0];
        let mut sum = 0.0;
        let mix = OperationKind::YCSB.into_iter().filter_map(|kind| {
            let share = world.workload.mix.share(kind);
            sum += share;
            (share > 0.0).then_some((sum, kind))
        });
        let [of_arrivals, noise] = noise;
        let mut schedule = Schedule { gap_s: 1.0 / operations_per_s, arrivals, next: from, noise: of_arrivals };
        schedule.step();
        let node = |(world, volume)| OpenNode::new(world, volume, from);
        Self {
            mix: mix.collect(),
            world,
            stops,
            schedule,
            noise,
            nodes: worlds.iter().zip(volumes).map(node).collect(),
            pending: BTreeMap::new(),
            requests: 0,
            client_free: from,
            lags: empty_histogram(),
            sent: 0,
        }
    }

    /// The second (or less) from `t` on; `works` is of each node.
    pub fn second(&mut self, t: f64, seconds: f64, works: &[Work], recorder: &mut Recorder<'_>) {
        let end = t + seconds;
        while self.schedule.next < end {
            let due = self.schedule.step();
            self.send(due);
        }
        let pauses_s = self.pauses_s(t, end);
        for (node, work) in self.nodes.iter_mut().zip(works) {
            node.compiling_cpus = work.compiling_cpus;
        }
        for (at, node) in self.nodes.iter().enumerate() {
            recorder.done(t, at).cpu_s += self.world.truth.background_cpus * seconds + node.world.all_cpus() * pauses_s;
        }
        let behind_s: Vec<f64> = self.nodes.iter().map(OpenNode::reads_behind_s).collect();
        while let Some((node, (class, start, cpu))) = self.next_start(&behind_s).filter(|(_, next)| next.1 < end) {
            let Some(part) = self.nodes[node].waiting[class].pop_front() else { break };
            self.serve(&part, (node, start, cpu), &works[node], recorder);
        }
        for node in &mut self.nodes {
            node.volume.pass_until(end);
        }
    }

    /// The node that begins something next, and what.
    #[inline]
    fn next_start(&self, behind_s: &[f64]) -> Option<(usize, (usize, f64, usize))> {
        let next = |at: usize| Some((at, self.nodes[at].next_start(self.stops, behind_s[at])?));
        (0..self.nodes.len()).filter_map(next).min_by(|a, b| a.1.1.total_cmp(&b.1.1))
    }

    /// Seconds of collection pauses in a stretch of time.
    fn pauses_s(&self, from: f64, to: f64) -> f64 {
        let pauses = self.stops.within(from, to).filter(|s| !s.is_stall);
        pauses.map(|s| s.end - s.start).sum()
    }

    /// The client sends what is due.
    fn send(&mut self, due: f64) {
        let at = self.noise.unit();
        let kind = self.mix.iter().find(|(upto, _)| at < *upto).or(self.mix.last()).map(|(_, kind)| *kind);
        let Some(kind) = kind else { return };
        let mut sent = due.max(self.client_free);
        self.client_free = sent + 1.0 / self.world.client_rate();
        sent += LAG_US * self.noise.of_request() / 1e6;
        if let Some(lag_ms) = self.world.faults.amount(FaultKind::SendLag)
            && self.noise.unit() < LAGGING
        {
            sent += lag_ms / 1e3;
        }
        if due >= 0.0 {
            self.sent += 1;
            // The value is inside the histogram's bounds, so that recording cannot fail.
            let _ = self.lags.record(whole_us((sent - due) * 1e6));
        }
        self.spread(Sent { due, sent, kind });
    }

    /// The parts of a request go to the replicas that it asks.
    fn spread(&mut self, request: Sent) {
        let (reads, writes) = parts(request.kind);
        let (spread, n) = (self.world.spread, self.nodes.len());
        let first = if n > 1 { spread.first_replica(self.noise.unit()) } else { 0 };
        let asked = if reads { spread.read } else { 0 };
        let written = if writes { spread.copies } else { 0 };
        let waits = if writes { spread.waits } else { 0 };
        self.requests += 1;
        let id = self.requests;
        for behind in 0..asked.max(written) {
            self.nodes[(first + behind) % n].takes(Part {
                id,
                sent: request.sent,
                reads: behind < asked,
                writes: behind < written,
                coordinates: behind == 0,
            });
        }
        let left = asked.max(waits);
        let done = request.sent;
        self.pending.insert(id, Pending { request, left, done });
    }

    /// One part, from the moment at which a CPU takes it.
    fn serve(&mut self, part: &Part, at: (usize, f64, usize), work: &Work, recorder: &mut Recorder<'_>) {
        let (number, start, cpu) = at;
        let node = &mut self.nodes[number];
        let (reads, writes) = (part.reads, part.writes);
        let mut mean_us = if reads { work.read_cpu_us } else { 0.0 } + if writes { work.write_cpu_us } else { 0.0 };
        if !part.coordinates {
            mean_us *= 1.0 - node.world.truth.coordinator_share;
        }
        let cpu_s = mean_us * self.noise.of_request() / 1e6;
        let mut now = self.stops.done(start, cpu_s * node.stretch());
        node.cpus[cpu] = now;
        recorder.done(start, number).cpu_s += cpu_s;
        if let Some(quota) = node.quota_cpus() {
            let used_up = node.count_quota(start, cpu_s, quota * PERIOD_S);
            if used_up > 0.0 {
                recorder.done(start, number).throttled += used_up;
            }
        }
        if reads && self.noise.unit() < work.miss {
            let at = self.stops.leave_stalls(now.max(node.volume.free_at(false)));
            let begun = node.volume.take(work.reads_per_miss, false, at);
            recorder.done(begun, number).device_reads += work.reads_per_miss;
            now = begun + work.reads_per_miss * work.device_us * self.noise.of_request() / 1e6;
        }
        if writes {
            let requests = node.volume.volume().write_requests(work.flushed);
            let begun = node.volume.take(requests, true, now);
            recorder.done(begun, number).written += work.flushed;
            recorder.done(now, number).logged += node.world.write_bytes;
            node.log_free = node.log_free.max(now) + 1.0 / node.world.log_rate();
        }
        self.answered(part.id, now, recorder);
    }

    /// A part of a request has ended; with the last one that it waits for it is answered.
    fn answered(&mut self, id: u64, now: f64, recorder: &mut Recorder<'_>) {
        let Some(pending) = self.pending.get_mut(&id) else {
            // Nobody waits for the remaining replicas of a write.
            return;
        };
        pending.done = pending.done.max(now);
        pending.left -= 1;
        if pending.left > 0 {
            return;
        }
        let (request, now) = (pending.request, pending.done);
        self.pending.remove(&id);
        let (reads, writes) = parts(request.kind);
        let spread = self.world.spread;
        let hop = |is_part: bool, replicas: usize| u8::from(is_part) + u8::from(is_part && replicas > 1);
        let messages = f64::from(hop(reads, spread.read) + hop(writes, spread.waits));
        let done = self.stops.leave(now) + messages * self.world.truth.network_us * self.noise.of_request() / 1e6;
        recorder.one(&Ended {
            kind: request.kind,
            done,
            response_us: (done - request.due) * 1e6,
            service_us: (done - request.sent) * 1e6,
        });
    }

    /// Requests of the measurement that were sent, and how late.
    pub fn sent(&self) -> (u64, SendLag) {
        let at = |q| self.lags.value_at_quantile(q);
        let lag = SendLag { p50: at(0.5), p99: at(0.99), max: self.lags.max() };
        (self.sent, lag)
    }
}

/// The period of a CPU quota in which a moment lies.
fn period_of(t: f64) -> f64 {
    // A period's own start belongs to it, whatever rounding made of it.
    (t / PERIOD_S + 1e-6).floor()
}
