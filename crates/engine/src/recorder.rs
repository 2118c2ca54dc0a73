//! One thread's record of what happened: counts latencies into the current second and hands each second over.

use std::sync::mpsc::{Receiver, Sender};

use evidence::{CacheAnswer, ErrorKind, OperationKind, Series};

use crate::histograms::Histograms;
use crate::message::{Message, ThreadSecond};

/// A trial's times on the clock of [`crate::clock::now_ns`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// Load begins.
    pub(crate) warmup_ns: u64,
    /// Measurement begins.
    pub(crate) start_ns: u64,
    /// Nothing is sent from here on.
    pub(crate) end_ns: u64,
}

impl Times {
    /// The second that a moment lies in, counted from the start of measurement; negative in warm-up.
    fn second(&self, ns: u64) -> i64 {
        (ns as i64 - self.start_ns as i64).div_euclid(1_000_000_000)
    }

    /// The first second of the trial.
    pub(crate) fn first_second(&self) -> i64 {
        self.second(self.warmup_ns)
    }

    /// The last second in which something may be sent; it also takes all responses that come later.
    fn last_second(&self) -> i64 {
        self.second(self.end_ns - 1)
    }

    fn second_ends_ns(&self, second: i64) -> u64 {
        (self.start_ns as i64 + (second + 1) * 1_000_000_000) as u64
    }
}

/// What an answer says of its request besides that it was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    /// Nothing.
    Plain,
    /// Its condition was not met.
    Unmet,
    /// How caches in front of the database answered a read.
    ByCache(CacheAnswer),
}

/// How an operation ended.
pub(crate) struct Ended {
    pub(crate) kind: OperationKind,
    /// Whether it belongs to the measurement.
    pub(crate) measured: bool,
    /// When its response was decoded.
    pub(crate) done_ns: u64,
    /// From due (closed loop: sent) to done.
    pub(crate) response_ns: u64,
    /// Open loop: from sent to done.
    pub(crate) service_ns: Option<u64>,
    /// Success, or why not.
    pub(crate) result: Result<Answered, ErrorKind>,
}

/// Counts into the current second of one thread.
pub(crate) struct Recorder {
    times: Times,
    second: i64,
    second_ends_ns: u64,
    own: Box<Histograms>,
    late_warmup: Option<Box<Histograms>>,
    in_flight: u64,
    last_done_ns: u64,
    thread: usize,
    to_collector: Sender<Message>,
    emptied: Receiver<Box<Histograms>>,
}

impl Recorder {
    /// The recorder of load thread number `thread`; it takes emptied histograms back from `emptied`.
    pub(crate) fn new(
        times: Times,
        thread: usize,
        to_collector: Sender<Message>,
        emptied: Receiver<Box<Histograms>>,
    ) -> Self {
        let second = times.first_second();
        let own = emptied.try_recv().unwrap_or_default();
        let second_ends_ns = Self::end_of(&times, second);
        Self {
            times,
            second,
            second_ends_ns,
            own,
            late_warmup: None,
            in_flight: 0,
            last_done_ns: 0,
            thread,
            to_collector,
            emptied,
        }
    }

    /// The last second never ends: it takes the responses to all requests that are still in flight.
    fn end_of(times: &Times, second: i64) -> u64 {
        if second >= times.last_second() { u64::MAX } else { times.second_ends_ns(second) }
    }

    /// One more request in flight.
    #[inline]
    pub(crate) fn sent(&mut self) {
        self.in_flight += 1;
    }

    /// One request less in flight.
    #[inline]
    pub(crate) fn ended(&mut self, ended: &Ended) {
        self.cut(ended.done_ns);
        self.in_flight -= 1;
        let late = !ended.measured && self.second >= 0;
        let histograms = if late { self.late_warmup.get_or_insert_default() } else { &mut self.own };
        match ended.result {
            Ok(answered) => {
                histograms.record(Series::Response(ended.kind), ended.response_ns);
                if let Some(service_ns) = ended.service_ns {
                    histograms.record(Series::Service(ended.kind), service_ns);
                }
                match answered {
                    Answered::Plain => {}
                    Answered::Unmet => histograms.record(Series::Unmet(ended.kind), ended.response_ns),
                    Answered::ByCache(answer) => {
                        histograms.record(Series::Cache(answer), ended.service_ns.unwrap_or(ended.response_ns));
                    }
                }
            }
            Err(error) => histograms.record(Series::Failed(error), ended.response_ns),
        }
        if ended.measured {
            self.last_done_ns = self.last_done_ns.max(ended.done_ns);
        }
    }

    /// Hands over every second that has ended by now. Called on each response and, for idle threads, by a ticker.
    #[inline]
    pub(crate) fn cut(&mut self, now_ns: u64) {
        while now_ns >= self.second_ends_ns {
            self.hand_over();
        }
    }

    #[cold]
    fn hand_over(&mut self) {
        let own = std::mem::replace(&mut self.own, self.emptied.try_recv().unwrap_or_default());
        // The receiver outlives the threads; were it gone, nobody would need the second.
        let second =
            ThreadSecond { second: self.second, own, late_warmup: self.late_warmup.take(), in_flight: self.in_flight };
        let _ = self.to_collector.send(Message::Second { thread: self.thread, second });
        self.second += 1;
        self.second_ends_ns = Self::end_of(&self.times, self.second);
    }

    /// Hands over the last second; returns when the last measured response came (0: there was none).
    pub(crate) fn finish(&mut self) -> u64 {
        self.hand_over();
        self.last_done_ns
    }
}
