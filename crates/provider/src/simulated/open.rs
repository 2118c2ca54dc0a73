//! The open loop, request by request: a true queue.
//!
//! Requests are due on a schedule that nothing holds up. Each passes, first come first served: the client (one CPU a
//! load thread), the database's CPUs (k servers, or its CPU quota), then, where the page cache misses, the volume,
//! which serves requests at the pace of its limits; what is written asks the same volume, but does not wait for it
//! unless it is far behind. A stop delays everything that comes while it lasts, and what has gathered drains at the
//! capacity of the narrowest resource. Response time counts from the moment at which a request was due, so that nothing
//! is omitted (Tene, "How NOT to measure latency", 2013).

use std::collections::VecDeque;

use evidence::{OperationKind, SendLag};
use hdrhistogram::Histogram;
use spec::FaultKind;

use super::closed::PERIOD_S;
use super::latency::{self, whole_us};
use super::noise::Noise;
use super::recorder::{Ended, Recorder};
use super::stops::Stops;
use super::volume::Paced;
use super::world::{Work, World, parts};

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
struct Sent {
    due: f64,
    sent: f64,
    kind: OperationKind,
}

/// When the requests of a trial are due.
struct Schedule {
    gap_s: f64,
    poisson: bool,
    next: f64,
    noise: Noise,
}

impl Schedule {
    fn step(&mut self) -> f64 {
        let due = self.next;
        self.next += self.gap_s * if self.poisson { self.noise.exponential() } else { 1.0 };
        due
    }
}

/// A database to which requests come at a rate.
pub struct Open<'a> {
    world: &'a World<'a>,
    stops: &'a Stops,
    schedule: Schedule,
    noise: Noise,
    /// Shares of the kinds, summed up.
    mix: Vec<(f64, OperationKind)>,
    /// The data volume.
    pub volume: Paced,
    /// What reads, and what only writes: they wait for different things.
    waiting: [VecDeque<Sent>; 2],
    /// When each CPU is free.
    cpus: Vec<f64>,
    /// How much longer work takes on one of them, because capacity is not a whole number of CPUs.
    stretch: f64,
    client_free: f64,
    /// The last period of a CPU quota in which something was begun, and the CPU seconds used in it.
    quota: (f64, f64),
    log_free: f64,
    lags: Histogram<u64>,
    sent: u64,
}

impl<'a> Open<'a> {
    /// Load begins at `from`, seconds from the start of measurement.
    pub fn new(
        world: &'a World<'a>,
        stops: &'a Stops,
        volume: Paced,
        (operations_per_s, poisson): (f64, bool),
        from: f64,
        noise: [Noise; 2],
    ) -> Self {
        let mut sum = 0.0;
        let mix = OperationKind::ALL.into_iter().filter_map(|kind| {
            let share = world.workload.mix.share(kind);
            sum += share;
            (share > 0.0).then_some((sum, kind))
        });
        let [arrivals, noise] = noise;
        let mut schedule = Schedule {
            gap_s: 1.0 / operations_per_s,
            poisson,
            next: from,
            noise: arrivals,
        };
        schedule.step();
        let capacity = world.cpus();
        let servers = capacity.ceil().max(1.0);
        Self {
            mix: mix.collect(),
            world,
            stops,
            schedule,
            noise,
            volume,
            waiting: [VecDeque::new(), VecDeque::new()],
            cpus: vec![from; servers as usize],
            stretch: servers / capacity,
            client_free: from,
            quota: (f64::NEG_INFINITY, 0.0),
            log_free: from,
            lags: latency::histogram(),
            sent: 0,
        }
    }

    /// The second (or less) from `t` on.
    pub fn second(&mut self, t: f64, seconds: f64, work: &Work, recorder: &mut Recorder<'_>) {
        let end = t + seconds;
        while self.schedule.next < end {
            let due = self.schedule.step();
            self.send(due);
        }
        recorder.tally(t).cpu_s +=
            self.world.truth.background_cpus * seconds + self.world.all_cpus() * self.pauses_s(t, end);
        let log_gap_s = 1.0 / self.world.log_rate();
        // A bucket that empties in this second changes it from the next one on.
        let reads_behind_s = (READS_QUEUED * self.volume.gap_s()).max(READS_QUEUED_S);
        while let Some((class, start, cpu)) = self.next_start(reads_behind_s).filter(|(_, start, _)| *start < end) {
            let Some(request) = self.waiting[class].pop_front() else {
                break;
            };
            self.serve(&request, start, cpu, work, log_gap_s, recorder);
        }
        self.volume.pass_until(end);
    }

    /// Seconds of collection pauses in a stretch of time.
    fn pauses_s(&self, from: f64, to: f64) -> f64 {
        let pauses = self.stops.within(from, to).filter(|s| !s.is_stall);
        pauses.map(|s| s.end - s.start).sum()
    }

    /// The client sends what is due.
    fn send(&mut self, due: f64) {
        let at = self.noise.unit();
        let kind = self
            .mix
            .iter()
            .find(|(upto, _)| at < *upto)
            .or(self.mix.last())
            .map(|(_, kind)| *kind);
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
        // In the order in which they arrive: a late one is overtaken.
        let (reads, _) = parts(kind);
        let queue = &mut self.waiting[usize::from(!reads)];
        let overtaken = queue.iter().rev().take_while(|other| other.sent > sent).count();
        queue.insert(queue.len() - overtaken, Sent { due, sent, kind });
    }

    /// What is begun next: read or write, when, on which CPU.
    #[inline]
    fn next_start(&self, reads_behind_s: f64) -> Option<(usize, f64, usize)> {
        let ready = |class: usize| {
            let front = self.waiting[class].front()?;
            let (reads, writes) = parts(front.kind);
            let mut at = front.sent;
            if reads {
                at = at.max(self.volume.free_at(false) - reads_behind_s);
            }
            if writes {
                at = at.max(self.volume.free_at(true).max(self.log_free) - WRITES_BEHIND_S);
            }
            Some((class, at))
        };
        let (class, at) = [ready(0), ready(1)]
            .into_iter()
            .flatten()
            .min_by(|a, b| a.1.total_cmp(&b.1))?;
        let mut cpu = 0;
        for (i, free) in self.cpus.iter().enumerate() {
            if *free < self.cpus[cpu] {
                cpu = i;
            }
        }
        let mut start = self.stops.leave(at.max(self.cpus[cpu]));
        if let Some(quota) = self.world.quota() {
            let (period, used) = self.quota;
            // A period's time is used up: wait for the next one in which there is some.
            let debts = (used / (quota * PERIOD_S)).floor();
            if debts >= 1.0 && period_of(start) < period + debts {
                start = self.stops.leave((period + debts) * PERIOD_S);
            }
        }
        Some((class, start, cpu))
    }

    /// One request, from the moment at which a CPU takes it.
    fn serve(
        &mut self,
        request: &Sent,
        start: f64,
        cpu: usize,
        work: &Work,
        log_gap_s: f64,
        recorder: &mut Recorder<'_>,
    ) {
        let (reads, writes) = parts(request.kind);
        let mean_us = if reads { work.read_cpu_us } else { 0.0 } + if writes { work.write_cpu_us } else { 0.0 };
        let cpu_s = mean_us * self.noise.of_request() / 1e6;
        let mut now = self.stops.done(start, cpu_s * self.stretch);
        self.cpus[cpu] = now;
        recorder.tally(start).cpu_s += cpu_s;
        if let Some(quota) = self.world.quota() {
            self.count_quota(start, cpu_s, quota * PERIOD_S, recorder);
        }
        if reads && self.noise.unit() < work.miss {
            let at = self.stops.leave_stalls(now.max(self.volume.free_at(false)));
            let begun = self.volume.take(work.reads_per_miss, false, at);
            recorder.tally(begun).device_reads += work.reads_per_miss;
            now = begun + work.reads_per_miss * work.device_us * self.noise.of_request() / 1e6;
        }
        if writes {
            let requests = self.volume.volume().write_requests(work.flushed);
            let begun = self.volume.take(requests, true, now);
            let tally = recorder.tally(begun);
            tally.written += work.flushed;
            recorder.tally(now).logged += self.world.write_bytes;
            self.log_free = self.log_free.max(now) + log_gap_s;
        }
        let messages = f64::from(u8::from(reads) + u8::from(writes));
        let done = self.stops.leave(now) + messages * self.world.truth.network_us * self.noise.of_request() / 1e6;
        recorder.one(&Ended {
            kind: request.kind,
            done,
            response_us: (done - request.due) * 1e6,
            service_us: (done - request.sent) * 1e6,
        });
    }

    /// CPU time is used of the `budget_s` that each period has; a period in which it is used up is counted once. What a
    /// long request uses beyond it is paid in the next periods; what is left of a period is lost (CFS bandwidth
    /// control).
    fn count_quota(&mut self, start: f64, cpu_s: f64, budget_s: f64, recorder: &mut Recorder<'_>) {
        let (before, used) = self.quota;
        let period = period_of(start);
        let passed = period - before;
        let carried = if passed > 0.0 {
            (used - budget_s * passed).max(0.0)
        } else {
            used
        };
        let now = carried + cpu_s;
        if carried < budget_s && now >= budget_s {
            recorder.tally(start).throttled += (now / budget_s).floor();
        }
        self.quota = (period.max(before), now);
    }

    /// Requests of the measurement that were sent, and how late.
    pub fn sent(&self) -> (u64, SendLag) {
        let at = |q| self.lags.value_at_quantile(q);
        let lag = SendLag {
            p50: at(0.5),
            p99: at(0.99),
            max: self.lags.max(),
        };
        (self.sent, lag)
    }
}

/// The period of a CPU quota in which a moment lies.
fn period_of(t: f64) -> f64 {
    // A period's own start belongs to it, whatever rounding made of it.
    (t / PERIOD_S + 1e-6).floor()
}
