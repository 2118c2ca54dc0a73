//! How far the kernel reads ahead of what is asked of a block device (`queue/read_ahead_kb`), for as long as a volume
//! is attached. A loop device that is detached keeps it, and the next one who gets its number would have it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{major, minor};

use crate::error::{Result, StorageError, io_error};
use crate::ledger::{Ledger, LedgerId, LedgerItem};

/// What the kernel has a disk read ahead, KiB (`VM_READAHEAD_PAGES`, 128 KiB), also a volume of EBS. A loop device
/// would have 2 MiB and more, so that each fault in a mapped index read that much through the emulated limits.
pub const DISK_READ_AHEAD_KB: u32 = 128;

/// A device whose read-ahead is otherwise than it was, until it is put back.
#[derive(Debug)]
pub struct ReadAhead {
    ledger: Arc<Ledger>,
    entry: LedgerId,
    device: String,
    /// Which disk that was.
    disk: String,
    before_kb: u32,
}

impl ReadAhead {
    /// Has the kernel read `kb` KiB ahead on a device (`loop3`). Errors: the device has no such setting, or shows
    /// another figure after it was set.
    pub fn set(ledger: &Arc<Ledger>, device: &str, kb: u32) -> Result<Self> {
        let before_kb = read(device)?;
        let (device_of_entry, disk) = (device.to_owned(), disk_of(device)?);
        let entry = ledger.intend(LedgerItem::ReadAhead {
            device: device_of_entry.clone(),
            disk: disk.clone(),
            kb: before_kb,
        })?;
        let set = Self { ledger: Arc::clone(ledger), entry, device: device_of_entry, disk, before_kb };
        let shown = write(device, kb).and_then(|()| read(device));
        match shown {
            Ok(shown) if shown == kb => Ok(set),
            Ok(shown) => {
                // The difference is the error to report.
                let _ = set.put_back();
                let source = io::Error::other(format!("it shows {shown} after it was set"));
                Err(io_error(format!("have {kb} KiB read ahead by"), &path(device))(source))
            }
            Err(error) => {
                let _ = set.put_back();
                Err(error)
            }
        }
    }

    /// Which device.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// What the device shows now, KiB.
    pub fn shown_kb(&self) -> Result<u32> {
        read(&self.device)
    }

    /// As it was. Errors: it cannot be written.
    pub fn put_back(self) -> Result<()> {
        put_back(&self.device, &self.disk, self.before_kb)?;
        self.ledger.done(self.entry)
    }
}

/// How far the kernel reads ahead of what is asked of the file system of a directory, KiB; `None` where it does not
/// say. Nothing is changed.
pub fn read_ahead_kb_of(directory: &Path) -> Option<u32> {
    let number = fs::metadata(directory).ok()?.dev();
    let number = format!("{}:{}", major(number), minor(number));
    // A whole disk, or a file system without one (NFS); else a partition has the queue of the disk above it.
    let places = [
        format!("/sys/class/bdi/{number}/read_ahead_kb"),
        format!("/sys/dev/block/{number}/queue/read_ahead_kb"),
        format!("/sys/dev/block/{number}/../queue/read_ahead_kb"),
    ];
    let reported = places.iter().filter_map(|place| fs::read_to_string(place).ok());
    reported.filter_map(|text| text.trim().parse().ok()).next()
}

/// A device's read-ahead as it was; whether it was otherwise. A device that is gone has none, and one that is another
/// disk by now stays as it is.
pub(crate) fn put_back(device: &str, disk: &str, kb: u32) -> Result<bool> {
    if disk_of(device)? != disk {
        return Ok(false);
    }
    match read(device) {
        Ok(now) if now == kb => Ok(false),
        Ok(_) => write(device, kb).map(|()| true),
        Err(StorageError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Where the kernel shows block devices.
const DEVICES: &str = "/sys/class/block";

/// Which disk a name means now. The kernel numbers the disks of a boot (`diskseq`), and a loop device with each file
/// that it gets; before Linux 5.15 it does not, and the device's own number and file have to do.
fn disk_of(device: &str) -> Result<String> {
    let boot = Path::new("/proc/sys/kernel/random/boot_id");
    let boot = fs::read_to_string(boot).map_err(io_error("read", boot))?;
    let fact = |file: &str| {
        let text = fs::read_to_string(Path::new(DEVICES).join(device).join(file)).ok()?;
        Some(text.trim().to_owned())
    };
    let by_number = || Some(format!("{} {}", fact("dev")?, fact("loop/backing_file").unwrap_or_default()));
    // One that is gone is no disk.
    let disk = fact("diskseq").or_else(by_number).unwrap_or_default();
    Ok(format!("{} {disk}", boot.trim()))
}

fn path(device: &str) -> PathBuf {
    Path::new(DEVICES).join(device).join("queue/read_ahead_kb")
}

fn read(device: &str) -> Result<u32> {
    let path = path(device);
    let text = fs::read_to_string(&path).map_err(io_error("read", &path))?;
    let number = text.trim().parse();
    number.map_err(|_| io_error("understand", &path)(io::Error::other(format!("`{}`", text.trim()))))
}

fn write(device: &str, kb: u32) -> Result<()> {
    let path = path(device);
    fs::write(&path, kb.to_string()).map_err(io_error(format!("write {kb} to"), &path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_another_disk_by_now_stays_as_it_is() {
        let devices = fs::read_dir(DEVICES).into_iter().flatten().flatten();
        let mut names = devices.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let Some((device, kb)) = names.find_map(|name| Some((read(&name).ok()?, name))).map(|(kb, name)| (name, kb))
        else {
            println!("skipped: this machine has no block device");
            return;
        };
        let disk = disk_of(&device).unwrap();
        assert!(!put_back(&device, &disk, kb).unwrap(), "it is as it was");
        for other in ["", "another", &disk[..disk.len() - 1]] {
            assert!(!put_back(&device, other, kb + 4).unwrap(), "{other}");
            assert_eq!(read(&device).unwrap(), kb, "{other}");
        }
        assert!(!put_back("no-such-device", &disk, kb).unwrap());
    }

    #[test]
    fn a_file_system_without_a_device_tells_no_read_ahead_and_a_disk_tells_its_own() {
        assert_eq!(read_ahead_kb_of(Path::new("/proc")), None);
        assert_eq!(read_ahead_kb_of(Path::new("/no/such/directory")), None);
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        // Where the tests run may have no disk of its own; one that is a whole disk shows the same figure in its queue.
        if let Some(own) = crate::cold::device_of(here).and_then(|device| read(&device).ok()) {
            assert_eq!(read_ahead_kb_of(here), Some(own));
        }
    }
}
