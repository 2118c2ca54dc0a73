//! The volumes of the configurations that one database process can serve, on this host: created once a run, filled from
//! the snapshot, restored before each trial. Which of the configurations they are, [`Volumes::turn_into`] says.
//!
//! A data volume holds `pristine/` (its part of the snapshot, copied once) and `data/` (what the database uses). Both
//! lie on the same XFS, so that a restore is a reflink: instant, and it costs the volume no data I/O. Mounting anew
//! afterwards makes the page cache cold for this volume alone. On a directory of the host's own the copy is a reflink
//! where its file system can, and the files are dropped from the page cache one by one. Data volumes that are striped
//! have one file system, that of their array.

mod probed;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use database::{Account, AccountError};
use evidence::{Initialised, ProbeResult, VolumeFacts};
use experiment::{IoLimits, Setup, VolumeRole, VolumeSetup};
use process::machine;
use storage::{Array, DISK_READ_AHEAD_KB, DeviceLimit, Ledger, ReadAhead, ServedGauge, StorageError};
use volume::{Model, VolumeFault};

use super::backing::{Backing, Served, Store};

/// Where cgroups live.
pub const CGROUP_ROOT: &str = "/sys/fs/cgroup";

/// One volume with its measurement.
pub(super) struct Mounted {
    pub setup: VolumeSetup,
    pub backing: Backing,
    /// Where its files are.
    pub root: PathBuf,
    pub probe: Option<ProbeResult>,
    /// `None`: it was made empty.
    pub initialised: Option<Initialised>,
}

/// The array of striped data volumes.
struct Striped {
    array: Array,
    /// Where its files are.
    root: PathBuf,
}

/// Below the root of a volume: the data set as it was loaded, what the database uses, and what it is about to take in.
const PRISTINE: &str = "pristine";
const DATA: &str = "data";
/// Below the root of the volume that has the commit log.
const COMMITLOG: &str = "commitlog";
const RENEWED: &str = "renewed";

/// The volumes of configurations that share a process.
pub(super) struct Volumes {
    /// `None`: each volume has a file system of its own. It ends before its members do.
    striped: Option<Striped>,
    /// Data, then commit log; those of the array have its root.
    pub mounted: Vec<Mounted>,
    /// What served ones share on their way to the instance.
    instance_limits: Option<IoLimits>,
    ledger: Arc<Ledger>,
    /// How far their devices read ahead in trials, KiB; `None`: as they do.
    read_ahead_kb: Option<u32>,
    /// By role, from the restore of a trial until they are detached.
    read_ahead: BTreeMap<VolumeRole, ReadAhead>,
    /// What each of the configurations was measured to deliver, in the order of the volumes.
    probes: BTreeMap<String, Vec<ProbeResult>>,
    /// What volumes like these were measured to deliver.
    measured: Vec<(VolumeSetup, ProbeResult)>,
}

impl Volumes {
    /// Makes the volumes, each as large as the largest of its role, and copies the snapshot, if there is one, onto the
    /// one for data, which shares its blocks where it lies there already; onto several each its part, onto their array
    /// all of it.
    pub fn create(
        store: &mut Store,
        (setup, others): (&Setup, &[Setup]),
        snapshot: Option<&Path>,
        initialised: Option<&Initialised>,
    ) -> Result<Self, StorageError> {
        let striped = setup.chunk_kib().map(|chunk_kib| Striped {
            array: Array::new(&store.ledger(), chunk_kib),
            root: store.mount_point(&format!("{}-array", setup.configuration)),
        });
        let mut mounted = Vec::new();
        for volume_setup in setup.volumes() {
            let of_others = others.iter().filter_map(|other| other.volume(volume_setup.role));
            let volume_setup = &VolumeSetup {
                size_bytes: of_others.map(|v| v.size_bytes).fold(volume_setup.size_bytes, u64::max),
                ..volume_setup.clone()
            };
            let name = format!("{}-{}", setup.configuration, volume_setup.role.name());
            let of_array = striped.as_ref().filter(|_| volume_setup.role.is_data());
            let (backing, root) = match of_array {
                Some(striped) => (store.member(volume_setup, &name)?, striped.root.clone()),
                None => store.volume(volume_setup, &name)?,
            };
            mounted.push(Mounted {
                setup: volume_setup.clone(),
                backing,
                root,
                probe: None,
                initialised: initialised.filter(|_| volume_setup.role == VolumeRole::Data).cloned(),
            });
        }
        let mut volumes = Self {
            striped,
            mounted,
            instance_limits: setup.instance_limits,
            ledger: store.ledger(),
            read_ahead_kb: setup.settings.read_ahead_kb,
            read_ahead: BTreeMap::new(),
            probes: BTreeMap::new(),
            measured: Vec::new(),
        };
        volumes.attach()?;
        if let Some(data) = snapshot {
            let parts = data_parts(data, setup.data_directory_count());
            for (part, root) in parts.iter().zip(volumes.data_roots()) {
                storage::copy_tree(part, &root.join(PRISTINE))?;
            }
        }
        Ok(volumes)
    }

    /// Which of them somebody else keeps by a mount namespace of their own, and who, in words: it can neither be
    /// unmounted for all nor made cold.
    pub fn held_elsewhere(&self) -> Option<String> {
        let held = |m: &Mounted| {
            let who = m.backing.held_elsewhere()?;
            Some(format!("the volume for {} is kept by the mount namespace of {who}", m.setup.role.name()))
        };
        let of_array = || {
            let who = self.striped.as_ref()?.array.held_elsewhere()?;
            Some(format!("the array of the volumes for data is kept by the mount namespace of {who}"))
        };
        self.mounted.iter().find_map(held).or_else(of_array)
    }

    /// Whether they are files of this machine, instead of which others can be made.
    pub fn can_be_made_anew(&self) -> bool {
        self.mounted.iter().all(|m| m.backing.is_emulated())
    }

    /// The data set on them belongs to the user of the database, and so do its copies for trials.
    pub fn hand_to(&self, account: &Account) -> Result<(), AccountError> {
        let roots = self.data_roots().into_iter().map(|root| root.join(PRISTINE));
        roots.filter(|pristine| pristine.exists()).try_for_each(|pristine| account.own(&pristine))
    }

    /// Makes all of them ready for files; nothing happens to those that are.
    fn attach(&mut self) -> Result<(), StorageError> {
        self.mounted.iter_mut().try_for_each(|m| m.backing.attach(&m.root))?;
        let Some(Striped { array, root }) = &mut self.striped else { return Ok(()) };
        let members = self.mounted.iter().filter_map(|m| m.backing.member());
        array.build_and_mount(members, root)
    }

    /// Those that are measured at the same time: all of an array, any other one alone.
    pub fn groups(&self) -> impl Iterator<Item = &[Mounted]> {
        let members = self.mounted.iter().filter(|m| m.backing.member().is_some());
        let (array, others) = self.mounted.split_at(members.count());
        let array = std::iter::once(array).filter(|array| !array.is_empty());
        array.chain(others.chunks(1))
    }

    /// From now on they are those of this configuration; what they do changes with [`Self::behave`]. Their sizes stay.
    pub fn turn_into(&mut self, setup: &Setup) {
        let probes = self.probes.get(&setup.configuration);
        for (number, mounted) in self.mounted.iter_mut().enumerate() {
            if let Some(volume) = setup.volume(mounted.setup.role) {
                mounted.setup = VolumeSetup { size_bytes: mounted.setup.size_bytes, ..volume.clone() };
            }
            mounted.probe = probes.and_then(|of_each| of_each.get(number).copied());
        }
        self.instance_limits = setup.instance_limits;
    }

    /// Served volumes are as fast as this machine again: all that can be.
    pub fn relax(&self) -> Result<(), StorageError> {
        self.mounted.iter().map(|m| m.backing.relax()).fold(Ok(()), Result::and)
    }

    /// Copies of what was loaded into a keyspace, one for each data directory, for a database that runs to take in.
    /// Nothing of them is in the page cache.
    pub fn renew(&self, keyspace: &str) -> Result<Vec<PathBuf>, StorageError> {
        let roots = self.data_roots();
        for root in &roots {
            let target = root.join(RENEWED).join(keyspace);
            storage::restore_tree(&root.join(PRISTINE).join(keyspace), &target)?;
            if self.mounted.iter().any(|m| m.root == *root && !m.backing.is_emulated()) {
                storage::drop_page_cache(&target)?;
            }
        }
        Ok(roots.iter().map(|root| root.join(RENEWED)).collect())
    }

    /// The data directories hold what was loaded again, in blocks of its own, and the commit log nothing, for a
    /// database that is to start: none runs. Nothing of them is in the page cache.
    pub fn renew_all(&self) -> Result<(), StorageError> {
        for root in self.data_roots() {
            let target = root.join(DATA);
            // A database that takes no files in while it runs writes them in place.
            storage::restore_apart(&root.join(PRISTINE), &target)?;
            storage::drop_page_cache(&target)?;
        }
        self.mounted.iter().try_for_each(|mounted| storage::remove_tree(&mounted.root.join(COMMITLOG)))
    }

    /// From now on, until they are detached, served volumes are what their setups say, alone and together.
    pub fn behave(&self) -> Result<(), StorageError> {
        self.mounted.iter().try_for_each(|m| m.backing.behave(&m.setup))?;
        let Some(limits) = self.instance_limits else { return Ok(()) };
        // Those of one EBS card share it; where there are such, a volume on none is behind no path.
        let has_cards = self.mounted.iter().any(|m| m.setup.card.is_some());
        let mut sharing: BTreeMap<Option<u32>, Vec<ServedGauge>> = BTreeMap::new();
        for mounted in self.mounted.iter().filter(|m| m.setup.card.is_some() == has_cards) {
            sharing.entry(mounted.setup.card).or_default().extend(mounted.backing.gauge());
        }
        sharing.values().try_for_each(|gauges| ServedGauge::share(gauges, &Model::limited(limits)))
    }

    /// Restores the data, empties the commit log, and makes everything cold.
    pub fn restore(&mut self) -> Result<u64, StorageError> {
        self.attach()?;
        let mut data_bytes = 0;
        for root in self.data_roots() {
            data_bytes += storage::restore_tree(&root.join(PRISTINE), &root.join(DATA))?.bytes;
        }
        for mounted in &mut self.mounted {
            storage::remove_tree(&mounted.root.join(COMMITLOG))?;
            mounted.backing.cool(&mounted.root)?;
        }
        if let Some(striped) = &mut self.striped {
            striped.array.cool()?;
        }
        // A device that several volumes share was mounted by the last of them.
        self.attach()?;
        self.read_ahead()?;
        Ok(data_bytes)
    }

    /// Their devices read ahead as the configuration says, emulated ones else as a disk does.
    pub fn read_ahead(&mut self) -> Result<(), StorageError> {
        for mounted in &self.mounted {
            let usual = mounted.backing.is_emulated().then_some(DISK_READ_AHEAD_KB);
            let Some(kb) = self.read_ahead_kb.or(usual) else { continue };
            // Volumes on one device, and those of an array, have one read-ahead.
            let is_new = |device: &String| self.read_ahead.values().all(|set| set.device() != device);
            let device = self.array_of(mounted).or_else(|| mounted.backing.device()).filter(is_new);
            if let Some(device) = device {
                let set = ReadAhead::set(&self.ledger, &device, kb)?;
                self.read_ahead.insert(mounted.setup.role, set);
            }
        }
        Ok(())
    }

    /// How far each device reads ahead now, KiB, by the role of its volume, where the configuration says it or it is
    /// emulated.
    pub fn read_ahead_kb(&self) -> Result<BTreeMap<String, u32>, StorageError> {
        let shown = |(role, set): (&VolumeRole, &ReadAhead)| Ok((role.name().to_owned(), set.shown_kb()?));
        self.read_ahead.iter().map(shown).collect()
    }

    /// The volume of this role has these faults from now on instead of those before; `false`: there is none that could.
    pub fn set_faults(&self, role: VolumeRole, faults: &[VolumeFault]) -> Result<bool, StorageError> {
        self.of(role).map_or(Ok(false), |mounted| mounted.backing.set_faults(faults))
    }

    /// Requests to the served volume of this role that have ended with an error since it was attached.
    pub fn failed_requests(&self, role: VolumeRole) -> Option<u64> {
        Some(self.of(role)?.backing.gauge()?.counts().ok()?.errors)
    }

    /// No volume has a fault. One whose server is lost has none any more.
    pub fn lift_faults(&self) {
        for mounted in &self.mounted {
            if let Err(error) = mounted.backing.set_faults(&[]) {
                tracing::warn!("{error}");
            }
        }
    }

    pub fn size_bytes(&self, role: VolumeRole) -> Option<u64> {
        self.of(role).map(|mounted| mounted.setup.size_bytes)
    }

    fn of(&self, role: VolumeRole) -> Option<&Mounted> {
        self.mounted.iter().find(|mounted| mounted.setup.role == role)
    }

    /// The process that answers for volumes runs on the first so many CPUs from now on; where the system refuses, as in
    /// a container that has others, it stays where it is.
    pub fn answered_on_first(&self, cpus: usize) {
        // One for all.
        let gauge = self.mounted.iter().find_map(|m| m.backing.gauge());
        if let Some(Err(error)) = gauge.map(|gauge| gauge.run_on(&machine::first_cpus(cpus))) {
            tracing::warn!("the volume server may run on the database's CPUs: {error}");
        }
    }

    /// Unmounts and detaches everything, held back by nothing. What cannot be detached keeps nothing else.
    pub fn detach(&mut self) -> Result<(), StorageError> {
        // Before their array is unmounted; where the server is lost nothing is written any more.
        let _ = self.relax();
        let read_ahead = std::mem::take(&mut self.read_ahead);
        let put_back = read_ahead.into_values().map(ReadAhead::put_back).fold(Ok(()), Result::and);
        if let Some(striped) = &mut self.striped {
            striped.array.unmount_and_stop()?;
        }
        self.mounted.iter_mut().map(|m| m.backing.detach()).fold(put_back, Result::and)
    }

    /// Roots of the file systems for data: one on each data volume, or that of their array.
    fn data_roots(&self) -> Vec<PathBuf> {
        match &self.striped {
            Some(striped) => vec![striped.root.clone()],
            None => {
                let data = self.mounted.iter().filter(|mounted| mounted.setup.role.is_data());
                data.map(|mounted| mounted.root.clone()).collect()
            }
        }
    }

    /// Where the database's data directories are, in the order of the snapshot's parts.
    pub fn data_directories(&self) -> Vec<PathBuf> {
        self.data_roots().into_iter().map(|root| root.join(DATA)).collect()
    }

    /// Kernel name of the array that a volume is a member of, while that runs.
    fn array_of(&self, mounted: &Mounted) -> Option<String> {
        mounted.backing.member()?;
        self.striped.as_ref()?.array.device().map(str::to_owned)
    }

    /// Where the commit log is: on its own volume, or beside the data.
    pub fn commitlog_directory(&self) -> PathBuf {
        let found = self.of(VolumeRole::Commitlog).or_else(|| self.mounted.first());
        found.expect("a configuration has a data volume").root.join(COMMITLOG)
    }

    /// Kernel names of the devices that are attached, or that hold a directory.
    pub fn devices(&self) -> BTreeMap<VolumeRole, String> {
        let name = |m: &Mounted| Some((m.setup.role, m.backing.device()?));
        self.mounted.iter().filter_map(name).collect()
    }

    /// Bytes that the devices which are attached have given since they were.
    pub fn read_bytes(&self) -> u64 {
        let of = |device: String| monitor::block_device(Path::new("/"), &device)?.read_bytes;
        self.devices().into_values().filter_map(of).sum::<f64>() as u64
    }

    /// Volumes that a process answers for.
    pub fn served(&self) -> Vec<Served> {
        let of = |m: &Mounted| {
            Some(Served {
                role: m.setup.role,
                gauge: m.backing.gauge()?,
                burst: m.setup.burst,
                byte_burst: m.setup.byte_burst,
            })
        };
        self.mounted.iter().filter_map(of).collect()
    }

    /// Why the process that answers for those that are attached does not, if there is one and it does not.
    pub fn lost(&self) -> Option<String> {
        let attached = self.mounted.iter().filter(|m| m.backing.device().is_some());
        let gauges = attached.filter_map(|m| m.backing.gauge());
        let mut errors = gauges.filter_map(|gauge| gauge.counts().err());
        errors.next().map(|error| error.to_string())
    }

    /// Read requests that the devices of data volumes have completed.
    pub fn data_reads(&self) -> f64 {
        let data = self.mounted.iter().filter(|m| m.setup.role.is_data());
        let devices: BTreeSet<String> = data.filter_map(|m| m.backing.device()).collect();
        let of = |device: &String| monitor::block_device(Path::new("/"), device)?.reads;
        devices.iter().filter_map(of).sum()
    }

    /// What the record of a trial says about them.
    pub fn facts(&self) -> Vec<VolumeFacts> {
        self.mounted
            .iter()
            .map(|m| VolumeFacts {
                role: m.setup.role,
                label: m.setup.label.clone(),
                device: m.backing.device().unwrap_or_default(),
                array: self.array_of(m),
                limits: starting_limits(&m.setup),
                probe: m.probe,
                burst_credits: None,
                byte_credits: None,
                is_served: m.setup.served.is_some(),
                combined: m.setup.combined,
                initialised: m.initialised.clone(),
            })
            .collect()
    }
}

/// The data directories of a snapshot, or of a node that loads one: `data` itself, or where there are several one below
/// it for each data volume, called as that is. A database keeps the ranges of a directory there, so that their order
/// stays.
pub(super) fn data_parts(data: &Path, count: u32) -> Vec<PathBuf> {
    match count {
        0 | 1 => vec![data.to_owned()],
        n => VolumeRole::DATA.into_iter().take(n as usize).map(|role| data.join(role.name())).collect(),
    }
}

/// The limit of a volume on its device, if it is attached; none where a process answers for it.
pub(super) fn device_limit(mounted: &Mounted) -> Option<DeviceLimit> {
    let throttled = Some(&mounted.backing).filter(|_| mounted.setup.served.is_none())?;
    throttled.own_device_number().map(|device| DeviceLimit { device, limits: starting_limits(&mounted.setup) })
}

/// The limits in force when a trial starts: those of the bucket's first moment where there is one. A throttled volume
/// keeps them.
pub(super) fn starting_limits(setup: &VolumeSetup) -> IoLimits {
    let iops = setup.burst.map(|bucket| match bucket.credits_start > 0.0 {
        true => bucket.burst_iops.max(bucket.baseline_iops),
        false => bucket.baseline_iops,
    });
    let bytes = setup.byte_burst.map(|bucket| match bucket.credits_start > 0.0 {
        true => bucket.burst_bytes_per_s,
        false => bucket.baseline_bytes_per_s,
    });
    setup.limits.min(IoLimits::symmetric(iops, bytes.map(|bytes| bytes / catalog::MIB)))
}
