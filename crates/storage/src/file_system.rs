//! XFS on what stands for a disk: made once, mounted as long as it is used.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::mount::{MountFlags, mount};

use crate::command::call;
use crate::error::{Result, io_error};
use crate::ledger::{Ledger, LedgerId, LedgerItem};
use crate::mounts::{IfBusy, unmount_all};

/// The program that makes it, and its package.
pub(crate) const MKFS: (&str, &str) = ("mkfs.xfs", "xfsprogs");
/// What is stated; stripe unit and width of an array mkfs.xfs(8) reads from the device.
const OPTIONS: &str = "-q -K -m crc=1,reflink=1 -l size=64m -s size=4096";
/// It writes its headers only.
const PATIENCE: Duration = Duration::from_secs(120);

/// Makes an empty file system on an image or a device that has none.
pub(crate) fn make(on: &Path) -> Result<()> {
    call(MKFS, OPTIONS.split(' ').map(OsStr::new).chain([on.as_os_str()]), PATIENCE).map(drop)
}

/// A mount point that the ledger knows.
#[derive(Debug)]
pub(crate) struct Mounted {
    path: PathBuf,
    entry: LedgerId,
}

impl Mounted {
    /// Makes the mount point if it is missing, and enters it; [`Self::mount`] follows.
    pub fn prepare(ledger: &Ledger, mount_point: &Path) -> Result<Self> {
        fs::create_dir_all(mount_point).map_err(io_error("create the mount point", mount_point))?;
        // mountinfo shows the resolved path; the ledger must name it the same way.
        let path = fs::canonicalize(mount_point).map_err(io_error("resolve the mount point", mount_point))?;
        let entry = ledger.intend(LedgerItem::Mount { path: path.clone() })?;
        Ok(Self { path, entry })
    }

    /// Mounts the file system of a device.
    pub fn mount(&self, device: &Path) -> Result<()> {
        // What a data set holds is read, never run and never a device.
        let flags = MountFlags::NOATIME | MountFlags::NODIRATIME | MountFlags::NOSUID | MountFlags::NODEV;
        mount(device, &self.path, c"xfs", flags, c"nouuid")
            .map_err(io_error(format!("mount {} (XFS; see dmesg for the reason) on", device.display()), &self.path))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Unmounts it; what is done already is success.
    pub fn unmount(&self, ledger: &Ledger, if_busy: IfBusy) -> Result<()> {
        self.unmount_and(ledger, if_busy, || Ok(()))
    }

    /// The same; it counts as undone once `ended` has succeeded as well.
    pub fn unmount_and(&self, ledger: &Ledger, if_busy: IfBusy, ended: impl FnOnce() -> Result<()>) -> Result<()> {
        unmount_all(&self.path, if_busy)?;
        ended()?;
        ledger.done(self.entry)
    }
}
