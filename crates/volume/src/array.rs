//! The volumes of one instance, and when each of their requests is answered.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use catalog::Latency;
use stats::SplitMix;

use crate::exceeded::{Exceeded, Waits};
use crate::fault::{Effect, VolumeFault, held_until, slowness};
use crate::gate::Gate;
use crate::model::{Direction, Model};

/// What is asked of a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Which way.
    pub direction: Direction,
    /// First byte.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
}

/// How a request ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    /// As it should.
    Done,
    /// With an I/O error.
    Error,
    /// With "no space left on device".
    NoSpace,
}

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// What the request was submitted under.
    pub tag: u64,
    /// When it is due, seconds.
    pub at_s: f64,
    /// How it ends.
    pub outcome: RequestOutcome,
}

/// Volumes with what they share.
#[derive(Debug)]
pub struct Array {
    volumes: Vec<VolumeState>,
    /// What volumes of one instance share; one that no volume is behind is used again.
    instances: Vec<(Model, Gate)>,
    /// Seconds that the way of an answer takes besides, which are taken off service times.
    on_the_way_s: f64,
    events: BinaryHeap<Event>,
    /// Number of the next event: what is due at the same time leaves in this order.
    next: u64,
    random: SplitMix,
}

#[derive(Debug)]
struct VolumeState {
    model: Model,
    gate: Gate,
    /// Behind which of the instances it is.
    instance: Option<usize>,
    faults: Vec<VolumeFault>,
    /// The last request that was taken: it may grow while it waits.
    last: Option<Last>,
    /// For its own limits ...
    own_waits: Waits,
    /// ... and for those of its instance.
    instance_waits: Waits,
}

#[derive(Debug, Clone, Copy)]
struct Last {
    direction: Direction,
    end: u64,
    /// Bytes that were merged into one so far.
    merged: u64,
    begins_at: f64,
}

#[derive(Debug)]
struct Event {
    /// When it leaves the heap.
    at_s: f64,
    /// When it would without stalls.
    due_s: f64,
    order: u64,
    volume: usize,
    tag: u64,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    /// The volume lets it through; the instance may not.
    AtInstance(Request),
    Answer(RequestOutcome),
}

impl Array {
    /// No volume yet. `seed`: of service times and of errors by share.
    pub fn new(seed: u64) -> Self {
        Self {
            volumes: Vec::new(),
            instances: Vec::new(),
            on_the_way_s: 0.0,
            events: BinaryHeap::new(),
            next: 0,
            random: SplitMix::new(seed),
        }
    }

    /// Adds a volume; returns its number.
    pub fn add(&mut self, model: Model, now: f64) -> usize {
        let gate = Gate::new(&model, now);
        self.volumes.push(VolumeState {
            model,
            gate,
            instance: None,
            faults: Vec::new(),
            last: None,
            own_waits: Waits::default(),
            instance_waits: Waits::default(),
        });
        self.volumes.len() - 1
    }

    /// A volume is another one from now on, its buckets as at its start, and behind no instance. Requests that wait
    /// stay due as they were.
    pub fn change(&mut self, volume: usize, model: Model, now: f64) {
        let volume = &mut self.volumes[volume];
        volume.gate = Gate::new(&model, now);
        volume.model = model;
        volume.instance = None;
        volume.last = None;
    }

    /// From now on these volumes, besides what each may do by itself, share what an instance lets through to all of
    /// them together. The instance's service time is not used.
    pub fn share(&mut self, volumes: &[usize], instance: Model, now: f64) {
        for volume in volumes {
            self.volumes[*volume].instance = None;
        }
        let is_free = |number: &usize| self.volumes.iter().all(|volume| volume.instance != Some(*number));
        let free = (0..self.instances.len()).find(is_free);
        let gate = Gate::new(&instance, now);
        let number = free.unwrap_or(self.instances.len());
        match self.instances.get_mut(number) {
            Some(unused) => *unused = (instance, gate),
            None => self.instances.push((instance, gate)),
        }
        for volume in volumes {
            self.volumes[*volume].instance = Some(number);
        }
    }

    /// From now on service times are shorter by this, which whoever serves the volumes takes for himself; none is
    /// shorter than nothing.
    pub fn take_off(&mut self, on_the_way_s: f64) {
        self.on_the_way_s = on_the_way_s;
    }

    /// A volume has these faults from now on, instead of those before. What a stall holds back that is not among them
    /// is due now.
    pub fn set_faults(&mut self, volume: usize, faults: Vec<VolumeFault>, now: f64) {
        self.volumes[volume].faults = faults;
        let events = std::mem::take(&mut self.events).into_vec();
        let anew = |event: Event| {
            let is_held = event.volume == volume && event.at_s > event.due_s;
            let at_s = if is_held { event.due_s.max(now) } else { event.at_s };
            Event { at_s, ..event }
        };
        self.events = events.into_iter().map(anew).collect();
    }

    /// A request comes.
    pub fn submit(&mut self, now: f64, volume: usize, request: Request, tag: u64) {
        let this = &mut self.volumes[volume];
        let slow = slowness(&this.faults, now);
        let (begin, by) = this.gate.begins_at(request.direction, now);
        // What a fault makes it wait for is no limit.
        this.own_waits.wait(now, begin, by.filter(|_| slow <= 1.0));
        let requests = this.count(&request, now, begin);
        this.gate.take(request.direction, begin, requests * slow, request.bytes as f64 * slow);
        if this.instance.is_some() {
            self.push(begin, volume, tag, What::AtInstance(request));
        } else {
            self.serve(begin, volume, request, tag);
        }
    }

    /// Whether a volume states how long a request takes; without that it is as fast as what is below.
    pub fn has_latency(&self, volume: usize) -> bool {
        self.volumes[volume].model.latency.is_some()
    }

    /// When something is due next; infinity where a stall that does not end by itself holds everything back.
    pub fn next_at_s(&self) -> Option<f64> {
        self.events.peek().map(|event| event.at_s)
    }

    /// The next answer that is due at `now`.
    pub fn due(&mut self, now: f64) -> Option<Answer> {
        while self.events.peek().is_some_and(|event| event.at_s <= now) {
            let event = self.events.pop()?;
            let held = held_until(&self.volumes[event.volume].faults, event.at_s);
            match event.what {
                What::Answer(_) if held > event.at_s => self.events.push(Event { at_s: held, ..event }),
                What::Answer(outcome) => {
                    return Some(Answer { tag: event.tag, at_s: event.at_s, outcome });
                }
                What::AtInstance(request) => {
                    let mut begin = event.at_s;
                    let volume = &mut self.volumes[event.volume];
                    if let Some((model, gate)) = volume.instance.and_then(|number| self.instances.get_mut(number)) {
                        let (at_s, by) = gate.begins_at(request.direction, event.at_s);
                        volume.instance_waits.wait(event.at_s, at_s, by);
                        begin = at_s;
                        let requests = model.unit.count(request.bytes) as f64;
                        gate.take(request.direction, begin, requests, request.bytes as f64);
                    }
                    self.serve(begin, event.volume, request, event.tag);
                }
            }
        }
        None
    }

    /// Credits of requests and of bytes that a volume has left; `None` where it has no such bucket.
    pub fn credits(&self, volume: usize, now: f64) -> (Option<f64>, Option<f64>) {
        let gate = &self.volumes[volume].gate;
        (gate.request_credits(now), gate.byte_credits(now))
    }

    /// Seconds up to `now` in which limits held requests of a volume back, since it was added.
    pub fn exceeded(&self, volume: usize, now: f64) -> Exceeded {
        let (volume_iops_s, volume_bytes_s) = self.volumes[volume].own_waits.seconds(now);
        let (instance_iops_s, instance_bytes_s) = self.volumes[volume].instance_waits.seconds(now);
        Exceeded { volume_iops_s, volume_bytes_s, instance_iops_s, instance_bytes_s }
    }

    fn serve(&mut self, begin: f64, volume: usize, request: Request, tag: u64) {
        let this = &self.volumes[volume];
        let outcome = this.outcome(&request, begin, &mut self.random);
        let service_s = this.model.latency.map_or(0.0, |latency| draw_s(&latency, &mut self.random));
        let service_s = service_s * slowness(&this.faults, begin) - self.on_the_way_s;
        let at_s = begin + service_s.max(0.0);
        self.push(at_s, volume, tag, What::Answer(outcome));
    }

    fn push(&mut self, at_s: f64, volume: usize, tag: u64, what: What) {
        self.events.push(Event { at_s, due_s: at_s, order: self.next, volume, tag, what });
        self.next += 1;
    }
}

impl VolumeState {
    /// For how many requests this one counts, which comes at `now` and begins at `begin`.
    fn count(&mut self, request: &Request, now: f64, begin: f64) -> f64 {
        let unit = self.model.unit;
        let grown = self.last.filter(|last| {
            unit.merges && last.begins_at > now && last.direction == request.direction && last.end == request.offset
        });
        let merged = grown.map_or(0, |last| last.merged);
        let counted = unit.count(merged + request.bytes) - if merged > 0 { unit.count(merged) } else { 0 };
        self.last = Some(Last {
            direction: request.direction,
            end: request.offset + request.bytes,
            merged: merged + request.bytes,
            begins_at: begin,
        });
        counted as f64
    }

    fn outcome(&self, request: &Request, begin: f64, random: &mut SplitMix) -> RequestOutcome {
        for fault in self.faults.iter().filter(|fault| fault.is_at(begin)) {
            match fault.effect {
                Effect::Full if request.direction == Direction::Write => return RequestOutcome::NoSpace,
                Effect::Error { reads, writes, range, share } => {
                    let of_kind = match request.direction {
                        Direction::Read => reads,
                        Direction::Write => writes,
                    };
                    let end = request.offset + request.bytes;
                    let there = range.is_none_or(|(from, to)| request.offset < to && end > from);
                    if of_kind && there && random.uniform() <= share {
                        return RequestOutcome::Error;
                    }
                }
                Effect::Full | Effect::Stall | Effect::Slow { .. } => {}
            }
        }
        RequestOutcome::Done
    }
}

/// How long a volume takes for a request that need not wait, seconds.
fn draw_s(latency: &Latency, random: &mut SplitMix) -> f64 {
    let median_s = latency.median_us * 1e-6;
    if latency.sigma == 0.0 {
        return median_s;
    }
    median_s * (latency.sigma * normal(random)).exp()
}

/// Box and Muller, 1958.
fn normal(random: &mut SplitMix) -> f64 {
    let (radius, angle) = (random.uniform(), random.uniform());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    /// The greatest is the one that is due first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.at_s.total_cmp(&self.at_s).then_with(|| other.order.cmp(&self.order))
    }
}
