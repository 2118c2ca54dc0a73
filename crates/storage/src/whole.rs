//! Reading every block of a device once. A volume that was made from a snapshot of EBS has its blocks in S3 until they
//! are read for the first time, and until then each first access is slow.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::error::{Result, io_error};

/// Bytes of one read, and reads in flight. Source: "Initialize Amazon EBS volumes", Amazon EBS User Guide, whose fio
/// reads blocks of 1 MiB at a depth of 32.
const READ_BYTES: u64 = 1 << 20;
const IN_FLIGHT: usize = 32;
/// Direct I/O wants buffers, offsets and lengths of whole blocks; no device has larger ones.
const ALIGNMENT: usize = 4096;
/// Between two looks at how far it is.
const LOOK: Duration = Duration::from_millis(100);

/// A device of which every block was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadWhole {
    /// Its size, all of which was read.
    pub bytes: u64,
    /// How long that took, seconds.
    pub seconds: f64,
}

/// Size of a block device, bytes.
pub fn device_bytes(device: &Path) -> Result<u64> {
    let mut file = File::open(device).map_err(io_error("read", device))?;
    file.seek(SeekFrom::End(0)).map_err(io_error("find the size of", device))
}

/// Reads every block of a device once, past the page cache, with several reads in flight. `goes_on` gets how many
/// bytes were read and says whether to go on. Errors: when a block cannot be read; `None` where somebody asked for the
/// end.
pub fn read_whole(device: &Path, goes_on: &mut dyn FnMut(u64) -> bool) -> Result<Option<ReadWhole>> {
    let began = Instant::now();
    let bytes = device_bytes(device)?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::DIRECT.bits() as i32)
        .open(device)
        .map_err(io_error("read past the page cache", device))?;
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let (stopped, working) = (AtomicBool::new(false), AtomicUsize::new(IN_FLIGHT));
    let failed = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..IN_FLIGHT {
            scope.spawn(|| {
                let mut buffer = Buffer::new();
                while !stopped.load(Ordering::Relaxed) {
                    let at = next.fetch_add(READ_BYTES, Ordering::Relaxed);
                    if at >= bytes {
                        break;
                    }
                    let end = (at + READ_BYTES).min(bytes);
                    if let Err(error) = read(&file, &mut buffer, at, end) {
                        stopped.store(true, Ordering::Relaxed);
                        if let Ok(mut failed) = failed.lock() {
                            failed.get_or_insert((at, error));
                        }
                        break;
                    }
                    done.fetch_add(end - at, Ordering::Relaxed);
                }
                working.fetch_sub(1, Ordering::Release);
            });
        }
        while working.load(Ordering::Acquire) > 0 {
            if !goes_on(done.load(Ordering::Relaxed)) {
                stopped.store(true, Ordering::Relaxed);
            }
            thread::sleep(LOOK);
        }
    });
    let failed = failed.into_inner().unwrap_or_default();
    if let Some((at, error)) = failed {
        let where_ = format!("read {} MiB at {} MiB of", READ_BYTES >> 20, at >> 20);
        return Err(io_error::<std::io::Error>(where_, device)(error));
    }
    let is_whole = done.into_inner() == bytes;
    Ok(is_whole.then(|| ReadWhole { bytes, seconds: began.elapsed().as_secs_f64() }))
}

/// Reads from `at` to `end`, however many reads that takes.
fn read(file: &File, buffer: &mut Buffer, mut at: u64, end: u64) -> std::io::Result<()> {
    while at < end {
        let length = ((end - at) as usize).next_multiple_of(ALIGNMENT);
        match file.read_at(buffer.of(length), at) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => at += read as u64,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Memory that begins where direct I/O wants it.
struct Buffer {
    bytes: Vec<u8>,
    begins: usize,
}

impl Buffer {
    fn new() -> Self {
        let bytes = vec![0; READ_BYTES as usize + ALIGNMENT];
        let begins = bytes.as_ptr().align_offset(ALIGNMENT);
        Self { bytes, begins }
    }

    fn of(&mut self, length: usize) -> &mut [u8] {
        &mut self.bytes[self.begins..self.begins + length]
    }
}
