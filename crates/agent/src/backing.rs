//! What a volume is on this host: an emulated one, a directory of the host's own, or a part of a device given to the
//! run.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use catalog::MIB;
use evidence::HostSample;
use experiment::{Burst, ByteBurst, MachineStorage, ServedAs, VolumeRole, VolumeSetup};
use process::machine;
use storage::{Disk, Ledger, LedgerItem, LoopVolume, ServedGauge, StorageError, VolumeServer, io_error};
use volume::{Model, Unit, VolumeFault};
use wire::MachineUse;

use super::shared::with;

/// Below a directory of the user's: everything that a run puts there.
pub(super) const BELOW: &str = "iopslab";

/// Below the run's directory: where its volumes are mounted.
const MOUNTS: &str = "mnt";

/// A device that all configurations of a run share, with where it is mounted.
type SharedDisk = Arc<Mutex<Disk>>;

/// What holds a volume's files.
pub(super) enum Backing {
    /// A file behind a loop device.
    Image(Box<LoopVolume>),
    /// The same without a file system of its own: one of an array's members.
    Member(Box<LoopVolume>),
    /// A directory; it is there as long as the run.
    Directory(PathBuf),
    /// A directory on a device.
    Disk { disk: SharedDisk, mount: PathBuf },
}

impl Backing {
    /// Makes it ready for files, one of an array's members ready for the array; nothing happens if it is.
    pub fn attach(&mut self, root: &Path) -> Result<(), StorageError> {
        match self {
            Self::Image(volume) if volume.mount_point().is_none() => volume.attach_and_mount(root),
            Self::Member(volume) => volume.attach(),
            Self::Image(_) | Self::Directory(_) => Ok(()),
            Self::Disk { disk, mount } => with(disk, |disk| disk.mount(mount)),
        }
    }

    /// Gives up what it holds of the machine besides its bytes.
    pub fn detach(&mut self) -> Result<(), StorageError> {
        match self {
            Self::Image(volume) | Self::Member(volume) => volume.unmount_and_detach(),
            Self::Directory(_) => Ok(()),
            Self::Disk { disk, .. } => with(disk, Disk::unmount),
        }
    }

    /// From now on, until it is detached, a served volume is what its setup says, its credits as at the start. Before
    /// that it is as fast as this machine. Nothing happens to one that nobody serves.
    pub fn behave(&self, setup: &VolumeSetup) -> Result<(), StorageError> {
        let served = self.emulated().zip(setup.served);
        served.map_or(Ok(()), |(volume, served)| volume.behave(&model(setup, served)))
    }

    /// A served volume is as fast as this machine again.
    pub fn relax(&self) -> Result<(), StorageError> {
        self.emulated().map_or(Ok(()), |volume| volume.behave(&Model::unlimited()))
    }

    /// A served volume has these faults from now on instead of those before; `false`: nobody serves it, who could.
    pub fn set_faults(&self, faults: &[VolumeFault]) -> Result<bool, StorageError> {
        let served = self.emulated().filter(|volume| volume.gauge().is_some());
        served.map_or(Ok(false), |volume| volume.set_faults(faults).map(|()| true))
    }

    /// Who keeps it by a mount namespace of their own.
    pub fn held_elsewhere(&self) -> Option<String> {
        match self {
            Self::Image(volume) => volume.held_elsewhere(),
            Self::Disk { disk, .. } => with(disk, |disk| disk.held_elsewhere()),
            // What is mounted of members is their array.
            Self::Member(_) | Self::Directory(_) => None,
        }
    }

    /// Whom to ask what a served volume does.
    pub fn gauge(&self) -> Option<ServedGauge> {
        self.emulated()?.gauge()
    }

    /// Nothing of it is in the page cache.
    pub fn cool(&mut self, root: &Path) -> Result<(), StorageError> {
        match self {
            Self::Directory(directory) => storage::drop_page_cache(directory),
            // The page cache is that of the array's file system.
            Self::Member(_) => Ok(()),
            Self::Image(_) | Self::Disk { .. } => {
                self.detach()?;
                self.attach(root)
            }
        }
    }

    /// Whether it is a file of this machine that stands for a volume.
    pub fn is_emulated(&self) -> bool {
        self.emulated().is_some()
    }

    fn emulated(&self) -> Option<&LoopVolume> {
        match self {
            Self::Image(volume) | Self::Member(volume) => Some(volume),
            Self::Directory(_) | Self::Disk { .. } => None,
        }
    }

    /// The volume, if it is one of an array's members.
    pub fn member(&self) -> Option<&LoopVolume> {
        match self {
            Self::Member(volume) => Some(volume),
            Self::Image(_) | Self::Directory(_) | Self::Disk { .. } => None,
        }
    }

    /// Kernel name of its device, if there is one.
    pub fn device(&self) -> Option<String> {
        match self {
            Self::Image(volume) | Self::Member(volume) => volume.device().map(str::to_owned),
            Self::Directory(directory) => storage::device_of(directory),
            Self::Disk { disk, .. } => Some(with(disk, |disk| disk.name())),
        }
    }

    /// Number of a device that is this volume's alone, so that it can be limited.
    pub fn own_device_number(&self) -> Option<(u32, u32)> {
        match self {
            Self::Image(volume) | Self::Member(volume) => volume.device_number(),
            Self::Directory(_) => None,
            Self::Disk { disk, .. } => with(disk, |disk| disk.number()),
        }
    }
}

/// A served volume that is watched, with its bucket.
pub(super) struct Served {
    pub role: VolumeRole,
    pub gauge: ServedGauge,
    pub burst: Option<Burst>,
    pub byte_burst: Option<ByteBurst>,
}

impl Served {
    /// What its server says of it. Errors: when the server is lost: the volume answers with errors then.
    pub fn note(&self, sample: &mut HostSample) -> Result<(), StorageError> {
        let (counts, page) = self.gauge.sample()?;
        sample.ebs.extend(monitor::ebs_figures(&page).map(|own| (self.role, own)));
        let figures = sample.volumes.entry(self.role).or_default();
        figures.disk_floor_s = Some(counts.disk_floor_s);
        figures.cpu_floor_s = Some(counts.cpu_floor_s);
        figures.server_cpu_s = Some(counts.server_cpu_s);
        figures.burst_credits = counts.request_credits;
        // Less than one request is an empty bucket; hard disks have requests of 1 MiB.
        figures.iops_limit = self.burst.zip(counts.request_credits).map(|(burst, credits)| {
            if credits >= 1.0 { burst.burst_iops.max(burst.baseline_iops) } else { burst.baseline_iops }
        });
        figures.byte_credits = counts.byte_credits;
        figures.bytes_limit = self.byte_burst.zip(counts.byte_credits).map(|(burst, credits)| {
            if credits >= MIB {
                burst.burst_bytes_per_s.max(burst.baseline_bytes_per_s)
            } else {
                burst.baseline_bytes_per_s
            }
        });
        Ok(())
    }
}

/// Where the volumes of a run come from.
pub(super) struct Store {
    ledger: Arc<Ledger>,
    /// The run's directory in the work directory.
    directory: PathBuf,
    /// The run's name.
    run: String,
    machine_use: Option<MachineUse>,
    /// Devices that have their file system.
    disks: Vec<(String, SharedDisk)>,
    /// The process that answers for served volumes, once there is one.
    server: Option<Arc<VolumeServer>>,
    /// Volumes that were given up so far: their names are taken.
    given_up: u32,
}

impl Store {
    /// Nothing is made yet.
    pub fn new(ledger: &Arc<Ledger>, directory: PathBuf, run: &str, machine_use: Option<MachineUse>) -> Self {
        Self {
            ledger: Arc::clone(ledger),
            directory,
            run: run.to_owned(),
            machine_use,
            disks: Vec::new(),
            server: None,
            given_up: 0,
        }
    }

    /// Volumes stay as they are, in the ledger, because somebody else keeps them; those that are made next have other
    /// names.
    pub fn give_up(&mut self) {
        self.given_up += 1;
    }

    fn name_of(&self, name: &str) -> String {
        match self.given_up {
            0 => name.to_owned(),
            n => format!("{name}-{}", n + 1),
        }
    }

    /// Where what is made is written down.
    pub fn ledger(&self) -> Arc<Ledger> {
        Arc::clone(&self.ledger)
    }

    /// A volume that is ready for files, with the directory in which they are.
    pub fn volume(&mut self, setup: &VolumeSetup, name: &str) -> Result<(Backing, PathBuf), StorageError> {
        let of_machine = self.machine_use.as_ref().and_then(|machine_use| match setup.role {
            VolumeRole::Commitlog => machine_use.commitlog.clone().or_else(|| machine_use.data.clone()),
            // Several are planned only where nothing of the machine is stated for data.
            _ => machine_use.data.clone(),
        });
        match of_machine {
            None if self.machine_use.as_ref().is_none_or(|machine_use| machine_use.limits) => self.image(setup, name),
            None => {
                let root = self.directory.join("volumes").join(name);
                make(&root)?;
                Ok((Backing::Directory(root.clone()), root))
            }
            Some(MachineStorage::Directory(given)) => {
                let of_run = Path::new(&given).join(BELOW).join(&self.run);
                if !of_run.exists() {
                    self.ledger.allow(Path::new(&given))?;
                    let path = std::fs::canonicalize(&given).map_err(io_error("resolve", Path::new(&given)))?;
                    let path = path.join(BELOW).join(&self.run);
                    self.ledger.intend(LedgerItem::Directory { path })?;
                }
                let root = of_run.join(name);
                make(&root)?;
                Ok((Backing::Directory(root.clone()), root))
            }
            Some(MachineStorage::Device(device)) => self.part_of(&device, name),
        }
    }

    fn image(&mut self, setup: &VolumeSetup, name: &str) -> Result<(Backing, PathBuf), StorageError> {
        let volume = self.emulated(setup, name, LoopVolume::create)?;
        let mut backing = Backing::Image(Box::new(volume));
        let root = self.mount_point(&self.name_of(name));
        backing.attach(&root)?;
        Ok((backing, root))
    }

    /// A volume with nothing on it, for an array.
    pub fn member(&mut self, setup: &VolumeSetup, name: &str) -> Result<Backing, StorageError> {
        let volume = self.emulated(setup, name, LoopVolume::create_member)?;
        Ok(Backing::Member(Box::new(volume)))
    }

    /// Where a file system of this name is mounted.
    pub fn mount_point(&self, name: &str) -> PathBuf {
        self.directory.join(MOUNTS).join(name)
    }

    fn emulated(
        &mut self,
        setup: &VolumeSetup,
        name: &str,
        create: fn(&Arc<Ledger>, &Path, u64) -> Result<LoopVolume, StorageError>,
    ) -> Result<LoopVolume, StorageError> {
        storage::share_mounts_below(&self.ledger, &self.directory.join(MOUNTS))?;
        let name = &self.name_of(name);
        let image = self.directory.join(format!("{name}.img"));
        // Of an attempt whose server was lost.
        guarded::if_there(std::fs::remove_file(&image)).map_err(io_error("delete", &image))?;
        let mut volume = create(&self.ledger, &image, setup.size_bytes)?;
        if setup.served.is_some() {
            volume.serve_by(&self.server()?, name, Model::unlimited());
        }
        Ok(volume)
    }

    /// Whether the process that answers for served volumes has ended although it should not. The next volume that is
    /// attached gets another one.
    pub fn is_server_lost(&self) -> bool {
        self.server.as_ref().is_some_and(|server| server.is_lost())
    }

    /// What the process that answers for served volumes lacks on this machine, for people; `None`: nothing, or there is
    /// none.
    pub fn note(&self) -> Option<String> {
        self.server.as_ref()?.hardening().note()
    }

    /// One process for all volumes of this host, outside of every database's cgroup.
    fn server(&mut self) -> Result<Arc<VolumeServer>, StorageError> {
        if let Some(server) = &self.server {
            return Ok(Arc::clone(server));
        }
        let own = Path::new("/proc/self/exe");
        let command = machine::volume_server().map_err(io_error("find this program by", own))?;
        let server = Arc::new(VolumeServer::start(&self.ledger, &command)?);
        self.server = Some(Arc::clone(&server));
        Ok(server)
    }

    fn part_of(&mut self, device: &str, name: &str) -> Result<(Backing, PathBuf), StorageError> {
        let place = device.trim_matches('/').replace('/', "-");
        storage::share_mounts_below(&self.ledger, &self.directory.join(MOUNTS))?;
        let mount = self.mount_point(&place);
        let known = self.disks.iter().find(|(of, _)| of == device);
        let disk = match known {
            Some((_, disk)) => Arc::clone(disk),
            None => {
                let disk = Arc::new(Mutex::new(Disk::format(&self.ledger, Path::new(device))?));
                self.disks.push((device.to_owned(), Arc::clone(&disk)));
                disk
            }
        };
        let root = mount.join(name);
        let mut backing = Backing::Disk { disk, mount };
        backing.attach(&root)?;
        make(&root)?;
        Ok((backing, root))
    }
}

/// How a served volume behaves.
fn model(setup: &VolumeSetup, served: ServedAs) -> Model {
    let mut limits = setup.limits;
    if setup.byte_burst.is_some() {
        // The byte bucket holds the byte limits instead.
        (limits.read_bytes_per_s, limits.write_bytes_per_s) = (None, None);
    }
    Model {
        limits,
        together: setup.is_combined(),
        burst: setup.burst,
        byte_burst: setup.byte_burst,
        unit: if served.is_hard_disk { Unit::HDD } else { Unit::SSD },
        latency: served.latency,
    }
}

fn make(directory: &Path) -> Result<(), StorageError> {
    std::fs::create_dir_all(directory).map_err(io_error("create", directory))
}

/// Whether configurations' limits are in force on this ground.
pub(super) fn is_limited(machine_use: Option<&MachineUse>) -> bool {
    machine_use.is_none_or(|machine_use| machine_use.limits)
}
