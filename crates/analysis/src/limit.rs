//! What bounded a cell?

use std::collections::BTreeMap;

use evidence::{VolumeFacts, VolumeRole};
use serde::{Deserialize, Serialize};
use spec::{LoadLevel, Setup};

use crate::measurement::TrialMeasurement;

/// The resource that bounded a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Which.
    pub kind: LimitKind,
    /// The numbers that say so, units in their names.
    pub evidence: BTreeMap<String, f64>,
    /// The same in one sentence.
    pub message: String,
}

/// Resources that can bound a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Requests per second of the data volume itself.
    VolumeIops,
    /// Bytes per second of the data volume itself.
    VolumeThroughput,
    /// What the instance lets through to its volumes.
    InstanceEbsBandwidth,
    /// The baseline of a bursting volume whose credits are spent.
    BurstSpent,
    /// CPUs of the database.
    Cpu,
    /// Garbage collection pauses.
    Gc,
    /// Compaction that cannot keep up.
    Compaction,
    /// The network.
    Network,
    /// The load generator.
    Client,
    /// The commit log's volume.
    CommitLog,
    /// Open loop below saturation: the rate that was asked for.
    OfferedRate,
    /// None of the above is near its limit.
    NoneFound,
    /// No valid trial.
    NotComparable,
}

impl LimitKind {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::VolumeIops => "volume IOPS",
            Self::VolumeThroughput => "volume MB/s",
            Self::InstanceEbsBandwidth => "instance EBS bandwidth",
            Self::BurstSpent => "burst credits spent",
            Self::Cpu => "CPU",
            Self::Gc => "garbage collection",
            Self::Compaction => "compaction",
            Self::Network => "network",
            Self::Client => "client",
            Self::CommitLog => "commit log",
            Self::OfferedRate => "offered rate",
            Self::NoneFound => "none found",
            Self::NotComparable => "no valid trial",
        }
    }
}

/// A volume is at its cap in a trial when the median of its 10 s windows does at least this share of it (METHODS: >= 95 % in at
/// least half of the windows, which is the same).
const VOLUME_AT_CAP: f64 = 0.95;
/// CPUs of the database in use, of those it has. Waiting threads always leave a little of a CPU idle.
const CPU_AT_CAP: f64 = 0.9;
/// CPU of the client's load threads in use (METHODS: > 80 %).
const CLIENT_AT_CAP: f64 = 0.8;
/// Garbage collection pauses of this share of the window bound a cell whatever else is busy ...
const GC_DOMINATES: f64 = 0.2;
/// ... and of this share when nothing else is at its cap.
const GC_MATTERS: f64 = 0.05;
/// Open loop: the offered rate was achieved (METHODS: achieved / offered >= 0.99).
const ACHIEVED: f64 = 0.99;
/// A bucket with less than this many seconds of its baseline is spent: what it earns is used at once.
const SPENT_S: f64 = 2.0;

/// One resource in one trial: how much of it was used.
#[derive(Debug, Clone, Copy)]
struct Use {
    kind: LimitKind,
    used: f64,
    capacity: f64,
    /// used / capacity from which it counts as a limit.
    threshold: f64,
    /// Whether a volume's bytes per second are meant rather than its requests.
    is_bytes: bool,
}

impl Use {
    fn share(&self) -> f64 {
        self.used / self.capacity
    }
}

/// Names the resource that bounded a cell, from the medians of its valid trials.
///
/// Each resource's use is compared with its capacity; of those at their cap the fullest is named, so that a volume held at 99 % of its
/// limit wins over a CPU at 95 %, and the others are told beside it. A volume's capacity is the smaller of the limit asked for and of
/// what fio measured. The network is named only where its capacity is known, which the local provider (loopback) never knows.
pub fn of_cell(setup: Option<&Setup>, trials: &[&TrialMeasurement]) -> Limit {
    if trials.is_empty() {
        return Limit::of(LimitKind::NotComparable, BTreeMap::new(), "No valid trial.".to_owned());
    }
    let mut by_kind: BTreeMap<(LimitKind, bool), Vec<Use>> = BTreeMap::new();
    for used in trials.iter().flat_map(|t| uses(setup, t)) {
        by_kind.entry((used.kind, used.is_bytes)).or_default().push(used);
    }
    let median = |uses: &[Use], figure: fn(&Use) -> f64| {
        stats::median(&uses.iter().map(figure).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let typical: Vec<Use> = by_kind
        .into_iter()
        .map(|((kind, is_bytes), uses)| Use {
            kind,
            used: median(&uses, |u| u.used),
            capacity: median(&uses, |u| u.capacity),
            threshold: uses[0].threshold,
            is_bytes,
        })
        .collect();
    let evidence: BTreeMap<String, f64> = typical.iter().flat_map(numbers).collect();
    let of = |kind| typical.iter().find(|u| u.kind == kind);
    let at_cap = |u: &&Use| u.share() >= u.threshold;
    let named = of(LimitKind::OfferedRate)
        .filter(at_cap)
        .or_else(|| of(LimitKind::Client).filter(at_cap))
        .or_else(|| of(LimitKind::Gc).filter(|u| u.share() >= GC_DOMINATES))
        .or_else(|| {
            typical
                .iter()
                .filter(|u| !matches!(u.kind, LimitKind::Gc | LimitKind::Compaction))
                .filter(at_cap)
                .max_by(|a, b| a.share().min(1.0).total_cmp(&b.share().min(1.0)))
        })
        .or_else(|| of(LimitKind::Gc).filter(at_cap))
        .or_else(|| of(LimitKind::Compaction).filter(at_cap));
    match named {
        Some(used) => {
            let others: Vec<String> = typical
                .iter()
                .filter(|u| at_cap(u) && u.kind != used.kind && u.kind != LimitKind::OfferedRate)
                .map(sentence)
                .collect();
            let also = match others.as_slice() {
                [] => String::new(),
                others => format!(" Also at its cap: {}", others.join(" ")),
            };
            Limit::of(used.kind, evidence, format!("{}{also}", sentence(used)))
        }
        None => {
            let closest = typical
                .iter()
                .filter(|u| u.kind != LimitKind::OfferedRate)
                .max_by(|a, b| (a.share() / a.threshold).total_cmp(&(b.share() / b.threshold)));
            let closest = closest.map_or_else(String::new, |u| format!(" Closest: {}", sentence(u)));
            Limit::of(
                LimitKind::NoneFound,
                evidence,
                format!("No watched resource was at its cap.{closest}"),
            )
        }
    }
}

impl Limit {
    fn of(kind: LimitKind, evidence: BTreeMap<String, f64>, message: String) -> Self {
        Self {
            kind,
            evidence,
            message,
        }
    }
}

/// What one trial used of each resource that has a known capacity.
fn uses(setup: Option<&Setup>, trial: &TrialMeasurement) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut add = |kind, used: Option<f64>, capacity: Option<f64>, threshold| {
        if let (Some(used), Some(capacity)) = (used, capacity.filter(|c| *c > 0.0)) {
            uses.push(Use {
                kind,
                used,
                capacity,
                threshold,
                is_bytes: false,
            });
        }
    };
    if let LoadLevel::Rate { operations_per_s, .. } = trial.record.load {
        add(
            LimitKind::OfferedRate,
            trial.throughput(),
            Some(operations_per_s),
            ACHIEVED,
        );
    }
    if let Some(client) = &trial.record.client {
        add(
            LimitKind::Client,
            Some(client.client_cpu_s),
            Some(client.measured_s * f64::from(client.threads)),
            CLIENT_AT_CAP,
        );
    }
    add(
        LimitKind::Cpu,
        trial.host.cpus_used,
        Some(trial.record.database.cpus),
        CPU_AT_CAP,
    );
    add(LimitKind::Gc, trial.host.gc_pause_share, Some(1.0), GC_MATTERS);
    if let Some((start, end)) = trial.host.compactions {
        // A debt that grew by at least two tasks and by half.
        add(
            LimitKind::Compaction,
            Some((end - start - 1.0).max(0.0)),
            Some(1.0 + start / 2.0),
            1.0,
        );
    }
    for volume in &trial.record.database.volumes {
        for dimension in [Dimension::Requests, Dimension::Bytes] {
            let Some((used, capacity)) = fullest(trial, volume, dimension) else {
                continue;
            };
            uses.push(Use {
                kind: match volume.role {
                    VolumeRole::Commitlog => LimitKind::CommitLog,
                    VolumeRole::Data => kind_of(setup, volume, dimension),
                },
                used,
                capacity,
                threshold: VOLUME_AT_CAP,
                is_bytes: dimension == Dimension::Bytes,
            });
        }
    }
    uses
}

/// What a volume limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dimension {
    Requests,
    Bytes,
}

/// Whether the data volume's bucket is empty, so that its requests are bounded by its baseline.
fn is_spent(setup: Option<&Setup>, volume: &VolumeFacts) -> bool {
    let credits_end = volume.burst_credits.map(|(_, end)| end);
    setup.and_then(|s| s.data.burst).is_some_and(|bucket| {
        bucket.baseline_iops < bucket.burst_iops && credits_end.is_some_and(|end| end < SPENT_S * bucket.baseline_iops)
    })
}

/// Volume or instance: whichever is narrower.
fn kind_of(setup: Option<&Setup>, volume: &VolumeFacts, dimension: Dimension) -> LimitKind {
    let own = setup.and_then(|s| s.data.own_limits);
    let narrower =
        |own: Option<f64>, effective: Option<f64>| own.is_none_or(|own| effective.is_some_and(|e| own > e * 1.001));
    let by_instance = own.is_some_and(|own| match dimension {
        Dimension::Requests => narrower(own.read_iops, volume.limits.read_iops),
        Dimension::Bytes => narrower(own.read_bytes_per_s, volume.limits.read_bytes_per_s),
    });
    match (by_instance, dimension) {
        (_, Dimension::Requests) if is_spent(setup, volume) => LimitKind::BurstSpent,
        (true, _) => LimitKind::InstanceEbsBandwidth,
        (false, Dimension::Requests) => LimitKind::VolumeIops,
        (false, Dimension::Bytes) => LimitKind::VolumeThroughput,
    }
}

/// (rate, capacity) of reads or of writes, whichever is nearer to its capacity; the rate is the median of the 10 s windows.
fn fullest(trial: &TrialMeasurement, volume: &VolumeFacts, dimension: Dimension) -> Option<(f64, f64)> {
    let activity = trial.host.volumes.get(&volume.role)?;
    let windows = &activity.windows;
    let rate = |windows: &[f64], whole: f64| stats::median(windows).unwrap_or(whole);
    let measured = |asked: Option<f64>, fio: Option<f64>| match (asked, fio) {
        (Some(asked), Some(fio)) => Some(asked.min(fio)),
        (asked, _) => asked,
    };
    let moved = activity.iops_limit;
    let limits = &volume.limits;
    let probe = volume.probe.as_ref();
    let pairs = match dimension {
        Dimension::Requests => [
            (
                rate(&windows.read_iops, activity.read_iops()),
                moved.or_else(|| measured(limits.read_iops, probe.map(|p| p.read_iops))),
            ),
            (
                rate(&windows.write_iops, activity.write_iops()),
                moved.or(limits.write_iops),
            ),
        ],
        Dimension::Bytes => [
            (
                rate(&windows.read_bytes_per_s, activity.read_bytes_per_s()),
                limits.read_bytes_per_s,
            ),
            (
                rate(&windows.write_bytes_per_s, activity.write_bytes_per_s()),
                limits.write_bytes_per_s,
            ),
        ],
    };
    pairs
        .into_iter()
        .filter_map(|(used, capacity)| Some((used, capacity.filter(|c| *c > 0.0)?)))
        .max_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)))
}

/// Names of the numbers of a resource: used and capacity, with units.
fn units(used: &Use) -> (&'static str, &'static str) {
    match used.kind {
        LimitKind::VolumeIops => ("volume", "iops"),
        LimitKind::BurstSpent => ("baseline", "iops"),
        LimitKind::InstanceEbsBandwidth if used.is_bytes => ("instance_ebs", "bytes_per_s"),
        LimitKind::InstanceEbsBandwidth => ("instance_ebs", "iops"),
        LimitKind::VolumeThroughput => ("volume", "bytes_per_s"),
        LimitKind::CommitLog if used.is_bytes => ("commit_log", "bytes_per_s"),
        LimitKind::CommitLog => ("commit_log", "iops"),
        LimitKind::Cpu => ("database", "cpus"),
        LimitKind::Client => ("client", "cpu_s"),
        LimitKind::Gc => ("gc_pause", "share"),
        LimitKind::Compaction => ("compactions", "grown"),
        LimitKind::Network => ("network", "bytes_per_s"),
        LimitKind::OfferedRate => ("rate", "ops_per_s"),
        LimitKind::NoneFound | LimitKind::NotComparable => ("", ""),
    }
}

fn numbers(used: &Use) -> [(String, f64); 3] {
    let (of, unit) = units(used);
    [
        (format!("{of}_{unit}_used"), used.used),
        (format!("{of}_{unit}_capacity"), used.capacity),
        (format!("{of}_{unit}_used_share"), used.share()),
    ]
}

fn sentence(used: &Use) -> String {
    let share = format!("{:.0} %", used.share() * 100.0);
    let (amount, capacity) = (short(used.used), short(used.capacity));
    match used.kind {
        LimitKind::VolumeIops => format!("data volume: {amount} of {capacity} IOPS ({share})."),
        LimitKind::BurstSpent => {
            format!("data volume at the baseline of its spent burst bucket: {amount} of {capacity} IOPS ({share}).")
        }
        LimitKind::InstanceEbsBandwidth if used.is_bytes => {
            format!(
                "the instance's path to its volumes: {} of {} MB/s ({share}).",
                short(used.used / 1e6),
                short(used.capacity / 1e6)
            )
        }
        LimitKind::InstanceEbsBandwidth => {
            format!("the instance's path to its volumes: {amount} of {capacity} IOPS ({share}).")
        }
        LimitKind::VolumeThroughput => {
            format!(
                "data volume: {} of {} MB/s ({share}).",
                short(used.used / 1e6),
                short(used.capacity / 1e6)
            )
        }
        LimitKind::CommitLog if used.is_bytes => format!(
            "commit-log volume: {} of {} MB/s ({share}).",
            short(used.used / 1e6),
            short(used.capacity / 1e6)
        ),
        LimitKind::CommitLog => format!("commit-log volume: {amount} of {capacity} IOPS ({share})."),
        LimitKind::Cpu => format!("database: {amount} of {capacity} CPUs ({share})."),
        LimitKind::Client => format!("client: {share} of the CPU of its load threads."),
        LimitKind::Gc => format!(
            "garbage collection paused the database for {:.1} % of the time.",
            used.share() * 100.0
        ),
        LimitKind::Compaction => format!("compactions waiting grew by {:.0} in the window.", used.used + 1.0),
        LimitKind::OfferedRate => format!("offered rate: {amount} of {capacity} operations/s ({share})."),
        LimitKind::Network | LimitKind::NoneFound | LimitKind::NotComparable => String::new(),
    }
}

/// Three significant digits.
fn short(value: f64) -> String {
    let decimals = if value == 0.0 {
        0
    } else {
        (2 - value.abs().log10().floor() as i32).clamp(0, 6)
    };
    format!("{value:.*}", usize::try_from(decimals).unwrap_or(0))
}
