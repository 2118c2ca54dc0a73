//! Did the volume do the work, and was it at its limit?

use evidence::VolumeFacts;
use spec::VolumeRole;

use super::{count, percent, scope};
use crate::finding::{Finding, Severity};
use crate::host::VolumeActivity;
use crate::measurement::TrialMeasurement;

/// Fewer device reads than this for each read of the workload: not a test of the volume (METHODS: < 0.05).
const READS_PER_READ_MIN: f64 = 0.05;
/// A volume is at its cap in a 10 s window when it does at least this share of its limit (METHODS: >= 95 %) ...
const AT_CAP: f64 = 0.95;
/// ... and at its cap in a trial when that holds for at least this share of the windows (METHODS: >= 50 %).
const AT_CAP_WINDOWS: f64 = 0.5;
/// The cgroup throttle releases I/O in slices of about 100 ms (measured, see DESIGN.md): a p99 above this on a volume at
/// its cap shows the slices.
const THROTTLE_STEP_US: f64 = 80_000.0;
/// Reads and writes together this much above the limit: more than EBS would have given.
const COMBINED_MAX: f64 = 1.05;

pub fn findings(trial: &TrialMeasurement) -> Vec<Finding> {
    let mut found: Vec<Finding> = served_from_page_cache(trial).into_iter().collect();
    for volume in &trial.record.database.volumes {
        found.extend(burst_changed(trial, volume));
        if let Some(activity) = trial.host.volumes.get(&volume.role) {
            let at_cap = volume_at_cap(trial, volume, activity);
            if at_cap.is_some() {
                found.extend(throttle_slices(trial, volume));
            }
            found.extend(at_cap);
            found.extend(separate_limits(trial, volume, activity));
        }
    }
    found
}

fn served_from_page_cache(trial: &TrialMeasurement) -> Option<Finding> {
    let reads = trial.completed_reads();
    let device = trial.host.volumes.get(&VolumeRole::Data)?.reads;
    let per_read = stats::ratio(device, reads as f64)?;
    (per_read < READS_PER_READ_MIN).then(|| {
        Finding::new(
            "served_from_page_cache",
            Severity::Suspect,
            scope(trial),
            [
                ("device_reads", device),
                ("operations_that_read", reads as f64),
                ("device_reads_per_read", per_read),
                (
                    "page_cache_budget_bytes",
                    trial.record.database.page_cache_budget_bytes as f64,
                ),
                ("data_bytes_on_disk", trial.record.database.data_bytes_on_disk as f64),
                ("threshold", READS_PER_READ_MIN),
            ],
            format!(
                "{reads} operations read, but the data volume saw only {device:.0} read requests ({per_read:.3} each)."
            ),
            "Memory answered, not the volume: nothing follows about IOPS. Use a larger [dataset], a smaller page cache \
             (provider.local.page_cache_mib) or a flatter key distribution.",
        )
    })
}

/// Credits spent matter from this share of the volume's requests on: an empty bucket holds a few ticks' worth at any time.
const CREDITS_SHARE: f64 = 0.02;

fn burst_changed(trial: &TrialMeasurement, volume: &VolumeFacts) -> Option<Finding> {
    let (start, end) = volume.burst_credits?;
    let requests = trial.host.volumes.get(&volume.role).map(|v| v.reads + v.writes);
    if requests.is_some_and(|n| start - end < CREDITS_SHARE * n) {
        return None;
    }
    let numbers = [("credits_start", start), ("credits_end", end)];
    let role = volume.role.name();
    if start > 1.0 && end <= 1.0 {
        return Some(Finding::new(
            "burst_changed",
            Severity::Suspect,
            scope(trial),
            numbers,
            format!(
                "The {role} volume's burst credits ran out inside the window ({} I/O at its start).",
                count(start)
            ),
            "The trial mixes two speeds: the burst and the baseline. Start with the credits that production would have \
             (provider.local burst_credits_start), or measure long enough to see the baseline alone.",
        ));
    }
    // Falling credits mean demand above the baseline: what was measured cannot last.
    (end > 1.0 && end < 0.99 * start).then(|| {
        Finding::new(
            "burst_only",
            Severity::Note,
            scope(trial),
            numbers,
            format!(
                "The {role} volume ran on burst credits ({} to {} I/O): this speed does not last.",
                count(start),
                count(end)
            ),
            "For the sustained speed start the bucket empty (provider.local burst_credits_start = 0).",
        )
    })
}

/// Share of the 10 s windows in which the volume is at the given limit.
fn share_at(windows: &[f64], limit: Option<f64>) -> Option<f64> {
    let limit = limit.filter(|l| *l > 0.0)?;
    let at = windows.iter().filter(|rate| **rate >= AT_CAP * limit).count();
    stats::ratio(at as f64, windows.len() as f64)
}

fn volume_at_cap(trial: &TrialMeasurement, volume: &VolumeFacts, activity: &VolumeActivity) -> Option<Finding> {
    let limits = &volume.limits;
    let kinds = [
        ("read IOPS", &activity.windows.read_iops, limits.read_iops),
        ("write IOPS", &activity.windows.write_iops, limits.write_iops),
        (
            "bytes/s read",
            &activity.windows.read_bytes_per_s,
            limits.read_bytes_per_s,
        ),
        (
            "bytes/s written",
            &activity.windows.write_bytes_per_s,
            limits.write_bytes_per_s,
        ),
    ];
    let (what, share, limit) = kinds
        .into_iter()
        .filter_map(|(what, windows, limit)| Some((what, share_at(windows, limit)?, limit?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    (share >= AT_CAP_WINDOWS).then(|| {
        Finding::new(
            "volume_at_cap",
            Severity::Note,
            scope(trial),
            [
                ("limit", limit),
                ("windows_at_cap_share", share),
                ("read_iops", activity.read_iops()),
                ("write_iops", activity.write_iops()),
                ("read_bytes_per_s", activity.read_bytes_per_s()),
                ("write_bytes_per_s", activity.write_bytes_per_s()),
            ],
            format!(
                "The {} volume was at its limit of {} {what} (on this machine) in {} of the window.",
                volume.role.name(),
                count(limit),
                percent(share)
            ),
            "A faster volume would probably raise the throughput of this cell.",
        )
    })
}

fn throttle_slices(trial: &TrialMeasurement, volume: &VolumeFacts) -> Option<Finding> {
    let (kind, p99) = trial
        .response
        .iter()
        .map(|(kind, f)| (kind, f.p99))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    (p99 >= THROTTLE_STEP_US).then(|| {
        Finding::new(
            "throttle_slices",
            Severity::Note,
            scope(trial),
            [("p99_us", p99), ("slice_us", 100_000.0)],
            format!(
                "p99 of {} is {:.0} ms on a {} volume at its limit: the kernel's throttle releases I/O in slices of ~100 ms.",
                kind.name().replace('_', "-"),
                p99 / 1e3,
                volume.role.name()
            ),
            "Tail latency of a saturated emulated volume shows these steps; a real volume queues more evenly. Compare \
             throughput here, and tails at a load below saturation.",
        )
    })
}

fn separate_limits(trial: &TrialMeasurement, volume: &VolumeFacts, activity: &VolumeActivity) -> Option<Finding> {
    // EBS has one number for both kinds; only then is the sum comparable with it.
    let limit = volume
        .limits
        .read_iops
        .filter(|l| Some(*l) == volume.limits.write_iops)?;
    let combined = activity.read_iops() + activity.write_iops();
    let share = stats::ratio(combined, limit)?;
    (share > COMBINED_MAX).then(|| {
        Finding::new(
            "separate_read_write_limits",
            Severity::Suspect,
            scope(trial),
            [
                ("read_iops", activity.read_iops()),
                ("write_iops", activity.write_iops()),
                ("limit_iops", limit),
                ("combined_share", share),
            ],
            format!(
                "The {} volume did {} reads and writes per second together, {} of the {} IOPS that EBS counts for both.",
                volume.role.name(),
                count(combined),
                percent(share),
                count(limit)
            ),
            "cgroups limit reads and writes apart, EBS together: this emulated volume gave more than the real one would. \
             Read the cell's throughput as an upper bound.",
        )
    })
}
