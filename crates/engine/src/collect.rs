//! The collecting thread's side: merges what the load threads hand over, second by second.

use std::collections::BTreeMap;

use evidence::{ErrorKind, Interval, OperationKind, Series, empty_histogram};

use crate::histograms::{Compact, Histograms};
use crate::message::ThreadSecond;
use crate::plan::Second;
use crate::recorder::Times;

/// Merges seconds of all threads and keeps them in small form; the default one keeps only counts of errors.
#[derive(Default)]
pub(crate) struct Collector {
    keep: bool,
    /// Series that are written for every second, so that a second without a response is seen as such.
    always: Vec<Series>,
    times: Option<Times>,
    /// The last second that each thread has handed over.
    reported: Vec<i64>,
    pending: BTreeMap<i64, Pending>,
    /// Responses to warm-up operations that came in the measurement, and the last second of the warm-up.
    warmup_end: Histograms,
    kept: Vec<(i64, Compact)>,
    errors: BTreeMap<ErrorKind, u64>,
}

struct Pending {
    own: Box<Histograms>,
    late_warmup: Option<Box<Histograms>>,
    in_flight: u64,
}

impl Collector {
    /// Keeps intervals, with `always` present in each second.
    pub(crate) fn keeping(always: Vec<Series>) -> Self {
        Self { keep: true, always, ..Self::default() }
    }

    /// Load begins at these times on this many threads.
    pub(crate) fn begin(&mut self, times: Times, threads: usize) {
        self.times = Some(times);
        self.reported = vec![i64::MIN; threads];
    }

    /// Takes a thread's second; gives back emptied histograms for that thread.
    pub(crate) fn take(
        &mut self,
        thread: usize,
        handed: ThreadSecond,
        on_second: &mut dyn FnMut(&Second),
    ) -> Option<Box<Histograms>> {
        self.reported[thread] = handed.second;
        let mut emptied = None;
        match self.pending.get_mut(&handed.second) {
            None => {
                let pending = Pending { own: handed.own, late_warmup: handed.late_warmup, in_flight: handed.in_flight };
                self.pending.insert(handed.second, pending);
            }
            Some(pending) => {
                pending.own.add(&handed.own);
                pending.in_flight += handed.in_flight;
                if let Some(late) = &handed.late_warmup {
                    pending.late_warmup.get_or_insert_default().add(late);
                }
                emptied = Some(handed.own);
            }
        }
        let merged = self.release(on_second);
        emptied.or(merged).map(|mut histograms| {
            histograms.reset();
            histograms
        })
    }

    /// A thread will hand over nothing more.
    pub(crate) fn finished(&mut self, thread: usize, on_second: &mut dyn FnMut(&Second)) {
        self.reported[thread] = i64::MAX;
        self.release(on_second);
    }

    /// Closes every second that all threads have handed over.
    fn release(&mut self, on_second: &mut dyn FnMut(&Second)) -> Option<Box<Histograms>> {
        let complete = self.reported.iter().copied().min().unwrap_or(i64::MAX);
        let mut emptied = None;
        while let Some(entry) = self.pending.first_entry().filter(|entry| *entry.key() <= complete) {
            let (second, pending) = entry.remove_entry();
            on_second(&live_line(second, &pending));
            emptied = Some(self.close(second, pending));
        }
        emptied
    }

    fn close(&mut self, second: i64, pending: Pending) -> Box<Histograms> {
        if second >= 0 {
            for (series, histogram) in pending.own.used() {
                if let Series::Failed(kind) = series {
                    *self.errors.entry(kind).or_default() += histogram.len();
                }
            }
        }
        if self.keep {
            if let Some(late) = &pending.late_warmup {
                self.warmup_end.add(late);
            }
            if second == -1 {
                self.warmup_end.add(&pending.own);
            } else {
                keep(&mut self.kept, &self.always, second, &pending.own);
            }
        }
        pending.own
    }

    /// Failed operations of the measurement, by kind.
    pub(crate) fn errors(&self) -> &BTreeMap<ErrorKind, u64> {
        &self.errors
    }

    /// Completed operations of the measurement, by kind.
    pub(crate) fn completed(&self) -> BTreeMap<OperationKind, u64> {
        let mut completed = BTreeMap::new();
        for (second, compact) in &self.kept {
            if let Series::Response(kind) = compact.series()
                && *second >= 0
            {
                *completed.entry(kind).or_default() += compact.total();
            }
        }
        completed
    }

    /// All intervals in order of time; the last one ends `end_s` after the start of measurement.
    pub(crate) fn into_intervals(mut self, end_s: f64) -> Vec<Interval> {
        let Some(times) = self.times else { return Vec::new() };
        if times.first_second() < 0 {
            keep(&mut self.kept, &self.always, -1, &self.warmup_end);
        }
        self.kept.sort_by_key(|(second, compact)| (*second, compact.series()));
        let first_s = -((times.start_ns - times.warmup_ns) as f64 / 1e9);
        let last = self.kept.last().map_or(0, |(second, _)| *second);
        let interval = |(second, compact): &(i64, Compact)| {
            let start_s = (*second as f64).max(first_s);
            let to_s = if *second == last { end_s.max(start_s) } else { (second + 1) as f64 };
            compact.expand(start_s, to_s - start_s)
        };
        self.kept.iter().map(interval).collect()
    }
}

fn keep(kept: &mut Vec<(i64, Compact)>, always: &[Series], second: i64, histograms: &Histograms) {
    kept.extend(histograms.used().map(|(series, histogram)| (second, Compact::new(series, histogram))));
    let missing = always.iter().filter(|series| !histograms.used().any(|(used, _)| used == **series));
    kept.extend(missing.map(|series| (second, Compact::empty(*series))));
}

fn live_line(second: i64, pending: &Pending) -> Second {
    let mut responses = empty_histogram();
    let mut errors = 0;
    for histograms in std::iter::once(&pending.own).chain(&pending.late_warmup) {
        for (series, histogram) in histograms.used() {
            match series {
                Series::Response(_) => responses.add(histogram).expect("histograms of equal bounds always add"),
                Series::Failed(_) => errors += histogram.len(),
                Series::Service(_) | Series::Cache(_) | Series::Unmet(_) => {}
            }
        }
    }
    Second {
        t_s: second as f64,
        operations: responses.len(),
        errors,
        p50_us: responses.value_at_quantile(0.5),
        p99_us: responses.value_at_quantile(0.99),
        in_flight: pending.in_flight,
    }
}
