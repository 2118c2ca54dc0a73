//! The volumes of a configuration alone, without a database: made, measured under their limits, and deleted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use spec::{IoLimits, Setup, VolumeRole};
use storage::{Cgroup, Ledger, LimitController, ProbeAsked, ProbeSuite, ResourceLimits, StorageError};

use super::backing::Store;
use super::host::Host;
use super::limits::hold;
use super::volumes::{CGROUP_ROOT, Volumes, starting_limits};

/// A volume of a configuration, measured.
#[derive(Debug)]
pub struct ProbedVolume {
    /// Which of its volumes.
    pub role: VolumeRole,
    /// What it models.
    pub label: String,
    /// Its limits on this machine.
    pub limits: IoLimits,
    /// How far its device read ahead, KiB.
    pub read_ahead_kb: Option<u32>,
    /// What it delivered.
    pub suite: ProbeSuite,
}

/// Makes the volumes of a configuration below `directory`, measures each by itself, and deletes them. Before each test
/// `tell` is told what it is.
///
/// # Errors
/// Where the machine cannot make or limit volumes, or a test fails. What was made is in the ledger.
pub fn probe_configuration(
    ledger: &Arc<Ledger>,
    directory: PathBuf,
    setup: &Setup,
    asked: &ProbeAsked,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<ProbedVolume>, StorageError> {
    std::fs::create_dir_all(&directory).map_err(|source| StorageError::Io {
        doing: "create".to_owned(),
        path: directory.clone(),
        source,
    })?;
    let mut store = Store::new(ledger, directory, "probe", None);
    let mut volumes = Volumes::create(&mut store, setup, None, None)?;
    volumes.read_ahead()?;
    let read_ahead_kb = volumes.read_ahead_kb()?;
    let mut probed = Vec::new();
    for mounted in &volumes.mounted {
        let cgroup = Cgroup::create(
            Path::new(CGROUP_ROOT),
            ledger,
            &Host::cgroup_name("probe"),
            &ResourceLimits::default(),
        )?;
        let cgroup = Arc::new(cgroup);
        let mut moved = None;
        let mut limit = || -> Result<(), StorageError> {
            volumes.behave()?;
            moved = hold(&cgroup, mounted)?;
            Ok(())
        };
        let suite = storage::probe_suite(&mounted.root, &cgroup.launch_prefix(), asked, &mut limit, tell);
        // A limit that could not be moved any more does not matter once the tests are over.
        let _ = moved.map(LimitController::stop);
        cgroup.remove()?;
        mounted.backing.relax()?;
        probed.push(ProbedVolume {
            role: mounted.setup.role,
            label: mounted.setup.label.clone(),
            limits: starting_limits(&mounted.setup),
            read_ahead_kb: read_ahead_kb.get(mounted.setup.role.name()).copied(),
            suite: suite?,
        });
    }
    volumes.detach()?;
    Ok(probed)
}
