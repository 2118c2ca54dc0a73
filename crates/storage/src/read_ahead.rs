//! How far the kernel reads ahead of what is asked of a block device (`queue/read_ahead_kb`), for as long as a volume is
//! attached. A loop device that is detached keeps it, and the next one who gets its number would have it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Result, StorageError, io_error};
use crate::ledger::{Ledger, LedgerId, LedgerItem};

/// A device whose read-ahead is otherwise than it was, until it is put back.
#[derive(Debug)]
pub struct ReadAhead {
    ledger: Arc<Ledger>,
    entry: LedgerId,
    device: String,
    before_kb: u32,
}

impl ReadAhead {
    /// Has the kernel read `kb` KiB ahead on a device (`loop3`).
    ///
    /// # Errors
    ///
    /// The device has no such setting, or shows another figure after it was set.
    pub fn set(ledger: &Arc<Ledger>, device: &str, kb: u32) -> Result<Self> {
        let before_kb = read(device)?;
        let entry = ledger.intend(LedgerItem::ReadAhead {
            device: device.to_owned(),
            kb: before_kb,
        })?;
        let set = Self {
            ledger: Arc::clone(ledger),
            entry,
            device: device.to_owned(),
            before_kb,
        };
        let shown = write(device, kb).and_then(|()| read(device));
        match shown {
            Ok(shown) if shown == kb => Ok(set),
            Ok(shown) => {
                // The difference is what is worth telling.
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
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn shown_kb(&self) -> Result<u32> {
        read(&self.device)
    }

    /// As it was.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn put_back(self) -> Result<()> {
        put_back(&self.device, self.before_kb)?;
        self.ledger.done(self.entry)
    }
}

/// A device's read-ahead as it was; whether it was otherwise. A device that is gone has none.
pub(crate) fn put_back(device: &str, kb: u32) -> Result<bool> {
    match read(device) {
        Ok(now) if now == kb => Ok(false),
        Ok(_) => write(device, kb).map(|()| true),
        Err(StorageError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn path(device: &str) -> PathBuf {
    Path::new("/sys/class/block").join(device).join("queue/read_ahead_kb")
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
