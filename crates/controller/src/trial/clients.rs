//! The load of a trial: one client or several, each with its part, and what they measured put together.

use std::collections::{BTreeMap, BTreeSet};

use evidence::{ClientPart, ClientResult, HostId, HostSample, Interval, SendLag, Series, WriteCheck, add_counts};
use experiment::{TrialShape, part_of};
use wire::{TrialPiece, TrialResult, TrialTask};

/// From the request to the first operation where several clients begin together, milliseconds: time to connect.
const HEAD_START_MS: f64 = 3_000.0;

/// The task of each client: its part of the load, and one moment for all of them to begin, by each one's own clock.
/// `offset_ms` is what a client's clock shows beyond the controller's, `database_cpus` what databases were promised of
/// its machine.
pub(super) fn tasks(
    whole: &TrialTask,
    hosts: &[HostId],
    now_unix_ms: f64,
    offset_ms: impl Fn(HostId) -> f64,
    database_cpus: impl Fn(HostId) -> f64,
) -> Vec<(HostId, TrialTask)> {
    let clients = hosts.len() as u32;
    let before_ms = HEAD_START_MS;
    let task = |(client, number): (HostId, u32)| {
        let shape = TrialShape {
            operations: whole.shape.operations.map(|n| part_of(n, number, clients).max(1)),
            ..whole.shape
        };
        let task = TrialTask {
            load: whole.load.part(number, clients),
            shape,
            // Far from the seeds of other blocks, which are the next numbers.
            seed: whole.seed.wrapping_add(u64::from(number) << 32),
            number,
            clients,
            begin_unix_ms: (clients > 1).then(|| now_unix_ms + before_ms + offset_ms(client)),
            database_cpus: database_cpus(client),
            ..whole.clone()
        };
        (client, task)
    };
    hosts.iter().copied().zip(0..).map(task).collect()
}

/// What the clients of a trial measured together.
#[derive(Debug, Clone, Default)]
pub(super) struct Measured {
    /// The sum of all.
    pub result: Option<ClientResult>,
    /// Each one's own, where there are several.
    pub parts: BTreeMap<HostId, ClientPart>,
    /// Latencies of all; histograms are added, which is exact.
    pub intervals: Vec<Interval>,
    /// The first client's wall clock at the start of its measurement, Unix milliseconds.
    pub started_unix_ms: i64,
    /// What reading back acknowledged writes found: each client has looked for its own.
    pub writes: Option<WriteCheck>,
    /// Of the clients' hosts.
    pub samples: BTreeMap<HostId, Vec<HostSample>>,
}

impl Measured {
    /// Puts together what each client measured. Errors: a histogram that cannot be read.
    pub fn of(
        results: BTreeMap<HostId, (TrialResult, TrialPiece)>,
        offset_ms: impl Fn(HostId) -> f64,
    ) -> Result<Option<Self>, String> {
        let by_controller =
            |client: &HostId, result: &TrialResult| result.measurement_started_unix_ms as f64 - offset_ms(*client);
        let Some((first, (of_first, _))) = results.first_key_value() else { return Ok(None) };
        let began = by_controller(first, of_first);
        let mut measured = Self::starting_at(of_first.measurement_started_unix_ms);
        let several = results.len() > 1;
        let mut merged: BTreeMap<(i64, Series), Interval> = BTreeMap::new();
        for (client, (result, pieces)) in results {
            if several {
                let part = ClientPart {
                    started_after_ms: by_controller(&client, &result) - began,
                    result: result.result.clone(),
                };
                measured.parts.insert(client, part);
            }
            for interval in &pieces.intervals {
                let interval = wire::from_wire(interval)?;
                if !several {
                    measured.intervals.push(interval);
                    continue;
                }
                // All begin at the same moment, so that seconds are the same seconds.
                let key = (interval.start_s.round() as i64, interval.series);
                let add = |there: &mut Interval| {
                    there.length_s = there.length_s.max(interval.length_s);
                    add_counts(&mut there.histogram, &interval.histogram);
                };
                merged.entry(key).and_modify(add).or_insert(interval);
            }
            measured.samples.insert(client, pieces.samples);
            measured.writes = match (measured.writes.take(), result.writes) {
                (Some(before), Some(own)) => Some(before.and(own)),
                (before, own) => before.or(own),
            };
            measured.result = Some(match measured.result.take() {
                None => result.result,
                Some(before) => sum(before, result.result),
            });
        }
        measured.intervals.extend(merged.into_values());
        Ok(Some(measured))
    }

    /// Nothing measured yet, from this moment of the first client's clock on.
    pub fn starting_at(started_unix_ms: i64) -> Self {
        Self { started_unix_ms, ..Self::default() }
    }
}

/// Both together: counts and CPU time are added; times are those of the longer one, send lag that of the worse one.
fn sum(a: ClientResult, b: ClientResult) -> ClientResult {
    let mut completed = a.completed;
    for (kind, count) in b.completed {
        *completed.entry(kind).or_default() += count;
    }
    let mut errors = a.errors;
    for (kind, count) in b.errors {
        *errors.entry(kind).or_default() += count;
    }
    let worse =
        |a: SendLag, b: SendLag| SendLag { p50: a.p50.max(b.p50), p99: a.p99.max(b.p99), max: a.max.max(b.max) };
    ClientResult {
        warmup_s: a.warmup_s.max(b.warmup_s),
        measured_s: a.measured_s.max(b.measured_s),
        operations_sent: a.operations_sent + b.operations_sent,
        completed,
        errors,
        client_cpu_s: a.client_cpu_s + b.client_cpu_s,
        client_peak_rss_bytes: a.client_peak_rss_bytes.max(b.client_peak_rss_bytes),
        send_lag_us: match (a.send_lag_us, b.send_lag_us) {
            (Some(a), Some(b)) => Some(worse(a, b)),
            (a, b) => a.or(b),
        },
        threads: a.threads + b.threads,
        notes: a.notes.into_iter().chain(b.notes).collect::<BTreeSet<_>>().into_iter().collect(),
        // That of the first client, where both have one.
        first_errors: b.first_errors.into_iter().chain(a.first_errors).collect(),
        imported: None,
    }
}

#[cfg(test)]
mod tests {
    use evidence::{LostValue, OperationKind};
    use experiment::{Arrivals, LoadLevel, PlannedTrial};

    use super::super::database::{parts, task};
    use super::super::state::TrialState;
    use super::*;
    use crate::target::Target;

    fn whole(load: LoadLevel) -> TrialTask {
        let job = experiment::testing::small_job("operations = 1_000\nseed = 7\n");
        let cell = job.plan.cells[0].id.clone();
        let target = Target::of(&job.plan).unwrap();
        let planned = PlannedTrial { block: 0, cell };
        let whole = task(parts(&job, &planned).unwrap(), &target, &TrialState::new());
        TrialTask { load, ..whole }
    }

    #[test]
    fn parts_of_a_load_add_up_to_it_and_begin_together() {
        let tasks_of = |load, clients| {
            let clients: Vec<HostId> = (0..clients).map(HostId::client).collect();
            tasks(&whole(load), &clients, 1e6, |client| f64::from(client.index) * 250.0, |_| 0.0)
        };
        let three = tasks_of(LoadLevel::Concurrency(32), 3);
        let parts: Vec<LoadLevel> = three.iter().map(|(_, task)| task.load).collect();
        assert_eq!(parts, [11, 11, 10].map(LoadLevel::Concurrency));
        let operations: Vec<u64> = three.iter().filter_map(|(_, task)| task.shape.operations).collect();
        assert_eq!(operations, [334, 333, 333]);
        // A clock that is ahead shows more at the same moment.
        let begin: Vec<f64> = three.iter().filter_map(|(_, task)| task.begin_unix_ms).collect();
        assert_eq!(begin, [1_003_000.0, 1_003_250.0, 1_003_500.0]);
        let mut seeds: Vec<u64> = three.iter().map(|(_, task)| task.seed).collect();
        seeds.dedup();
        assert_eq!((seeds.len(), seeds[0]), (3, 7));

        let rate = LoadLevel::Rate { operations_per_s: 900.0, arrivals: Arrivals::Poisson };
        for (_, task) in tasks_of(rate, 3) {
            assert!(matches!(task.load, LoadLevel::Rate { operations_per_s, .. } if operations_per_s == 300.0));
        }
        // One client is not kept waiting.
        let one = tasks_of(LoadLevel::Concurrency(32), 1);
        assert_eq!((one[0].1.begin_unix_ms, one[0].1.load), (None, LoadLevel::Concurrency(32)));
    }

    fn lost(acknowledged: i64) -> LostValue {
        LostValue { key: "user1".to_owned(), field: 0, acknowledged, found: None }
    }

    #[test]
    fn what_several_clients_measured_is_added_exactly() {
        let histogram = |latencies: &[u64]| {
            let mut histogram = evidence::empty_histogram();
            latencies.iter().for_each(|us| histogram.record(*us).unwrap());
            histogram
        };
        // Each has lost all that it wrote.
        let writes = |written: &[u64]| WriteCheck {
            consistency: experiment::Consistency::One,
            acknowledged: written.len() as u64,
            unacknowledged: 1,
            values: written.len() as u64,
            intact: 0,
            older: written.len() as u64,
            missing: 0,
            foreign: 0,
            unreadable: 0,
            seconds: 2.0,
            examples: written.iter().map(|micros| lost(*micros as i64)).collect(),
        };
        let result = |latencies: &[u64], started_ms, lag| {
            let result = ClientResult {
                warmup_s: 1.0,
                measured_s: 10.0,
                operations_sent: latencies.len() as u64,
                completed: BTreeMap::from([(OperationKind::Read, latencies.len() as u64)]),
                client_cpu_s: 0.5,
                client_peak_rss_bytes: 100,
                send_lag_us: Some(SendLag { p50: 1, p99: lag, max: lag }),
                threads: 2,
                ..ClientResult::default()
            };
            let interval = Interval {
                series: Series::Response(OperationKind::Read),
                start_s: 0.0,
                length_s: 1.0,
                histogram: histogram(latencies),
            };
            let writes = Some(writes(latencies));
            let piece = TrialPiece { intervals: vec![wire::to_wire(&interval)], samples: Vec::new() };
            (TrialResult { result, measurement_started_unix_ms: started_ms, writes }, piece)
        };
        let results = BTreeMap::from([
            (HostId::CLIENT, result(&[100, 300], 5_000, 30)),
            (HostId::client(1), result(&[200], 6_040, 90)),
        ]);
        // The second clock is a second ahead: its client began 40 ms later.
        let offset = |client: HostId| f64::from(client.index) * 1_000.0;
        let measured = Measured::of(results, offset).unwrap().unwrap();
        let sum = measured.result.unwrap();
        assert_eq!((sum.operations_sent, sum.completed[&OperationKind::Read]), (3, 3));
        assert_eq!((sum.threads, sum.client_cpu_s, sum.measured_s), (4, 1.0, 10.0));
        assert_eq!(sum.send_lag_us.unwrap().p99, 90, "of the worse one");
        assert_eq!(measured.intervals.len(), 1);
        assert_eq!(measured.intervals[0].histogram, histogram(&[100, 200, 300]));
        assert_eq!(measured.parts[&HostId::client(1)].started_after_ms, 40.0);
        assert_eq!(measured.parts.len(), 2);
        let found = measured.writes.unwrap();
        assert_eq!((found.acknowledged, found.unacknowledged, found.lost()), (3, 2, 3));
        assert_eq!((found.values, found.seconds), (3, 2.0));
        let first: Vec<i64> = found.examples.iter().map(|lost| lost.acknowledged).collect();
        assert_eq!(first, [100, 200, 300], "in the order in which they were written");

        let alone = BTreeMap::from([(HostId::CLIENT, result(&[100], 5_000, 30))]);
        let alone = Measured::of(alone, offset).unwrap().unwrap();
        assert!(alone.parts.is_empty(), "one client is no part of anything");
    }
}
