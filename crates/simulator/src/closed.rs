//! The closed loop, second by second: as many requests in flight as asked for, as a fluid.
//!
//! Operational laws (Denning & Buzen 1978; Gunther, Guerrilla Capacity Planning): throughput is bounded by every
//! resource's capacity over its demand per operation, and by requests in flight over the response time without waiting;
//! the two bounds are joined by a smooth knee. The mean response then follows from Little's law; the waiting belongs to
//! those operations that use the resource at its bound. A second is cut where something changes inside it: a stop
//! begins or ends, a bucket empties. A cluster is as fast as its slowest node.

use std::collections::VecDeque;

use experiment::FaultKind;

use crate::latency::normal_below;
use crate::noise::SIGMA;
use crate::recorder::{Part, Recorder};
use crate::stops::Stops;
use crate::volume::{Requests, SimulatedVolume};
use crate::world::{Work, World};

/// Sharpness of the knee between "too few requests in flight" and "a resource is full".
const KNEE: f64 = 12.0;
/// Whatever a fault takes away, something is sent.
const LEAST_IN_FLIGHT: f64 = 0.01;
/// Length of the periods in which a CPU quota is counted, seconds (CFS bandwidth control, kernel documentation: 100
/// ms).
pub const PERIOD_S: f64 = 0.1;

/// How it runs while nothing changes.
#[derive(Debug, Clone)]
struct Flow {
    /// Operations per second.
    rate: f64,
    /// Mean response times of the reading and the writing part, microseconds.
    read_us: f64,
    write_us: f64,
    /// Seconds that a request waits for the device.
    at_device_s: f64,
    nodes: Vec<NodeFlow>,
}

/// How a node runs.
#[derive(Debug, Clone, Copy)]
struct NodeFlow {
    /// CPU time for each of the client's operations, microseconds.
    cpu_us: f64,
    /// Requests of an operation.
    requests: Requests,
    /// Share of the periods in which a CPU quota is used up.
    throttled: f64,
    /// CPUs that compilers use beside the operations.
    compiling_cpus: f64,
}

/// A node under load.
pub struct ClosedNode<'a> {
    world: &'a World<'a>,
    /// The data volume.
    pub volume: SimulatedVolume,
}

impl ClosedNode<'_> {
    /// What it does, and what of it bounds the client's operations: its volume, and anything else.
    fn asked(&self, work: &Work, bursting: bool) -> (NodeFlow, f64, f64) {
        let world = self.world;
        let (reads, writes) = (world.workload.mix.reads(), world.workload.mix.writes());
        let share = world.share;
        let requests = Requests {
            reads: reads * work.miss * work.reads_per_miss * share.reads,
            writes: self.volume.write_requests(writes * work.flushed * share.writes),
        };
        let [read_us, write_us] = world.cpu_us(work);
        let cpu_us = reads * read_us + writes * write_us;
        let log = if writes > 0.0 { world.log_rate() / (writes * share.writes) } else { f64::INFINITY };
        let flow = NodeFlow { cpu_us, requests, throttled: 0.0, compiling_cpus: work.compiling_cpus };
        let others = (world.cpus(work.compiling_cpus) * 1e6 / cpu_us).min(log);
        (flow, self.volume.rate(requests, bursting), others)
    }

    /// Operations per second under a quota that nobody asked for; infinite where there is none.
    fn quota(&self, of: &NodeFlow) -> f64 {
        let quota = self.world.quota(of.compiling_cpus);
        quota.map_or(f64::INFINITY, |q| q * 1e6 / of.cpu_us)
    }
}

/// A database with a fixed number of requests in flight. Its nodes stop together.
pub struct Closed<'a> {
    /// What the nodes have in common, and the client.
    world: &'a World<'a>,
    stops: &'a Stops,
    in_flight: f64,
    pub nodes: Vec<ClosedNode<'a>>,
    /// Requests that waited through stops: how many, and for how long, seconds. The oldest first.
    late: VecDeque<(f64, f64)>,
    /// For how long nothing has moved, seconds.
    standing_s: f64,
    /// For how long the device has still work in the pause that lasts, seconds; `None` outside pauses.
    queued_s: Option<f64>,
    parts: Vec<Part>,
}

impl<'a> Closed<'a> {
    /// `in_flight` requests that have just been sent, to one node or more.
    pub fn new(worlds: &'a [World<'a>], stops: &'a Stops, volumes: Vec<SimulatedVolume>, in_flight: u32) -> Self {
        let world = &worlds[0];
        let node = |(world, volume)| ClosedNode { world, volume };
        Self {
            world,
            stops,
            in_flight: (f64::from(in_flight) * world.faults.amount_or(FaultKind::FewerInFlight, 1.0))
                .max(LEAST_IN_FLIGHT),
            nodes: worlds.iter().zip(volumes).map(node).collect(),
            late: VecDeque::new(),
            standing_s: 0.0,
            queued_s: None,
            parts: Vec::new(),
        }
    }

    /// The second (or less) from `t` on; `works` is of each node.
    pub fn second(&mut self, t: f64, seconds: f64, works: &[Work], recorder: &mut Recorder<'_>) {
        self.parts.clear();
        let mut now = t;
        for stop in self.stops.within(t, t + seconds) {
            self.move_on(now, stop.start - now, works, recorder);
            let mut length = stop.end - stop.start;
            if !stop.is_stall {
                // A pause of the collector stops the database; the device works off what is queued.
                let bursting: Vec<bool> = self.nodes.iter().map(|n| n.volume.credits >= 1.0).collect();
                let at_device_s = self.flow(works, &bursting).at_device_s;
                let queued_s = self.queued_s.get_or_insert(at_device_s);
                let working_s = length.min(*queued_s);
                *queued_s -= working_s;
                length -= working_s;
                for (at, node) in self.nodes.iter().enumerate() {
                    recorder.done(t, at).cpu_s += node.world.all_cpus() * (stop.end - stop.start);
                }
                self.move_on(stop.start, working_s, works, recorder);
            }
            self.standing_s += length;
            for node in &mut self.nodes {
                node.volume.pass(length, 0.0, false);
            }
            now = stop.end;
        }
        self.move_on(now, t + seconds - now, works, recorder);
        for at in 0..self.nodes.len() {
            recorder.done(t, at).cpu_s += self.world.truth.background_cpus * seconds;
        }
        recorder.many(t, &self.parts);
    }

    /// `seconds` from `t` on in which requests are worked on; cut where a bucket ends.
    fn move_on(&mut self, t: f64, seconds: f64, works: &[Work], recorder: &mut Recorder<'_>) {
        if seconds <= 0.0 {
            return;
        }
        if self.stops.leave(t) <= t {
            self.queued_s = None;
        }
        let standing = std::mem::take(&mut self.standing_s);
        if standing > 0.0 {
            for (_, longer) in &mut self.late {
                *longer += standing;
            }
            let others = self.in_flight - self.late.iter().map(|(n, _)| n).sum::<f64>();
            self.late.push_back((others.max(0.0), standing));
        }
        let mut bursting = vec![true; self.nodes.len()];
        let mut left = seconds;
        // Each turn ends a bucket at the least.
        for _ in 0..=self.nodes.len() {
            let flow = self.flow(works, &bursting);
            let lasts: Vec<f64> = self
                .nodes
                .iter()
                .zip(&flow.nodes)
                .zip(&bursting)
                .map(|((node, of_node), bursting)| match bursting {
                    true => node.volume.lasts_s(of_node.requests, flow.rate),
                    false => f64::INFINITY,
                })
                .collect();
            let until = lasts.iter().copied().fold(left, f64::min);
            self.pass(t, until, &flow, &bursting, works, recorder);
            if until >= left {
                return;
            }
            left -= until;
            for (bursting, lasts) in bursting.iter_mut().zip(lasts) {
                *bursting &= lasts > until;
            }
        }
    }

    /// `seconds` of one flow.
    fn pass(
        &mut self,
        t: f64,
        seconds: f64,
        flow: &Flow,
        bursting: &[bool],
        works: &[Work],
        recorder: &mut Recorder<'_>,
    ) {
        if seconds <= 0.0 {
            return;
        }
        let operations = flow.rate * seconds;
        let (reads, writes) = (self.world.workload.mix.reads(), self.world.workload.mix.writes());
        for (at, node) in self.nodes.iter_mut().enumerate() {
            let (of_node, work, share) = (&flow.nodes[at], &works[at], node.world.share);
            let cost = node.volume.cost(of_node.requests);
            let stays_empty = !bursting[at] && cost * flow.rate > node.volume.baseline();
            node.volume.pass(seconds, cost * operations, stays_empty);
            let [read_us, write_us] = node.world.cpu_us(work);
            let done = recorder.done(t, at);
            done.cpu_s += operations * (reads * read_us + writes * write_us) / 1e6;
            done.device_reads += operations * of_node.requests.reads;
            done.written += operations * writes * work.flushed * share.writes;
            done.logged += operations * writes * node.world.write_bytes * share.writes;
            done.throttled += of_node.throttled * seconds / PERIOD_S;
        }
        let mut left = operations;
        let part = |operations, extra_s: f64| Part {
            operations,
            read_us: flow.read_us,
            write_us: flow.write_us,
            extra_us: extra_s * 1e6,
        };
        while left > 0.0
            && let Some((waiting, longer)) = self.late.front_mut()
        {
            let done = waiting.min(left);
            self.parts.push(part(done, *longer));
            *waiting -= done;
            left -= done;
            if *waiting <= 1e-9 {
                self.late.pop_front();
            }
        }
        if left > 0.0 {
            self.parts.push(part(left, 0.0));
        }
    }

    /// Throughput and response times while buckets hold credits, or are empty: that of the slowest node, because each
    /// operation of the client may need any of them.
    fn flow(&self, works: &[Work], bursting: &[bool]) -> Flow {
        let world = self.world;
        let (reads, writes) = (world.workload.mix.reads(), world.workload.mix.writes());
        let (mut of_volume, mut others, mut quota) = (f64::INFINITY, world.client_rate(), f64::INFINITY);
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for ((node, work), bursting) in self.nodes.iter().zip(works).zip(bursting) {
            let (flow, volume, other) = node.asked(work, *bursting);
            of_volume = of_volume.min(volume);
            others = others.min(other);
            quota = quota.min(node.quota(&flow));
            nodes.push(flow);
        }
        let [read_us, write_us] = self.alone_us(works);
        let alone_us = reads * read_us + writes * write_us;
        let wanted = self.joined(alone_us, of_volume.min(others));
        let rate = self.joined(alone_us, of_volume.min(others).min(quota));
        for (flow, node) in nodes.iter_mut().zip(&self.nodes) {
            flow.throttled = throttled_share(wanted, node.quota(flow), flow.cpu_us);
        }
        let waiting_us = (self.in_flight / rate * 1e6 - alone_us).max(0.0);
        // Who waits: readers for a device at its bound (what is written waits in memory), everybody for anything else.
        let at_device = of_volume < others.min(quota);
        let (read_wait, write_wait) = if at_device && reads > 0.0 {
            (waiting_us / reads, 0.0)
        } else {
            (waiting_us / (reads + writes), waiting_us / (reads + writes))
        };
        Flow {
            rate,
            read_us: read_us + read_wait,
            write_us: write_us + write_wait,
            at_device_s: if at_device { waiting_us / 1e6 } else { 0.0 },
            nodes,
        }
    }

    /// Response times of a read and of a write without waiting, microseconds: the mean over nodes, of several replicas
    /// the slowest that is waited for, one more way over the network.
    fn alone_us(&self, works: &[Work]) -> [f64; 2] {
        let (world, spread) = (self.world, self.world.spread);
        let network_us = world.truth.network_us;
        let of_node = |work: &Work| {
            let read_us = work.read_cpu_us + work.miss * work.reads_per_miss * work.device_us;
            [network_us + read_us, network_us + work.write_cpu_us]
        };
        if let [work] = works {
            let read_us = network_us + work.read_cpu_us + work.miss * work.reads_per_miss * work.device_us;
            return [read_us, network_us + work.write_cpu_us];
        }
        let n = works.len() as f64;
        let mean = |part: usize| works.iter().map(|work| of_node(work)[part]).sum::<f64>() / n;
        let hop = |replicas: usize| if replicas > 1 { network_us } else { 0.0 };
        [mean(0) * spread.slowest_of_read + hop(spread.read), mean(1) * spread.slowest_of_write + hop(spread.waits)]
    }

    /// Requests in flight over the time without waiting, and the narrowest resource, joined by a knee.
    fn joined(&self, alone_us: f64, most: f64) -> f64 {
        let free = self.in_flight * 1e6 / alone_us;
        (free.powf(-KNEE) + most.powf(-KNEE)).powf(-1.0 / KNEE)
    }
}

/// Share of the periods in which a CPU quota is used up: those whose requests, a number that varies by chance, would
/// use more than it allows. `wanted` operations a second would be served without it, `quota` with it.
fn throttled_share(wanted: f64, quota: f64, cpu_us: f64) -> f64 {
    if quota.is_infinite() {
        return 0.0;
    }
    // Poisson numbers of requests with log-normal CPU times, in CPUs over one period.
    let of_one = cpu_us / 1e6 / PERIOD_S;
    let spread = of_one * (wanted * PERIOD_S * (SIGMA * SIGMA).exp()).sqrt();
    normal_below((wanted - quota) * cpu_us / 1e6 / spread)
}
