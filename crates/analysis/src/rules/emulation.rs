//! Is the emulated volume what was asked for? Rules over the whole run.

use evidence::{ProbeResult, VolumeFacts};
use spec::IoLimits;

use super::count;
use crate::document::{ConfigurationFacts, VolumeReport};
use crate::finding::{Finding, Scope, Severity};

/// A volume may deliver this much more or less than its limit.
const OFF_LIMIT_MAX: f64 = 0.10;
/// The probe's request sizes, bytes (4 KiB random reads, 64 KiB sequential writes).
const PROBE_READ_BYTES: f64 = 4096.0;
const PROBE_WRITE_BYTES: f64 = 65536.0;

/// Findings on configurations and on the run as a whole.
pub fn of_run(run: &str, provider: &str, configurations: &[ConfigurationFacts]) -> Vec<Finding> {
    let mut found = Vec::new();
    for configuration in configurations {
        for volume in &configuration.volumes {
            if let Some(probe) = &volume.probe {
                found.extend(off_limit(&configuration.name, volume, probe));
            }
        }
    }
    let limited = configurations
        .iter()
        .flat_map(|c| &c.volumes)
        .filter(|v| v.limits.read_iops.is_some())
        .count();
    if provider == "local" && limited > 0 {
        found.push(Finding::new(
            "limits_count_separately",
            Severity::Note,
            Scope::Run(run.to_owned()),
            [("volumes_with_an_iops_limit", limited as f64)],
            "Emulated volumes limit reads and writes apart (cgroup io.max, blkio.throttle); EBS counts them together."
                .into(),
            "A mixed workload may get up to twice the IOPS of the real volume; a cell where it did carries the finding \
             separate_read_write_limits.",
        ));
    }
    found
}

/// What the limits allow the probe's reads, requests per second.
pub fn expected_read_iops(limits: &IoLimits) -> Option<f64> {
    least(limits.read_iops, limits.read_bytes_per_s.map(|b| b / PROBE_READ_BYTES))
}

/// What the limits allow the probe's writes, bytes per second.
pub fn expected_write_bytes_per_s(limits: &IoLimits) -> Option<f64> {
    least(
        limits.write_bytes_per_s,
        limits.write_iops.map(|i| i * PROBE_WRITE_BYTES),
    )
}

fn least(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// A bursting volume may be anywhere between its baseline and its ceiling while the probe runs.
fn off_limit(configuration: &str, volume: &VolumeReport, probe: &ProbeResult) -> Vec<Finding> {
    let floor = IoLimits::symmetric(volume.burst.map(|b| b.baseline_iops), None).min(volume.limits);
    let checks = [
        (
            "4 KiB random reads/s",
            expected_read_iops(&volume.limits),
            expected_read_iops(&floor),
            probe.read_iops,
        ),
        (
            "bytes/s of 64 KiB sequential writes",
            expected_write_bytes_per_s(&volume.limits),
            expected_write_bytes_per_s(&floor),
            probe.write_bytes_per_s,
        ),
    ];
    checks
        .into_iter()
        .filter_map(|(what, ceiling, floor, measured)| {
            let (ceiling, floor) = (ceiling?, floor?);
            let expected = if measured < floor { floor } else { ceiling };
            let off = stats::ratio(measured, expected)? - 1.0;
            let is_off = measured > ceiling * (1.0 + OFF_LIMIT_MAX) || measured < floor * (1.0 - OFF_LIMIT_MAX);
            is_off.then(|| {
                Finding::new(
                    "emulation_off_limit",
                    Severity::Suspect,
                    Scope::Configuration(configuration.to_owned()),
                    [("expected", expected), ("measured", measured), ("off_by", off), ("threshold", OFF_LIMIT_MAX)],
                    format!(
                        "The {} volume gives {} {what}, its limit allows {} ({:+.1} %).",
                        volume.role.name(),
                        count(measured),
                        count(expected),
                        off * 100.0
                    ),
                    if off < 0.0 {
                        "This machine's own disk is slower than the volume it models, or was busy: raise provider.local.scale, \
                         or use a faster or idle disk for work_directory."
                    } else {
                        "The limit does not hold: check with `iopslab doctor` that the cgroup controller limits this device."
                    },
                )
            })
        })
        .collect()
}

/// The facts of a volume's role among a trial's volumes.
pub fn probe_of(volumes: &[VolumeFacts], role: spec::VolumeRole) -> Option<ProbeResult> {
    volumes.iter().find(|v| v.role == role).and_then(|v| v.probe)
}
