//! What one read and one write of a replica ask of each resource, and how many a node can do.

use analysis::LimitKind;
use experiment::{IoLimits, VolumeSetup};

use super::document::{Demand, Utilisation};
use super::observation::{Observation, Work};
use super::sstables;

/// Without a cell that was bounded by CPU: waiting threads always leave a little of a CPU idle (practice).
const USUAL_CPU_REACH: f64 = 0.9;
/// Mixes count as different when their read shares differ by this much.
const DIFFERENT_MIXES: f64 = 0.1;
/// What is done once for an operation is distinguished from what each replica does where one cell asks this many times
/// the replicas of another for an operation of the client (practice).
const UNLIKE_REPLICAS: f64 = 1.4;
/// Shares that are tried for what is done once.
const SHARES: u32 = 100;
/// Below this share of missing reads a cell says nothing about reads of the device.
const FEW_MISSES: f64 = 0.02;

/// What one machine offers. Limits that do not exist are infinite. EBS counts reads and writes together, local disks
/// and emulated volumes apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Machine {
    pub cpus: f64,
    pub read_iops: f64,
    pub write_iops: f64,
    pub all_iops: f64,
    pub read_bytes_per_s: f64,
    pub write_bytes_per_s: f64,
    pub all_bytes_per_s: f64,
    pub network_bytes_per_s: f64,
    /// Limits of a commit log on a volume of its own; without one the log is written to the same volumes as the data.
    pub log: Option<(f64, f64)>,
}

impl Machine {
    pub const UNLIMITED: Self = Self {
        cpus: f64::INFINITY,
        read_iops: f64::INFINITY,
        write_iops: f64::INFINITY,
        all_iops: f64::INFINITY,
        read_bytes_per_s: f64::INFINITY,
        write_bytes_per_s: f64::INFINITY,
        all_bytes_per_s: f64::INFINITY,
        network_bytes_per_s: f64::INFINITY,
        log: None,
    };

    /// Reads and writes limited apart; CPUs and network without limits.
    pub fn apart(limits: &IoLimits) -> Self {
        Self {
            read_iops: or_none(limits.read_iops),
            write_iops: or_none(limits.write_iops),
            read_bytes_per_s: or_none(limits.read_bytes_per_s),
            write_bytes_per_s: or_none(limits.write_bytes_per_s),
            ..Self::UNLIMITED
        }
    }

    /// The machine on which a cell was measured.
    fn of(observation: &Observation<'_>) -> Self {
        let data = &observation.setup.data;
        let mut limits = data.limits;
        if let (LimitKind::BurstSpent, Some(bucket)) = (observation.limit, data.burst) {
            limits.read_iops = Some(bucket.baseline_iops);
            limits.write_iops = Some(bucket.baseline_iops);
        }
        let log = |log: &VolumeSetup| (or_none(log.limits.write_iops), or_none(log.limits.write_bytes_per_s));
        Self {
            cpus: observation.setup.cpus,
            log: observation.setup.commitlog.as_ref().map(log),
            ..Self::apart(&limits)
        }
    }
}

/// A limit that does not exist is infinite.
fn or_none(limit: Option<f64>) -> f64 {
    limit.unwrap_or(f64::INFINITY)
}

impl Demand {
    /// Fits all observations; `None` without any.
    pub(super) fn fit(observations: &[&Observation<'_>]) -> Option<Self> {
        if observations.is_empty() {
            return None;
        }
        let shares = observations.iter().map(|o| o.read_share());
        let cpu_told_apart = shares.clone().fold(0.0, f64::max) - shares.fold(1.0, f64::min) >= DIFFERENT_MIXES;
        let coordinator_share = coordinator_share(observations, cpu_told_apart);
        let cpu = CpuCost::fit(observations, cpu_told_apart, coordinator_share)?;
        let (product, settings) = (observations[0].product, &observations[0].configuration.settings);
        let chunk_bytes = product.unit_bytes_of(settings);
        let sstables = sstables::by_mix(observations);
        let missing = |o: &Observation<'_>| o.work.reads * (1.0 - o.work.hit_ratio);
        // Each of the SSTables that a read merges is looked up in the page cache by itself.
        let looked_up = |o: &Observation<'_>| match sstables.is_empty() {
            true => missing(o),
            false => missing(o) * o.sstables_per_read.unwrap_or(1.0),
        };
        let rows: Vec<_> = observations
            .iter()
            .filter(|o| looked_up(o) >= FEW_MISSES)
            .map(|o| (looked_up(o), o.work.writes, o.device_reads))
            .collect();
        let (reads_per_miss, reads_per_write) = match (rows.is_empty(), cpu_told_apart) {
            (true, _) => (1.0, 0.0),
            (false, true) => two_parts(&rows),
            (false, false) => (stats::median(rows.iter().map(|(missing, _, reads)| reads / missing))?, 0.0),
        };
        let median = |figure: &dyn Fn(&Observation<'_>) -> Option<f64>| {
            stats::median(observations.iter().filter_map(|o| figure(o)))
        };
        let per_write = |figure: fn(&Observation<'_>) -> f64| {
            median(&move |o| (o.work.writes > 0.0).then(|| figure(o) / o.work.writes)).unwrap_or(0.0)
        };
        Some(Self {
            coordinator_share,
            read_cpu_us: cpu.read_us,
            write_cpu_us: cpu.write_us,
            cpu_told_apart,
            chunk_bytes,
            chunk_is_stated: (product.stated_unit_bytes)(settings).is_some(),
            reads_per_miss,
            misses_measured: !rows.is_empty(),
            reads_per_write,
            read_request_bytes: median(&|o| o.read_request_bytes).unwrap_or(chunk_bytes),
            sstables,
            writes_per_write: per_write(|o| o.device_writes),
            bytes_per_write: per_write(|o| o.write_bytes),
            log_writes_per_write: per_write(|o| o.log_writes),
            log_bytes_per_write: per_write(|o| o.log_bytes),
            cpu_reach: median(&|o| (o.limit == LimitKind::Cpu).then(|| o.cpus_used / o.setup.cpus))
                .unwrap_or(USUAL_CPU_REACH)
                .min(1.0),
        })
    }

    /// How much of each of a machine's resources some work takes (the utilisation law).
    pub(super) fn utilisation(&self, machine: &Machine, work: &Work) -> Utilisation {
        let read_share = work.reads / (work.reads + work.writes);
        let looked_up = work.reads * sstables::at(&self.sstables, read_share).unwrap_or(1.0);
        let reads = looked_up * (1.0 - work.hit_ratio) * self.reads_per_miss + work.writes * self.reads_per_write;
        let (mut writes, mut written) = (work.writes * self.writes_per_write, work.writes * self.bytes_per_write);
        let log_writes = work.writes * self.log_writes_per_write;
        let log_bytes = work.writes * self.log_bytes_per_write;
        let commit_log = machine.log.map_or(0.0, |(iops, bytes)| (log_writes / iops).max(log_bytes / bytes));
        if machine.log.is_none() {
            writes += log_writes;
            written += log_bytes;
        }
        let read = reads * self.read_request_bytes;
        Utilisation {
            cpu: (charged(self.coordinator_share, work.client_reads, work.reads) * self.read_cpu_us
                + charged(self.coordinator_share, work.client_writes, work.writes) * self.write_cpu_us)
                / 1e6
                / (machine.cpus * self.cpu_reach),
            iops: (reads / machine.read_iops).max(writes / machine.write_iops).max((reads + writes) / machine.all_iops),
            throughput: (read / machine.read_bytes_per_s)
                .max(written / machine.write_bytes_per_s)
                .max((read + written) / machine.all_bytes_per_s),
            commit_log,
            // A replica receives or sends each record once, and the client's copy passes through one of the replicas.
            network: 2.0 * (work.reads + work.writes) * work.record_bytes / machine.network_bytes_per_s,
            device_iops: reads + writes,
            device_bytes_per_s: read + written,
        }
    }

    /// The most operations per second of the cell's mix on the machine that ran it.
    pub(super) fn capacity_of(&self, observation: &Observation<'_>) -> f64 {
        1.0 / self.utilisation(&Machine::of(observation), &observation.work).busiest().1
    }
}

/// CPU time of whole operations of one replica, microseconds.
#[derive(Debug, Clone, Copy)]
struct CpuCost {
    read_us: f64,
    write_us: f64,
    /// Mean of the squared relative errors over the cells.
    error: f64,
}

impl CpuCost {
    /// Fits the cells, `share` of an operation being done once.
    fn fit(observations: &[&Observation<'_>], told_apart: bool, share: Option<f64>) -> Option<Self> {
        let row = |o: &&Observation<'_>| {
            let Work { reads, writes, client_reads, client_writes, .. } = o.work;
            let us = o.cpus_used / o.throughput * 1e6;
            (charged(share, client_reads, reads), charged(share, client_writes, writes), us)
        };
        let rows: Vec<(f64, f64, f64)> = observations.iter().map(row).collect();
        let (read_us, write_us) = if told_apart {
            two_parts(&rows)
        } else {
            let both = stats::median(rows.iter().map(|(reads, writes, cpu)| cpu / (reads + writes)))?;
            (both, both)
        };
        let off = |(reads, writes, cpu): &(f64, f64, f64)| ((read_us * reads + write_us * writes) / cpu - 1.0).powi(2);
        let error = stats::ratio(rows.iter().map(off).sum(), rows.len() as f64)?;
        Some(Self { read_us, write_us, error })
    }
}

/// What is charged to a node: what is done once for each of the operations that it coordinates, and the rest for each
/// replica.
fn charged(share: Option<f64>, coordinated: f64, replicas: f64) -> f64 {
    let once = share.unwrap_or(0.0);
    once * coordinated + (1.0 - once) * replicas
}

/// The share of an operation's CPU time that is used once: that with which the costs of reads and writes explain all
/// cells best. `None` where no two cells ask unlike numbers of replicas for the same kind of operation.
fn coordinator_share(observations: &[&Observation<'_>], told_apart: bool) -> Option<f64> {
    type Part = fn(&Observation<'_>) -> (f64, f64);
    let parts: [Part; 2] = [|o| (o.work.client_reads, o.work.reads), |o| (o.work.client_writes, o.work.writes)];
    let is_unlike = |part: &Part| {
        let asked = observations.iter().map(|o| part(o)).filter(|(client, _)| *client > 0.0);
        let asked: Vec<f64> = asked.map(|(client, replicas)| replicas / client).collect();
        let most = asked.iter().copied().fold(0.0, f64::max);
        let least = asked.iter().copied().fold(f64::INFINITY, f64::min);
        most >= UNLIKE_REPLICAS * least
    };
    if !parts.iter().any(is_unlike) {
        return None;
    }
    let tried = (0..=SHARES).map(|i| f64::from(i) / f64::from(SHARES));
    let fitted = tried.filter_map(|share| Some((share, CpuCost::fit(observations, told_apart, Some(share))?.error)));
    fitted.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(share, _)| share)
}

/// `x` and `y`, both at least 0, with the least sum of squared relative errors of `a x + b y` against `c` over rows (a,
/// b, c).
fn two_parts(rows: &[(f64, f64, f64)]) -> (f64, f64) {
    let rows: Vec<(f64, f64)> = rows.iter().filter(|row| row.2 > 0.0).map(|(a, b, c)| (a / c, b / c)).collect();
    let sum = |term: &dyn Fn(&(f64, f64)) -> f64| rows.iter().map(term).sum::<f64>();
    let (aa, ab, bb) = (sum(&|r| r.0 * r.0), sum(&|r| r.0 * r.1), sum(&|r| r.1 * r.1));
    let (a, b) = (sum(&|r| r.0), sum(&|r| r.1));
    let alone = |square: f64, plain: f64| if square > 0.0 { plain / square } else { 0.0 };
    let determinant = aa * bb - ab * ab;
    if determinant > 1e-9 * aa * bb {
        let (x, y) = ((a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant);
        if x >= 0.0 && y >= 0.0 {
            return (x, y);
        }
    }
    // On the edge: whichever part alone fits better.
    let (x, y) = (alone(aa, a), alone(bb, b));
    let error = |x: f64, y: f64| sum(&|r| (r.0 * x + r.1 * y - 1.0).powi(2));
    if error(x, 0.0) <= error(0.0, y) { (x, 0.0) } else { (0.0, y) }
}

/// Cells that are predicted from the others, each with predicted / measured - 1: those of a configuration from all
/// other configurations, in whichever run, or, with a single configuration, each cell from the other cells; and whether
/// whole configurations were held out.
pub(super) fn held_out(observations: &[Observation<'_>]) -> (Vec<(String, f64)>, bool) {
    let by_configuration = observations.iter().any(|o| !o.is_like(&observations[0]));
    let errors = observations
        .iter()
        .enumerate()
        .filter(|(_, held)| held.is_capacity())
        .filter_map(|(at, held)| {
            let others: Vec<&Observation<'_>> = observations
                .iter()
                .enumerate()
                .filter(|(other, o)| if by_configuration { !o.is_like(held) } else { *other != at })
                .map(|(_, o)| o)
                .collect();
            let predicted = Demand::fit(&others)?.capacity_of(held);
            Some((held.name.clone(), predicted / held.throughput - 1.0))
        })
        .collect();
    (errors, by_configuration)
}

#[cfg(test)]
mod tests {
    use super::{Machine, Work, two_parts};
    use crate::document::{Demand, SstablesOfMix};

    /// A read that goes through three SSTables is looked up three times, and as much of each misses.
    #[test]
    fn device_reads_grow_with_the_sstables_of_the_mix() {
        let mix = |read_share, per_read| SstablesOfMix { read_share, per_read };
        let mut demand = Demand {
            read_cpu_us: 100.0,
            write_cpu_us: 100.0,
            cpu_told_apart: true,
            chunk_bytes: 4096.0,
            chunk_is_stated: true,
            reads_per_miss: 1.5,
            misses_measured: true,
            read_request_bytes: 4096.0,
            cpu_reach: 0.9,
            ..Demand::default()
        };
        let reads_of = |demand: &Demand, reads: f64, writes: f64| {
            let work = Work {
                reads,
                writes,
                client_reads: reads,
                client_writes: writes,
                hit_ratio: 0.6,
                record_bytes: 1000.0,
            };
            let used = demand.utilisation(&Machine::UNLIMITED, &work);
            assert!((used.device_bytes_per_s - 4096.0 * used.device_iops).abs() < 1e-6);
            used.device_iops
        };
        let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-6, "{value}, not {expected}");
        near(reads_of(&demand, 800.0, 200.0), 800.0 * 0.4 * 1.5);
        demand.sstables = vec![mix(0.2, 3.0), mix(0.8, 1.0)];
        near(reads_of(&demand, 800.0, 200.0), 800.0 * 0.4 * 1.5);
        near(reads_of(&demand, 200.0, 800.0), 200.0 * 0.4 * 1.5 * 3.0);
        near(reads_of(&demand, 500.0, 500.0), 500.0 * 0.4 * 1.5 * 2.0);
        near(reads_of(&demand, 0.0, 1000.0), 0.0);
    }

    /// A read at QUORUM of three: 100 us of which 60 are used once, and 40 by each of two replicas.
    #[test]
    fn what_is_done_once_is_charged_once() {
        let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
        near(100.0 * super::charged(Some(0.6), 1.0, 2.0), 140.0);
        near(100.0 * super::charged(None, 1.0, 2.0), 200.0);
        near(100.0 * super::charged(Some(0.6), 1.0, 1.0), 100.0);
    }

    #[test]
    fn two_parts_are_found_and_never_negative() {
        let rows: Vec<_> =
            [(0.8, 0.2), (0.5, 0.5), (0.2, 0.8)].iter().map(|(a, b)| (*a, *b, 150.0 * a + 100.0 * b)).collect();
        let (x, y) = two_parts(&rows);
        assert!((x - 150.0).abs() < 1e-6 && (y - 100.0).abs() < 1e-6, "{x} {y}");
        // More writes, less cost: the best that can be is that they are free.
        let odd: Vec<_> = rows.iter().map(|(a, b, _)| (*a, *b, 150.0 * a - 20.0 * b)).collect();
        let (x, y) = two_parts(&odd);
        assert!(x > 0.0 && y == 0.0, "{x} {y}");
        assert_eq!(two_parts(&[]), (0.0, 0.0));
    }
}
