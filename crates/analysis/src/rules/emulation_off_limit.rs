//! Is a volume what was asked for? fio measured it before the trials. One that was bought is not emulated, and should
//! be what is stated of it all the same.

use std::collections::BTreeMap;

use evidence::{HostId, ProbeResult};
use experiment::{IoLimits, VolumeRole};
use serde::{Deserialize, Serialize};

use crate::document::{ConfigurationFacts, VolumeReport};
use crate::fact::VolumeLimit;
use crate::seen::{Seen, SeenOn};

/// fio measured a volume off its limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct EmulationOffLimit {
    pub volume: VolumeRole,
    /// What fio measured: reads per second, or bytes written per second.
    pub probed: VolumeLimit,
    /// What the limit allows, by `probed`.
    pub expected: f64,
    pub measured: f64,
    /// How much more, as a share; less where negative.
    pub off_by: f64,
    /// Allowed share in either direction.
    pub threshold: f64,
    /// Whether the volume was bought: nobody emulates it.
    pub is_bought: bool,
}

/// A volume may deliver this much more or less than its limit.
const OFF_LIMIT_MAX: f64 = 0.10;

/// The volumes of a configuration that are off; of several nodes those whose volume is are named.
pub(crate) fn of_configuration(configuration: &ConfigurationFacts) -> Vec<Seen<EmulationOffLimit>> {
    let of_volume = |volume: &VolumeReport| match volume.probes.is_empty() {
        true => volume.probe.iter().flat_map(|p| off_limit(configuration, volume, p)).map(Seen::from).collect(),
        false => on_nodes(configuration, volume),
    };
    configuration.volumes.iter().flat_map(of_volume).collect()
}

/// One for each figure of the probe: that of the node that is furthest off.
fn on_nodes(configuration: &ConfigurationFacts, volume: &VolumeReport) -> Vec<Seen<EmulationOffLimit>> {
    let mut by_figure: BTreeMap<VolumeLimit, Vec<(HostId, EmulationOffLimit)>> = BTreeMap::new();
    for (node, probe) in &volume.probes {
        for found in off_limit(configuration, volume, probe) {
            by_figure.entry(found.probed).or_default().push((*node, found));
        }
    }
    let furthest = |mut found: Vec<(HostId, EmulationOffLimit)>| {
        found.sort_by(|a, b| b.1.off_by.abs().total_cmp(&a.1.off_by.abs()));
        let names = found.iter().map(|(node, _)| *node).collect();
        let (_, figures) = found.into_iter().next()?;
        Some(Seen { figures, nodes: Some(SeenOn::some(names, volume.probes.len())) })
    };
    by_figure.into_values().filter_map(furthest).collect()
}

/// What the limits allow the probe's reads, requests per second.
pub fn expected_read_iops(limits: &IoLimits) -> Option<f64> {
    least(limits.read_iops, limits.read_bytes_per_s.map(|b| b / ProbeResult::READ_BYTES))
}

/// What the limits allow the probe's writes, bytes per second.
pub fn expected_write_bytes_per_s(limits: &IoLimits) -> Option<f64> {
    least(limits.write_bytes_per_s, limits.write_iops.map(|i| i * ProbeResult::WRITE_BYTES))
}

fn least(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// A bursting volume may be anywhere between its baseline and its ceiling while the probe runs.
fn off_limit(configuration: &ConfigurationFacts, volume: &VolumeReport, probe: &ProbeResult) -> Vec<EmulationOffLimit> {
    let lasting = volume.byte_burst.map(|b| b.baseline_bytes_per_s);
    let floor = IoLimits {
        read_bytes_per_s: lasting,
        write_bytes_per_s: lasting,
        ..IoLimits::symmetric(volume.burst.map(|b| b.baseline_iops), None)
    };
    let floor = floor.min(volume.limits);
    let checks = [
        (VolumeLimit::ReadIops, expected_read_iops(&volume.limits), expected_read_iops(&floor), probe.read_iops),
        (
            VolumeLimit::WriteBytesPerS,
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
            is_off.then_some(EmulationOffLimit {
                volume: volume.role,
                probed: what,
                expected,
                measured,
                off_by: off,
                threshold: OFF_LIMIT_MAX,
                is_bought: configuration.is_bought,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::finding::{Finding, Scope};
    use crate::rule::Rule;
    use crate::story::{Reported, job, measured, record, run, trials};

    /// gp2 delivered 60.1 of 60 (fine), io1 500 of 625 (-20 %).
    #[test]
    fn a_volume_off_its_limit_is_suspect_once_for_its_configuration() {
        let (job, trials) = (job(), trials());
        let analysis = analyse(&run(&job, &trials));
        let is_off = |f: &&Finding| f.rule() == Rule::EmulationOffLimit;
        let off: Vec<&Finding> = analysis.findings.iter().filter(is_off).collect();
        assert_eq!(off.len(), 1);
        assert_eq!(off[0].scope, Scope::Configuration("io1-10000".into()));
        let reported = off[0].figures::<EmulationOffLimit>().unwrap();
        assert_eq!((reported.expected, reported.measured), (625.0, 500.0));
    }

    /// gp2 at its baseline, in its burst, or on the way from one to the other: all as it should be.
    #[test]
    fn a_bursting_volume_may_be_between_baseline_and_ceiling() {
        let mut job = job();
        job.setups[1].data.burst =
            Some(experiment::Burst { baseline_iops: 300.0, burst_iops: 625.0, credits_max: 1e4, credits_start: 1e4 });
        let off = |probe_read_iops: f64| {
            let reported = Reported {
                configuration: "io1-10000",
                block: 1,
                operations: 120_000,
                device_reads: 9_600.0,
                probe_read_iops,
            };
            let analysis = analyse(&run(&job, &[measured(&record(reported), 9_600.0)]));
            analysis.findings.iter().any(|f| f.rule() == Rule::EmulationOffLimit)
        };
        assert_eq!([200.0, 290.0, 500.0, 640.0, 700.0].map(off), [true, false, false, false, true]);
    }
}
