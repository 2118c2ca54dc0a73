//! What the database host showed in the measured window.
//!
//! Samples hold raw counters; rates are differences of counters between the samples nearest to the edges of the window,
//! divided by the time between those samples. A figure whose column is missing is `None`: missing is not zero.

use std::collections::BTreeMap;

use evidence::HostSample;
use spec::VolumeRole;

/// Length of the windows in which "at its limit" is judged, seconds: longer than the throttle's 100 ms slices and than a
/// commit-log sync period, short enough to see a compaction come and go.
const WINDOW_S: f64 = 10.0;

/// The host of the database in the measured window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DatabaseHost {
    /// Activity of each volume.
    pub volumes: BTreeMap<VolumeRole, VolumeActivity>,
    /// Page cache charged to the database at the end, bytes.
    pub page_cache_bytes: Option<f64>,
    /// CPUs that the database used.
    pub cpus_used: Option<f64>,
    /// Share of the window spent in garbage collection pauses.
    pub gc_pause_share: Option<f64>,
    /// How often the database process changed.
    pub restarts: Option<u64>,
}

impl DatabaseHost {
    /// A figure summed over all volumes; `None` when no volume was watched.
    pub fn sum_of_volumes(&self, figure: fn(&VolumeActivity) -> f64) -> Option<f64> {
        (!self.volumes.is_empty()).then(|| self.volumes.values().map(figure).sum())
    }
}

/// Requests and bytes of a volume in the measured window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VolumeActivity {
    /// Seconds between the first and the last sample used.
    pub seconds: f64,
    /// Read requests.
    pub reads: f64,
    /// Write requests.
    pub writes: f64,
    /// Bytes read.
    pub read_bytes: f64,
    /// Bytes written.
    pub write_bytes: f64,
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
}

impl VolumeActivity {
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

/// Names of the columns of a sample that are read here; all but the gauges are counters that only grow.
mod column {
    pub const TIME_S: &str = "t_s";
    pub const PAGE_CACHE_BYTES: &str = "cgroup_file_bytes";
    pub const CPU_S: &str = "cgroup_cpu_s";
    pub const GC_PAUSE_S: &str = "gc_pause_s";
    pub const DATABASE_PID: &str = "database_pid";

    /// Counters of a volume: read and write requests, bytes read and written.
    pub fn of_volume(role: spec::VolumeRole) -> [String; 4] {
        ["reads", "writes", "read_bytes", "write_bytes"].map(|what| format!("{}_{what}", role.name()))
    }
}

/// Reduces the samples of the database host to the measured window, 0 to `measured_s`.
pub fn database_host(samples: &[HostSample], measured_s: f64) -> DatabaseHost {
    let rows: Vec<Row> = samples.iter().map(Row::of).collect();
    let window = window(&rows, measured_s);
    let (Some(first), Some(last)) = (window.first(), window.last()) else {
        return DatabaseHost::default();
    };
    let seconds = last.time_s - first.time_s;
    let delta = |name: &str| Some(last.get(name)? - first.get(name)?);
    DatabaseHost {
        volumes: [VolumeRole::Data, VolumeRole::Commitlog]
            .into_iter()
            .filter_map(|role| Some((role, activity(window, role)?)))
            .collect(),
        page_cache_bytes: last.get(column::PAGE_CACHE_BYTES),
        cpus_used: delta(column::CPU_S).and_then(|s| stats::ratio(s, seconds)),
        gc_pause_share: delta(column::GC_PAUSE_S).and_then(|s| stats::ratio(s, seconds)),
        restarts: restarts(window),
    }
}

/// A sample as a lookup by column name.
struct Row {
    time_s: f64,
    columns: Vec<(&'static str, Option<f64>)>,
}

impl Row {
    fn of(sample: &HostSample) -> Self {
        let columns = sample.columns();
        let time_s = columns
            .iter()
            .find(|(name, _)| *name == column::TIME_S)
            .and_then(|(_, v)| *v)
            .unwrap_or(f64::NAN);
        Self { time_s, columns }
    }

    fn get(&self, name: &str) -> Option<f64> {
        self.columns.iter().find(|(n, _)| *n == name).and_then(|(_, v)| *v)
    }
}

/// The samples from the one nearest to the start of the window to the one nearest to its end.
fn window(rows: &[Row], measured_s: f64) -> &[Row] {
    let nearest = |at: f64| {
        let distance = |row: &Row| (row.time_s - at).abs();
        (0..rows.len()).min_by(|a, b| distance(&rows[*a]).total_cmp(&distance(&rows[*b])))
    };
    match (nearest(0.0), nearest(measured_s)) {
        (Some(first), Some(last)) if first < last => &rows[first..=last],
        _ => &[],
    }
}

fn activity(window: &[Row], role: VolumeRole) -> Option<VolumeActivity> {
    let names = column::of_volume(role);
    let counters = |row: &Row| -> Option<[f64; 4]> {
        Some([
            row.get(&names[0])?,
            row.get(&names[1])?,
            row.get(&names[2])?,
            row.get(&names[3])?,
        ])
    };
    let points: Vec<(f64, [f64; 4])> = window
        .iter()
        .filter_map(|row| Some((row.time_s, counters(row)?)))
        .collect();
    let (first, last) = (points.first()?, points.last()?);
    let between = |a: &(f64, [f64; 4]), b: &(f64, [f64; 4])| std::array::from_fn::<f64, 4, _>(|i| b.1[i] - a.1[i]);
    let seconds = last.0 - first.0;
    if seconds <= 0.0 {
        return None;
    }
    let [reads, writes, read_bytes, write_bytes] = between(first, last);
    let mut windows = WindowRates::default();
    let mut start = first;
    for point in &points[1..] {
        let length = point.0 - start.0;
        // The rest shorter than half a window is left out: its rates would be noise.
        let is_rest = point.0 == last.0 && length >= WINDOW_S / 2.0;
        if length >= WINDOW_S - 0.5 || is_rest {
            let rates = between(start, point).map(|n| n / length);
            windows.read_iops.push(rates[0]);
            windows.write_iops.push(rates[1]);
            windows.read_bytes_per_s.push(rates[2]);
            windows.write_bytes_per_s.push(rates[3]);
            start = point;
        }
    }
    Some(VolumeActivity {
        seconds,
        reads,
        writes,
        read_bytes,
        write_bytes,
        windows,
    })
}

/// Changes of the process id of the database from sample to sample; `None` where it was never seen.
fn restarts(window: &[Row]) -> Option<u64> {
    let pids: Vec<f64> = window.iter().filter_map(|row| row.get(column::DATABASE_PID)).collect();
    (!pids.is_empty()).then(|| pids.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second of the database host: 100 reads of 16 KiB and 10 writes of 64 KiB a second, half a CPU, 1 % in collection.
    fn second(t: f64) -> HostSample {
        let volume = column::of_volume(VolumeRole::Data);
        let counters = [100.0, 10.0, 100.0 * 16_384.0, 10.0 * 65_536.0];
        let mut columns = vec![
            (column::TIME_S, Some(t)),
            (column::PAGE_CACHE_BYTES, Some(1e6 + t)),
            (column::CPU_S, Some(7.0 + 0.5 * t)),
            (column::GC_PAUSE_S, Some(0.2 + 0.01 * t)),
            (column::DATABASE_PID, Some(if t < 45.0 { 4711.0 } else { 4712.0 })),
        ];
        columns.extend(
            volume
                .iter()
                .zip(counters)
                .map(|(name, rate)| (name.as_str(), Some(5000.0 + rate * t))),
        );
        HostSample::from_columns(&columns)
    }

    /// A name that no sample has would silently make every figure `None`.
    #[test]
    fn every_column_read_here_is_a_column_of_a_sample() {
        let columns = second(1.0).columns();
        let data = column::of_volume(VolumeRole::Data);
        let fixed = [
            column::TIME_S,
            column::PAGE_CACHE_BYTES,
            column::CPU_S,
            column::GC_PAUSE_S,
            column::DATABASE_PID,
        ];
        for name in fixed.into_iter().chain(data.iter().map(String::as_str)) {
            assert!(
                columns.iter().any(|(n, v)| *n == name && v.is_some()),
                "no column {name} in {columns:?}"
            );
        }
    }

    #[test]
    fn counters_become_figures_of_the_measured_window_alone() {
        // 20 s of warm-up and 5 s after the end, sampled 0.3 s off the second.
        let samples: Vec<HostSample> = (-20..65).map(|t| second(f64::from(t) + 0.3)).collect();
        let host = database_host(&samples, 40.0);
        let data = &host.volumes[&VolumeRole::Data];
        assert!((data.seconds - 40.0).abs() < 1e-9, "{data:?}");
        assert!((data.reads - 4000.0).abs() < 1e-6 && (data.read_iops() - 100.0).abs() < 1e-9);
        assert!((data.write_bytes_per_s() - 655_360.0).abs() < 1e-6);
        assert_eq!(data.windows.read_iops.len(), 4);
        assert!((host.cpus_used.unwrap() - 0.5).abs() < 1e-9);
        assert!((host.gc_pause_share.unwrap() - 0.01).abs() < 1e-9);
        assert_eq!(host.restarts, Some(0), "the process changed at 45 s, after the window");
        assert!(
            !host.volumes.contains_key(&VolumeRole::Commitlog),
            "missing is not zero"
        );
        assert_eq!(database_host(&samples, 60.0).restarts, Some(1));
    }

    #[test]
    fn nothing_sampled_is_nothing_known() {
        assert_eq!(database_host(&[], 60.0), DatabaseHost::default());
        assert_eq!(database_host(&[second(3.0)], 60.0), DatabaseHost::default());
    }
}
