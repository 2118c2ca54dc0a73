//! What is asked of the engine, and what it gives back.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use evidence::{ClientResult, ErrorKind, Interval};
use workload::{Arrivals, Definition, KeyFormat};

use crate::EngineError;
use crate::stamp::TAG_BYTES;
use crate::written::Writes;

/// How requests are offered: `experiment::LoadLevel` by a name of its own, because this crate does not know
/// experiments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// Exactly this many requests in flight.
    Closed {
        /// Requests in flight, over all threads.
        concurrency: u32,
    },
    /// Requests at times fixed in advance.
    Open {
        /// Arrivals per second, over all threads.
        operations_per_s: f64,
        /// How they follow each other.
        arrivals: Arrivals,
    },
}

/// One trial.
#[derive(Debug, Clone)]
pub struct TrialPlan {
    /// Operation mix and key distribution.
    pub definition: Definition,
    /// Fields of a record.
    pub fields: u32,
    /// Bytes of a field.
    pub field_length: u32,
    /// Share of each value that is constant text, 0..=1.
    pub compressibility: f64,
    /// Records `0 .. records` exist.
    pub records: u64,
    /// How requests are offered.
    pub load: Load,
    /// Load before the measurement.
    pub warmup: Duration,
    /// Longest measurement.
    pub duration: Duration,
    /// Operations of the measurement at most; it ends at whichever bound comes first.
    pub operations: Option<u64>,
    /// Load threads; 0 chooses.
    pub threads: u32,
    /// Seed of keys, values and gaps.
    pub seed: u64,
    /// Record number of the first insert: `records`, or more when an earlier trial has inserted on the same data.
    pub first_insert: u64,
    /// Which of several clients this is: each inserts records of its own.
    pub part: Part,
    /// Whether writes are stamped and the acknowledged ones remembered, so that [`crate::read_back()`] can look for
    /// them.
    pub check_writes: bool,
    /// When the first request is sent; at once, where that has passed by the time that everything is connected.
    pub begin: Option<Instant>,
}

impl TrialPlan {
    /// This load on so many records of YCSB's shape (ten fields of 100 bytes): all of it by one client with one load
    /// thread, measured from its first request on.
    pub fn new(definition: Definition, records: u64, load: Load, duration: Duration) -> Self {
        Self {
            definition,
            fields: 10,
            field_length: 100,
            compressibility: 0.0,
            records,
            load,
            warmup: Duration::ZERO,
            duration,
            operations: None,
            threads: 1,
            seed: 7,
            first_insert: records,
            part: Part::WHOLE,
            check_writes: false,
            begin: None,
        }
    }
}

/// One of several clients that share a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its number, from 0.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl Part {
    /// The only client.
    pub const WHOLE: Self = Self { number: 0, of: 1 };

    /// The record that this client means by its own number for it: below `first_insert` all clients mean the same; from
    /// there on they take turns, so that no two insert the same record.
    #[inline]
    pub(crate) fn record(self, own: u64, first_insert: u64) -> u64 {
        match own.checked_sub(first_insert) {
            Some(inserted) => first_insert + inserted * u64::from(self.of) + u64::from(self.number),
            None => own,
        }
    }
}

/// The load phase: every record of a range is inserted once; or records that exist are written again.
#[derive(Debug, Clone)]
pub struct LoadPlan {
    /// First record number; of overwrites the first place in their order.
    pub first_record: u64,
    /// How many records.
    pub records: u64,
    /// Fields of a record.
    pub fields: u32,
    /// Bytes of a field.
    pub field_length: u32,
    /// Share of each value that is constant text, 0..=1.
    pub compressibility: f64,
    /// How records are named.
    pub keys: KeyFormat,
    /// Inserts in flight, over all threads.
    pub concurrency: u32,
    /// Load threads; 0 chooses.
    pub threads: u32,
    /// Seed of the values: the same seed writes the same data set.
    pub seed: u64,
    /// Records `0 ..` this many exist, and those at the places above of their [`workload::EvenOrder`] get new values,
    /// each whole record by an update; `None`: they are inserted.
    pub overwrites_of: Option<u64>,
    /// Records are rows of the user's own data set, as many as the driver makes: nothing of records, fields and keys
    /// holds.
    pub own_rows: bool,
}

/// One second of load, for the live line. Both phases of a trial are shown; latencies are response times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Second {
    /// Seconds from the start of measurement to the start of this second; negative in warm-up.
    pub t_s: f64,
    /// Operations completed without error.
    pub operations: u64,
    /// Operations failed.
    pub errors: u64,
    /// Median response time of the completed ones, microseconds; 0 when there is none.
    pub p50_us: u64,
    /// 99th percentile of the same.
    pub p99_us: u64,
    /// Requests in flight when the second ended.
    pub in_flight: u64,
}

/// What a trial measured.
#[derive(Debug, Clone)]
pub struct TrialOutcome {
    /// Totals of the measurement.
    pub result: ClientResult,
    /// Latencies by series and second, in order of time; those of the warm-up have a negative start.
    ///
    /// A response belongs to the second in which it came. What comes after the end of the measurement (the requests in
    /// flight then) belongs to the last interval, which is as long as that takes. An operation sent in warm-up whose
    /// response comes in the measurement belongs to the last second of the warm-up. So the intervals with
    /// `start_s >= 0` hold exactly the operations of `result`.
    pub intervals: Vec<Interval>,
    /// How long ago the measurement began, when this was made.
    pub began_ago: Duration,
    /// What was written and acknowledged, where that was asked for.
    pub writes: Option<Writes>,
}

/// What the load phase did.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadOutcome {
    /// Records inserted: the whole range, or all rows of the user's own.
    pub records: u64,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Inserts that were sent again.
    pub retries: u64,
    /// Why, by kind.
    pub errors: BTreeMap<ErrorKind, u64>,
}

/// Requests in flight from which one thread works well: batches get long enough that the cost of a system call is
/// spread over many requests. Measured with the CQL driver on loopback; an engineering threshold.
const CONCURRENCY_PER_THREAD: u32 = 128;
/// Arrivals per second that one thread paces without noticeable lag; an engineering threshold likewise.
const RATE_PER_THREAD: f64 = 40_000.0;

/// The number of load threads: as asked, or as few as carry the load, and at most half of the CPUs (the other half is
/// the kernel's network work and, on one machine, the database's).
pub(crate) fn thread_count(asked: u32, load: Load) -> u32 {
    let useful = match load {
        Load::Closed { concurrency } => concurrency.max(1),
        Load::Open { .. } => u32::MAX,
    };
    if asked > 0 {
        return asked.min(useful);
    }
    let wanted = match load {
        Load::Closed { concurrency } => concurrency.div_ceil(CONCURRENCY_PER_THREAD),
        Load::Open { operations_per_s, .. } => (operations_per_s / RATE_PER_THREAD).ceil() as u32,
    };
    wanted.clamp(1, most_threads()).min(useful)
}

/// Most load threads that the engine chooses on this machine: half of its CPUs, and the others are the kernel's.
pub fn most_threads() -> u32 {
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    (cpus / 2).max(1)
}

/// Refuses what cannot be carried out.
pub(crate) fn check(plan: &TrialPlan) -> Result<(), EngineError> {
    let refuse = |what: String| Err(EngineError::Plan(what));
    match plan.load {
        Load::Closed { concurrency: 0 } => return refuse("a concurrency of 0 sends nothing".into()),
        Load::Open { operations_per_s, .. } if !(operations_per_s.is_finite() && operations_per_s > 0.0) => {
            return refuse(format!("a rate of {operations_per_s} operations/s is not a positive number"));
        }
        Load::Open { arrivals: Arrivals::Recorded, .. } if plan.definition.replayed.is_none() => {
            return refuse("arrivals as recorded, and no recording".into());
        }
        _ => {}
    }
    if plan.duration.is_zero() {
        return refuse("the measurement must last longer than 0 s".into());
    }
    if plan.operations == Some(0) {
        return refuse("0 operations measure nothing; leave the bound out or raise it".into());
    }
    if plan.part.number >= plan.part.of {
        let Part { number, of } = plan.part;
        return refuse(format!("there is no client {number} among {of}"));
    }
    if plan.fields == 0 {
        return refuse("records need at least one field".into());
    }
    if plan.check_writes && plan.field_length as usize <= TAG_BYTES {
        return refuse(format!(
            "fields of {} bytes cannot be distinguished when they are read back: that takes more than {TAG_BYTES}",
            plan.field_length
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Part;

    #[test]
    fn clients_share_the_records_that_exist_and_no_others() {
        let third = Part { number: 2, of: 3 };
        assert_eq!([0, 99].map(|own| third.record(own, 100)), [0, 99]);
        let mut inserted: Vec<u64> =
            (0..3).flat_map(|number| (100..104).map(move |own| Part { number, of: 3 }.record(own, 100))).collect();
        inserted.sort_unstable();
        assert_eq!(inserted, (100..112).collect::<Vec<u64>>());
        assert_eq!(Part::WHOLE.record(107, 100), 107);
    }
}
