//! The volumes of one configuration on this host: created once a run, filled from the snapshot, restored before each
//! trial.
//!
//! A data volume holds `pristine/` (the snapshot, copied once) and `data/` (what the database uses). Both lie on the same
//! XFS, so that a restore is a reflink: instant, and it costs the volume no data I/O. Mounting anew afterwards makes
//! the page cache cold for this volume alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evidence::{ProbeResult, VolumeFacts};
use spec::{IoLimits, Setup, VolumeRole, VolumeSetup};
use storage::{BurstBucket, Cgroup, DeviceLimit, Ledger, ResourceLimits, StorageError, Volume};

/// Where cgroups live.
pub const CGROUP_ROOT: &str = "/sys/fs/cgroup";
/// Seconds that each half of the fio probe runs.
const PROBE_SECONDS: f64 = 2.0;
/// Size of the probe's file; small enough for every volume, large enough for no device cache here.
const PROBE_BYTES: u64 = 128 << 20;

/// One volume with its measurement.
pub(super) struct Mounted {
    pub setup: VolumeSetup,
    pub volume: Volume,
    pub mount_point: PathBuf,
    pub probe: Option<ProbeResult>,
}

/// A configuration's volumes.
pub(super) struct Volumes {
    pub mounted: Vec<Mounted>,
}

impl Volumes {
    /// Creates the images, mounts them, and copies the snapshot onto the data volume.
    pub fn create(
        ledger: &Arc<Ledger>,
        directory: &Path,
        setup: &Setup,
        snapshot: &Path,
    ) -> Result<Self, StorageError> {
        let mut mounted = Vec::new();
        for volume_setup in std::iter::once(&setup.data).chain(setup.commitlog.as_ref()) {
            let name = format!("{}-{}", setup.configuration, volume_setup.role.name());
            let mut volume = Volume::create(ledger, &directory.join(format!("{name}.img")), volume_setup.size_bytes)?;
            let mount_point = directory.join("mnt").join(&name);
            volume.attach_and_mount(&mount_point)?;
            if volume_setup.role == VolumeRole::Data {
                storage::copy_tree(snapshot, &mount_point.join("pristine"))?;
            }
            mounted.push(Mounted {
                setup: volume_setup.clone(),
                volume,
                mount_point,
                probe: None,
            });
        }
        Ok(Self { mounted })
    }

    /// Measures every volume under its limits.
    pub fn probe(&mut self, ledger: &Arc<Ledger>, cgroup_name: &str) -> Result<(), StorageError> {
        for mounted in &mut self.mounted {
            let limits = ResourceLimits {
                devices: device_limit(mounted).into_iter().collect(),
                ..Default::default()
            };
            let cgroup = Cgroup::create(Path::new(CGROUP_ROOT), ledger, cgroup_name, &limits)?;
            let measured = storage::probe(
                &mounted.mount_point,
                &cgroup.launch_prefix(),
                PROBE_SECONDS,
                PROBE_BYTES,
            );
            cgroup.remove()?;
            let measured = measured?;
            mounted.probe = Some(ProbeResult {
                read_iops: measured.read_iops,
                read_latency_us: measured.read_latency_us,
                write_bytes_per_s: measured.write_bytes_per_s,
                write_iops: measured.write_iops,
                seconds: measured.seconds,
            });
        }
        Ok(())
    }

    /// Restores the data, empties the commit log, and mounts everything anew: cold.
    pub fn restore(&mut self) -> Result<u64, StorageError> {
        let mut data_bytes = 0;
        for mounted in &mut self.mounted {
            if mounted.volume.mount_point().is_none() {
                mounted.volume.attach_and_mount(&mounted.mount_point)?;
            }
            match mounted.setup.role {
                VolumeRole::Data => {
                    let restored = storage::restore_tree(
                        &mounted.mount_point.join("pristine"),
                        &mounted.mount_point.join("data"),
                    )?;
                    data_bytes = restored.bytes;
                    storage::remove_tree(&mounted.mount_point.join("commitlog"))?;
                }
                VolumeRole::Commitlog => storage::remove_tree(&mounted.mount_point.join("commitlog"))?,
            }
            mounted.volume.unmount_and_detach()?;
            mounted.volume.attach_and_mount(&mounted.mount_point)?;
        }
        Ok(data_bytes)
    }

    /// Unmounts and detaches everything.
    pub fn detach(&mut self) -> Result<(), StorageError> {
        self.mounted.iter_mut().try_for_each(|m| m.volume.unmount_and_detach())
    }

    /// Where the database's data directory is.
    pub fn data_directory(&self) -> PathBuf {
        self.by_role(VolumeRole::Data).join("data")
    }

    /// Where the commit log is: on its own volume, or beside the data.
    pub fn commitlog_directory(&self) -> PathBuf {
        self.by_role(VolumeRole::Commitlog).join("commitlog")
    }

    /// Kernel names of the devices that are attached.
    pub fn devices(&self) -> BTreeMap<VolumeRole, String> {
        let name = |m: &Mounted| Some((m.setup.role, m.volume.device()?.to_owned()));
        self.mounted.iter().filter_map(name).collect()
    }

    fn by_role(&self, role: VolumeRole) -> &Path {
        let found = self
            .mounted
            .iter()
            .find(|m| m.setup.role == role)
            .or_else(|| self.mounted.first());
        &found.expect("a configuration has a data volume").mount_point
    }

    /// What the record of a trial says about them.
    pub fn facts(&self) -> Vec<VolumeFacts> {
        self.mounted
            .iter()
            .map(|m| VolumeFacts {
                role: m.setup.role,
                label: m.setup.label.clone(),
                device: m.volume.device().unwrap_or_default().to_owned(),
                limits: starting_limits(&m.setup),
                probe: m.probe,
                burst_credits: None,
            })
            .collect()
    }
}

/// The limit of a volume on its device, if it is attached.
pub(super) fn device_limit(mounted: &Mounted) -> Option<DeviceLimit> {
    mounted.volume.device_number().map(|device| DeviceLimit {
        device,
        limits: starting_limits(&mounted.setup),
    })
}

/// The limits in force when a trial starts: those of the bucket's first moment where there is one.
pub(super) fn starting_limits(setup: &VolumeSetup) -> IoLimits {
    match setup.burst {
        Some(burst) => {
            let now = BurstBucket::new(burst).limit_iops();
            setup.limits.min(IoLimits::symmetric(Some(now), None))
        }
        None => setup.limits,
    }
}
