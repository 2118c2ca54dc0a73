//! A whole device of the user's, given to a run: XFS is made on it if nothing is on it, and wiped off afterwards.
//!
//! Data is never at risk by a mistyped name: a device that carries any signature (file system, partition table, RAID,
//! LVM, encryption; wipefs(8)) or that anybody holds (mounted, swap, part of an array) is refused, mkfs.xfs is run
//! without force, and what is wiped later is only the file system with the UUID that was written into the ledger.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{OFlags, major, minor};

use crate::command::{call, require};
use crate::error::{Result, StorageError, io_error};
use crate::file_system::{MKFS, Mounted};
use crate::ledger::{Ledger, LedgerItem};
use crate::mounts::{self, IfBusy, await_copies, is_mounted};

/// Longer than mkfs.xfs takes on terabytes: it writes its headers only.
const FORMAT_PATIENCE: Duration = Duration::from_secs(300);
/// Reading signatures.
const LOOK_PATIENCE: Duration = Duration::from_secs(30);
const WIPEFS: (&str, &str) = ("wipefs", "util-linux");
/// For people who look at the device meanwhile; at most 12 characters (mkfs.xfs(8)).
const LABEL: &str = "iopslab";

/// A device with a file system of this run's. Dropping it unmounts as well as it can; what remains is in the ledger.
#[derive(Debug)]
pub struct Disk {
    ledger: Arc<Ledger>,
    device: PathBuf,
    mounted: Option<Mounted>,
}

impl Disk {
    /// Looks whether a device is empty and nobody's; changes nothing. Gives its own path, without links. Errors:
    /// [`StorageError::DeviceInUse`] when anything is on it, or when somebody holds it.
    pub fn check(device: &Path) -> Result<PathBuf> {
        let device = fs::canonicalize(device).map_err(io_error("find the device", device))?;
        let in_use = |found: &str| StorageError::DeviceInUse { device: device.clone(), found: found.to_owned() };
        let kind = fs::metadata(&device).map_err(io_error("examine", &device))?;
        if !kind.file_type().is_block_device() {
            return Err(in_use("it is no block device"));
        }
        // open(2): O_EXCL on a block device fails with EBUSY if it is in use by the system, for example mounted.
        let exclusive = OFlags::EXCL.bits() as i32;
        match OpenOptions::new().read(true).custom_flags(exclusive).open(&device) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => return Err(in_use("somebody uses it")),
            Err(error) => return Err(io_error("open", &device)(error)),
        }
        match signatures(&device)?.first() {
            Some(found) => Err(in_use(&format!("wipefs finds {found}"))),
            None => Ok(device),
        }
    }

    /// Makes a file system on an empty device. Errors: as [`Self::check`], which it calls first.
    pub fn format(ledger: &Arc<Ledger>, device: &Path) -> Result<Self> {
        require(MKFS.0, MKFS.1)?;
        let device = Self::check(device)?;
        let random = Path::new("/proc/sys/kernel/random/uuid");
        let uuid = fs::read_to_string(random).map_err(io_error("read", random))?.trim().to_owned();
        let entry = ledger.intend(LedgerItem::FileSystem { device: device.clone(), uuid: uuid.clone() })?;
        let options = format!("crc=1,reflink=1,uuid={uuid}");
        let words = ["-q", "-K", "-L", LABEL, "-m", &options].map(OsStr::new);
        if let Err(error) = call(MKFS, words.into_iter().chain([device.as_os_str()]), FORMAT_PATIENCE) {
            // The first error is the one to report; a remnant stays in the ledger.
            if wipe(&device, &uuid).is_ok() {
                let _ = ledger.done(entry);
            }
            return Err(error);
        }
        Ok(Self { ledger: Arc::clone(ledger), device, mounted: None })
    }

    /// Mounts it, unless it is mounted. Errors: the system refuses; or somebody else keeps what was mounted before, so
    /// that nothing of it would be cold.
    pub fn mount(&mut self, mount_point: &Path) -> Result<()> {
        if let Some(mounted) = &self.mounted {
            if is_mounted(mounted.path())? {
                return Ok(());
            }
            self.release(IfBusy::Refuse)?;
        }
        self.mounted.insert(Mounted::prepare(&self.ledger, mount_point)?).mount(&self.device)
    }

    /// Unmounts it; nothing to do is success. This is the cold start, too.
    pub fn unmount(&mut self) -> Result<()> {
        self.release(IfBusy::Refuse)
    }

    fn release(&mut self, if_busy: IfBusy) -> Result<()> {
        if let Some(mounted) = &self.mounted {
            mounted.unmount_and(&self.ledger, if_busy, || match (self.number(), if_busy) {
                (Some(number), IfBusy::Refuse) => await_copies(number, &self.device),
                _ => Ok(()),
            })?;
            self.mounted = None;
        }
        Ok(())
    }

    /// Who keeps it, which is mounted nowhere here, by a mount namespace of their own.
    pub fn held_elsewhere(&self) -> Option<String> {
        match is_mounted(self.mounted.as_ref()?.path()) {
            Ok(false) => mounts::held_elsewhere(self.number()?),
            _ => None,
        }
    }

    /// Its kernel name: `nvme1n1`.
    pub fn name(&self) -> String {
        let name = self.device.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Its major and minor number.
    pub fn number(&self) -> Option<(u32, u32)> {
        number_of(&self.device)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A drop reports nothing; what could not be undone is still in the ledger.
        let _ = self.release(IfBusy::Detach);
    }
}

fn number_of(device: &Path) -> Option<(u32, u32)> {
    let number = fs::metadata(device).ok()?.rdev();
    Some((major(number), minor(number)))
}

/// Wipes the file system with this UUID off a device; returns whether it was there. Anything else on it stays. Errors:
/// the system refuses; [`StorageError::Busy`] says in which mount namespace it is mounted.
pub(crate) fn wipe(device: &Path, uuid: &str) -> Result<bool> {
    if !device.exists() {
        return Ok(false);
    }
    let found = signatures(device)?;
    let Some(offset) = found.iter().find_map(|line| offset_of(line, uuid)) else { return Ok(false) };
    if let Some(who) = number_of(device).and_then(mounts::held_elsewhere) {
        let holders = format!("it is mounted in the mount namespace of {who}, too");
        return Err(StorageError::Busy { path: device.to_owned(), holders });
    }
    let words = ["--offset", offset].map(OsStr::new);
    call(WIPEFS, words.into_iter().chain([device.as_os_str()]), LOOK_PATIENCE).map(|_| true)
}

/// Where a signature begins, as wipefs(8) writes it, if it is that of this UUID: a label says whatever its owner likes.
fn offset_of<'l>(signature: &'l str, uuid: &str) -> Option<&'l str> {
    let mut fields = signature.split(',');
    let (offset, found) = (fields.next()?, fields.next()?);
    (found == uuid).then_some(offset)
}

/// What wipefs(8) finds on a device, one line each: offset, UUID, label, type.
fn signatures(device: &Path) -> Result<Vec<String>> {
    let listed = call(WIPEFS, [OsStr::new("--parsable"), device.as_os_str()], LOOK_PATIENCE)?;
    let lines = listed.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    Ok(lines.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_a_file_system_by_its_uuid_alone() {
        let (ours, other) = ("0c3b2d3e-7a0e-4f5b-9e35-1d0a5f2b9a11", "11111111-7a0e-4f5b-9e35-1d0a5f2b9a11");
        let of = |line: &str| offset_of(line, ours).map(str::to_owned);
        assert_eq!(of(&format!("0x0,{ours},iopslab,xfs")), Some("0x0".to_owned()));
        assert_eq!(of(&format!("0x10040,{other},{ours},btrfs")), None, "a label of our UUID is somebody's label");
        assert_eq!(of(&format!("0x1fe,,,dos {ours}")), None);
        assert_eq!(of(""), None);
    }
}
