//! The volumes of a configuration alone, without a database: made, measured under their limits, and deleted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use experiment::{IoLimits, Setup, VolumeRole};
use storage::{Cgroup, Ledger, ProbeRequest, ProbeSuite, ResourceLimits, StorageError, io_error};

use super::backing::Store;
use super::host::Host;
use super::volumes::{CGROUP_ROOT, Volumes, device_limit, starting_limits};

/// A volume of a configuration, or an array of several, measured.
#[derive(Debug)]
pub struct ProbedVolume {
    /// Which of its volumes; of an array the first.
    pub role: VolumeRole,
    /// What it models.
    pub label: String,
    /// Its limits on this machine; of an array all together.
    pub limits: IoLimits,
    /// How far its device read ahead, KiB.
    pub read_ahead_kb: Option<u32>,
    /// What it delivered.
    pub suite: ProbeSuite,
}

/// Makes the volumes of a configuration below `directory`, measures each by itself, an array as one, and deletes them.
/// Before each test `tell` is called with what it is, and once with what the volumes lack on this machine. Errors:
/// where the machine cannot make or limit volumes, or a test fails. What was made is in the ledger.
pub fn probe_configuration(
    ledger: &Arc<Ledger>,
    directory: PathBuf,
    setup: &Setup,
    asked: &ProbeRequest,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<ProbedVolume>, StorageError> {
    std::fs::create_dir_all(&directory).map_err(io_error("create", &directory))?;
    let mut store = Store::new(ledger, directory, "probe", None);
    let mut volumes = Volumes::create(&mut store, (setup, &[]), None, None)?;
    if let Some(note) = store.note() {
        tell(&format!("note: {note}"));
    }
    volumes.read_ahead()?;
    let read_ahead_kb = volumes.read_ahead_kb()?;
    let mut probed = Vec::new();
    for group in volumes.groups() {
        let Some(first) = group.first() else { continue };
        let cgroup =
            Cgroup::create(Path::new(CGROUP_ROOT), ledger, &Host::cgroup_name("probe"), &ResourceLimits::default())?;
        let mut limit = || -> Result<(), StorageError> {
            volumes.behave()?;
            let mut limits = group.iter().filter_map(device_limit);
            limits.try_for_each(|limit| cgroup.set_device_limits(limit.device, &limit.limits))
        };
        let suite = storage::probe_suite(&first.root, &cgroup.launch_prefix(), asked, &mut limit, tell);
        cgroup.remove()?;
        group.iter().try_for_each(|mounted| mounted.backing.relax())?;
        let layout = setup.layout.filter(|_| group.len() > 1);
        probed.push(ProbedVolume {
            role: first.setup.role,
            label: layout.map_or_else(
                || first.setup.label.clone(),
                |layout| format!("{} x {} ({})", group.len(), first.setup.label, layout.label()),
            ),
            limits: starting_limits(&first.setup).scaled(1.0 / group.len() as f64),
            read_ahead_kb: read_ahead_kb.get(first.setup.role.name()).copied(),
            suite: suite?,
        });
    }
    volumes.detach()?;
    Ok(probed)
}
