//! Schedules requests and records their latencies.
//!
//! The engine owns time: it decides when a request is due, hands it to a [`Driver`] and writes down when the response
//! had been decoded. It does not know what a database is; [`Driver`] and [`Connect`] are the seam, with static
//! dispatch.
//!
//! # How it is built
//!
//! Every *load thread* has a single-threaded tokio runtime, its own driver, generator and histograms. Threads share two
//! counters (operations left, next record to insert) and nothing else, so there is no lock on the way of a request. A
//! request runs in a *slot*: a task that lives for the whole trial and is used again and again, so that sending a
//! request allocates nothing here (the driver below may). Once a second each thread hands its histograms to the
//! collecting thread and takes emptied ones back; merging adds counts, so it is exact.
//!
//! # What is measured
//!
//! * *Closed loop*: `concurrency` slots, each sends its next request as soon as the last one is answered. Latency runs
//!   from just before the request is handed to the driver to the decoded response.
//! * *Open loop*: a schedule fixed by (rate, seed) before the trial says when each request is *due*. Response time runs
//!   from that moment, so a stalled server (or a stalled client) is charged to every request that it delays: no
//!   *coordinated omission* (Tene, "How NOT to measure latency"). Service time, from the actual send, is kept beside
//!   it, and so is the send lag. Nothing that is due is ever dropped.
//!
//! * *Replay* ([`workload::Replayed`]): an open loop whose schedule is a recording's, at a stated speed; or a closed
//!   loop that sends its requests in their order. Of one partition a request waits until the one before it has ended;
//!   that wait is in its response time, and not in the send lag, which is the client's own.
//!
//! An operation belongs to the measurement when it was due (closed loop: sent) at or after its start and before its
//! end; it is then counted, whenever its response comes.
//!
//! # Whether writes are still there
//!
//! A trial with `check_writes` sends every write with a [`Stamp`] (its timestamp, and a tag in each value) and
//! remembers the newest one that was acknowledged of each value; [`read_back()`] looks for them afterwards.

mod claims;
mod clock;
mod closed;
mod collect;
pub mod cpu;
mod driver;
mod error;
mod histograms;
mod load;
mod message;
mod open;
mod operate;
mod plan;
mod read_back;
mod recorded;
mod recorder;
mod schedule;
mod stamp;
mod threads;
mod trial;
mod written;

pub use driver::{Condition, Connect, Driver, NextRow};
pub use error::EngineError;
pub use evidence::{CacheAnswer, ErrorKind};
pub use load::run_load;
pub use plan::{Load, LoadOutcome, LoadPlan, Part, Second, TrialOutcome, TrialPlan, most_threads};
pub use read_back::{ReadBack, read_back};
pub use recorded::Recorded;
pub use stamp::{Stamp, TAG_BYTES};
pub use trial::run_trial;
pub use workload::Random;
pub use written::Writes;
