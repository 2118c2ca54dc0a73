//! Volumes are measured before their first trial, each under the limits of its configuration.

use std::path::Path;
use std::sync::Arc;

use evidence::ProbeResult;
use experiment::Setup;
use storage::{Cgroup, Ledger, ProbeFigures, ResourceLimits, StorageError};

use super::{CGROUP_ROOT, Mounted, Volumes, device_limit, starting_limits};

/// Requests that each half of the fio probe waits for: served and throttled volumes give them evenly, so that one more
/// or less is all that chance does.
const PROBE_REQUESTS: f64 = 100.0;
/// Seconds that each half of the fio probe runs at least, and at most.
const PROBE_SECONDS: (f64, f64) = (1.0, 2.0);
/// Size of the probe's file; small enough for every volume, large enough for no device cache here.
const PROBE_BYTES: u64 = 128 << 20;

impl Volumes {
    /// Measures every volume of a configuration, under its limits in a cgroup of this name; without one as it is.
    pub fn probe(&mut self, setup: &Setup, cgroup_name: Option<&str>) -> Result<(), StorageError> {
        self.turn_into(setup);
        self.attach()?;
        let mut found: Vec<ProbeResult> = Vec::new();
        for group in self.groups() {
            // What another configuration has in this place, and has just like it, was measured.
            let known =
                |m: &Mounted| self.measured.iter().find(|(known, _)| *known == m.setup).map(|(_, result)| *result);
            if let Some(known) = group.iter().map(known).collect::<Option<Vec<_>>>() {
                found.extend(known);
                continue;
            }
            let measured = probe(group, &self.ledger, cgroup_name)?;
            found.extend(measured.into_iter().map(|measured| ProbeResult {
                read_iops: measured.read_iops,
                read_latency_us: measured.read_latency_us,
                write_bytes_per_s: measured.write_bytes_per_s,
                write_iops: measured.write_iops,
                seconds: measured.seconds,
            }));
        }
        let setups = self.mounted.iter().map(|m| m.setup.clone());
        self.measured.extend(setups.zip(found.iter().copied()));
        self.probes.insert(setup.configuration.clone(), found);
        self.turn_into(setup);
        Ok(())
    }
}

/// Measures a volume, or all of an array at the same time, from inside a cgroup of this name that is held to their
/// limits.
fn probe(
    group: &[Mounted],
    ledger: &Arc<Ledger>,
    cgroup_name: Option<&str>,
) -> Result<Vec<ProbeFigures>, StorageError> {
    let Some(first) = group.first() else { return Ok(Vec::new()) };
    let limits = ResourceLimits { devices: group.iter().filter_map(device_limit).collect(), ..Default::default() };
    let cgroup = cgroup_name.map(|name| Cgroup::create(Path::new(CGROUP_ROOT), ledger, name, &limits)).transpose()?;
    let prefix = cgroup.as_ref().map(Cgroup::launch_prefix).unwrap_or_default();
    let behave = || group.iter().try_for_each(|m| m.backing.behave(&m.setup));
    let slowest = group.iter().filter_map(|m| starting_limits(&m.setup).read_iops).fold(f64::INFINITY, f64::min);
    let seconds = (PROBE_REQUESTS / slowest).clamp(PROBE_SECONDS.0, PROBE_SECONDS.1);
    let measured = if first.backing.member().is_some() {
        let devices: Vec<String> = group.iter().filter_map(|m| m.backing.device()).collect();
        storage::probe_members(&first.root, &prefix, seconds, PROBE_BYTES, &devices, behave)
    } else {
        storage::probe(&first.root, &prefix, seconds, PROBE_BYTES, behave).map(|figures| vec![figures])
    };
    let relaxed = group.iter().try_for_each(|m| m.backing.relax());
    if let Some(cgroup) = cgroup {
        cgroup.remove()?;
    }
    let measured = measured?;
    relaxed?;
    Ok(measured)
}
