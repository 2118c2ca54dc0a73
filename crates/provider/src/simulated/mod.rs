//! A simulated database with known truth: the same evidence as a real trial, in simulated time.
//!
//! Nothing here is random but by its seed, and nothing is measured: [`spec::Truth`] says what is true, this makes the histograms and the
//! host samples that such a machine would leave, and tests ask whether the analysis finds the truth again.
//!
//! ```text
//! Truth + Plan -> Simulation -> trial by trial: record, latency intervals, host samples
//!                  page cache (Che)   server (queueing, second by second)   latency (log-normal)   host (counters)
//! ```

mod host;
mod latency;
mod noise;
mod server;

use std::collections::BTreeMap;

use evidence::{
    ClientResult, DatabaseFacts, ErrorKind, FORMAT_VERSION, HostSample, Interval, OperationKind, ProbeResult, SendLag,
    Series, TrialRecord, Validity, VolumeFacts,
};
use spec::{Cell, Definition, Fault, FaultKind, LoadLevel, PageCache, Plan, PlannedTrial, Setup, Truth, VolumeSetup};

use host::Counters;
use latency::Spread;
use noise::Noise;
use server::{Demand, Server, Step};

/// Bytes on disk for each byte of payload: keys, timestamps, index, bloom filter (measured on usertable with 10 x 100 B).
const ON_DISK: f64 = 1.15;
/// Seconds from one trial's start to the next, besides warm-up and measurement, on the simulated calendar.
const BETWEEN_TRIALS_S: f64 = 15.0;

/// What one trial leaves.
#[derive(Debug, Clone)]
pub struct SimulatedTrial {
    /// `trial.json`.
    pub record: TrialRecord,
    /// `latency.hlog`.
    pub intervals: Vec<Interval>,
    /// `host-<role>.parquet`, by role.
    pub samples: BTreeMap<String, Vec<HostSample>>,
}

/// A plan with its truth; the page cache's tables are solved once.
pub struct Simulation<'a> {
    plan: &'a Plan,
    truth: &'a Truth,
    caches: BTreeMap<&'a str, PageCache>,
}

impl<'a> Simulation<'a> {
    /// Prepares all workloads of a plan.
    pub fn new(plan: &'a Plan, truth: &'a Truth) -> Self {
        let dataset = &plan.dataset;
        let cache = |w: &'a Definition| {
            let cache = PageCache::new(
                w.distribution,
                dataset.records,
                dataset.record_bytes(),
                truth.chunk_bytes,
            );
            (w.name.as_str(), cache)
        };
        Self {
            plan,
            truth,
            caches: plan.workloads.iter().map(cache).collect(),
        }
    }

    /// Simulates a planned trial; the same plan, truth and trial give the same evidence. `None` when the plan has no such cell.
    pub fn trial(&self, planned: &PlannedTrial) -> Option<SimulatedTrial> {
        let plan = self.plan;
        let cell = plan.cells.iter().find(|c| c.id == planned.cell)?;
        let setup = plan.setups.iter().find(|s| s.configuration == cell.configuration)?;
        let workload = plan.workloads.iter().find(|w| w.name == cell.workload)?;
        let cache = self.caches.get(workload.name.as_str())?;
        let faults = |kind: FaultKind| {
            let meant = |f: &&Fault| {
                f.kind == kind
                    && f.configuration.as_ref().is_none_or(|c| *c == cell.configuration)
                    && (f.blocks.is_empty() || f.blocks.contains(&planned.block))
            };
            let fault = self.truth.fault.iter().find(meant)?;
            Some(fault.amount.unwrap_or_else(|| default_amount(kind)))
        };
        let data_bytes = plan.dataset.payload_bytes() as f64
            * (1.0 - plan.dataset.compressibility)
            * ON_DISK
            * faults(FaultKind::SmallDataset).unwrap_or(1.0);
        let demand = demand(workload, plan);
        let server = Server::new(self.truth, setup, cache, demand, cell.load, &faults, data_bytes);
        let position = plan.trials.iter().position(|t| t == planned).unwrap_or(0);
        Trial {
            plan,
            truth: self.truth,
            cell,
            setup,
            workload,
            planned,
            faults: &faults,
            data_bytes,
            started_unix_s: started_unix_s(plan, position),
        }
        .run(server)
        .into()
    }
}

/// What a kind's amount is where the file does not say.
fn default_amount(kind: FaultKind) -> f64 {
    match kind {
        FaultKind::Stall => 2.0,
        FaultKind::SlowDisk | FaultKind::Drift | FaultKind::SmallDataset | FaultKind::LostLatencies => 0.5,
        FaultKind::SaturatedClient => 100.0,
        FaultKind::Steal => 0.1,
        FaultKind::Throttle | FaultKind::CompactionDebt => 0.2,
        FaultKind::GarbageCollection => 0.3,
        FaultKind::Errors => 0.01,
        FaultKind::NotFound => 0.001,
        FaultKind::ServedFromMemory | FaultKind::Restart => 1.0,
        FaultKind::DroppedMessages => 5.0,
        FaultKind::Retransmits => 0.02,
        FaultKind::SendLag => 20.0,
        FaultKind::FewerInFlight => 0.8,
    }
}

fn demand(workload: &Definition, plan: &Plan) -> Demand {
    let share = |kind| workload.mix.share(kind);
    use OperationKind::{Insert, ReadModifyWrite, Update};
    let row = plan.dataset.record_bytes();
    let updated = if workload.write_all_fields {
        row
    } else {
        f64::from(plan.dataset.field_length)
    };
    let updates = share(Update) + share(ReadModifyWrite);
    let writes = workload.mix.writes();
    Demand {
        reads: workload.mix.reads(),
        writes,
        write_bytes: if writes > 0.0 {
            (updates * updated + share(Insert) * row) / writes
        } else {
            0.0
        },
    }
}

/// One trial in the making.
struct Trial<'a> {
    plan: &'a Plan,
    truth: &'a Truth,
    cell: &'a Cell,
    setup: &'a Setup,
    workload: &'a Definition,
    planned: &'a PlannedTrial,
    faults: &'a dyn Fn(FaultKind) -> Option<f64>,
    data_bytes: f64,
    started_unix_s: f64,
}

/// What is summed over the measured seconds.
#[derive(Default)]
struct Sums {
    completed: BTreeMap<OperationKind, u64>,
    errors: BTreeMap<ErrorKind, u64>,
    client_cpu_s: f64,
    credits: Option<(f64, f64)>,
}

impl Trial<'_> {
    fn run(&self, mut server: Server<'_>) -> SimulatedTrial {
        let shape = &self.plan.shape;
        let (warmup_s, block) = (shape.warmup_s.floor(), self.planned.block.to_string());
        let seed = self.truth.seed ^ self.plan.seed.rotate_left(32);
        let shared = Noise::of(seed, &["block", &block]).factor(self.truth.block_noise);
        let own = Noise::of(seed, &["trial", &block, &self.cell.id]).factor(self.truth.run_noise);
        let planted = self.truth.speed.get(&self.cell.configuration).copied().unwrap_or(1.0);
        let mut by_second = Noise::of(seed, &["second", &block, &self.cell.id]);
        let mut spreads: BTreeMap<Series, Spread> = BTreeMap::new();
        let mut counters = Counters::new(self.truth, self.setup, self.faults, self.started_unix_s + warmup_s);
        let mut intervals = Vec::new();
        let mut sums = Sums::default();
        let mut samples: BTreeMap<String, Vec<HostSample>> = BTreeMap::new();
        let mut sample = |counters: &Counters<'_>, server: &Server<'_>, t_s: f64| {
            for (role, one) in counters.samples(server, t_s) {
                samples.entry(role).or_default().push(one);
            }
        };
        sample(&counters, &server, -warmup_s);
        let mut t = -warmup_s;
        let mut left = shape.operations.map(|n| n as f64);
        let measured_s = loop {
            let length = if t < 0.0 { 1.0 } else { (shape.duration_s - t).min(1.0) };
            if length <= 1e-9 || left.is_some_and(|n| n < 1.0) {
                break t;
            }
            let stall_at = (shape.duration_s / 2.0).floor();
            let stall = (self.faults)(FaultKind::Stall).unwrap_or(0.0);
            let stalled_s = (stall_at + stall - t).clamp(0.0, length) * f64::from(u8::from(t >= stall_at));
            let drift = (self.faults)(FaultKind::Drift).unwrap_or(0.0) * (1.0 - t / shape.duration_s).clamp(0.0, 1.0);
            let speed = shared * own * planted * (1.0 + drift) * by_second.factor(self.truth.second_noise);
            let arrivals = match self.cell.load {
                LoadLevel::Rate {
                    operations_per_s,
                    poisson,
                } => {
                    let expected = operations_per_s * length;
                    let noise = if poisson {
                        expected.sqrt() * by_second.normal()
                    } else {
                        0.0
                    };
                    (expected + noise).max(0.0)
                }
                LoadLevel::Concurrency(_) => 0.0,
            };
            let step = server.step(speed, length, stalled_s, arrivals);
            let recorded = self.record_step(&step, t, length, &mut spreads, &mut intervals, &mut sums);
            if t >= 0.0 {
                left = left.map(|n| n - recorded);
            }
            counters.add(&step, length, recorded, t);
            t += length;
            sample(&counters, &server, t);
            if t >= 0.0 {
                let end = server.credits.unwrap_or(0.0);
                sums.credits = server
                    .credits
                    .map(|_| (sums.credits.map_or(end, |(start, _)| start), end));
            }
        };
        SimulatedTrial {
            record: self.record(warmup_s, measured_s, sums),
            intervals,
            samples,
        }
    }

    /// Lays down the latencies of a step; returns the operations that it made.
    fn record_step(
        &self,
        step: &Step,
        t: f64,
        length: f64,
        spreads: &mut BTreeMap<Series, Spread>,
        intervals: &mut Vec<Interval>,
        sums: &mut Sums,
    ) -> f64 {
        let failing = (self.faults)(FaultKind::Errors).unwrap_or(0.0);
        let missing = (self.faults)(FaultKind::NotFound).unwrap_or(0.0);
        let lost = (self.faults)(FaultKind::LostLatencies).unwrap_or(1.0);
        let is_open = matches!(self.cell.load, LoadLevel::Rate { .. });
        let mut all = 0.0;
        let mut put = |series: Series, operations: f64, mean_us: f64| -> u64 {
            let mut histogram = latency::histogram();
            let mut n = spreads
                .entry(series)
                .or_insert_with(Spread::new)
                .record(&mut histogram, operations, mean_us);
            if let (Series::Response(_), Some((stalled, longer_us))) = (series, step.stalled) {
                // Those in flight when everything stood still: part of this second's operations.
                let share = (stalled / step.operations.max(1.0)).min(1.0);
                let late = ((operations * share) as u64).min(n);
                let mut moved = latency::histogram();
                let mut rest = Spread::new();
                n = rest.record(&mut moved, operations - late as f64, mean_us) + late;
                let _ = moved.record_n((longer_us + mean_us) as u64, late);
                histogram = moved;
            }
            if n > 0 {
                intervals.push(Interval {
                    series,
                    start_s: t,
                    length_s: length,
                    histogram,
                });
            }
            n
        };
        for kind in OperationKind::ALL {
            let share = self.workload.mix.share(kind);
            if share == 0.0 {
                continue;
            }
            let mean_us = match kind {
                OperationKind::Read | OperationKind::Scan => step.read_us,
                OperationKind::Update | OperationKind::Insert => step.write_us,
                OperationKind::ReadModifyWrite => step.read_us + step.write_us,
            };
            let reads = matches!(kind, OperationKind::Read | OperationKind::Scan);
            let absent = if reads { missing } else { 0.0 };
            let operations = step.operations * share;
            let succeeded = operations * (1.0 - failing - absent);
            let n = put(Series::Response(kind), succeeded * lost, mean_us);
            let counted = (n as f64 / lost).round() as u64;
            if is_open {
                put(Series::Service(kind), succeeded * lost, mean_us);
            }
            let mut errors = Vec::new();
            for (error, share) in [(ErrorKind::ReadTimeout, failing), (ErrorKind::NotFound, absent)] {
                if share > 0.0 {
                    errors.push((error, put(Series::Failed(error), operations * share, mean_us)));
                }
            }
            let failed: u64 = errors.iter().map(|(_, n)| n).sum();
            all += (counted + failed) as f64;
            if t >= 0.0 {
                *sums.completed.entry(kind).or_default() += counted;
                for (error, n) in errors {
                    *sums.errors.entry(error).or_default() += n;
                }
            }
        }
        if t >= 0.0 {
            let factor = (self.faults)(FaultKind::SaturatedClient).unwrap_or(1.0);
            sums.client_cpu_s += all * self.truth.client_cpu_us * factor / 1e6;
        }
        all
    }

    fn record(&self, warmup_s: f64, measured_s: f64, sums: Sums) -> TrialRecord {
        let sent = sums.completed.values().sum::<u64>() + sums.errors.values().sum::<u64>();
        let lag_ms = (self.faults)(FaultKind::SendLag);
        let is_open = matches!(self.cell.load, LoadLevel::Rate { .. });
        let lag = lag_ms.map_or(120, |ms| (ms * 1e3) as u64);
        let setup = self.setup;
        let volumes = std::iter::once(&setup.data).chain(&setup.commitlog);
        TrialRecord {
            format_version: FORMAT_VERSION,
            cell: self.cell.id.clone(),
            block: self.planned.block,
            configuration: self.cell.configuration.clone(),
            workload: self.cell.workload.clone(),
            load: self.cell.load,
            validity: Validity::Valid,
            started_at: rfc3339(self.started_unix_s),
            client: Some(ClientResult {
                warmup_s,
                measured_s,
                operations_sent: sent,
                completed: sums.completed,
                errors: sums.errors,
                client_cpu_s: sums.client_cpu_s,
                client_peak_rss_bytes: 12_000_000,
                send_lag_us: is_open.then_some(SendLag {
                    p50: 30,
                    p99: lag,
                    max: 2 * lag,
                }),
                threads: self.truth.client_threads,
            }),
            database: DatabaseFacts {
                cpus: setup.cpus,
                heap_bytes: setup.heap_bytes,
                memory_limit_bytes: setup.memory_limit_bytes,
                page_cache_budget_bytes: setup.page_cache_budget_bytes,
                data_bytes_on_disk: self.data_bytes as u64,
                restored_keys_checked: 0,
                volumes: volumes.map(|v| self.facts(v, sums.credits)).collect(),
            },
        }
    }

    /// A volume with what fio would measure: its limit, or what a slow disk makes of it.
    fn facts(&self, volume: &VolumeSetup, credits: Option<(f64, f64)>) -> VolumeFacts {
        let is_data = volume.role == spec::VolumeRole::Data;
        let slow = if is_data {
            (self.faults)(FaultKind::SlowDisk).unwrap_or(1.0)
        } else {
            1.0
        };
        let limits = volume.limits;
        let least = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).fold(f64::INFINITY, f64::min);
        let read_iops = least(limits.read_iops, limits.read_bytes_per_s.map(|b| b / 4096.0)) * slow;
        let write_bytes = least(limits.write_bytes_per_s, limits.write_iops.map(|i| i * 65_536.0)) * slow;
        let probe = (read_iops.is_finite() && write_bytes.is_finite()).then_some(ProbeResult {
            read_iops,
            read_latency_us: 32.0 / read_iops * 1e6,
            write_bytes_per_s: write_bytes,
            write_iops: write_bytes / 65_536.0,
            seconds: 3.0,
        });
        VolumeFacts {
            role: volume.role,
            label: volume.label.clone(),
            device: "simulated".to_owned(),
            limits,
            probe,
            burst_credits: credits.filter(|_| is_data),
        }
    }
}

/// The simulated calendar: trials one after another from 2000-01-01, so that the same plan gives the same bytes.
fn started_unix_s(plan: &Plan, position: usize) -> f64 {
    const YEAR_2000: f64 = 946_684_800.0;
    let each = plan.shape.warmup_s + plan.shape.duration_s + BETWEEN_TRIALS_S;
    YEAR_2000 + (position as f64 * each).floor()
}

/// UTC in RFC 3339; days to a date by Hinnant's algorithm (chrono-Compatible Low-Level Date Algorithms, 2013).
fn rfc3339(unix_s: f64) -> String {
    let whole = unix_s as i64;
    let (days, second) = (whole.div_euclid(86_400), whole.rem_euclid(86_400));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 {
        month_index + 3
    } else {
        month_index - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn dates_of_the_simulated_calendar() {
        assert_eq!(rfc3339(946_684_800.0), "2000-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_868_799.0), "2000-02-29T23:59:59Z");
        assert_eq!(rfc3339(1_767_323_045.0), "2026-01-02T03:04:05Z");
    }
}
