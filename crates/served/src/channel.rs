//! One served file: its mount, and the device on which the kernel asks for it.

use std::ffi::CString;
use std::io::IoSlice;
use std::path::Path;
use std::sync::Arc;

use rustix::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno as SystemErrno, read, writev};
use rustix::mount::{MountFlags, mount};

use crate::block::Block;
use crate::error::{Result, ServedError, io_error};
use crate::fuse::{self, Errno};
use crate::workers::Image;

const DEVICE: &str = "/dev/fuse";

/// Says why this machine can serve no volume; changes nothing.
///
/// # Errors
/// There is no `/dev/fuse`, or it may not be used.
pub fn available() -> Result<()> {
    connect().map(drop)
}

fn connect() -> Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    open(DEVICE, flags, Mode::empty())
        .map_err(|error| ServedError::NoFuse { path: DEVICE.into(), source: error.into() })
}

/// A served file.
#[derive(Debug)]
pub(crate) struct Channel {
    device: OwnedFd,
    pub image: Arc<Image>,
    /// Number of the connection.
    pub connection: u32,
}

/// What reading gave.
pub(crate) enum Received {
    Bytes(usize),
    /// Nothing is asked now.
    Nothing,
    /// The file is unmounted, or its connection was aborted.
    Gone,
}

impl Channel {
    /// Mounts the image as the file `at`.
    pub fn open(image: &Path, at: &Path) -> Result<Self> {
        let image = Arc::new(Image::open(image)?);
        let device = connect()?;
        let options =
            format!("fd={},rootmode=100600,user_id=0,group_id=0,allow_other,default_permissions", device.as_raw_fd());
        let options = CString::new(options).expect("it has no NUL");
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOATIME;
        mount("iopslab", at, c"fuse", flags, options.as_c_str()).map_err(io_error("mount a served volume on", at))?;
        Ok(Self { device, image, connection: connection_of(at)? })
    }

    /// The next request.
    pub fn receive(&self, block: &mut Block, from: usize) -> Received {
        loop {
            match read(&self.device, &mut block.bytes_mut()[from..]) {
                Ok(bytes) => return Received::Bytes(bytes),
                Err(SystemErrno::AGAIN) => return Received::Nothing,
                // Interrupted, or a request that was taken back before it was read.
                Err(SystemErrno::INTR | SystemErrno::NOENT) => {}
                Err(_) => return Received::Gone,
            }
        }
    }

    /// Answers a request.
    pub fn answer(&self, unique: u64, bytes: &[u8]) {
        let header = fuse::header(unique, None, bytes.len());
        // Refused where the asker is gone; nobody waits for it then.
        let _ = writev(&self.device, &[IoSlice::new(&header), IoSlice::new(bytes)]);
    }

    /// Answers a request with an error, or with nothing but success.
    pub fn answer_with(&self, unique: u64, error: Option<Errno>) {
        let header = fuse::header(unique, error, 0);
        let _ = writev(&self.device, &[IoSlice::new(&header)]);
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

/// The connection's number is the minor number of the file system's device. Asking the file itself would be asking
/// oneself.
fn connection_of(at: &Path) -> Result<u32> {
    let mountinfo = Path::new("/proc/self/mountinfo");
    let bytes = std::fs::read(mountinfo).map_err(io_error("read", mountinfo))?;
    let text = String::from_utf8_lossy(&bytes);
    let point = [('\\', r"\134"), (' ', r"\040"), ('\t', r"\011"), ('\n', r"\012")]
        .iter()
        .fold(at.to_string_lossy().into_owned(), |point, (plain, escaped)| point.replace(*plain, escaped));
    let device = text.lines().rev().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(2);
        let (device, mounted) = (fields.next()?, fields.nth(1)?);
        (mounted == point).then(|| device.to_owned())
    });
    let number = device.as_deref().and_then(|device| device.split_once(':')?.1.parse().ok());
    number.ok_or_else(|| io_error("find the mount of", at)(std::io::Error::from(std::io::ErrorKind::NotFound)))
}
