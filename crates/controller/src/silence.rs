//! How long hosts may take, and be silent: an agent that is stopped, or whose machine hangs, ends nothing by itself.
//!
//! An agent says that it works from a thread of its own, whatever has become of the work: so each request has a moment
//! by which it is answered, however slow the machine is.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use evidence::HostId;
use experiment::{Patience, TrialShape};
use wire::{ClientRequest, DatabaseRequest, Request};

/// How long an agent may say nothing while it works: it says every [`wire::AT_WORK_S`] seconds that it does.
pub(super) const SILENCE: Duration = Duration::from_secs(60);
/// An open loop beyond the capacity is answered late, and connections are made before and between: a trial may take so
/// many times what it was planned to take ...
const LATE_FACTOR: f64 = 2.0;
/// ... and this much, as every other request may.
const MARGIN: Duration = Duration::from_secs(300);

/// A look at something: a file, a clock, a counter. What is asked inside answers within 30 s or not at all.
const LOOK_S: f64 = 60.0;
/// Something is begun, changed or ended on a host, in steps of which each has a bound of its own: up to four minutes to
/// attach a volume, 90 s to drain a node, 90 s for each measurement of a volume.
const ORDER_S: f64 = 1_800.0;
/// Cassandra is fetched (70 MB: at 10 KB/s), and two nodes are started for a moment.
const FETCH_S: f64 = 3.0 * 3_600.0;
/// Slowest that a data set is written, copied, read or compacted while nothing limits it, bytes per second: a fiftieth
/// of a hard disk.
const BYTES_PER_S: f64 = 1e6;
/// Slowest that it is compacted while the limits of a small model hold.
const HELD_BYTES_PER_S: f64 = 5e4;
/// Slowest that it goes to a store or comes from one: 2 Mbit/s.
const STORE_BYTES_PER_S: f64 = 2.5e5;
/// Slowest that records are inserted: with 128 requests in flight, each would take 0.6 s.
const INSERTS_PER_S: f64 = 200.0;
/// Slowest that written records are read back: a third of what the smallest volume reads.
const READ_BACK_PER_S: f64 = 20.0;

/// What the work of a run is measured by: how long it may take follows from this.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    /// Bytes of its largest data set on a host.
    pub data_bytes: f64,
    /// Bytes of its largest volume.
    pub volume_bytes: f64,
    /// How long a database may take to start and to settle.
    pub patience: Patience,
    /// What all of it is multiplied by: 1, and less in stories.
    pub tempo: f64,
}

impl Default for Work {
    fn default() -> Self {
        Self { data_bytes: 0.0, volume_bytes: 0.0, patience: Patience::default(), tempo: 1.0 }
    }
}

/// Until when each host has to be heard.
pub(super) struct Watch {
    silence: Duration,
    work: Work,
    hosts: BTreeMap<HostId, Heard>,
}

/// A host that works.
struct Heard {
    last: Instant,
    /// When its answer is due whatever it says meanwhile; `None`: after the end of all clocks.
    answer: Option<Instant>,
    /// What it was asked for, for people.
    what: &'static str,
}

impl Watch {
    pub fn new(silence: Duration, work: Work) -> Self {
        Self { silence, work, hosts: BTreeMap::new() }
    }

    /// It has been asked.
    pub fn begins(&mut self, host: HostId, request: &Request) {
        let last = Instant::now();
        let answer = last.checked_add(self.work.takes_at_most(request));
        let what = match request {
            Request::Client(ClientRequest::Trial(_)) => "its trial",
            _ => "what it was asked for",
        };
        self.hosts.insert(host, Heard { last, answer, what });
    }

    /// It has said something, which was its answer or not.
    pub fn heard(&mut self, host: HostId, is_answer: bool) {
        match is_answer {
            true => drop(self.hosts.remove(&host)),
            false => {
                if let Some(heard) = self.hosts.get_mut(&host) {
                    heard.last = Instant::now();
                }
            }
        }
    }

    /// When the first of them is overdue.
    pub fn ends(&self) -> Option<Instant> {
        let end = |heard: &Heard| heard.answer.into_iter().chain([heard.last + self.silence]).min();
        self.hosts.values().filter_map(end).min()
    }

    /// One that is, in words; it is watched no more.
    pub fn overdue(&mut self) -> Option<(HostId, String)> {
        let now = Instant::now();
        let (host, how) = self.hosts.iter().find_map(|(host, heard)| {
            let silent = now.saturating_duration_since(heard.last);
            if silent >= self.silence {
                return Some((*host, format!("it has said nothing for {} s", silent.as_secs())));
            }
            let is_late = heard.answer.is_some_and(|answer| answer <= now);
            is_late.then(|| (*host, format!("it goes on long after {} should have ended", heard.what)))
        })?;
        self.hosts.remove(&host);
        Some((host, how))
    }
}

impl Work {
    /// How long the answer to a request may take.
    fn takes_at_most(&self, request: &Request) -> Duration {
        let work_s = match request {
            Request::Client(request) => self.of_client(request),
            Request::Database(request) => self.of_database(request),
            Request::Hello { .. } | Request::Clock => LOOK_S,
            // Nothing answers these.
            Request::Cancel | Request::Alive => return Duration::MAX,
        };
        seconds((work_s + MARGIN.as_secs_f64()) * self.tempo)
    }

    fn of_client(&self, request: &ClientRequest) -> f64 {
        match request {
            ClientRequest::Load { dataset, records, .. } => {
                let bytes = *records as f64 * f64::from(dataset.fields) * f64::from(dataset.field_length);
                ORDER_S + *records as f64 / INSERTS_PER_S + bytes / BYTES_PER_S
            }
            ClientRequest::Warm { task, seconds, .. } => {
                LOOK_S + (seconds + task.shape.request_timeout_s) * LATE_FACTOR
            }
            ClientRequest::Trial(task) => {
                let read_back_s = if task.check_writes { task.dataset.records as f64 / READ_BACK_PER_S } else { 0.0 };
                load_s(&task.shape) + read_back_s
            }
            ClientRequest::Take(_) => ORDER_S,
            // A table is read whole, and its indexes are made anew.
            ClientRequest::Loaded(of) | ClientRequest::Maintain(of) => {
                ORDER_S + 3.0 * of.dataset.payload_bytes() as f64 / BYTES_PER_S
            }
            ClientRequest::Close => LOOK_S,
        }
    }

    fn of_database(&self, request: &DatabaseRequest) -> f64 {
        let Patience { start_s, settle_s } = self.patience;
        let whole_s = self.data_bytes / BYTES_PER_S;
        match request {
            DatabaseRequest::Check(_) | DatabaseRequest::Watch(_) | DatabaseRequest::FindKept { .. } => ORDER_S,
            DatabaseRequest::FindSnapshot { .. }
            | DatabaseRequest::Usage
            | DatabaseRequest::ReadLog { .. }
            | DatabaseRequest::Observe
            | DatabaseRequest::EndObservation => LOOK_S,
            DatabaseRequest::Open(_) => ORDER_S + FETCH_S,
            DatabaseRequest::Initialise { .. } => ORDER_S + self.volume_bytes / BYTES_PER_S,
            DatabaseRequest::StartLoading { .. } => ORDER_S + start_s + settle_s,
            DatabaseRequest::FinishLoading => ORDER_S + settle_s + whole_s,
            DatabaseRequest::FlushBacklog | DatabaseRequest::KeepSnapshot => ORDER_S + whole_s,
            // Copied, read for damage, and written anew without what is another node's.
            DatabaseRequest::ImportSnapshot { .. } => ORDER_S + 3.0 * whole_s,
            // All rows are counted.
            DatabaseRequest::SampleSnapshot { .. } => ORDER_S + whole_s,
            DatabaseRequest::Restore { kept, .. } => ORDER_S + kept.archive_bytes() as f64 / STORE_BYTES_PER_S,
            DatabaseRequest::MeasureArchive { .. } => ORDER_S + whole_s,
            DatabaseRequest::KeepInStore { .. } => ORDER_S + self.data_bytes / STORE_BYTES_PER_S,
            // The data set is copied, and what answers for the volumes may be lost once; each configuration is
            // measured.
            DatabaseRequest::Prepare { others, .. } => 2.0 * (ORDER_S * (1 + others.len()) as f64 + whole_s),
            // As above.
            DatabaseRequest::StartTrial { .. } => 2.0 * (ORDER_S + start_s + settle_s + whole_s),
            // Taken in, and read into the page cache.
            DatabaseRequest::Renew { .. } => ORDER_S + 2.0 * whole_s,
            DatabaseRequest::StartFault(_)
            | DatabaseRequest::Empty
            | DatabaseRequest::LookUp { .. }
            | DatabaseRequest::NoteCache { .. }
            | DatabaseRequest::Hold
            | DatabaseRequest::CompactBacklog
            | DatabaseRequest::Close => ORDER_S,
            // A node is started again, or a compaction beside the load is awaited.
            DatabaseRequest::EndFault => ORDER_S + start_s + self.data_bytes / HELD_BYTES_PER_S,
            DatabaseRequest::StopTrial { .. } => ORDER_S + whole_s,
        }
    }
}

/// How long the load of a trial takes at most, from its request to its last response. A number of operations makes it
/// shorter, if anything: `duration_s` is a bound beside it.
pub(super) fn longest_load(shape: &TrialShape) -> Duration {
    seconds(load_s(shape)).saturating_add(MARGIN)
}

/// The same in seconds, without the margin that all answers have.
fn load_s(shape: &TrialShape) -> f64 {
    (shape.warmup_s + shape.warmup_max_s.unwrap_or(0.0) + shape.duration_s + shape.request_timeout_s) * LATE_FACTOR
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use experiment::{Dataset, KeyFormat};

    use super::*;

    fn hours(request: &Request) -> f64 {
        let work = Work { data_bytes: 36e9, volume_bytes: 360e9, ..Work::default() };
        work.takes_at_most(request).as_secs_f64() / 3_600.0
    }

    /// An agent whose work hangs says from another thread that it works: only trials had an end.
    #[test]
    fn an_answer_is_due_by_what_there_is_to_be_done() {
        let database = |request| hours(&Request::Database(request));
        // A look is one of minutes, an order one of half an hour, and what goes over a data set takes its bytes.
        assert!(hours(&Request::Clock) < 0.2 && database(DatabaseRequest::Usage) < 0.2);
        assert!(database(DatabaseRequest::Hold) < 1.0 && database(DatabaseRequest::Close) < 1.0);
        let finish = database(DatabaseRequest::FinishLoading);
        assert!((10.0..11.0).contains(&finish), "{finish} hours for 36 GB at 1 MB/s");
        let stop = database(DatabaseRequest::StopTrial { keeps: true });
        assert!((10.0..11.0).contains(&stop), "{stop}");
        assert!(database(DatabaseRequest::EndFault) > 100.0, "a compaction under the limits of a small model");
    }

    #[test]
    fn loading_is_due_by_records_and_bytes() {
        let load = |records, field_length| {
            let job = experiment::testing::small_job("");
            let target = crate::target::Target::of(&job.plan).unwrap();
            let levels = job.plan.target.consistency;
            hours(&Request::Client(ClientRequest::Load {
                endpoint: Box::new(target.endpoint(Vec::new(), levels, 30.0)),
                dataset: Dataset { fields: 10, field_length, ..job.plan.dataset },
                keys: KeyFormat::default(),
                first_record: 0,
                records,
                concurrency: 128,
                overwrites: false,
                own: None,
            }))
        };
        // Half an hour and five minutes; 200 records a second; 1 MB a second.
        assert!((load(7_200_000, 0) - 10.58).abs() < 0.02, "{}", load(7_200_000, 0));
        assert!((load(360_000, 10_000) - 11.08).abs() < 0.02, "{}", load(360_000, 10_000));
        assert!(load(u64::MAX, u32::MAX).is_finite());
    }
}
