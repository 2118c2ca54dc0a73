//! The server: one loop over orders, requests and what is due.

use std::collections::HashMap;
use std::io::Write as _;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd as _;
use rustix::io::Errno as SystemErrno;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::time::{ClockId, clock_gettime};
use volume::{Array, Direction, Model, Request, RequestOutcome, VolumeFault};

use crate::block::{ALIGNMENT, Block, Blocks};
use crate::channel::{Channel, Received};
use crate::error::{Result, ServedError, io_error};
use crate::fuse::{self, BEFORE_WRITE, Errno, FuseOperation, LARGEST};
use crate::orders::{Counts, Hardening, Order, Reply};
use crate::page::Latencies;
use crate::workers::{Finished, Slot, Work, Workers};

/// Writes up to this size are copied, so that the large block they came in can be used again.
const COPIED: usize = 128 << 10;
/// Requests that are taken from one volume before what is due is looked at.
const AT_A_TIME: usize = 64;
/// What is later than this is late for want of CPU.
const LATE_S: f64 = 0.001;
/// Where a request is received, so that the bytes of a write are aligned.
const RECEIVED_AT: usize = ALIGNMENT - BEFORE_WRITE;
/// How long a server goes on that nobody leads any more: so long whoever undoes what is left can unmount its volumes in
/// order. What is served by hand (`iopslab volume`) ends with its program, too.
const LEFT_PATIENCE: Duration = Duration::from_secs(10);

/// Serves until stdin is closed and nothing is mounted any more, or for 10 s after stdin was closed: what is still
/// mounted then answers with I/O errors.
///
/// # Errors
/// When orders cannot be read or answered.
pub fn run() -> Result<()> {
    let hardening = harden();
    let mut server = Server::new()?;
    say(&Reply::Ready(hardening))?;
    server.go_on()
}

/// Memory that stays, priority, and no waiting for its own volumes.
fn harden() -> Hardening {
    let mut missing = Vec::new();
    let mut try_for = |what: &str, outcome: rustix::io::Result<()>| {
        if let Err(error) = outcome {
            missing.push(format!("{what}: {error}"));
        }
    };
    let all = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    try_for("its memory cannot be locked", mlockall(all));
    try_for("the kernel may wait for it while it frees memory", rustix::process::configure_io_flusher_behavior(true));
    try_for("its timers may be 50 us late", rustix::thread::set_current_timer_slack(NonZeroU64::new(1)));
    // Where it was started with real-time priority this changes nothing.
    try_for("it has no priority over the load that it serves", rustix::process::setpriority_process(None, -20));
    Hardening { missing }
}

fn say(reply: &Reply) -> Result<()> {
    let mut line = serde_json::to_string(reply).expect("a reply has string keys only");
    line.push('\n');
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(io_error("answer on", Path::new("stdout")))
}

struct ServedVolume {
    name: String,
    channel: Option<Channel>,
    counts: Counts,
    latencies: Latencies,
    since_s: f64,
    /// Requests that wait for the host's disk though they are due, and since when there are any.
    awaited: u64,
    awaited_since_s: f64,
    /// Whether that is more than the model lets them take.
    is_floor: bool,
    waiting: u64,
}

/// A request under way.
struct Pending {
    volume: usize,
    unique: u64,
    direction: Direction,
    bytes: usize,
    since_s: f64,
    slot: Arc<Slot>,
}

struct Server {
    began: Instant,
    array: Array,
    volumes: Vec<ServedVolume>,
    workers: Workers,
    blocks: Blocks,
    /// Where the next request is received.
    receiving: Block,
    /// By tag. What does not pass the model (discards, syncs) is answered when it is done.
    pending: HashMap<u64, Pending>,
    next_tag: u64,
    orders: Vec<u8>,
    /// When it ends at the latest, once nobody can give orders any more.
    ends: Option<Instant>,
}

impl Server {
    fn new() -> Result<Self> {
        let mut blocks = Blocks::default();
        let seed = std::process::id();
        Ok(Self {
            began: Instant::now(),
            array: Array::new(u64::from(seed)),
            volumes: Vec::new(),
            workers: Workers::start()?,
            receiving: blocks.take(ALIGNMENT + LARGEST),
            blocks,
            pending: HashMap::new(),
            next_tag: 0,
            orders: Vec::new(),
            ends: None,
        })
    }

    fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn go_on(&mut self) -> Result<()> {
        loop {
            let is_over =
                |ends: Instant| Instant::now() >= ends || self.volumes.iter().all(|volume| volume.channel.is_none());
            if self.ends.is_some_and(is_over) {
                return Ok(());
            }
            let (orders, rang, asked) = self.wait()?;
            if orders {
                self.take_orders()?;
            }
            if rang {
                for tag in self.workers.late() {
                    self.finish_late(tag);
                }
            }
            self.answer_due();
            for volume in asked {
                self.take_requests(volume);
            }
            self.answer_due();
        }
    }

    /// Sleeps until something is to be done: an order, the disk, and which volumes are asked something.
    fn wait(&self) -> Result<(bool, bool, Vec<usize>)> {
        let stdin = std::io::stdin();
        let mut of_volumes = Vec::new();
        let mut polled = vec![PollFd::new(self.workers.bell(), PollFlags::IN)];
        for (number, volume) in self.volumes.iter().enumerate() {
            if let Some(channel) = &volume.channel {
                of_volumes.push(number);
                polled.push(PollFd::from_borrowed_fd(channel.as_fd(), PollFlags::IN));
            }
        }
        let is_led = self.ends.is_none();
        if is_led {
            polled.push(PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN));
        }
        let ends_s = self.ends.map(|ends| ends.duration_since(self.began).as_secs_f64());
        let next_at_s = self.array.next_at_s().into_iter().chain(ends_s).reduce(f64::min);
        let timeout = next_at_s.filter(|at_s| at_s.is_finite()).map(|at_s| {
            let wait_s = (at_s - self.now()).max(0.0);
            Timespec { tv_sec: wait_s as i64, tv_nsec: ((wait_s.fract() * 1e9) as i64).min(999_999_999) }
        });
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(SystemErrno::INTR) => {}
            Err(error) => return Err(io_error("wait on", Path::new("poll"))(error)),
        }
        let is_ready = |polled: &PollFd<'_>| !polled.revents().is_empty();
        let asked = of_volumes.iter().zip(&polled[1..]).filter(|(_, polled)| is_ready(polled));
        let asked = asked.map(|(number, _)| *number).collect();
        let orders = is_led && polled.last().is_some_and(is_ready);
        Ok((orders, is_ready(&polled[0]), asked))
    }

    fn take_orders(&mut self) -> Result<()> {
        let mut bytes = [0; 4096];
        let stdin = std::io::stdin();
        match rustix::io::read(&stdin, &mut bytes) {
            Ok(0) => self.be_left(),
            Ok(length) => self.orders.extend_from_slice(&bytes[..length]),
            Err(SystemErrno::INTR | SystemErrno::AGAIN) => {}
            Err(_) => self.be_left(),
        }
        while let Some(end) = self.orders.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.orders.drain(..=end).collect();
            let reply = match serde_json::from_slice::<Order>(&line) {
                Ok(order) => self.obey(order).unwrap_or_else(|error| Reply::Refused { reason: error.to_string() }),
                Err(error) => Reply::Refused { reason: format!("an order that cannot be understood: {error}") },
            };
            say(&reply)?;
        }
        Ok(())
    }

    /// Whoever led it is gone. What is mounted goes on for a while without limits and faults, so that it can be
    /// unmounted soon.
    fn be_left(&mut self) {
        self.ends = Some(Instant::now() + LEFT_PATIENCE);
        let now = self.now();
        for number in 0..self.volumes.len() {
            self.array.change(number, Model::unlimited(), now);
            self.array.set_faults(number, Vec::new(), now);
        }
    }

    fn obey(&mut self, order: Order) -> Result<Reply> {
        let now = self.now();
        match order {
            Order::Serve { name, image, at, model } => {
                let channel = Channel::open(&image, &at)?;
                let connection = channel.connection;
                let number = self.array.add(*model, now);
                debug_assert_eq!(number, self.volumes.len());
                self.volumes.push(ServedVolume {
                    name,
                    channel: Some(channel),
                    counts: Counts::default(),
                    latencies: Latencies::default(),
                    since_s: now,
                    awaited: 0,
                    awaited_since_s: 0.0,
                    is_floor: false,
                    waiting: 0,
                });
                Ok(Reply::Serving { connection })
            }
            Order::Change { name, model } => {
                let number = self.by_name(&name)?;
                self.array.change(number, *model, now);
                Ok(Reply::Done)
            }
            Order::Share { names, model } => {
                let numbers = names.iter().map(|name| self.by_name(name)).collect::<Result<Vec<_>>>()?;
                self.array.share(&numbers, *model, now);
                Ok(Reply::Done)
            }
            Order::TakeOff { seconds } => {
                self.array.take_off(seconds);
                Ok(Reply::Done)
            }
            Order::SetFaults { name, faults } => {
                let number = self.by_name(&name)?;
                let shifted = faults.into_iter().map(|fault| VolumeFault {
                    from_s: fault.from_s + now,
                    until_s: fault.until_s.map(|until_s| until_s + now),
                    ..fault
                });
                self.array.set_faults(number, shifted.collect(), now);
                Ok(Reply::Done)
            }
            Order::Count { name } => {
                let number = self.by_name(&name)?;
                Ok(Reply::Counted(self.counts(number, now)))
            }
            Order::Sample { name } => {
                let number = self.by_name(&name)?;
                let (counts, exceeded) = (self.counts(number, now), self.array.exceeded(number, now));
                Ok(Reply::Sampled { words: self.volumes[number].latencies.page(&counts, &exceeded), counts })
            }
        }
    }

    /// The volume of this name that is served now.
    fn by_name(&self, name: &str) -> Result<usize> {
        let is_it = |volume: &ServedVolume| volume.channel.is_some() && volume.name == name;
        let found = self.volumes.iter().rposition(is_it);
        found.ok_or_else(|| ServedError::Refused { reason: format!("no volume `{name}` is served") })
    }

    fn counts(&self, number: usize, now: f64) -> Counts {
        let volume = &self.volumes[number];
        let (request_credits, byte_credits) = self.array.credits(number, now);
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let under_way_s = if volume.awaited > 0 && volume.is_floor { now - volume.awaited_since_s } else { 0.0 };
        Counts {
            waiting: volume.waiting,
            disk_floor_s: volume.counts.disk_floor_s + under_way_s,
            request_credits,
            byte_credits,
            seconds: now - volume.since_s,
            server_cpu_s: cpu.tv_sec as f64 + cpu.tv_nsec as f64 * 1e-9,
            ..volume.counts
        }
    }

    fn take_requests(&mut self, number: usize) {
        for _ in 0..AT_A_TIME {
            let Some(channel) = &self.volumes[number].channel else { return };
            match channel.receive(&mut self.receiving, RECEIVED_AT) {
                Received::Bytes(length) => self.take_request(number, length),
                Received::Nothing => return,
                Received::Gone => {
                    self.volumes[number].channel = None;
                    return;
                }
            }
        }
    }

    fn take_request(&mut self, number: usize, length: usize) {
        let Some(channel) = &self.volumes[number].channel else { return };
        let Some(message) = fuse::parse(&self.receiving.bytes()[RECEIVED_AT..RECEIVED_AT + length]) else { return };
        let size = channel.image.bytes;
        let unique = message.unique;
        let fits = |offset: u64, length: u64| offset.checked_add(length).is_some_and(|end| end <= size);
        match message.asked {
            FuseOperation::Init { minor, flags, readahead } => {
                channel.answer(unique, &fuse::init(minor, flags, readahead))
            }
            FuseOperation::Attributes => channel.answer(unique, &fuse::attributes(size)),
            FuseOperation::FileSystem => channel.answer(unique, &fuse::file_system(size)),
            FuseOperation::Open => channel.answer(unique, &fuse::opened()),
            FuseOperation::Nothing => channel.answer_with(unique, None),
            FuseOperation::Forget => {}
            FuseOperation::Other => channel.answer_with(unique, Some(Errno::NOT_KNOWN)),
            FuseOperation::Read { offset, length } if fits(offset, length as u64) && length <= LARGEST => {
                let block = self.blocks.take(length);
                let work = Work::Read { block, offset };
                self.submit(number, unique, Direction::Read, offset, length, work);
            }
            FuseOperation::Write { offset, length } if fits(offset, length as u64) && length > 0 => {
                let work = self.write_of(offset, length);
                self.submit(number, unique, Direction::Write, offset, length, work);
            }
            FuseOperation::Read { .. } | FuseOperation::Write { .. } => {
                channel.answer_with(unique, Some(Errno::INVALID))
            }
            FuseOperation::Punch { offset, length, mode } => {
                // FALLOC_FL_KEEP_SIZE with FALLOC_FL_PUNCH_HOLE or FALLOC_FL_ZERO_RANGE: all that a loop device asks.
                let known = matches!(mode, 3 | 0x11 | 0x10) && fits(offset, length);
                if known {
                    self.at_once(number, unique, Work::Punch { offset, length });
                } else {
                    channel.answer_with(unique, Some(Errno::NOT_KNOWN));
                }
            }
            FuseOperation::Sync => self.at_once(number, unique, Work::Sync),
        }
    }

    /// The bytes of the write that was received just now.
    fn write_of(&mut self, offset: u64, length: usize) -> Work {
        if length <= COPIED {
            let mut block = self.blocks.take(length);
            let bytes = &self.receiving.bytes()[ALIGNMENT..ALIGNMENT + length];
            block.bytes_mut().copy_from_slice(bytes);
            return Work::Write { block, from: 0, offset };
        }
        let fresh = self.blocks.take(ALIGNMENT + LARGEST);
        let block = std::mem::replace(&mut self.receiving, fresh);
        let (from, to) = (ALIGNMENT, ALIGNMENT + length);
        Work::Write { block: block.cut(to), from, offset }
    }

    fn submit(&mut self, volume: usize, unique: u64, direction: Direction, offset: u64, bytes: usize, work: Work) {
        let now = self.now();
        let tag = self.begin(volume, unique, direction, bytes, work);
        let request = Request { direction, offset, bytes: bytes as u64 };
        self.array.submit(now, volume, request, tag);
    }

    fn begin(&mut self, volume: usize, unique: u64, direction: Direction, bytes: usize, work: Work) -> u64 {
        let (tag, since_s) = (self.next_tag, self.now());
        self.next_tag += 1;
        let this = &mut self.volumes[volume];
        this.waiting += 1;
        if let Some(channel) = &this.channel {
            let slot = self.workers.begin(tag, &channel.image, work);
            self.pending.insert(tag, Pending { volume, unique, direction, bytes, since_s, slot });
        }
        tag
    }

    /// What costs a volume nothing: answered as soon as the host has done it.
    fn at_once(&mut self, volume: usize, unique: u64, work: Work) {
        let tag = self.begin(volume, unique, Direction::Write, 0, work);
        self.await_disk(tag);
    }

    fn answer_due(&mut self) {
        let mut now = self.now();
        let mut answered = 0;
        while let Some(answer) = self.array.due(now) {
            let Some(pending) = self.pending.get(&answer.tag) else { continue };
            let late_s = now - answer.at_s;
            if late_s > LATE_S {
                // Of those that are late together, the first one waited for all of that time.
                let counts = &mut self.volumes[pending.volume].counts;
                if answered == 0 {
                    counts.cpu_floor_s += late_s;
                }
            }
            answered += 1;
            match answer.outcome {
                RequestOutcome::Done => self.await_disk(answer.tag),
                RequestOutcome::Error => self.fail(answer.tag, Errno::IO),
                RequestOutcome::NoSpace => self.fail(answer.tag, Errno::NO_SPACE),
            }
            if answered % 16 == 0 {
                now = self.now();
            }
        }
    }

    /// Answers if the host's disk is done; else as soon as it is.
    fn await_disk(&mut self, tag: u64) {
        let now = self.now();
        let Some(pending) = self.pending.get(&tag) else { return };
        if let Some(finished) = pending.slot.take_or_await() {
            self.finish(tag, finished);
        } else if pending.bytes > 0 {
            let volume = &mut self.volumes[pending.volume];
            if volume.awaited == 0 {
                volume.awaited_since_s = now;
                // One without a time of its own is meant to be as fast as the disk.
                volume.is_floor = self.array.has_latency(pending.volume);
            }
            volume.awaited += 1;
        }
    }

    fn finish_late(&mut self, tag: u64) {
        let now = self.now();
        let Some(pending) = self.pending.get(&tag) else { return };
        if pending.bytes > 0 {
            let volume = &mut self.volumes[pending.volume];
            volume.awaited -= 1;
            if volume.awaited == 0 && volume.is_floor {
                volume.counts.disk_floor_s += now - volume.awaited_since_s;
            }
        }
        if let Some(finished) = pending.slot.take_or_await() {
            self.finish(tag, finished);
        }
    }

    fn finish(&mut self, tag: u64, finished: Finished) {
        let (now, Some(pending)) = (self.now(), self.pending.remove(&tag)) else { return };
        let volume = &mut self.volumes[pending.volume];
        volume.waiting -= 1;
        let counts = &mut volume.counts;
        if finished.error.is_some() {
            counts.errors += 1;
        } else if pending.bytes > 0 {
            let (number, bytes) = match pending.direction {
                Direction::Read => (&mut counts.reads, &mut counts.read_bytes),
                Direction::Write => (&mut counts.writes, &mut counts.write_bytes),
            };
            *number += 1;
            *bytes += pending.bytes as u64;
            volume.latencies.record(pending.direction, now - pending.since_s);
        }
        if let Some(channel) = &volume.channel {
            match (&finished.error, &finished.block, pending.direction) {
                (Some(error), ..) => channel.answer_with(pending.unique, Some(*error)),
                (None, Some(block), Direction::Read) => channel.answer(pending.unique, block.bytes()),
                (None, Some(_), Direction::Write) => channel.answer(pending.unique, &fuse::written(pending.bytes)),
                (None, None, _) => channel.answer_with(pending.unique, None),
            }
        }
        if let Some(block) = finished.block {
            self.blocks.give_back(block);
        }
    }

    fn fail(&mut self, tag: u64, error: Errno) {
        let Some(pending) = self.pending.remove(&tag) else { return };
        let volume = &mut self.volumes[pending.volume];
        volume.waiting -= 1;
        volume.counts.errors += 1;
        if let Some(channel) = &volume.channel {
            channel.answer_with(pending.unique, Some(error));
        }
    }
}
