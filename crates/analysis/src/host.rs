//! What the database host showed in the measured window.
//!
//! Samples hold raw counters; rates are differences of counters between the samples nearest to the edges of the window,
//! divided by the time between those samples; counts are these rates over the whole window, because a sample may be
//! seconds late. A figure that is missing is `None`: missing is not zero.

use std::collections::BTreeMap;

use evidence::{HostFigures, HostSample, VolumeFigures};
use experiment::VolumeRole;
use reported::Meaning;
use reported::memcached::{CPU_S, HITS, MISSES};

use crate::ebs::EbsExceeded;
use crate::waking;
use crate::work::{DatabaseWork, shares};

/// Length of the windows in which "at its limit" is judged, seconds: longer than the throttle's 100 ms slices and than
/// a commit-log sync period, short enough to see work in the background come and go.
const WINDOW_S: f64 = 10.0;

/// The host of the database in the measured window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DatabaseHost {
    /// Activity of each volume.
    pub volumes: BTreeMap<VolumeRole, VolumeActivity>,
    /// Where there are several data volumes: each of them, in all measured seconds from the window's start on, planned
    /// faults included.
    pub members: BTreeMap<VolumeRole, VolumeActivity>,
    /// Page cache charged to the database at the end, bytes.
    pub page_cache_bytes: Option<f64>,
    /// By how much it grew in the window, bytes.
    pub page_cache_grew_bytes: Option<f64>,
    /// CPUs that the database used.
    pub cpus_used: Option<f64>,
    /// CPUs that everybody on the host used, the database included.
    pub busy_cpus: Option<f64>,
    /// The compilers' part of its CPU time; `None` where it has none, or they were not seen.
    pub compiler_share: Option<f64>,
    /// Reads of all data volumes so far, sample by sample: seconds from the start of measurement, requests.
    pub data_reads: Vec<(f64, f64)>,
    /// CPUs and pauses in windows of about 10 s; empty where the database's CPU time is not known.
    pub windows: Vec<HostWindow>,
    /// Share of the enforcement periods in which a CPU quota held the database back.
    pub cpu_throttled_share: Option<f64>,
    /// Share of the time in which some task of the host waited for a CPU (pressure stall information).
    pub cpu_pressure: Option<f64>,
    /// Share of the host's CPU time that the hypervisor took.
    pub steal_share: Option<f64>,
    /// The largest such share in windows of about 10 s.
    pub steal_share_worst: Option<f64>,
    /// Share of the window in which all of the database stood still, as its product reports it.
    pub pause_share: Option<f64>,
    /// A pause of the window that was the longest of the process so far, seconds; `None` when no record was broken.
    pub longest_pause_s: Option<f64>,
    /// Work in the background that waited or ran, means of the first and of the last tenth of the window.
    pub background_work: Option<(f64, f64)>,
    /// Bytes sent and received on all interfaces per second.
    pub network_bytes_per_s: Option<f64>,
    /// TCP segments sent again for each megabyte (10^6 bytes) sent.
    pub retransmits_per_mb: Option<f64>,
    /// How often the database process changed.
    pub restarts: Option<u64>,
    /// CPUs that caches in front of the database used, where they are watched on this host.
    pub cache_cpus_used: Option<f64>,
    /// Share of the records they were asked for that these did not have, from each sample to the next.
    pub cache_misses: Vec<f64>,
    /// What the database itself reported.
    pub work: DatabaseWork,
}

impl DatabaseHost {
    /// A figure summed over the data volumes; `None` when none was watched.
    pub fn sum_of_data(&self, figure: impl Fn(&VolumeActivity) -> f64) -> Option<f64> {
        let mut data = self.volumes.iter().filter(|(role, _)| role.is_data()).peekable();
        data.peek()?;
        Some(data.map(|(_, activity)| figure(activity)).sum())
    }

    /// A figure summed over all volumes; `None` when no volume was watched.
    pub fn sum_of_volumes(&self, figure: fn(&VolumeActivity) -> f64) -> Option<f64> {
        (!self.volumes.is_empty()).then(|| self.volumes.values().map(figure).sum())
    }
}

/// CPUs of the host and of the database in one window: CPU seconds per second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HostWindow {
    /// Used by the database.
    pub used: f64,
    /// Used by everybody on the host, the database included.
    pub host_busy: Option<f64>,
    /// Used by nobody, on the whole host.
    pub host_idle: Option<f64>,
    /// Taken by the hypervisor, on the whole host.
    pub stolen: Option<f64>,
    /// In which the database waited because of a CPU quota.
    pub throttled: Option<f64>,
    /// Share of the quota's periods in which it was reached.
    pub throttled_periods: Option<f64>,
    /// Share of the window in which all of the database stood still.
    pub pause_share: Option<f64>,
}

/// Requests and bytes of a volume in the measured window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VolumeActivity {
    /// Length of the window, seconds.
    pub seconds: f64,
    /// Read requests.
    pub reads: f64,
    /// Write requests.
    pub writes: f64,
    /// Bytes read.
    pub read_bytes: f64,
    /// Bytes written.
    pub write_bytes: f64,
    /// Time that these requests took, summed, seconds; of the kernel's clock for the device.
    pub wait_s: Option<f64>,
    /// Share of the time with at least one request under way; on a device that serves many at once 1 does not mean
    /// full.
    pub busy_share: Option<f64>,
    /// IOPS limit in force at the end, where a burst bucket moves it.
    pub iops_limit: Option<f64>,
    /// Credits of its burst bucket in the first sample of the window and in the last one, neither of which lies outside
    /// of it; `None` where nobody sees them.
    pub request_credits: Option<(f64, f64)>,
    /// The same of a bucket of bytes.
    pub byte_credits: Option<(f64, f64)>,
    /// Seconds between these two samples: up to a sample's interval at either end less than the window.
    pub credits_s: Option<f64>,
    /// When the limit that a burst bucket moves fell for the last time, and stayed there: its credits were spent.
    /// Seconds from the start of measurement.
    pub slowed_at_s: Option<f64>,
    /// Share of the time in which a served volume was slower than its model, because this machine's disk was; `None`
    /// where nobody serves it.
    pub disk_floor_share: Option<f64>,
    /// The same, for want of CPU.
    pub cpu_floor_share: Option<f64>,
    /// CPUs that the process used that serves it, with all other volumes of that process.
    pub server_cpus: Option<f64>,
    /// Rates in windows of about 10 s.
    pub windows: WindowRates,
}

/// Rates per second, one entry a window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WindowRates {
    /// Read requests per second.
    pub read_iops: Vec<f64>,
    /// Write requests per second.
    pub write_iops: Vec<f64>,
    /// Bytes read per second.
    pub read_bytes_per_s: Vec<f64>,
    /// Bytes written per second.
    pub write_bytes_per_s: Vec<f64>,
    /// IOPS limit that a burst bucket had in force, mean over the seconds of the window; empty where no bucket moves
    /// it.
    pub iops_limit: Vec<f64>,
    /// The same of bytes per second.
    pub bytes_limit: Vec<f64>,
    /// Credits of its burst bucket at the start less those at the end; empty where nobody sees them.
    pub credits_fell: Vec<f64>,
    /// The same of a bucket of bytes.
    pub byte_credits_fell: Vec<f64>,
    /// Time above its limits, as the volume counts it: one of Amazon EBS, or a served one; empty where none does.
    pub ebs_exceeded: Vec<EbsExceeded>,
}

impl VolumeActivity {
    /// Requests, read and written.
    pub fn requests(&self) -> f64 {
        self.reads + self.writes
    }

    /// Requests per second over the window, read and written.
    pub fn iops(&self) -> f64 {
        self.requests() / self.seconds
    }

    /// What a request took on average, seconds (`await` of iostat); `None` without requests, or where it is not known.
    pub fn await_s(&self) -> Option<f64> {
        stats::ratio(self.wait_s?, self.requests())
    }

    /// Read requests per second over the window.
    pub fn read_iops(&self) -> f64 {
        self.reads / self.seconds
    }

    /// Write requests per second over the window.
    pub fn write_iops(&self) -> f64 {
        self.writes / self.seconds
    }

    /// Bytes read per second over the window.
    pub fn read_bytes_per_s(&self) -> f64 {
        self.read_bytes / self.seconds
    }

    /// Bytes written per second over the window.
    pub fn write_bytes_per_s(&self) -> f64 {
        self.write_bytes / self.seconds
    }
}

/// Reduces the samples of the database host to the window from `from_s` to `to_s`, seconds from the start of
/// measurement.
pub fn database_host(samples: &[HostSample], from_s: f64, to_s: f64) -> DatabaseHost {
    let window = window(samples, from_s, to_s);
    let (Some(first), Some(last)) = (window.first(), window.last()) else { return DatabaseHost::default() };
    let seconds = last.t_s - first.t_s;
    let delta = |figure: Counter| between(first, last, figure);
    let per_second = |figure: Counter| delta(figure).and_then(|n| stats::ratio(n, seconds));
    let steal = |a: &HostSample, b: &HostSample| {
        let stolen = between(a, b, |h| h.cpu_steal_s)?;
        let busy = between(a, b, |h| h.cpu_user_s)? + between(a, b, |h| h.cpu_system_s)?;
        let idle = between(a, b, |h| h.cpu_idle_s)? + between(a, b, |h| h.cpu_iowait_s).unwrap_or(0.0);
        stats::ratio(stolen, busy + idle + stolen)
    };
    let steps = ten_second_steps(&window.iter().collect::<Vec<_>>());
    let length = to_s - from_s;
    let volumes: BTreeMap<VolumeRole, VolumeActivity> =
        VolumeRole::ALL.into_iter().filter_map(|role| Some((role, activity(window, role, (from_s, to_s))?))).collect();
    let data = volumes.iter().filter(|(role, _)| role.is_data());
    let several = data.clone().count() > 1;
    let work = DatabaseWork::of(window, length);
    let longest = work.meaning(Meaning::LongestPauseS);
    DatabaseHost {
        members: data.filter(|_| several).map(|(role, activity)| (*role, activity.clone())).collect(),
        volumes,
        page_cache_bytes: last.host.cgroup_file_bytes,
        page_cache_grew_bytes: delta(|h| h.cgroup_file_bytes),
        cpus_used: per_second(database_cpu_s),
        busy_cpus: per_second(|h| Some(h.cpu_user_s? + h.cpu_system_s?)),
        compiler_share: waking::compiler_share(window),
        data_reads: waking::data_reads(window),
        cpu_throttled_share: delta(|h| h.cgroup_throttled_periods)
            .zip(delta(|h| h.cgroup_periods))
            .and_then(|(throttled, all)| stats::ratio(throttled, all)),
        cpu_pressure: per_second(|h| h.pressure_cpu_some_s),
        windows: steps.iter().filter_map(|(a, b)| host_window(a, b)).collect(),
        steal_share: steal(first, last),
        steal_share_worst: steps.iter().filter_map(|(a, b)| steal(a, b)).max_by(f64::total_cmp),
        pause_share: work.meaning(Meaning::PausedS).grown().and_then(|paused_s| stats::ratio(paused_s, seconds)),
        longest_pause_s: longest.last.filter(|pause_s| longest.first.is_none_or(|before| *pause_s > before)),
        background_work: work.meaning(Meaning::BackgroundWork).ends,
        network_bytes_per_s: per_second(|h| h.network_sent_bytes)
            .zip(per_second(|h| h.network_received_bytes))
            .map(|(sent, received)| sent + received),
        retransmits_per_mb: delta(|h| h.tcp_retransmits)
            .zip(delta(|h| h.network_sent_bytes))
            .and_then(|(again, bytes)| stats::ratio(again, bytes / 1e6)),
        restarts: restarts(window),
        cache_cpus_used: work.total(&CPU_S).and_then(|cpu_s| stats::ratio(cpu_s, length)),
        cache_misses: shares(window, &MISSES, &HITS),
        work,
    }
}

type Counter = fn(&HostFigures) -> Option<f64>;

/// CPU time of the database: that of its cgroup; of its process where it has none of its own.
pub fn database_cpu_s(host: &HostFigures) -> Option<f64> {
    host.cgroup_cpu_s.or(host.process_cpu_s.filter(|_| host.database_pid.is_some()))
}

fn between(a: &HostSample, b: &HostSample, figure: Counter) -> Option<f64> {
    Some(figure(&b.host)? - figure(&a.host)?)
}

/// The host between two samples; `None` without the database's CPU time.
fn host_window(a: &HostSample, b: &HostSample) -> Option<HostWindow> {
    let seconds = b.t_s - a.t_s;
    let rate = |figure: Counter| between(a, b, figure).and_then(|n| stats::ratio(n, seconds));
    let sum = |one: Option<f64>, other: Option<f64>| Some(one? + other?);
    let paused = |sample: &HostSample| sample.database.meaning(Meaning::PausedS);
    Some(HostWindow {
        used: rate(database_cpu_s)?,
        host_busy: sum(rate(|h| h.cpu_user_s), rate(|h| h.cpu_system_s)),
        host_idle: rate(|h| h.cpu_idle_s).map(|idle| idle + rate(|h| h.cpu_iowait_s).unwrap_or(0.0)),
        stolen: rate(|h| h.cpu_steal_s),
        throttled: rate(|h| h.cgroup_throttled_s),
        throttled_periods: between(a, b, |h| h.cgroup_throttled_periods)
            .zip(between(a, b, |h| h.cgroup_periods))
            .and_then(|(throttled, all)| stats::ratio(throttled, all)),
        pause_share: paused(b).zip(paused(a)).and_then(|(after, before)| stats::ratio(after - before, seconds)),
    })
}

/// The samples from the one nearest to the start of the window to the one nearest to its end.
pub(crate) fn window(samples: &[HostSample], from_s: f64, to_s: f64) -> &[HostSample] {
    let nearest = |at: f64| {
        let distance = |i: &usize| (samples[*i].t_s - at).abs();
        (0..samples.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
    };
    match (nearest(from_s), nearest(to_s)) {
        (Some(first), Some(last)) if first < last => &samples[first..=last],
        _ => &[],
    }
}

/// Pairs of samples about [`WINDOW_S`] apart that cover the window; a rest shorter than half of that is left out: its
/// rates would be noise. Where that leaves nothing the whole is one window.
fn ten_second_steps<'s>(samples: &[&'s HostSample]) -> Vec<(&'s HostSample, &'s HostSample)> {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return Vec::new() };
    let mut steps = Vec::new();
    let mut start = *first;
    for sample in &samples[1..] {
        let length = sample.t_s - start.t_s;
        let is_rest = sample.t_s == last.t_s && length >= WINDOW_S / 2.0;
        if length >= WINDOW_S - 0.5 || is_rest {
            steps.push((start, *sample));
            start = sample;
        }
    }
    if steps.is_empty() && last.t_s > first.t_s {
        steps.push((*first, *last));
    }
    steps
}

/// What shows a bucket: the limit in force, its credits, and what was done against it between two samples.
struct Moved {
    limit: fn(&VolumeFigures) -> Option<f64>,
    credits: fn(&VolumeFigures) -> Option<f64>,
    done: fn(&VolumeFigures, &VolumeFigures) -> Option<f64>,
}

const OF_REQUESTS: Moved = Moved {
    limit: |v| v.iops_limit,
    credits: |v| v.burst_credits,
    done: |a, b| Some((b.reads? - a.reads?).max(b.writes? - a.writes?)),
};

const OF_BYTES: Moved = Moved {
    limit: |v| v.bytes_limit,
    credits: |v| v.byte_credits,
    done: |a, b| Some(b.read_bytes? - a.read_bytes? + b.write_bytes? - a.write_bytes?),
};

/// The limit that a burst bucket had in force between two samples, mean over their seconds; `None` where no bucket
/// moves it.
fn limit_in_force(samples: &[&HostSample], role: VolumeRole, of: &Moved) -> Option<f64> {
    let mut allowed = 0.0;
    for pair in samples.windows(2) {
        let (a, b) = (pair[0].volumes.get(&role)?, pair[1].volumes.get(&role)?);
        let seconds = pair[1].t_s - pair[0].t_s;
        let (before, after) = ((of.limit)(a)?, (of.limit)(b)?);
        let (low, high) = (before.min(after), before.max(after));
        // Where the limit moved in this second: the lower one and the credits that were left.
        let saved = (of.credits)(a).unwrap_or(0.0) / seconds;
        // What was done was possible, whatever the limit was when it was looked at.
        let done = (of.done)(a, b)? / seconds;
        allowed += (low + saved).clamp(low, high).max(done) * seconds;
    }
    stats::ratio(allowed, samples.last()?.t_s - samples.first()?.t_s)
}

/// By how much the credits of a bucket fell between two samples.
fn fell(from: &HostSample, to: &HostSample, role: VolumeRole, of: &Moved) -> Option<f64> {
    let credits = |sample: &HostSample| (of.credits)(sample.volumes.get(&role)?);
    Some(credits(from)? - credits(to)?)
}

/// When a limit that a bucket moves came to what it was at the end, where it had been higher before.
fn slowed_at(samples: &[&HostSample], role: VolumeRole, of: &Moved) -> Option<f64> {
    let limit = |sample: &HostSample| (of.limit)(sample.volumes.get(&role)?);
    let lasting = limit(samples.last()?)?;
    let is_higher = |sample: &&HostSample| limit(sample).is_some_and(|limit| limit > lasting);
    let before = samples.iter().rposition(is_higher)?;
    Some(samples.get(before + 1)?.t_s)
}

fn activity(window: &[HostSample], role: VolumeRole, (from_s, to_s): (f64, f64)) -> Option<VolumeActivity> {
    let length = to_s - from_s;
    // Samples without this volume's counters (a read of /proc that failed) are passed over.
    let known: Vec<&HostSample> =
        window.iter().filter(|s| s.volumes.get(&role).is_some_and(|v| counters(v).is_some())).collect();
    let between = |a: &HostSample, b: &HostSample| {
        let (a, b) = (counters(a.volumes.get(&role)?)?, counters(b.volumes.get(&role)?)?);
        Some(std::array::from_fn::<f64, 4, _>(|i| b[i] - a[i]))
    };
    let (first, last) = (known.first()?, known.last()?);
    let seconds = last.t_s - first.t_s;
    if seconds <= 0.0 {
        return None;
    }
    let [reads, writes, read_bytes, write_bytes] = between(first, last)?.map(|n| n / seconds * length);
    let mut windows = WindowRates::default();
    for (from, to) in ten_second_steps(&known) {
        let length = to.t_s - from.t_s;
        let rates = between(from, to)?.map(|n| n / length);
        windows.read_iops.push(rates[0]);
        windows.write_iops.push(rates[1]);
        windows.read_bytes_per_s.push(rates[2]);
        windows.write_bytes_per_s.push(rates[3]);
        let inside: Vec<&HostSample> = known.iter().copied().filter(|s| from.t_s <= s.t_s && s.t_s <= to.t_s).collect();
        windows.iops_limit.extend(limit_in_force(&inside, role, &OF_REQUESTS));
        windows.bytes_limit.extend(limit_in_force(&inside, role, &OF_BYTES));
        windows.credits_fell.extend(fell(from, to, role, &OF_REQUESTS));
        windows.byte_credits_fell.extend(fell(from, to, role, &OF_BYTES));
        windows.ebs_exceeded.extend(EbsExceeded::between(from, to, role));
    }
    // A window without a known limit, or without EBS's counters, would set these beside the wrong rates.
    for figures in
        [&mut windows.iops_limit, &mut windows.bytes_limit, &mut windows.credits_fell, &mut windows.byte_credits_fell]
    {
        if figures.len() < windows.read_iops.len() {
            figures.clear();
        }
    }
    if windows.ebs_exceeded.len() < windows.read_iops.len() {
        windows.ebs_exceeded.clear();
    }
    let (before, after) = (&first.volumes[&role], &last.volumes[&role]);
    let a_second = |figure: fn(&VolumeFigures) -> Option<f64>| Some((figure(after)? - figure(before)?) / seconds);
    // The nearest samples may lie before and behind the window: credits that were spent there are no matter of it.
    let inside = || known.iter().filter(move |s| from_s <= s.t_s && s.t_s <= to_s);
    let ends = inside().next().zip(inside().next_back()).filter(|(first, last)| last.t_s > first.t_s);
    let credits = |of: &Moved| {
        let (first, last) = ends?;
        (of.credits)(&first.volumes[&role]).zip((of.credits)(&last.volumes[&role]))
    };
    Some(VolumeActivity {
        seconds: length,
        reads,
        writes,
        read_bytes,
        write_bytes,
        wait_s: a_second(|v| Some(v.read_wait_s? + v.write_wait_s?)).map(|share| share * length),
        busy_share: a_second(|v| v.busy_s),
        iops_limit: after.iops_limit,
        request_credits: credits(&OF_REQUESTS),
        byte_credits: credits(&OF_BYTES),
        credits_s: ends.map(|(first, last)| last.t_s - first.t_s),
        slowed_at_s: [&OF_REQUESTS, &OF_BYTES].into_iter().find_map(|of| slowed_at(&known, role, of)),
        disk_floor_share: a_second(|v| v.disk_floor_s),
        cpu_floor_share: a_second(|v| v.cpu_floor_s),
        server_cpus: a_second(|v| v.server_cpu_s),
        windows,
    })
}

/// Read and write requests, bytes read and written.
fn counters(volume: &VolumeFigures) -> Option<[f64; 4]> {
    Some([volume.reads?, volume.writes?, volume.read_bytes?, volume.write_bytes?])
}

/// Changes of the process id of the database from sample to sample; `None` where it was never seen.
fn restarts(window: &[HostSample]) -> Option<u64> {
    let pids: Vec<f64> = window.iter().filter_map(|s| s.host.database_pid).collect();
    (!pids.is_empty()).then(|| pids.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64)
}

#[cfg(test)]
mod tests {
    use reported::{Reported, cassandra, jvm};

    use super::*;

    /// A second of the database host: 100 reads of 16 KiB and 10 writes of 64 KiB a second, half a CPU of two, 1 % in
    /// collection, 2 % stolen, a compaction more every 10 s.
    fn second(t: f64) -> HostSample {
        let host = HostFigures {
            cgroup_file_bytes: Some(1e6 + t),
            cgroup_cpu_s: Some(7.0 + 0.5 * t),
            database_pid: Some(if t < 45.0 { 4711.0 } else { 4712.0 }),
            cpu_user_s: Some(0.5 * t),
            cpu_system_s: Some(0.1 * t),
            cpu_idle_s: Some(1.36 * t),
            cpu_steal_s: Some(0.04 * t),
            ..HostFigures::default()
        };
        let database = Reported::from([
            (&jvm::GC_PAUSE_S, 0.2 + 0.01 * t),
            (&jvm::GC_LONGEST_PAUSE_S, if t < 20.0 { 0.1 } else { 0.7 }),
            (&cassandra::PENDING_COMPACTIONS, (t / 10.0).floor().max(0.0)),
        ]);
        let counter = |rate: f64| Some(5000.0 + rate * t);
        let data = VolumeFigures {
            reads: counter(100.0),
            writes: counter(10.0),
            read_bytes: counter(100.0 * 16_384.0),
            write_bytes: counter(10.0 * 65_536.0),
            busy_s: counter(0.9),
            ..VolumeFigures::default()
        };
        let volumes = BTreeMap::from([(VolumeRole::Data, data)]);
        HostSample { t_s: t, host, database, volumes, ..HostSample::default() }
    }

    #[test]
    fn a_database_without_a_cgroup_of_its_own_has_the_cpu_time_of_its_process() {
        let of_process = |is_database: bool| {
            let change = |t: f64| {
                let mut sample = second(t);
                (sample.host.cgroup_cpu_s, sample.host.process_cpu_s) = (None, Some(3.0 + 0.25 * t));
                sample.host.database_pid = sample.host.database_pid.filter(|_| is_database);
                sample
            };
            let samples: Vec<HostSample> = (0..41).map(|t| change(f64::from(t))).collect();
            let host = database_host(&samples, 0.0, 40.0);
            (host.cpus_used, host.windows.len())
        };
        assert_eq!(of_process(true), (Some(0.25), 4));
        assert_eq!(of_process(false), (None, 0), "that of a client is no database's");
    }

    /// Each sample of a busy second half comes late, so that the first one lies a second before the window.
    #[test]
    fn samples_that_come_late_count_for_the_window_alone() {
        let samples: Vec<HostSample> = [-2.0, -1.0, 1.6, 4.1, 6.6, 9.1, 10.3].map(second).to_vec();
        let data = &database_host(&samples, 0.0, 10.0).volumes[&VolumeRole::Data];
        let is = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-6, "{value}");
        is(data.reads, 1_000.0);
        is(data.write_bytes, 100.0 * 65_536.0);
        is(data.read_iops(), 100.0);
        is(data.seconds, 10.0);
    }

    #[test]
    fn counters_become_figures_of_the_measured_window_alone() {
        // 20 s of warm-up and 5 s after the end, sampled 0.3 s off the second.
        let samples: Vec<HostSample> = (-20..65).map(|t| second(f64::from(t) + 0.3)).collect();
        let host = database_host(&samples, 0.0, 40.0);
        let data = &host.volumes[&VolumeRole::Data];
        let is = |value: Option<f64>, expected: f64| assert!((value.unwrap() - expected).abs() < 1e-9, "{value:?}");
        is(Some(data.seconds), 40.0);
        is(Some(data.read_iops()), 100.0);
        assert!((data.write_bytes_per_s() - 655_360.0).abs() < 1e-6);
        assert_eq!(data.windows.read_iops.len(), 4);
        is(data.busy_share, 0.9);
        is(host.cpus_used, 0.5);
        is(host.pause_share, 0.01);
        assert_eq!(host.longest_pause_s, Some(0.7), "the pause came inside the window");
        is(host.steal_share, 0.02);
        is(host.steal_share_worst, 0.02);
        assert_eq!(host.restarts, Some(0), "the process changed at 45 s, after the window");
        assert_eq!(host.windows.len(), 4);
        is(Some(host.windows[3].used), 0.5);
        is(host.windows[0].host_busy, 0.6);
        is(host.windows[0].host_idle, 1.36);
        is(host.windows[0].stolen, 0.04);
        assert_eq!(host.windows[0].throttled, None, "missing is not zero");
        let (start, end) = host.background_work.unwrap();
        assert!(start < 1.0 && end >= 3.0, "{start} {end}");
        assert!(!host.volumes.contains_key(&VolumeRole::Commitlog), "missing is not zero");
        assert_eq!(host.work.total(&cassandra::DROPPED_MESSAGES), None);
        assert_eq!(database_host(&samples, 0.0, 60.0).restarts, Some(1));
        assert_eq!(database_host(&samples, 30.0, 40.0).longest_pause_s, None);
    }

    /// A bucket of 3,000 and 300 IOPS whose credits end after 23.4 s of a window of 40 s.
    #[test]
    fn the_limit_of_a_bucket_is_followed_second_by_second() {
        let samples: Vec<HostSample> = (0..=40)
            .map(f64::from)
            .map(|t| {
                let mut sample = second(t);
                let data = sample.volumes.get_mut(&VolumeRole::Data).unwrap();
                data.reads = Some(3000.0 * t.min(23.4) + 300.0 * (t - 23.4).max(0.0));
                data.writes = Some(0.0);
                data.burst_credits = Some((2700.0 * (23.4 - t)).max(0.0));
                data.iops_limit = Some(if t < 23.4 { 3000.0 } else { 300.0 });
                sample
            })
            .collect();
        let credits = |from_s: f64| database_host(&samples, from_s, 40.0).volumes[&VolumeRole::Data].request_credits;
        assert_eq!([credits(0.0), credits(30.0)], [Some((2700.0 * 23.4, 0.0)), Some((0.0, 0.0))]);
        // They ended after the sample that is nearest to the window's start, and before it; within it, and behind it.
        assert_eq!(credits(23.45), Some((0.0, 0.0)));
        let within = database_host(&samples, 22.6, 40.0).volumes[&VolumeRole::Data].request_credits.unwrap();
        assert!((within.0 - 1080.0).abs() < 1e-6 && within.1 == 0.0, "{within:?}");
        let apart = |from_s: f64| database_host(&samples, from_s, 40.0).volumes[&VolumeRole::Data].credits_s;
        assert_eq!([apart(22.0), apart(22.6)], [Some(18.0), Some(17.0)], "from the first sample in the window");
        let behind = database_host(&samples, 3.0, 23.55).volumes[&VolumeRole::Data].request_credits.unwrap();
        assert!((behind.1 - 1080.0).abs() < 1e-6, "{behind:?}");
        assert_eq!(database_host(&samples, 3.0, 3.6).volumes[&VolumeRole::Data].request_credits, None, "one sample");
        let windows = &database_host(&samples, 0.0, 40.0).volumes[&VolumeRole::Data].windows;
        assert_eq!(windows.iops_limit.len(), 4);
        for (done, allowed) in windows.read_iops.iter().zip(&windows.iops_limit) {
            assert!((done / allowed - 1.0).abs() < 1e-9, "{windows:?}");
        }
        assert!((windows.iops_limit[2] - (3.4 * 3000.0 + 6.6 * 300.0) / 10.0).abs() < 1e-6);
        let fell = windows.credits_fell.iter().map(|fell| fell.round());
        assert_eq!(fell.collect::<Vec<_>>(), [27_000.0, 27_000.0, 9_180.0, 0.0]);
        assert!(windows.byte_credits_fell.is_empty());
    }

    #[test]
    fn a_trial_shorter_than_a_window_is_one_window() {
        let samples: Vec<HostSample> = (0..4).map(|t| second(f64::from(t))).collect();
        let host = database_host(&samples, 0.0, 3.0);
        assert_eq!((host.windows.len(), host.volumes[&VolumeRole::Data].windows.read_iops.len()), (1, 1));
    }

    #[test]
    fn nothing_sampled_is_nothing_known() {
        assert_eq!(database_host(&[], 0.0, 60.0), DatabaseHost::default());
        assert_eq!(database_host(&[second(3.0)], 0.0, 60.0), DatabaseHost::default());
    }
}
