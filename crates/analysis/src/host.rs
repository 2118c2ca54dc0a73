//! What the database host showed in the measured window.
//!
//! Samples hold raw counters; rates are differences of counters between the samples nearest to the edges of the window,
//! divided by the time between those samples; counts are these rates over the whole window, because a sample may be
//! seconds late. A figure that is missing is `None`: missing is not zero.

use std::collections::BTreeMap;

use evidence::{HostFigures, HostSample};
use experiment::VolumeRole;
use reported::Meaning;
use reported::memcached::{CPU_S, HITS, MISSES};

use crate::activity::{VolumeActivity, activity};
use crate::stretch::{ten_second_steps, window};
use crate::waking;
use crate::work::{DatabaseWork, shares};

/// The host of the database in the measured window.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct DatabaseHost {
    pub volumes: BTreeMap<VolumeRole, VolumeActivity>,
    /// Where there are several data volumes: each of them, in all measured seconds from the window's start on, planned
    /// faults included.
    pub members: BTreeMap<VolumeRole, VolumeActivity>,
    /// Page cache charged to the database at the end, bytes.
    pub page_cache_bytes: Option<f64>,
    /// By how much it grew in the window, bytes.
    pub page_cache_grew_bytes: Option<f64>,
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

/// Changes of the process id of the database from sample to sample; `None` where it was never seen.
fn restarts(window: &[HostSample]) -> Option<u64> {
    let pids: Vec<f64> = window.iter().filter_map(|s| s.host.database_pid).collect();
    (!pids.is_empty()).then(|| pids.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64)
}

#[cfg(test)]
mod tests {
    use evidence::VolumeFigures;
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
