//! An emulated volume: sparse file -> loop device (direct I/O) -> XFS -> mounted.
//!
//! # Choices, and why
//!
//! * **Direct I/O** between loop device and image: otherwise the host's page cache would hold a second copy of the
//!   volume and answer reads that the volume should answer.
//! * **XFS**, as the published Cassandra studies used, with `reflink=1` so that a data set is restored in a moment, an
//!   explicit 64 MiB log so that the log does not grow with the volume, and 4 KiB sectors so that the same image works
//!   whatever block size the loop driver takes over from the host's disk.
//! * **Mounted with `noatime,nodiratime,nosuid,nodev,nouuid` and without `discard`**: reading must not write; nothing
//!   on it is ever run as somebody else, whatever a data set from a store holds; copies of an image share a UUID; and a
//!   discard would be an I/O that the limits count and that the real volume does not have. The price: space freed
//!   inside the volume stays allocated in the image until the image is deleted, so count on `size_bytes` of the host's
//!   disk for each volume (see [`crate::free_bytes`]).
//! * **Unmount and mount is the cold start**: it drops this volume's page cache and nobody else's.
//!
//! # When the host's disk fills up
//!
//! The image is sparse: making a volume larger than the host's free space succeeds, and later writes fail inside the
//! volume with EIO, upon which XFS shuts down. Nothing is silently lost, but the database dies; check
//! [`crate::free_bytes`] before starting, as [`crate::preflight()`] does.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use served::Counts;
use volume::{Model, VolumeFault};

use crate::error::{Result, io_error};
use crate::file_system::{self, Mounted};
use crate::ledger::{Ledger, LedgerId, LedgerItem};
use crate::loops::{self, LoopBacking, LoopDevice};
use crate::mounts::{self, IfBusy};
use crate::server::{ServedFile, ServedGauge, VolumeServer};

/// A volume. Dropping it unmounts and detaches it as well as it can; its image stays, see [`LoopVolume::delete`].
#[derive(Debug)]
pub struct LoopVolume {
    ledger: Arc<Ledger>,
    image: PathBuf,
    image_entry: Option<LedgerId>,
    /// By whom the image is served, under which name.
    server: Option<(Arc<VolumeServer>, String)>,
    /// How it behaves when it is.
    model: Model,
    served: Option<ServedFile>,
    attached: Option<Attached>,
    mounted: Option<Mounted>,
}

#[derive(Debug)]
struct Attached {
    device: LoopDevice,
    /// The file behind it: the image, or the one that is served for it.
    backing: PathBuf,
    entry: LedgerId,
}

impl LoopVolume {
    /// Makes a new image with an empty file system; `image` must not exist. Not attached yet.
    pub fn create(ledger: &Arc<Ledger>, image: &Path, size_bytes: u64) -> Result<Self> {
        Self::make(ledger, image, size_bytes, file_system::make)
    }

    /// The same with nothing on it, for an [`crate::Array`].
    pub fn create_member(ledger: &Arc<Ledger>, image: &Path, size_bytes: u64) -> Result<Self> {
        Self::make(ledger, image, size_bytes, |_| Ok(()))
    }

    fn make(
        ledger: &Arc<Ledger>,
        image: &Path,
        size_bytes: u64,
        fill: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<Self> {
        let image = std::path::absolute(image).map_err(io_error("resolve", image))?;
        // The loop driver reports its backing file without symbolic links; the ledger must name it the same way.
        let image = match (image.parent().map(fs::canonicalize), image.file_name()) {
            (Some(Ok(parent)), Some(name)) => parent.join(name),
            (Some(Err(error)), _) => return Err(io_error("create a volume image in the directory of", &image)(error)),
            _ => image,
        };
        if image.exists() {
            return Err(io_error("create the volume image", &image)(std::io::Error::from(
                std::io::ErrorKind::AlreadyExists,
            )));
        }
        let entry = ledger.intend(LedgerItem::File { path: image.clone() })?;
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&image)
            .and_then(|file| file.set_len(size_bytes))
            .map_err(io_error(format!("create a volume image of {size_bytes} bytes at"), &image))
            .and_then(|()| fill(&image));
        if let Err(error) = made {
            // The first error is the one to report; a remnant stays in the ledger.
            if fs::remove_file(&image).is_ok() {
                let _ = ledger.done(entry);
            }
            return Err(error);
        }
        Ok(Self::of(ledger, image, Some(entry)))
    }

    /// A volume whose image exists already. The image itself is not entered into the ledger.
    pub fn open(ledger: &Arc<Ledger>, image: &Path) -> Result<Self> {
        let image = fs::canonicalize(image).map_err(io_error("open the volume image", image))?;
        Ok(Self::of(ledger, image, None))
    }

    fn of(ledger: &Arc<Ledger>, image: PathBuf, image_entry: Option<LedgerId>) -> Self {
        Self {
            ledger: Arc::clone(ledger),
            image,
            image_entry,
            server: None,
            model: Model::unlimited(),
            served: None,
            attached: None,
            mounted: None,
        }
    }

    /// From the next attachment on a server answers for it as a volume of this model would; `name` is what it is
    /// called there.
    pub fn serve_by(&mut self, server: &Arc<VolumeServer>, name: &str, model: Model) {
        self.server = Some((Arc::clone(server), name.to_owned()));
        self.model = model;
    }

    /// It behaves like this until it is detached; its credits are those of the model's start. Nothing happens where
    /// nobody serves it.
    pub fn behave(&self, model: &Model) -> Result<()> {
        self.asked_of_server(|server, name| server.change(name, model)).map(drop)
    }

    /// It has these faults from now on instead of those before, their times counted from now. Nothing happens where
    /// nobody serves it.
    pub fn set_faults(&self, faults: &[VolumeFault]) -> Result<()> {
        self.asked_of_server(|server, name| server.set_faults_of(name, faults)).map(drop)
    }

    /// Whom to ask what it does; `None` where nobody serves it, who would count.
    pub fn gauge(&self) -> Option<ServedGauge> {
        let (server, name) = self.server.as_ref()?;
        Some(ServedGauge { server: Arc::clone(server), name: name.clone() })
    }

    /// What it did since it was attached; `None` where nobody serves it, who would count.
    pub fn served_counts(&self) -> Result<Option<Counts>> {
        self.asked_of_server(|server, name| server.count(name))
    }

    fn asked_of_server<T>(&self, ask: impl FnOnce(&VolumeServer, &str) -> Result<T>) -> Result<Option<T>> {
        match (&self.server, &self.served) {
            (Some((server, name)), Some(_)) => ask(server, name).map(Some),
            _ => Ok(None),
        }
    }

    /// Attaches the image to a free loop device and mounts it at `mount_point`, which is created if missing.
    pub fn attach_and_mount(&mut self, mount_point: &Path) -> Result<()> {
        self.unmount_and_detach()?;
        self.attach()?;
        let result = self.mount(mount_point);
        if result.is_err() {
            // The first error is the one to report; what remains is in the ledger.
            let _ = self.unmount_and_detach();
        }
        result
    }

    /// Attaches the image to a free loop device; nothing happens if it is attached.
    pub fn attach(&mut self) -> Result<()> {
        if self.attached.is_some() {
            return Ok(());
        }
        let result = self.try_attach();
        if result.is_err() {
            // As above.
            let _ = self.unmount_and_detach();
        }
        result
    }

    fn try_attach(&mut self) -> Result<()> {
        let (backing, behind) = match &self.server {
            None => (self.image.clone(), LoopBacking::Image),
            Some((server, name)) => {
                let served = self.served.insert(ServedFile::prepare(&self.ledger, &self.image)?);
                served.mount(server, name, &self.image, &self.model)?;
                (served.path().to_owned(), LoopBacking::Served)
            }
        };
        let entry = self.ledger.intend(LedgerItem::LoopDevice { image: backing.clone() })?;
        let device = match loops::attach(&backing, behind) {
            Ok(device) => device,
            Err(error) => {
                if loops::find(&backing).is_empty() {
                    self.ledger.done(entry)?;
                }
                return Err(error);
            }
        };
        let source = device.path();
        self.attached = Some(Attached { device, backing, entry });
        match &self.server {
            Some((server, name)) => server.measure_the_way(name, &source, &self.model),
            None => Ok(()),
        }
    }

    fn mount(&mut self, mount_point: &Path) -> Result<()> {
        let Some(attached) = &self.attached else { return Ok(()) };
        self.mounted.insert(Mounted::prepare(&self.ledger, mount_point)?).mount(&attached.device.path())
    }

    /// Its device, and the file behind that, while it is attached.
    pub(crate) fn attached(&self) -> Option<(PathBuf, &Path)> {
        let attached = self.attached.as_ref()?;
        Some((attached.device.path(), &attached.backing))
    }

    /// Unmounts and detaches, held back by nothing; nothing to do is success. This is also the cold start: it drops the
    /// page cache of this volume alone.
    pub fn unmount_and_detach(&mut self) -> Result<()> {
        self.release(IfBusy::Refuse)
    }

    fn release(&mut self, if_busy: IfBusy) -> Result<()> {
        // What is still to be written must not wait for limits; where the server is lost nothing is written any more.
        let _ = self.behave(&Model::unlimited());
        if let Some(mounted) = &self.mounted {
            mounted.unmount(&self.ledger, if_busy)?;
            self.mounted = None;
        }
        if let Some(attached) = &self.attached {
            attached.device.detach(&attached.backing)?;
            self.ledger.done(attached.entry)?;
            self.attached = None;
        }
        if let Some(served) = &mut self.served {
            served.unmount(if_busy)?;
            self.served = None;
        }
        Ok(())
    }

    /// Unmounts, detaches and deletes the image.
    pub fn delete(mut self) -> Result<()> {
        self.release(IfBusy::Refuse)?;
        fs::remove_file(&self.image).map_err(io_error("delete the volume image", &self.image))?;
        self.keep()
    }

    /// Takes the image out of the ledger: it is meant to outlive the run.
    pub fn keep(&mut self) -> Result<()> {
        self.image_entry.take().map_or(Ok(()), |entry| self.ledger.done(entry))
    }

    /// The image.
    pub fn image(&self) -> &Path {
        &self.image
    }

    /// `loop3`, while attached.
    pub fn device(&self) -> Option<&str> {
        self.attached.as_ref().map(|a| a.device.name.as_str())
    }

    /// Major and minor number, while attached.
    pub fn device_number(&self) -> Option<(u32, u32)> {
        self.attached.as_ref().map(|a| a.device.number)
    }

    /// Where it is mounted, while it is.
    pub fn mount_point(&self) -> Option<&Path> {
        self.mounted.as_ref().map(Mounted::path)
    }

    /// Who keeps its device, which is mounted nowhere here, by a mount namespace of their own.
    pub fn held_elsewhere(&self) -> Option<String> {
        let attached = self.attached.as_ref().filter(|_| self.mounted.is_none())?;
        mounts::held_elsewhere(attached.device.number)
    }
}

impl Drop for LoopVolume {
    fn drop(&mut self) {
        // A drop reports nothing; what could not be undone is still in the ledger.
        let _ = self.release(IfBusy::Detach);
    }
}
