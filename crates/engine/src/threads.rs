//! Load threads: start them, connect, begin together, gather what they hand over, end together.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use evidence::empty_histogram;
use hdrhistogram::Histogram;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::Notify;

use crate::clock::{now_ns, peak_rss_bytes, process_cpu_ns};
use crate::collect::Collector;
use crate::histograms::Histograms;
use crate::message::{Message, Totals};
use crate::plan::Second;
use crate::recorder::{Recorder, Times};
use crate::written::Notes;
use crate::{Connect, Driver, EngineError};

/// How often an idle thread looks whether a second has ended or somebody wants it to stop.
const TICK: Duration = Duration::from_millis(50);
/// From "everybody is connected" to the first request, so that all threads are awake by then.
const HEAD_START_NS: u64 = 5_000_000;

/// What a load thread does, as soon as it is connected: spawn slots on the current runtime.
pub(crate) trait Work: Sync {
    /// Spawns the slots of one thread. Each holds an [`Occupied`] of the seat while it runs.
    fn begin<D: Driver + 'static>(&self, seat: &Rc<Seat<D>>) -> Result<(), EngineError>;

    /// Whether its writes are stamped, which drivers prepare for.
    fn is_stamped(&self) -> bool {
        false
    }
}

/// A load thread's place: its driver, its recorder, and what its slots share.
pub(crate) struct Seat<D> {
    pub(crate) driver: D,
    pub(crate) recorder: RefCell<Recorder>,
    pub(crate) times: Times,
    pub(crate) thread: u32,
    pub(crate) threads: u32,
    pub(crate) sent: Cell<u64>,
    pub(crate) retries: Cell<u64>,
    pub(crate) lag: RefCell<Histogram<u64>>,
    /// Empty, where writes are not checked.
    pub(crate) notes: RefCell<Notes>,
    failure: RefCell<Option<EngineError>>,
    slots: Cell<usize>,
    changed: Notify,
}

impl<D> Seat<D> {
    /// Ends this thread's work with an error.
    pub(crate) fn fail(&self, error: EngineError) {
        self.failure.borrow_mut().get_or_insert(error);
        self.changed.notify_one();
    }

    /// This thread's share of `total`, so that all shares add up to it.
    pub(crate) fn share_of(&self, total: u32) -> u32 {
        total / self.threads + u32::from(self.thread < total % self.threads)
    }

    /// Waits until every slot has ended, handing seconds over meanwhile.
    async fn until_all_ended(&self, cancelled: &AtomicBool) -> Result<(), EngineError> {
        loop {
            tokio::select! {
                () = self.changed.notified() => {}
                () = tokio::time::sleep(TICK) => {}
            }
            self.recorder.borrow_mut().cut(now_ns());
            if let Some(error) = self.failure.borrow_mut().take() {
                return Err(error);
            }
            if self.slots.get() == 0 {
                return Ok(());
            }
            if cancelled.load(Relaxed) {
                return Err(EngineError::Cancelled);
            }
        }
    }
}

/// Held by a running slot. Counts it out even when it panics.
pub(crate) struct Occupied<D>(Rc<Seat<D>>);

impl<D> Occupied<D> {
    pub(crate) fn new(seat: &Rc<Seat<D>>) -> Self {
        seat.slots.set(seat.slots.get() + 1);
        Self(Rc::clone(seat))
    }

    pub(crate) fn seat(&self) -> &Seat<D> {
        &self.0
    }
}

impl<D> Drop for Occupied<D> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(EngineError::Panicked);
        }
        self.0.slots.set(self.0.slots.get() - 1);
        if self.0.slots.get() == 0 {
            self.0.changed.notify_one();
        }
    }
}

/// What all threads did together.
pub(crate) struct Gathered {
    pub(crate) times: Times,
    pub(crate) totals: Totals,
    pub(crate) collector: Collector,
    /// Of each thread, not merged: that takes time and CPU, which are nobody's measurement.
    pub(crate) notes: Vec<Notes>,
    /// CPU time of the process from the start of measurement to the last response.
    pub(crate) cpu_ns: u64,
    pub(crate) peak_rss_bytes: u64,
}

/// Warm-up and longest measurement; `None` runs until the work is done.
pub(crate) struct Span {
    pub(crate) warmup: Duration,
    pub(crate) duration: Option<Duration>,
    /// Not before this moment.
    pub(crate) begin: Option<Instant>,
}

impl Span {
    fn beginning_at(&self, warmup_ns: u64) -> Times {
        let start_ns = warmup_ns + self.warmup.as_nanos() as u64;
        let end_ns = match self.duration {
            Some(duration) => start_ns + duration.as_nanos() as u64,
            // Centuries away, and far enough from the ends of i64 for sums.
            None => i64::MAX as u64 / 2,
        };
        Times { warmup_ns, start_ns, end_ns }
    }
}

/// Runs `work` on `threads` load threads and gathers what they measure.
pub(crate) fn run_threads<C: Connect + Sync, W: Work>(
    connect: &C,
    threads: u32,
    work: &W,
    span: &Span,
    mut collector: Collector,
    on_second: &mut dyn FnMut(&Second),
    cancelled: &AtomicBool,
) -> Result<Gathered, EngineError> {
    // Set when this function returns early: threads must then stop too, whoever asked for it.
    let abandoned = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _abandon = SetOnDrop(&abandoned);
        let (to_collector, messages) = channel();
        let mut go = Vec::new();
        let mut give_back = Vec::new();
        for thread in 0..threads {
            let (go_sender, go_receiver) = channel();
            let (back_sender, emptied) = channel();
            go.push(go_sender);
            give_back.push(back_sender);
            let to_collector = to_collector.clone();
            let abandoned = &abandoned;
            std::thread::Builder::new().name(format!("load-{thread}")).spawn_scoped(scope, move || {
                let place =
                    ThreadChannels { thread, threads, go: go_receiver, emptied, to_collector: to_collector.clone() };
                if let Err(error) = occupy(connect, work, place, abandoned) {
                    let _ = to_collector.send(Message::Failed(error));
                }
            })?;
        }
        drop(to_collector);

        let mut connected = 0;
        while connected < threads {
            match receive(&messages, TICK, cancelled)? {
                Some(Message::Connected) => connected += 1,
                Some(Message::Failed(error)) => return Err(error),
                Some(_) | None => {}
            }
        }
        let wait = span.begin.map_or(Duration::ZERO, |at| at.saturating_duration_since(Instant::now()));
        let times = span.beginning_at(now_ns() + HEAD_START_NS.max(wait.as_nanos() as u64));
        collector.begin(times, threads as usize);
        for go in &go {
            let _ = go.send(times);
        }

        let mut totals = Totals { sent: 0, last_done_ns: 0, lag: empty_histogram(), retries: 0 };
        let mut all_notes = Vec::with_capacity(threads as usize);
        let mut cpu_start_ns = None;
        let mut finished = 0;
        while finished < threads {
            let now = now_ns();
            if cpu_start_ns.is_none() && now >= times.start_ns {
                cpu_start_ns = Some(process_cpu_ns());
            }
            let to_start = Duration::from_nanos(times.start_ns.saturating_sub(now));
            let wait = if cpu_start_ns.is_none() { to_start.min(TICK) } else { TICK };
            match receive(&messages, wait, cancelled)? {
                Some(Message::Second { thread, second }) => {
                    if let Some(emptied) = collector.take(thread, second, on_second) {
                        let _ = give_back[thread].send(emptied);
                    }
                }
                Some(Message::Finished { thread, totals: one, notes }) => {
                    finished += 1;
                    all_notes.push(notes);
                    collector.finished(thread, on_second);
                    totals.sent += one.sent;
                    totals.retries += one.retries;
                    totals.last_done_ns = totals.last_done_ns.max(one.last_done_ns);
                    totals.lag.add(&one.lag).expect("histograms of equal bounds always add");
                }
                Some(Message::Failed(error)) => return Err(error),
                Some(Message::Connected) | None => {}
            }
        }
        let cpu_end_ns = process_cpu_ns();
        let cpu_ns = cpu_end_ns - cpu_start_ns.unwrap_or(cpu_end_ns);
        Ok(Gathered { times, totals, collector, notes: all_notes, cpu_ns, peak_rss_bytes: peak_rss_bytes() })
    })
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// The next message, or `None` when none came in time.
fn receive(
    messages: &Receiver<Message>,
    wait: Duration,
    cancelled: &AtomicBool,
) -> Result<Option<Message>, EngineError> {
    if cancelled.load(Relaxed) {
        return Err(EngineError::Cancelled);
    }
    match messages.recv_timeout(wait) {
        Ok(message) => Ok(Some(message)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(EngineError::Panicked),
    }
}

/// A load thread's ends of its channels.
struct ThreadChannels {
    thread: u32,
    threads: u32,
    go: Receiver<Times>,
    emptied: Receiver<Box<Histograms>>,
    to_collector: Sender<Message>,
}

/// The life of a load thread.
fn occupy<C: Connect, W: Work>(
    connect: &C,
    work: &W,
    place: ThreadChannels,
    abandoned: &AtomicBool,
) -> Result<(), EngineError> {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
    runtime.block_on(async {
        let until_abandoned = async {
            while !abandoned.load(Relaxed) {
                tokio::time::sleep(TICK).await;
            }
        };
        let connected = async {
            let mut driver = connect.connect().await?;
            if work.is_stamped() {
                driver.prepare_stamped().await?;
            }
            Ok(driver)
        };
        let driver = tokio::select! {
            driver = connected => driver.map_err(EngineError::Connect)?,
            () = until_abandoned => return Err(EngineError::Cancelled),
        };
        let _ = place.to_collector.send(Message::Connected);
        // Blocks the runtime for the moment until the last thread is connected; nothing is due before.
        let Ok(times) = place.go.recv() else { return Err(EngineError::Cancelled) };
        let thread = place.thread as usize;
        let recorder = Recorder::new(times, thread, place.to_collector.clone(), place.emptied);
        let seat = Rc::new(Seat {
            driver,
            recorder: RefCell::new(recorder),
            times,
            thread: place.thread,
            threads: place.threads,
            sent: Cell::new(0),
            retries: Cell::new(0),
            lag: RefCell::new(empty_histogram()),
            notes: RefCell::default(),
            failure: RefCell::new(None),
            slots: Cell::new(0),
            changed: Notify::new(),
        });
        let now = now_ns();
        tokio::time::sleep(Duration::from_nanos(times.warmup_ns.saturating_sub(now))).await;
        work.begin(&seat)?;
        seat.until_all_ended(abandoned).await?;
        let last_done_ns = seat.recorder.borrow_mut().finish();
        let totals =
            Totals { sent: seat.sent.get(), last_done_ns, lag: seat.lag.borrow().clone(), retries: seat.retries.get() };
        let notes = seat.notes.take();
        let _ = place.to_collector.send(Message::Finished { thread, totals, notes });
        Ok(())
    })
}
