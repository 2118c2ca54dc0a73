//! The closed loop, second by second: as many requests in flight as asked for, as a fluid.
//!
//! Operational laws (Denning & Buzen 1978; Gunther, Guerrilla Capacity Planning): throughput is bounded by every
//! resource's capacity over its demand per operation, and by requests in flight over the response time without waiting;
//! the two bounds are joined by a smooth knee. The mean response then follows from Little's law; the waiting belongs to
//! those operations that use the resource at its bound. A second is cut where something changes inside it: a stop
//! begins or ends, a bucket empties.

use std::collections::VecDeque;

use spec::FaultKind;

use super::latency::normal_below;
use super::noise::SIGMA;
use super::recorder::{Part, Recorder};
use super::stops::Stops;
use super::volume::{Requests, Volume};
use super::world::{Work, World};

/// Sharpness of the knee between "too few requests in flight" and "a resource is full".
const KNEE: f64 = 12.0;
/// Whatever a fault takes away, something is sent.
const LEAST_IN_FLIGHT: f64 = 0.01;
/// Length of the periods in which a CPU quota is counted, seconds (CFS bandwidth control, kernel documentation: 100
/// ms).
pub const PERIOD_S: f64 = 0.1;

/// How it runs while nothing changes.
#[derive(Debug, Clone, Copy)]
struct Flow {
    /// Operations per second.
    rate: f64,
    /// Mean response times of the reading and the writing part, microseconds.
    read_us: f64,
    write_us: f64,
    /// Seconds that a request waits for the device.
    at_device_s: f64,
    /// Requests of an operation.
    requests: Requests,
    /// Share of the periods in which a CPU quota is used up.
    throttled: f64,
}

/// A database with a fixed number of requests in flight.
pub struct Closed<'a> {
    world: &'a World<'a>,
    stops: &'a Stops,
    in_flight: f64,
    /// The data volume.
    pub volume: Volume,
    /// Requests that waited through stops: how many, and for how long, seconds. The oldest first.
    late: VecDeque<(f64, f64)>,
    /// For how long nothing has moved, seconds.
    standing_s: f64,
    /// For how long the device has still work in the pause that lasts, seconds; `None` outside pauses.
    queued_s: Option<f64>,
    parts: Vec<Part>,
}

impl<'a> Closed<'a> {
    /// `in_flight` requests that have just been sent.
    pub fn new(world: &'a World<'a>, stops: &'a Stops, volume: Volume, in_flight: u32) -> Self {
        Self {
            world,
            stops,
            in_flight: (f64::from(in_flight) * world.faults.amount_or(FaultKind::FewerInFlight, 1.0))
                .max(LEAST_IN_FLIGHT),
            volume,
            late: VecDeque::new(),
            standing_s: 0.0,
            queued_s: None,
            parts: Vec::new(),
        }
    }

    /// The second (or less) from `t` on.
    pub fn second(&mut self, t: f64, seconds: f64, work: &Work, recorder: &mut Recorder<'_>) {
        self.parts.clear();
        let flows = [false, true].map(|bursting| self.flow(work, bursting));
        let mut now = t;
        for stop in self.stops.within(t, t + seconds) {
            self.move_on(now, stop.start - now, &flows, work, recorder);
            let mut length = stop.end - stop.start;
            if !stop.is_stall {
                // A pause of the collector stops the database; the device works off what is queued.
                let recent = &flows[usize::from(self.volume.credits >= 1.0)];
                let queued_s = self.queued_s.get_or_insert(recent.at_device_s);
                let working_s = length.min(*queued_s);
                *queued_s -= working_s;
                length -= working_s;
                recorder.tally(t).cpu_s += self.world.all_cpus() * (stop.end - stop.start);
                self.move_on(stop.start, working_s, &flows, work, recorder);
            }
            self.standing_s += length;
            self.volume.pass(length, 0.0, false);
            now = stop.end;
        }
        self.move_on(now, t + seconds - now, &flows, work, recorder);
        recorder.tally(t).cpu_s += self.world.truth.background_cpus * seconds;
        recorder.many(t, &self.parts);
    }

    /// `seconds` from `t` on in which requests are worked on.
    fn move_on(&mut self, t: f64, seconds: f64, flows: &[Flow; 2], work: &Work, recorder: &mut Recorder<'_>) {
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
        let [slow, fast] = flows;
        let bursting_s = self.volume.lasts_s(fast.requests, fast.rate).min(seconds);
        self.pass(t, bursting_s, fast, false, work, recorder);
        if bursting_s < seconds {
            let stays_empty = self.volume.cost(fast.requests) * fast.rate > self.volume.baseline();
            self.pass(t, seconds - bursting_s, slow, stays_empty, work, recorder);
        }
    }

    /// `seconds` of one flow.
    fn pass(&mut self, t: f64, seconds: f64, flow: &Flow, empty: bool, work: &Work, recorder: &mut Recorder<'_>) {
        if seconds <= 0.0 {
            return;
        }
        let operations = flow.rate * seconds;
        self.volume
            .pass(seconds, self.volume.cost(flow.requests) * operations, empty);
        let (reads, writes) = (self.world.workload.mix.reads(), self.world.workload.mix.writes());
        let tally = recorder.tally(t);
        tally.cpu_s += operations * (reads * work.read_cpu_us + writes * work.write_cpu_us) / 1e6;
        tally.device_reads += operations * flow.requests.reads;
        tally.written += operations * writes * work.flushed;
        tally.logged += operations * writes * self.world.write_bytes;
        tally.throttled += flow.throttled * seconds / PERIOD_S;
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

    /// Throughput and response times while the bucket holds credits, or is empty.
    fn flow(&self, work: &Work, bursting: bool) -> Flow {
        let world = self.world;
        let (reads, writes) = (world.workload.mix.reads(), world.workload.mix.writes());
        let requests = Requests {
            reads: reads * work.miss * work.reads_per_miss,
            writes: self.volume.write_requests(writes * work.flushed),
        };
        let cpu_us = reads * work.read_cpu_us + writes * work.write_cpu_us;
        let log = if writes > 0.0 {
            world.log_rate() / writes
        } else {
            f64::INFINITY
        };
        let of_volume = self.volume.rate(requests, bursting);
        let others = (world.cpus() * 1e6 / cpu_us).min(world.client_rate()).min(log);
        let read_us = world.truth.network_us + work.read_cpu_us + work.miss * work.reads_per_miss * work.device_us;
        let write_us = world.truth.network_us + work.write_cpu_us;
        let alone_us = reads * read_us + writes * write_us;
        let wanted = self.joined(alone_us, of_volume.min(others));
        let quota = world.quota().map_or(f64::INFINITY, |q| q * 1e6 / cpu_us);
        let rate = self.joined(alone_us, of_volume.min(others).min(quota));
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
            requests,
            throttled: throttled_share(wanted, quota, cpu_us),
        }
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
